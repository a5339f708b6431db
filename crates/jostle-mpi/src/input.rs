//! What ranks search together: the part of each set that they hold, and the space.

use jostle::{InputError, PairFinder, Space, Threads};

use crate::number::Number;
use crate::share::Share;

/// What ranks search together: within one set or between two, in a space. All ranks give the same relation and the same space, each its
/// own share of the sets.
#[derive(Debug, Clone)]
pub struct DistributedInput<'a, const D: usize, T: Number = f32> {
    pub(crate) shares: Vec<Share<'a, D, T>>,
    pub(crate) space: Space<D>,
}

impl<'a, const D: usize, T: Number> DistributedInput<'a, D, T> {
    /// The pairs within one set.
    #[must_use]
    pub fn within(share: impl Into<Share<'a, D, T>>) -> Self {
        Self { shares: vec![share.into()], space: Space::open() }
    }

    /// The pairs of a body of the first set and one of the second.
    #[must_use]
    pub fn between(a: impl Into<Share<'a, D, T>>, b: impl Into<Share<'a, D, T>>) -> Self {
        Self { shares: vec![a.into(), b.into()], space: Space::open() }
    }

    /// In this space.
    #[must_use]
    pub fn space(self, space: Space<D>) -> Self {
        Self { space, ..self }
    }

    /// In a space some axes of which are periodic, each by its borders `[lo, hi]`: [`Space::periodic`].
    #[must_use]
    pub fn periodic<U: Into<f64> + Copy>(self, axes: [Option<[U; 2]>; D]) -> Self {
        self.space(Space::periodic(axes))
    }

    /// In a lattice with these vectors, which repeats in these directions: [`Space::lattice`].
    #[must_use]
    pub fn lattice(self, vectors: [[f64; D]; D], repeats: [bool; D]) -> Self {
        self.space(Space::lattice(vectors, repeats))
    }

    /// What is wrong with the space, which all ranks give alike.
    pub(crate) fn check_space(&self) -> Result<(), InputError> {
        let none: [&[T]; D] = [&[]; D];
        let nobody = jostle::Bodies::from_slices(none, T::default());
        let search = jostle::Input::within(T::set(nobody)).space(self.space);
        PairFinder::new().on(Threads::Serial).count(search).map(|_| ())
    }
}

impl<'a, const D: usize, T: Number> From<Share<'a, D, T>> for DistributedInput<'a, D, T> {
    fn from(share: Share<'a, D, T>) -> Self {
        Self::within(share)
    }
}

impl<'a, const D: usize, T: Number> From<jostle::Bodies<'a, D, T>> for DistributedInput<'a, D, T> {
    fn from(bodies: jostle::Bodies<'a, D, T>) -> Self {
        Self::within(bodies)
    }
}

//! The input of a search over ranks: each rank's share of every set, and the space.

use jostle::{InputError, PairFinder, Space, Threads};

use crate::number::Number;
use crate::share::Share;

/// What ranks search together: within one set or between two, in a space. All ranks give the same relation and the same
/// space. Each rank gives its own share of the sets.
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

    /// The pairs of a body of the first set with a body of the second.
    #[must_use]
    pub fn between(a: impl Into<Share<'a, D, T>>, b: impl Into<Share<'a, D, T>>) -> Self {
        Self { shares: vec![a.into(), b.into()], space: Space::open() }
    }

    /// Sets the space.
    #[must_use]
    pub fn space(self, space: Space<D>) -> Self {
        Self { space, ..self }
    }

    /// Sets a space with periodic axes, each given by its borders `[lo, hi]`: [`Space::periodic`].
    #[must_use]
    pub fn periodic<U: Into<f64> + Copy>(self, axes: [Option<[U; 2]>; D]) -> Self {
        self.space(Space::periodic(axes))
    }

    /// Sets a lattice with these vectors, which repeats in these directions: [`Space::lattice`].
    #[must_use]
    pub fn lattice(self, vectors: [[f64; D]; D], repeats: [bool; D]) -> Self {
        self.space(Space::lattice(vectors, repeats))
    }

    /// Checks the space, which all ranks give alike.
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

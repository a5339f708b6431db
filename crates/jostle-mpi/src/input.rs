//! The input of a search over ranks: each rank's share of every set, and the space.

use jostle::{InputError, PairFinder, Space, Threads};

use crate::error::{DistributedError, Fault, agree};
use crate::number::Number;
use crate::share::Share;
use crate::transport::Transport;

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

    /// Checks that the space is one, and that all ranks give the same. Collective.
    ///
    /// # Errors
    /// [`DistributedError::Input`] on ranks that gave a space that is none, [`DistributedError::Rank`] on others.
    pub(crate) fn agree_on_space(&self, ranks: &impl Transport) -> Result<(), DistributedError> {
        let refused = self.check_space().err();
        let mut numbers = self.numbers_of_space();
        let agreed = agree(ranks, refused.as_ref().map(Fault::of).as_ref(), &mut numbers);
        refused.map_or(Ok(()), |refused| Err(refused.into())).and(agreed)?;
        check_same_space(&numbers)
    }

    /// The numbers of the space, each followed by its opposite: [`check_same_space`] looks at the greatest of all
    /// ranks.
    pub(crate) fn numbers_of_space(&self) -> Vec<f64> {
        let (space, is_open) = (&self.space, self.space.is_open());
        let repeats = space.repeats().map(|repeats| f64::from(u8::from(repeats)));
        let numbers = space.vectors().into_iter().flatten().chain(space.origin()).chain(repeats);
        numbers.map(|x| if is_open { 0.0 } else { x }).flat_map(|x| [x, -x]).collect()
    }

    /// Checks the space of this rank.
    pub(crate) fn check_space(&self) -> Result<(), InputError> {
        let none: [&[T]; D] = [&[]; D];
        let nobody = jostle::Bodies::from_slices(none, T::default());
        let search = jostle::Input::within(T::set(nobody)).space(self.space);
        PairFinder::new().on(Threads::Serial).count(search).map(|_| ())
    }
}

/// Checks that the greatest of each number of a space, and of its opposite, are those of one number.
pub(crate) fn check_same_space(greatest: &[f64]) -> Result<(), DistributedError> {
    if greatest.chunks_exact(2).all(|both| both[0] == -both[1]) {
        return Ok(());
    }
    Err(DistributedError::Rank { rank: 0, message: "the space is another than that of some other ranks".to_owned() })
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

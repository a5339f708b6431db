//! Many sets of bodies, and a table of which sets meet.

use core::fmt;

use crate::InputError;

/// An activation table: which of several sets meet, and which of them meet themselves.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::ActivationTable;
///
/// let table = ActivationTable::none(3).with(0, 0).with(0, 2);
/// assert!(table.meet(2, 0) && !table.meet(1, 2));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ActivationTable {
    sets: usize,
    /// The sets that meet: the lesser of two, then the greater.
    pairs: Vec<(u32, u32)>,
}

impl fmt::Debug for ActivationTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActivationTable")
            .field("sets", &self.sets)
            .field("meetings", &self.pairs.len())
            .finish_non_exhaustive()
    }
}

impl ActivationTable {
    /// A table of `sets` sets of which none meets any.
    #[must_use]
    pub fn none(sets: usize) -> Self {
        Self { sets, pairs: Vec::new() }
    }

    /// A table of `sets` sets of which each meets all, itself included.
    #[must_use]
    pub fn all(sets: usize) -> Self {
        let pairs = (0..sets as u32).flat_map(|i| (i..sets as u32).map(move |j| (i, j))).collect();
        Self { sets, pairs }
    }

    /// Adds the meeting of sets `i` and `j`, which may be the same.
    ///
    /// # Panics
    /// When there is no such set.
    #[must_use]
    pub fn with(mut self, i: usize, j: usize) -> Self {
        let last = i.max(j);
        let sets = last.saturating_add(1);
        assert!(
            last < self.sets,
            "no set {last} in a table of {}: make it by `ActivationTable::none({sets})`",
            self.sets
        );
        if let Err(at) = self.pairs.binary_search(&key(i, j)) {
            self.pairs.insert(at, key(i, j));
        }
        self
    }

    /// Whether sets `i` and `j` meet.
    #[must_use]
    pub fn meet(&self, i: usize, j: usize) -> bool {
        i.max(j) < self.sets && self.at(i, j).is_some()
    }

    /// Number of sets.
    #[must_use]
    pub fn sets(&self) -> usize {
        self.sets
    }

    /// The meetings in ascending order, the lesser set of each first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (usize, usize)> {
        self.pairs.iter().map(|&(i, j)| (i as usize, j as usize))
    }

    /// Number of meetings.
    pub(crate) fn len(&self) -> usize {
        self.pairs.len()
    }

    pub(crate) fn at(&self, i: usize, j: usize) -> Option<usize> {
        self.pairs.binary_search(&key(i, j)).ok()
    }

    pub(crate) fn number(&self, at: usize) -> (usize, usize) {
        let (i, j) = self.pairs[at];
        (i as usize, j as usize)
    }

    pub(crate) fn check(&self, sets: usize) -> Result<(), InputError> {
        if sets == self.sets { Ok(()) } else { Err(InputError::Sets { sets, table: self.sets }) }
    }
}

fn key(i: usize, j: usize) -> (u32, u32) {
    (i.min(j) as u32, i.max(j) as u32)
}

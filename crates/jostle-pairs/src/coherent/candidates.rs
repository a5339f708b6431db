//! Pairs of grown bodies, of which those of a frame are some.

use core::mem::swap;

use crate::finder::PairFinder;
use crate::join::hits::PairList;

/// See the top of this file.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidates<const D: usize> {
    /// As a list has them: the lesser id first within a set.
    pub(super) pairs: PairList,
    /// Where the second body of each was seen; of none in open space.
    pub(super) shifts: Vec<[i32; D]>,
    /// The sets that meet, ascending, and where the candidates of each two end.
    pub(super) meetings: Vec<[u32; 2]>,
    pub(super) ends: Vec<usize>,
}

impl<const D: usize> Candidates<D> {
    /// Takes the pairs that a finder has listed.
    pub(super) fn take(&mut self, finder: &mut PairFinder<D>) {
        swap(&mut self.pairs, &mut finder.engine.pairs);
        self.shifts.clear();
        self.shifts.extend(finder.listed.shifts.iter(self.pairs.pairs()));
        let (meetings, ends) = finder.listed.meetings();
        self.meetings.clear();
        self.meetings.extend_from_slice(meetings);
        self.ends.clear();
        self.ends.extend_from_slice(ends);
        self.ends.push(self.pairs.pairs().len());
    }

    pub(super) fn bytes(&self) -> usize {
        self.pairs.bytes()
            + self.shifts.capacity() * size_of::<[i32; D]>()
            + self.meetings.capacity() * size_of::<[u32; 2]>()
            + self.ends.capacity() * size_of::<usize>()
    }
}

//! Candidates, pairs of grown bodies: how they name bodies, and how many there are. The pairs of a frame are some of
//! them.

use core::ops::Range;

use crate::join::hits::PairList;
use crate::pairs::ranks::Ranks;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    /// The candidates that touch, if the caller drops some of them: the caller's list then has only the others.
    pub(super) pairs: PairList,
    pub(super) ranks: Ranks,
    /// The sets that meet, ascending, and where the pairs of each two end.
    pub(super) meetings: Vec<[u32; 2]>,
    pub(super) ends: Vec<usize>,
    /// How many candidates there are.
    count: usize,
}

impl Candidates {
    /// Notes that all candidates, so many, have been sorted as they were found.
    pub(super) fn note_sorted(&mut self, count: usize) {
        self.pairs.clear();
        self.count = count;
    }

    /// Calls `visit` with the touching candidates of each two sets within a range, and with the sets.
    pub(super) fn each_meeting(&self, range: Range<usize>, mut visit: impl FnMut(Range<usize>, [u32; 2])) {
        let mut at = range.start;
        while at < range.end {
            let meeting = self.ends.partition_point(|&end| end <= at);
            let end = self.ends[meeting].min(range.end);
            visit(at..end, self.meetings[meeting]);
            at = end;
        }
    }

    /// Returns how many candidates there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn bytes(&self) -> usize {
        self.pairs.bytes()
            + self.ranks.bytes()
            + self.meetings.capacity() * size_of::<[u32; 2]>()
            + self.ends.capacity() * size_of::<usize>()
    }
}

//! Pairs of grown bodies, of which those of a frame are some.

use core::mem::swap;
use core::ops::Range;

use jostle_core::Workers;
use jostle_sets::input::Input;

use crate::InputError;
use crate::finder::PairFinder;
use crate::join::hits::PairList;
use crate::pairs::listed::Listed;
use crate::pairs::ranks::Ranks;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Candidates<const D: usize> {
    /// As a list has them, the lesser id first within a set; or the ranks of bodies.
    pub(super) pairs: PairList,
    pub(super) ranks: Ranks,
    /// The sets that meet, ascending, and where the candidates of each two end, or the pairs that they have been listed as.
    pub(super) meetings: Vec<[u32; 2]>,
    pub(super) ends: Vec<usize>,
    /// How many there are.
    count: usize,
    /// What a finder says of a list of pairs, while it lists others beside it.
    listed: Listed<D>,
}

impl<const D: usize> Candidates<D> {
    /// Takes the pairs of bodies that have been grown, by rank where that is wanted; the finder's own list stays as it is.
    pub(super) fn take_pairs(
        &mut self,
        finder: &mut PairFinder<D>,
        grown: (&Input<'_, D>, bool),
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        self.swap_list(finder);
        let listed = list(finder, &mut self.ranks, grown, workers);
        if listed.is_ok() {
            self.take(finder);
        } else {
            swap(&mut self.pairs, &mut finder.engine.pairs);
        }
        swap(&mut self.listed, &mut finder.listed);
        listed
    }

    /// Puts the list of a finder, and what it says of it, aside, or back.
    pub(super) fn swap_list(&mut self, finder: &mut PairFinder<D>) {
        swap(&mut self.pairs, &mut finder.engine.pairs);
        swap(&mut self.listed, &mut finder.listed);
    }

    fn take(&mut self, finder: &mut PairFinder<D>) {
        swap(&mut self.pairs, &mut finder.engine.pairs);
        let (meetings, ends) = finder.listed.meetings();
        self.meetings.clear();
        self.meetings.extend_from_slice(meetings);
        self.ends.clear();
        self.ends.extend_from_slice(ends);
        self.count = self.pairs.pairs().len();
        self.ends.push(self.count);
    }

    /// All of them, so many, have been sorted as they were found.
    pub(super) fn note_sorted(&mut self, count: usize) {
        self.pairs.clear();
        self.count = count;
    }

    /// The candidates of two sets that meet.
    pub(super) fn of_meeting(&self, number: usize) -> Range<usize> {
        number.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[number]
    }

    /// Calls `visit` with the candidates of each two sets among some, and the sets.
    pub(super) fn each_meeting(&self, range: Range<usize>, mut visit: impl FnMut(Range<usize>, [u32; 2])) {
        let mut at = range.start;
        while at < range.end {
            let meeting = self.ends.partition_point(|&end| end <= at);
            let end = self.ends[meeting].min(range.end);
            visit(at..end, self.meetings[meeting]);
            at = end;
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn bytes(&self) -> usize {
        self.pairs.bytes()
            + self.ranks.bytes()
            + self.listed.bytes()
            + self.meetings.capacity() * size_of::<[u32; 2]>()
            + self.ends.capacity() * size_of::<usize>()
    }
}

/// Lists the pairs of bodies that have been grown, by rank or by id.
fn list<const D: usize>(
    finder: &mut PairFinder<D>,
    ranks: &mut Ranks,
    (grown, by_rank): (&Input<'_, D>, bool),
    workers: Workers<'_>,
) -> Result<(), InputError> {
    if by_rank {
        finder.list_ranks_here(grown, ranks, workers)?;
        // Of more than can be numbered, no list is kept: they are looked at by their ids.
        if u32::try_from(finder.engine.pairs.pairs().len()).is_ok() {
            return Ok(());
        }
    }
    finder.list_here(grown, None, workers)?;
    ranks.clear();
    Ok(())
}

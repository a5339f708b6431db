//! Pairs of grown bodies, of which those of a frame are some.

use core::mem::swap;

use jostle_core::Workers;
use jostle_core::scratch::resize_with_headroom;
use jostle_sets::input::Input;

use crate::finder::PairFinder;
use crate::join::hits::PairList;
use crate::neighbors::NeighborLists;
use crate::pairs::ranks::Ranks;

/// Candidates that one task writes.
const BLOCK: usize = 1 << 13;

/// See the top of this file.
#[derive(Debug, Clone, Default)]
pub(super) struct Candidates<const D: usize> {
    /// As a list has them: the lesser id first within a set; or the body of a row and its neighbour, row after row. Or the
    /// ranks of bodies, the lesser first.
    pub(super) pairs: PairList,
    pub(super) ranks: Ranks,
    /// Where the second body of each was seen; of none in open space.
    pub(super) shifts: Vec<[i32; D]>,
    /// The sets that meet, ascending, and where the candidates of each two end.
    pub(super) meetings: Vec<[u32; 2]>,
    pub(super) ends: Vec<usize>,
    /// The rows that candidates are of.
    pub(super) rows: NeighborLists,
}

impl<const D: usize> Candidates<D> {
    /// Takes the pairs that a finder has listed.
    pub(super) fn take(&mut self, finder: &mut PairFinder<D>) {
        swap(&mut self.pairs, &mut finder.engine.pairs);
        let shifts = finder.listed.shifts.iter(self.pairs.pairs());
        resize_with_headroom(&mut self.shifts, shifts.len());
        self.shifts.iter_mut().zip(shifts).for_each(|(slot, shift)| *slot = shift);
        let (meetings, ends) = finder.listed.meetings();
        self.meetings.clear();
        self.meetings.extend_from_slice(meetings);
        self.ends.clear();
        self.ends.extend_from_slice(ends);
        self.ends.push(self.pairs.pairs().len());
    }

    /// Takes the rows that a finder has filled, of an input of one set or two.
    pub(super) fn take_rows(&mut self, input: &Input<'_, D>, workers: Workers<'_>) {
        let (offsets, neighbors) = (self.rows.offsets(), self.rows.neighbors());
        self.pairs.set_len(neighbors.len());
        workers.fill_blocks("candidates", self.pairs.pairs_mut(), BLOCK, |first, block| {
            let end = first + block.len();
            let mut id = offsets.partition_point(|&offset| offset <= first) - 1;
            let mut at = first;
            while at < end {
                let row_end = offsets[id + 1].min(end);
                let slots = block[at - first..row_end - first].iter_mut();
                slots.zip(&neighbors[at..]).for_each(|(slot, &neighbor)| *slot = [id as u32, neighbor]);
                (id, at) = (id + 1, row_end);
            }
        });
        let shifts = self.rows.image_shifts();
        resize_with_headroom(&mut self.shifts, shifts.len());
        self.shifts.copy_from_slice(shifts);
        self.meetings.clear();
        self.meetings.push([0, input.sets().len() as u32 - 1]);
        self.ends.clear();
        self.ends.push(neighbors.len());
    }

    pub(super) fn bytes(&self) -> usize {
        self.pairs.bytes()
            + self.rows.bytes()
            + self.ranks.bytes()
            + self.shifts.capacity() * size_of::<[i32; D]>()
            + self.meetings.capacity() * size_of::<[u32; 2]>()
            + self.ends.capacity() * size_of::<usize>()
    }
}

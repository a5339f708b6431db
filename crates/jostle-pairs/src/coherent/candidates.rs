//! Pairs of grown bodies, of which those of a frame are some.

use core::mem::swap;

use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Isa, Workers};
use jostle_sets::input::Input;

use crate::coherent::rows::CandidateRows;
use crate::finder::PairFinder;
use crate::join::hits::PairList;
use crate::neighbors::rows::Rows;
use crate::pairs::ranks::Ranks;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Candidates<const D: usize> {
    /// As a list has them, the lesser id first within a set; or the ranks of bodies. Of rows, each once, if it lasts how they touch.
    pub(super) pairs: PairList,
    pub(super) ranks: Ranks,
    /// Where the second body of each was seen; of none in open space.
    pub(super) shifts: Vec<[i32; D]>,
    /// The sets that meet, ascending, and where the candidates of each two end.
    pub(super) meetings: Vec<[u32; 2]>,
    pub(super) ends: Vec<usize>,
    /// The rows that candidates are of.
    pub(super) rows: CandidateRows,
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
    pub(super) fn take_rows(&mut self, input: &Input<'_, D>, kind: Rows, (isa, workers): (Isa, Workers<'_>)) {
        self.rows.list((input, kind), (&mut self.pairs, &self.ranks), (isa, workers));
        let shifts = self.rows.lists.image_shifts();
        resize_with_headroom(&mut self.shifts, shifts.len());
        self.shifts.copy_from_slice(shifts);
        self.meetings.clear();
        self.meetings.push([0, input.sets().len() as u32 - 1]);
        self.ends.clear();
        self.ends.push(self.pairs.pairs().len());
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

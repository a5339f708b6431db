//! The list of pairs that touch, changed where candidates begin to touch, or end.
//!
//! Candidates that surely touch are listed once. Of the others, bands are tested in each frame in which some may have changed. Of each is
//! kept whether it touched when it was tested last: few change from frame to frame, and those alone are written.

use core::mem::swap;
use core::sync::atomic::{AtomicU32, Ordering};

use jostle_core::disjoint::Disjoint;
use jostle_core::prefetch::prefetch;
use jostle_core::scratch::{resize_with_headroom, with_headroom};
use jostle_core::{Isa, Workers};

use crate::coherent::bands::BLOCK;
use crate::coherent::block::Block;
use crate::coherent::blocks::{Blocks, Stock, are_far};
use crate::coherent::candidates::Candidates;
use crate::coherent::course::Come;
use crate::coherent::current::Test;
use crate::join::hits::PairList;
use crate::pairs::ranks::Ranks;

/// Places whose memory is asked for together, before it is written.
const SOME: usize = 32;

/// No candidate: that of a place which is left.
const NOBODY: u32 = u32::MAX;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Live {
    blocks: Blocks,
    /// Where in the list the sure pairs of each block begin, then the other pairs of each, and the end.
    starts: Vec<usize>,
    /// Where in the list a candidate stands that touches, block after block.
    slots: Vec<AtomicU32>,
    /// The candidate at each place of the list, behind the sure ones.
    owners: Vec<u32>,
    /// Whether candidates are kept here.
    holds: bool,
    /// Whether the list stands in place of the candidates that it was made of, and not where pairs are asked for.
    is_aside: bool,
}

impl Live {
    pub(super) fn bytes(&self) -> usize {
        self.blocks.bytes()
            + self.starts.capacity() * size_of::<usize>()
            + self.slots.capacity() * size_of::<AtomicU32>()
            + self.owners.capacity() * size_of::<u32>()
    }

    /// Whether a list is kept.
    pub(super) fn holds(&self) -> bool {
        self.holds
    }

    /// Takes new candidates, if it may last how they touch, and they are all of the same two sets: block by block and band by band, bodies
    /// having come so far.
    pub(super) fn begin<const D: usize>(
        &mut self,
        candidates: &Candidates<D>,
        test: &Test<'_, D>,
        come: (Come, f64, Isa),
        workers: Workers<'_>,
    ) {
        let len = candidates.pairs.pairs().len();
        (self.holds, self.is_aside) = (false, false);
        if candidates.meetings.len() != 1 || test.exact.cell.is_some() || test.moves() || u32::try_from(len).is_err() {
            return;
        }
        self.holds = true;
        self.blocks.sort(candidates, test, come, workers);
    }

    /// All blocks, for workers that sort new candidates.
    pub(super) fn stock(&mut self) -> &Stock {
        self.blocks.stock()
    }

    /// Takes what workers have sorted, bodies having come so far: all but candidates that touch all the time, so many of which they have
    /// listed. Whether those can be numbered.
    pub(super) fn take_sorted(&mut self, come: Come, listed: usize) -> bool {
        self.blocks.take_sorted(come);
        (self.holds, self.is_aside) = (u32::try_from(listed + self.blocks.all().len() * BLOCK).is_ok(), false);
        self.holds
    }

    /// Lists new candidates that touch, behind those that workers have listed: block by block those that surely do, then block by block and
    /// band by band the others.
    pub(super) fn list(&mut self, list: &mut PairList, ranks: &Ranks, workers: Workers<'_>) {
        let Self { blocks, starts, slots, owners, .. } = self;
        let blocks = blocks.all();
        resize_with_headroom(starts, 2 * blocks.len() + 1);
        let of_others = |block: &Block| block.touching().map(|range| range.len()).sum();
        let lens = blocks.iter().map(|block| block.sure().len()).chain(blocks.iter().map(|block| of_others(block)));
        let mut end = list.pairs().len();
        starts[0] = end;
        for (slot, len) in starts[1..].iter_mut().zip(lens) {
            end += len;
            *slot = end;
        }
        list.set_len(end);
        resize_with_headroom(owners, end);
        let needed = blocks.len() * BLOCK;
        if slots.len() < needed {
            slots.resize_with(with_headroom(needed), AtomicU32::default);
        }
        let (starts, slots) = (&*starts, &*slots);
        workers.fill_parts("list", starts, (list.pairs_mut(), owners), |part, out, owners| {
            let (number, block) = (part % blocks.len(), &blocks[part % blocks.len()]);
            if part < blocks.len() {
                out.iter_mut().zip(block.sure()).for_each(|(slot, at)| *slot = ranks.pair(block.pair(at)));
                return;
            }
            let slots = &slots[number * BLOCK..][..BLOCK];
            let mut done = 0;
            for range in block.touching() {
                let len = range.len();
                let (out, owners) = (&mut out[done..][..len], &mut owners[done..][..len]);
                let (first, place) = (number * BLOCK + range.start, starts[part] + done);
                out.iter_mut().zip(range.clone()).for_each(|(slot, at)| *slot = ranks.pair(block.pair(at)));
                owners.iter_mut().zip(first..).for_each(|(owner, at)| *owner = at as u32);
                slots[range].iter().zip(place..).for_each(|(slot, place)| slot.store(place as u32, Ordering::Relaxed));
                done += len;
            }
        });
    }

    /// Finds out which candidates touch, bodies having come so far.
    pub(super) fn sift<const D: usize>(
        &mut self,
        (candidates, list): (&mut Candidates<D>, &mut PairList),
        test: &Test<'_, D>,
        come: (Come, f64, Isa),
        workers: Workers<'_>,
    ) {
        if core::mem::take(&mut self.is_aside) {
            swap(&mut candidates.pairs, list);
        }
        self.blocks.sift(candidates.meetings[0], test, come, workers);
    }

    /// Puts the list, if one is kept, in place of the candidates that it was made of: pairs are some of it.
    pub(super) fn put_aside<const D: usize>(&mut self, candidates: &mut Candidates<D>, list: &mut PairList) {
        if self.holds {
            swap(&mut candidates.pairs, list);
            candidates.ends[0] = candidates.pairs.pairs().len();
            self.is_aside = true;
        }
    }

    /// Changes the list: candidates that have begun to touch, in their order, go to the places of those that have ended, and then to the
    /// end. Where fewer have begun, the last of the list go to the places that are left.
    #[allow(unsafe_code, reason = "no two candidates stand at one place of the list")]
    pub(super) fn change(&mut self, list: &mut PairList, ranks: &Ranks, workers: Workers<'_>) {
        let Self { blocks, starts, slots, owners, .. } = self;
        let blocks = blocks.all();
        // Where those of each block begin among all that have begun to touch, then among all that have ended, each with the end.
        resize_with_headroom(starts, 2 * (blocks.len() + 1));
        let (begin, end) = starts.split_at_mut(blocks.len() + 1);
        for (kind, starts) in [&mut *begin, &mut *end].into_iter().enumerate() {
            starts[0] = 0;
            for (number, block) in blocks.iter().enumerate() {
                starts[number + 1] = starts[number] + block.changes(kind);
            }
        }
        let (begin, end) = (&*begin, &*end);
        let (len, begun, ended) = (list.pairs().len(), begin[blocks.len()], end[blocks.len()]);
        let new_len = len + begun - ended;
        list.set_len(len + begun);
        resize_with_headroom(owners, len + begun);
        // The places of those that have ended, from one of them on.
        let leavers = |from: usize| {
            let block = end.partition_point(|&start| start <= from) - 1;
            numbers(blocks, block, Block::ended).skip(from - end[block])
        };
        let left = |from: usize| leavers(from).map(|candidate| slots[candidate].load(Ordering::Relaxed) as usize);
        let (pairs, shared_owners) = (Disjoint::new(list.pairs_mut()), Disjoint::new(owners));
        workers.run("change", blocks.len(), |number| {
            let first = begin[number];
            let mut room = left(first.min(ended)).chain(len + first.saturating_sub(ended)..);
            if are_far(blocks) {
                blocks[number].prefetch(blocks[number].begun());
                let leavers = leavers(first.min(ended)).take(blocks[number].begun().len());
                leavers.for_each(|candidate| prefetch(&slots[candidate]));
            }
            for some in blocks[number].begun().chunks(SOME) {
                let mut places = [0; SOME];
                for (place, slot) in places[..some.len()].iter_mut().zip(&mut room) {
                    assert!(slot < pairs.len(), "a candidate stands beyond the list");
                    pairs.prefetch(slot);
                    shared_owners.prefetch(slot);
                    *place = slot;
                }
                for (&at, slot) in some.iter().zip(places) {
                    let candidate = number * BLOCK + usize::from(at);
                    let pair = ranks.pair(blocks[number].pair(at.into()));
                    // SAFETY: no two candidates stand at one place; those behind the end of the list are taken in turn.
                    unsafe {
                        pairs.write(slot, pair);
                        shared_owners.write(slot, candidate as u32);
                    }
                    slots[candidate].store(slot as u32, Ordering::Relaxed);
                }
            }
        });
        let (pairs, mut last) = (list.pairs_mut(), new_len);
        left(begun.min(ended)).for_each(|slot| owners[slot] = NOBODY);
        for slot in left(begun.min(ended)).filter(|&slot| slot < new_len) {
            while owners[last] == NOBODY {
                last += 1;
            }
            (pairs[slot], owners[slot]) = (pairs[last], owners[last]);
            slots[owners[last] as usize].store(slot as u32, Ordering::Relaxed);
            last += 1;
        }
        list.set_len(new_len);
    }
}

/// The candidates that blocks name, from one of them on.
fn numbers(blocks: &[Box<Block>], from: usize, of_block: fn(&Block) -> &[u16]) -> impl Iterator<Item = usize> {
    let all = (from * BLOCK..).step_by(BLOCK).zip(blocks.get(from..).unwrap_or_default());
    all.flat_map(move |(first, block)| of_block(block).iter().map(move |&at| first + usize::from(at)))
}

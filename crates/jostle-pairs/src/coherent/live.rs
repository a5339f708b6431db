//! The list of pairs that touch, changed where candidates begin to touch, or end.
//!
//! Candidates that surely touch are listed once. Of the others, bands are tested in each frame in which some may have changed. Of each is
//! kept whether it touched when it was tested last: few change from frame to frame, and those alone are written.

use core::mem::{swap, take};
use core::sync::atomic::{AtomicU32, Ordering};

use jostle_core::disjoint::Disjoint;
use jostle_core::prefetch::prefetch;
use jostle_core::scratch::{resize_with_headroom, with_headroom};
use jostle_core::{Isa, Workers};

use crate::coherent::bands::BLOCK;
use crate::coherent::block::Block;
use crate::coherent::blocks::{Blocks, Stock, are_far};
use crate::coherent::course::Come;
use crate::coherent::current::Test;
use crate::coherent::tail::{NOBODY, Tail};
use crate::join::hits::PairList;
use crate::pairs::ranks::Ranks;

/// Places whose memory is asked for together, before it is written.
const SOME: usize = 32;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Live {
    blocks: Blocks,
    /// Where in the list the sure pairs of each block begin, then the other pairs of each, and the end.
    starts: Vec<usize>,
    /// Where in the list a candidate stands that touches, block after block.
    slots: Vec<AtomicU32>,
    /// Who stands at the last places of the list.
    tail: Tail,
    /// Where the list becomes shorter: how many places each block leaves in front of the new end, or all blocks before it; and places behind
    /// that, and who stands there.
    gaps: Vec<usize>,
    last: Vec<[u32; 2]>,
    /// How many stand at the front that touch all the time, as workers have listed them.
    front: usize,
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
            + self.tail.bytes()
            + self.gaps.capacity() * size_of::<usize>()
            + self.last.capacity() * size_of::<[u32; 2]>()
    }

    /// Whether a list is kept.
    pub(super) fn holds(&self) -> bool {
        self.holds
    }

    /// Takes new candidates of two sets, block by block and band by band, bodies having come so far. Whether they can be numbered.
    pub(super) fn begin<const D: usize>(
        &mut self,
        candidates: (&[[u32; 2]], [u32; 2]),
        test: &Test<'_, D>,
        come: (Come, f64, Isa),
        workers: Workers<'_>,
    ) -> bool {
        (self.holds, self.is_aside) = (u32::try_from(candidates.0.len()).is_ok(), false);
        if self.holds {
            self.blocks.sort(candidates, test, come, workers);
        }
        self.holds
    }

    /// How many pairs stand at the front of the list that are of no block, and stay there.
    pub(super) fn front(&self) -> usize {
        self.front
    }

    pub(super) fn blocks(&self) -> &[Box<Block>] {
        self.blocks.all()
    }

    /// Where in the list a candidate stands that touches, but for those that surely do.
    pub(super) fn place_of(&self, candidate: u32) -> usize {
        self.slots[candidate as usize].load(Ordering::Relaxed) as usize
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
        let Self { blocks, starts, slots, tail, front, .. } = self;
        let blocks = blocks.all();
        resize_with_headroom(starts, 2 * blocks.len() + 1);
        let lens = blocks.iter().map(|block| block.sure().len()).chain(blocks.iter().map(|block| block.touched()));
        let mut end = list.pairs().len();
        (starts[0], *front) = (end, end);
        for (slot, len) in starts[1..].iter_mut().zip(lens) {
            end += len;
            *slot = end;
        }
        list.set_len(end);
        tail.begin(end);
        let needed = blocks.len() * BLOCK;
        if slots.len() < needed {
            slots.resize_with(with_headroom(needed), AtomicU32::default);
        }
        let (starts, slots) = (&*starts, &*slots);
        workers.fill_parts("list", starts, (list.pairs_mut(), &mut vec![(); end]), |part, out, _| {
            let (number, block) = (part % blocks.len(), &blocks[part % blocks.len()]);
            if part < blocks.len() {
                out.iter_mut().zip(block.sure()).for_each(|(slot, at)| *slot = ranks.pair(block.pair(at)));
                return;
            }
            let slots = &slots[number * BLOCK..][..BLOCK];
            let mut done = 0;
            for range in block.touching() {
                let len = range.len();
                let (out, place) = (&mut out[done..][..len], starts[part] + done);
                out.iter_mut().zip(range.clone()).for_each(|(slot, at)| *slot = ranks.pair(block.pair(at)));
                slots[range].iter().zip(place..).for_each(|(slot, place)| slot.store(place as u32, Ordering::Relaxed));
                done += len;
            }
        });
    }

    /// Puts the list in place of the candidates that it was made of: pairs are some of it.
    pub(super) fn put_aside(&mut self, (aside, ends): (&mut PairList, &mut [usize]), list: &mut PairList) {
        swap(aside, list);
        ends[0] = aside.pairs().len();
        self.is_aside = true;
    }

    /// Puts it back.
    pub(super) fn take_back(&mut self, aside: &mut PairList, list: &mut PairList) {
        if take(&mut self.is_aside) {
            swap(aside, list);
        }
    }

    /// Changes the list, bodies having come so far: candidates that have begun to touch go to the places of those of their block that have ended.
    /// Of what is left over of all blocks, those that have begun go, in their order, to the places of those that have ended, and then to the
    /// end. Where fewer have begun, the last of the list go to the places that are left.
    #[allow(unsafe_code, reason = "no two candidates stand at one place of the list")]
    pub(super) fn change<const D: usize>(
        &mut self,
        (sets, ranks, list): ([u32; 2], &Ranks, &mut PairList),
        test: &Test<'_, D>,
        come: (Come, f64, Isa),
        workers: Workers<'_>,
    ) {
        let Self { blocks, starts, slots, tail, gaps, last, .. } = self;
        let slots = slots.as_slice();
        let places = Places { pairs: Disjoint::new(list.pairs_mut()), tail, slots, ranks };
        let are_far = are_far(blocks.all());
        let place_of = |candidate: usize| slots[candidate].load(Ordering::Relaxed) as usize;
        blocks.sift((sets, test), come, workers, |number, block| {
            let ended = &block.ended()[..block.exchanges()];
            if are_far {
                ended.iter().for_each(|&at| prefetch(&slots[number * BLOCK + usize::from(at)]));
            }
            let left = ended.iter().map(|&at| place_of(number * BLOCK + usize::from(at)));
            // SAFETY: no two candidates stand at one place.
            unsafe { places.put((number, block, &block.begun()[..block.exchanges()]), left) };
        });
        let blocks = blocks.all();
        // Where what is left over of each block begins among all that have begun to touch, then among all that have ended, each with the end.
        resize_with_headroom(starts, 2 * (blocks.len() + 1));
        let (begin, end) = starts.split_at_mut(blocks.len() + 1);
        for (kind, starts) in [&mut *begin, &mut *end].into_iter().enumerate() {
            starts[0] = 0;
            for (number, block) in blocks.iter().enumerate() {
                starts[number + 1] = starts[number] + block.changes(kind) - block.exchanges();
            }
        }
        let (begin, end) = (&*begin, &*end);
        let (len, begun, ended) = (list.pairs().len(), begin[blocks.len()], end[blocks.len()]);
        let new_len = len + begun - ended;
        list.set_len(len + begun);
        tail.extend(len + begun);
        // The places of those that have ended, from one of them on; and those of a block that nobody takes.
        let leavers = |from: usize| {
            let block = end.partition_point(|&start| start <= from) - 1;
            numbers(blocks, block).skip(from - end[block])
        };
        let left = |number: usize| {
            let taken = begun.saturating_sub(end[number]);
            numbers(&blocks[..=number], number).skip(taken).map(place_of)
        };
        let places = Places { pairs: Disjoint::new(list.pairs_mut()), tail: &*tail, slots, ranks };
        resize_with_headroom(gaps, blocks.len());
        workers.fill_blocks("change", gaps, 1, |number, gaps| {
            let (first, block) = (begin[number], &blocks[number]);
            let room = leavers(first.min(ended)).map(place_of).chain(len + first.saturating_sub(ended)..);
            // SAFETY: no two candidates stand at one place; those behind the end of the list are taken in turn.
            unsafe { places.put((number, block, &block.begun()[block.exchanges()..]), room) };
            gaps[0] = 0;
            for place in left(number) {
                if place < new_len {
                    gaps[0] += 1;
                } else {
                    tail.set(place, NOBODY);
                }
            }
        });
        if begun < ended {
            tail.reach([new_len, len], (blocks, slots), workers);
            last.clear();
            last.extend(tail.standing(new_len..len));
            let mut sum = 0;
            gaps.iter_mut().for_each(|gaps| sum += core::mem::replace(gaps, sum));
            let (front, back) = list.pairs_mut().split_at_mut(new_len);
            let (pairs, tail, last, gaps) = (Disjoint::new(front), &*tail, &*last, &*gaps);
            workers.run("close up", blocks.len(), |number| {
                let gaps = left(number).filter(|&place| place < new_len).zip(&last[gaps[number]..]);
                for (place, &[from, candidate]) in gaps {
                    // SAFETY: the place is in front of the new end, and no two candidates have stood at one.
                    unsafe { pairs.write(place, back[from as usize - new_len]) };
                    tail.set(place, candidate);
                    slots[candidate as usize].store(place as u32, Ordering::Relaxed);
                }
            });
        }
        list.set_len(new_len);
    }
}

/// Where candidates stand in the list.
struct Places<'a> {
    pairs: Disjoint<'a, [u32; 2]>,
    tail: &'a Tail,
    slots: &'a [AtomicU32],
    ranks: &'a Ranks,
}

impl Places<'_> {
    /// Puts some candidates of a block of that number to places of the list.
    ///
    /// # Safety
    /// No other task puts any there meanwhile.
    ///
    /// # Panics
    /// If a place is behind the end of the list.
    #[inline(always)]
    #[allow(unsafe_code, reason = "the caller vouches for the places")]
    unsafe fn put(&self, (number, block, some): (usize, &Block, &[u16]), mut places: impl Iterator<Item = usize>) {
        for some in some.chunks(SOME) {
            let mut slots = [0; SOME];
            for (slot, place) in slots[..some.len()].iter_mut().zip(&mut places) {
                assert!(place < self.pairs.len(), "a candidate stands beyond the list");
                self.pairs.prefetch(place);
                *slot = place;
            }
            for (&at, place) in some.iter().zip(slots) {
                let candidate = number * BLOCK + usize::from(at);
                let pair = self.ranks.pair(block.pair(at.into()));
                // SAFETY: within the list; the caller promises that no other task writes there.
                unsafe { self.pairs.write(place, pair) };
                self.tail.set(place, candidate as u32);
                self.slots[candidate].store(place as u32, Ordering::Relaxed);
            }
        }
    }
}

/// The candidates of blocks that have ended and whose places none of their block has taken, from one of the blocks on.
fn numbers(blocks: &[Box<Block>], from: usize) -> impl Iterator<Item = usize> {
    let all = (from * BLOCK..).step_by(BLOCK).zip(blocks.get(from..).unwrap_or_default());
    all.flat_map(move |(first, block)| {
        block.ended()[block.exchanges()..].iter().map(move |&at| first + usize::from(at))
    })
}

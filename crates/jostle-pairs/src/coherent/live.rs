//! The list of pairs that touch, changed where candidates begin to touch, or end.
//!
//! Candidates that touch all the time are listed once. Of the others, bands are tested in each frame in which some may have changed. Of each is
//! kept whether it touched when it was tested last: few change from frame to frame, and those alone are written. Of many sets those of each two that
//! meet stand together: where one part of the list becomes longer or shorter, few of the next ones move from one end of theirs to the other.

use core::iter::once;
use core::mem::{replace, swap, take};
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use jostle_core::axes::Both;
use jostle_core::disjoint::Disjoint;
use jostle_core::prefetch::prefetch;
use jostle_core::scratch::{resize_with_headroom, with_headroom};
use jostle_core::{Isa, Workers};

use crate::coherent::bands::BLOCK;
use crate::coherent::block::Block;
use crate::coherent::blocks::{Blocks, Meeting, Meetings, Stock, are_far};
use crate::coherent::course::Come;
use crate::coherent::current::Test;
use crate::coherent::names::Names;
use crate::coherent::tail::{NOBODY, Tail};
use crate::join::hits::PairList;

/// Places whose memory is asked for together, before it is written.
const SOME: usize = 32;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Live {
    blocks: Blocks,
    /// Where in the list what workers have listed of each two sets begins, and the pairs of each of their blocks; and the end. Or how many have begun
    /// to touch in all blocks before each, and how many have ended.
    starts: Vec<usize>,
    /// Of each two sets that meet.
    parts: Vec<Part>,
    /// Where in the list a candidate stands that touches, block after block.
    slots: Vec<AtomicU32>,
    /// Who stands at the last places of the list.
    tail: Tail,
    /// Where the list becomes shorter: how many places each block leaves in front of the new end, or all blocks before it; and places behind
    /// that, and who stands there.
    gaps: Vec<usize>,
    last: Vec<Standing>,
    /// How many stand at the front that touch all the time, as workers have listed them.
    front: usize,
    /// Whether candidates are kept here.
    holds: bool,
    /// Whether the list stands in place of the candidates that it was made of, and not where pairs are asked for.
    is_aside: bool,
}

/// The pairs of two sets.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    /// Where they end in the list; and where, now that some have ended and no others have taken their places.
    end: usize,
    shrunk: usize,
    /// Where those stand, behind the list, for which there is no place among them; and how many they are.
    more: usize,
    more_len: usize,
}

/// What candidates of two sets call bodies.
type NamesOf<'a> = dyn Fn([u32; 2]) -> Names<'a> + Sync + 'a;

/// A pair of the list, and the candidate that it is, which has a slot, or what `tail` says in place of one.
#[derive(Debug, Clone, Copy)]
struct Standing {
    pair: [u32; 2],
    candidate: u32,
}

/// Where in the list a candidate stands that touches.
fn place_of(slots: &[AtomicU32], candidate: usize) -> usize {
    slots[candidate].load(Ordering::Relaxed) as usize
}

impl Live {
    pub(super) fn bytes(&self) -> usize {
        self.blocks.bytes()
            + self.starts.capacity() * size_of::<usize>()
            + self.slots.capacity() * size_of::<AtomicU32>()
            + self.tail.bytes()
            + self.gaps.capacity() * size_of::<usize>()
            + self.last.capacity() * size_of::<Standing>()
            + self.parts.capacity() * size_of::<Part>()
    }

    /// Whether a list is kept.
    pub(super) fn holds(&self) -> bool {
        self.holds
    }

    /// How many pairs stand at the front of the list that are of no block, and stay there.
    pub(super) fn front(&self) -> usize {
        self.front
    }

    pub(super) fn blocks(&self) -> &[Box<Block>] {
        self.blocks.all()
    }

    /// Where in the list a candidate stands that touches.
    pub(super) fn place_of(&self, candidate: u32) -> usize {
        self.slots[candidate as usize].load(Ordering::Relaxed) as usize
    }

    /// All blocks, for workers that sort new candidates.
    pub(super) fn stock(&mut self) -> &Stock {
        self.blocks.stock()
    }

    /// Takes what workers have sorted, of these sets in order, bodies having come so far: all but candidates that touch all the time, which they have
    /// listed, those of each two sets up to such a place. Whether those can be numbered.
    pub(super) fn take_sorted(&mut self, come: Come, meetings: &[[u32; 2]], ends: &[usize]) -> bool {
        self.blocks.take_sorted(come, meetings);
        let most = ends.last().copied().unwrap_or_default() + self.blocks.all().len() * BLOCK;
        (self.holds, self.is_aside) = (u32::try_from(most).is_ok(), false);
        self.parts.clear();
        self.parts.extend(ends.iter().map(|&end| Part { end, ..Part::default() }));
        self.holds
    }

    /// Where in the list the pairs of each two sets end.
    pub(super) fn ends(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().map(|part| part.end)
    }

    /// Lists new candidates that touch, of each two sets behind those that workers have listed, block by block and band by band.
    pub(super) fn list(&mut self, list: &mut PairList, names: &NamesOf<'_>, workers: Workers<'_>) {
        let Self { blocks, starts, slots, tail, front, parts, .. } = self;
        let (blocks, meetings) = (blocks.all(), blocks.meetings());
        resize_with_headroom(starts, blocks.len() + parts.len() + 1);
        let (mut end, mut at, mut listed) = (0, 0, 0);
        starts[0] = 0;
        for (part, of) in parts.iter_mut().zip(meetings.ranges()) {
            let of_front = part.end - replace(&mut listed, part.end);
            for len in once(of_front).chain(blocks[of].iter().map(|block| block.touched())) {
                (at, end) = (at + 1, end + len);
                starts[at] = end;
            }
            part.end = end;
        }
        list.set_len(end);
        let are_many = parts.len() > 1;
        if are_many {
            tail.begin_known(end);
        } else {
            tail.begin(end);
        }
        // What workers have listed goes to its place, the last first.
        for meeting in meetings.all().iter().rev() {
            let first = meetings.range(meeting.number).start + meeting.number;
            let to = starts[first]..starts[first + 1];
            list.pairs_mut().copy_within(listed - to.len()..listed, to.start);
            listed -= to.len();
        }
        *front = starts.get(1).copied().unwrap_or_default();
        let needed = blocks.len() * BLOCK;
        if slots.len() < needed {
            slots.resize_with(with_headroom(needed), AtomicU32::default);
        }
        let (starts, slots, tail) = (&*starts, &*slots, &*tail);
        workers.fill_parts("list", starts, (list.pairs_mut(), &mut vec![(); end]), |part, out, _| {
            let Some((number, sets)) = block_of_part(meetings, part) else { return };
            let (block, names, slots) = (&blocks[number], names(sets), &slots[number * BLOCK..][..BLOCK]);
            let mut done = 0;
            for range in block.touching() {
                let len = range.len();
                let (out, place) = (&mut out[done..][..len], starts[part] + done);
                out.iter_mut().zip(range.clone()).for_each(|(slot, at)| *slot = names.pair(block.pair(at)));
                for (at, place) in range.zip(place..) {
                    slots[at].store(place as u32, Ordering::Relaxed);
                    if are_many {
                        tail.set(place, (number * BLOCK + at) as u32);
                    }
                }
                done += len;
            }
        });
    }

    /// Puts the list in place of the candidates that it was made of: pairs are some of it.
    pub(super) fn put_aside(&mut self, (aside, ends): (&mut PairList, &mut Vec<usize>), list: &mut PairList) {
        swap(aside, list);
        ends.clear();
        ends.extend(self.ends());
        self.is_aside = true;
    }

    /// Puts it back.
    pub(super) fn take_back(&mut self, aside: &mut PairList, list: &mut PairList) {
        if take(&mut self.is_aside) {
            swap(aside, list);
        }
    }

    /// Changes the list, bodies having come so far: candidates that have begun to touch go to the places of those of their block that have ended.
    /// Of what is left over of all blocks of the same two sets, those that have begun go, in their order, to the places of those that have ended, and
    /// then to the end. Where fewer have begun, the last of those sets go to the places that are left.
    #[allow(unsafe_code, reason = "no two candidates stand at one place of the list")]
    pub(super) fn change<const D: usize>(
        &mut self,
        list: &mut PairList,
        test: &Test<'_, D>,
        come: (Come, f64, Isa),
        workers: Workers<'_>,
    ) {
        let Self { blocks, slots, tail, .. } = self;
        let slots = slots.as_slice();
        let places = Places { pairs: Disjoint::new(list.pairs_mut()), tail, slots };
        let are_far = are_far(blocks.all());
        blocks.sift(test, come, workers, |number, block, sets| {
            let ended = &block.ended()[..block.exchanges()];
            if are_far {
                ended.iter().for_each(|&at| prefetch(&slots[number * BLOCK + usize::from(at)]));
            }
            let left = ended.iter().map(|&at| place_of(slots, number * BLOCK + usize::from(at)));
            // SAFETY: no two candidates stand at one place.
            unsafe { places.put((number, block, &block.begun()[..block.exchanges()]), test.names(sets), left) };
        });
        self.change_over_blocks(list, &|sets| test.names(sets), workers);
    }

    /// Changes it where more candidates of a block have begun to touch than have ended, or fewer.
    #[allow(unsafe_code, reason = "no two candidates stand at one place of the list")]
    fn change_over_blocks(&mut self, list: &mut PairList, names: &NamesOf<'_>, workers: Workers<'_>) {
        let Self { blocks, starts, slots, tail, gaps, last, parts, .. } = self;
        let slots = slots.as_slice();
        let place_of = |candidate: usize| place_of(slots, candidate);
        let (blocks, meetings) = (blocks.all(), blocks.meetings());
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
        let (len, mut more) = (list.pairs().len(), 0);
        for (part, of) in parts.iter_mut().zip(meetings.ranges()) {
            let [begun, ended] = [begin, end].both(|starts| starts[of.end] - starts[of.start]);
            part.shrunk = part.end - ended.saturating_sub(begun);
            (part.more, part.more_len) = (len + more, begun.saturating_sub(ended));
            more += part.more_len;
        }
        list.set_len(len + more);
        tail.extend(len + more);
        let parts_now = parts.as_slice();
        // The places of those that have ended, of the same two sets, from one of them on; and those of a block that nobody takes.
        let leavers = |from: usize| {
            let block = end.partition_point(|&start| start <= from) - 1;
            numbers(blocks, block).skip(from - end[block])
        };
        let left = |number: usize, of: &Range<usize>| {
            let taken = (begin[of.end] - begin[of.start]).saturating_sub(end[number] - end[of.start]);
            numbers(&blocks[..=number], number).skip(taken).map(place_of)
        };
        let places = Places { pairs: Disjoint::new(list.pairs_mut()), tail: &*tail, slots };
        resize_with_headroom(gaps, blocks.len());
        workers.fill_blocks("change", gaps, 1, |number, gaps| {
            let (of, Meeting { sets, number: meeting, .. }) = meetings.of_block(number);
            let (block, part) = (&blocks[number], &parts_now[meeting]);
            let (first, ended) = (begin[number] - begin[of.start], end[of.end] - end[of.start]);
            let taken = leavers(end[of.start] + first.min(ended)).take(ended.saturating_sub(first));
            let room = taken.map(place_of).chain(part.more + first.saturating_sub(ended)..);
            // SAFETY: no two candidates stand at one place; those behind the end of the list are taken in turn.
            unsafe { places.put((number, block, &block.begun()[block.exchanges()..]), names(sets), room) };
            gaps[0] = 0;
            for place in left(number, &of) {
                if place < part.shrunk {
                    gaps[0] += 1;
                } else {
                    tail.set(place, NOBODY);
                }
            }
        });
        let shrunk = parts_now.iter().find(|part| part.shrunk < part.end).map_or(len, |part| part.shrunk);
        if shrunk < len {
            tail.reach([shrunk, len], (blocks, slots), workers);
            let pairs = list.pairs();
            let at_ends = parts_now.iter().flat_map(|part| tail.standing(part.shrunk..part.end));
            last.clear();
            last.extend(at_ends.map(|[place, candidate]| Standing { pair: pairs[place as usize], candidate }));
            let mut sum = 0;
            gaps.iter_mut().for_each(|gaps| sum += replace(gaps, sum));
            let (pairs, tail, last, gaps) = (Disjoint::new(list.pairs_mut()), &*tail, &*last, &*gaps);
            workers.run("close up", blocks.len(), |number| {
                let (of, Meeting { number: meeting, .. }) = meetings.of_block(number);
                let places = left(number, &of).filter(|&place| place < parts_now[meeting].shrunk);
                for (place, &Standing { pair, candidate }) in places.zip(&last[gaps[number]..]) {
                    // SAFETY: no two candidates have stood at one place.
                    unsafe { pairs.write(place, pair) };
                    tail.set(place, candidate);
                    if let Some(slot) = slots.get(candidate as usize) {
                        slot.store(place as u32, Ordering::Relaxed);
                    }
                }
            });
        }
        if parts_now.len() > 1 {
            self.settle(list);
        } else if let Some(part) = parts.first_mut() {
            part.end = part.shrunk + part.more_len;
            list.set_len(part.end);
        }
    }

    /// Puts the pairs of each two sets behind those of the last two, moving as few as possible.
    fn settle(&mut self, list: &mut PairList) {
        let Self { slots, tail, last, parts, .. } = self;
        let mut windows = Windows::default();
        last.clear();
        for part in &*parts {
            let [now, then] = windows.next(part);
            let outside =
                [now.start..then.start.clamp(now.start, now.end), then.end.clamp(now.start, now.end)..now.end];
            let places = outside.into_iter().flatten().chain(part.more..part.more + part.more_len);
            last.extend(places.map(|place| Standing { pair: list.pairs()[place], candidate: tail.owner(place) }));
        }
        let (mut windows, mut moved) = (Windows::default(), last.iter());
        for part in parts {
            let [now, then] = windows.next(part);
            let holes =
                [then.start..now.start.clamp(then.start, then.end), now.end.clamp(then.start, then.end)..then.end];
            for (place, &Standing { pair, candidate }) in holes.into_iter().flatten().zip(&mut moved) {
                list.pairs_mut()[place] = pair;
                tail.set(place, candidate);
                if let Some(slot) = slots.get(candidate as usize) {
                    slot.store(place as u32, Ordering::Relaxed);
                }
            }
            part.end = then.end;
        }
        list.set_len(windows.then);
    }
}

/// Where the pairs of each two sets stand in the list, and where they are to stand.
#[derive(Default)]
struct Windows {
    now: usize,
    then: usize,
}

impl Windows {
    fn next(&mut self, part: &Part) -> [Range<usize>; 2] {
        let now = replace(&mut self.now, part.end)..part.shrunk;
        let then = self.then..self.then + now.len() + part.more_len;
        self.then = then.end;
        [now, then]
    }
}

/// The block that a part of a new list is of, and its sets; none of the first part of each two sets, which is what workers have listed.
fn block_of_part(meetings: &Meetings, part: usize) -> Option<(usize, [u32; 2])> {
    let number = meetings.all().partition_point(|meeting| meeting.end + meeting.number < part);
    let block = part.checked_sub(number + 1)?;
    (block >= meetings.range(number).start).then_some((block, meetings.all()[number].sets))
}

/// Where candidates stand in the list.
struct Places<'a> {
    pairs: Disjoint<'a, [u32; 2]>,
    tail: &'a Tail,
    slots: &'a [AtomicU32],
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
    unsafe fn put(
        &self,
        (number, block, some): (usize, &Block, &[u16]),
        names: Names<'_>,
        mut places: impl Iterator<Item = usize>,
    ) {
        for some in some.chunks(SOME) {
            let mut slots = [0; SOME];
            for (slot, place) in slots[..some.len()].iter_mut().zip(&mut places) {
                assert!(place < self.pairs.len(), "a candidate stands beyond the list");
                self.pairs.prefetch(place);
                *slot = place;
            }
            for (&at, place) in some.iter().zip(slots) {
                let candidate = number * BLOCK + usize::from(at);
                let pair = names.pair(block.pair(at.into()));
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

//! The list of pairs that touch, changed where candidates begin to touch, or end.
//!
//! Candidates that touch all the time are listed once. Of the other candidates, each frame tests the bands in which
//! some may have changed. A block keeps whether each candidate touched when it was tested last: few change from frame
//! to frame, and only these are written. Of many sets, the pairs of each two that meet stand together, as a part of the
//! list. Where one part becomes longer or shorter, few pairs of the next parts move from one end of their part to the
//! other.

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
use crate::coherent::course::Progress;
use crate::coherent::current::Test;
use crate::coherent::marks::Marks;
use crate::coherent::names::Names;
use crate::coherent::tail::{NOBODY, Tail};
use crate::coherent::windows::Windows;
use crate::join::hits::PairList;

/// Places that are prefetched together before they are written.
const SOME: usize = 32;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Live {
    blocks: Blocks,
    /// Where in the list, for each two sets, the pairs that workers have listed begin, and then the pairs of each of
    /// their blocks; and the end. In a kept frame: how many candidates have begun to touch in all blocks before each
    /// block, and how many have ended, without those that exchange places within a block.
    starts: Vec<usize>,
    /// One part for each two sets that meet.
    parts: Vec<ListPart>,
    /// Where in the list each touching candidate stands, block after block. Of many sets, behind all candidates, also
    /// where each pair stands that workers have listed, by the place where it was listed.
    slots: Vec<AtomicU32>,
    /// Which candidates stand at the last places of the list.
    tail: Tail,
    /// Where the list becomes shorter: how many places each block leaves in front of the new end, or all blocks before
    /// it; and the pairs behind the new end.
    gaps: Vec<usize>,
    last: Vec<Standing>,
    /// Where pairs were listed that touch all the time and have moved since; and a bit for each of these places, since
    /// pairs come back and move again for as long as the list lasts.
    moved: Vec<u32>,
    have_moved: Marks,
    /// Whether the list is put aside, as the candidates that touch, and is not where the caller asks for pairs.
    is_aside: bool,
}

/// The pairs of two sets.
#[derive(Debug, Clone, Copy, Default)]
struct ListPart {
    /// Where the pairs were listed that touch all the time, as workers have found them. The pairs of the first part
    /// stay there.
    front: [usize; 2],
    /// Where the part ends in the list; and where it ends now that some pairs have ended whose places no others have
    /// taken.
    end: usize,
    shrunk: usize,
    /// Where the pairs stand, behind the list, for which the part has no place; and how many they are.
    more: usize,
    more_len: usize,
}

/// Returns the names by which candidates of two sets call bodies.
pub(super) type NamesOf<'a> = dyn Fn([u32; 2]) -> Names<'a> + Sync + 'a;

/// A pair of the list, and the number of its candidate, or of its slot.
#[derive(Debug, Clone, Copy)]
struct Standing {
    pair: [u32; 2],
    candidate: u32,
}

/// Returns where in the list a touching candidate stands.
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
            + self.parts.capacity() * size_of::<ListPart>()
            + self.moved.capacity() * size_of::<u32>()
            + self.have_moved.bytes()
    }

    /// The sets that meet.
    pub(super) fn meetings(&self) -> &Meetings {
        self.blocks.meetings()
    }

    pub(super) fn blocks(&self) -> &[Box<Block>] {
        self.blocks.all()
    }

    /// Returns where the pairs of two sets were listed that are of no block.
    pub(super) fn front(&self, meeting: usize) -> Range<usize> {
        let [begin, end] = self.parts[meeting].front;
        begin..end
    }

    /// Returns where in the list the pair stands that was listed at this place.
    pub(super) fn front_place(&self, listed: u32) -> usize {
        if self.parts.len() > 1 {
            place_of(&self.slots, self.first_listed() + listed as usize)
        } else {
            listed as usize
        }
    }

    /// Returns where the pair at a place was listed, if it is a pair of two sets that is of no block.
    pub(super) fn front_at(&self, place: usize, meeting: usize) -> Option<u32> {
        let listed = if self.parts.len() > 1 {
            (self.tail.owner(place) as usize).checked_sub(self.first_listed())?
        } else {
            place
        };
        self.front(meeting).contains(&listed).then_some(listed as u32)
    }

    /// Returns where pairs of two sets that are of no block were listed, if they have moved since.
    pub(super) fn moved(&self, meeting: usize) -> impl Iterator<Item = u32> {
        let front = self.front(meeting);
        self.moved.iter().copied().filter(move |&listed| front.contains(&(listed as usize)))
    }

    /// Returns the slot of the pair that was listed at the first place.
    fn first_listed(&self) -> usize {
        self.blocks.all().len() * BLOCK
    }

    /// Returns where in the list a touching candidate stands.
    pub(super) fn place_of(&self, candidate: u32) -> usize {
        place_of(&self.slots, candidate as usize)
    }

    /// Gives all blocks to workers that sort new candidates, `max` of them and some more.
    pub(super) fn stock(&mut self, max: usize) -> &Stock {
        self.blocks.stock(max)
    }

    /// Takes the blocks that workers have sorted, of these meetings in order, bodies having come as far as `progress`.
    /// They hold all candidates that may change. Workers have listed the candidates that touch all the time: those of
    /// each two sets up to its end in `ends`. Returns whether all can be numbered.
    pub(super) fn take_sorted(&mut self, progress: Progress, meetings: &[[u32; 2]], ends: &[usize]) -> bool {
        self.blocks.take_sorted(progress, meetings);
        let most = ends.last().copied().unwrap_or_default() + 2 * self.blocks.all().len() * BLOCK;
        self.is_aside = false;
        self.parts.clear();
        self.parts.extend(ends.iter().map(|&end| ListPart { end, ..ListPart::default() }));
        u32::try_from(most).is_ok()
    }

    /// Returns where in the list the pairs of each two sets end.
    pub(super) fn ends(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().map(|part| part.end)
    }

    /// Lists new candidates that touch: those of each two sets behind the pairs that workers have listed, block by
    /// block and band by band.
    pub(super) fn list(&mut self, list: &mut PairList, names: &NamesOf<'_>, workers: Workers<'_>) {
        let Self { blocks, starts, slots, tail, parts, moved, have_moved, .. } = self;
        let (blocks, meetings) = (blocks.all(), blocks.meetings());
        moved.clear();
        have_moved.clear();
        resize_with_headroom(starts, blocks.len() + parts.len() + 1);
        let (mut end, mut at, mut listed) = (0, 0, 0);
        starts[0] = 0;
        for (part, of) in parts.iter_mut().zip(meetings.ranges()) {
            let of_front = part.end - replace(&mut listed, part.end);
            part.front = [end, end + of_front];
            for len in once(of_front).chain(blocks[of].iter().map(|block| block.touched())) {
                (at, end) = (at + 1, end + len);
                starts[at] = end;
            }
            part.end = end;
        }
        list.set_len(end);
        let are_many = parts.len() > 1;
        tail.begin(if are_many { 0 } else { end }, end);
        tail.extend(end);
        // The pairs that workers have listed go to their places, those of the last sets first.
        for meeting in meetings.all().iter().rev() {
            let first = meetings.range(meeting.number).start + meeting.number;
            let to = starts[first]..starts[first + 1];
            list.pairs_mut().copy_within(listed - to.len()..listed, to.start);
            listed -= to.len();
        }
        let first_listed = blocks.len() * BLOCK;
        let needed = first_listed + if are_many { end } else { 0 };
        if slots.len() < needed {
            slots.resize_with(with_headroom(needed), AtomicU32::default);
        }
        let (starts, slots, tail) = (&*starts, &*slots, &*tail);
        workers.fill_parts("list", starts, (list.pairs_mut(), &mut vec![(); end]), |part, out, _| {
            let Some((number, sets)) = block_of_part(meetings, part) else {
                if are_many {
                    for place in starts[part]..starts[part + 1] {
                        slots[first_listed + place].store(place as u32, Ordering::Relaxed);
                        tail.set(place, (first_listed + place) as u32);
                    }
                }
                return;
            };
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

    /// Puts the list aside as the candidates that touch: the caller's pairs are some of them.
    pub(super) fn put_aside(&mut self, (aside, ends): (&mut PairList, &mut Vec<usize>), list: &mut PairList) {
        swap(aside, list);
        ends.clear();
        ends.extend(self.ends());
        self.is_aside = true;
    }

    /// Puts the list back.
    pub(super) fn take_back(&mut self, aside: &mut PairList, list: &mut PairList) {
        if take(&mut self.is_aside) {
            swap(aside, list);
        }
    }

    /// Changes the list, bodies having come as far as `progress`. Candidates that have begun to touch go to the places
    /// of candidates of their block that have ended. Of what is left over in all blocks of the same two sets,
    /// candidates that have begun go, in their order, to the places of those that have ended, and then to the end.
    /// Where fewer have begun, the last pairs of these sets go to the places that are left.
    #[allow(unsafe_code, reason = "no two candidates stand at one place of the list")]
    pub(super) fn change<const D: usize>(
        &mut self,
        list: &mut PairList,
        test: &Test<'_, D>,
        progress: (Progress, f64, Isa),
        workers: Workers<'_>,
    ) {
        let Self { blocks, slots, tail, .. } = self;
        let slots = slots.as_slice();
        let places = ListPlaces { pairs: Disjoint::new(list.pairs_mut()), tail, slots };
        let are_far = are_far(blocks.all());
        blocks.sift(test, progress, workers, |number, block, sets| {
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

    /// Changes the list where more candidates of a block have begun to touch than have ended, or fewer.
    #[allow(unsafe_code, reason = "no two candidates stand at one place of the list")]
    fn change_over_blocks(&mut self, list: &mut PairList, names: &NamesOf<'_>, workers: Workers<'_>) {
        let Self { blocks, starts, slots, tail, gaps, last, parts, moved, have_moved, .. } = self;
        let slots = slots.as_slice();
        let place_of = |candidate: usize| place_of(slots, candidate);
        let (blocks, meetings) = (blocks.all(), blocks.meetings());
        // Where the left-over changes of each block begin, among all candidates that have begun to touch, then among
        // all that have ended; each with the end.
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
        // The candidates of the same two sets that have ended, from one of them on; and the places of a block that no
        // candidate takes.
        let leavers = |from: usize| {
            let block = end.partition_point(|&start| start <= from) - 1;
            numbers(blocks, block).skip(from - end[block])
        };
        let left = |number: usize, of: &Range<usize>| {
            let taken = (begin[of.end] - begin[of.start]).saturating_sub(end[number] - end[of.start]);
            numbers(&blocks[..=number], number).skip(taken).map(place_of)
        };
        let places = ListPlaces { pairs: Disjoint::new(list.pairs_mut()), tail: &*tail, slots };
        resize_with_headroom(gaps, blocks.len());
        workers.fill_blocks("change", gaps, 1, |number, gaps| {
            let (of, Meeting { sets, number: meeting, .. }) = meetings.of_block(number);
            let (block, part) = (&blocks[number], &parts_now[meeting]);
            let (first, ended) = (begin[number] - begin[of.start], end[of.end] - end[of.start]);
            let taken = leavers(end[of.start] + first.min(ended)).take(ended.saturating_sub(first));
            let room = taken.map(place_of).chain(part.more + first.saturating_sub(ended)..);
            // SAFETY: no two candidates stand at one place; the places behind the end of the list are taken in turn.
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
            note_moved(last, blocks.len() * BLOCK, (moved, have_moved));
            let (pairs, tail, last, gaps) = (Disjoint::new(list.pairs_mut()), &*tail, &*last, &*gaps);
            workers.run("close up", blocks.len(), |number| {
                let (of, Meeting { number: meeting, .. }) = meetings.of_block(number);
                let places = left(number, &of).filter(|&place| place < parts_now[meeting].shrunk);
                for (place, &Standing { pair, candidate }) in places.zip(&last[gaps[number]..]) {
                    // SAFETY: no two candidates have stood at one place.
                    unsafe { pairs.write(place, pair) };
                    tail.set(place, candidate);
                    slots[candidate as usize].store(place as u32, Ordering::Relaxed);
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

    /// Puts the pairs of each two sets behind those of the two before, moving as few as possible.
    fn settle(&mut self, list: &mut PairList) {
        let first_listed = self.first_listed();
        let Self { slots, tail, last, parts, moved, have_moved, .. } = self;
        let next = |windows: &mut Windows, part: &ListPart| windows.next((part.end, part.shrunk), part.more_len);
        let mut windows = Windows::default();
        last.clear();
        for part in &*parts {
            let window = next(&mut windows, part);
            let places = window.outside().chain(part.more..part.more + part.more_len);
            last.extend(places.map(|place| Standing { pair: list.pairs()[place], candidate: tail.owner(place) }));
        }
        note_moved(last, first_listed, (moved, have_moved));
        let (mut windows, mut going) = (Windows::default(), last.iter());
        for part in parts {
            let window = next(&mut windows, part);
            for (place, &Standing { pair, candidate }) in window.left().zip(&mut going) {
                list.pairs_mut()[place] = pair;
                tail.set(place, candidate);
                slots[candidate as usize].store(place as u32, Ordering::Relaxed);
            }
            part.end = window.then.end;
        }
        list.set_len(windows.end());
    }
}

/// Notes which of some pairs that are about to move have not moved before. Pairs that workers have listed have slots
/// from `first` on.
fn note_moved(some: &[Standing], first: usize, (moved, have_moved): (&mut Vec<u32>, &mut Marks)) {
    let listed = some.iter().filter_map(|standing| (standing.candidate as usize).checked_sub(first));
    for listed in listed.map(|listed| listed as u32) {
        if !have_moved.has(listed) {
            have_moved.set(listed);
            moved.push(listed);
        }
    }
}

/// Returns the block that a part of a new list is of, and its sets; none for the first part of each two sets, which
/// workers have listed.
fn block_of_part(meetings: &Meetings, part: usize) -> Option<(usize, [u32; 2])> {
    let number = meetings.all().partition_point(|meeting| meeting.end + meeting.number < part);
    let block = part.checked_sub(number + 1)?;
    (block >= meetings.range(number).start).then_some((block, meetings.all()[number].sets))
}

/// Where candidates stand in the list.
struct ListPlaces<'a> {
    pairs: Disjoint<'a, [u32; 2]>,
    tail: &'a Tail,
    slots: &'a [AtomicU32],
}

impl ListPlaces<'_> {
    /// Puts some candidates of the block of that number to places of the list.
    ///
    /// # Safety
    /// No other task writes to these places meanwhile.
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

/// Returns the candidates, from one block on, that have ended and whose places no candidate of their block has taken.
fn numbers(blocks: &[Box<Block>], from: usize) -> impl Iterator<Item = usize> {
    let all = (from * BLOCK..).step_by(BLOCK).zip(blocks.get(from..).unwrap_or_default());
    all.flat_map(move |(first, block)| {
        block.ended()[block.exchanges()..].iter().map(move |&at| first + usize::from(at))
    })
}

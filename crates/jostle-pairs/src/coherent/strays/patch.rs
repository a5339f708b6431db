//! Takes pairs of some bodies out of a list, and puts in other pairs of theirs, until the list is restored.

use jostle_core::Workers;
use jostle_core::disjoint::Disjoint;

use crate::coherent::windows::{Window, Windows};
use crate::join::hits::PairList;

/// Pairs that one task puts in, and pairs whose places are prefetched together.
const BLOCK: usize = 512;
const AT_ONCE: usize = 32;

/// A place of a list, and the pair that stood there.
type Replaced = (u32, [u32; 2]);

/// A part of a list: where it ends, and up to which of all holes, and of all pairs to put in, its own go.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PatchPart {
    pub(super) end: usize,
    pub(super) holes: usize,
    pub(super) pairs: usize,
}

/// What is put into a part: where the part ends, its holes, and its pairs.
struct OfPart<'a> {
    end: usize,
    holes: &'a [u32],
    pairs: &'a [[u32; 2]],
}

impl<'a> OfPart<'a> {
    fn new(parts: &[PatchPart], number: usize, (holes, pairs): (&'a [u32], &'a [[u32; 2]])) -> Self {
        let before = number.checked_sub(1).map_or(PatchPart::default(), |before| parts[before]);
        let part = parts[number];
        Self { end: part.end, holes: &holes[before.holes..part.holes], pairs: &pairs[before.pairs..part.pairs] }
    }

    /// Returns how many pairs get a hole.
    fn filled(&self) -> usize {
        self.holes.len().min(self.pairs.len())
    }

    /// Returns where the part stands once it is closed up, and where it is to stand.
    fn window(&self, windows: &mut Windows) -> Window {
        let shrunk = self.end - (self.holes.len() - self.filled());
        windows.next((self.end, shrunk), self.pairs.len() - self.filled())
    }
}

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Patch {
    /// How long the list was, if it is patched.
    len: Option<usize>,
    /// The pairs that stood in the holes that have been filled, each of which is another place. Then the pairs that
    /// have been overwritten since, in the order in which they were.
    filled: Vec<Replaced>,
    replaced: Vec<Replaced>,
    /// The holes of a part that are left.
    left: Vec<u32>,
    /// Pairs that have no place yet.
    moved: Vec<[u32; 2]>,
}

impl Patch {
    pub(super) fn bytes(&self) -> usize {
        (self.filled.capacity() + self.replaced.capacity()) * size_of::<Replaced>()
            + self.left.capacity() * size_of::<u32>()
            + self.moved.capacity() * size_of::<[u32; 2]>()
    }

    pub(super) fn clear(&mut self) {
        self.len = None;
    }

    /// Puts these pairs into these holes, no two of which are the same place, part by part. Pairs for which there is no
    /// hole go behind the end of their part. Where there are fewer pairs, the last ones of the part go to the holes
    /// that are left. Where a part becomes longer or shorter, few pairs of the next parts go from one end of their part
    /// to the other. `ends` is where each part ends then.
    pub(super) fn put(
        &mut self,
        (list, ends): (&mut PairList, &mut Vec<usize>),
        parts: &[PatchPart],
        put: (&[u32], &[[u32; 2]]),
        workers: Workers<'_>,
    ) {
        let Self { filled, replaced, left, moved, .. } = self;
        let len = list.pairs().len();
        self.len = Some(len);
        filled.clear();
        for number in 0..parts.len() {
            let OfPart { holes, pairs, .. } = OfPart::new(parts, number, put);
            filled.extend(holes.iter().copied().zip(pairs.iter().copied()));
        }
        exchange(filled, list, workers);
        replaced.clear();
        moved.clear();
        let mut windows = Windows::default();
        for number in 0..parts.len() {
            let part = OfPart::new(parts, number, put);
            left.clear();
            left.extend_from_slice(&part.holes[part.filled()..]);
            left.sort_unstable();
            close_up(list, left, part.end, replaced);
            moved.extend(part.window(&mut windows).outside().map(|place| list.pairs()[place]));
            moved.extend_from_slice(&part.pairs[part.filled()..]);
        }
        let new_len = windows.end();
        list.set_len(len.max(new_len));
        ends.clear();
        let (mut windows, mut going) = (Windows::default(), moved.iter());
        for number in 0..parts.len() {
            let window = OfPart::new(parts, number, put).window(&mut windows);
            for (place, &pair) in window.left().zip(&mut going) {
                let stood = core::mem::replace(&mut list.pairs_mut()[place], pair);
                if place < len {
                    replaced.push((place as u32, stood));
                }
            }
            ends.push(window.then.end);
        }
        for place in new_len..len {
            replaced.push((place as u32, list.pairs()[place]));
        }
        list.set_len(new_len);
    }

    /// Restores a list to what it was.
    pub(super) fn restore(&mut self, list: &mut PairList, workers: Workers<'_>) {
        if let Some(len) = self.len.take() {
            list.set_len(len);
            let pairs = list.pairs_mut();
            self.replaced.iter().rev().for_each(|&(place, pair)| pairs[place as usize] = pair);
            exchange(&mut self.filled, list, workers);
        }
    }
}

/// Puts the last pairs of a part, which ends at `end`, into the holes of it that are left, which are ascending, and
/// notes what stood there.
fn close_up(list: &mut PairList, left: &[u32], end: usize, replaced: &mut Vec<Replaced>) {
    // The pairs behind the new end, without the holes there.
    let new_end = end - left.len();
    let (front, back) = left.split_at(left.partition_point(|&place| (place as usize) < new_end));
    let mut back = back.iter().peekable();
    let mut last = (new_end as u32..end as u32).filter(|place| back.next_if_eq(&place).is_none());
    for &place in front {
        let Some(from) = last.next() else { break };
        let pair = list.pairs()[from as usize];
        replaced.push((place, core::mem::replace(&mut list.pairs_mut()[place as usize], pair)));
    }
}

/// Exchanges pairs with those that stand in their places, no two of which are the same.
#[allow(unsafe_code, reason = "no two places are the same")]
fn exchange(some: &mut [Replaced], list: &mut PairList, workers: Workers<'_>) {
    let list = Disjoint::new(list.pairs_mut());
    workers.fill_blocks("patch", some, BLOCK, |_, some| {
        for some in some.chunks_mut(AT_ONCE) {
            some.iter().for_each(|&(place, _)| list.prefetch(place as usize));
            for (place, pair) in some {
                let place = *place as usize;
                // SAFETY: no other task has this place.
                core::mem::swap(pair, &mut unsafe { list.range(place..place + 1) }[0]);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{Patch, PatchPart};
    use crate::join::hits::PairList;
    use jostle_core::Workers;

    /// Steele, Lea and Flood's SplitMix64.
    fn random(state: &mut u64, below: usize) -> usize {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (x >> 33) as usize % below.max(1)
    }

    #[test]
    fn a_list_is_patched_and_made_as_it_was() {
        let (mut state, mut patch, mut ends) = (1, Patch::default(), Vec::new());
        for _ in 0..2_000 {
            let (mut parts, mut holes, mut others, mut part) =
                (Vec::new(), Vec::new(), Vec::new(), PatchPart::default());
            for _ in 0..1 + random(&mut state, 4) {
                let (begin, len) = (part.end, random(&mut state, 30));
                let (every, from) = (1 + random(&mut state, 4), begin + random(&mut state, len));
                let mut of_part: Vec<u32> = (from as u32..(begin + len) as u32).step_by(every).collect();
                if random(&mut state, 2) == 0 {
                    of_part.reverse();
                }
                holes.append(&mut of_part);
                others.extend((0..random(&mut state, 20) as u32).map(|number| [1_000 + number, parts.len() as u32]));
                part = PatchPart { end: begin + len, holes: holes.len(), pairs: others.len() };
                parts.push(part);
            }
            let mut list = PairList::with_capacity(0);
            list.set_len(part.end);
            list.pairs_mut().iter_mut().zip(0..).for_each(|(slot, at)| *slot = [at, at + 1]);
            let all = list.pairs().to_vec();
            patch.put((&mut list, &mut ends), &parts, (&holes, &others), Workers::Rayon);
            let (mut before, mut begin) = (PatchPart::default(), 0);
            for (&part, &end) in parts.iter().zip(&ends) {
                let kept = (before.end..part.end).filter(|&place| !holes.contains(&(place as u32)));
                let kept = kept.map(|place| all[place]);
                let mut expected: Vec<_> = kept.chain(others[before.pairs..part.pairs].iter().copied()).collect();
                let mut patched = list.pairs()[begin..end].to_vec();
                expected.sort_unstable();
                patched.sort_unstable();
                assert_eq!(patched, expected, "parts {parts:?}, holes {holes:?}");
                (before, begin) = (part, end);
            }
            assert_eq!(list.pairs().len(), begin);
            patch.restore(&mut list, Workers::Rayon);
            assert_eq!(list.pairs(), all);
        }
    }
}

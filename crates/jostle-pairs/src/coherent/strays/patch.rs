//! A list of pairs without those of some bodies, and with others of theirs, until it is made as it was.

use jostle_core::Workers;
use jostle_core::disjoint::Disjoint;

use crate::join::hits::PairList;

/// Pairs that one task puts, and those whose places are asked for together.
const BLOCK: usize = 512;
const AT_ONCE: usize = 32;

/// A place of a list, and what stood there.
type Replaced = (u32, [u32; 2]);

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Patch {
    /// How long the list was, where it is patched.
    len: Option<usize>,
    /// What stood in the places that others have been put to, each of which is another; then what stood where something else does since, in the
    /// order in which it was written.
    filled: Vec<Replaced>,
    replaced: Vec<Replaced>,
    /// Places that are left.
    left: Vec<u32>,
}

impl Patch {
    pub(super) fn bytes(&self) -> usize {
        (self.filled.capacity() + self.replaced.capacity()) * size_of::<Replaced>()
            + self.left.capacity() * size_of::<u32>()
    }

    pub(super) fn clear(&mut self) {
        self.len = None;
    }

    /// Puts these pairs in these places, no two of which are the same, and behind the end; where there are fewer, the last of the list in the places
    /// that are left.
    pub(super) fn put(&mut self, list: &mut PairList, holes: &[u32], pairs: &[[u32; 2]], workers: Workers<'_>) {
        let Self { filled, replaced, left, .. } = self;
        let len = list.pairs().len();
        self.len = Some(len);
        let (first, others) = holes.split_at(pairs.len().min(holes.len()));
        let (now, more) = pairs.split_at(first.len());
        filled.clear();
        filled.extend(first.iter().copied().zip(now.iter().copied()));
        exchange(filled, list, workers);
        replaced.clear();
        if others.is_empty() {
            list.set_len(len + more.len());
            list.pairs_mut()[len..].copy_from_slice(more);
            return;
        }
        left.clear();
        left.extend_from_slice(others);
        left.sort_unstable();
        // Who stands behind the new end, but for those that go.
        let end = (len - left.len()) as u32;
        let (front, back) = left.split_at(left.partition_point(|&place| place < end));
        let mut back = back.iter().peekable();
        let mut moved = (end..len as u32).filter(|place| back.next_if_eq(&place).is_none());
        for &place in front {
            let Some(from) = moved.next() else { break };
            let pair = list.pairs()[from as usize];
            replaced.push((place, core::mem::replace(&mut list.pairs_mut()[place as usize], pair)));
        }
        for place in end..len as u32 {
            replaced.push((place, list.pairs()[place as usize]));
        }
        list.set_len(end as usize);
    }

    /// Makes a list as it was.
    pub(super) fn restore(&mut self, list: &mut PairList, workers: Workers<'_>) {
        if let Some(len) = self.len.take() {
            list.set_len(len);
            let pairs = list.pairs_mut();
            self.replaced.iter().rev().for_each(|&(place, pair)| pairs[place as usize] = pair);
            exchange(&mut self.filled, list, workers);
        }
    }
}

/// Exchanges pairs for those that stand in their places, no two of which are the same.
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
    use super::Patch;
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
        let (mut state, mut patch) = (1, Patch::default());
        for _ in 0..2_000 {
            let len = random(&mut state, 30);
            let mut list = PairList::with_capacity(0);
            list.set_len(len);
            list.pairs_mut().iter_mut().zip(0..).for_each(|(slot, at)| *slot = [at, at + 1]);
            let all = list.pairs().to_vec();
            let (every, from) = (1 + random(&mut state, 4), random(&mut state, len));
            let mut holes: Vec<u32> = (from as u32..len as u32).step_by(every).collect();
            if random(&mut state, 2) == 0 {
                holes.reverse();
            }
            let others: Vec<_> = (0..random(&mut state, 20) as u32).map(|number| [1_000 + number, 0]).collect();
            patch.put(&mut list, &holes, &others, Workers::Rayon);
            let kept = all.iter().zip(0..).filter(|(_, place)| !holes.contains(place));
            let mut expected: Vec<_> = kept.map(|(&pair, _)| pair).chain(others).collect();
            let mut patched = list.pairs().to_vec();
            expected.sort_unstable();
            patched.sort_unstable();
            assert_eq!(patched, expected, "{len} pairs, holes {holes:?}");
            patch.restore(&mut list, Workers::Rayon);
            assert_eq!(list.pairs(), all);
        }
    }
}

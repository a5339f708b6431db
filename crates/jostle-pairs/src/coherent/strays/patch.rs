//! A list of pairs without those of some bodies, and with others of theirs, until it is made as it was.

use crate::join::hits::PairList;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Patch {
    /// How long the list was, where it is patched, and what stood where something else does now, in the order in which it was written.
    len: Option<usize>,
    replaced: Vec<(u32, [u32; 2])>,
    /// Places that are left.
    left: Vec<u32>,
}

impl Patch {
    pub(super) fn bytes(&self) -> usize {
        self.replaced.capacity() * size_of::<(u32, [u32; 2])>() + self.left.capacity() * size_of::<u32>()
    }

    pub(super) fn clear(&mut self) {
        self.replaced.clear();
        self.len = None;
    }

    /// Puts these pairs in these places, and behind the end; where there are fewer, the last of the list in the places that are left.
    pub(super) fn put(&mut self, list: &mut PairList, holes: &[u32], pairs: &[[u32; 2]]) {
        let Self { replaced, left, .. } = self;
        let len = list.pairs().len();
        self.len = Some(len);
        let (filled, others) = holes.split_at(pairs.len().min(holes.len()));
        let (now, more) = pairs.split_at(filled.len());
        let mut write = |list: &mut [[u32; 2]], place: u32, pair: [u32; 2]| {
            replaced.push((place, core::mem::replace(&mut list[place as usize], pair)));
        };
        for (&place, &pair) in filled.iter().zip(now) {
            write(list.pairs_mut(), place, pair);
        }
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
            write(list.pairs_mut(), place, pair);
        }
        for place in end..len as u32 {
            replaced.push((place, list.pairs()[place as usize]));
        }
        list.set_len(end as usize);
    }

    /// Makes a list as it was.
    pub(super) fn restore(&mut self, list: &mut PairList) {
        if let Some(len) = self.len.take() {
            list.set_len(len);
            let pairs = list.pairs_mut();
            self.replaced.drain(..).rev().for_each(|(place, pair)| pairs[place as usize] = pair);
        }
    }
}

//! The list of pairs turned into lists of contacts, one a body: a counting sort by all threads.
//!
//! Threads fill the list of a body in whatever order they come; sorting each list makes the order that of the ids, and
//! so sums over it the same for any number of threads.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;

use super::agents::BLOCK;

/// For each body, the bodies it touches.
#[derive(Debug, Default)]
pub(super) struct Contacts {
    /// The list of body `id` is `others[starts[id]..starts[id + 1]]`.
    starts: Vec<usize>,
    others: Vec<AtomicU32>,
    /// How many entries of each list are counted, then how many are filled in.
    cursors: Vec<AtomicUsize>,
}

impl Contacts {
    /// Replaces the lists by those of `n` bodies and their pairs.
    pub(super) fn build(&mut self, n: usize, pairs: &[[u32; 2]]) {
        self.clear(n, 2 * pairs.len());
        let pairs = pairs.par_iter().with_min_len(BLOCK);
        pairs.clone().flatten_iter().for_each(|&id| {
            self.cursors[id as usize].fetch_add(1, Relaxed);
        });
        self.scan();
        pairs.for_each(|&[a, b]| {
            for (id, other) in [(a, b), (b, a)] {
                let at = self.cursors[id as usize].fetch_add(1, Relaxed);
                self.others[at].store(other, Relaxed);
            }
        });
        self.sort();
    }

    /// The number of bodies that a body touches.
    pub(super) fn count(&self, id: usize) -> u32 {
        (self.starts[id + 1] - self.starts[id]) as u32
    }

    /// The bodies that a body touches, in ascending order.
    pub(super) fn of(&self, id: usize) -> impl Iterator<Item = u32> {
        self.others[self.starts[id]..self.starts[id + 1]].iter().map(|other| other.load(Relaxed))
    }

    fn clear(&mut self, n: usize, entries: usize) {
        self.cursors.resize_with(n, AtomicUsize::default);
        self.cursors.par_iter_mut().with_min_len(BLOCK).for_each(|cursor| *cursor.get_mut() = 0);
        self.others.resize_with(entries, AtomicU32::default);
    }

    /// Turns counts into the starts of the lists, and cursors into those starts.
    fn scan(&mut self) {
        self.starts.clear();
        let mut start = 0;
        for cursor in &mut self.cursors {
            self.starts.push(start);
            let count = cursor.get_mut();
            (*count, start) = (start, start + *count);
        }
        self.starts.push(start);
    }

    /// Sorts each list. Blocks of bodies own neighbouring parts of `others`.
    fn sort(&mut self) {
        let n = self.cursors.len();
        let mut rest = self.others.as_mut_slice();
        let mut blocks = Vec::new();
        for first in (0..n).step_by(BLOCK) {
            let starts = &self.starts[first..=n.min(first + BLOCK)];
            let (lists, after) = rest.split_at_mut(starts[starts.len() - 1] - starts[0]);
            blocks.push((starts, lists));
            rest = after;
        }
        blocks.into_par_iter().for_each(|(starts, lists)| {
            for ends in starts.windows(2) {
                lists[ends[0] - starts[0]..ends[1] - starts[0]].sort_unstable_by_key(|other| other.load(Relaxed));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Contacts};

    #[test]
    fn lists_hold_both_ends_in_order() {
        let mut contacts = Contacts::default();
        contacts.build(4, &[[2, 3], [0, 2], [1, 2]]);
        let lists: Vec<Vec<u32>> = (0..4).map(|id| contacts.of(id).collect()).collect();
        assert_eq!(lists, [vec![2], vec![2], vec![0, 1, 3], vec![2]]);
        contacts.build(2, &[]);
        assert_eq!((contacts.count(0), contacts.count(1)), (0, 0));
    }

    #[test]
    fn blocks_share_nothing() {
        let n = 3 * BLOCK as u32;
        let pairs: Vec<_> = (0..n - 1).rev().map(|a| [a, a + 1]).collect();
        let mut contacts = Contacts::default();
        contacts.build(n as usize, &pairs);
        assert!((1..n - 1).all(|id| contacts.of(id as usize).eq([id - 1, id + 1])));
        assert_eq!(contacts.count(0), 1);
    }
}

//! Turns the list of pairs into a list of contacts for each body, by a counting sort on all threads.
//!
//! Threads fill the list of a body in whatever order they come, and each engine gives pairs in an order of its own.
//! Sorting each list makes it, and the sums taken over it, the same for any number of threads and any engine.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::agents::BLOCK;

/// For each body, the bodies it touches.
#[derive(Debug, Default)]
pub(super) struct Contacts {
    /// The list of body `id` is `entries[starts[id]..starts[id + 1]]`.
    starts: Vec<usize>,
    /// The other body of each contact.
    entries: Vec<AtomicU32>,
    /// Entries of each list that are counted so far.
    counts: Vec<AtomicU32>,
    /// For each pair, how many entries were counted before it in the lists of its bodies.
    before: Vec<[u32; 2]>,
}

impl Contacts {
    /// Replaces the lists by those of `n` bodies and their pairs.
    pub(super) fn build(&mut self, n: usize, pairs: &[[u32; 2]]) {
        self.counts.resize_with(n, AtomicU32::default);
        self.counts.par_iter_mut().with_min_len(BLOCK).for_each(|count| *count.get_mut() = 0);
        self.entries.resize_with(2 * pairs.len(), AtomicU32::default);
        let pairs = pairs.par_iter().with_min_len(BLOCK);
        let count = |id: u32| self.counts[id as usize].fetch_add(1, Relaxed);
        pairs.clone().map(|pair| pair.map(count)).collect_into_vec(&mut self.before);
        self.scan();
        pairs.zip(&self.before).for_each(|(&[a, b], before)| {
            for (id, other, before) in [(a, b, before[0]), (b, a, before[1])] {
                self.entries[self.starts[id as usize] + before as usize].store(other, Relaxed);
            }
        });
        self.sort();
    }

    /// The number of pairs.
    pub(super) fn pairs(&self) -> usize {
        self.entries.len() / 2
    }

    /// The number of bodies that a body touches.
    pub(super) fn count(&self, id: usize) -> u32 {
        (self.starts[id + 1] - self.starts[id]) as u32
    }

    /// The bodies that a body touches, ascending.
    pub(super) fn of(&self, id: usize) -> impl Iterator<Item = u32> {
        self.entries[self.starts[id]..self.starts[id + 1]].iter().map(|entry| entry.load(Relaxed))
    }

    /// Computes the starts of the lists, the prefix sums of the counts.
    fn scan(&mut self) {
        let mut start = 0;
        self.starts.clear();
        self.starts.push(0);
        self.starts.extend(self.counts.iter_mut().map(|count| {
            start += *count.get_mut() as usize;
            start
        }));
    }

    /// Sorts each list. Blocks of bodies own neighbouring parts of `entries`.
    fn sort(&mut self) {
        let n = self.counts.len();
        let mut rest = self.entries.as_mut_slice();
        let mut blocks = Vec::new();
        for first in (0..n).step_by(BLOCK) {
            let starts = &self.starts[first..=n.min(first + BLOCK)];
            let (lists, after) = rest.split_at_mut(starts[starts.len() - 1] - starts[0]);
            blocks.push((starts, lists));
            rest = after;
        }
        blocks.into_par_iter().for_each(|(starts, lists)| {
            for ends in starts.windows(2) {
                lists[ends[0] - starts[0]..ends[1] - starts[0]].sort_unstable_by_key(|entry| entry.load(Relaxed));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, Contacts};

    #[test]
    fn lists_hold_both_ends_ascending_whatever_the_order_of_the_pairs() {
        let mut contacts = Contacts::default();
        contacts.build(4, &[[2, 3], [0, 2], [1, 2]]);
        let lists: Vec<Vec<u32>> = (0..4).map(|id| contacts.of(id).collect()).collect();
        assert_eq!(lists, [vec![2], vec![2], vec![0, 1, 3], vec![2]]);
        contacts.build(2, &[]);
        assert_eq!((contacts.count(0), contacts.count(1), contacts.pairs()), (0, 0, 0));
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

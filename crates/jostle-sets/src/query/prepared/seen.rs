//! The answers to questions to a prepared set, and the list of the nearest bodies.

use core::cmp::Ordering;
use std::collections::BinaryHeap;

/// A body at an image, as a query has found it. Ordered by id, then image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seen<const D: usize> {
    /// The id of the body.
    pub id: u32,
    /// By how many vectors of the cell the body is moved: its image is at `x + (S0 v0 + S1 v1 ..)`.
    pub image_shift: [i32; D],
}

/// A body at an image, and how far away it is. Ordered by distance, then id, then image.
#[derive(Debug, Clone, Copy)]
pub struct SeenAt<const D: usize> {
    /// How far it is.
    pub distance: f64,
    /// The body, and the image.
    pub body: Seen<D>,
}

impl<const D: usize> PartialEq for SeenAt<D> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<const D: usize> Eq for SeenAt<D> {}

impl<const D: usize> PartialOrd for SeenAt<D> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const D: usize> Ord for SeenAt<D> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.distance.total_cmp(&other.distance).then(self.body.cmp(&other.body))
    }
}

/// The nearest bodies so far, at their squared distances, the farthest on top. A single one needs no memory.
pub(super) struct Kept<const D: usize> {
    heap: BinaryHeap<SeenAt<D>>,
    one: Option<SeenAt<D>>,
    count: usize,
    within2: f64,
}

impl<const D: usize> Kept<D> {
    /// An empty list for `count` bodies, in this memory.
    pub(super) fn new(mut memory: Vec<SeenAt<D>>, count: usize, within2: f64) -> Self {
        memory.clear();
        Self { heap: BinaryHeap::from(memory), one: None, count, within2 }
    }

    pub(super) fn is_full(&self) -> bool {
        if self.count == 1 { self.one.is_some() } else { self.heap.len() >= self.count }
    }

    pub(super) fn is_empty(&self) -> bool {
        if self.count == 1 { self.one.is_none() } else { self.heap.is_empty() }
    }

    pub(super) fn offer(&mut self, seen: SeenAt<D>) {
        if seen.distance > self.within2 {
            return;
        }
        if self.count == 1 {
            self.one = Some(self.one.map_or(seen, |one| one.min(seen)));
        } else if !self.is_full() {
            self.heap.push(seen);
        } else if let Some(mut farthest) = self.heap.peek_mut().filter(|farthest| seen < **farthest) {
            *farthest = seen;
        }
    }

    /// The squared distance beyond which nothing is taken any more.
    pub(super) fn bound(&self) -> f64 {
        let farthest = if self.count == 1 { self.one.as_ref() } else { self.heap.peek().filter(|_| self.is_full()) };
        farthest.map_or(self.within2, |farthest| farthest.distance)
    }

    /// Returns the kept bodies at their distances: a list in the memory, the nearest first, or, if one was asked for,
    /// that one.
    pub(super) fn into_sorted(self) -> (Vec<SeenAt<D>>, Option<SeenAt<D>>) {
        let at_distance = |seen: SeenAt<D>| SeenAt { distance: seen.distance.sqrt(), ..seen };
        let mut list = self.heap.into_sorted_vec();
        list.iter_mut().for_each(|seen| *seen = at_distance(*seen));
        (list, self.one.map(at_distance))
    }
}

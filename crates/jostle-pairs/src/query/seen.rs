//! What questions to a prepared set are answered by, and the nearest of it.

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

/// The nearest so far, at their squared distances: the farthest on top.
pub(super) struct Kept<const D: usize> {
    pub(super) heap: BinaryHeap<SeenAt<D>>,
    pub(super) count: usize,
    pub(super) within2: f64,
}

impl<const D: usize> Kept<D> {
    pub(super) fn is_full(&self) -> bool {
        self.heap.len() >= self.count
    }

    pub(super) fn offer(&mut self, seen: SeenAt<D>) {
        if seen.distance > self.within2 {
            return;
        }
        if !self.is_full() {
            self.heap.push(seen);
        } else if let Some(mut farthest) = self.heap.peek_mut().filter(|farthest| seen < **farthest) {
            *farthest = seen;
        }
    }

    /// The squared distance beyond which nothing is taken any more.
    pub(super) fn bound(&self) -> f64 {
        let farthest = self.heap.peek().filter(|_| self.is_full());
        farthest.map_or(self.within2, |farthest| farthest.distance)
    }
}

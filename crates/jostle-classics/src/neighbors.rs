//! The k nearest of the elements that are offered.

use jostle_core::Aabb;

/// An element and how far its centre is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbor {
    /// The id that the element was inserted with.
    pub id: u32,
    /// Squared distance of its centre: `dx*dx + dy*dy`, rounded to `f32` step by step.
    pub distance2: f32,
}

/// Keeps the `k` nearest elements so far in the caller's vector, by distance and then id.
#[derive(Debug)]
pub(crate) struct Nearest<'a> {
    point: [f32; 2],
    k: usize,
    found: &'a mut Vec<Neighbor>,
}

impl<'a> Nearest<'a> {
    /// Returns `None` when there is nothing to look for: `k` is zero, or the point is not a number.
    pub(crate) fn new(point: [f32; 2], k: usize, found: &'a mut Vec<Neighbor>) -> Option<Self> {
        found.clear();
        (k > 0 && !point.iter().any(|x| x.is_nan())).then_some(Self { point, k, found })
    }

    /// Takes an element with this centre if it is among the nearest. O(log k) to look, O(k) to take.
    pub(crate) fn offer(&mut self, center: [f32; 2], id: u32) {
        let (dx, dy) = (center[0] - self.point[0], center[1] - self.point[1]);
        let distance2 = dx * dx + dy * dy;
        let nearer = |n: &Neighbor| n.distance2.total_cmp(&distance2).then(n.id.cmp(&id)).is_le();
        let place = self.found.partition_point(nearer);
        if place < self.k {
            self.found.truncate(self.k - 1);
            self.found.insert(place, Neighbor { id, distance2 });
        }
    }

    /// Returns a squared distance that no centre within the box can be below. This holds with rounding, since each
    /// rounding is monotone.
    pub(crate) fn bound(&self, lo: [f32; 2], hi: [f32; 2]) -> f32 {
        let gap = |axis: usize| (lo[axis] - self.point[axis]).max(self.point[axis] - hi[axis]).max(0.0);
        gap(0) * gap(0) + gap(1) * gap(1)
    }

    /// Returns the four children of a node, the nearest first, each with the [`Self::bound`] of its box.
    pub(crate) fn nearest_first(&self, box_of: impl Fn(usize) -> Aabb<2>) -> [(f32, usize); 4] {
        let mut children = [0, 1, 2, 3].map(|child| {
            let Aabb { lo, hi } = box_of(child);
            (self.bound(lo, hi), child)
        });
        children.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        children
    }

    /// Returns whether an element this far might still be among the nearest.
    pub(crate) fn is_open_to(&self, distance2: f32) -> bool {
        self.found.len() < self.k || self.found.last().is_some_and(|last| distance2 <= last.distance2)
    }
}

#[cfg(test)]
mod tests {
    use super::Nearest;

    #[test]
    fn ties_go_by_id_and_the_farthest_falls_out() {
        let mut found = Vec::new();
        let mut nearest = Nearest::new([0.0, 0.0], 2, &mut found).expect("a point and a number");
        for (center, id) in [([2.0, 0.0], 1), ([0.0, -1.0], 9), ([1.0, 0.0], 4), ([1.0, 0.0], 5)] {
            nearest.offer(center, id);
        }
        assert!(nearest.is_open_to(1.0) && !nearest.is_open_to(1.5));
        assert_eq!(nearest.bound([-4.0, 3.0], [-3.0, 9.0]), 18.0);
        assert_eq!(found.iter().map(|n| n.id).collect::<Vec<_>>(), [4, 5]);
    }

    #[test]
    fn no_neighbors_of_what_is_no_point() {
        let mut found = Vec::new();
        assert!(Nearest::new([0.0, f32::NAN], 2, &mut found).is_none());
        assert!(Nearest::new([0.0, 0.0], 0, &mut found).is_none());
    }
}

//! Clusters: bodies that touch, directly or through other bodies.

/// Which bodies belong together. Kept from frame to frame for its memory.
#[derive(Debug, Default)]
pub(crate) struct Clusters {
    /// For each body, one of the same cluster with a smaller id; the smallest has itself.
    parents: Vec<u32>,
    sizes: Vec<u32>,
}

/// How many clusters of two bodies or more there are, and how many bodies the largest has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Count {
    pub(crate) clusters: u32,
    pub(crate) largest: u32,
}

impl Clusters {
    /// Joins the bodies of all pairs whose ids are below `n`. About O(n + pairs).
    pub(crate) fn join(&mut self, n: usize, pairs: &[[u32; 2]]) -> Count {
        self.parents.clear();
        self.parents.extend(0..n as u32);
        for &[a, b] in pairs.iter().filter(|pair| pair.iter().all(|&id| (id as usize) < n)) {
            let (a, b) = (self.first(a), self.first(b));
            self.parents[a.max(b) as usize] = a.min(b);
        }
        self.sizes.clear();
        self.sizes.resize(n, 0);
        for id in 0..n as u32 {
            let first = self.first(id);
            self.parents[id as usize] = first;
            self.sizes[first as usize] += 1;
        }
        let sizes = self.sizes.iter().copied().filter(|&size| size > 1);
        Count { clusters: sizes.clone().count() as u32, largest: sizes.max().unwrap_or(0) }
    }

    /// A number for each body: 0 if it is free, else one from 1 to 255 that its cluster shares. Other clusters may have
    /// the same one.
    pub(crate) fn shades(&self) -> impl Iterator<Item = u8> {
        self.parents.iter().map(|&first| match self.sizes[first as usize] {
            0 | 1 => 0,
            // Knuth's multiplicative hash: neighbours get unlike shades.
            _ => ((first.wrapping_mul(2_654_435_761) >> 16) % 255) as u8 + 1,
        })
    }

    /// The smallest id known to be in the cluster of a body.
    fn first(&mut self, mut id: u32) -> u32 {
        while self.parents[id as usize] != id {
            let above = self.parents[self.parents[id as usize] as usize];
            self.parents[id as usize] = above;
            id = above;
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Clusters, Count};

    #[test]
    fn bodies_that_others_join_are_one_cluster() {
        let mut clusters = Clusters::default();
        let count = clusters.join(7, &[[4, 5], [1, 2], [2, 4], [3, 6], [9, 1]]);
        assert_eq!(count, Count { clusters: 2, largest: 4 });
        let shades: Vec<_> = clusters.shades().collect();
        assert!(shades[0] == 0 && shades[3] == shades[6] && shades[3] != shades[1]);
        assert!([2, 4, 5].iter().all(|&id| shades[id] == shades[1] && shades[1] > 0));
        assert_eq!(clusters.join(0, &[]), Count::default());
    }

    proptest! {
        /// Compares with labels that spread until nothing changes.
        #[test]
        fn clusters_are_what_spreading_labels_says(pairs in prop::collection::vec([0_u32..30, 0_u32..30], 0..40)) {
            let mut labels: Vec<_> = (0..30).collect::<Vec<u32>>();
            for _ in 0..30 {
                for &[a, b] in &pairs {
                    let least = labels[a as usize].min(labels[b as usize]);
                    (labels[a as usize], labels[b as usize]) = (least, least);
                }
            }
            let mut clusters = Clusters::default();
            let count = clusters.join(30, &pairs);
            prop_assert_eq!(&clusters.parents, &labels);
            let sizes: Vec<_> = (0..30).map(|label| labels.iter().filter(|&&other| other == label).count() as u32).collect();
            prop_assert_eq!(count.clusters as usize, sizes.iter().filter(|&&size| size > 1).count());
            prop_assert_eq!(count.largest, sizes.into_iter().filter(|&size| size > 1).max().unwrap_or(0));
        }
    }
}

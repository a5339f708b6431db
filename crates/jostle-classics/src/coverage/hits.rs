//! Who was hit, and how far two answers differ.

/// Of each object of two groups, whether it was hit by one of the other group.
///
/// As bitmaps see it, there are *misses*, two that overlap by less than the pixels at their rims can tell, and *false
/// hits*: several of one group that overlap each other cover more of a pixel, added up, than there is, and the rims of
/// two that pass close by may come to a pixel together. [`misjudged`](Self::misjudged) counts both against the exact
/// answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hits {
    groups: [Vec<bool>; 2],
}

/// How far an answer is from the exact one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Misjudged {
    /// The number of objects of both groups.
    pub objects: usize,
    /// How many of them were hit, exactly.
    pub hit: usize,
    /// How many were not hit but said to be.
    pub false_hits: usize,
    /// How many were hit but said not to be.
    pub misses: usize,
}

impl Hits {
    /// Of the first group, by position.
    #[must_use]
    pub fn a(&self) -> &[bool] {
        &self.groups[0]
    }

    /// Of the second group, by position.
    #[must_use]
    pub fn b(&self) -> &[bool] {
        &self.groups[1]
    }

    /// Compares an answer with the exact one; objects that only one of them knows are left out. O(objects).
    #[must_use]
    pub fn misjudged(&self, exact: &Self) -> Misjudged {
        let mut sum = Misjudged::default();
        let pairs = self.groups.iter().zip(&exact.groups).flat_map(|(said, exact)| said.iter().zip(exact));
        for (&said, &hit) in pairs {
            sum.objects += 1;
            sum.hit += usize::from(hit);
            sum.false_hits += usize::from(said && !hit);
            sum.misses += usize::from(hit && !said);
        }
        sum
    }

    /// Nobody hit, in groups of these sizes.
    pub(super) fn reset(&mut self, sizes: [usize; 2]) {
        for (hits, size) in self.groups.iter_mut().zip(sizes) {
            hits.clear();
            hits.resize(size, false);
        }
    }

    pub(super) fn groups_mut(&mut self) -> &mut [Vec<bool>; 2] {
        &mut self.groups
    }

    pub(super) fn bytes(&self) -> usize {
        self.groups.iter().map(Vec::capacity).sum()
    }
}

//! Which objects were hit, and how far two answers differ.

/// For each object of two groups, whether an object of the other group hit it.
///
/// In an answer of bitmaps, there are *misses*, two objects that overlap by less than the pixels at their rims can
/// tell, and *false hits*: several objects of one group that overlap each other cover, added up, more of a pixel than
/// there is, and the rims of two objects that pass close by may fill a pixel together. [`misjudged`](Self::misjudged)
/// counts both against the exact answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hits {
    groups: [Vec<bool>; 2],
}

/// How far an answer is from the exact one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Misjudged {
    /// The number of objects of both groups.
    pub objects: usize,
    /// How many of the objects were hit, exactly.
    pub hit: usize,
    /// How many were not hit but said to be.
    pub false_hits: usize,
    /// How many were hit but said not to be.
    pub misses: usize,
}

impl Hits {
    /// Returns the hits of the first group, by position.
    #[must_use]
    pub fn a(&self) -> &[bool] {
        &self.groups[0]
    }

    /// Returns the hits of the second group, by position.
    #[must_use]
    pub fn b(&self) -> &[bool] {
        &self.groups[1]
    }

    /// Compares an answer with the exact one. Objects that only one of the two has are left out. O(objects).
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

    /// Sets groups of these sizes, in which no object is hit.
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

//! The invariants of the tree, spelled out.

use core::fmt;

use super::cut::leaf_end;
use super::{LEAF, LinearTree, boxes};

/// An invariant of [`LinearTree`] that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Broken {
    /// The ids are not a permutation of 0..n.
    Ids {
        /// The id at fault.
        id: u32,
    },
    /// A leaf that is empty, too large, or does not begin where the one before ends.
    LeafSize {
        /// The leaf at fault.
        leaf: usize,
    },
    /// A leaf that straddles a gap.
    Gap {
        /// The leaf at fault.
        leaf: usize,
    },
    /// A box that does not hold what is below it, or a top level with too many boxes.
    Box {
        /// The level; 0 for leaves.
        level: usize,
        /// The box.
        node: usize,
    },
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ids { id } => write!(f, "ids are not a permutation: {id} comes twice or is out of bounds"),
            Self::LeafSize { leaf } => write!(f, "leaf {leaf} holds no ranks, or too many"),
            Self::Gap { leaf } => write!(f, "leaf {leaf} straddles a gap"),
            Self::Box { level, node } => write!(f, "box {node} of level {level} does not hold what is below it"),
        }
    }
}

impl core::error::Error for Broken {}

impl<const D: usize> LinearTree<D> {
    /// Checks every invariant: ids are a permutation; leaves cover the ranks, hold 1 to 16 of them, and straddle no
    /// wide gap; boxes hold what is below them, exactly. O(n).
    ///
    /// # Errors
    /// The first invariant found broken.
    pub fn validate(&self) -> Result<(), Broken> {
        let mut seen = vec![false; self.len];
        for id in self.ids() {
            match seen.get_mut(id as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(Broken::Ids { id }),
            }
        }
        self.validate_leaf_sizes()?;
        self.validate_leaves()?;
        self.validate_boxes()
    }

    fn validate_leaf_sizes(&self) -> Result<(), Broken> {
        let starts = self.leaf_starts();
        if starts.first() != Some(&0) || starts.last().map(|&end| end as usize) != Some(self.len) {
            return Err(Broken::LeafSize { leaf: 0 });
        }
        let sound = |pair: &[u32]| pair[0] < pair[1] && (pair[1] - pair[0]) as usize <= LEAF;
        match starts.windows(2).position(|pair| !sound(pair)) {
            Some(leaf) => Err(Broken::LeafSize { leaf }),
            None => Ok(()),
        }
    }

    /// Checks that no leaf straddles a gap wider than [`GAP`](super::GAP) allows.
    fn validate_leaves(&self) -> Result<(), Broken> {
        let whole = |leaf: usize| {
            let centers: Vec<_> = self.leaf_places(leaf).map(|place| self.center(place)).collect();
            leaf_end(&centers) == centers.len()
        };
        match (0..self.leaves()).find(|&leaf| !whole(leaf)) {
            Some(leaf) => Err(Broken::Gap { leaf }),
            None => Ok(()),
        }
    }

    fn center(&self, place: usize) -> [f32; D] {
        if self.is_of_boxes() {
            return boxes::center(&self.boxes()[place / LEAF], place % LEAF);
        }
        self.bodies()[place / LEAF].centers.map(|axis| axis.0[place % LEAF])
    }

    /// Returns how far down and how far up a body reaches on an axis.
    fn reach(&self, place: usize, axis: usize) -> [f64; 2] {
        if self.is_of_boxes() {
            let boxes = &self.boxes()[place / LEAF];
            let finite = |x: f32| f64::from(x.clamp(f32::MIN, f32::MAX));
            return [&boxes.lo, &boxes.hi].map(|corner| finite(corner[axis].0[place % LEAF]));
        }
        let (center, radius) = (self.center(place)[axis], self.bodies()[place / LEAF].radii.0[place % LEAF]);
        [f64::from(center) - f64::from(radius), f64::from(center) + f64::from(radius)]
    }

    fn validate_boxes(&self) -> Result<(), Broken> {
        for leaf in 0..self.leaves() {
            let aabb = self.levels[0].aabb(leaf);
            for place in self.leaf_places(leaf) {
                for axis in 0..D {
                    let [lo, hi] = self.reach(place, axis);
                    if f64::from(aabb.lo[axis]) > lo || f64::from(aabb.hi[axis]) < hi {
                        return Err(Broken::Box { level: 0, node: leaf });
                    }
                }
            }
        }
        for (level, pair) in self.levels().windows(2).enumerate() {
            let (below, above) = (&pair[0], &pair[1]);
            for i in 0..below.len() {
                if i / LEAF >= above.len() || !above.aabb(i / LEAF).holds(&below.aabb(i)) {
                    return Err(Broken::Box { level: level + 1, node: i / LEAF });
                }
            }
        }
        match self.levels().last() {
            Some(top) if top.len() > LEAF => Err(Broken::Box { level: self.levels().len() - 1, node: 0 }),
            _ => Ok(()),
        }
    }
}

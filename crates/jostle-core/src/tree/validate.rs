//! The invariants of the tree, spelled out.

use core::ops::Range;

use super::cut::{Known, leaf_end};
use super::{GAP_LEVELS, LEAF, LinearTree};
use crate::aabb::Aabb;
use crate::morton::Grid;

/// An invariant of [`LinearTree`] that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Broken {
    /// The ids are not a permutation of 0..n.
    #[error("ids are not a permutation: {id} comes twice or is out of bounds")]
    Ids {
        /// The id at fault.
        id: u32,
    },
    /// Two neighbouring ranks are not in order: by code, or by id within a cell of at most a leaf.
    #[error("ranks {rank} and {} are out of order", rank + 1)]
    Order {
        /// The first of the two.
        rank: usize,
    },
    /// A leaf that is empty, too large, or does not begin where the one before ends.
    #[error("leaf {leaf} holds no ranks, or too many")]
    LeafSize {
        /// The leaf at fault.
        leaf: usize,
    },
    /// A leaf that straddles a gap, or codes of two frames.
    #[error("leaf {leaf} straddles a gap")]
    Gap {
        /// The leaf at fault.
        leaf: usize,
    },
    /// A box that does not hold what is below it, or levels that do not end as they should.
    #[error("box {node} of level {level} does not hold what is below it")]
    Box {
        /// The level; 0 for leaves.
        level: usize,
        /// The box.
        node: usize,
    },
}

impl<const D: usize> LinearTree<D> {
    /// Checks every invariant: ids are a permutation; ranks are in Morton order, by id within cells of at most a leaf, and
    /// by a grid over their own bounds where more than a leaf of them share a code; leaves cover the ranks, hold 1 to 16,
    /// and straddle neither a wide gap nor two grids; boxes hold what is below them, exactly. O(n).
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
        let place = |leaf| self.leaf_places(leaf);
        let ranks = Ranks { tree: self, places: (0..self.leaves()).flat_map(place).collect() };
        ranks.validate_frame(0..self.len, self.bounds)?;
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

    fn center(&self, place: usize) -> [f32; D] {
        self.bodies[place / LEAF].centers.map(|axis| axis.0[place % LEAF])
    }

    fn validate_boxes(&self) -> Result<(), Broken> {
        for leaf in 0..self.leaves() {
            let aabb = self.levels[0].aabb(leaf);
            for place in self.leaf_places(leaf) {
                let radius = f64::from(self.bodies[leaf].radii.0[place % LEAF]);
                for axis in 0..D {
                    let center = f64::from(self.center(place)[axis]);
                    if f64::from(aabb.lo[axis]) > center - radius || f64::from(aabb.hi[axis]) < center + radius {
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

/// A tree by rank.
struct Ranks<'a, const D: usize> {
    tree: &'a LinearTree<D>,
    places: Vec<usize>,
}

impl<const D: usize> Ranks<'_, D> {
    fn center(&self, rank: usize) -> [f32; D] {
        self.tree.center(self.places[rank])
    }

    fn id(&self, rank: usize) -> u32 {
        let place = self.places[rank];
        self.tree.ids[place / LEAF].0[place % LEAF]
    }

    /// Ranks whose codes are taken over the same bounds.
    fn validate_frame(&self, ranks: Range<usize>, bounds: Aabb<D>) -> Result<(), Broken> {
        let Some(grid) = Grid::new(&bounds) else { return self.validate_ids(ranks) };
        let code = |rank: usize| grid.code(self.center(rank));
        self.validate_order(ranks.clone(), code)?;
        let mut plain = ranks.start;
        let mut start = ranks.start;
        while start < ranks.end {
            let end = (start..ranks.end).find(|&r| code(r) != code(start)).unwrap_or(ranks.end);
            let run = (start..end).fold(Aabb::EMPTY, |all, r| all.with_point(self.center(r)));
            if end - start > LEAF && Grid::new(&run).is_some() {
                self.validate_leaves(plain..start, code)?;
                self.validate_frame(start..end, run)?;
                plain = end;
            } else {
                self.validate_ids(start..end)?;
            }
            start = end;
        }
        self.validate_leaves(plain..ranks.end, code)
    }

    /// Codes ascend, but within a cell of at most a leaf: there ids do.
    fn validate_order(&self, ranks: Range<usize>, code: impl Fn(usize) -> u64) -> Result<(), Broken> {
        let mut greatest = 0;
        for rank in ranks.clone() {
            if rank >= ranks.start + LEAF {
                greatest = greatest.max(code(rank - LEAF));
            }
            let descends = rank > ranks.start && code(rank) < code(rank - 1) && self.id(rank) < self.id(rank - 1);
            if descends || code(rank) < greatest {
                return Err(Broken::Order { rank: rank.saturating_sub(1) });
            }
        }
        Ok(())
    }

    /// Ranks with equal codes stand by id.
    fn validate_ids(&self, ranks: Range<usize>) -> Result<(), Broken> {
        match ranks.clone().skip(1).find(|&rank| self.id(rank - 1) >= self.id(rank)) {
            Some(rank) => Err(Broken::Order { rank: rank - 1 }),
            None => Ok(()),
        }
    }

    /// The leaves that begin in `ranks` end there, and straddle no gap wider than [`GAP_LEVELS`] allows.
    fn validate_leaves(&self, ranks: Range<usize>, code: impl Fn(usize) -> u64) -> Result<(), Broken> {
        const { assert!(GAP_LEVELS > 0) };
        let (tree, code) = (self.tree, Known(code));
        let mut leaf = tree.leaf_starts().partition_point(|&start| (start as usize) < ranks.start);
        while leaf < tree.leaves() && (tree.leaf_starts[leaf] as usize) < ranks.end {
            let range = tree.leaf(leaf);
            if range.start < ranks.start || range.end > ranks.end || leaf_end::<D, _>(range.clone(), &code) != range.end
            {
                return Err(Broken::Gap { leaf });
            }
            leaf += 1;
        }
        Ok(())
    }
}

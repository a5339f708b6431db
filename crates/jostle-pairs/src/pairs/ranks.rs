//! Names the bodies of one set by their rank in the tree: bodies that are tested with each other then lie together in
//! memory, as they do in space.

use jostle_core::scratch::fill_with_headroom;
use jostle_core::sixteen::{Ids, SIXTEEN, ids_mut};
use jostle_core::{LinearTree, Workers};

/// Ranks that one task writes, whole leaves of them.
const BLOCK: usize = 1 << 13;

/// The ranks of a tree, and the ids of its bodies in that order. Where pairs are listed by id, [`Ranks::ids`] is empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ranks {
    of_leaves: Vec<Ids>,
    ids: Vec<u32>,
    /// Whether pairs are listed by rank.
    are_names: bool,
}

impl Ranks {
    /// Switches to pairs that are listed by id.
    pub(crate) fn clear(&mut self) {
        self.are_names = false;
    }

    /// Switches to pairs that are listed by the ranks of a tree, and writes the ranks leaf by leaf. In a leaf of fewer
    /// than sixteen bodies, other ranks fill the rest.
    pub(crate) fn number<const D: usize>(&mut self, tree: &LinearTree<D>, workers: Workers<'_>) {
        let starts = tree.leaf_starts();
        fill_with_headroom(&mut self.of_leaves, tree.leaves(), Ids([0; SIXTEEN]));
        workers.fill_blocks("ranks", ids_mut(&mut self.of_leaves), BLOCK, |first, block| {
            let starts = &starts[first / SIXTEEN..];
            for (leaf, &start) in block.as_chunks_mut::<SIXTEEN>().0.iter_mut().zip(starts) {
                leaf.iter_mut().zip(start..).for_each(|(slot, rank)| *slot = rank);
            }
        });
        self.take(tree, workers);
    }

    /// The ranks, leaf by leaf.
    pub(crate) fn of_leaves(&self) -> &[Ids] {
        &self.of_leaves
    }

    /// Switches to pairs that are listed by rank, and takes the ids of a tree in that order.
    pub(crate) fn take<const D: usize>(&mut self, tree: &LinearTree<D>, workers: Workers<'_>) {
        self.are_names = true;
        let (starts, ids_of) = (tree.leaf_starts(), tree.leaf_ids());
        fill_with_headroom(&mut self.ids, tree.len(), 0);
        workers.fill_blocks("ids by rank", &mut self.ids, BLOCK, |first, block| {
            let end = first + block.len();
            let mut leaf = starts.partition_point(|&start| start as usize <= first) - 1;
            let mut rank = first;
            while rank < end {
                let ranks = rank..tree.leaf(leaf).end.min(end);
                let from = ranks.start - starts[leaf] as usize;
                block[ranks.start - first..ranks.end - first].copy_from_slice(&ids_of[leaf].0[from..][..ranks.len()]);
                (leaf, rank) = (leaf + 1, ranks.end);
            }
        });
    }

    /// The id of the body of each rank; empty where pairs are listed by id.
    pub(crate) fn ids(&self) -> &[u32] {
        if self.are_names { &self.ids } else { &[] }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.of_leaves.capacity() * size_of::<Ids>() + self.ids.capacity() * size_of::<u32>()
    }
}

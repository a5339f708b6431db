//! Boxes around bodies that are neighbours on the Morton curve: what the leaves of the tree hold.

use jostle::{Bodies, Scalar};

use super::viewport::{Window, around};

/// Bodies in a leaf.
const LEAF: usize = 16;

/// The box of each run of [`LEAF`] consecutive ranks.
pub(crate) fn leaves<const D: usize>(bodies: Bodies<'_, D, impl Scalar>, rank_to_id: &[u32]) -> Vec<Window> {
    rank_to_id.chunks(LEAF).map(|ids| around(bodies, ids.iter().map(|&id| id as usize))).collect()
}

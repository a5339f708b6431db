//! A list whose bodies stray, and what it was found by.

use core::ops::Range;

use jostle_core::sixteen::Ids;

use crate::coherent::live::Live;
use crate::coherent::names::Names;

/// A list, and who stands there.
#[derive(Clone, Copy)]
pub(in crate::coherent) struct Listed<'a> {
    pub(in crate::coherent) pairs: &'a [[u32; 2]],
    pub(in crate::coherent) live: &'a Live,
    pub(in crate::coherent) names: Names<'a>,
}

/// Visits the leaves of a tree that have bodies near one of it, or near an image, with their ids; of one that is not in the tree, none.
pub(super) type Near<'a> = dyn Fn(u32, &mut dyn FnMut(usize, &[u32])) + Sync + 'a;

/// The tree by which a list was found: its ids leaf by leaf, and the first rank of each leaf.
#[derive(Clone, Copy)]
pub(super) struct FoundBy<'a> {
    pub(super) ids: &'a [Ids],
    pub(super) starts: &'a [u32],
    pub(super) near: &'a Near<'a>,
    /// What the images of a body are called.
    pub(super) images_of: &'a (dyn Fn(u32) -> Range<u32> + Sync),
    /// What two bodies of a pair were called as which they were found.
    pub(super) found_as: &'a (dyn Fn([u32; 2]) -> [u32; 2] + Sync),
}

//! Walks down the levels of a tree, one vector test a node, on a stack of fixed size: in the order of the tree, or the
//! nearest boxes first.

use jostle_core::LinearTree;
use jostle_core::tree::{LEAF, Level};

use crate::simd::{LANES, Lanes};
use crate::traverse::descent::MAX_LEVELS;

/// A query that visits boxes in the order of the tree.
///
/// A trait, not closures: these are not sure to be inlined, and if they are not, the instructions of `L` are calls.
pub(super) trait Visitor<const D: usize> {
    /// Which of the sixteen boxes of a node to go into.
    fn node<L: Lanes>(&self, level: &Level<D>, node: usize) -> u16;

    /// Takes a leaf whose box, and every box above it, was chosen.
    fn leaf<L: Lanes>(&mut self, leaf: usize);
}

/// Visits leaves in ascending order.
#[inline(always)]
pub(super) fn walk<L: Lanes, const D: usize>(tree: &LinearTree<D>, visitor: &mut impl Visitor<D>) {
    let levels = tree.levels();
    let Some(top) = levels.len().checked_sub(1) else { return };
    // The boxes still to go into on each level: the first of a node, and a bit for each.
    let mut open = [(0, 0_u16); MAX_LEVELS];
    let (mut at, mut node) = (top, 0);
    loop {
        open[at] = (node * LEAF, visitor.node::<L>(&levels[at], node));
        node = loop {
            let (first, mask) = &mut open[at];
            if *mask == 0 {
                if at == top {
                    return;
                }
                at += 1;
                continue;
            }
            let next = *first + mask.trailing_zeros() as usize;
            *mask &= *mask - 1;
            if at > 0 {
                at -= 1;
                break next;
            }
            visitor.leaf::<L>(next);
        };
    }
}

/// A query that visits the nearest boxes first.
pub(super) trait NearestFirst<const D: usize> {
    /// Which of the sixteen boxes of a node to go into, and at least how far each of them is.
    fn node<L: Lanes>(&self, level: &Level<D>, node: usize, nearness: &mut [f32; LANES]) -> u16;

    /// Takes a leaf whose box was chosen; may lower the bound.
    fn leaf<L: Lanes>(&mut self, leaf: usize);

    /// The distance beyond which nothing is of use any more.
    fn bound(&self) -> f32;
}

/// The boxes of a node still to go into.
#[derive(Clone, Copy)]
struct Open {
    first: usize,
    mask: u16,
    nearness: [f32; LANES],
}

impl Open {
    const NONE: Self = Self { first: 0, mask: 0, nearness: [0.0; LANES] };

    /// Takes out the nearest box, of several the first; drops all that are farther than `bound`.
    #[inline(always)]
    fn take_nearest<L: Lanes>(&mut self, bound: f32) -> Option<usize> {
        self.mask &= L::load(&self.nearness).le(L::splat(bound));
        if self.mask == 0 {
            return None;
        }
        let mut nearest = self.mask.trailing_zeros() as usize;
        let mut others = self.mask & (self.mask - 1);
        while others != 0 {
            let lane = others.trailing_zeros() as usize;
            nearest = if self.nearness[lane] < self.nearness[nearest] { lane } else { nearest };
            others &= others - 1;
        }
        self.mask &= !(1 << nearest);
        Some(self.first + nearest)
    }
}

/// Visits leaves, the nearest box of each node first, until none is within the bound.
#[inline(always)]
pub(super) fn walk_nearest_first<L: Lanes, const D: usize>(tree: &LinearTree<D>, search: &mut impl NearestFirst<D>) {
    let levels = tree.levels();
    let Some(top) = levels.len().checked_sub(1) else { return };
    let mut stack = [Open::NONE; MAX_LEVELS];
    let (mut at, mut node) = (top, 0);
    loop {
        let open = &mut stack[at];
        open.first = node * LEAF;
        open.mask = search.node::<L>(&levels[at], node, &mut open.nearness);
        node = loop {
            match stack[at].take_nearest::<L>(search.bound()) {
                None if at == top => return,
                None => at += 1,
                Some(leaf) if at == 0 => search.leaf::<L>(leaf),
                Some(next) => {
                    at -= 1;
                    break next;
                }
            }
        };
    }
}

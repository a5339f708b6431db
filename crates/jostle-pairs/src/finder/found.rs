//! What a search hands out, borrowed from its finder.

use core::fmt;

use jostle_core::LinearTree;

use crate::finder::PairFinder;
use crate::pairs::stats::Stats;

/// A pair that a search has found, with all that it knows of it: see [`PairFinder::for_each_hit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit<const D: usize> {
    /// The numbers of the sets of the two bodies: 0 and 0 within one set, 0 and 1 between two.
    pub sets: [u32; 2],
    /// Their ids, the lesser first within a set.
    pub pair: [u32; 2],
    /// By how many vectors of the cell the second body is moved to touch the first: see [`Found::image_shifts`].
    pub image_shift: [i32; D],
}

/// The result of a search, borrowed from its finder.
#[derive(Clone, Copy)]
pub struct Found<'f, const D: usize> {
    pub(crate) finder: &'f PairFinder<D>,
}

impl<const D: usize> fmt::Debug for Found<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found")
            .field("pairs", &self.pairs().len())
            .field("bodies", &self.tree().len())
            .field("stats", self.stats())
            .finish_non_exhaustive()
    }
}

impl<'f, const D: usize> Found<'f, D> {
    /// Every overlapping pair once, as `[a, b]` of ids: with `a < b` within one set, a of the first and b of the second
    /// of two. Their order depends on the input alone: not on the threads, the instruction set, or the build.
    #[must_use]
    pub fn pairs(&self) -> &'f [[u32; 2]] {
        self.finder.engine.pairs.pairs()
    }

    /// The id of the body at each rank of the tree's order, neighbours in space being neighbours there: a permutation of
    /// 0..n, by which a simulation may sort its own arrays now and then. Of the last search within a view of circles or
    /// spheres.
    #[must_use]
    pub fn rank_to_id(&self) -> impl DoubleEndedIterator<Item = u32> + Clone + use<'f, D> {
        self.tree().ids()
    }

    /// The tree of the last search within a view of circles or spheres: one of boxes or capsules leaves it as it was.
    #[must_use]
    pub fn tree(&self) -> &'f LinearTree<D> {
        self.finder.preparation.own_tree()
    }

    /// The tree of the last search, where that was one within boxes: for pictures of it. Neither queries nor searches take it.
    #[doc(hidden)]
    #[must_use]
    pub fn tree_of_boxes(&self) -> Option<&'f LinearTree<D>> {
        self.finder.preparation.own_boxes()
    }

    /// The pairs `[a, b]` of sets `i <= j`, a of set i and b of set j; with `a < b` where the sets are the same. None when
    /// the sets do not meet.
    #[must_use]
    pub fn pairs_between(&self, i: usize, j: usize) -> &'f [[u32; 2]] {
        self.finder.listed.range(i, j).map_or(&[], |range| &self.finder.engine.pairs.pairs()[range])
    }

    /// By how many vectors of the cell the second body of each pair is moved to touch the first, so that the difference of
    /// their centres is `xb + (S0 v0 + S1 v1 ..) - xa`; of a search in a [`Space`](crate::Space) that repeats, and empty after others.
    ///
    /// Each is worked out when it is asked for, from the image at which its pair was found: a list keeps a bit for each pair.
    #[must_use]
    pub fn image_shifts(&self) -> impl ExactSizeIterator<Item = [i32; D]> + Clone + use<'f, D> {
        self.finder.listed.shifts.iter(self.pairs())
    }

    /// That of [`Found::image_shifts`] of one pair, by its number in the list. O(log images).
    #[must_use]
    pub fn image_shift(&self, number: usize) -> Option<[i32; D]> {
        self.finder.listed.shifts.get(self.pairs(), number)
    }

    /// True when no two bodies could touch at several images of the space that was searched: then image shifts tell no two
    /// pairs apart.
    #[must_use]
    pub fn has_single_images(&self) -> bool {
        self.finder.listed.is_unique()
    }

    /// Sets that met, ascending, and where the pairs of each two end in the list, but for the last.
    #[doc(hidden)]
    #[must_use]
    pub fn meetings(&self) -> (&'f [[u32; 2]], &'f [usize]) {
        self.finder.listed.meetings()
    }

    /// As [`Found::image_shifts`], in a slice; none where space does not repeat.
    #[doc(hidden)]
    #[must_use]
    pub fn image_shift_slice(&self) -> Option<&'f [[i32; D]]> {
        let listed = &self.finder.listed;
        listed.has_images().then(|| listed.shifts.slice(self.pairs()))
    }

    /// When the bodies of each pair first touch, from 0 to 1; of a search of bodies on their way
    /// ([`Set::moving`](crate::Set::moving)), and empty after others.
    #[must_use]
    pub fn times_of_impact(&self) -> &'f [f64] {
        &self.finder.listed.times
    }

    /// What the search did.
    #[must_use]
    pub fn stats(&self) -> &'f Stats {
        self.finder.stats()
    }
}

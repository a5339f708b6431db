//! The sorted linear tree: bodies in an order that keeps neighbours together, as structure of arrays, cut into leaves,
//! with implicit levels of boxes above them.
//!
//! Bodies are dealt out along the Morton curve to segments of a thousand or so, after T. Karras, "Maximizing
//! parallelism in the construction of BVHs, octrees, and k-d trees" (2012). Within a segment they stand in strips. The
//! levels are 16-wide and implicit, as in packed R-trees: node j of a level holds nodes 16j .. 16j + 15 of the level
//! below, so no pointers are stored.

mod boxes;
mod build;
mod circles;
mod copy;
mod cut;
mod digits;
mod laps;
mod leaves;
mod level;
mod raise;
mod shape;
mod sort;
mod strips;
mod validate;
mod whole;

use core::cell::Cell;
use core::fmt;
use core::mem;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::aabb::Aabb;
use crate::bounds::{BlockBounds, bounds_into};
use crate::error::ViewError;
use crate::input::{Bodies, Boxes};
use crate::isa::Isa;
use crate::limits::LEAVES_MAX;
use crate::morton::Grid;
use crate::parallel::groups::Groups;
use crate::parallel::lookback::Prefix;
use crate::parallel::scratch::ScratchPool;
use crate::parallel::threads::{Threads, run};
use crate::parallel::workers::Workers;
use crate::sixteen::{Bodies16, Boxes16, Ids, SIXTEEN, ids};

pub use level::Level;
pub use validate::Broken;

use boxes::Boxed;
use circles::Round;
use laps::Laps;
use leaves::expected_leaves;
use shape::{Part, Shape};
use sort::LocalSort;

/// Ranks in a leaf at most, children of a node at most, and lanes of a kernel: one number, so that one vector test
/// covers a leaf or a node.
pub const LEAF: usize = SIXTEEN;

/// A leaf is cut at a gap that makes it more than this many times as wide as either of the two parts beside the gap.
pub const GAP: f32 = 8.0;

/// Build numbers that a thread takes at once, so that threads that build many small trees do not wait for each other.
const BUILDS_TAKEN: u64 = 1024;

/// The first build number that no thread has taken; no build has the number 0.
static BUILDS: AtomicU64 = AtomicU64::new(BUILDS_TAKEN);

thread_local! {
    /// The number of this thread's next build; a multiple of [`BUILDS_TAKEN`] when the thread has to take more numbers.
    static NEXT_BUILD: Cell<u64> = const { Cell::new(0) };
}

/// Returns a number that no other build of the program has. No result depends on the number. It only tells one build
/// from another: a list of pairs is known to belong to a tree without a copy of the tree.
fn new_build() -> u64 {
    let next = NEXT_BUILD.get();
    let number =
        if next.is_multiple_of(BUILDS_TAKEN) { BUILDS.fetch_add(BUILDS_TAKEN, Ordering::Relaxed) } else { next };
    NEXT_BUILD.set(number + 1);
    number
}

/// Time of each stage of [`LinearTree::build`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BuildTimes {
    /// Validation and the box of all centres.
    pub bounds: Duration,
    /// Codes, partition and sort, up to leaves of bodies in order, with the boxes of the leaves and of their nodes.
    pub sort: Duration,
    /// Levels of boxes above those nodes.
    pub tree: Duration,
}

/// The result of [`LinearTree::check_on`] for bodies that have been checked.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Checked<const D: usize> {
    /// The box of all centres.
    pub bounds: Aabb<D>,
    took: Duration,
}

/// Bodies ordered in space with levels of boxes above them. Keeps its memory from build to build.
///
/// *Rank* is the position in this order, *id* the position in the caller's view. The order follows the cells of a
/// coarse Morton grid, some of which form a segment of a thousand bodies or so (up to 12,288 bodies are one segment).
/// Within a segment it follows narrow strips, up one and down the next, whose cells hold at most [`LEAF`] bodies;
/// within such a cell it follows the ids. Ranks `leaf(l)` form leaf l, at most [`LEAF`] of them, and no leaf straddles
/// a gap much wider than its parts. Leaf l has [`LEAF`] *places*, from `LEAF * l` on; its ranks take the first of them.
/// Level 0 holds the boxes of the leaves, rounded outwards. Every level above holds the boxes of runs of 16 boxes
/// below, up to a level of at most 16. Two bodies that the predicate accepts lie in leaves whose boxes overlap.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle::{Circles, LinearTree, Threads};
/// let mut tree = LinearTree::<2>::new();
/// tree.build(Circles::new(&[5.0, 0.0, 5.0], &[5.0, 0.0, 0.0], 1.0), Threads::Serial)?;
/// assert!(tree.ids().eq([1, 2, 0]));
/// assert_eq!(tree.bodies()[0].centers[0].0[..3], [0.0, 5.0, 5.0]);
/// tree.validate().unwrap();
/// # Ok::<(), jostle::ViewError>(())
/// ```
pub struct LinearTree<const D: usize> {
    len: usize,
    bounds: Aabb<D>,
    /// The margin of the bodies that the tree was built of.
    margin: f32,
    /// A number that no other build of the program has; 0 before the first build.
    build_number: u64,
    /// The bodies stand in for others, which are at other places.
    stands_in: bool,
    /// Bodies of this id and of greater ones are ghost images of the others.
    first_image: u32,
    leaves: usize,
    /// The leaves from this one on hold ghost images alone.
    first_image_leaf: usize,
    /// Leaves of circles, and leaves of boxes: one of the two is all leaves, the other none.
    round_leaves: usize,
    box_leaves: usize,
    round: Part<Round, D>,
    boxed: Part<Boxed, D>,
    /// Indexed by leaf, with room for more leaves.
    ids: Vec<Ids>,
    leaf_starts: Vec<u32>,
    levels: Vec<Level<D>>,
    used_levels: usize,
    isa: Isa,
    /// Whether builds look at no clock.
    untimed: bool,
    /// The most leaves that a build may make.
    leaves_max: usize,
    scratch: Scratch<D>,
}

struct Scratch<const D: usize> {
    blocks: Vec<BlockBounds<D>>,
    grids: Vec<Grid<D>>,
    /// The place within its segment of the record at each rank.
    places: Vec<u16>,
    /// Where leaves begin within their segment, from the segment's first rank on.
    marks: Vec<u16>,
    /// The first leaf of each segment.
    first_leaves: Prefix,
    /// How many leaves of each node have been filled.
    nodes: Groups,
    locals: ScratchPool<LocalSort>,
    /// The scratch of the calling thread, where all bodies are one segment.
    local: LocalSort,
}

impl<const D: usize> Default for Scratch<D> {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            grids: Vec::new(),
            places: Vec::new(),
            marks: Vec::new(),
            first_leaves: Prefix::default(),
            nodes: Groups::default(),
            locals: ScratchPool::default(),
            local: LocalSort::default(),
        }
    }
}

impl<const D: usize> Default for LinearTree<D> {
    fn default() -> Self {
        Self {
            len: 0,
            bounds: Aabb::EMPTY,
            margin: 0.0,
            build_number: 0,
            stands_in: false,
            first_image: u32::MAX,
            leaves: 0,
            first_image_leaf: 0,
            round_leaves: 0,
            box_leaves: 0,
            round: Part::default(),
            boxed: Part::default(),
            ids: Vec::new(),
            leaf_starts: vec![0],
            levels: Vec::new(),
            used_levels: 0,
            isa: Isa::detect(),
            untimed: false,
            leaves_max: LEAVES_MAX,
            scratch: Scratch::default(),
        }
    }
}

impl<const D: usize> fmt::Debug for LinearTree<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinearTree")
            .field("bodies", &self.len)
            .field("leaves", &self.leaves)
            .field("levels", &self.used_levels)
            .field("bounds", &self.bounds)
            .field("isa", &self.isa)
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

impl<const D: usize> LinearTree<D> {
    /// An empty tree, which holds no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty tree with memory for `bodies` bodies.
    #[must_use]
    pub fn with_capacity(bodies: usize) -> Self {
        let mut tree = Self::default();
        let mut round = Part::default();
        tree.reserve_leaves(&mut round, expected_leaves(bodies));
        round.deal.get_or_insert_default().records.resize(bodies, Default::default());
        tree.round = round;
        tree.scratch.places.resize(bodies, 0);
        tree.scratch.marks.resize(bodies, 0);
        tree
    }

    /// Uses this instruction set from now on, instead of [`Isa::detect`]. The tree does not depend on it.
    pub fn set_isa(&mut self, isa: Isa) {
        self.isa = isa;
    }

    /// Measures no times of builds from now on: a look at the clock is 2 % of the build of a few bodies.
    #[doc(hidden)]
    pub fn set_untimed(&mut self) {
        self.untimed = true;
    }

    /// Refuses, from now on, bodies that make more leaves, as if there were no numbers for more places. For tests,
    /// whose memory does not hold as many leaves as there are numbers for.
    #[doc(hidden)]
    pub fn limit_leaves(&mut self, leaves: usize) {
        self.leaves_max = leaves.min(LEAVES_MAX);
    }

    /// The instruction set in use.
    #[inline]
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Number of bodies.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there is no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The box of all centres; [`Aabb::EMPTY`] when there are none.
    #[must_use]
    pub fn bounds(&self) -> Aabb<D> {
        self.bounds
    }

    /// The margin, which was added to each radius: [`Bodies::margin`] of the bodies that the tree was built of.
    #[must_use]
    pub fn margin(&self) -> f32 {
        self.margin
    }

    /// A number that no other build has, of this tree or another one in this run of the program; 0 before the first
    /// build. As long as the number stays the same, so does the tree.
    #[must_use]
    pub fn build_number(&self) -> u64 {
        self.build_number
    }

    /// Whether the bodies stand in for others, which are at other places.
    #[doc(hidden)]
    #[must_use]
    pub fn stands_in(&self) -> bool {
        self.stands_in
    }

    /// Notes, until the next build, that the bodies stand in for others, and that those of ids from `first_image` on are
    /// ghost images of the first.
    #[doc(hidden)]
    pub fn set_stands_in(&mut self, first_image: u32) {
        (self.stands_in, self.first_image) = (true, first_image);
    }

    /// The bodies of each leaf; none in a tree of boxes. A place that no rank takes has NaN for a centre, which no
    /// comparison accepts, and radius 0.
    #[inline(always)]
    #[must_use]
    pub fn bodies(&self) -> &[Bodies16<D>] {
        &self.round.leaves[..self.round_leaves]
    }

    /// The boxes of each leaf; none in a tree of circles or spheres. The corners of a place that no rank takes are NaN.
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    pub fn boxes(&self) -> &[Boxes16<D>] {
        &self.boxed.leaves[..self.box_leaves]
    }

    /// Whether this is a tree of boxes.
    #[doc(hidden)]
    #[inline(always)]
    #[must_use]
    pub fn is_of_boxes(&self) -> bool {
        self.box_leaves > 0
    }

    /// The ids of each leaf; 0 at places that no rank takes.
    #[inline(always)]
    #[must_use]
    pub fn leaf_ids(&self) -> &[Ids] {
        &self.ids[..self.leaves]
    }

    /// As [`LinearTree::ids`], but without ghost images, which only the tree of coherent frames has: a permutation of
    /// 0..n.
    #[must_use]
    pub fn ids_without_images(&self) -> impl DoubleEndedIterator<Item = u32> + Clone {
        let first_image = self.first_image;
        self.ids().filter(move |&id| id < first_image)
    }

    /// The id of the body at each rank.
    #[must_use]
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = u32> + Clone {
        let ids = ids(&self.ids);
        (0..self.leaves()).flat_map(move |leaf| ids[self.leaf_places(leaf)].iter().copied())
    }

    /// Number of leaves.
    #[inline]
    #[must_use]
    pub fn leaves(&self) -> usize {
        self.leaves
    }

    /// Number of leaves that hold more than ghost images, which only the tree of coherent frames has. They come first.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn leaves_before_images(&self) -> usize {
        self.first_image_leaf
    }

    /// The first rank of each leaf, and the number of bodies at the end.
    #[inline(always)]
    #[must_use]
    pub fn leaf_starts(&self) -> &[u32] {
        &self.leaf_starts[..=self.leaves]
    }

    /// The ranks of a leaf.
    ///
    /// # Panics
    /// When `leaf >= self.leaves()`.
    #[inline]
    #[must_use]
    pub fn leaf(&self, leaf: usize) -> Range<usize> {
        self.leaf_starts[leaf] as usize..self.leaf_starts[leaf + 1] as usize
    }

    /// The places of a leaf that its ranks take.
    ///
    /// # Panics
    /// When `leaf >= self.leaves()`.
    #[inline]
    #[must_use]
    pub fn leaf_places(&self, leaf: usize) -> Range<usize> {
        leaf * LEAF..leaf * LEAF + self.leaf(leaf).len()
    }

    /// The levels of boxes, leaves first; at least two when there is a body.
    #[inline(always)]
    #[must_use]
    pub fn levels(&self) -> &[Level<D>] {
        &self.levels[..self.used_levels]
    }

    /// Bytes held, scratch included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let s = &self.scratch;
        self.round.bytes()
            + self.boxed.bytes()
            + self.ids.capacity() * size_of::<Ids>()
            + self.leaf_starts.capacity() * size_of::<u32>()
            + self.levels.iter().map(Level::bytes).sum::<usize>()
            + (s.places.capacity() + s.marks.capacity()) * size_of::<u16>()
            + s.first_leaves.bytes()
            + s.nodes.bytes()
            + s.locals.bytes(LocalSort::bytes)
            + s.local.bytes()
    }

    /// Builds the tree of these bodies from scratch.
    ///
    /// O(n) for spread-out centres, O(n log n) at worst; the result depends on the input alone. Memory is kept for the
    /// next build; from the second build of a size on, nothing is allocated.
    ///
    /// # Errors
    /// [`ViewError`], before anything is changed. Only [`ViewError::TooSparse`], which some inputs of more than 2^28
    /// bodies cause, is found out late, and leaves an empty tree.
    pub fn build(&mut self, bodies: Bodies<'_, D>, threads: Threads<'_>) -> Result<BuildTimes, ViewError> {
        run(threads, bodies.len(), |workers| self.build_on(bodies, workers))
    }

    /// As [`LinearTree::build`], on these workers, however few the bodies.
    ///
    /// # Errors
    /// As [`LinearTree::build`].
    #[doc(hidden)]
    pub fn build_on(&mut self, bodies: Bodies<'_, D>, workers: Workers<'_>) -> Result<BuildTimes, ViewError> {
        build::build(self, bodies, None, workers)
    }

    /// Runs the first stage of [`LinearTree::build_on`], for a caller that wants to know about the bodies before it
    /// goes on with [`LinearTree::build_checked_on`].
    ///
    /// # Errors
    /// As [`LinearTree::build`].
    #[doc(hidden)]
    pub fn check_on(&mut self, bodies: Bodies<'_, D>, workers: Workers<'_>) -> Result<Checked<D>, ViewError> {
        let mut laps = Laps::begin(!self.untimed);
        let bounds = bounds_into(bodies, workers, self.isa, &mut self.scratch.blocks)?;
        Ok(Checked { bounds, took: laps.next() })
    }

    /// As [`LinearTree::build_on`], of bodies that have been checked.
    ///
    /// # Errors
    /// As [`LinearTree::build`].
    #[doc(hidden)]
    pub fn build_checked_on(
        &mut self,
        bodies: Bodies<'_, D>,
        checked: Checked<D>,
        workers: Workers<'_>,
    ) -> Result<BuildTimes, ViewError> {
        build::build(self, bodies, Some(checked), workers)
    }

    /// As [`LinearTree::build_on`], of boxes. They are sorted by their centres, and the tree holds them as
    /// [`LinearTree::boxes`].
    ///
    /// # Errors
    /// As [`LinearTree::build`].
    #[doc(hidden)]
    pub fn build_boxes_on(&mut self, boxes: Boxes<'_, D>, workers: Workers<'_>) -> Result<BuildTimes, ViewError> {
        build::build_boxes(self, boxes, None, workers)
    }

    fn build_with<S: Shape<D>>(
        &mut self,
        view: S::View<'_>,
        checked: Option<Checked<D>>,
        workers: Workers<'_>,
    ) -> Result<BuildTimes, ViewError> {
        let mut laps = Laps::begin(!self.untimed);
        self.bounds = match checked {
            Some(checked) => checked.bounds,
            None => S::bounds(view, workers, self.isa, &mut self.scratch.blocks)?,
        };
        let bounds = laps.next() + checked.map_or(Duration::ZERO, |checked| checked.took);
        let unfinished = Unfinished(self);
        let tree = &mut *unfinished.0;
        tree.margin = S::margin(view);
        tree.stands_in = false;
        (tree.build_number, tree.first_image) = (new_build(), u32::MAX);
        let mut part = mem::take(S::part(tree));
        tree.sort(&mut part, view, workers);
        *S::part(tree) = part;
        let sort = laps.next();
        if tree.leaves > tree.leaves_max {
            return Err(ViewError::TooSparse { bodies: tree.len, leaves: tree.leaves });
        }
        let images_from = S::images_from(view) as usize;
        tree.first_image_leaf = if images_from < tree.len {
            tree.leaf_starts[..tree.leaves].partition_point(|&start| (start as usize) < images_from)
        } else {
            tree.leaves
        };
        (tree.round_leaves, tree.box_leaves) = if S::IS_BOXED { (0, tree.leaves) } else { (tree.leaves, 0) };
        tree.raise_levels(workers);
        mem::forget(unfinished);
        Ok(BuildTimes { bounds, sort, tree: laps.next() })
    }
}

/// A tree that is being built. A build that does not come to its end, since a host panics, say, leaves an empty tree.
struct Unfinished<'a, const D: usize>(&'a mut LinearTree<D>);

impl<const D: usize> Drop for Unfinished<'_, D> {
    fn drop(&mut self) {
        let LinearTree { isa, untimed, leaves_max, .. } = *self.0;
        *self.0 = LinearTree { isa, untimed, leaves_max, ..LinearTree::default() };
    }
}

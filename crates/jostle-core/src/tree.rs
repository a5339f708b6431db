//! The sorted linear tree: bodies in Morton order as structure of arrays, cut into leaves, and implicit levels of
//! boxes above them.
//!
//! After T. Karras, "Maximizing parallelism in the construction of BVHs, octrees, and k-d trees" (2012), for the order
//! along the curve, and the 16-wide implicit trees of packed R-trees for the levels: node j of a level holds nodes
//! 16j .. 16j + 15 of the level below, so no pointers are stored.

mod validate;

use core::ops::Range;
use std::time::{Duration, Instant};

use crate::aabb::{Aabb, GROWTH, outward_hi, outward_lo};
use crate::bounds::{BlockBounds, bounds_into};
use crate::disjoint::Disjoint;
use crate::error::InputError;
use crate::input::{Bodies, Radii};
use crate::isa::{Isa, Work};
use crate::morton::{Grid, bits_per_axis};
use crate::radix::{Dealer, LOCAL_MAX, LocalOrder, Segment, digit_bits};
use crate::scratch::{ScratchPool, resize_with_headroom};
use crate::workers::Workers;

pub use validate::Broken;

/// Ranks in a leaf at most, children of a node at most, and lanes of a kernel: one number, so that one vector test
/// covers a leaf or a node.
pub const LEAF: usize = 16;

/// A leaf is cut where the codes of its two parts differ this many levels above where they differ within the parts: the
/// gap is then some 2^3 times as wide as the parts.
pub const GAP_LEVELS: u32 = 3;

/// Nodes of a level that one task computes.
const NODES_PER_TASK: usize = 1024;

/// A body on its way to its rank.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct Record<const D: usize> {
    center: Center<D>,
    radius: f32,
    id: u32,
}

/// An array with a `Default` for every length.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
struct Center<const D: usize>([f32; D]);

impl<const D: usize> Default for Center<D> {
    fn default() -> Self {
        Self([0.0; D])
    }
}

/// The boxes of one level, as structure of arrays padded to whole nodes with boxes that overlap nothing.
#[derive(Debug, Clone)]
pub struct Level<const D: usize> {
    lo: [Vec<f32>; D],
    hi: [Vec<f32>; D],
    len: usize,
}

impl<const D: usize> Default for Level<D> {
    fn default() -> Self {
        Self { lo: [const { Vec::new() }; D], hi: [const { Vec::new() }; D], len: 0 }
    }
}

impl<const D: usize> Level<D> {
    /// Number of boxes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when the level has no boxes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Box `i`.
    ///
    /// # Panics
    /// When `i` is out of bounds.
    #[inline]
    #[must_use]
    pub fn aabb(&self, i: usize) -> Aabb<D> {
        Aabb { lo: core::array::from_fn(|k| self.lo[k][i]), hi: core::array::from_fn(|k| self.hi[k][i]) }
    }

    /// The lower borders on each axis, padded to a multiple of [`LEAF`].
    #[inline(always)]
    #[must_use]
    pub fn lo(&self) -> &[Vec<f32>; D] {
        &self.lo
    }

    /// The upper borders on each axis, padded to a multiple of [`LEAF`].
    #[inline(always)]
    #[must_use]
    pub fn hi(&self) -> &[Vec<f32>; D] {
        &self.hi
    }

    fn resize(&mut self, len: usize) {
        self.len = len;
        let padded = len.next_multiple_of(LEAF);
        for axis in 0..D {
            resize_with_headroom(&mut self.lo[axis], padded, 0.0);
            resize_with_headroom(&mut self.hi[axis], padded, 0.0);
            self.lo[axis][len..].fill(f32::INFINITY);
            self.hi[axis][len..].fill(f32::NEG_INFINITY);
        }
    }

    fn bytes(&self) -> usize {
        self.lo.iter().chain(&self.hi).map(|v| v.capacity() * size_of::<f32>()).sum()
    }
}

/// Shared access to the boxes of a level, for tasks that each write their own.
struct LevelSlots<'a, const D: usize> {
    lo: [Disjoint<'a, f32>; D],
    hi: [Disjoint<'a, f32>; D],
}

impl<'a, const D: usize> LevelSlots<'a, D> {
    fn new(level: &'a mut Level<D>) -> Self {
        let (lo, hi) = (&mut level.lo, &mut level.hi);
        Self { lo: lo.each_mut().map(|v| Disjoint::new(v)), hi: hi.each_mut().map(|v| Disjoint::new(v)) }
    }

    /// # Safety
    /// `i` is within the level, and no other task touches box `i` meanwhile.
    #[allow(unsafe_code, reason = "slot writes")]
    #[inline(always)]
    unsafe fn write(&self, i: usize, aabb: Aabb<D>) {
        for axis in 0..D {
            // SAFETY: passed on to the caller.
            unsafe {
                self.lo[axis].write(i, aabb.lo[axis]);
                self.hi[axis].write(i, aabb.hi[axis]);
            }
        }
    }
}

/// Time of each stage of [`LinearTree::build`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BuildTimes {
    /// Validation and the box of all centres.
    pub bounds: Duration,
    /// Codes, partition and sort, up to arrays in Morton order.
    pub sort: Duration,
    /// Leaves and levels of boxes.
    pub tree: Duration,
}

/// Bodies in Morton order with levels of boxes above them. Keeps its memory from build to build.
///
/// *Rank* is the position in Morton order, *id* the position in the caller's view. Ranks `leaf(l)` form leaf l, at most
/// [`LEAF`] of them, and no leaf straddles a gap much wider than its parts. Level 0 holds the boxes of the leaves,
/// rounded outwards; every level above holds the boxes of runs of 16 boxes below, up to a level of at most 16. Two
/// bodies that the predicate accepts lie in leaves whose boxes overlap.
///
/// ```
/// use jostle_core::{Circles, LinearTree, Workers};
/// let mut tree = LinearTree::<2>::new();
/// tree.build(Circles::new(&[5.0, 0.0, 5.0], &[5.0, 0.0, 0.0], 1.0), Workers::Serial)?;
/// assert_eq!(tree.ids(), [1, 2, 0]);
/// assert_eq!(tree.centers(0), [0.0, 5.0, 5.0]);
/// tree.validate().unwrap();
/// # Ok::<(), jostle_core::InputError>(())
/// ```
#[derive(Debug)]
pub struct LinearTree<const D: usize> {
    len: usize,
    bounds: Aabb<D>,
    /// By rank, each with [`LEAF`] values of padding that no comparison accepts.
    centers: [Vec<f32>; D],
    radii: Vec<f32>,
    ids: Vec<u32>,
    leaf_starts: Vec<u32>,
    levels: Vec<Level<D>>,
    used_levels: usize,
    isa: Isa,
    scratch: Scratch<D>,
}

#[derive(Debug)]
struct Scratch<const D: usize> {
    blocks: Vec<BlockBounds<D>>,
    grids: Vec<Grid<D>>,
    dealer: Dealer<Record<D>>,
    first: Vec<Record<D>>,
    second: Vec<Record<D>>,
    /// Leaves of each segment; after the scan, the number of leaves before it.
    segment_leaves: Vec<u32>,
    locals: ScratchPool<LocalOrder>,
}

impl<const D: usize> Default for LinearTree<D> {
    fn default() -> Self {
        Self {
            len: 0,
            bounds: Aabb::EMPTY,
            centers: [const { Vec::new() }; D],
            radii: Vec::new(),
            ids: Vec::new(),
            leaf_starts: vec![0],
            levels: Vec::new(),
            used_levels: 0,
            isa: Isa::detect(),
            scratch: Scratch {
                blocks: Vec::new(),
                grids: Vec::new(),
                dealer: Dealer::default(),
                first: Vec::new(),
                second: Vec::new(),
                segment_leaves: Vec::new(),
                locals: ScratchPool::default(),
            },
        }
    }
}

impl<const D: usize> LinearTree<D> {
    /// A tree of nothing, that holds no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A tree of nothing with memory for `bodies` bodies.
    #[must_use]
    pub fn with_capacity(bodies: usize) -> Self {
        let mut tree = Self::default();
        tree.resize(bodies);
        tree.scratch.first.resize(bodies, Record::default());
        tree.resize(0);
        tree
    }

    /// Uses this instruction set from now on, instead of [`Isa::detect`]. The tree does not depend on it.
    pub fn set_isa(&mut self, isa: Isa) {
        self.isa = isa;
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

    /// The centres on one axis, by rank.
    ///
    /// # Panics
    /// When `axis >= D`.
    #[must_use]
    pub fn centers(&self, axis: usize) -> &[f32] {
        &self.centers[axis][..self.len]
    }

    /// The radii, by rank.
    #[must_use]
    pub fn radii(&self) -> &[f32] {
        &self.radii[..self.len]
    }

    /// The id of the body at each rank.
    #[must_use]
    pub fn ids(&self) -> &[u32] {
        &self.ids[..self.len]
    }

    /// Number of leaves.
    #[inline]
    #[must_use]
    pub fn leaves(&self) -> usize {
        self.leaf_starts.len() - 1
    }

    /// The first rank of each leaf, and the number of bodies at the end.
    #[inline(always)]
    #[must_use]
    pub fn leaf_starts(&self) -> &[u32] {
        &self.leaf_starts
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

    /// The levels of boxes, leaves first; at least two when there is a body.
    #[inline(always)]
    #[must_use]
    pub fn levels(&self) -> &[Level<D>] {
        &self.levels[..self.used_levels]
    }

    /// Centres, radii and ids by rank with their padding: [`LEAF`] values more than there are bodies, so that a
    /// 16-wide load at any rank stays in bounds; the centres there are NaN.
    #[inline(always)]
    #[must_use]
    pub fn padded(&self) -> (&[Vec<f32>; D], &[f32], &[u32]) {
        (&self.centers, &self.radii, &self.ids)
    }

    /// Bytes held, scratch included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let s = &self.scratch;
        self.centers.iter().map(|v| v.capacity() * size_of::<f32>()).sum::<usize>()
            + self.radii.capacity() * size_of::<f32>()
            + (self.ids.capacity() + self.leaf_starts.capacity()) * size_of::<u32>()
            + self.levels.iter().map(Level::bytes).sum::<usize>()
            + (s.first.capacity() + s.second.capacity()) * size_of::<Record<D>>()
            + s.dealer.bytes()
            + s.segment_leaves.capacity() * size_of::<u32>()
            + s.locals.bytes(LocalOrder::bytes)
    }

    /// Builds the tree of these bodies from scratch, on `workers`.
    ///
    /// O(n) for spread-out centres, O(n log n) at worst; the result depends on the input alone. Memory is kept for the
    /// next build; from the second build of a size on, nothing is allocated.
    ///
    /// # Errors
    /// [`InputError`], before anything is changed.
    pub fn build(&mut self, bodies: Bodies<'_, D>, workers: Workers) -> Result<BuildTimes, InputError> {
        let start = Instant::now();
        let bounds = bounds_into(bodies, workers, self.isa, &mut self.scratch.blocks)?;
        let bounded = Instant::now();
        self.bounds = bounds;
        self.sort(bodies, workers);
        let sorted = Instant::now();
        self.collect_leaves(workers);
        self.raise_levels(workers);
        Ok(BuildTimes { bounds: bounded - start, sort: sorted - bounded, tree: sorted.elapsed() })
    }

    fn resize(&mut self, len: usize) {
        self.len = len;
        for column in &mut self.centers {
            column.resize(len + LEAF, 0.0);
            column[len..].fill(f32::NAN);
        }
        self.radii.resize(len + LEAF, 0.0);
        self.ids.resize(len + LEAF, 0);
    }

    /// Puts centres, radii and ids in Morton order, and the leaf starts of each segment in the ids of its records.
    fn sort(&mut self, bodies: Bodies<'_, D>, workers: Workers) {
        let n = bodies.len();
        self.resize(n);
        let s = &mut self.scratch;
        s.dealer.start(n);
        s.grids.clear();
        if s.first.len() < n {
            s.first.resize(n, Record::default());
        }
        let whole = Segment { start: 0, end: n as u32, in_second: false, equal: false, frame: 0 };
        match Grid::new(&self.bounds) {
            None => {
                deal(bodies, workers, s, 0, |_, digits| digits.fill(0));
                s.dealer.start(n);
                s.dealer.push_equal(whole);
            }
            Some(grid) => {
                s.grids.push(grid);
                let bits = digit_bits(n);
                let slices = bodies.centers().map(|column| column.as_slice());
                if slices.iter().all(Option::is_some) {
                    let centers = slices.map(Option::unwrap_or_default);
                    let isa = self.isa;
                    deal(bodies, workers, s, bits, |ids, digits| {
                        isa.run(Digits { grid, centers: centers.map(|column| &column[ids.clone()]), bits, digits });
                    });
                } else {
                    let below = bits_per_axis(D) * D as u32 - bits;
                    deal(bodies, workers, s, bits, |ids, digits| {
                        for (digit, id) in digits.iter_mut().zip(ids) {
                            *digit = grid.code(bodies.center(id)).checked_shr(below).unwrap_or(0) as u16;
                        }
                    });
                }
            }
        }
        self.deal_large(workers);
        self.scratch.dealer.finish();
        self.sort_segments(workers);
    }

    /// Deals out what the first pass left large. Where codes ran out, a grid over the segment's own bounds takes over.
    fn deal_large(&mut self, workers: Workers) {
        let s = &mut self.scratch;
        loop {
            let needs_second = s.dealer.has_large();
            if needs_second && s.second.len() < self.len {
                s.second.resize(self.len, Record::default());
            }
            let grids = &s.grids;
            let code = |frame: u32, record: &Record<D>| grids[frame as usize].code(record.center.0);
            let Some(equal) = s.dealer.deal_large(workers, &mut s.first, &mut s.second, code) else { return };
            let buffer = if equal.in_second { &s.second } else { &s.first };
            let records = &buffer[equal.range()];
            let bounds = bounds_of(records, workers, &mut s.blocks);
            match Grid::new(&bounds) {
                None => s.dealer.push_equal(equal),
                Some(grid) => {
                    s.dealer.push(Segment { frame: s.grids.len() as u32, ..equal });
                    s.grids.push(grid);
                }
            }
        }
    }

    #[allow(unsafe_code, reason = "each segment is a range of ranks of its own")]
    fn sort_segments(&mut self, workers: Workers) {
        let n = self.len;
        let s = &mut self.scratch;
        s.locals.prepare(workers.count(), |local| local.reserve(n));
        s.segment_leaves.clear();
        resize_with_headroom(&mut s.segment_leaves, s.dealer.segments().len(), 0);
        let (dealer, locals, grids, isa) = (&s.dealer, &s.locals, &s.grids, self.isa);
        let (first, second) = (Disjoint::new(&mut s.first), Disjoint::new(&mut s.second));
        let segment_leaves = Disjoint::new(&mut s.segment_leaves);
        let centers = self.centers.each_mut().map(|column| Disjoint::new(column));
        let (radii, ids) = (Disjoint::new(&mut self.radii), Disjoint::new(&mut self.ids));
        let sort_segment = |local: &mut LocalOrder, at: usize| {
            let segment = dealer.segments()[at];
            let range = segment.range();
            // SAFETY: segments are disjoint ranges of ranks, each in one task, and `at` is the segment's own.
            let (records, mut columns, leaves) = unsafe {
                let columns = Columns {
                    centers: core::array::from_fn(|axis| centers[axis].range(range.clone())),
                    radii: radii.range(range.clone()),
                    ids: ids.range(range.clone()),
                };
                let records = if segment.in_second { second.range(range) } else { first.range(range) };
                (records, columns, &mut segment_leaves.range(at..at + 1)[0])
            };
            let grid = grids.get(segment.frame as usize).filter(|_| !segment.equal);
            *leaves = isa.run(SortSegment { local, records, columns: &mut columns, grid, start: segment.start });
        };
        workers.run(dealer.tasks(), |task| {
            locals.with(|local| dealer.task(task).for_each(|at| sort_segment(local, at)));
        });
    }

    /// Leaf starts from the segments into one list, and the boxes of the leaves.
    #[allow(unsafe_code, reason = "each segment has leaves of its own")]
    fn collect_leaves(&mut self, workers: Workers) {
        let s = &mut self.scratch;
        let mut leaves = 0;
        for count in &mut s.segment_leaves {
            (leaves, *count) = (leaves + *count, leaves);
        }
        resize_with_headroom(&mut self.leaf_starts, leaves as usize + 1, 0);
        self.leaf_starts[leaves as usize] = self.len as u32;
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        self.levels[0].resize(leaves as usize);
        let boxes = LevelSlots::new(&mut self.levels[0]);
        let starts = Disjoint::new(&mut self.leaf_starts);
        let (dealer, first, second, segment_leaves) = (&s.dealer, &s.first, &s.second, &s.segment_leaves);
        let (centers, radii) = (&self.centers, &self.radii);
        workers.run(dealer.tasks(), |task| {
            for at in dealer.task(task) {
                let segment = dealer.segments()[at];
                let begin = segment_leaves[at];
                let end = segment_leaves.get(at + 1).copied().unwrap_or(leaves);
                let records = if segment.in_second { &second[segment.range()] } else { &first[segment.range()] };
                for (k, leaf) in (begin..end).enumerate() {
                    let from = records[k].id;
                    let to = if leaf + 1 < end { records[k + 1].id } else { segment.end };
                    let aabb = leaf_box(centers, radii, from as usize..to as usize);
                    // SAFETY: leaf numbers of segments are disjoint by the scan.
                    unsafe {
                        starts.write(leaf as usize, from);
                        boxes.write(leaf as usize, aabb);
                    }
                }
            }
        });
    }

    /// The levels above the leaves, each from the one below, until one has at most 16 boxes.
    #[allow(unsafe_code, reason = "each task writes boxes of its own")]
    fn raise_levels(&mut self, workers: Workers) {
        self.used_levels = 0;
        if self.len == 0 {
            return;
        }
        self.used_levels = 1;
        loop {
            if self.levels.len() == self.used_levels {
                self.levels.push(Level::default());
            }
            let (below, above) = self.levels.split_at_mut(self.used_levels);
            let (below, above) = (&below[self.used_levels - 1], &mut above[0]);
            let nodes = below.len.div_ceil(LEAF);
            above.resize(nodes);
            let slots = LevelSlots::new(above);
            workers.run(nodes.div_ceil(NODES_PER_TASK), |task| {
                for node in task * NODES_PER_TASK..((task + 1) * NODES_PER_TASK).min(nodes) {
                    // SAFETY: `node` is below the level's length, and in this task alone.
                    unsafe { slots.write(node, node_box(below, node)) }
                }
            });
            self.used_levels += 1;
            if nodes <= LEAF {
                return;
            }
        }
    }
}

/// First pass: records from the caller's columns to the first buffer, by digit; 0 bits copies them in order.
fn deal<const D: usize>(
    bodies: Bodies<'_, D>,
    workers: Workers,
    s: &mut Scratch<D>,
    bits: u32,
    digits: impl Fn(Range<usize>, &mut [u16]) + Sync,
) {
    let n = bodies.len();
    let slices = bodies.centers().map(|column| column.as_slice());
    let radii = match bodies.radii() {
        Radii::Each(column) => column.as_slice(),
        Radii::All(_) => None,
    };
    match (slices, radii) {
        (slices, Some(radii)) if slices.iter().all(Option::is_some) => {
            let centers = slices.map(Option::unwrap_or_default);
            let source = |id: usize| Record {
                center: Center(core::array::from_fn(|axis| centers[axis][id])),
                radius: radii[id],
                id: id as u32,
            };
            s.dealer.deal_from(workers, n, bits, source, digits, &mut s.first);
        }
        _ => {
            let source =
                |id: usize| Record { center: Center(bodies.center(id)), radius: bodies.radius(id), id: id as u32 };
            s.dealer.deal_from(workers, n, bits, source, digits, &mut s.first);
        }
    }
}

/// The box of the centres of many records.
fn bounds_of<const D: usize>(records: &[Record<D>], workers: Workers, blocks: &mut Vec<BlockBounds<D>>) -> Aabb<D> {
    blocks.clear();
    blocks.resize(records.len().div_ceil(LOCAL_MAX), BlockBounds::EMPTY);
    workers.fill(blocks, |block| {
        let records = &records[block * LOCAL_MAX..((block + 1) * LOCAL_MAX).min(records.len())];
        BlockBounds::of(records.iter().fold(Aabb::EMPTY, |all, record| all.with_point(record.center.0)))
    });
    blocks.iter().fold(Aabb::EMPTY, |all, block| all.union(block.bounds))
}

/// The ranks of one segment, as structure of arrays.
struct Columns<'a, const D: usize> {
    centers: [&'a mut [f32]; D],
    radii: &'a mut [f32],
    ids: &'a mut [u32],
}

impl<const D: usize> Columns<'_, D> {
    #[inline(always)]
    fn gather(&mut self, records: &[Record<D>], local: &LocalOrder) {
        // One loop a column: each then writes one stream, and the records stay in the first-level cache.
        for (axis, column) in self.centers.iter_mut().enumerate() {
            gather_column(column, records, local, |record| record.center.0[axis]);
        }
        gather_column(self.radii, records, local, |record| record.radius);
        gather_column(self.ids, records, local, |record| record.id);
    }
}

#[inline(always)]
fn gather_column<T, const D: usize>(
    column: &mut [T],
    records: &[Record<D>],
    local: &LocalOrder,
    field: impl Fn(&Record<D>) -> T,
) {
    for (value, place) in column.iter_mut().zip(local.places()) {
        *value = field(&records[place]);
    }
}

/// The first digits of some bodies.
struct Digits<'a, const D: usize> {
    grid: Grid<D>,
    centers: [&'a [f32]; D],
    bits: u32,
    digits: &'a mut [u16],
}

impl<const D: usize> Work for Digits<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        self.grid.digits(self.centers, self.bits, self.digits);
    }
}

/// Puts one segment in order and cuts it into leaves, whose number comes out.
struct SortSegment<'a, 'c, const D: usize> {
    local: &'a mut LocalOrder,
    records: &'a mut [Record<D>],
    columns: &'a mut Columns<'c, D>,
    /// `None` where all codes are equal, and the order stands.
    grid: Option<&'a Grid<D>>,
    start: u32,
}

impl<const D: usize> Work for SortSegment<'_, '_, D> {
    type Output = u32;

    #[inline(always)]
    fn run(self) -> u32 {
        let Self { local, records, columns, grid, start } = self;
        match grid {
            None => local.keep(records.len()),
            Some(grid) => {
                local.sort(records.iter().map(|record| grid.code(record.center.0)));
                refine_runs(local, records, 0..records.len());
            }
        }
        columns.gather(records, local);
        cut_leaves(local, records, start)
    }
}

/// Puts runs of more than a leaf of equal codes in order by a grid over their own bounds, and marks their borders.
fn refine_runs<const D: usize>(local: &mut LocalOrder, records: &[Record<D>], ranks: Range<usize>) {
    /// Two ranks of any run longer than a leaf are this far apart and a multiple of it from the start.
    const STEP: usize = LEAF / 2;
    // Codes before this rank may have been taken in another frame.
    let mut floor = ranks.start;
    let mut at = ranks.start;
    while at + STEP < ranks.end {
        let code = local.code(at);
        if local.code(at + STEP) != code {
            at += STEP;
            continue;
        }
        let start = (floor..at).rev().take_while(|&r| local.code(r) == code).last().unwrap_or(at);
        let end = (at..ranks.end).find(|&r| local.code(r) != code).unwrap_or(ranks.end);
        if end - start > LEAF {
            let bounds = (start..end).fold(Aabb::EMPTY, |all, r| all.with_point(records[local.place(r)].center.0));
            if let Some(grid) = Grid::new(&bounds) {
                local.mark_border(start);
                local.sort_again(start..end, |place| grid.code(records[place].center.0));
                refine_runs(local, records, start..end);
                local.mark_border(end);
            }
        }
        (floor, at) = (end, end);
    }
}

/// Cuts a sorted segment into leaves, leaves their first ranks in the ids of its first records, and returns how many.
#[inline(always)]
fn cut_leaves<const D: usize>(local: &LocalOrder, records: &mut [Record<D>], first_rank: u32) -> u32 {
    let mut borders = local.borders().iter().map(|&b| b as usize).peekable();
    let (mut leaves, mut start) = (0, 0);
    while start < local.len() {
        while borders.next_if(|&border| border <= start).is_some() {}
        let end = (start + LEAF).min(local.len()).min(borders.peek().copied().unwrap_or(usize::MAX));
        records[leaves].id = first_rank + start as u32;
        leaves += 1;
        start = leaf_end::<D>(start..end, |rank| local.code(rank));
    }
    leaves as u32
}

/// The end of the leaf that starts with `ranks`: before the widest gap, as long as that is wide.
#[inline(always)]
pub(crate) fn leaf_end<const D: usize>(ranks: Range<usize>, code: impl Fn(usize) -> u64) -> usize {
    let differing_bits = |a: usize, b: usize| u64::BITS - (code(a) ^ code(b)).leading_zeros();
    let (start, mut end) = (ranks.start, ranks.end);
    loop {
        let top = differing_bits(start, end - 1);
        let middle = start + (end - start) / 2;
        // The middle rank lies in one of the two parts, whose extent is thus at least the lesser of these.
        let within = differing_bits(start, middle).min(differing_bits(middle, end - 1));
        if top <= within + GAP_LEVELS * D as u32 {
            return end;
        }
        let upper = (code(end - 1) >> (top - 1)) & 1;
        let gap = (start + 1..end).find(|&rank| (code(rank) >> (top - 1)) & 1 == upper).unwrap_or(end);
        let within = differing_bits(start, gap - 1).max(differing_bits(gap, end - 1));
        if top <= within + GAP_LEVELS * D as u32 {
            return end;
        }
        end = gap;
    }
}

/// The box of the circles at `ranks`, rounded outwards. Tried: sixteen masked lanes folded by halves, 1.2 times slower.
fn leaf_box<const D: usize>(centers: &[Vec<f32>; D], radii: &[f32], ranks: Range<usize>) -> Aabb<D> {
    let radii = &radii[ranks.clone()];
    let mut aabb = Aabb::EMPTY;
    for axis in 0..D {
        let (mut lo, mut hi) = (f32::INFINITY, f32::NEG_INFINITY);
        for (&center, &radius) in centers[axis][ranks.clone()].iter().zip(radii) {
            let reach = radius * GROWTH;
            lo = if center - reach < lo { center - reach } else { lo };
            hi = if center + reach > hi { center + reach } else { hi };
        }
        aabb.lo[axis] = outward_lo(lo);
        aabb.hi[axis] = outward_hi(hi);
    }
    aabb
}

/// The box of the children of `node`.
fn node_box<const D: usize>(below: &Level<D>, node: usize) -> Aabb<D> {
    let children = node * LEAF..(node + 1) * LEAF;
    let mut aabb = Aabb::EMPTY;
    for axis in 0..D {
        aabb.lo[axis] = below.lo[axis][children.clone()].iter().copied().fold(f32::INFINITY, f32::min);
        aabb.hi[axis] = below.hi[axis][children.clone()].iter().copied().fold(f32::NEG_INFINITY, f32::max);
    }
    aabb
}

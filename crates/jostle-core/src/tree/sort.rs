//! Bodies into Morton order: records dealt out by their first digits, then each segment sorted in cache.

use core::ops::Range;

use super::leaves::cut_leaves;
use super::{LEAF, LinearTree, Scratch};
use crate::aabb::Aabb;
use crate::bounds::BlockBounds;
use crate::disjoint::Disjoint;
use crate::input::{Bodies, Radii};
use crate::isa::Work;
use crate::morton::{Grid, bits_per_axis};
use crate::radix::{CellPass, LOCAL_MAX, LocalOrder, Segment, digit_bits};
use crate::scratch::resize_with_headroom;
use crate::workers::Workers;

/// A body on its way to its rank.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Record<const D: usize> {
    pub(super) center: Center<D>,
    pub(super) radius: f32,
    pub(super) id: u32,
}

impl<const D: usize> Record<D> {
    /// Touches nothing.
    pub(super) const PADDING: Self = Self { center: Center([f32::NAN; D]), radius: 0.0, id: 0 };
}

/// An array with a `Default` for every length.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(super) struct Center<const D: usize>(pub(super) [f32; D]);

impl<const D: usize> Default for Center<D> {
    fn default() -> Self {
        Self([0.0; D])
    }
}

impl<const D: usize> LinearTree<D> {
    /// Puts records in the order of ranks, and marks where leaves begin.
    pub(super) fn sort(&mut self, bodies: Bodies<'_, D>, workers: Workers) {
        let n = bodies.len();
        self.len = n;
        let s = &mut self.scratch;
        s.dealer.start(n);
        s.grids.clear();
        if s.first.len() < n {
            s.first.resize(n, Record::default());
            s.second.resize(n, Record::default());
            s.marks.resize(n, 0);
        }
        let top = bits_per_axis(D) * D as u32;
        match Grid::new(&self.bounds) {
            None => {
                deal(bodies, workers, s, (0, top), |_, _| ());
                s.dealer.start(n);
                let whole = Segment { start: 0, end: n as u32, in_second: false, equal: true, frame: 0, top };
                s.dealer.push_equal(whole);
            }
            Some(grid) => {
                s.grids.push(grid);
                let bits = digit_bits(n);
                let slices = bodies.centers().map(|column| column.as_slice());
                if slices.iter().all(Option::is_some) {
                    let centers = slices.map(Option::unwrap_or_default);
                    let isa = self.isa;
                    deal(bodies, workers, s, (bits, top), |ids, digits| {
                        isa.run(Digits { grid, centers: centers.map(|column| &column[ids.clone()]), bits, digits });
                    });
                } else {
                    let below = top - bits;
                    deal(bodies, workers, s, (bits, top), |ids, digits| {
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
            let grids = &s.grids;
            let code = |frame: u32, record: &Record<D>| grids[frame as usize].code(record.center.0);
            let Some(equal) = s.dealer.deal_large(workers, &mut s.first, &mut s.second, code) else { return };
            let buffer = if equal.in_second { &s.second } else { &s.first };
            let records = &buffer[equal.range()];
            let bounds = bounds_of(records, workers, &mut s.blocks);
            match Grid::new(&bounds) {
                None => s.dealer.push_equal(equal),
                Some(grid) => {
                    s.dealer.push(Segment { frame: s.grids.len() as u32, top: bits_per_axis(D) * D as u32, ..equal });
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
        let (marks, segment_leaves) = (Disjoint::new(&mut s.marks), Disjoint::new(&mut s.segment_leaves));
        let sort_segment = |local: &mut LocalSort, at: usize| {
            let segment = dealer.segments()[at];
            let range = segment.range();
            // SAFETY: segments are disjoint ranges of ranks, each in one task, and `at` is the segment's own.
            let (mut from, mut to, marks, leaves) = unsafe {
                let (first, second) = (first.range(range.clone()), second.range(range.clone()));
                (first, second, marks.range(range), &mut segment_leaves.range(at..at + 1)[0])
            };
            if segment.in_second {
                core::mem::swap(&mut from, &mut to);
            }
            let grid = grids.get(segment.frame as usize).filter(|_| !segment.equal);
            *leaves = isa.run(SortSegment { local, from, to, marks, grid, top: segment.top });
        };
        workers.run("segments", dealer.tasks(), |task| {
            locals.with(|local| dealer.task(task).for_each(|at| sort_segment(local, at)));
        });
    }
}

/// First pass: records from the caller's columns to the first buffer, by digits of so many bits of codes of `top` bits.
fn deal<const D: usize>(
    bodies: Bodies<'_, D>,
    workers: Workers,
    s: &mut Scratch<D>,
    bits_and_top: (u32, u32),
    digits: impl Fn(Range<usize>, &mut [u16]) + Sync + Send,
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
            let source = |ids: Range<usize>| {
                let centers = centers.map(|column| &column[ids.clone()]);
                let records = radii[ids.clone()].iter().zip(ids).enumerate();
                records.map(move |(i, (&radius, id))| Record {
                    center: Center(core::array::from_fn(|axis| centers[axis][i])),
                    radius,
                    id: id as u32,
                })
            };
            s.dealer.deal_from(workers, n, bits_and_top, source, digits, &mut s.first);
        }
        _ => {
            let record =
                move |id: usize| Record { center: Center(bodies.center(id)), radius: bodies.radius(id), id: id as u32 };
            s.dealer.deal_from(workers, n, bits_and_top, |ids| ids.map(record), digits, &mut s.first);
        }
    }
}

/// The box of the centres of many records.
fn bounds_of<const D: usize>(records: &[Record<D>], workers: Workers, blocks: &mut Vec<BlockBounds<D>>) -> Aabb<D> {
    blocks.clear();
    blocks.resize(records.len().div_ceil(LOCAL_MAX), BlockBounds::EMPTY);
    workers.fill("bounds of a run", blocks, |block| {
        let records = &records[block * LOCAL_MAX..((block + 1) * LOCAL_MAX).min(records.len())];
        BlockBounds::of(records.iter().fold(Aabb::EMPTY, |all, record| all.with_point(record.center.0)))
    });
    blocks.iter().fold(Aabb::EMPTY, |all, block| all.union(block.bounds))
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

/// Scratch of one task.
#[derive(Debug, Default)]
pub(super) struct LocalSort {
    cells: CellPass,
    order: LocalOrder,
}

impl LocalSort {
    /// Makes room for the segments that `bodies` bodies make.
    fn reserve(&mut self, bodies: usize) {
        let items = bodies.min(LOCAL_MAX);
        self.cells.reserve(items, key_bits::<3>(items, 63).1);
        self.order.reserve(bodies);
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.cells.bytes() + self.order.bytes()
    }
}

/// The lowest bit, and the number of bits, of keys that tell about as many cells apart as there are items; all bits from
/// `top` on are equal.
fn key_bits<const D: usize>(items: usize, top: u32) -> (u32, u32) {
    let wanted = usize::BITS - items.saturating_sub(1).leading_zeros();
    let low = top.saturating_sub(wanted.max(MIN_KEY_BITS)) / D as u32 * D as u32;
    (low, top - low)
}

/// Fewer cells than 2^6 are not worth telling apart.
const MIN_KEY_BITS: u32 = 6;

/// Puts one segment in order and cuts it into leaves, whose number comes out, and whose starts the marks. The order is
/// in `to`, or, where all codes are equal, still in `from`.
struct SortSegment<'a, const D: usize> {
    local: &'a mut LocalSort,
    from: &'a mut [Record<D>],
    to: &'a mut [Record<D>],
    marks: &'a mut [u16],
    /// `None` where all codes are equal, and the order stands.
    grid: Option<&'a Grid<D>>,
    top: u32,
}

impl<const D: usize> Work for SortSegment<'_, D> {
    type Output = u32;

    /// Bodies lie in order of cells that hold at most a leaf of them each, and by id within; where some cell of the size
    /// that fits the segment is more crowded, in order of their whole codes instead.
    #[inline(always)]
    fn run(self) -> u32 {
        let Self { local: LocalSort { cells, order }, from, to, marks, grid, top } = self;
        let Some(grid) = grid else {
            return cut_leaves::<D>(from.len(), &[], marks, |_| 0);
        };
        let (low, bits) = key_bits::<D>(from.len(), top);
        let centers = from.iter().map(|record| record.center.0);
        if low >= Grid::<D>::MIN_KEY_LOW
            && cells.deal(from, to, bits, LEAF as u16, |keys| grid.keys(centers, low, bits, keys))
        {
            return cut_leaves::<D>(to.len(), &[], marks, |rank| grid.code(to[rank].center.0));
        }
        order.sort(from.iter().map(|record| grid.code(record.center.0)));
        refine_runs(order, from, 0..from.len());
        for (record, place) in to.iter_mut().zip(order.places()) {
            *record = from[place];
        }
        cut_leaves::<D>(to.len(), order.borders(), marks, |rank| order.code(rank))
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

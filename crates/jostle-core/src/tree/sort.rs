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
use crate::radix::{LOCAL_MAX, LocalOrder, Segment, digit_bits};
use crate::scratch::resize_with_headroom;
use crate::workers::Workers;

/// A body on its way to its rank.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct Record<const D: usize> {
    center: Center<D>,
    radius: f32,
    pub(super) id: u32,
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

impl<const D: usize> LinearTree<D> {
    /// Puts centres, radii and ids in Morton order, and the leaf starts of each segment in the ids of its records.
    pub(super) fn sort(&mut self, bodies: Bodies<'_, D>, workers: Workers) {
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
        workers.run("segments", dealer.tasks(), |task| {
            locals.with(|local| dealer.task(task).for_each(|at| sort_segment(local, at)));
        });
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
    workers.fill("bounds of a run", blocks, |block| {
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

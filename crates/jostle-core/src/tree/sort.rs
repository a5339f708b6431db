//! Puts bodies in order: deals records out along the Morton curve, by the first digits of their codes, then puts each
//! segment in strips in cache.

use core::hint::black_box;
use core::ptr;

use super::cut::cut_leaves;
use super::digits::digits_of;
use super::shape::{Centers, Deal, Part, Record, Shape};
use super::strips::Strips;
use super::{LEAF, LinearTree};
use crate::aabb::Aabb;
use crate::axes::Axes;
use crate::bounds::{BlockBounds, range_of};
use crate::isa::{Isa, Work};
use crate::morton::{Grid, bits_per_axis};
use crate::parallel::scratch::{resize_with_headroom, with_headroom};
use crate::parallel::workers::Workers;
use crate::prefetch::{LINE, prefetch_to_write};
use crate::radix::{CellPass, LOCAL_MAX, MAX_DIGIT_BITS, Segment, digit, digit_bits};

impl<const D: usize> LinearTree<D> {
    /// Deals records out to segments, puts the segments in order, and fills their leaves. Where all bodies are one
    /// segment, they are sorted in the caller's columns if these are slices.
    pub(super) fn sort<S: Shape<D>>(&mut self, part: &mut Part<S, D>, view: S::View<'_>, workers: Workers<'_>) {
        let n = S::len(view);
        self.len = n;
        let s = &mut self.scratch;
        for numbers in [&mut s.places, &mut s.marks] {
            if numbers.len() < n {
                numbers.resize(n, 0);
            }
        }
        if digit_bits(n) == 0
            && S::images_from(view) as usize >= n
            && let Some(columns) = S::columns(view)
        {
            return self.sort_whole(part, columns, workers);
        }
        let mut deal = part.deal.take().unwrap_or_default();
        self.deal_and_sort((part, &mut deal), view, workers);
        part.deal = Some(deal);
    }

    /// Deals all records out, and puts segments in order.
    fn deal_and_sort<S: Shape<D>>(
        &mut self,
        (part, deal): (&mut Part<S, D>, &mut Deal<S, D>),
        view: S::View<'_>,
        workers: Workers<'_>,
    ) {
        let (n, s) = (self.len, &mut self.scratch);
        deal.dealer.start(n);
        s.grids.clear();
        if deal.records.len() < n {
            deal.records.resize(n, S::Record::default());
        }
        let top = bits_per_axis(D) * D as u32;
        let grid = Grid::new(&self.bounds);
        let by = grid.map(|grid| (grid, self.isa));
        let mut bits = if grid.is_some() { digit_bits(n) } else { 0 };
        if grid.is_some() && (S::images_from(view) as usize) < n {
            // One bit more tells ghost images.
            bits = bits.min(MAX_DIGIT_BITS - 1);
            deal.dealer.keep_apart(1 << bits);
        }
        s.grids.extend(grid);
        // The marks are written once all records have been dealt out; until then their memory serves the digits.
        deal.dealer.exchange_digits(&mut s.marks);
        S::deal(view, workers, deal, (bits, top), by);
        if grid.is_none() {
            deal.dealer.start(n);
            let whole = Segment { start: 0, end: n as u32, equal: true, frame: 0, top };
            deal.dealer.push_equal(whole);
        }
        self.deal_large(deal, workers);
        deal.dealer.exchange_digits(&mut self.scratch.marks);
        deal.dealer.finish();
        self.fill_leaves((part, deal), workers);
    }

    /// Deals out the segments that the first pass left large. Where codes ran out, a grid over the segment's own bounds
    /// takes over.
    fn deal_large<S: Shape<D>>(&mut self, deal: &mut Deal<S, D>, workers: Workers<'_>) {
        let (isa, s, Deal { dealer, records, spare }) = (self.isa, &mut self.scratch, deal);
        loop {
            if spare.len() < dealer.longest() {
                resize_with_headroom(spare, dealer.longest());
            }
            let (grids, blocks) = (&s.grids, &mut s.blocks);
            let top = |frame: u32, records: &[S::Record]| {
                // Coordinates of cells ascend as those of points do. So the codes of the corners differ in the highest
                // bit in which any codes differ.
                let (bounds, grid) = (bounds_of(records, workers, blocks), &grids[frame as usize]);
                u64::BITS - (grid.code(bounds.lo) ^ grid.code(bounds.hi)).leading_zeros()
            };
            let digits = |frame: u32, records: &[S::Record], bits_and_top: (u32, u32), keys: &mut [u16]| {
                digits_of_records(isa, grids[frame as usize], records, bits_and_top, keys);
            };
            let Some(equal) = dealer.deal_large(workers, records, spare, top, digits) else { return };
            let bounds = bounds_of(&records[equal.range()], workers, &mut s.blocks);
            match Grid::new(&bounds) {
                None => dealer.push_equal(equal),
                Some(grid) => {
                    dealer.push(Segment { frame: s.grids.len() as u32, top: bits_per_axis(D) * D as u32, ..equal });
                    s.grids.push(grid);
                }
            }
        }
    }
}

/// The box of the centres of many records.
fn bounds_of<R: Record<D>, const D: usize>(
    records: &[R],
    workers: Workers<'_>,
    blocks: &mut Vec<BlockBounds<D>>,
) -> Aabb<D> {
    blocks.clear();
    blocks.resize(records.len().div_ceil(LOCAL_MAX), BlockBounds::EMPTY);
    workers.fill("bounds of a run", blocks, |block| {
        let (mut bounds, mut columns) = (Aabb::EMPTY, [[0.0; PIECE]; D]);
        for records in records[block * LOCAL_MAX..((block + 1) * LOCAL_MAX).min(records.len())].chunks(PIECE) {
            bounds = bounds.union(box_of(Centers(centers_of(records, &mut columns))));
        }
        BlockBounds::of(bounds)
    });
    blocks.iter().fold(Aabb::EMPTY, |all, block| all.union(block.bounds))
}

/// Fills `keys` with the highest `bits` of the lowest `top` bits of the codes of these records.
fn digits_of_records<R: Record<D>, const D: usize>(
    isa: Isa,
    grid: Grid<D>,
    records: &[R],
    (bits, top): (u32, u32),
    keys: &mut [u16],
) {
    // With fewer bits below the digit, codes cannot be computed side by side, and are computed one by one.
    if top - bits < D as u32 {
        let digit = |record: &R| digit(grid.code(record.center()), (bits, top));
        return keys.iter_mut().zip(records).for_each(|(key, record)| *key = digit(record));
    }
    let mut columns = [[0.0; PIECE]; D];
    for (records, keys) in records.chunks(PIECE).zip(keys.chunks_mut(PIECE)) {
        digits_of(isa, grid, centers_of(records, &mut columns), (top - bits, bits), keys);
    }
}

/// Copies the centres of some records, [`PIECE`] at most, side by side.
fn centers_of<'a, R: Record<D>, const D: usize>(records: &[R], columns: &'a mut [[f32; PIECE]; D]) -> [&'a [f32]; D] {
    for axis in 0..D {
        columns[axis].iter_mut().zip(records).for_each(|(to, record)| *to = record.coordinate(axis));
    }
    columns.each_ref().each(|column| &column[..records.len()])
}

/// Scratch of one worker.
#[derive(Debug, Default)]
pub(super) struct LocalSort {
    pub(super) order: OrderScratch,
    /// The centres of a segment of records.
    pub(super) columns: [Vec<f32>; 3],
    /// Segments in order whose first leaf is not known yet.
    pub(super) waiting: Vec<u32>,
}

/// Bodies whose centres are gathered at a time, to lie side by side.
const PIECE: usize = 512;

/// Scratch for putting a segment in order.
#[derive(Debug, Default)]
pub(super) struct OrderScratch {
    cells: CellPass,
    /// Places of the bodies of a crowded cell, in the order before they are sorted again.
    crowd: Vec<u16>,
    /// The centres of [`PIECE`] bodies of such a cell.
    centers: [Vec<f32>; 3],
    /// Runs of ranks that are to be put in order.
    runs: Vec<(u16, u16)>,
}

impl LocalSort {
    /// Makes room for `segments` segments, of `bodies` bodies, with columns for their centres if these are copied.
    pub(super) fn reserve<const D: usize>(&mut self, bodies: usize, segments: usize, copied: bool) {
        self.waiting.clear();
        self.waiting.reserve(with_headroom(segments));
        let items = bodies.min(LOCAL_MAX);
        let OrderScratch { cells, crowd, centers, runs } = &mut self.order;
        cells.reserve(items, Strips::<D>::key_bits(items));
        crowd.clear();
        crowd.reserve(items);
        for column in &mut centers[..D] {
            column.clear();
            column.reserve(items.min(PIECE));
        }
        for column in self.columns[..D].iter_mut().filter(|_| copied) {
            column.reserve(items.saturating_sub(column.len()));
        }
        runs.clear();
        runs.reserve(items / LEAF + 1);
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let OrderScratch { cells, crowd, centers, runs } = &self.order;
        cells.bytes()
            + crowd.capacity() * size_of::<u16>()
            + centers.iter().chain(&self.columns).map(|column| column.capacity() * size_of::<f32>()).sum::<usize>()
            + runs.capacity() * size_of::<(u16, u16)>()
            + self.waiting.capacity() * size_of::<u32>()
    }
}

/// Writes one record of each line back as it is, so that this core alone has the lines. Lines that are only read would
/// be shared with the core that wrote them, and that core would take several times as long to write to them for the
/// next tree (see docs/measurements/threads.md). All lines are asked for first.
pub(super) fn take_over<R: Copy>(records: &mut [R]) {
    let step = (LINE / size_of::<R>()).max(1);
    for record in records.iter().step_by(step) {
        prefetch_to_write(ptr::from_ref(record).cast());
    }
    for record in records.iter_mut().step_by(step) {
        *record = black_box(*record);
    }
}

/// Copies the centres of a segment's records side by side, so that the code that sorts them is compiled once for all
/// shapes.
#[inline(never)]
pub(super) fn copy_centers<'a, R: Record<D>, const D: usize>(
    records: &[R],
    columns: &'a mut [Vec<f32>; 3],
) -> Centers<'a, D> {
    let n = records.len();
    for column in columns[..D].iter_mut().filter(|column| column.len() < n) {
        column.resize(n, 0.0);
    }
    let (fours, rest) = records.as_chunks::<4>();
    for (at, four) in fours.iter().enumerate() {
        let centers = R::coordinates(four);
        for axis in 0..D {
            columns[axis][4 * at..][..4].copy_from_slice(&centers[axis]);
        }
    }
    for (at, record) in (4 * fours.len()..).zip(rest) {
        for axis in 0..D {
            columns[axis][at] = record.coordinate(axis);
        }
    }
    Centers(core::array::from_fn(|axis| &columns[axis][..n]))
}

/// Lists the places of one segment's bodies by rank, and cuts the segment into leaves. Returns the number of leaves;
/// the marks hold their starts.
pub(super) struct SortSegment<'a, const D: usize> {
    pub(super) order: &'a mut OrderScratch,
    pub(super) centers: Centers<'a, D>,
    /// The box of all centres, where it is known.
    pub(super) bounds: Option<Aabb<D>>,
    pub(super) places: &'a mut [u16],
    pub(super) marks: &'a mut [u16],
}

impl<const D: usize> Work for SortSegment<'_, D> {
    type Output = usize;

    /// Puts bodies in the order of strips over their box, and by id within a cell. The bodies of a cell that holds more
    /// than a leaf are put in the order of strips over their own box, and so on.
    #[inline(always)]
    fn run(self) -> usize {
        let Self { order: OrderScratch { cells, crowd, centers, runs }, centers: all, bounds, places, marks } = self;
        match Strips::over(&bounds.unwrap_or_else(|| box_of(all)), all.len()) {
            None => (0..).zip(&mut *places).for_each(|(i, place)| *place = i),
            Some(strips) => {
                strips.slots(all.all(strips.axes), cells.slots(places.len()));
                cells.order(places, strips.key_bits);
                runs.extend(cells.crowds());
            }
        }
        while let Some((start, end)) = runs.pop() {
            let places = &mut places[usize::from(start)..usize::from(end)];
            let mut bounds = Aabb::EMPTY;
            for piece in places.chunks(PIECE) {
                bounds = bounds.union(box_of(all.gathered(piece, centers)));
            }
            let Some(strips) = Strips::over(&bounds, places.len()) else { continue };
            crowd.clear();
            crowd.extend_from_slice(places);
            let slots = cells.slots(places.len());
            if places.len() <= PIECE {
                // `centers` still holds all centres of the cell, gathered for the box.
                let centers = Centers(core::array::from_fn(|axis| &centers[axis][..]));
                strips.slots(centers.all(strips.axes), slots);
            } else {
                for (piece, slots) in places.chunks(PIECE).zip(slots.chunks_mut(PIECE)) {
                    strips.slots(all.gathered(piece, centers).all(strips.axes), slots);
                }
            }
            cells.order(places, strips.key_bits);
            runs.extend(cells.crowds().map(|(from, to)| (start + from, start + to)));
            places.iter_mut().for_each(|place| *place = crowd[usize::from(*place)]);
        }
        cut_leaves(all, places, marks)
    }
}

/// The box of some centres.
#[inline(always)]
fn box_of<const D: usize>(centers: Centers<'_, D>) -> Aabb<D> {
    let mut bounds = Aabb::EMPTY;
    for axis in 0..D {
        (bounds.lo[axis], bounds.hi[axis]) = range_of(centers.0[axis]);
    }
    bounds
}

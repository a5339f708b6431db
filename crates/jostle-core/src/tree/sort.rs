//! Bodies into order: records dealt out along the Morton curve, by the first digits of their codes, then each segment put
//! in strips in cache.

use core::ops::Range;

use super::cut::cut_leaves;
use super::record::{Center, Columns, Record, Source};
use super::strips::Strips;
use super::{LEAF, LinearTree, Scratch};
use crate::aabb::Aabb;
use crate::bounds::{BlockBounds, range_of};
use crate::input::{Bodies, Radii};
use crate::isa::Work;
use crate::morton::{Grid, bits_per_axis};
use crate::parallel::scratch::with_headroom;
use crate::parallel::workers::Workers;
use crate::radix::{CellPass, LOCAL_MAX, Segment, digit_bits};

impl<const D: usize> LinearTree<D> {
    /// Deals records out to segments, and puts those in order, leaf by leaf. The bodies of one segment stay where they are,
    /// if they are in slices.
    pub(super) fn sort(&mut self, bodies: Bodies<'_, D>, workers: Workers<'_>) {
        let n = bodies.len();
        self.len = n;
        let s = &mut self.scratch;
        s.dealer.start(n);
        s.grids.clear();
        if s.first.len() < n {
            s.first.resize(n, Record::default());
            s.places.resize(n, 0);
            s.marks.resize(n, 0);
        }
        let top = bits_per_axis(D) * D as u32;
        if let Some(columns) = Columns::of(&bodies).filter(|_| digit_bits(n) == 0) {
            s.dealer.push(Segment { start: 0, end: n as u32, in_second: false, equal: false, frame: 0, top });
            s.dealer.finish();
            return self.fill_leaves(workers, Some(columns));
        }
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
                let low = top - bits;
                let isa = self.isa;
                let slices = bodies.centers().map(|column| column.as_slice());
                if slices.iter().all(Option::is_some) {
                    let centers = slices.map(Option::unwrap_or_default);
                    deal(bodies, workers, s, (bits, top), |ids, keys| {
                        let centers = centers.map(|column| &column[ids.clone()]);
                        // Cut to their length here, columns need no check for each point.
                        let points = |n: usize| {
                            let centers = centers.map(|column| &column[..n]);
                            (0..n).map(move |i| core::array::from_fn(|axis| centers[axis][i]))
                        };
                        isa.run(Keys { grid, points, low, bits, keys });
                    });
                } else {
                    deal(bodies, workers, s, (bits, top), |ids, keys| {
                        for (first, keys) in ids.step_by(COPIED).zip(keys.chunks_mut(COPIED)) {
                            let mut centers = [[0.0; COPIED]; D];
                            for (column, center) in bodies.centers().iter().zip(&mut centers) {
                                column.map_into(first, &mut center[..keys.len()], |value| value);
                            }
                            let points = |n: usize| {
                                let centers = centers.each_ref().map(|column| &column[..n]);
                                (0..n).map(move |i| core::array::from_fn(|axis| centers[axis][i]))
                            };
                            isa.run(Keys { grid, points, low, bits, keys });
                        }
                    });
                }
            }
        }
        self.deal_large(workers);
        self.scratch.dealer.finish();
        self.fill_leaves(workers, None);
    }

    /// Deals out what the first pass left large. Where codes ran out, a grid over the segment's own bounds takes over.
    fn deal_large(&mut self, workers: Workers<'_>) {
        let s = &mut self.scratch;
        loop {
            if s.dealer.has_large() && s.second.len() < self.len {
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
                    s.dealer.push(Segment { frame: s.grids.len() as u32, top: bits_per_axis(D) * D as u32, ..equal });
                    s.grids.push(grid);
                }
            }
        }
    }
}

/// First pass: records from the caller's columns to the first buffer, by digits of so many bits of codes of `top` bits.
fn deal<const D: usize>(
    bodies: Bodies<'_, D>,
    workers: Workers<'_>,
    s: &mut Scratch<D>,
    bits_and_top: (u32, u32),
    digits: impl Fn(Range<usize>, &mut [u16]) + Sync + Send,
) {
    let n = bodies.len();
    let slices = bodies.centers().map(|column| column.as_slice());
    let (radii, all) = match bodies.radii() {
        Radii::Each(column) => (column.as_slice(), 0.0),
        Radii::All(radius) => (Some(&[][..]), radius),
    };
    let margin = bodies.margin();
    match (slices, radii) {
        (slices, Some(radii)) if slices.iter().all(Option::is_some) => {
            let centers = slices.map(Option::unwrap_or_default);
            let source = |ids: Range<usize>| {
                // Columns cut to one length need no check for each body, nor, with one radius for all, a branch.
                let (first, len) = (ids.start, ids.len());
                let centers = centers.map(|column| &column[ids.clone()][..len]);
                let (radii, each) = radii.get(ids).map_or((centers[0], false), |radii| (&radii[..len], true));
                (0..len).map(move |i| Record {
                    center: Center(core::array::from_fn(|axis| centers[axis][i])),
                    radius: if each { radii[i] } else { all } + margin,
                    id: (first + i) as u32,
                })
            };
            s.dealer.deal_from(workers, n, bits_and_top, source, digits, &mut s.first);
        }
        _ => {
            let source = |ids: Range<usize>| {
                let mut centers = bodies.centers().map(|column| column.values(ids.start, ids.len()));
                let (mut radii, all) = match bodies.radii() {
                    Radii::Each(column) => (Some(column.values(ids.start, ids.len())), 0.0),
                    Radii::All(radius) => (None, radius),
                };
                ids.map(move |id| Record {
                    center: Center(core::array::from_fn(|axis| centers[axis].next().unwrap_or_default())),
                    radius: radii.as_mut().and_then(Iterator::next).unwrap_or(all) + margin,
                    id: id as u32,
                })
            };
            s.dealer.deal_from(workers, n, bits_and_top, source, digits, &mut s.first);
        }
    }
}

/// Points of columns with a stride that are copied at a time, to be read side by side.
const COPIED: usize = 512;

/// The box of the centres of many records.
fn bounds_of<const D: usize>(records: &[Record<D>], workers: Workers<'_>, blocks: &mut Vec<BlockBounds<D>>) -> Aabb<D> {
    blocks.clear();
    blocks.resize(records.len().div_ceil(LOCAL_MAX), BlockBounds::EMPTY);
    workers.fill("bounds of a run", blocks, |block| {
        let records = &records[block * LOCAL_MAX..((block + 1) * LOCAL_MAX).min(records.len())];
        BlockBounds::of(records.iter().fold(Aabb::EMPTY, |all, record| all.with_point(record.center.0)))
    });
    blocks.iter().fold(Aabb::EMPTY, |all, block| all.union(block.bounds))
}

/// Some bits of the codes of points, `points(n)` giving all n of them.
struct Keys<'a, P, const D: usize> {
    grid: Grid<D>,
    points: P,
    low: u32,
    bits: u32,
    keys: &'a mut [u16],
}

impl<I: Iterator<Item = [f32; D]>, P: FnOnce(usize) -> I, const D: usize> Work for Keys<'_, P, D> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let points = (self.points)(self.keys.len());
        self.grid.keys(points, self.low, self.bits, self.keys);
    }
}

/// Scratch of one worker.
#[derive(Debug, Default)]
pub(super) struct LocalSort {
    cells: CellPass,
    /// Places of the bodies in a crowded cell, as they were, and their centres.
    crowd: Vec<u16>,
    centers: [Vec<f32>; 3],
    /// Runs of ranks that are to be put in order.
    runs: Vec<(u16, u16)>,
    /// Segments in order whose first leaf is not known yet.
    pub(super) waiting: Vec<u32>,
}

impl LocalSort {
    /// Makes room for so many segments, of `bodies` bodies.
    pub(super) fn reserve(&mut self, bodies: usize, segments: usize) {
        self.waiting.clear();
        self.waiting.reserve(with_headroom(segments));
        let items = bodies.min(LOCAL_MAX);
        self.cells.reserve(items, (usize::BITS - items.leading_zeros()).max(6));
        self.crowd.clear();
        self.crowd.reserve(items);
        for column in &mut self.centers {
            column.reserve(items.saturating_sub(column.len()));
        }
        self.runs.clear();
        self.runs.reserve(items / LEAF + 1);
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.cells.bytes()
            + self.crowd.capacity() * size_of::<u16>()
            + self.centers.iter().map(|column| column.capacity() * size_of::<f32>()).sum::<usize>()
            + self.runs.capacity() * size_of::<(u16, u16)>()
            + self.waiting.capacity() * size_of::<u32>()
    }
}

/// Lists the places of one segment's records by rank, and cuts it into leaves, whose number comes out, and whose starts
/// the marks.
pub(super) struct SortSegment<'a, S, const D: usize> {
    pub(super) local: &'a mut LocalSort,
    pub(super) source: S,
    /// The box of all centres.
    pub(super) bounds: Aabb<D>,
    pub(super) places: &'a mut [u16],
    pub(super) marks: &'a mut [u16],
}

impl<S: Source<D>, const D: usize> Work for SortSegment<'_, S, D> {
    type Output = usize;

    /// Bodies lie in the order of strips over their box, and by id within a cell of it. Those of a cell that holds more
    /// than a leaf lie in the order of strips over their own box, and so on.
    #[inline(always)]
    fn run(self) -> usize {
        let Self { local: LocalSort { cells, crowd, centers, runs, .. }, source, bounds, places, marks } = self;
        match Strips::over(&bounds, source.len()) {
            None => (0..).zip(&mut *places).for_each(|(i, place)| *place = i),
            Some(strips) => {
                strips.keys(source.centers(strips.axes), cells.keys(places.len()));
                cells.order(places, strips.key_bits);
                runs.extend(cells.crowds());
            }
        }
        while let Some((start, end)) = runs.pop() {
            let places = &mut places[usize::from(start)..usize::from(end)];
            let mut bounds = Aabb::<D>::EMPTY;
            for axis in 0..D {
                let column = &mut centers[axis];
                column.resize(places.len(), 0.0);
                column.iter_mut().zip(&*places).for_each(|(to, &place)| *to = source.center(place)[axis]);
                (bounds.lo[axis], bounds.hi[axis]) = range_of(column);
            }
            let Some(strips) = Strips::over(&bounds, places.len()) else { continue };
            crowd.clear();
            crowd.extend_from_slice(places);
            let columns = Columns::<D>::of_centers(core::array::from_fn(|axis| &centers[axis][..]));
            strips.keys(columns.centers(strips.axes), cells.keys(places.len()));
            cells.order(places, strips.key_bits);
            runs.extend(cells.crowds().map(|(from, to)| (start + from, start + to)));
            places.iter_mut().for_each(|place| *place = crowd[usize::from(*place)]);
        }
        cut_leaves(source, places, marks)
    }
}

/// The box of the centres of a segment.
pub(super) struct BoundSegment<'a, const D: usize>(pub(super) &'a [Record<D>]);

impl<const D: usize> Work for BoundSegment<'_, D> {
    type Output = Aabb<D>;

    #[inline(always)]
    fn run(self) -> Aabb<D> {
        let (mut lo, mut hi) = ([[f32::INFINITY; 4]; D], [[f32::NEG_INFINITY; 4]; D]);
        let (fours, rest) = self.0.as_chunks::<4>();
        for four in fours {
            for axis in 0..D {
                for lane in 0..4 {
                    let x = four[lane].center.0[axis];
                    lo[axis][lane] = if x < lo[axis][lane] { x } else { lo[axis][lane] };
                    hi[axis][lane] = if x > hi[axis][lane] { x } else { hi[axis][lane] };
                }
            }
        }
        let mut all = rest.iter().fold(Aabb::EMPTY, |all, record| all.with_point(record.center.0));
        for lane in 0..4 {
            for axis in 0..D {
                all.lo[axis] = all.lo[axis].min(lo[axis][lane]);
                all.hi[axis] = all.hi[axis].max(hi[axis][lane]);
            }
        }
        all
    }
}

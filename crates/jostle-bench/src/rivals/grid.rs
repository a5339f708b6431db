//! The uniform grid that a good engineer writes by hand: cells as wide as the largest diameter, bodies in the order of
//! their cells by counting sort, structure of arrays, each pair looked at from one side only, candidates tested four at a
//! time, hits written without branching on them, and all memory kept.

use core::array::from_fn;
use core::ops::Range;

use jostle_core::disjoint::Disjoint;
use jostle_testkit::{Kind, Scene};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use wide::f32x4;

use super::Rival;
use super::hits::{Gather, Hits};

/// Bodies of a band of cells, about: they and their counters then stay in the second-level cache.
const BAND: usize = 8192;

/// Most bands, so that a pass over all bodies writes to few places at once.
const MOST_BANDS: usize = 256;

/// Bodies that one task looks at where it does little with each.
const CHUNK: usize = 1 << 15;

/// Bodies whose pairs one task finds.
const TASK: usize = 4096;

/// Cells for each body, at most, which bounds the memory where bodies are sparse. More cells separate clusters better,
/// and take longer to clear.
const CELLS_A_BODY: usize = 8;

/// Candidates that are tested at a time. Most runs are not longer, so that their ends are foreseen.
const LANES: usize = 4;

/// Cells are this much wider than the largest diameter, for what the predicate may be wrong by.
const SLACK: f32 = 1.0 + 1.0 / 1_048_576.0;

/// And this much, as a part of their width, for each cell on an axis: the place of a cell is computed in `f32`.
const SLACK_A_CELL: f32 = 1.0 / 2_097_152.0;

/// Below 2^-73 differences square to zero and count as hits.
const ABSOLUTE_SLACK: f32 = f32::from_bits((127 - 73) << 23);

/// A body on its way to its cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body<const D: usize> {
    pub(crate) center: [f32; D],
    pub(crate) radius: f32,
    pub(crate) id: u32,
}

impl<const D: usize> Body<D> {
    pub(crate) const NONE: Self = Self { center: [0.0; D], radius: 0.0, id: 0 };
}

/// A body with its coordinates in all lanes of a vector.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread<const D: usize> {
    center: [f32x4; D],
    radius: f32x4,
    id: u32,
}

/// What the cells are cut from: the box of the centres and the largest radius.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent<const D: usize> {
    pub(crate) lo: [f32; D],
    pub(crate) hi: [f32; D],
    pub(crate) radius: f32,
}

impl<const D: usize> Extent<D> {
    const EMPTY: Self = Self { lo: [f32::INFINITY; D], hi: [f32::NEG_INFINITY; D], radius: 0.0 };

    /// The extent of all bodies of a scene.
    fn of(scene: &Scene<D>) -> Self {
        let chunk = |chunk: usize| {
            let ids = chunk * CHUNK..scene.len().min((chunk + 1) * CHUNK);
            let ranges = scene.centers.each_ref().map(|column| range(&column[ids.clone()]));
            Self {
                lo: ranges.map(|range| range.0),
                hi: ranges.map(|range| range.1),
                radius: range(&scene.radii[ids]).1.max(0.0),
            }
        };
        let chunks = scene.len().div_ceil(CHUNK);
        if chunks <= 1 || rayon::current_num_threads() == 1 {
            return (0..chunks).map(chunk).fold(Self::EMPTY, Self::union);
        }
        (0..chunks).into_par_iter().map(chunk).reduce(|| Self::EMPTY, Self::union)
    }

    /// The extent of these bodies.
    pub(crate) fn of_bodies(bodies: &[Body<D>]) -> Self {
        let one = |body: &Body<D>| Self { lo: body.center, hi: body.center, radius: body.radius };
        bodies.iter().map(one).fold(Self::EMPTY, Self::union)
    }

    #[inline(always)]
    fn union(self, other: Self) -> Self {
        Self {
            lo: from_fn(|axis| min(self.lo[axis], other.lo[axis])),
            hi: from_fn(|axis| max(self.hi[axis], other.hi[axis])),
            radius: max(self.radius, other.radius),
        }
    }
}

#[inline(always)]
fn min(a: f32, b: f32) -> f32 {
    if b < a { b } else { a }
}

#[inline(always)]
fn max(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

/// The least and greatest value.
fn range(values: &[f32]) -> (f32, f32) {
    const VECTORS: usize = 4;
    let mut lo = [f32x4::splat(f32::INFINITY); VECTORS];
    let mut hi = [f32x4::splat(f32::NEG_INFINITY); VECTORS];
    let (chunks, rest) = values.as_chunks::<{ VECTORS * LANES }>();
    for chunk in chunks {
        for v in 0..VECTORS {
            let values = f32x4::new(*lanes(chunk, v * LANES));
            lo[v] = lo[v].fast_min(values);
            hi[v] = hi[v].fast_max(values);
        }
    }
    let lo = lo.into_iter().flat_map(f32x4::to_array).chain(rest.iter().copied());
    let hi = hi.into_iter().flat_map(f32x4::to_array).chain(rest.iter().copied());
    (lo.fold(f32::INFINITY, min), hi.fold(f32::NEG_INFINITY, max))
}

/// The square or cubic cells over an extent, numbered row by row along the first axis. An empty cell ends each row, and
/// an empty row each layer, so that the neighbours of a cell are at fixed distances from it and none is another's.
#[derive(Debug, Clone, Copy)]
struct Cells<const D: usize> {
    lo: [f32; D],
    /// The largest radius.
    radius: f32,
    scale: f32,
    /// The last cell of each axis.
    last: [f32; D],
    /// Distance of neighbours along each axis.
    strides: [usize; D],
    /// Number of the first cell: before it are as many empty ones as lie between neighbours.
    first: usize,
    /// Number of cells with all empty ones.
    all: usize,
    /// 2 to this power cells make a band.
    band_shift: u32,
}

impl<const D: usize> Cells<D> {
    const NONE: Self = Self {
        lo: [0.0; D],
        radius: 0.0,
        scale: 1.0,
        last: [0.0; D],
        strides: [1; D],
        first: 0,
        all: 0,
        band_shift: 0,
    };

    fn over(extent: &Extent<D>, n: usize) -> Self {
        let sides: [f64; D] = from_fn(|axis| (f64::from(extent.hi[axis]) - f64::from(extent.lo[axis])).max(0.0));
        let narrowest = f64::from(2.0 * extent.radius * SLACK + ABSOLUTE_SLACK);
        let most = (n * CELLS_A_BODY).max(64) as f64;
        let mut side = narrowest;
        let counts = loop {
            let counts = sides.map(|s| (s / side).floor() + 1.0);
            let longest = counts.into_iter().fold(1.0, f64::max);
            let excess = counts.iter().product::<f64>() / most;
            let narrowest = narrowest * (1.0 + longest * f64::from(SLACK_A_CELL));
            if excess <= 1.0 && side >= narrowest {
                break counts;
            }
            side = narrowest.min(side * 1e3).max(side * excess.powf(1.0 / D as f64)).max(side * 1.01);
        };
        let mut strides = [1; D];
        for axis in 1..D {
            strides[axis] = strides[axis - 1] * (counts[axis - 1] as usize + 1);
        }
        let around = strides.iter().sum::<usize>();
        let cells = strides[D - 1] * counts[D - 1] as usize;
        let all = cells + 2 * around + 2;
        let bands = (n / BAND).clamp(1, MOST_BANDS);
        let band_shift = all.div_ceil(bands).next_power_of_two().ilog2();
        let (lo, radius) = (extent.lo, extent.radius);
        Self {
            lo,
            radius,
            scale: (1.0 / side) as f32,
            last: counts.map(|c| (c - 1.0) as f32),
            strides,
            first: around,
            all,
            band_shift,
        }
    }

    /// The cells on each axis that a body of such a radius may touch bodies in, unless it touches none.
    #[inline(always)]
    fn within(&self, center: [f32; D], radius: f32) -> Option<[Range<usize>; D]> {
        let reach = ((radius + self.radius) * SLACK + ABSOLUTE_SLACK) * self.scale;
        let mut ranges = [const { 0..0 }; D];
        for axis in 0..D {
            let at = (center[axis] - self.lo[axis]) * self.scale;
            let reach = reach + (self.last[axis] + at.abs()) * SLACK_A_CELL;
            let (low, high) = (at - reach, at + reach);
            if high < 0.0 || low >= self.last[axis] + 1.0 {
                return None;
            }
            ranges[axis] = max(low, 0.0) as usize..min(high, self.last[axis]) as usize + 1;
        }
        Some(ranges)
    }

    fn bands(&self) -> usize {
        self.all.div_ceil(1 << self.band_shift)
    }

    /// The cell of a point; that of the border for points outside.
    #[inline(always)]
    #[allow(unsafe_code, reason = "a conversion that the compiler can vectorise")]
    fn of(&self, center: [f32; D]) -> u32 {
        let mut cell = self.first as u32;
        for (axis, x) in center.into_iter().enumerate() {
            let at = (x - self.lo[axis]) * self.scale;
            let at = min(max(at, 0.0), self.last[axis]);
            // SAFETY: at least 0, and at most the last cell, of which there are fewer than 2^31.
            let at = unsafe { at.to_int_unchecked::<i32>() };
            cell += at as u32 * self.strides[axis] as u32;
        }
        cell
    }
}

/// Bodies in the order of their cells.
#[derive(Debug)]
pub(crate) struct Grid<const D: usize> {
    cells: Cells<D>,
    len: usize,
    /// First rank of each cell, and the number of bodies at the end.
    starts: Vec<u32>,
    /// By rank, with some padding.
    centers: [Vec<f32>; D],
    radii: Vec<f32>,
    ids: Vec<u32>,
    cell_of: Vec<u32>,
    /// Bodies dealt out to bands, with their cells.
    dealt: Vec<(Body<D>, u32)>,
    /// The cell of each body as it came.
    cell_of_source: Vec<u32>,
    /// For each chunk of bodies, how many fall into each band; after the scan, where they begin.
    places: Vec<u32>,
    band_starts: Vec<u32>,
}

impl<const D: usize> Default for Grid<D> {
    fn default() -> Self {
        Self {
            cells: Cells::NONE,
            len: 0,
            starts: Vec::new(),
            centers: [const { Vec::new() }; D],
            radii: Vec::new(),
            ids: Vec::new(),
            cell_of: Vec::new(),
            dealt: Vec::new(),
            cell_of_source: Vec::new(),
            places: Vec::new(),
            band_starts: Vec::new(),
        }
    }
}

fn chunk_of(chunk: usize, n: usize) -> Range<usize> {
    chunk * CHUNK..n.min((chunk + 1) * CHUNK)
}

impl<const D: usize> Grid<D> {
    /// Puts `n` bodies into cells.
    pub(crate) fn build(&mut self, extent: &Extent<D>, n: usize, body: impl Fn(usize) -> Body<D> + Sync) {
        self.cells = Cells::over(extent, n);
        self.len = n;
        self.starts.resize(self.cells.all + 1, 0);
        self.centers.iter_mut().for_each(|column| column.resize(n + LANES, 0.0));
        self.radii.resize(n + LANES, 0.0);
        self.ids.resize(n + LANES, 0);
        self.cell_of.resize(n, 0);
        self.find_cells(n, &body);
        if self.cells.bands() == 1 {
            let (cells, starts) = (&self.cell_of_source, &mut self.starts[..self.cells.all]);
            let target = Target::new(&mut self.centers, &mut self.radii, &mut self.ids, &mut self.cell_of, 0..n);
            counting_sort(starts, 0, target, (0..n).map(|i| (body(i), cells[i])));
        } else {
            self.deal(n, &body);
            self.sort_bands();
        }
        self.starts[self.cells.all] = n as u32;
    }

    /// The cell of each body as it came.
    #[allow(unsafe_code, reason = "each task writes a chunk of its own")]
    fn find_cells(&mut self, n: usize, body: &(impl Fn(usize) -> Body<D> + Sync)) {
        self.cell_of_source.resize(n, 0);
        let (cells, slots) = (self.cells, Disjoint::new(&mut self.cell_of_source));
        for_each(n.div_ceil(CHUNK), |c| {
            let chunk = chunk_of(c, n);
            // SAFETY: chunks are disjoint.
            let slots = unsafe { slots.range(chunk.clone()) };
            for (slot, i) in slots.iter_mut().zip(chunk) {
                *slot = cells.of(body(i).center);
            }
        });
    }

    /// Deals bodies out to bands of cells, so that what follows stays in the cache.
    #[allow(unsafe_code, reason = "counting sort by many tasks: each writes places of its own")]
    fn deal(&mut self, n: usize, body: &(impl Fn(usize) -> Body<D> + Sync)) {
        self.dealt.resize(n, (Body::NONE, 0));
        let (shift, bands, chunks) = (self.cells.band_shift, self.cells.bands(), n.div_ceil(CHUNK));
        self.places.clear();
        self.places.resize(chunks * bands, 0);
        let cell_of = &self.cell_of_source;
        let places = Disjoint::new(&mut self.places);
        for_each(chunks, |c| {
            // SAFETY: a chunk has counters of its own.
            let counts = unsafe { places.range(c * bands..(c + 1) * bands) };
            cell_of[chunk_of(c, n)].iter().for_each(|&cell| counts[(cell >> shift) as usize] += 1);
        });
        self.band_starts.clear();
        let mut next = 0;
        for band in 0..bands {
            self.band_starts.push(next);
            for c in 0..chunks {
                let place = &mut self.places[c * bands + band];
                (next, *place) = (next + *place, next);
            }
        }
        self.band_starts.push(next);
        let places = Disjoint::new(&mut self.places);
        let dealt = Disjoint::new(&mut self.dealt);
        for_each(chunks, |c| {
            // SAFETY: a chunk has places of its own.
            let places = unsafe { places.range(c * bands..(c + 1) * bands) };
            for i in chunk_of(c, n) {
                let cell = cell_of[i];
                let place = &mut places[(cell >> shift) as usize];
                // SAFETY: the scan gave this chunk as many places below n in this band as it has bodies there.
                unsafe { dealt.write(*place as usize, (body(i), cell)) };
                *place += 1;
            }
        });
    }

    /// Sorts the bodies of each band by cell.
    #[allow(unsafe_code, reason = "bands are disjoint ranges of bodies and of cells")]
    fn sort_bands(&mut self) {
        let (cells, dealt, band_starts) = (self.cells, &self.dealt, &self.band_starts);
        let starts = Disjoint::new(&mut self.starts);
        let centers = self.centers.each_mut().map(|column| Disjoint::new(column));
        let (radii, ids) = (Disjoint::new(&mut self.radii), Disjoint::new(&mut self.ids));
        let cell_of = Disjoint::new(&mut self.cell_of);
        for_each(cells.bands(), |band| {
            let first = band << cells.band_shift;
            let ranks = band_starts[band] as usize..band_starts[band + 1] as usize;
            // SAFETY: each band has cells and ranks of its own.
            let (starts, target) = unsafe {
                let target = Target {
                    centers: from_fn(|axis| centers[axis].range(ranks.clone())),
                    radii: radii.range(ranks.clone()),
                    ids: ids.range(ranks.clone()),
                    cell_of: cell_of.range(ranks.clone()),
                };
                (starts.range(first..cells.all.min((band + 1) << cells.band_shift)), target)
            };
            counting_sort(starts, first, target, dealt[ranks.clone()].iter().copied());
            starts.iter_mut().for_each(|start| *start += ranks.start as u32);
        });
    }

    /// Number of tasks of a search.
    pub(crate) fn tasks(&self) -> usize {
        self.len.div_ceil(TASK)
    }

    /// The ranks of a task.
    pub(crate) fn task(&self, task: usize) -> Range<usize> {
        task * TASK..self.len.min((task + 1) * TASK)
    }

    /// The centre and radius of the body at a rank.
    #[inline(always)]
    pub(crate) fn ball(&self, rank: usize) -> ([f32; D], f32) {
        (from_fn(|axis| self.centers[axis][rank]), self.radii[rank])
    }

    /// The body at a rank in all lanes.
    #[inline(always)]
    pub(crate) fn spread(&self, rank: usize) -> Spread<D> {
        Spread {
            center: from_fn(|axis| f32x4::splat(self.centers[axis][rank])),
            radius: f32x4::splat(self.radii[rank]),
            id: self.ids[rank],
        }
    }

    /// The ranks in a cell and the `more` after it: one run.
    #[inline(always)]
    fn run(&self, cell: usize, more: usize) -> Range<usize> {
        self.starts[cell] as usize..self.starts[cell + more + 1] as usize
    }

    /// The pairs of some ranks with each other and with later ones.
    pub(crate) fn join(&self, ranks: Range<usize>, hits: &mut Hits) {
        let first = hits.len();
        for rank in ranks {
            let (body, cell) = (self.spread(rank), self.cell_of[rank] as usize);
            let own = rank + 1..self.starts[cell + 2] as usize;
            self.test(&body, own, hits);
            self.test(&body, self.run(cell + self.strides(1) - 1, 2), hits);
            if D == 3 {
                let layer = cell + self.strides(2);
                for row in [layer - self.strides(1), layer, layer + self.strides(1)] {
                    self.test(&body, self.run(row - 1, 2), hits);
                }
            }
        }
        hits.order_from(first);
    }

    #[inline(always)]
    fn strides(&self, axis: usize) -> usize {
        self.cells.strides[axis]
    }

    /// Tests a body against a run of ranks. A run may be empty; four candidates are looked at in any case, since that
    /// costs less than to find out.
    #[inline(always)]
    fn test(&self, body: &Spread<D>, run: Range<usize>, hits: &mut Hits) {
        let mut at = run.start;
        let room = hits.room(run.len() + LANES);
        let mut kept = 0;
        loop {
            let mut distance2 = f32x4::ZERO;
            for axis in 0..D {
                let d = f32x4::new(*lanes(&self.centers[axis], at)) - body.center[axis];
                distance2 = if axis == 0 { d * d } else { distance2 + d * d };
            }
            let sum = f32x4::new(*lanes(&self.radii, at)) + body.radius;
            let left = run.end.saturating_sub(at).min(LANES);
            let hit = distance2.simd_le(sum * sum).to_bitmask() & ((1 << left) - 1);
            let ids = lanes(&self.ids, at);
            let out = &mut room[kept..kept + LANES];
            let mut next = 0;
            for (lane, &id) in ids.iter().enumerate() {
                out[next % LANES] = [body.id, id];
                next += (hit >> lane & 1) as usize;
            }
            kept += next;
            at += LANES;
            if at >= run.end {
                break;
            }
        }
        hits.keep(kept);
    }

    /// A larger body that is not in the grid against all that are.
    #[inline(always)]
    pub(crate) fn join_larger(&self, center: [f32; D], radius: f32, body: &Spread<D>, hits: &mut Hits) {
        let Some(ranges) = self.cells.within(center, radius) else { return };
        let layers = if D == 2 { 0..1 } else { ranges[D - 1].clone() };
        for layer in layers {
            for row in ranges[1].clone() {
                let row = self.cells.first + layer * self.cells.strides[D - 1] + row * self.strides(1);
                let run = self.starts[row + ranges[0].start] as usize..self.starts[row + ranges[0].end] as usize;
                if !run.is_empty() {
                    self.test(body, run, hits);
                }
            }
        }
    }
}

/// The values from `at` on.
#[inline(always)]
fn lanes<T>(values: &[T], at: usize) -> &[T; LANES] {
    values[at..at + LANES].first_chunk().expect("as many as there are lanes")
}

/// Where a counting sort puts bodies.
struct Target<'a, const D: usize> {
    centers: [&'a mut [f32]; D],
    radii: &'a mut [f32],
    ids: &'a mut [u32],
    cell_of: &'a mut [u32],
}

impl<'a, const D: usize> Target<'a, D> {
    fn new(
        centers: &'a mut [Vec<f32>; D],
        radii: &'a mut [f32],
        ids: &'a mut [u32],
        cell_of: &'a mut [u32],
        ranks: Range<usize>,
    ) -> Self {
        Self {
            centers: centers.each_mut().map(|column| &mut column[ranks.clone()]),
            radii: &mut radii[ranks.clone()],
            ids: &mut ids[ranks.clone()],
            cell_of: &mut cell_of[ranks],
        }
    }
}

/// Sorts bodies by cell, the first of which is `first`; `starts` becomes where each begins.
fn counting_sort<const D: usize>(
    starts: &mut [u32],
    first: usize,
    target: Target<'_, D>,
    bodies: impl DoubleEndedIterator<Item = (Body<D>, u32)> + Clone,
) {
    starts.fill(0);
    for (_, cell) in bodies.clone() {
        starts[cell as usize - first] += 1;
    }
    let mut end = 0;
    for start in starts.iter_mut() {
        end += *start;
        *start = end;
    }
    let Target { mut centers, radii, ids, cell_of } = target;
    for (body, cell) in bodies.rev() {
        let start = &mut starts[cell as usize - first];
        *start -= 1;
        let place = *start as usize;
        for (column, x) in centers.iter_mut().zip(body.center) {
            column[place] = x;
        }
        radii[place] = body.radius;
        ids[place] = body.id;
        cell_of[place] = cell;
    }
}

/// Runs tasks on the current pool, or in turn where it has but one thread.
pub(crate) fn for_each(tasks: usize, task: impl Fn(usize) + Sync + Send) {
    if rayon::current_num_threads() == 1 || tasks <= 1 {
        (0..tasks).for_each(task);
    } else {
        (0..tasks).into_par_iter().for_each(task);
    }
}

/// The grid as a rival.
#[derive(Debug, Default)]
pub(crate) struct UniformGrid<const D: usize> {
    grid: Grid<D>,
    gather: Gather,
}

impl<const D: usize> Rival<D> for UniformGrid<D> {
    fn name(&self) -> &'static str {
        "uniform grid by hand"
    }

    fn hopeless(&self, kind: Kind, n: usize) -> bool {
        // Cells as wide as giants: all but a double loop over the dust.
        kind == Kind::PowerLaw && n > if D == 2 { 1_000_000 } else { 200_000 }
    }

    fn find(&mut self, scene: &Scene<D>) -> &[[u32; 2]] {
        let n = scene.len();
        let grid = &mut self.grid;
        let columns = scene.centers.each_ref().map(|column| &column[..n]);
        let radii = &scene.radii[..n];
        let body = |id: usize| Body { center: columns.map(|column| column[id]), radius: radii[id], id: id as u32 };
        grid.build(&Extent::of(scene), n, body);
        self.gather.run(grid.tasks(), |task, hits| grid.join(grid.task(task), hits))
    }
}

//! Puts bodies into cells by counting sort, by way of bands of cells where they are many.

use core::array::from_fn;
use core::ops::Range;

use jostle_core::disjoint::Disjoint;

use super::cells::Cells;
use super::extent::Extent;
use super::{Body, CHUNK, Grid, LANES, for_each};

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

    /// Finds the cell of each body, in the order of the input.
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

    /// Deals bodies to bands of cells, so that the sort of each band stays in the cache.
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
}

fn chunk_of(chunk: usize, n: usize) -> Range<usize> {
    chunk * CHUNK..n.min((chunk + 1) * CHUNK)
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

/// Sorts bodies by cell. The first cell is `first`; `starts` receives where each cell begins.
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

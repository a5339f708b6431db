//! Neighbour lists by hand, as compressed sparse rows. Bodies lie in cells as in the grid of pairs. Cell after cell,
//! the row of each body is made from the three (nine) runs of cells around it, four candidates at a time and without a
//! branch on a hit. Then each row is copied behind the rows of lesser ids. Neighbours stay in the order of their cells,
//! which a caller may not mind.

use core::ops::Range;

use jostle_core::disjoint::Disjoint;
use jostle_testkit::Scene;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use wide::{f32x4, i32x4};

use super::join::Spread;
use super::{CHUNK, Extent, Grid, LANES, body_of, for_each, lanes};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Only neighbours with a greater id.
    pub(crate) half: bool,
    /// Squared distances along with the ids.
    pub(crate) distances: bool,
}

/// Neighbour lists, and all memory that filling them takes.
#[derive(Debug, Default)]
pub(crate) struct GridLists<const D: usize> {
    grid: Grid<D>,
    tasks: Vec<Rows>,
    /// The number of neighbours in each chunk of rows; then in all chunks before.
    sums: Vec<usize>,
    pub(crate) offsets: Vec<usize>,
    pub(crate) neighbors: Vec<u32>,
    pub(crate) distances2: Vec<f32>,
}

/// The rows of a task, by rank. Slots beyond `len` hold candidates that were written there and were no hits.
#[derive(Debug, Default)]
struct Rows {
    ids: Vec<u32>,
    distances2: Vec<f32>,
    len: usize,
}

impl Rows {
    fn make_room(&mut self, more: usize, distances: bool) {
        let wanted = self.len + more;
        if self.ids.len() < wanted {
            self.ids.resize(wanted.next_power_of_two(), 0);
        }
        if distances && self.distances2.len() < wanted {
            self.distances2.resize(wanted.next_power_of_two(), 0.0);
        }
    }
}

impl<const D: usize> GridLists<D> {
    /// Fills the lists of a scene.
    pub(crate) fn fill(&mut self, scene: &Scene<D>, wanted: Wanted) {
        self.grid.build(&Extent::of(scene), scene.len(), body_of(scene));
        match (wanted.half, wanted.distances) {
            (false, false) => self.fill_rows::<false, false>(),
            (false, true) => self.fill_rows::<false, true>(),
            (true, false) => self.fill_rows::<true, false>(),
            (true, true) => self.fill_rows::<true, true>(),
        }
        self.sum_up();
        self.deal(wanted.distances);
    }

    /// Fills the rows of all tasks. Writes to `offsets`, one behind the place of each row, how long the row is.
    #[allow(unsafe_code, reason = "each task writes the lengths of its own rows")]
    fn fill_rows<const HALF: bool, const DISTANCES: bool>(&mut self) {
        let (grid, tasks) = (&self.grid, self.grid.tasks());
        self.offsets.resize(grid.len + 1, 0);
        self.offsets[0] = 0;
        let lengths = Disjoint::new(&mut self.offsets[1..]);
        if self.tasks.len() < tasks {
            self.tasks.resize_with(tasks, Rows::default);
        }
        let fill = |(task, rows): (usize, &mut Rows)| {
            rows.len = 0;
            for rank in grid.task(task) {
                let before = rows.len;
                grid.add_row::<HALF, DISTANCES>(rank, rows);
                // SAFETY: each id has one rank, and each rank is in one task.
                unsafe { lengths.write(grid.ids[rank] as usize, rows.len - before) };
            }
        };
        if rayon::current_num_threads() == 1 {
            self.tasks[..tasks].iter_mut().enumerate().for_each(fill);
        } else {
            self.tasks[..tasks].par_iter_mut().with_max_len(1).enumerate().for_each(fill);
        }
    }

    /// Turns the lengths of rows into where rows end.
    #[allow(unsafe_code, reason = "each task sums up a chunk of its own")]
    fn sum_up(&mut self) {
        let n = self.grid.len;
        let chunks = n.div_ceil(CHUNK);
        let chunk = |chunk: usize| chunk * CHUNK..n.min((chunk + 1) * CHUNK);
        self.sums.clear();
        self.sums.resize(chunks, 0);
        let (ends, sums) = (Disjoint::new(&mut self.offsets[1..]), Disjoint::new(&mut self.sums));
        for_each(chunks, |c| {
            // SAFETY: chunks are disjoint.
            let ends = unsafe { ends.range(chunk(c)) };
            let mut sum = 0;
            for end in ends {
                sum += *end;
                *end = sum;
            }
            // SAFETY: each chunk has a number of its own.
            unsafe { sums.write(c, sum) };
        });
        let mut all = 0;
        self.sums.iter_mut().for_each(|sum| all += core::mem::replace(sum, all));
        let sums = &self.sums;
        for_each(chunks, |c| {
            // SAFETY: chunks are disjoint.
            unsafe { ends.range(chunk(c)) }.iter_mut().for_each(|end| *end += sums[c]);
        });
    }

    /// Copies each row to its place.
    #[allow(unsafe_code, reason = "rows are disjoint")]
    fn deal(&mut self, distances: bool) {
        let (grid, tasks, offsets) = (&self.grid, &self.tasks, &self.offsets);
        let all = offsets[grid.len];
        self.neighbors.resize(all, 0);
        self.distances2.resize(if distances { all } else { 0 }, 0.0);
        let (neighbors, distances2) = (Disjoint::new(&mut self.neighbors), Disjoint::new(&mut self.distances2));
        for_each(grid.tasks(), |task| {
            let (rows, mut from) = (&tasks[task], 0);
            for rank in grid.task(task) {
                let id = grid.ids[rank] as usize;
                let row = offsets[id]..offsets[id + 1];
                let to = from + row.len();
                // SAFETY: the rows of different ids are disjoint, and each id has one rank.
                unsafe { neighbors.range(row.clone()) }.copy_from_slice(&rows.ids[from..to]);
                if distances {
                    // SAFETY: as above.
                    unsafe { distances2.range(row) }.copy_from_slice(&rows.distances2[from..to]);
                }
                from = to;
            }
        });
    }
}

impl<const D: usize> Grid<D> {
    /// Appends the neighbours of the body at a rank.
    #[inline(always)]
    fn add_row<const HALF: bool, const DISTANCES: bool>(&self, rank: usize, rows: &mut Rows) {
        let (body, cell) = (self.spread(rank), self.cell_of[rank] as usize);
        let layers = if D == 2 { 0 } else { 1 };
        let mut layer = cell - layers * self.strides(D - 1);
        for _ in 0..=2 * layers {
            for row in [layer - self.strides(1), layer, layer + self.strides(1)] {
                self.add_run::<HALF, DISTANCES>(&body, self.run(row - 1, 2), rows);
            }
            layer += self.strides(D - 1);
        }
    }

    /// Appends the bodies of a run of ranks that touch a body.
    #[inline(always)]
    fn add_run<const HALF: bool, const DISTANCES: bool>(&self, body: &Spread<D>, run: Range<usize>, rows: &mut Rows) {
        rows.make_room(run.len() + LANES, DISTANCES);
        let own = i32x4::splat(body.id as i32);
        let mut at = run.start;
        while at < run.end {
            let mut distance2 = f32x4::ZERO;
            for axis in 0..D {
                let d = f32x4::new(*lanes(&self.centers[axis], at)) - body.center[axis];
                distance2 = if axis == 0 { d * d } else { distance2 + d * d };
            }
            let sum = f32x4::new(*lanes(&self.radii, at)) + body.radius;
            let ids = lanes(&self.ids, at);
            let signed = i32x4::new(ids.map(|id| id as i32));
            let wanted = if HALF { signed.simd_gt(own) } else { !signed.simd_eq(own) };
            let hit = distance2.simd_le(sum * sum).to_bitmask() & wanted.to_bitmask();
            let hit = hit & ((1 << (run.end - at).min(LANES)) - 1);
            let out = &mut rows.ids[rows.len..rows.len + LANES];
            let mut next = 0;
            for (lane, &id) in ids.iter().enumerate() {
                out[next % LANES] = id;
                next += (hit >> lane & 1) as usize;
            }
            if DISTANCES {
                let out = &mut rows.distances2[rows.len..rows.len + LANES];
                let mut next = 0;
                for (lane, &value) in distance2.to_array().iter().enumerate() {
                    out[next % LANES] = value;
                    next += (hit >> lane & 1) as usize;
                }
            }
            rows.len += next;
            at += LANES;
        }
    }
}

//! The uniform grid that a good engineer writes by hand: cells as wide as the largest diameter, bodies in the order of
//! their cells by counting sort, structure of arrays, each pair looked at from one side only, candidates tested four at
//! a time, hits written without branching on them, and all memory kept.

mod cells;
mod extent;
mod fill;
mod join;
pub(crate) mod lists;

use jostle_testkit::{Kind, Scene};
use rayon::iter::{IntoParallelIterator, ParallelIterator};

use self::cells::Cells;
pub(crate) use self::extent::Extent;
use super::Rival;
use super::hits::Gather;

/// Candidates that are tested at a time. Most runs are not longer than this, so that processors foresee their ends.
const LANES: usize = 4;

/// Bodies that one task looks at where it does little with each.
const CHUNK: usize = 1 << 15;

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

/// Bodies in the order of their cells.
#[derive(Debug)]
pub(crate) struct Grid<const D: usize> {
    cells: Cells<D>,
    len: usize,
    /// First rank of each cell, then the number of bodies.
    starts: Vec<u32>,
    /// By rank, with some padding.
    centers: [Vec<f32>; D],
    radii: Vec<f32>,
    ids: Vec<u32>,
    cell_of: Vec<u32>,
    /// Bodies dealt to bands, with their cells.
    dealt: Vec<(Body<D>, u32)>,
    /// The cell of each body, in the order of the input.
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

/// Returns the `LANES` values from `at` on.
#[inline(always)]
fn lanes<T>(values: &[T], at: usize) -> &[T; LANES] {
    values[at..at + LANES].first_chunk().expect("as many as there are lanes")
}

/// Returns a function that gives the body of an id.
fn body_of<const D: usize>(scene: &Scene<D>) -> impl Fn(usize) -> Body<D> + Sync {
    let n = scene.len();
    let (columns, radii) = (scene.centers.each_ref().map(|column| &column[..n]), &scene.radii[..n]);
    move |id: usize| Body { center: columns.map(|column| column[id]), radius: radii[id], id: id as u32 }
}

/// Runs tasks on the current pool, or one after the other if the pool has one thread.
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
        // Cells are as wide as the giants: almost a double loop over the small bodies.
        kind == Kind::PowerLaw && n > if D == 2 { 1_000_000 } else { 200_000 }
    }

    fn find(&mut self, scene: &Scene<D>) -> &[[u32; 2]] {
        let grid = &mut self.grid;
        grid.build(&Extent::of(scene), scene.len(), body_of(scene));
        self.gather.run(grid.tasks(), |task, hits| grid.join(grid.task(task), hits))
    }
}

//! A grid of records for each octave of size. The finest cells are so wide that there is about one a body, so that
//! every level is an array. Across levels, the larger body visits the cells that it covers on every finer level.

use jostle_testkit::Scene;

use super::super::Rival;
use super::super::grid::{Body, Extent};
use super::super::hits::Gather;
use super::cells::{Cells, LEAST};
use super::{RecordGrid, records};

/// Bodies that one task tests against a finer level.
const LARGER: usize = 256;

#[derive(Debug)]
struct Level<const D: usize> {
    bodies: Vec<Body<D>>,
    grid: RecordGrid<D>,
}

/// The hierarchy as a rival. Its users keep records, so the records are made before the clock starts.
#[derive(Debug, Default)]
pub(crate) struct RecordLevels<const D: usize> {
    records: Vec<Body<D>>,
    levels: Vec<Level<D>>,
    gather: Gather,
}

impl<const D: usize> RecordLevels<D> {
    fn build(&mut self, scene: &Scene<D>) {
        let (extent, n) = (Extent::of(scene), scene.len().max(1));
        let mut finest = f64::from(2.0 * scene.radii.iter().copied().fold(f32::INFINITY, f32::min));
        let width = |axis: usize| (f64::from(extent.hi[axis]) - f64::from(extent.lo[axis])).max(0.0);
        let volume = (0..D).map(width).product::<f64>();
        finest = finest.max((volume / n as f64).powf(1.0 / D as f64)).max(LEAST);
        // Flat worlds have no volume, and still few cells.
        finest = (0..D).map(|axis| width(axis) / n as f64).fold(finest, f64::max);
        let octave = |radius: f32| (f64::from(2.0 * radius) / finest).log2().ceil().max(0.0) as usize;
        let count = if scene.is_empty() { 0 } else { octave(extent.radius) + 1 };
        self.levels.truncate(count);
        self.levels.resize_with(count, || Level { bodies: Vec::new(), grid: RecordGrid::default() });
        self.levels.iter_mut().for_each(|level| level.bodies.clear());
        // Most bodies are on the finest level. Only the rest are worth a logarithm.
        let half = (0.5 * finest) as f32;
        for body in &self.records {
            let level = if body.radius < half { 0 } else { octave(body.radius) };
            self.levels[level].bodies.push(*body);
        }
        let mut side = finest;
        for level in &mut self.levels {
            // At least three rows and layers stand around a line of cells, so that every level is an array.
            level.grid.build(&level.bodies, Cells::over(&extent, side, 9 * n));
            side *= 2.0;
        }
    }
}

impl<const D: usize> Rival<D> for RecordLevels<D> {
    fn name(&self) -> &'static str {
        "hierarchy of records by hand"
    }

    fn prepare(&mut self, scene: &Scene<D>) {
        records(scene, &mut self.records);
    }

    fn keeps_bodies(&self) -> bool {
        true
    }

    fn find(&mut self, scene: &Scene<D>) -> &[[u32; 2]] {
        self.build(scene);
        let levels = &self.levels;
        let own = (0..levels.len()).flat_map(|at| (0..levels[at].grid.tasks()).map(move |task| (at, at, task)));
        let across = (0..levels.len()).flat_map(|fine| {
            (fine + 1..levels.len()).flat_map(move |large| {
                (0..levels[large].bodies.len().div_ceil(LARGER)).map(move |task| (fine, large, task))
            })
        });
        let tasks: Vec<_> = own.chain(across.filter(|&(fine, ..)| !levels[fine].bodies.is_empty())).collect();
        self.gather.run(tasks.len(), |task, hits| {
            let (fine, large, task) = tasks[task];
            let (grid, bodies) = (&levels[fine].grid, &levels[large].bodies);
            if fine == large {
                return grid.join(grid.task(task), hits);
            }
            let some = task * LARGER..((task + 1) * LARGER).min(bodies.len());
            bodies[some].iter().for_each(|body| grid.join_larger(body, hits));
        })
    }
}

//! zelll: cell lists over a hash map, cells as wide as the largest diameter.

use jostle_testkit::{Kind, Scene};
use rayon::iter::ParallelIterator;
use zelll::{CellGrid, ParticleLike};

use crate::rivals::hits::Hits;
use crate::rivals::{Rival, center, touches};

/// A body as the library keeps it.
#[derive(Debug, Clone, Copy)]
struct Particle<const D: usize> {
    center: [f32; D],
    radius: f32,
    id: u32,
}

impl<const D: usize> Default for Particle<D> {
    fn default() -> Self {
        Self { center: [0.0; D], radius: 0.0, id: 0 }
    }
}

impl<const D: usize> ParticleLike<[f32; D]> for Particle<D> {
    #[inline]
    fn coords(&self) -> [f32; D] {
        self.center
    }
}

/// Cells are wider than the largest diameter by this factor, for what rounding may take from the place of a cell.
const SLACK: f32 = 1.0 + 1.0 / 1024.0;

/// The cells are rebuilt in place for each search.
#[derive(Default)]
pub(crate) struct Zelll<const D: usize> {
    cells: CellGrid<Particle<D>, D, f32>,
    hits: Hits,
}

impl<const D: usize> Rival<D> for Zelll<D> {
    fn name(&self) -> &'static str {
        "zelll"
    }

    fn package(&self) -> &'static str {
        "zelll"
    }

    fn hopeless(&self, kind: Kind, n: usize) -> bool {
        kind == Kind::PowerLaw && n > 100_000
    }

    fn find(&mut self, scene: &Scene<D>) -> &[[u32; 2]] {
        let largest = scene.radii.iter().copied().fold(0.0, f32::max);
        let particles =
            (0..scene.len()).map(|id| Particle { center: center(scene, id), radius: scene.radii[id], id: id as u32 });
        self.cells.rebuild_mut(particles, Some((2.0 * largest * SLACK).max(f32::MIN_POSITIVE)));
        self.hits.clear();
        let overlap = |p: &Particle<D>, q: &Particle<D>| touches(p.center, p.radius, q.center, q.radius);
        if rayon::current_num_threads() == 1 {
            // `for_each` instead of a loop: nested iterators run much quicker when they drive the loop themselves.
            let hits = &mut self.hits;
            self.cells.particle_pairs().for_each(|(p, q)| {
                if overlap(p, q) {
                    hits.push(p.id, q.id);
                }
            });
        } else {
            let pairs = self.cells.par_particle_pairs().filter(|(p, q)| overlap(p, q));
            let found: Vec<(u32, u32)> = pairs.map(|(p, q)| (p.id, q.id)).collect();
            found.into_iter().for_each(|(a, b)| self.hits.push(a, b));
        }
        self.hits.pairs()
    }
}

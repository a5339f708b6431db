//! A hierarchy of hand-written grids. Bodies go to levels by powers of two of their radius, each level has a uniform
//! grid of its own, and each body is tested against its own level and all finer levels.

use jostle_core::disjoint::Disjoint;
use jostle_testkit::Scene;

use super::grid::{Body, Extent, Grid, for_each};
use super::hits::Gather;
use super::{Rival, center};

/// One level for each power of two of a radius, and one for all subnormal radii.
const LEVELS: usize = 256;

/// Bodies that one task deals out to levels.
const CHUNK: usize = 1 << 15;

/// Grids by size of body.
#[derive(Debug, Default)]
pub(crate) struct Levels<const D: usize> {
    /// Levels that hold bodies, the finest first. The grids after them are kept for their memory.
    grids: Vec<Grid<D>>,
    dealt: Vec<Body<D>>,
    places: Vec<u32>,
    gather: Gather,
}

impl<const D: usize> Rival<D> for Levels<D> {
    fn name(&self) -> &'static str {
        "grid hierarchy by hand"
    }

    fn find(&mut self, scene: &Scene<D>) -> &[[u32; 2]] {
        let levels = self.deal(scene);
        if self.grids.len() < levels.len() {
            self.grids.resize_with(levels.len(), Grid::default);
        }
        for (grid, level) in self.grids.iter_mut().zip(&levels) {
            let bodies = &self.dealt[level.clone()];
            grid.build(&Extent::of_bodies(bodies), bodies.len(), |i| bodies[i]);
        }
        let grids = &self.grids[..levels.len()];
        let tasks: Vec<_> = (0..grids.len()).flat_map(|l| (0..grids[l].tasks()).map(move |task| (l, task))).collect();
        self.gather.run(tasks.len(), |task, hits| {
            let (level, task) = tasks[task];
            let ranks = grids[level].task(task);
            grids[level].join(ranks.clone(), hits);
            let first = hits.len();
            for finer in &grids[..level] {
                for rank in ranks.clone() {
                    let (center, radius) = grids[level].ball(rank);
                    finer.join_larger(center, radius, &grids[level].spread(rank), hits);
                }
            }
            hits.order_from(first);
        })
    }
}

impl<const D: usize> Levels<D> {
    /// Deals bodies to levels, and returns the range of each level that is not empty, the finest first.
    #[allow(unsafe_code, reason = "counting sort by many tasks: each writes places of its own")]
    fn deal(&mut self, scene: &Scene<D>) -> Vec<core::ops::Range<usize>> {
        let n = scene.len();
        let level = |id: usize| (scene.radii[id].to_bits() >> 23) as usize % LEVELS;
        let chunk = |chunk: usize| chunk * CHUNK..n.min((chunk + 1) * CHUNK);
        let chunks = n.div_ceil(CHUNK);
        self.dealt.resize(n, Body::NONE);
        self.places.clear();
        self.places.resize(chunks * LEVELS, 0);
        let places = Disjoint::new(&mut self.places);
        for_each(chunks, |c| {
            // SAFETY: a chunk has counters of its own.
            let counts = unsafe { places.range(c * LEVELS..(c + 1) * LEVELS) };
            chunk(c).for_each(|id| counts[level(id)] += 1);
        });
        let (mut next, mut levels) = (0, Vec::new());
        for level in 0..LEVELS {
            let start = next;
            for c in 0..chunks {
                let place = &mut self.places[c * LEVELS + level];
                (next, *place) = (next + *place, next);
            }
            if next > start {
                levels.push(start as usize..next as usize);
            }
        }
        let places = Disjoint::new(&mut self.places);
        let dealt = Disjoint::new(&mut self.dealt);
        for_each(chunks, |c| {
            // SAFETY: a chunk has places of its own.
            let places = unsafe { places.range(c * LEVELS..(c + 1) * LEVELS) };
            for id in chunk(c) {
                let place = &mut places[level(id)];
                let body = Body { center: center(scene, id), radius: scene.radii[id], id: id as u32 };
                // SAFETY: the scan gave this chunk as many places below n in this level as it has bodies there.
                unsafe { dealt.write(*place as usize, body) };
                *place += 1;
            }
        });
        levels
    }
}

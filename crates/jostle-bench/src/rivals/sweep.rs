//! Sweep and prune by hand. Bodies are sorted by where they begin on one axis. Each body is tested against the bodies
//! that begin before it ends.

use jostle_testkit::{Kind, Scene};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};
use rayon::slice::ParallelSliceMut;

use super::hits::{Gather, Hits, ordered};
use super::outward::interval;
use super::{Rival, center, touches};

/// Bodies that one task sweeps from.
const TASK: usize = 2048;

/// Sweep and prune on the axis along which the bodies are spread most.
#[derive(Debug, Default)]
pub(crate) struct Sweep<const D: usize> {
    keys: Vec<u64>,
    bodies: Vec<Body<D>>,
    lows: Vec<f32>,
    gather: Gather,
}

#[derive(Debug, Clone, Copy)]
struct Body<const D: usize> {
    center: [f32; D],
    radius: f32,
    high: f32,
    id: u32,
}

impl<const D: usize> Rival<D> for Sweep<D> {
    fn name(&self) -> &'static str {
        "sweep and prune by hand"
    }

    fn hopeless(&self, _: Kind, n: usize) -> bool {
        // As many intervals meet on one axis as n to the power of 5/3 in space.
        D == 3 && n > 2_000_000
    }

    fn find(&mut self, scene: &Scene<D>) -> &[[u32; 2]] {
        let n = scene.len();
        let axis = widest(scene);
        self.keys.resize(n, 0);
        let key = |id: usize| {
            let low = interval(scene.centers[axis][id], scene.radii[id]).0;
            u64::from(ascending(low)) << 32 | id as u64
        };
        self.keys.par_iter_mut().enumerate().for_each(|(id, slot)| *slot = key(id));
        if rayon::current_num_threads() == 1 {
            self.keys.sort_unstable();
        } else {
            self.keys.par_sort_unstable();
        }
        self.gather_bodies(scene, axis);
        let (bodies, lows) = (&self.bodies, &self.lows);
        self.gather.run(n.div_ceil(TASK), |task, hits| {
            for i in task * TASK..n.min((task + 1) * TASK) {
                sweep(bodies, lows, i, hits);
            }
        })
    }
}

impl<const D: usize> Sweep<D> {
    /// Copies the bodies in the order of the keys.
    fn gather_bodies(&mut self, scene: &Scene<D>, axis: usize) {
        let none = Body { center: [0.0; D], radius: 0.0, high: 0.0, id: 0 };
        self.bodies.resize(scene.len(), none);
        self.lows.resize(scene.len(), 0.0);
        let slots = self.bodies.par_iter_mut().zip(self.lows.par_iter_mut());
        slots.zip(&self.keys).for_each(|((body, start), &key)| {
            let id = key as u32;
            let (center, radius) = (center(scene, id as usize), scene.radii[id as usize]);
            let (low, high) = interval(center[axis], radius);
            *body = Body { center, radius, high, id };
            *start = low;
        });
    }
}

/// Tests body `i` against the bodies that begin after it and before its end.
#[inline(always)]
fn sweep<const D: usize>(bodies: &[Body<D>], lows: &[f32], i: usize, hits: &mut Hits) {
    let p = bodies[i];
    let reach = lows[i + 1..].iter().take_while(|&&low| low <= p.high).count();
    let room = hits.room(reach);
    let mut kept = 0;
    for q in &bodies[i + 1..i + 1 + reach] {
        room[kept] = ordered(p.id, q.id);
        kept += usize::from(touches(p.center, p.radius, q.center, q.radius));
    }
    hits.keep(kept);
}

/// Maps floats to integers of the same order.
#[inline(always)]
fn ascending(x: f32) -> u32 {
    let bits = x.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

fn widest<const D: usize>(scene: &Scene<D>) -> usize {
    let spread = |axis: usize| {
        let values = scene.centers[axis].iter();
        let (low, high) = values.fold((f32::MAX, f32::MIN), |(low, high), &x| (low.min(x), high.max(x)));
        high - low
    };
    (0..D).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0)
}

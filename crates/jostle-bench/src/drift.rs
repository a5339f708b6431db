//! Bodies that drift: the frames of a simulation, each with its pairs.

use jostle_testkit::Scene;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The greatest part of its radius that a body moves in a frame. Rounding of coordinates may add to it.
pub(crate) const STEP: f64 = 0.01;

/// A frame and the pairs that are expected, ascending.
#[derive(Debug, Clone)]
pub(crate) struct Frame<const D: usize> {
    pub(crate) scene: Scene<D>,
    pub(crate) expected: Vec<[u32; 2]>,
}

/// Frames that are visited to and fro, so that each is the neighbour of the one before.
#[derive(Debug)]
pub(crate) struct Ring<const D: usize>(Vec<Frame<D>>);

impl<const D: usize> Ring<D> {
    /// Makes frames of a scene whose bodies drift, each in a direction of its own and by up to `step` of its radius a
    /// frame. Bodies keep their ids.
    pub(crate) fn coherent(
        scene: &Scene<D>,
        frames: usize,
        step: f64,
        seed: u64,
        expected: impl Fn(&Scene<D>) -> Vec<[u32; 2]>,
    ) -> Self {
        let velocities = velocities(scene, step, seed);
        let frame = |frame| {
            let scene = moved(scene, &velocities, |_| frame as f64);
            Frame { expected: expected(&scene), scene }
        };
        Self((0..frames).map(frame).collect())
    }

    /// Returns the same frames with the ids of each permuted anew. Only what a frame has in common with the last is
    /// lost.
    pub(crate) fn unrelated(&self, seed: u64) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        Self(self.0.iter().map(|frame| permuted(frame, &mut rng)).collect())
    }

    /// All frames, once each.
    pub(crate) fn frames(&self) -> &[Frame<D>] {
        &self.0
    }

    /// Returns the frame of a step. Steps go to the last frame and back again.
    pub(crate) fn at(&self, step: usize) -> &Frame<D> {
        let last = self.0.len() - 1;
        let place = if last == 0 { 0 } else { step % (2 * last) };
        &self.0[place.min(2 * last - place)]
    }
}

/// One body in `TURNS` turns around in each frame of [`turning`].
const TURNS: usize = 4096;

/// Returns endless frames of a scene. Bodies drift as in a [`Ring`], and a few turn around.
pub(crate) fn turning<const D: usize>(scene: &Scene<D>, step: f64, seed: u64) -> impl Iterator<Item = Scene<D>> + '_ {
    let velocities = velocities(scene, step, seed);
    (0..).map(move |frame: usize| {
        moved(scene, &velocities, |id| {
            let turned = id % TURNS;
            turned.min(frame) as f64 - frame.saturating_sub(turned) as f64
        })
    })
}

fn velocities<const D: usize>(scene: &Scene<D>, step: f64, seed: u64) -> Vec<[f64; D]> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    scene.radii.iter().map(|&radius| velocity(&mut rng, step * f64::from(radius))).collect()
}

/// Returns a random point, evenly spread over the disc or ball of this radius.
fn velocity<const D: usize>(rng: &mut Pcg64Mcg, radius: f64) -> [f64; D] {
    loop {
        let point = [(); D].map(|()| 2.0 * rng.random::<f64>() - 1.0);
        if point.iter().map(|x| x * x).sum::<f64>() <= 1.0 {
            return point.map(|x| x * radius);
        }
    }
}

/// Moves each body by `times` of its id, in units of its way in one frame.
fn moved<const D: usize>(scene: &Scene<D>, velocities: &[[f64; D]], times: impl Fn(usize) -> f64) -> Scene<D> {
    let mut moved = scene.clone();
    for (axis, column) in moved.centers.iter_mut().enumerate() {
        for (id, (x, velocity)) in column.iter_mut().zip(velocities).enumerate() {
            *x = (f64::from(*x) + times(id) * velocity[axis]) as f32;
        }
    }
    moved
}

fn permuted<const D: usize>(frame: &Frame<D>, rng: &mut Pcg64Mcg) -> Frame<D> {
    let mut old_ids: Vec<u32> = (0..frame.scene.len() as u32).collect();
    old_ids.shuffle(rng);
    let body = |&id: &u32| (frame.scene.view().center(id as usize), frame.scene.radii[id as usize]);
    let scene = old_ids.iter().map(body).collect();
    let mut new_ids = vec![0; old_ids.len()];
    for (new, &old) in (0..).zip(&old_ids) {
        new_ids[old as usize] = new;
    }
    let renamed = |pair: &[u32; 2]| {
        let [a, b] = pair.map(|id| new_ids[id as usize]);
        [a.min(b), a.max(b)]
    };
    let mut expected: Vec<_> = frame.expected.iter().map(renamed).collect();
    expected.sort_unstable();
    Frame { scene, expected }
}

#[cfg(test)]
mod tests {
    use super::{Ring, STEP};
    use jostle_testkit::{Kind, Scene, oracle, scene};

    fn ring<const D: usize>(kind: Kind, n: usize) -> Ring<D> {
        Ring::coherent(&scene::scene(kind, n, 4), 8, STEP, 9, |scene: &Scene<D>| oracle::pairs(scene.view()))
    }

    fn bodies_move_little<const D: usize>(kind: Kind) {
        let ring = ring::<D>(kind, 500);
        let mut moved = 0;
        for step in 0..20 {
            let (from, to) = (&ring.at(step).scene, &ring.at(step + 1).scene);
            assert_eq!(from.radii, to.radii);
            for id in 0..from.len() {
                let (p, q) = (from.view().center(id), to.view().center(id));
                let distance2: f64 = p.iter().zip(q).map(|(p, q)| f64::from(q - p).powi(2)).sum();
                let rounding =
                    p.iter().zip(q).map(|(p, q)| f64::from(p.abs().max(q.abs()) * f32::EPSILON)).sum::<f64>();
                assert!(distance2.sqrt() <= STEP * f64::from(from.radii[id]) + rounding, "{kind}, body {id}");
                moved += usize::from(p != q);
            }
        }
        assert!(moved > 20 * 500 / 2, "{kind}: bodies moved {moved} times");
    }

    #[test]
    fn bodies_move_by_a_hundredth_of_their_radius() {
        for kind in Kind::ALL {
            bodies_move_little::<2>(kind);
            bodies_move_little::<3>(kind);
        }
    }

    #[test]
    fn neighbours_follow_each_other() {
        let ring = ring::<2>(Kind::Uniform, 30);
        let place = |step| ring.frames().iter().position(|frame| frame.scene == ring.at(step).scene);
        let places: Vec<_> = (0..16).filter_map(place).collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7, 6, 5, 4, 3, 2, 1, 0, 1]);
    }

    #[test]
    fn permuted_frames_have_the_pairs_of_their_bodies() {
        let coherent = ring::<2>(Kind::Dense, 300);
        let unrelated = coherent.unrelated(5);
        for (frame, old) in unrelated.frames().iter().zip(coherent.frames()) {
            assert_eq!(frame.expected, oracle::pairs(frame.scene.view()));
            assert_eq!(frame.expected.len(), old.expected.len());
            assert_ne!(frame.scene, old.scene);
        }
        assert_ne!(unrelated.frames()[0].scene.radii, unrelated.frames()[1].scene.radii);
    }
}

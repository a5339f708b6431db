//! Bodies with springs between them.

use jostle::{Bodies, PairFinder};
use jostle_testkit::Scene;

use crate::ROW;

/// With `springs`, bodies that overlap push each other away by so much of how far they do, in each frame: two bodies
/// alone would swing once in 150 frames. Walls push them back likewise.
const STIFFNESS: f64 = 0.03 * 0.03;

/// With `springs`, bodies come to rest with each other for so many frames before the first that counts.
const BEFORE: usize = 100;

/// Bodies with springs between them.
pub(crate) struct Springs<const D: usize> {
    finder: PairFinder<D>,
    speed: f64,
    borders: [[f64; 2]; D],
    centers: [Vec<f64>; D],
    steps: [Vec<f64>; D],
    /// The last frames, each at its number modulo `ROW`, and how many there have been.
    pub(crate) frames: [[Vec<f32>; D]; ROW],
    pub(crate) done: usize,
}

impl<const D: usize> Springs<D> {
    pub(crate) fn new(scene: &Scene<D>, steps: [Vec<f64>; D], borders: [[f64; 2]; D], speed: f64) -> Self {
        let centers = scene.centers.each_ref().map(|column| column.iter().map(|&x| x.into()).collect());
        let frames = std::array::from_fn(|_| scene.centers.clone());
        let mut springs = Self { finder: PairFinder::new(), speed, borders, centers, steps, frames, done: 0 };
        (0..BEFORE).for_each(|_| springs.step(&scene.radii));
        springs.done = 0;
        springs
    }

    pub(crate) fn step(&mut self, radii: &[f32]) {
        let Self { finder, speed, borders, centers, steps, frames, done } = self;
        let now = &mut frames[*done % ROW];
        for (now, centers) in now.iter_mut().zip(&*centers) {
            now.iter_mut().zip(centers).for_each(|(slot, &x)| *slot = x as f32);
        }
        let bodies = Bodies::from_slices(now.each_ref().map(Vec::as_slice), radii);
        let found = finder.find(bodies).expect("a sound scene");
        for pair in found.pairs() {
            let [a, b] = pair.map(|id| id as usize);
            let apart: [f64; D] = std::array::from_fn(|axis| centers[axis][b] - centers[axis][a]);
            let distance = apart.iter().map(|x| x * x).sum::<f64>().sqrt();
            let push = STIFFNESS * (f64::from(radii[a]) + f64::from(radii[b]) - distance) / distance.max(1e-6) / 2.0;
            for (steps, x) in steps.iter_mut().zip(apart) {
                steps[a] -= push * x;
                steps[b] += push * x;
            }
        }
        let square = steps.iter().flatten().map(|step| step * step).sum::<f64>() / radii.len() as f64;
        let slower = 0.9 + 0.1 * *speed / square.sqrt();
        for ((steps, centers), [lo, hi]) in steps.iter_mut().zip(centers).zip(borders) {
            for (step, x) in steps.iter_mut().zip(centers) {
                *step = slower * *step + STIFFNESS * (x.clamp(*lo, *hi) - *x);
                *x += *step;
            }
        }
        *done += 1;
    }
}

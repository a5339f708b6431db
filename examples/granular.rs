//! Discs from gravel to boulders in a box that is periodic on both axes and slowly shrinks until the discs jam. Each
//! contact is a spring and a dashpot as long as it lasts; a tracker tells when contacts begin and end.
//!
//! `cargo run --release --example granular [discs] [frames]`

mod harness;

use std::error::Error;
use std::f32::consts::PI;

use harness::{Clock, Random, arguments};
use jostle::{Circles, Contact, ContactTracker, Input, InputError, PairFinder, contact};

/// Radii follow a power law from `SMALLEST` to `LARGEST`: each octave covers the same area.
const SMALLEST: f32 = 0.1;
const LARGEST: f32 = 3.0;

/// How long two discs touch when they bounce. This time sets the stiffness of the springs, whatever the masses.
const BOUNCE: f32 = 1.0;

/// Number of steps in a bounce.
const STEPS_A_BOUNCE: f32 = 20.0;
const STEP: f32 = BOUNCE / STEPS_A_BOUNCE;

/// Part of the critical damping: a bounce leaves exp(-pi * DAMPING) of the speed, or 73 in a hundred.
const DAMPING: f32 = 0.1;

/// Greatest speed at first, on each axis: in the time of a bounce, half of the smallest radius.
const SPEED: f32 = 0.05;

/// Part of its width that the box loses in a frame, until discs cover the part `JAMMED` of it.
const SHRINK: f32 = 1e-3;
const JAMMED: f32 = 0.8;

struct Discs {
    side: f32,
    x: Vec<f32>,
    y: Vec<f32>,
    radius: Vec<f32>,
    mass: Vec<f32>,
    velocity: Vec<[f32; 2]>,
    force: Vec<[f32; 2]>,
    /// A number that stays with a disc, whatever its place in these columns.
    key: Vec<u64>,
}

impl Discs {
    /// Throws `thrown` discs into the box, and keeps those that overlap no larger disc.
    fn new(thrown: usize, finder: &mut PairFinder<2>) -> Result<Self, InputError> {
        let (mut random, side) = (Random::new(1), (thrown as f32 * 0.3).sqrt().max(5.0 * LARGEST));
        let (x, y) = (random.column(thrown, 0.0, side), random.column(thrown, 0.0, side));
        let least = (SMALLEST / LARGEST).powi(2);
        let radius: Vec<f32> = random.column(thrown, least, 1.0).iter().map(|u| SMALLEST / u.sqrt()).collect();
        let mut stays = vec![true; thrown];
        let axes = [Some([0.0, side]); 2];
        for &[a, b] in finder.find(Input::within(Circles::new(&x, &y, &radius)).periodic(axes))?.pairs() {
            let lesser = if radius[a as usize] < radius[b as usize] { a } else { b };
            stays[lesser as usize] = false;
        }
        let keep = |column: &[f32]| (0..thrown).filter(|&i| stays[i]).map(|i| column[i]).collect::<Vec<_>>();
        let (x, y, radius) = (keep(&x), keep(&y), keep(&radius));
        Ok(Self {
            side,
            mass: radius.iter().map(|r| PI * r * r).collect(),
            velocity: radius.iter().map(|_| [(); 2].map(|()| random.between(-SPEED, SPEED))).collect(),
            force: vec![[0.0; 2]; radius.len()],
            key: (0..radius.len() as u64).collect(),
            x,
            y,
            radius,
        })
    }

    /// Returns the discs in their periodic box. Discs may leave it: jostle sees them at the image inside.
    fn in_box(&self) -> Input<'_, 2> {
        Input::within(Circles::new(&self.x, &self.y, &self.radius)).periodic([Some([0.0, self.side]); 2])
    }

    /// Applies the spring and the dashpot between two discs, the second moved by `[shift_x, shift_y]` periods.
    fn press(&mut self, a: usize, b: usize, [shift_x, shift_y]: [i32; 2]) {
        let of_b = [self.x[b] + shift_x as f32 * self.side, self.y[b] + shift_y as f32 * self.side];
        let Contact { depth, normal, .. } = contact([self.x[a], self.y[a]], self.radius[a], of_b, self.radius[b]);
        let parting: f32 = (0..2).map(|axis| (self.velocity[b][axis] - self.velocity[a][axis]) * normal[axis]).sum();
        let mass = self.mass[a] * self.mass[b] / (self.mass[a] + self.mass[b]);
        let frequency = PI / BOUNCE;
        let force = mass * frequency * (frequency * depth - 2.0 * DAMPING * parting);
        for axis in 0..2 {
            self.force[a][axis] -= force * normal[axis];
            self.force[b][axis] += force * normal[axis];
        }
    }

    /// Moves all discs by the forces on them, and shrinks the box with all discs in it.
    fn step(&mut self) {
        let scale = if self.covered() < JAMMED { 1.0 - SHRINK } else { 1.0 };
        self.side *= scale;
        for i in 0..self.x.len() {
            let ([vx, vy], [fx, fy]) = (&mut self.velocity[i], self.force[i]);
            *vx += STEP * fx / self.mass[i];
            *vy += STEP * fy / self.mass[i];
            self.x[i] = scale * (self.x[i] + STEP * *vx);
            self.y[i] = scale * (self.y[i] + STEP * *vy);
            self.force[i] = [0.0; 2];
        }
    }

    /// Returns the part of the box that discs cover, with overlaps counted twice.
    fn covered(&self) -> f32 {
        self.mass.iter().sum::<f32>() / (self.side * self.side)
    }

    /// Returns the total momentum of the discs, and the sum of the lengths of their momenta. Springs change the total
    /// by no more than rounding.
    fn momentum(&self) -> ([f64; 2], f64) {
        let each = || self.velocity.iter().zip(&self.mass).map(|(v, &m)| v.map(|v| f64::from(v) * f64::from(m)));
        let all = each().fold([0.0; 2], |[px, py], [x, y]| [px + x, py + y]);
        (all, each().map(|[x, y]| x.hypot(y)).sum())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let [thrown, frames] = arguments([120_000, 600])?;
    let (mut finder, mut tracker) = (PairFinder::new(), ContactTracker::new());
    let mut discs = Discs::new(thrown, &mut finder)?;
    let (covered, ([px, py], _)) = (discs.covered(), discs.momentum());
    let (mut begun, mut ended, mut now) = (0, 0, 0);

    let mut clock = Clock::start();
    for _ in 0..frames {
        let found = finder.find(discs.in_box())?;
        let changes = tracker.update(found.pairs(), &discs.key)?;
        clock.jostle();
        begun += changes.begin().len();
        ended += changes.end().len();
        now = changes.begin().len() + changes.persist().len();
        for (&[a, b], shift) in found.pairs().iter().zip(found.image_shifts()) {
            discs.press(a as usize, b as usize, shift);
        }
        discs.step();
        clock.own();
    }

    println!("{} discs, {frames} frames, {clock}", discs.x.len());
    println!("{begun} contacts began, {ended} ended, {now} are there at last");
    let ([qx, qy], sum) = discs.momentum();
    println!("discs cover {:.1} % of the box at first, {:.1} % at last", 100.0 * covered, 100.0 * discs.covered());
    println!("momentum has changed by {:.1e} of all there is", (qx - px).hypot(qy - py) / sum.max(f64::MIN_POSITIVE));
    Ok(())
}

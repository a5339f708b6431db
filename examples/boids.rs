//! A flock of boids that steer by every boid they see, in a world without borders. Full neighbour lists of a fixed
//! radius, periodic on both axes, are searched anew each frame.
//!
//! `cargo run --release --example boids [boids] [frames]`

mod harness;

use std::error::Error;

use harness::{Clock, Random, arguments};
use jostle::{Circles, Input, NeighborLists, PairFinder, Rows};
use rayon::prelude::*;

/// How far a boid sees.
const SIGHT: f32 = 1.0;

/// Number of other boids that a boid sees on average while the flock is spread evenly.
const SEEN: f32 = 12.0;

/// Boids closer than this keep away from each other.
const ELBOW_ROOM: f32 = 0.5;

/// How far a boid flies in a frame.
const STEP: f32 = 0.05;

/// How much each of Reynolds's three rules turns a boid in a frame.
const SEPARATION: f32 = 0.3;
const ALIGNMENT: f32 = 0.2;
const COHESION: f32 = 0.05;

struct Flock {
    side: f32,
    x: Vec<f32>,
    y: Vec<f32>,
    /// The direction in which each boid flies, of length 1.
    heading: Vec<[f32; 2]>,
}

impl Flock {
    fn new(boids: usize) -> Self {
        let side = SIGHT * (boids as f32 * std::f32::consts::PI / SEEN).sqrt().max(3.0);
        let mut random = Random::new(1);
        let (x, y) = (random.column(boids, 0.0, side), random.column(boids, 0.0, side));
        let heading = (0..boids).map(|_| unit([random.between(-1.0, 1.0), random.between(-1.0, 1.0)])).collect();
        Self { side, x, y, heading }
    }

    /// Returns the world as boids see it.
    fn sight(&self) -> Input<'_, 2> {
        Input::within(Circles::new(&self.x, &self.y, 0.0).within(SIGHT)).periodic([Some([0.0, self.side]); 2])
    }

    /// Turns every boid by what it sees, all at once, and moves it on. A boid that leaves on one side enters on the
    /// other.
    fn fly(&mut self, lists: &NeighborLists) {
        self.heading = (0..lists.len()).into_par_iter().map(|i| self.turn(i, lists.of(i))).collect();
        for (i, [dx, dy]) in self.heading.iter().enumerate() {
            self.x[i] = (self.x[i] + STEP * dx).rem_euclid(self.side);
            self.y[i] = (self.y[i] + STEP * dy).rem_euclid(self.side);
        }
    }

    /// Returns the new heading of boid `i`, which sees the boids `seen`.
    fn turn(&self, i: usize, seen: &[u32]) -> [f32; 2] {
        let (mut apart, mut along, mut middle) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        for j in seen.iter().map(|&j| j as usize) {
            let away = [self.x[i] - self.x[j], self.y[i] - self.y[j]].map(|d| self.nearest_image(d));
            let too_close = (ELBOW_ROOM - length(away)).max(0.0);
            for axis in 0..2 {
                apart[axis] += away[axis] * too_close;
                along[axis] += self.heading[j][axis];
                middle[axis] -= away[axis];
            }
        }
        let few = 1.0 / seen.len().max(1) as f32;
        unit([0, 1].map(|axis| {
            self.heading[i][axis] + SEPARATION * apart[axis] + few * (ALIGNMENT * along[axis] + COHESION * middle[axis])
        }))
    }

    /// Returns the difference of two coordinates, with one of them moved to its image nearest the other.
    fn nearest_image(&self, difference: f32) -> f32 {
        let ahead = f32::from(difference > self.side / 2.0) - f32::from(difference < -self.side / 2.0);
        difference - ahead * self.side
    }

    /// Returns how far boids fly in the direction of the boids they see: 0 when each goes its own way, 1 when all
    /// agree.
    fn order(&self, lists: &NeighborLists) -> f64 {
        let agreement = |(i, &j): (usize, &u32)| {
            let (a, b) = (self.heading[i], self.heading[j as usize]);
            f64::from(a[0] * b[0] + a[1] * b[1])
        };
        let sights = (0..lists.len()).flat_map(|i| lists.of(i).iter().map(move |j| (i, j)));
        sights.map(agreement).sum::<f64>() / lists.neighbors().len().max(1) as f64
    }
}

fn length([x, y]: [f32; 2]) -> f32 {
    (x * x + y * y).sqrt()
}

fn unit(v: [f32; 2]) -> [f32; 2] {
    let length = length(v);
    if length > 0.0 { v.map(|x| x / length) } else { [1.0, 0.0] }
}

fn main() -> Result<(), Box<dyn Error>> {
    let [boids, frames] = arguments([50_000, 100])?;
    let mut flock = Flock::new(boids);
    let (mut finder, mut lists) = (PairFinder::new(), NeighborLists::new());
    finder.neighbors(flock.sight(), Rows::Full, &mut lists)?;
    let order_at_first = flock.order(&lists);

    let mut clock = Clock::start();
    for _ in 0..frames {
        finder.neighbors(flock.sight(), Rows::Full, &mut lists)?;
        clock.jostle();
        flock.fly(&lists);
        clock.own();
    }

    println!("{boids} boids, {frames} frames, {clock}");
    println!("each sees {:.1} others at last", lists.neighbors().len() as f64 / boids.max(1) as f64);
    println!("order of the flock: {order_at_first:.3} at first, {:.3} at last", flock.order(&lists));
    Ok(())
}

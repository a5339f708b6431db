//! A fluid pushed through a channel between two walls, periodic along the flow: Poiseuille flow by smoothed particle
//! hydrodynamics, in f64. The walls are a boundary set of particles that stand still.
//!
//! Checked against a known solution: the velocity across the channel, from rest on, is that of Morris, Fox and Zhu
//! (Journal of Computational Physics 136, 1997) within one part in a hundred of the greatest velocity.
//!
//! `cargo run --release --example channel [particles] [steps]`

mod harness;

use std::error::Error;
use std::f64::consts::PI;

use harness::{Clock, Random, arguments};
use jostle::{Circles64, Input, InputError, NeighborLists, PairFinder, RadiusField, Rows, Space};
use rayon::prelude::*;

// The channel is 1 wide and 1 long. The density at rest is 1, and so is the greatest velocity of the steady flow.

/// Kinematic viscosity; the Reynolds number is its inverse.
const VISCOSITY: f64 = 1.0;

/// Acceleration along the channel that makes the greatest velocity of the steady flow 1.
const PUSH: f64 = 8.0 * VISCOSITY;

/// Speed of sound: at ten times the greatest velocity, density varies by one part in a hundred.
const SOUND: f64 = 10.0;

/// Smoothing length, in distances between particles; kernels reach twice as far.
const SMOOTHING: f64 = 1.5;

/// Rows of particles in a wall: enough to fill the reach of a kernel.
const WALL_ROWS: usize = 3;

/// How far particles start off the lattice on each axis, at most, in distances between particles.
const DISORDER: f64 = 0.1;

/// How far the velocity may be from the known solution.
const ERROR: f64 = 0.01;

struct Channel {
    /// Distance between particles at the start.
    distance: f64,
    fluid: Vec<[f64; 2]>,
    velocity: Vec<[f64; 2]>,
    density: Vec<f64>,
    walls: Vec<[f64; 2]>,
    step: f64,
}

/// A neighbour as a particle feels it.
struct Other {
    apart: [f64; 2],
    velocity: [f64; 2],
    /// The velocity by which the neighbour drags.
    drag_velocity: [f64; 2],
    density: f64,
    pressure: f64,
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

impl Channel {
    /// Makes about `particles` particles of a fluid at rest.
    fn new(particles: usize) -> Self {
        let edge = (particles as f64).sqrt().round().max(16.0) as usize;
        let distance = 1.0 / edge as f64;
        let smoothing = SMOOTHING * distance;
        let mut random = Random::new(1);
        let mut off = || DISORDER * f64::from(random.between(-1.0, 1.0));
        let at = |i: usize, row: f64| [((i % edge) as f64 + 0.5) * distance, (row + 0.5) * distance];
        let fluid = (0..edge * edge).map(|i| at(i, (i / edge) as f64).map(|x| x + off() * distance)).collect();
        let rows = (1..=WALL_ROWS).flat_map(|row| [-(row as f64), (edge + row - 1) as f64]);
        Self {
            distance,
            fluid,
            velocity: vec![[0.0; 2]; edge * edge],
            density: vec![1.0; edge * edge],
            walls: rows.flat_map(|row| (0..edge).map(move |i| at(i, row))).collect(),
            step: (smoothing * smoothing / (8.0 * VISCOSITY)).min(smoothing / (4.0 * SOUND)),
        }
    }

    /// Returns fluid and walls, in reach of each other as kernels are, and their space.
    fn sets(&self) -> Result<([Circles64<'_>; 2], Space<2>), InputError> {
        let reach = 2.0 * SMOOTHING * self.distance;
        let all = RadiusField::All(0.0);
        let set = |particles| Circles64::from_structs(particles, [0, 8], all).map(|set| set.within(reach));
        Ok(([set(&self.fluid)?, set(&self.walls)?], Space::periodic([Some([0.0, 1.0]), None])))
    }

    fn pressure(&self, i: usize) -> f64 {
        SOUND * SOUND * (self.density[i] - 1.0)
    }

    /// Moves the fluid on by a step.
    fn flow(&mut self, fluid: &NeighborLists, walls: &NeighborLists) {
        let changes: Vec<_> = (0..self.fluid.len()).into_par_iter().map(|i| self.change(i, fluid, walls)).collect();
        for (i, (push, density)) in changes.into_iter().enumerate() {
            for axis in 0..2 {
                self.velocity[i][axis] += self.step * push[axis];
                self.fluid[i][axis] += self.step * self.velocity[i][axis];
            }
            self.density[i] += self.step * density;
        }
    }

    /// Returns the acceleration of particle `i`, and how fast its density grows.
    fn change(&self, i: usize, fluid: &NeighborLists, walls: &NeighborLists) -> ([f64; 2], f64) {
        let (at, mut push, mut density) = (self.fluid[i], [PUSH, 0.0], 0.0);
        let mut feel = |other: &Other| {
            let slope = self.slope(other.apart);
            let pressure = self.pressure(i) / self.density[i].powi(2) + other.pressure / other.density.powi(2);
            let parting = minus(other.velocity, self.velocity[i]);
            let drag = minus(other.drag_velocity, self.velocity[i]);
            for axis in 0..2 {
                push[axis] -= slope * (pressure * other.apart[axis] - 2.0 * VISCOSITY / other.density * drag[axis]);
            }
            density -= slope * dot(other.apart, parting);
        };
        for (&j, &apart) in fluid.of(i).iter().zip(fluid.vectors_of(i)) {
            let j = j as usize;
            let velocity = self.velocity[j];
            let [density, pressure] = [self.density[j], self.pressure(j)];
            feel(&Other { apart, velocity, drag_velocity: velocity, density, pressure });
        }
        // A wall drags as if the velocity, zero at its surface, went on beyond it. A wall presses back as it is
        // pressed.
        let depth = at[1].min(1.0 - at[1]).max(self.distance / 4.0);
        for (&j, &apart) in walls.of(i).iter().zip(walls.vectors_of(i)) {
            let wall = self.walls[j as usize];
            let beyond = (-wall[1]).max(wall[1] - 1.0) / depth;
            feel(&Other {
                apart,
                velocity: [0.0; 2],
                drag_velocity: self.velocity[i].map(|v| -beyond * v),
                density: 1.0,
                pressure: self.pressure(i).max(0.0),
            });
        }
        (push, density)
    }

    /// Returns -W'(r) / r of Wendland's kernel (C2, in the plane), times the mass of a particle.
    fn slope(&self, apart: [f64; 2]) -> f64 {
        let smoothing = SMOOTHING * self.distance;
        let near = (1.0 - dot(apart, apart).sqrt() / (2.0 * smoothing)).max(0.0);
        35.0 / (4.0 * PI) * near.powi(3) * (self.distance / (smoothing * smoothing)).powi(2)
    }

    /// Returns three means for each row of the fluid: the place across the channel, the velocity along it, and the
    /// known velocity at this time.
    fn profile(&self, time: f64) -> Vec<[f64; 3]> {
        let rows = (1.0 / self.distance).round() as usize;
        let mut sums = vec![([0.0; 3], 0.0); rows];
        for (&[_, y], [along, _]) in self.fluid.iter().zip(&self.velocity) {
            let (sum, count) = &mut sums[((y / self.distance) as usize).min(rows - 1)];
            *sum = [sum[0] + y, sum[1] + along, sum[2] + known(y, time)];
            *count += 1.0;
        }
        sums.into_iter().filter(|&(_, count)| count > 0.0).map(|(sum, count)| sum.map(|sum| sum / count)).collect()
    }
}

/// Returns the known velocity along the channel at place `y` across it, `time` after the push began: a parabola less a
/// series.
fn known(y: f64, time: f64) -> f64 {
    let mode = |k: i32| {
        let wave = PI * f64::from(2 * k + 1);
        4.0 * PUSH / (VISCOSITY * wave.powi(3)) * (wave * y).sin() * (-wave * wave * VISCOSITY * time).exp()
    };
    PUSH / (2.0 * VISCOSITY) * y * (1.0 - y) - (0..100).map(mode).sum::<f64>()
}

fn main() -> Result<(), Box<dyn Error>> {
    let [particles, steps] = arguments([1_600, 2_500])?;
    let mut channel = Channel::new(particles);
    let mut finder = PairFinder::new();
    let [mut fluid_lists, mut wall_lists] = [(); 2].map(|()| NeighborLists::new().and_vectors());

    let mut clock = Clock::start();
    for _ in 0..steps {
        let ([fluid, walls], space) = channel.sets()?;
        finder.neighbors(Input::within(fluid).space(space), Rows::Full, &mut fluid_lists)?;
        finder.neighbors(Input::between(fluid, walls).space(space), Rows::Full, &mut wall_lists)?;
        clock.jostle();
        channel.flow(&fluid_lists, &wall_lists);
        clock.own();
    }

    let (particles, time) = (channel.fluid.len(), channel.step * steps as f64);
    println!("{particles} particles of fluid, {} of walls, {steps} steps, {clock}", channel.walls.len());
    let neighbors = [&fluid_lists, &wall_lists].map(|lists| lists.neighbors().len() as f64 / particles as f64);
    println!("each has {:.1} neighbours in the fluid and {:.1} in the walls", neighbors[0], neighbors[1]);
    let profile = channel.profile(time);
    println!("velocity across the channel after {time:.3}, and what is known of it:");
    for [y, along, known] in profile.iter().step_by(profile.len().div_ceil(20)) {
        println!("{y:5.3} {along:7.4} {known:7.4} {}", "#".repeat((50.0 * along).round().max(0.0) as usize));
    }
    let error = profile.iter().map(|[_, along, known]| (along - known).abs()).fold(0.0, f64::max);
    println!("it is off by {error:.4} at most, in units of the greatest velocity; {ERROR} is let pass");
    assert!(error < ERROR, "this is no Poiseuille flow");
    Ok(())
}

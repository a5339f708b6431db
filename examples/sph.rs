//! A column of water breaks: smoothed particle hydrodynamics by full neighbour lists of a fixed radius, all in f64.
//!
//! `cargo run --release --example sph [particles] [frames]`

mod harness;

use std::error::Error;

use harness::{Clock, arguments};
use jostle::{InputError, NeighborLists, PairFinder, RadiusField, Rows, Spheres64};
use rayon::prelude::*;

/// Reach of the kernel, in units of the distance between particles at rest.
const REACH: f64 = 2.0;

/// Gravity, in units in which density at rest and distance at rest are 1.
const GRAVITY: f64 = 1.0;

/// Speed of sound over the greatest speed that the fall can give. A factor of ten would let density vary by one part in
/// a hundred.
const STIFFNESS: f64 = 5.0;

/// Part of the reach that sound travels in a step.
const COURANT: f64 = 0.4;

/// Artificial viscosity, the alpha of Monaghan.
const VISCOSITY: f64 = 0.2;

struct Water {
    /// Size of the basin, whose least corner is the origin; y is up.
    basin: [f64; 3],
    position: Vec<[f64; 3]>,
    velocity: Vec<[f64; 3]>,
    density: Vec<f64>,
    mass: f64,
    sound: f64,
    step: f64,
}

/// The spiky kernel of Desbrun and Gascuel without its constant, which is part of the mass: W(r) = (REACH - r)^3.
fn kernel(distance: f64) -> f64 {
    (REACH - distance).max(0.0).powi(3)
}

/// Returns -W'(r) / r.
fn slope(distance: f64) -> f64 {
    3.0 * (REACH - distance).max(0.0).powi(2) / distance.max(1e-6)
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Water {
    /// Makes a cube of about `particles` particles at one end of a basin that is three times as long.
    fn new(particles: usize) -> Self {
        let edge = (particles as f64).cbrt().round().max(1.0) as usize;
        let height = edge as f64;
        let sound = STIFFNESS * (2.0 * GRAVITY * height).sqrt();
        let lattice = |i| [i % edge, i / edge % edge, i / edge / edge].map(|i| i as f64 + 0.5);
        Self {
            basin: [3.0 * height, 2.0 * height, height],
            position: (0..edge.pow(3)).map(lattice).collect(),
            velocity: vec![[0.0; 3]; edge.pow(3)],
            density: vec![1.0; edge.pow(3)],
            mass: mass_at_rest(),
            sound,
            step: COURANT * REACH / sound,
        }
    }

    /// Returns the particles as jostle reads them, in place: three f64 each, side by side.
    fn points(&self) -> Result<Spheres64<'_>, InputError> {
        Ok(Spheres64::from_structs(&self.position, [0, 8, 16], RadiusField::All(0.0))?.within(REACH))
    }

    /// Computes the density at each particle from all particles in its reach.
    fn weigh(&mut self, lists: &NeighborLists) {
        let density = |i: usize| {
            let distance = |&j: &u32| {
                let apart = minus(self.position[i], self.position[j as usize]);
                dot(apart, apart).sqrt()
            };
            self.mass * (kernel(0.0) + lists.of(i).iter().map(distance).map(kernel).sum::<f64>())
        };
        self.density = (0..lists.len()).into_par_iter().map(density).collect();
    }

    /// Moves every particle by the forces on it. The walls take the speed that goes into them.
    fn flow(&mut self, lists: &NeighborLists) {
        let push: Vec<[f64; 3]> = (0..lists.len()).into_par_iter().map(|i| self.push(i, lists.of(i))).collect();
        for ((x, v), push) in self.position.iter_mut().zip(&mut self.velocity).zip(push) {
            for axis in 0..3 {
                v[axis] += self.step * push[axis];
                let free = x[axis] + self.step * v[axis];
                x[axis] = free.clamp(0.0, self.basin[axis]);
                if x[axis] != free {
                    v[axis] = 0.0;
                }
            }
        }
    }

    /// Returns the acceleration of particle `i`: gravity, the pressure of its neighbours, and viscosity where they
    /// approach.
    fn push(&self, i: usize, neighbors: &[u32]) -> [f64; 3] {
        let mut push = [0.0, -GRAVITY, 0.0];
        for j in neighbors.iter().map(|&j| j as usize) {
            let apart = minus(self.position[i], self.position[j]);
            let distance2 = dot(apart, apart);
            let approach = dot(apart, minus(self.velocity[i], self.velocity[j])).min(0.0);
            let viscosity = -VISCOSITY * self.sound * REACH * approach / (distance2 + 0.01 * REACH * REACH);
            let pressure = self.pressure(i) + self.pressure(j);
            let strength = self.mass * (pressure + viscosity) * slope(distance2.sqrt());
            for axis in 0..3 {
                push[axis] += strength * apart[axis];
            }
        }
        push
    }

    /// Returns pressure over squared density. It is never negative: a pull would let the surface curdle.
    fn pressure(&self, i: usize) -> f64 {
        self.sound * self.sound * (self.density[i] - 1.0).max(0.0) / (self.density[i] * self.density[i])
    }

    /// Returns the mean kinetic and potential energy of a particle.
    fn energy(&self) -> f64 {
        let kinetic = self.velocity.iter().map(|&v| dot(v, v) / 2.0).sum::<f64>();
        let height = self.position.iter().map(|x| GRAVITY * x[1]).sum::<f64>();
        (kinetic + height) / self.position.len() as f64
    }
}

/// Returns the mass at which a lattice of distance 1 has density 1: with it the kernels add up to 1.
fn mass_at_rest() -> f64 {
    let near = || (-2..=2).map(f64::from);
    let lattice = near().flat_map(|x| near().flat_map(move |y| near().map(move |z| [x, y, z])));
    1.0 / lattice.map(|point| kernel(dot(point, point).sqrt())).sum::<f64>()
}

fn main() -> Result<(), Box<dyn Error>> {
    let [particles, frames] = arguments([8_000, 250])?;
    let mut water = Water::new(particles);
    let (mut finder, mut lists) = (PairFinder::new(), NeighborLists::new());
    let energy = water.energy();

    let mut clock = Clock::start();
    for _ in 0..frames {
        finder.neighbors(water.points()?, Rows::Full, &mut lists)?;
        clock.jostle();
        water.weigh(&lists);
        water.flow(&lists);
        clock.own();
    }

    let particles = water.position.len();
    println!("{particles} particles, {frames} frames, {clock}");
    println!("{:.1} neighbours each at last", lists.neighbors().len() as f64 / particles as f64);
    let front = water.position.iter().map(|x| x[0]).fold(0.0, f64::max) / water.basin[0];
    let densest = water.density.iter().copied().fold(0.0, f64::max);
    println!("the front is at {:.0} % of the basin, density at {densest:.3} of that at rest at most", 100.0 * front);
    println!("energy: {energy:.3} a particle at first, {:.3} at last", water.energy());
    Ok(())
}

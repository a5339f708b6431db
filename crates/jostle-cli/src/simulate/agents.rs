//! The agents: where they are, how they move, and the walls around them.

use std::mem::offset_of;

use anyhow::Result;
use bytemuck::{NoUninit, Zeroable};
use jostle::{Aabb, Bodies, InputError, RadiusField};
use jostle_testkit::{Kind, scene};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

/// The highest speed of an agent at the start, in root mean squares of all radii a unit of time: small enough that
/// bodies meet before their centres pass each other, if a frame takes one.
const SPEED: f64 = 0.15;

/// Agents in one task. Sums are taken task by task, so that they do not depend on the number of threads.
pub(super) const BLOCK: usize = 4096;

/// Place and size. Circles have z = 0.
#[derive(Debug, Clone, Copy, PartialEq, NoUninit, Zeroable)]
#[repr(C)]
pub(super) struct Body {
    pub(super) center: [f32; 3],
    pub(super) radius: f32,
}

/// Velocity, in lengths a unit of time, and inverse mass. Circles have vz = 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Motion {
    pub(super) velocity: [f32; 3],
    pub(super) inverse_mass: f32,
}

/// All agents of a world.
#[derive(Debug)]
pub(super) struct Agents<const D: usize> {
    pub(super) bodies: Vec<Body>,
    pub(super) motions: Vec<Motion>,
    walls: Aabb<D>,
    /// The time that passes in a frame.
    tick: f32,
}

impl<const D: usize> Agents<D> {
    /// A scene whose bodies move in random directions. Mass is radius to the power of D.
    pub(super) fn new(kind: Kind, n: usize, seed: u64, tick: f32) -> Self {
        let scene = scene::scene::<D>(kind, n, seed);
        let side = scene::world::<D>(kind, n);
        let mean_square = scene.radii.iter().map(|&r| f64::from(r).powi(2)).sum::<f64>() / n.max(1) as f64;
        let speed = (SPEED * mean_square.sqrt()) as f32;
        let mut rng = Pcg64Mcg::seed_from_u64(!seed);
        let mut bodies = Vec::with_capacity(n);
        let mut motions = Vec::with_capacity(n);
        for (id, &radius) in scene.radii.iter().enumerate() {
            let direction = direction::<D>(&mut rng);
            let mass = (0..D).map(|_| radius).product::<f32>();
            let center = spatial(|axis| scene.centers.get(axis).map(|column| column[id]));
            let velocity = spatial(|axis| direction.get(axis).map(|part| speed * part));
            bodies.push(Body { center, radius });
            motions.push(Motion { velocity, inverse_mass: 1.0 / mass });
        }
        let walls = Aabb { lo: [0.0; D], hi: [side; D] };
        let mut agents = Self { bodies, motions, walls, tick };
        agents.bounce_off_walls();
        agents
    }

    pub(super) fn walls(&self) -> Aabb<D> {
        self.walls
    }

    /// The root mean square of the distances that agents move in a frame.
    pub(super) fn stride(&self) -> f64 {
        let square = |motion: &Motion| motion.velocity.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>();
        let sum: f64 = self.motions.iter().map(square).sum();
        (sum / self.motions.len().max(1) as f64).sqrt() * f64::from(self.tick)
    }

    /// The agents as input of a search, read in place.
    pub(super) fn view(&self) -> Result<Bodies<'_, D>, InputError> {
        let center = offset_of!(Body, center);
        let axes = std::array::from_fn(|axis| center + axis * size_of::<f32>());
        Bodies::from_structs(&self.bodies, axes, RadiusField::At(offset_of!(Body, radius)))
    }

    /// Gives new ids to the agents: `order` lists the old ones.
    pub(super) fn reorder(&mut self, order: &[u32]) {
        self.bodies = order.par_iter().map(|&id| self.bodies[id as usize]).collect();
        self.motions = order.par_iter().map(|&id| self.motions[id as usize]).collect();
    }

    /// Moves every agent for one frame.
    pub(super) fn drift(&mut self) {
        let tick = self.tick;
        let agents = (&mut self.bodies, &self.motions).into_par_iter().with_min_len(BLOCK);
        agents.for_each(|(body, motion)| {
            for axis in 0..D {
                body.center[axis] += tick * motion.velocity[axis];
            }
        });
    }

    /// Puts agents that left the world back to its walls, and turns them around.
    pub(super) fn bounce_off_walls(&mut self) {
        let walls = self.walls;
        let agents = (&mut self.bodies, &mut self.motions).into_par_iter().with_min_len(BLOCK);
        agents.for_each(|(body, motion)| {
            for axis in 0..D {
                let (low, high) = (walls.lo[axis], walls.hi[axis]);
                // An agent larger than the world stays in its middle.
                let away = body.radius.min((high - low) / 2.0);
                let (low, high) = (low + away, high - away);
                let (x, v) = (&mut body.center[axis], &mut motion.velocity[axis]);
                if *x < low {
                    (*x, *v) = (low, v.abs());
                } else if *x > high {
                    (*x, *v) = (high, -v.abs());
                }
            }
        });
    }

    /// The sum of m v^2 / 2, in units where a body of radius 1 has mass 1.
    pub(super) fn energy(&self) -> f64 {
        let energy = |motion: &Motion| {
            let v2: f64 = motion.velocity.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
            v2 / f64::from(motion.inverse_mass) / 2.0
        };
        let blocks: Vec<f64> = self.motions.par_chunks(BLOCK).map(|block| block.iter().map(energy).sum()).collect();
        blocks.iter().sum()
    }

    /// FNV-1a over the bits of all places and velocities.
    pub(super) fn hash(&self) -> u64 {
        let places = self.bodies.iter().flat_map(|body| body.center);
        let velocities = self.motions.iter().flat_map(|motion| motion.velocity);
        let bytes = places.chain(velocities).flat_map(f32::to_le_bytes);
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }
}

/// A vector in space, zero along the axes that there are not.
fn spatial(part: impl Fn(usize) -> Option<f32>) -> [f32; 3] {
    std::array::from_fn(|axis| part(axis).unwrap_or(0.0))
}

/// A point of the unit ball, each as likely as any other.
fn direction<const D: usize>(rng: &mut Pcg64Mcg) -> [f32; D] {
    loop {
        let point = [(); D].map(|()| rng.random::<f32>() * 2.0 - 1.0);
        if point.iter().map(|x| x * x).sum::<f32>() <= 1.0 {
            return point;
        }
    }
}

//! The agents: where they are, how they move, and the walls around them.

use std::mem::offset_of;
use std::path::Path;

use anyhow::{Result, bail, ensure};
use bytemuck_derive::{NoUninit, Zeroable};
use jostle::{Aabb, Bodies, PairFinder, RadiusField, ViewError};
use jostle_testkit::{Kind, scene};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

use crate::names::name;
use crate::read::{Table, VELOCITIES, Values};
use crate::shown::Number;

/// The highest speed of an agent at the start, in root mean squares of all radii a unit of time. It is so small that
/// bodies meet before their centres pass each other, if a frame takes one unit.
const SPEED: f64 = 0.15;

/// Velocities of a file are at most this on each axis, like coordinates, so that no product of two is too large.
const FASTEST: f64 = (1_u64 << 60) as f64;

/// Masses are at least this, and at most its inverse, so that points can be pushed and no sum of masses is too large.
const LIGHTEST: f32 = 1e-24;

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
    /// Makes a scene whose bodies move in random directions.
    pub(super) fn of_scene(kind: Kind, n: usize, seed: u64, tick: f32) -> Self {
        let scene = scene::scene::<D>(kind, n, seed);
        let walls = Aabb { lo: [0.0; D], hi: [scene::world::<D>(kind, n); D] };
        let mut agents = Self::at_rest(scene.view(), walls, tick);
        agents.scatter(seed);
        agents.bounce_off_walls();
        agents
    }

    /// Makes agents of the bodies of a file, with the file's velocities, or with random ones if it has none.
    ///
    /// # Errors
    /// When the file has no bodies, or bodies that a search would refuse, or velocities beyond [`FASTEST`].
    pub(super) fn of_table(table: &Table, file: &Path, seed: u64, tick: f32) -> Result<Self> {
        let Values::F32(columns) = table.values() else { bail!("{}: not read in 32-bit floats", name(file)) };
        ensure!(!table.is_empty(), "{}: no bodies to start from", name(file));
        let bodies = columns.view::<D>();
        PairFinder::new().count(bodies).map_err(|refusal| table.explain(refusal, file, ""))?;
        let mut agents = Self::at_rest(bodies, around(bodies), tick);
        for (axis, (column, called)) in table.velocities().iter().zip(VELOCITIES).enumerate() {
            for (id, (motion, &v)) in agents.motions.iter_mut().zip(column).enumerate() {
                let place = || format!("{}: {}", name(file), table.place(id as u32));
                ensure!(v.abs() <= FASTEST, "{}: {called} is {}, which is no number up to 2^60", place(), Number(v));
                motion.velocity[axis] = v as f32;
            }
        }
        if table.velocities().is_empty() {
            agents.scatter(seed);
        }
        Ok(agents)
    }

    /// Makes agents at rest. Mass is radius to the power of D.
    fn at_rest(bodies: Bodies<'_, D>, walls: Aabb<D>, tick: f32) -> Self {
        let ids = 0..bodies.len();
        let body = |id| {
            let center = bodies.center(id);
            Body {
                center: std::array::from_fn(|axis| center.get(axis).copied().unwrap_or(0.0)),
                radius: bodies.radius(id),
            }
        };
        let motion = |id| {
            let mass = (0..D).map(|_| bodies.radius(id)).product::<f32>().clamp(LIGHTEST, 1.0 / LIGHTEST);
            Motion { velocity: [0.0; 3], inverse_mass: 1.0 / mass }
        };
        Self { bodies: ids.clone().map(body).collect(), motions: ids.map(motion).collect(), walls, tick }
    }

    /// Gives the agents random velocities.
    fn scatter(&mut self, seed: u64) {
        let n = self.bodies.len() as f64;
        let mean_square = self.mean_square();
        let sides = (0..D).map(|axis| f64::from(self.walls.hi[axis]) - f64::from(self.walls.lo[axis]));
        // Points move as if their radii were their spacing.
        let spacing = sides.fold(0.0, f64::max) / n.powf(1.0 / D as f64);
        let size = if mean_square > 0.0 { mean_square.sqrt() } else { spacing };
        let speed = (SPEED * size) as f32;
        let mut rng = Pcg64Mcg::seed_from_u64(!seed);
        for motion in &mut self.motions {
            let direction = direction::<D>(&mut rng);
            motion.velocity[..D].copy_from_slice(&direction.map(|part| speed * part));
        }
    }

    pub(super) fn walls(&self) -> Aabb<D> {
        self.walls
    }

    /// The mean square of all radii.
    pub(super) fn mean_square(&self) -> f64 {
        self.bodies.iter().map(|body| f64::from(body.radius).powi(2)).sum::<f64>() / self.bodies.len().max(1) as f64
    }

    /// The root mean square of the distances that agents move in a frame.
    pub(super) fn stride(&self) -> f64 {
        let square = |motion: &Motion| motion.velocity.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>();
        let sum: f64 = self.motions.iter().map(square).sum();
        (sum / self.motions.len().max(1) as f64).sqrt() * f64::from(self.tick)
    }

    /// The agents as input of a search, read in place.
    pub(super) fn view(&self) -> Result<Bodies<'_, D>, ViewError> {
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
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut take = |vector: [f32; 3]| {
            for bits in vector.map(f32::to_bits) {
                for at in [0, 8, 16, 24] {
                    hash = (hash ^ u64::from(bits >> at & 0xff)).wrapping_mul(0x0000_0100_0000_01b3);
                }
            }
        };
        self.bodies.iter().for_each(|body| take(body.center));
        self.motions.iter().for_each(|motion| take(motion.velocity));
        hash
    }
}

/// The smallest box with all bodies inside.
fn around<const D: usize>(bodies: Bodies<'_, D>) -> Aabb<D> {
    let mut walls = Aabb { lo: [f32::INFINITY; D], hi: [f32::NEG_INFINITY; D] };
    for id in 0..bodies.len() {
        let (center, radius) = (bodies.center(id), bodies.radius(id));
        for (axis, x) in center.into_iter().enumerate() {
            walls.lo[axis] = walls.lo[axis].min(x - radius);
            walls.hi[axis] = walls.hi[axis].max(x + radius);
        }
    }
    walls
}

/// Returns a point of the unit ball, any as likely as any other.
fn direction<const D: usize>(rng: &mut Pcg64Mcg) -> [f32; D] {
    loop {
        let point = [(); D].map(|()| rng.random::<f32>() * 2.0 - 1.0);
        if point.iter().map(|x| x * x).sum::<f32>() <= 1.0 {
            return point;
        }
    }
}

//! Discs in a box that bounce off each other and off its walls. One frame is one unit of time.

use std::f32::consts::TAU;

use jostle::{Aabb, Circles, InputError, PairFinder};
use jostle_testkit::{Kind, scene};

/// Speed of a disc at the start, in root mean squares of all radii a frame.
const SPEED: f32 = 0.15;

/// The highest speed of a disc, in root mean squares of all radii a frame: so low that few discs pass through each
/// other.
const FASTEST: f32 = 0.6;

/// The part of the closing speed with which discs separate: without gravity, and with gravity, so that they come to
/// rest.
const ELASTIC: f32 = 1.0;
const HEAPED: f32 = 0.2;

/// The part of an overlap undone in a frame.
const PUSH: f32 = 0.4;

/// Another number is another scene.
const SEED: u64 = 1;

/// The discs.
#[derive(Debug)]
pub(crate) struct World {
    x: Vec<f32>,
    y: Vec<f32>,
    radius: Vec<f32>,
    velocity: Vec<[f32; 2]>,
    inverse_mass: Vec<f32>,
    /// The box is a square from the origin to here.
    side: f32,
    fastest: f32,
    restitution: f32,
    held: Option<Held>,
}

/// A disc that is dragged: nothing moves it but the viewer that holds it.
#[derive(Debug, Clone, Copy)]
struct Held {
    id: usize,
    to: [f32; 2],
}

impl World {
    /// Makes a scene whose discs move in all directions, in the order of the tree, so that discs that touch lie close
    /// in memory. The finder has then searched the scene.
    pub(crate) fn new(kind: Kind, agents: u32, finder: &mut PairFinder<2>) -> Result<Self, InputError> {
        let n = agents as usize;
        let scene = scene::scene::<2>(kind, n, SEED);
        let order: Vec<_> = finder.find(scene.view())?.rank_to_id().map(|id| id as usize).collect();
        let sorted = |column: &[f32]| order.iter().map(|&id| column[id]).collect::<Vec<_>>();
        let (x, y, radius) = (sorted(&scene.centers[0]), sorted(&scene.centers[1]), sorted(&scene.radii));
        let mean_square = radius.iter().map(|r| r * r).sum::<f32>() / n.max(1) as f32;
        let (speed, fastest) = (SPEED * mean_square.sqrt(), FASTEST * mean_square.sqrt());
        let velocity = (0..n).map(|id| {
            // The golden ratio spreads directions evenly.
            let (sin, cos) = (TAU * (id as f32 * 0.618_034).fract()).sin_cos();
            [speed * cos, speed * sin]
        });
        let velocity = velocity.collect();
        let inverse_mass = radius.iter().map(|&r| inverse_mass(r)).collect();
        let side = scene::world::<2>(kind, n);
        let world = Self { x, y, radius, velocity, inverse_mass, side, fastest, restitution: ELASTIC, held: None };
        finder.find(world.view())?;
        Ok(world)
    }

    pub(crate) fn view(&self) -> Circles<'_> {
        Circles::new(&self.x, &self.y, &self.radius)
    }

    /// The box that the discs stay in.
    pub(crate) fn walls(&self) -> Aabb<2> {
        Aabb { lo: [0.0; 2], hi: [self.side; 2] }
    }

    /// Adds a disc at rest, within the walls and at most as wide as the box.
    pub(crate) fn add(&mut self, [x, y]: [f32; 2], radius: f32) {
        self.x.push(x.clamp(0.0, self.side));
        self.y.push(y.clamp(0.0, self.side));
        let radius = radius.min(self.side / 2.0);
        self.radius.push(radius);
        self.velocity.push([0.0; 2]);
        self.inverse_mass.push(inverse_mass(radius));
    }

    /// Holds the disc of this id, if there is one, with its centre at `to` or as near as walls allow, until it is let
    /// go.
    pub(crate) fn drag(&mut self, id: u32, to: [f32; 2]) {
        let id = id as usize;
        if self.held.is_none_or(|held| held.id != id) {
            self.let_go();
        }
        let Some(&radius) = self.radius.get(id) else { return };
        let away = radius.min(self.side / 2.0);
        let to = to.map(|x| x.clamp(away, self.side - away));
        self.held = Some(Held { id, to });
        self.inverse_mass[id] = 0.0;
        self.velocity[id] = [to[0] - self.x[id], to[1] - self.y[id]];
        [self.x[id], self.y[id]] = to;
    }

    /// Lets go of the disc that is held; it moves on as fast as it was dragged last.
    pub(crate) fn let_go(&mut self) {
        if let Some(held) = self.held.take() {
            self.inverse_mass[held.id] = inverse_mass(self.radius[held.id]);
        }
    }

    /// Moves every disc for one frame.
    pub(crate) fn drift(&mut self, gravity: f32) {
        self.restitution = if gravity == 0.0 { ELASTIC } else { HEAPED };
        for id in 0..self.velocity.len() {
            let velocity = &mut self.velocity[id];
            velocity[1] -= gravity;
            let speed = velocity[0].hypot(velocity[1]);
            if speed > self.fastest {
                *velocity = velocity.map(|part| part * (self.fastest / speed));
            }
            let radius = self.radius[id];
            bounce(&mut self.x[id], &mut velocity[0], radius, self.side);
            bounce(&mut self.y[id], &mut velocity[1], radius, self.side);
        }
        if let Some(Held { id, to }) = self.held {
            [self.x[id], self.y[id]] = to;
            // Unless the disc is dragged on, it rests.
            self.velocity[id] = [0.0; 2];
        }
    }

    /// Pushes pairs apart and exchanges their velocities, one after the other.
    pub(crate) fn collide(&mut self, pairs: &[[u32; 2]]) {
        for [a, b] in pairs.iter().map(|pair| pair.map(|id| id as usize)) {
            let (dx, dy) = (self.x[b] - self.x[a], self.y[b] - self.y[a]);
            let distance = dx.hypot(dy);
            // Discs with one centre separate along the first axis.
            let normal = if distance > 0.0 { [dx / distance, dy / distance] } else { [1.0, 0.0] };
            let (wa, wb) = (self.inverse_mass[a], self.inverse_mass[b]);
            let depth = self.radius[a] + self.radius[b] - distance;
            let push = PUSH * depth.max(0.0) / (wa + wb);
            self.x[a] -= push * wa * normal[0];
            self.y[a] -= push * wa * normal[1];
            self.x[b] += push * wb * normal[0];
            self.y[b] += push * wb * normal[1];
            let (va, vb) = (self.velocity[a], self.velocity[b]);
            let closing = (vb[0] - va[0]) * normal[0] + (vb[1] - va[1]) * normal[1];
            if closing < 0.0 {
                let impulse = -(1.0 + self.restitution) * closing / (wa + wb);
                self.velocity[a] = [0, 1].map(|axis| va[axis] - impulse * wa * normal[axis]);
                self.velocity[b] = [0, 1].map(|axis| vb[axis] + impulse * wb * normal[axis]);
            }
        }
    }
}

/// Returns the inverse mass of a disc of density 1 over pi; points have some mass too.
fn inverse_mass(radius: f32) -> f32 {
    1.0 / (radius * radius).max(1e-12)
}

/// Moves a disc along one axis, and turns it back at a wall.
fn bounce(x: &mut f32, velocity: &mut f32, radius: f32, side: f32) {
    *x += *velocity;
    let away = radius.min(side / 2.0);
    if *x < away {
        (*x, *velocity) = (away, velocity.abs());
    } else if *x > side - away {
        (*x, *velocity) = (side - away, -velocity.abs());
    }
}

#[cfg(test)]
mod tests {
    use jostle::PairFinder;
    use jostle_testkit::Kind;

    use super::World;

    #[test]
    fn discs_stay_within_their_walls_and_keep_their_energy() {
        let mut finder = PairFinder::new();
        let mut world = World::new(Kind::Uniform, 500, &mut finder).unwrap();
        let energy = |world: &World| -> f64 {
            let each = world.velocity.iter().zip(&world.inverse_mass);
            each.map(|(v, w)| f64::from((v[0] * v[0] + v[1] * v[1]) / w)).sum()
        };
        let before = energy(&world);
        for _ in 0..100 {
            world.drift(0.0);
            let found = finder.find(world.view()).unwrap();
            world.collide(found.pairs());
        }
        assert!((energy(&world) / before - 1.0).abs() < 0.05, "{before} {}", energy(&world));
        // A dragged disc is where it is held, whatever it meets, and within the walls.
        for to in [[5.0, 6.0], [5.0, 7.0], [-9.0, 1e9]] {
            world.drag(7, to);
            world.drift(0.01);
            let found = finder.find(world.view()).unwrap();
            world.collide(found.pairs());
            let away = world.radius[7];
            let truth = if to[0] > 0.0 { to } else { [away, world.side - away] };
            assert_eq!([world.x[7], world.y[7]], truth);
        }
        world.drag(500, [0.0; 2]);
        assert!(world.held.is_none() && world.inverse_mass[7] > 0.0);
        world.add([1e9, -1.0], 1e9);
        for _ in 0..50 {
            world.drift(0.01);
            let found = finder.find(world.view()).unwrap();
            world.collide(found.pairs());
        }
        world.drift(0.0);
        let within =
            |x: &Vec<f32>| x.iter().zip(&world.radius).all(|(x, r)| x - r >= -1e-3 && x + r <= world.side + 1e-3);
        assert!(within(&world.x) && within(&world.y));
    }
}

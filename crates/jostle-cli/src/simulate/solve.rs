//! Pushes contacts apart and exchanges velocities in one Jacobi step: every body reads the state before the step and
//! sums its own share, so that no order of work is better than another.
//!
//! A body in k contacts lends each of them a k-th of its mass (mass splitting: Tonge, Benevolenski and Voroshilov
//! 2012). Take a contact of bodies i and j with inverse masses w, numbers of contacts k, unit normal and closing speed
//! v < 0 along it. Its impulse is `p = -(1 + e) v / (ki wi + kj wj)`. Energy never grows. One step changes it by `sum(v
//! p) + sum over bodies of w |sum of its impulses|^2 / 2`. By the inequality of Cauchy and Schwarz the second term is
//! at most `sum over contacts of p^2 (ki wi + kj wj) / 2 = (1 + e) / 2 * sum(-v p)`. For e <= 1 the first term
//! outweighs that. Two bodies in no other contact exchange exactly what elastic bodies do. Rounding to `f32` adds a
//! part in 10 million or so a frame, of either sign.

use rayon::prelude::*;

use super::agents::{BLOCK, Body, Motion};
use super::contacts::Contacts;

/// e: the part of the closing speed with which bodies separate.
const RESTITUTION: f32 = 1.0;

/// The part of an overlap undone in a frame.
const PUSH: f32 = 0.8;

/// Scratch memory kept from frame to frame.
#[derive(Debug, Default)]
pub(super) struct Solver {
    bodies: Vec<Body>,
    motions: Vec<Motion>,
    /// For each body, how many of its contacts are closing.
    closing: Vec<u32>,
}

/// A contact as its first body sees it. As the other body sees it, vectors are opposite and lengths the same, bit by
/// bit.
struct Contact {
    /// From the centre of the second body to that of the first.
    between: [f32; 3],
    distance: f32,
    depth: f32,
}

impl Contact {
    fn new(bodies: &[Body], id: usize, other: usize) -> Self {
        let (a, b) = (&bodies[id], &bodies[other]);
        let between = difference(a.center, b.center);
        let distance = dot(between, between).sqrt();
        let depth = a.radius + b.radius - distance;
        if distance > 0.0 {
            return Self { between, distance, depth };
        }
        // Bodies with one centre separate along the first axis, the lower id to the left.
        let left = if id < other { -1.0 } else { 1.0 };
        Self { between: [left, 0.0, 0.0], distance: 1.0, depth }
    }

    /// How fast the bodies separate, times their distance; below zero when they close in.
    fn separation(&self, motions: &[Motion], id: usize, other: usize) -> f32 {
        dot(difference(motions[id].velocity, motions[other].velocity), self.between)
    }
}

impl Solver {
    /// Advances the state by one step.
    pub(super) fn solve(&mut self, bodies: &mut Vec<Body>, motions: &mut Vec<Motion>, contacts: &Contacts) {
        let before = State { bodies, motions, contacts };
        let ids = (0..before.bodies.len()).into_par_iter().with_min_len(BLOCK / 4);
        ids.clone().map(|id| before.closing(id)).collect_into_vec(&mut self.closing);
        let after = ids.map(|id| before.after(id, &self.closing));
        after.unzip_into_vecs(&mut self.bodies, &mut self.motions);
        std::mem::swap(bodies, &mut self.bodies);
        std::mem::swap(motions, &mut self.motions);
    }
}

/// The state before the step, which every body reads.
struct State<'a> {
    bodies: &'a [Body],
    motions: &'a [Motion],
    contacts: &'a Contacts,
}

impl State<'_> {
    /// The contacts of a body, each with the other body.
    fn contacts(&self, id: usize) -> impl Iterator<Item = (usize, Contact)> {
        self.contacts.of(id).map(move |other| (other as usize, Contact::new(self.bodies, id, other as usize)))
    }

    /// The number of contacts in which a body closes in on another.
    fn closing(&self, id: usize) -> u32 {
        self.contacts(id).map(|(other, contact)| u32::from(contact.separation(self.motions, id, other) < 0.0)).sum()
    }

    /// One body after the step.
    fn after(&self, id: usize, closing: &[u32]) -> (Body, Motion) {
        let (mut body, mut motion) = (self.bodies[id], self.motions[id]);
        for (other, contact) in self.contacts(id) {
            let scale = 1.0 / contact.distance;
            let push = PUSH * contact.depth.max(0.0) * self.share(id, other, |id| self.contacts.count(id));
            add(&mut body.center, push * scale, contact.between);
            // Whether bodies close in is a toss of a coin. So there is no branch: bodies that do not close in add zero.
            let speed = contact.separation(self.motions, id, other).min(0.0) * scale;
            let change = -(1.0 + RESTITUTION) * speed * self.share(id, other, |id| closing[id].max(1));
            add(&mut motion.velocity, change * scale, contact.between);
        }
        (body, motion)
    }

    /// The part of a relative displacement that falls to body `id`, each mass split into as many parts as `count` says.
    fn share(&self, id: usize, other: usize, count: impl Fn(usize) -> u32) -> f32 {
        let weight = |id: usize| self.motions[id].inverse_mass;
        weight(id) / (count(id) as f32 * weight(id) + count(other) as f32 * weight(other))
    }
}

/// The deepest overlap of any two bodies, and its part of the smaller radius.
pub(super) fn deepest(bodies: &[Body], pairs: &[[u32; 2]]) -> (f32, f32) {
    let overlaps = pairs.iter().map(|pair| {
        let [a, b] = pair.map(|id| id as usize);
        let depth = Contact::new(bodies, a, b).depth;
        (depth, depth / bodies[a].radius.min(bodies[b].radius))
    });
    overlaps.fold((0.0, 0.0), |deepest, overlap| if overlap.0 > deepest.0 { overlap } else { deepest })
}

fn difference(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn add(to: &mut [f32; 3], factor: f32, vector: [f32; 3]) {
    for (x, v) in to.iter_mut().zip(vector) {
        *x += factor * v;
    }
}

#[cfg(test)]
mod tests {
    use super::{Body, Contacts, Motion, Solver};

    /// Returns places and velocities after one step in which `pairs` touch. Agents are place, velocity and radius on
    /// the first axis.
    fn step(agents: &[(f32, f32, f32)], pairs: &[[u32; 2]]) -> Vec<(f32, f32)> {
        let body = |&(x, _, radius): &_| Body { center: [x, 0.0, 0.0], radius };
        let motion = |&(_, v, radius): &(f32, f32, f32)| Motion {
            velocity: [v, 0.0, 0.0],
            inverse_mass: 1.0 / (radius * radius),
        };
        let (mut bodies, mut motions): (Vec<_>, Vec<_>) = agents.iter().map(|a| (body(a), motion(a))).unzip();
        let mut contacts = Contacts::default();
        contacts.build(agents.len(), pairs);
        Solver::default().solve(&mut bodies, &mut motions, &contacts);
        bodies.iter().zip(&motions).map(|(body, motion)| (body.center[0], motion.velocity[0])).collect()
    }

    #[test]
    fn two_bodies_bounce_as_elastic_ones_do() {
        assert_eq!(step(&[(0.0, 1.0, 1.0), (2.0, -1.0, 1.0)], &[[0, 1]]), [(0.0, -1.0), (2.0, 1.0)]);
        // Masses 1 and 4: the heavy one at rest leaves with 2/5 of the speed, the light one returns with 3/5.
        let after = step(&[(0.0, 1.0, 1.0), (3.0, 0.0, 2.0)], &[[0, 1]]);
        assert!((after[0].1 + 0.6).abs() < 1e-6 && (after[1].1 - 0.4).abs() < 1e-6, "{after:?}");
        // Bodies that part already are left alone.
        assert_eq!(step(&[(0.0, -1.0, 1.0), (2.0, 1.0, 1.0)], &[[0, 1]]), [(0.0, -1.0), (2.0, 1.0)]);
    }

    #[test]
    fn a_body_between_two_keeps_the_momentum_and_takes_no_energy() {
        let agents = [(0.0, 1.0, 1.0), (1.5, 0.0, 0.5), (3.0, -0.5, 1.0)];
        let after = step(&agents, &[[0, 1], [1, 2]]);
        let masses = [1.0, 0.25, 1.0];
        let sum = |of: &dyn Fn(f32) -> f32| masses.iter().zip(&after).map(|(m, (_, v))| m * of(*v)).sum::<f32>();
        assert!((sum(&|v| v) - 0.5).abs() < 1e-6, "{after:?}");
        assert!(sum(&|v| v * v) <= 1.25, "{after:?}");
    }

    #[test]
    fn bodies_about_one_centre_part() {
        let after = step(&[(5.0, 0.0, 1.0), (5.0, 0.0, 1.0)], &[[0, 1]]);
        assert!(after[0].0 < 4.5 && after[1].0 > 5.5, "{after:?}");
    }
}

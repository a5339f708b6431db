//! All against all: n(n - 1)/2 tests.

use jostle_core::{Bodies, ViewError};

use crate::body::Body;
use crate::broad_phase::BroadPhase;
use crate::check::take;

/// Tests every body against every other. O(n^2), and the fastest of all while n is small.
#[derive(Debug, Clone, Default)]
pub struct BruteForce<const D: usize> {
    bodies: Vec<Body<D>>,
}

impl<const D: usize> BruteForce<D> {
    /// Makes a system without bodies.
    #[must_use]
    pub const fn new() -> Self {
        Self { bodies: Vec::new() }
    }
}

impl<const D: usize> BroadPhase<D> for BruteForce<D> {
    fn update(&mut self, bodies: Bodies<'_, D>) -> Result<(), ViewError> {
        take(bodies, &mut self.bodies)
    }

    fn for_each_pair(&mut self, hit: &mut dyn FnMut([u32; 2])) -> u64 {
        for (a, body) in self.bodies.iter().enumerate() {
            for (b, other) in self.bodies.iter().enumerate().skip(a + 1) {
                if body.overlaps(other) {
                    hit([a as u32, b as u32]);
                }
            }
        }
        let n = self.bodies.len() as u64;
        n * n.saturating_sub(1) / 2
    }

    fn bytes(&self) -> usize {
        self.bodies.capacity() * size_of::<Body<D>>()
    }
}

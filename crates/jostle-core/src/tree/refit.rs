//! Bodies that have moved a little, in the leaves that they were sorted into.

use std::sync::{Mutex, PoisonError};

use super::{LEAF, LinearTree, new_build};
use crate::input::Bodies;
use crate::isa::Work;
use crate::parallel::workers::Workers;
use crate::sixteen::{Bodies16, Ids};

/// Leaves that one task fills.
const LEAVES_PER_TASK: usize = 512;

/// What is taken off a grown radius, relative to it, for rounding: 2^-19. The predicate rounds a distance and a sum of radii by
/// four times 2^-24 each, in the list and now, which is 2^-20 of each grown radius; what is computed here, a few times 2^-24.
const ROUNDING: f32 = 1.0 / 524_288.0;

/// As much, for squares that are denormal or vanish: 2^-72.
const LEAST: f32 = f32::from_bits((127 - 72) << 23);

impl<const D: usize> LinearTree<D> {
    /// Moves the bodies of the tree to where they are now, by id, without a sort: leaves and boxes stay as they are. `kept`
    /// are its leaves as they were built, of grown bodies.
    ///
    /// Returns by how much a body reaches farther than when it was grown, at most: while that is not above 0, boxes hold all
    /// circles, and two that touch now touched when they were grown. Infinite if one is not sound.
    #[doc(hidden)]
    pub fn refit_on(&mut self, bodies: Bodies<'_, D>, kept: &[Bodies16<D>], workers: Workers<'_>) -> f32 {
        assert_eq!((bodies.len(), kept.len()), (self.len, self.leaves), "the same bodies");
        self.margin = bodies.margin();
        self.build_number = new_build();
        let (ids, starts, isa) = (&self.ids, &self.leaf_starts, self.isa);
        let excess = Mutex::new(f32::NEG_INFINITY);
        workers.fill_blocks("refit", &mut self.bodies[..self.leaves], LEAVES_PER_TASK, |first, leaves| {
            let range = first..first + leaves.len();
            let (ids, kept, starts) = (&ids[range.clone()], &kept[range.clone()], &starts[range.start..=range.end]);
            let of_block = isa.run(Refit { bodies, ids, starts, kept, leaves });
            let mut excess = excess.lock().unwrap_or_else(PoisonError::into_inner);
            *excess = excess.max(of_block);
        });
        excess.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the bodies back to where they were.
    #[doc(hidden)]
    pub fn restore(&mut self, kept: &[Bodies16<D>]) {
        self.bodies[..self.leaves].copy_from_slice(kept);
    }
}

struct Refit<'a, const D: usize> {
    bodies: Bodies<'a, D>,
    ids: &'a [Ids],
    starts: &'a [u32],
    kept: &'a [Bodies16<D>],
    leaves: &'a mut [Bodies16<D>],
}

impl<const D: usize> Work for Refit<'_, D> {
    type Output = f32;

    #[inline(always)]
    fn run(self) -> f32 {
        let Self { bodies, ids, starts, kept, leaves } = self;
        let mut excess = [f32::NEG_INFINITY; LEAF];
        for (at, leaf) in leaves.iter_mut().enumerate() {
            let len = ((starts[at + 1] - starts[at]) as usize).min(LEAF);
            let ids = &ids[at].0;
            for axis in 0..D {
                for lane in 0..len {
                    leaf.centers[axis].0[lane] = bodies.centers()[axis].get(ids[lane] as usize);
                }
            }
            for lane in 0..len {
                leaf.radii.0[lane] = bodies.radius(ids[lane] as usize);
            }
            note_excess(&mut excess, leaf, &kept[at], len);
        }
        excess.into_iter().fold(f32::NEG_INFINITY, f32::max)
    }
}

/// Notes in each lane by how much its body reaches farther than when it was grown, if that is more than of all before it.
#[inline(always)]
fn note_excess<const D: usize>(excess: &mut [f32; LEAF], now: &Bodies16<D>, kept: &Bodies16<D>, len: usize) {
    for lane in 0..LEAF {
        let mut moved2 = 0.0;
        for axis in 0..D {
            let moved = now.centers[axis].0[lane] - kept.centers[axis].0[lane];
            moved2 += moved * moved;
        }
        let (radius, grown) = (now.radii.0[lane], kept.radii.0[lane]);
        let of_lane = moved2.sqrt() + (radius - grown) + (grown * ROUNDING + LEAST);
        // What is no number, or of a radius below 0, is not sound.
        let of_lane = if of_lane.is_nan() | (radius < 0.0) { f32::INFINITY } else { of_lane };
        let of_lane = if lane < len { of_lane } else { f32::NEG_INFINITY };
        excess[lane] = if of_lane > excess[lane] { of_lane } else { excess[lane] };
    }
}

//! Plain bodies, in `f32` at rest in open space, as they were, and how far they have moved since.

use std::sync::{Mutex, PoisonError};

use jostle_core::isa::Work;
use jostle_core::scratch::fill_with_headroom;
use jostle_core::{Bodies, Isa, Radii, Workers};
use jostle_sets::simd::LANES;

use crate::coherent::packed::Packed;

/// Bodies that one task reads.
const BLOCK: usize = 1 << 13;

/// Bodies that are read to the stack at a time.
const PART: usize = 256;

/// What rounding may cost, relative to a grown radius: 2^-19. The predicate rounds a distance and a sum of radii by four times
/// 2^-24 each, in the list and now, which is 2^-20 of each grown radius; what is computed here, a few times 2^-24.
const ROUNDING: f32 = 1.0 / 524_288.0;

/// As much, for squares that are denormal or vanish: 2^-72.
const LEAST: f32 = f32::from_bits((127 - 72) << 23);

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Was<const D: usize> {
    /// Body after body, [`PART`] of them in an element, the last of which is filled up.
    parts: Vec<Part<D>>,
    /// How many bodies; none of which anything is known where others were kept since.
    len: Option<usize>,
}

/// The columns of some bodies.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Part<const D: usize> {
    centers: [[f32; PART]; D],
    radii: [f32; PART],
}

impl<const D: usize> Part<D> {
    const NOTHING: Self = Self { centers: [[0.0; PART]; D], radii: [0.0; PART] };

    /// Reads the bodies from number `first` on; how many.
    #[inline(always)]
    fn read(&mut self, bodies: &Bodies<'_, D>, first: usize) -> usize {
        let len = PART.min(bodies.len() - first);
        for axis in 0..D {
            bodies.centers()[axis].map_into(first, &mut self.centers[axis][..len], |x| x);
        }
        match bodies.radii() {
            Radii::All(radius) => self.radii[..len].fill(radius),
            Radii::Each(column) => column.map_into(first, &mut self.radii[..len], |radius| radius),
        }
        len
    }

    /// Notes in each lane how much its bodies have used up since they were others, if that is more than of all before.
    #[inline(always)]
    fn note_used(&self, was: &Self, margin: f32, used: &mut [f32; LANES]) {
        for first in (0..PART).step_by(LANES) {
            for lane in 0..LANES {
                let (at, mut moved2) = (first + lane, 0.0);
                for axis in 0..D {
                    let moved = self.centers[axis][at] - was.centers[axis][at];
                    moved2 += moved * moved;
                }
                let (radius, grown) = (self.radii[at], was.radii[at] + margin);
                let of_body = moved2.sqrt() + (radius - was.radii[at]).abs() + (grown * ROUNDING + LEAST);
                // What is no number, or of a radius below 0, is not sound.
                let of_body = if of_body.is_nan() | (radius < 0.0) { f32::INFINITY } else { of_body };
                used[lane] = if of_body > used[lane] { of_body } else { used[lane] };
            }
        }
    }
}

impl<const D: usize> Was<D> {
    pub(super) fn bytes(&self) -> usize {
        self.parts.capacity() * size_of::<Part<D>>()
    }

    /// Keeps none.
    pub(super) fn forget(&mut self) {
        self.len = None;
    }

    /// Keeps these bodies.
    pub(super) fn keep(&mut self, bodies: Bodies<'_, D>, workers: Workers<'_>) {
        self.len = Some(bodies.len());
        fill_with_headroom(&mut self.parts, bodies.len().div_ceil(PART), Part::NOTHING);
        workers.fill_blocks("keep", &mut self.parts, BLOCK / PART, |first, parts| {
            for (part, number) in parts.iter_mut().zip(first..) {
                *part = Part::NOTHING;
                part.read(&bodies, number * PART);
            }
        });
    }

    /// Packs bodies; how much one of them has used up since they were kept, at most: see
    /// [`Current::measure`](super::current::Current::measure).
    pub(super) fn measure(
        &self,
        bodies: Bodies<'_, D>,
        margin: f32,
        packed: &mut Vec<Packed>,
        (isa, workers): (Isa, Workers<'_>),
    ) -> f32 {
        if self.len != Some(bodies.len()) {
            return f32::INFINITY;
        }
        fill_with_headroom(packed, bodies.len(), Packed::default());
        let used = Mutex::new(0.0_f32);
        workers.fill_blocks("measure", packed, BLOCK, |first, packed| {
            let was = &self.parts[first / PART..];
            let of_block = isa.run(Measure { bodies, was, margin, first, packed });
            let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
            *used = used.max(of_block);
        });
        used.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Measure<'a, const D: usize> {
    bodies: Bodies<'a, D>,
    was: &'a [Part<D>],
    margin: f32,
    first: usize,
    packed: &'a mut [Packed],
}

impl<const D: usize> Work for Measure<'_, D> {
    type Output = f32;

    #[inline(always)]
    fn run(self) -> f32 {
        let Self { bodies, was, margin, first, packed } = self;
        let mut used = [0.0; LANES];
        let mut part = Part::NOTHING;
        for (number, (packed, was)) in packed.chunks_mut(PART).zip(was).enumerate() {
            if packed.len() < PART {
                part = Part::NOTHING;
            }
            part.read(&bodies, first + number * PART);
            part.note_used(was, margin, &mut used);
            for (at, slot) in packed.iter_mut().enumerate() {
                let mut center = [0.0; D];
                for axis in 0..D {
                    center[axis] = part.centers[axis][at];
                }
                *slot = Packed::new(center, part.radii[at]);
            }
        }
        used.into_iter().fold(0.0, f32::max)
    }
}

//! Whether a list that was made with a margin still holds every pair.

use core::sync::atomic::{AtomicBool, Ordering};

use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Bodies, InputError, Workers};

use crate::threads::{Threads, run};

/// Bodies that one task looks at.
const BLOCK: usize = 1 << 13;

/// Part of a body's grown radius that rounding may cost, amply: the predicate rounds four times, each by 2^-24.
const ROUNDING: f64 = 1.0 / 1_048_576.0;

/// 2^-73: what squares that are denormal or vanish may cost, once in the list and once now: see `jostle_core::aabb`.
const UNDERFLOW: f64 = f64::from_bits((1023 - 73) << 52);

/// Bodies as they were when a list of their pairs was made with a margin ([`Bodies::with_margin`]): the list can be kept
/// for as long as it is valid.
///
/// ```
/// use jostle_pairs::Skin;
/// use jostle_core::Circles;
///
/// let (x, y) = ([0.0, 2.5], [0.0, 0.0]);
/// let mut skin = Skin::default();
/// skin.keep(Circles::new(&x, &y, 1.0).with_margin(0.5))?;
/// assert!(skin.still_valid(Circles::new(&[0.2, 2.3], &y, 1.0)));
/// assert!(!skin.still_valid(Circles::new(&[0.3, 2.5], &y, 1.0)));
/// # Ok::<(), jostle_core::InputError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Skin<const D: usize> {
    bodies: Vec<Body<D>>,
    margin: f32,
}

#[derive(Debug, Clone, Copy)]
struct Body<const D: usize> {
    center: [f32; D],
    radius: f32,
}

impl<const D: usize> Skin<D> {
    /// Keeps these bodies in memory, those of before no longer. O(n), on the current rayon pool.
    ///
    /// # Errors
    /// Those of [`Bodies::check_shape`]; what was kept stays.
    pub fn keep(&mut self, bodies: Bodies<'_, D>) -> Result<(), InputError> {
        bodies.check_shape()?;
        run(Threads::Current, bodies.len(), |workers| self.keep_on(bodies, workers));
        Ok(())
    }

    /// True while every list of pairs or neighbours that was made of the kept bodies holds all that there are now: each
    /// body has moved by at most half of the margin, what its radius has grown by included, and there are as many as
    /// there were. Where the margin is lost in the rounding of radii, only bodies that are all the same as they were
    /// are valid. O(n), on the current rayon pool.
    #[must_use]
    pub fn still_valid(&self, bodies: Bodies<'_, D>) -> bool {
        run(Threads::Current, bodies.len(), |workers| self.still_valid_on(bodies, workers))
    }

    pub(crate) fn keep_on(&mut self, bodies: Bodies<'_, D>, workers: Workers<'_>) {
        self.margin = bodies.margin();
        resize_with_headroom(&mut self.bodies, bodies.len(), Body { center: [0.0; D], radius: 0.0 });
        workers.fill_blocks("skin", &mut self.bodies, BLOCK, |first, chunk| {
            for (body, id) in chunk.iter_mut().zip(first..) {
                *body = Body { center: bodies.center(id), radius: bodies.radii().get(id) };
            }
        });
    }

    pub(crate) fn still_valid_on(&self, bodies: Bodies<'_, D>, workers: Workers<'_>) -> bool {
        if bodies.check_shape().is_err() || bodies.len() != self.bodies.len() {
            return false;
        }
        let (within, same) = (AtomicBool::new(true), AtomicBool::new(true));
        workers.run("still valid", self.bodies.len().div_ceil(BLOCK), |block| {
            let ids = block * BLOCK..((block + 1) * BLOCK).min(self.bodies.len());
            if within.load(Ordering::Relaxed) && !ids.clone().all(|id| self.is_within(id, bodies)) {
                within.store(false, Ordering::Relaxed);
            }
            if same.load(Ordering::Relaxed) && !ids.clone().all(|id| self.is_same(id, bodies)) {
                same.store(false, Ordering::Relaxed);
            }
        });
        within.into_inner() || same.into_inner()
    }

    fn is_same(&self, id: usize, bodies: Bodies<'_, D>) -> bool {
        let body = &self.bodies[id];
        body.center == bodies.center(id) && bodies.radii().get(id) <= body.radius
    }

    /// Two bodies that overlap now were closer than their grown radii reach if each has used up less than what it grew
    /// by; half of that is asked for, so that what the predicate rounds is seldom all of it.
    fn is_within(&self, id: usize, bodies: Bodies<'_, D>) -> bool {
        let (body, center) = (&self.bodies[id], bodies.center(id));
        let moved2: f64 = (0..D).map(|axis| (f64::from(center[axis]) - f64::from(body.center[axis])).powi(2)).sum();
        let grown = f64::from(body.radius + self.margin);
        let spare = grown - f64::from(body.radius) - grown * ROUNDING - UNDERFLOW;
        // Not `max`, which would take NaN for no growth.
        let growth = (f64::from(bodies.radii().get(id)) - f64::from(body.radius)).clamp(0.0, f64::INFINITY);
        let allowed = spare.min(f64::from(self.margin) / 2.0) - growth;
        allowed >= 0.0 && moved2 <= allowed * allowed
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bodies.capacity() * size_of::<Body<D>>()
    }
}

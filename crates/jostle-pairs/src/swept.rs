//! Bodies that move during a frame: who touches whom on the way, and when first.
//!
//! In the tree, a body is a circle around the middle of its path that holds it at every time: radius `r + |d| / 2`, grown
//! by 2^-20 of itself and 2^-22 of the coordinates, which is more than the roundings on the way to f32 and those of its
//! predicate. What that finds is decided by the formula of [`Swept`].

use core::fmt;

use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Bodies, InputError, Reason, Workers};

use crate::derived::{BLOCK, Derived, reduce, set_each};
use crate::filter::Decide;
use crate::input::{Displacements, Input, Set};
use crate::layers::Layers;

/// |coordinate| + displacement + radius may reach 2^59: then all that is derived of them is within bounds.
const REACH: f64 = (1_u64 << 59) as f64;

/// Growth of a circle relative to itself, and to its coordinates: 2^-20 and 2^-22.
const GROWTH: (f64, f64) = (1.0 / 1_048_576.0, 1.0 / 4_194_304.0);

/// Bodies that each move along a straight line during the frame, from where they are by a displacement of their own.
///
/// With `p = xb - xa`, `v = db - da` and `s = ra + rb`, all in `f64`, two touch at time 0 when `p.p <= s*s`; else, when they
/// come closer (`p.v < 0`) and `(p.v)^2 - v.v * c >= 0` with `c = p.p - s*s`, at time `c / (sqrt((p.v)^2 - v.v * c) - p.v)`
/// if that is at most 1. [`Found::times`](crate::Found::times) has the time of each pair.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, PairFinder, Swept};
///
/// let circles = Circles::new(&[0.0, 10.0], &[0.0, 0.0], 1.0);
/// let mut finder = PairFinder::new();
/// let found = finder.find(Swept::new(circles, [&[16.0, 0.0], &[0.0, 0.0]]))?; // the first flies through the second
/// assert_eq!(found.pairs(), [[0, 1]]);
/// assert_eq!(found.times(), [0.5]);
/// # Ok::<(), jostle::InputError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Swept<'a, const D: usize> {
    pub(crate) bodies: Bodies<'a, D>,
    pub(crate) displacements: Displacements<'a, D>,
    pub(crate) layers: Option<Layers<'a>>,
}

impl<const D: usize> fmt::Debug for Swept<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Swept")
            .field("bodies", &self.bodies)
            .field("displacements", &self.displacements)
            .field("layers", &self.layers)
            .finish_non_exhaustive()
    }
}

impl<'a, const D: usize> Swept<'a, D> {
    /// Bodies at the beginning of the frame, and how far each moves on each axis.
    #[must_use]
    pub fn new(bodies: Bodies<'a, D>, displacements: [&'a [f32]; D]) -> Self {
        Self { bodies, displacements: displacements.into(), layers: None }
    }

    /// Keeps only pairs that these layers let meet.
    #[must_use]
    pub fn layers(self, layers: Layers<'a>) -> Self {
        Self { layers: Some(layers), ..self }
    }

    /// When two bodies first touch, if they do.
    #[inline]
    pub(crate) fn touch(&self, a: u32, b: u32) -> Option<f64> {
        let (a, b) = (a as usize, b as usize);
        let (mut pp, mut pv, mut vv) = (0.0, 0.0, 0.0);
        let (from, to) = (self.displacements.get(a), self.displacements.get(b));
        for axis in 0..D {
            let x = &self.bodies.centers()[axis];
            let p = f64::from(x.get(b)) - f64::from(x.get(a));
            let v = to[axis] - from[axis];
            (pp, pv, vv) = (pp + p * p, pv + p * v, vv + v * v);
        }
        let s = f64::from(self.bodies.radius(a)) + f64::from(self.bodies.radius(b));
        let c = pp - s * s;
        if c <= 0.0 {
            return Some(0.0);
        }
        let discriminant = pv * pv - vv * c;
        if pv >= 0.0 || discriminant < 0.0 {
            return None;
        }
        let time = c / (discriminant.sqrt() - pv);
        (time <= 1.0).then_some(time)
    }

    /// Of the centres at the beginning.
    #[inline]
    pub(crate) fn distance2(&self, a: usize, b: usize) -> f32 {
        let mut distance2 = 0.0;
        for column in self.bodies.centers() {
            let d = column.get(b) - column.get(a);
            distance2 += d * d;
        }
        distance2
    }

    pub(crate) fn displacement(&self, id: usize) -> [f32; D] {
        self.displacements.get(id).map(|d| d as f32)
    }

    pub(crate) fn check_shape(&self) -> Result<(), InputError> {
        self.bodies.check_shape()?;
        self.displacements.check(self.bodies.len())
    }

    fn check(&self) -> Result<(), InputError> {
        self.check_shape()?;
        self.layers.map_or(Ok(()), |layers| layers.check(self.bodies.len()))
    }

    /// What is wrong with a body's displacement, unless something is with the body itself.
    fn fault(&self, id: usize) -> Option<Reason> {
        let (center, radius) = (self.bodies.center(id), f64::from(self.bodies.radius(id)));
        let fine = |axis: usize| {
            let reach = f64::from(center[axis]).abs() + self.displacements.get(id)[axis].abs() + radius;
            reach <= REACH || !center[axis].is_finite() || !radius.is_finite()
        };
        (0..D).find(|&axis| !fine(axis)).map(|axis| Reason::Displacement { axis: axis as u8 })
    }

    fn middle(&self, id: usize, axis: usize) -> f64 {
        f64::from(self.bodies.centers()[axis].get(id)) + self.displacements.get(id)[axis] / 2.0
    }

    fn reach(&self, id: usize) -> f64 {
        let (mut path2, mut coordinates) = (0.0, 0.0_f64);
        for axis in 0..D {
            let d = self.displacements.get(id)[axis];
            path2 += d * d;
            coordinates = coordinates.max(self.middle(id, axis).abs());
        }
        let reach = f64::from(self.bodies.radius(id)) + path2.sqrt() / 2.0;
        reach + reach * GROWTH.0 + coordinates * GROWTH.1
    }
}

impl<'a, const D: usize> From<Swept<'a, D>> for Input<'a, D> {
    fn from(Swept { bodies, displacements, layers }: Swept<'a, D>) -> Self {
        Set { layers, moving: Some(displacements), ..Set::from(bodies) }.into()
    }
}

impl<const D: usize> Decide for Swept<'_, D> {
    fn is_pair(&self, _sets: [u32; 2], _image: u32, a: u32, b: u32) -> bool {
        self.touch(a, b).is_some()
    }
}

/// What a finder keeps for swept searches.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paths {
    sound: Vec<bool>,
    pub(crate) times: Vec<f64>,
}

impl Paths {
    pub(crate) fn bytes(&self) -> usize {
        self.sound.capacity() + self.times.capacity() * size_of::<f64>()
    }

    /// Puts a circle around each path.
    pub(crate) fn prepare<const D: usize>(
        &mut self,
        swept: &Swept<'_, D>,
        derived: &mut Derived<D>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        swept.check()?;
        let bodies = swept.bodies.len();
        let sound = |ids: core::ops::Range<usize>| ids.into_iter().all(|id| swept.fault(id).is_none());
        if !reduce(bodies, &mut self.sound, true, sound, workers, |a, b| a & b) {
            InputError::of_bodies(bodies, |id| swept.fault(id))?;
        }
        let radius = |id: usize| {
            // A negative radius stays one, and is refused with the tree.
            if swept.bodies.radii().get(id) < 0.0 { -1.0 } else { swept.reach(id) as f32 }
        };
        derived.fill(
            bodies,
            |axis, first, out| set_each(first, out, |id| swept.middle(id, axis) as f32),
            |first, out| set_each(first, out, radius),
            workers,
        );
        Ok(())
    }

    /// The time of each pair.
    pub(crate) fn find_times<const D: usize>(
        &mut self,
        swept: &Swept<'_, D>,
        pairs: &[[u32; 2]],
        workers: Workers<'_>,
    ) {
        resize_with_headroom(&mut self.times, pairs.len(), 0.0);
        workers.fill_blocks("times", &mut self.times, BLOCK, |first, block| {
            for (time, &[a, b]) in block.iter_mut().zip(&pairs[first..]) {
                *time = swept.touch(a, b).unwrap_or_default();
            }
        });
    }
}

//! Bodies in `f64`: sought in `f32`, in a frame of their own, decided in `f64` where that cannot tell.
//!
//! The frame. Centres are taken relative to the middle of their box and scaled by a power of two, so that none is more than
//! 1 from it: rounding one to f32 moves it by at most 2^-25 on each axis, sqrt(3) * 2^-25 in all, and by some 2^-52 before
//! that. What f64 accepts lies within `(ra + rb)(1 + 2^-50)`. Radii grown to `r(1 + 2^-20) + 2^-22` therefore leave
//! 2^-21 - 2^-23 in absolute terms, and eight times what the f32 predicate rounds by in relative ones: no pair is lost.
//! The other way round, a hit that would be one with a sum of radii less by `R * 2^-17 + 2^-19`, R being the largest
//! radius, is one in f64 as well: the radii grew by `(ra + rb) 2^-20 + 2^-21` together, and what was rounded in all is less
//! than the rest. Only hits between the two are looked at in f64.

use core::ops::Range;

use jostle_core::isa::Work;
use jostle_core::{Bodies, InputError, Isa, Reason, Workers};

use crate::derived::{Derived, reduce};
use crate::filter::Decide;
use crate::input::{Input, Set};
use crate::layers::Layers;

/// |coordinate| + radius may reach 2^500: squares of distances then stay finite.
const REACH: f64 = f64::from_bits((1023 + 500) << 52);

/// Growth of a radius in the frame, relative, and absolute: 2^-20 and 2^-22.
const GROWTH: (f64, f64) = (1.0 / 1_048_576.0, 1.0 / 4_194_304.0);

/// By how much less a sum of radii must do for a hit to be sure, relative to the largest radius, and absolute: 2^-17, 2^-19.
const SLACK: (f64, f64) = (1.0 / 131_072.0, 1.0 / 524_288.0);

/// Bodies in `f64`, and who of them may meet whom: a view turns into it by itself.
///
/// Two overlap when `dx*dx + dy*dy (+ dz*dz) <= s*s` with `dx = xb - xa`, `s = ra + rb`, evaluated in `f64` from left to
/// right: exactly, wherever the origin is. It takes little longer than `f32` where the distances at which bodies touch are
/// more than some millionths of the width of the scene; where they are less, all bodies within such a millionth of each
/// other are tested one by one.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles64, PairFinder};
///
/// let x = [1e9, 1e9 + 0.0009765625, 1e9 + 0.0021];
/// let mut finder = PairFinder::new();
/// let found = finder.find(Circles64::new(&x, &[0.0; 3], 0.00048828125))?;
/// assert_eq!(found.pairs(), [[0, 1]]);
/// # Ok::<(), jostle::InputError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Set64<'a, const D: usize> {
    pub(crate) bodies: Bodies<'a, D, f64>,
    pub(crate) layers: Option<Layers<'a>>,
}

impl<'a, const D: usize> Set64<'a, D> {
    /// Keeps only pairs that these layers let meet.
    #[must_use]
    pub fn layers(self, layers: Layers<'a>) -> Self {
        Self { layers: Some(layers), ..self }
    }

    /// The predicate.
    #[inline]
    pub(crate) fn overlap(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        let s = self.bodies.radius(a) + self.bodies.radius(b);
        self.distance2(a, b) <= s * s
    }

    #[inline]
    pub(crate) fn distance2(&self, a: usize, b: usize) -> f64 {
        let mut distance2 = 0.0;
        for column in self.bodies.centers() {
            let d = column.get(b) - column.get(a);
            distance2 += d * d;
        }
        distance2
    }

    fn fault(&self, id: usize) -> Option<Reason> {
        let (center, radius) = (self.bodies.center(id), self.bodies.radii().get(id));
        if let Some(axis) = center.iter().position(|x| !x.is_finite()) {
            return Some(Reason::CenterNotFinite { axis: axis as u8 });
        }
        if !radius.is_finite() {
            return Some(Reason::RadiusNotFinite);
        }
        if radius < 0.0 {
            return Some(Reason::RadiusNegative);
        }
        let reach = radius + self.bodies.margin();
        center.iter().position(|x| x.abs() + reach > REACH).map(|axis| Reason::TooFar64 { axis: axis as u8 })
    }
}

impl<'a, const D: usize> From<Bodies<'a, D, f64>> for Set64<'a, D> {
    fn from(bodies: Bodies<'a, D, f64>) -> Self {
        Self { bodies, layers: None }
    }
}

impl<'a, const D: usize> From<Set64<'a, D>> for Input<'a, D> {
    fn from(Set64 { bodies, layers }: Set64<'a, D>) -> Self {
        Set { layers, ..Set::from(bodies) }.into()
    }
}

impl<const D: usize> Decide for Set64<'_, D> {
    fn is_pair(&self, _sets: [u32; 2], _image: u32, a: u32, b: u32) -> bool {
        self.overlap(a, b)
    }
}

/// Bodies looked at side by side.
const EIGHT: usize = 8;

/// The box of some centres, the largest radius, and whether all is sound.
#[derive(Debug, Clone, Copy)]
struct Extent<const D: usize> {
    lo: [f64; D],
    hi: [f64; D],
    radius: f64,
    sound: bool,
}

impl<const D: usize> Extent<D> {
    const EMPTY: Self = Self { lo: [f64::INFINITY; D], hi: [f64::NEG_INFINITY; D], radius: 0.0, sound: true };

    fn merge(mut self, other: Self) -> Self {
        for axis in 0..D {
            self.lo[axis] = self.lo[axis].min(other.lo[axis]);
            self.hi[axis] = self.hi[axis].max(other.hi[axis]);
        }
        Self { radius: self.radius.max(other.radius), sound: self.sound & other.sound, ..self }
    }
}

/// The extent of some bodies.
struct Survey<'a, const D: usize> {
    bodies: Bodies<'a, D, f64>,
    ids: Range<usize>,
}

impl<const D: usize> Work for Survey<'_, D> {
    type Output = Extent<D>;

    #[inline(always)]
    fn run(self) -> Extent<D> {
        let Self { bodies, ids } = self;
        let (mut lo, mut hi) = ([[f64::INFINITY; EIGHT]; D], [[f64::NEG_INFINITY; EIGHT]; D]);
        let (mut greatest, mut faults) = ([0.0; EIGHT], [0; EIGHT]);
        for first in ids.clone().step_by(EIGHT) {
            let present = EIGHT.min(ids.end - first);
            let radii = eight(present, |out| bodies.radii().map_into(first, out, |radius| radius));
            for lane in 0..EIGHT {
                greatest[lane] = greater(greatest[lane], radii[lane] + bodies.margin());
                faults[lane] |= u64::from(radii[lane].is_nan() | (radii[lane] < 0.0));
            }
            for axis in 0..D {
                let at = eight(present, |out| bodies.centers()[axis].map_into(first, out, |at| at));
                for lane in 0..EIGHT {
                    lo[axis][lane] = -greater(-lo[axis][lane], -at[lane]);
                    hi[axis][lane] = greater(hi[axis][lane], at[lane]);
                    let reach = at[lane].abs() + (radii[lane] + bodies.margin());
                    faults[lane] |= u64::from(reach.is_nan() | (reach > REACH));
                }
            }
        }
        Extent {
            lo: lo.map(|lanes| lanes.into_iter().fold(f64::INFINITY, f64::min)),
            hi: hi.map(|lanes| lanes.into_iter().fold(f64::NEG_INFINITY, f64::max)),
            radius: greatest.into_iter().fold(0.0, f64::max),
            sound: faults == [0; EIGHT],
        }
    }
}

/// Eight values, or `present` of them, the first one in place of the others.
#[inline(always)]
fn eight(present: usize, get: impl Fn(&mut [f64])) -> [f64; EIGHT] {
    let mut values = [0.0; EIGHT];
    if present == EIGHT {
        get(&mut values);
    } else {
        get(&mut values[..present]);
        let first = values[0];
        values[present..].fill(first);
    }
    values
}

/// The greater one; the first where the second is no number, by one instruction.
#[inline(always)]
fn greater(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// What a finder keeps for searches in `f64`.
#[derive(Debug, Default)]
pub(crate) struct Frame<const D: usize> {
    extents: Vec<Extent<D>>,
}

impl<const D: usize> Frame<D> {
    pub(crate) fn bytes(&self) -> usize {
        self.extents.capacity() * size_of::<Extent<D>>()
    }

    /// Narrows the bodies; the slack of a sure hit.
    pub(crate) fn prepare(
        &mut self,
        set: &Set64<'_, D>,
        derived: &mut Derived<D>,
        isa: Isa,
        workers: Workers<'_>,
    ) -> Result<f32, InputError> {
        let bodies = set.bodies;
        bodies.check_shape()?;
        set.layers.map_or(Ok(()), |layers| layers.check(bodies.len()))?;
        let extent = |ids| isa.run(Survey { bodies, ids });
        let extent = reduce(bodies.len(), &mut self.extents, Extent::EMPTY, extent, workers, Extent::merge);
        if !extent.sound {
            InputError::of_bodies(bodies.len(), |id| set.fault(id))?;
        }
        let origin: [f64; D] = core::array::from_fn(|axis| extent.lo[axis] / 2.0 + extent.hi[axis] / 2.0);
        let half = (0..D).map(|axis| extent.hi[axis] / 2.0 - extent.lo[axis] / 2.0).fold(extent.radius, f64::max);
        let scale = power_of_two_below_inverse(half);
        derived.fill(
            bodies.len(),
            |axis, first, out| {
                bodies.centers()[axis].map_into(first, out, |at| ((at - origin[axis]) * scale) as f32);
            },
            |first, out| {
                bodies.radii().map_into(first, out, |radius| {
                    let radius = (radius + bodies.margin()) * scale;
                    (radius + radius * GROWTH.0 + GROWTH.1) as f32
                });
            },
            workers,
        );
        Ok((extent.radius * scale * SLACK.0 + SLACK.1) as f32)
    }
}

/// The greatest power of two by which `length` becomes at most 1, within the range of f64.
fn power_of_two_below_inverse(length: f64) -> f64 {
    if length.is_nan() || length <= 0.0 || length.is_infinite() {
        return 1.0;
    }
    let exponent = i64::from((length.to_bits() >> 52) as u32 & 0x7ff) - 1023;
    let inverse = (-(exponent + 1)).clamp(-1022, 1023);
    f64::from_bits(((inverse + 1023) as u64) << 52)
}

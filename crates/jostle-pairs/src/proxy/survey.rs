//! What is to be known of the bodies of a set before proxies are made of them: how far they extend, whether they are sound.

use core::ops::Range;

use jostle_core::isa::Work;
use jostle_core::{Bodies, Reason, Scalar};

use crate::input::error::RangeFault;
use crate::input::{Cell, Displacements};

/// |coordinate| + radius may reach 2^500: squares of distances then stay finite in `f64`.
const REACH: f64 = f64::from_bits((1023 + 500) << 52);

/// |coordinate| + displacement + radius of a moving body may reach 2^250: then fourth powers do.
const STEP_REACH: f64 = f64::from_bits((1023 + 250) << 52);

/// Cells that a body may be away: then sums of its steps, another body's and an image's fit an `i32`.
const MAX_WRAPS: f64 = (1_u32 << 29) as f64;

/// Bodies looked at side by side.
const EIGHT: usize = 8;

/// How far some bodies extend, once they have been moved into the cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent<const D: usize> {
    /// The box of the middles of their paths; of centres, where nothing moves.
    pub(crate) lo: [f64; D],
    pub(crate) hi: [f64; D],
    /// The largest radius of a circle around the middle that holds the whole path.
    pub(crate) radius: f64,
    /// The largest radius of one around where they begin.
    pub(crate) reach: f64,
    /// Of those moved into the cell, on each axis the greatest sum of |coordinate| and all that was taken off.
    pub(crate) far: f64,
    /// Some have been moved into the cell.
    pub(crate) outside: bool,
    pub(crate) sound: bool,
}

impl<const D: usize> Extent<D> {
    pub(crate) const EMPTY: Self = Self {
        lo: [f64::INFINITY; D],
        hi: [f64::NEG_INFINITY; D],
        radius: 0.0,
        reach: 0.0,
        far: 0.0,
        outside: false,
        sound: true,
    };

    pub(crate) fn merge(mut self, other: Self) -> Self {
        for axis in 0..D {
            self.lo[axis] = self.lo[axis].min(other.lo[axis]);
            self.hi[axis] = self.hi[axis].max(other.hi[axis]);
        }
        Self {
            radius: self.radius.max(other.radius),
            reach: self.reach.max(other.reach),
            far: self.far.max(other.far),
            outside: self.outside | other.outside,
            sound: self.sound & other.sound,
            ..self
        }
    }
}

/// Bodies as the caller gave them, and the space that they are in.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a, const D: usize, T> {
    pub(crate) bodies: Bodies<'a, D, T>,
    pub(crate) moving: Option<Displacements<'a, D>>,
    pub(crate) cell: Option<Cell<D>>,
    /// Whether pairs are decided in `f64`. What is wrong with bodies that are not is found when their tree is built.
    pub(crate) decided: bool,
}

impl<const D: usize, T: Scalar> Given<'_, D, T> {
    #[inline]
    pub(crate) fn center(&self, id: usize) -> [f64; D] {
        let mut center = [0.0; D];
        for axis in 0..D {
            center[axis] = self.bodies.centers()[axis].get(id).to_f64();
        }
        center
    }

    #[inline]
    pub(crate) fn wraps(&self, center: [f64; D]) -> [f64; D] {
        self.cell.map_or([0.0; D], |cell| cell.wraps(center))
    }

    /// The extent of some bodies.
    pub(crate) fn survey(&self, ids: Range<usize>) -> Extent<D> {
        let mut all = Extent::EMPTY;
        for id in ids {
            let (mut middle, radius) = (self.center(id), self.bodies.radius(id).to_f64());
            let wraps = self.wraps(middle);
            if self.decided {
                all.sound &= middle.iter().all(|x| x.abs() + radius <= REACH);
                all.sound &= self.bodies.radii().get(id) >= T::default();
            }
            if let (Some(cell), true) = (&self.cell, wraps != [0.0; D]) {
                let shift = cell.shift(wraps);
                for axis in 0..D {
                    let taken: f64 = (0..D).map(|k| (wraps[k] * cell.space.vectors[k][axis]).abs()).sum();
                    all.far = all.far.max(middle[axis].abs() + taken);
                    middle[axis] -= shift[axis];
                }
                all.outside = true;
                all.sound &= wraps.iter().all(|wraps| wraps.is_nan() || wraps.abs() <= MAX_WRAPS);
            }
            let mut path = 0.0;
            if let Some(moving) = &self.moving {
                let by = moving.get(id);
                all.sound &= (0..D).all(|axis| middle[axis].abs() + by[axis].abs() + radius <= STEP_REACH);
                for axis in 0..D {
                    middle[axis] += by[axis] / 2.0;
                    path += by[axis] * by[axis];
                }
                path = path.sqrt();
            }
            for axis in 0..D {
                all.lo[axis] = all.lo[axis].min(middle[axis]);
                all.hi[axis] = all.hi[axis].max(middle[axis]);
            }
            all.radius = all.radius.max(radius + path / 2.0);
            all.reach = all.reach.max(radius + path);
        }
        all
    }

    /// What is wrong with a body by itself, if something is.
    pub(crate) fn fault(&self, id: usize) -> Option<Reason> {
        let (center, given) = (self.center(id), self.bodies.radii().get(id).to_f64());
        let radius = self.bodies.radius(id).to_f64();
        if !self.decided {
            return None;
        }
        if let Some(axis) = axis_where::<D>(|axis| !center[axis].is_finite()) {
            return Some(Reason::CenterNotFinite { axis });
        }
        if !given.is_finite() {
            return Some(Reason::RadiusNotFinite);
        }
        if given < 0.0 {
            return Some(Reason::RadiusNegative);
        }
        let axis = axis_where::<D>(|axis| center[axis].abs() + radius > REACH)?;
        Some(Reason::TooFar64 { axis })
    }

    /// Why the step or the space does not allow a sound body where it is, if it does not.
    pub(crate) fn range_fault(&self, id: usize) -> Option<RangeFault> {
        let (center, radius) = (self.center(id), self.bodies.radius(id).to_f64());
        if let Some(moving) = &self.moving {
            let by = moving.get(id);
            let fine = |axis: usize| center[axis].abs() + by[axis].abs() + radius <= STEP_REACH;
            if let Some(axis) = axis_where::<D>(|axis| !fine(axis)) {
                return Some(RangeFault::Displacement { axis });
            }
        }
        let wraps = self.wraps(center);
        // A centre that is not finite is named when the tree is built.
        let finite = center.iter().all(|x| x.is_finite());
        let axis = axis_where::<D>(|axis| finite && wraps[axis].abs() > MAX_WRAPS)?;
        Some(RangeFault::TooManyPeriods { axis })
    }
}

/// The first axis on which something fails.
fn axis_where<const D: usize>(fails: impl Fn(usize) -> bool) -> Option<u8> {
    (0..D).find(|&axis| fails(axis)).map(|axis| axis as u8)
}

/// The extent of some bodies in `f64`, at rest in open space, eight at a time.
pub(crate) struct Survey<'a, const D: usize> {
    pub(crate) bodies: Bodies<'a, D, f64>,
    pub(crate) ids: Range<usize>,
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
                greatest[lane] = larger(greatest[lane], radii[lane] + bodies.margin());
                faults[lane] |= u64::from(radii[lane].is_nan() | (radii[lane] < 0.0));
            }
            for axis in 0..D {
                let at = eight(present, |out| bodies.centers()[axis].map_into(first, out, |at| at));
                for lane in 0..EIGHT {
                    lo[axis][lane] = -larger(-lo[axis][lane], -at[lane]);
                    hi[axis][lane] = larger(hi[axis][lane], at[lane]);
                    let reach = at[lane].abs() + (radii[lane] + bodies.margin());
                    faults[lane] |= u64::from(reach.is_nan() | (reach > REACH));
                }
            }
        }
        let radius = greatest.into_iter().fold(0.0, f64::max);
        Extent {
            lo: lo.map(|lanes| lanes.into_iter().fold(f64::INFINITY, f64::min)),
            hi: hi.map(|lanes| lanes.into_iter().fold(f64::NEG_INFINITY, f64::max)),
            radius,
            reach: radius,
            far: 0.0,
            outside: false,
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
fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

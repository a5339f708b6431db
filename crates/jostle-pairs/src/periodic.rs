//! Periodic axes: what leaves on one side comes in on the other.
//!
//! Bodies are moved into one period, and that is joined with itself and with its images: those at half of all offsets, so
//! that each pair comes once. The largest diameter is less than half of a period, so that of all images of two bodies at
//! most one pair overlaps.

use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Bodies, InputError, Reason, Workers};

use crate::derived::{BLOCK, Derived, reduce};
use crate::input::{Input, Set, Space};
use crate::layers::Layers;

/// Offsets of three periodic axes: each may be -1, 0 or 1 periods.
const MAX_IMAGES: usize = 27;

/// Periods that a body may be away: then shifts fit an `i32`.
const MAX_WRAPS: f64 = (1_u32 << 30) as f64;

/// By how much twice the largest diameter has to be less than a period, relative to it: rounding must not make two
/// touches of one.
const CLEARANCE: f64 = 1.0 / 65_536.0;

/// Bodies in a box some axes of which are periodic.
///
/// On an axis with borders `[lo, hi]` the period is `hi - lo` in f32, and a coordinate x counts as `x - w * period`, rounded
/// once, with w the number of whole periods between lo and x; one within the borders stays as it is. Two bodies overlap when
/// `dx*dx + dy*dy (+ dz*dz) <= s*s` with `dx = (xb - xa) + k * period` in f32 for k of -1, 0 or 1: the nearest image of
/// each other. [`Found::shifts`](crate::Found::shifts) tells by how many periods b is moved, w of both included.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, PairFinder, Periodic};
///
/// let circles = Circles::new(&[0.5, 9.5], &[0.0, 0.0], 0.5);
/// let mut finder = PairFinder::new();
/// let found = finder.find(Periodic::new(circles, [Some([0.0, 10.0]), None]))?;
/// assert_eq!(found.pairs(), [[0, 1]]);
/// assert_eq!(found.shifts(), [[-1, 0]]); // 9.5 - 10 is 1 to the left of 0.5
/// # Ok::<(), jostle::InputError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Periodic<'a, const D: usize> {
    pub(crate) bodies: Bodies<'a, D>,
    pub(crate) axes: [Option<[f32; 2]>; D],
    pub(crate) layers: Option<Layers<'a>>,
}

impl<'a, const D: usize> Periodic<'a, D> {
    /// Bodies, and for each axis its borders `[lo, hi]` if it is periodic. A search refuses borders that are not finite
    /// and ascending ([`InputError::Parameter`]), and a period not more than twice the largest diameter
    /// ([`InputError::Period`]).
    #[must_use]
    pub fn new(bodies: Bodies<'a, D>, axes: [Option<[f32; 2]>; D]) -> Self {
        Self { bodies, axes, layers: None }
    }

    /// Keeps only pairs that these layers let meet.
    #[must_use]
    pub fn layers(self, layers: Layers<'a>) -> Self {
        Self { layers: Some(layers), ..self }
    }

    pub(crate) fn of(bodies: Bodies<'a, D>, space: Space<D>, layers: Option<Layers<'a>>) -> Self {
        let borders = |axis: usize| {
            let (lo, period) = (space.origin[axis], space.vectors[axis][axis]);
            space.repeats[axis].then_some([lo as f32, (lo + period) as f32])
        };
        Self { bodies, axes: core::array::from_fn(borders), layers }
    }

    pub(crate) fn check_shape(&self) -> Result<(), InputError> {
        self.bodies.check_shape()?;
        self.check_borders()
    }

    fn check_borders(&self) -> Result<(), InputError> {
        for [lo, hi] in self.axes.into_iter().flatten() {
            let period = hi - lo;
            if !(lo.is_finite() && hi.is_finite() && period > 0.0 && period.is_finite()) {
                let wanted = "the borders must be finite, the upper one above the lower";
                return Err(InputError::Parameter { name: "a period", value: f64::from(period), wanted });
            }
        }
        Ok(())
    }

    /// Whole periods between the lower border and a coordinate; 0 within the borders and on axes that have none.
    #[inline]
    fn wraps(&self, axis: usize, x: f32) -> f64 {
        match self.axes[axis] {
            Some([lo, hi]) if !(lo <= x && x <= hi) => ((f64::from(x) - f64::from(lo)) / f64::from(hi - lo)).floor(),
            _ => 0.0,
        }
    }

    /// Where a coordinate counts.
    #[inline]
    fn wrapped(&self, axis: usize, x: f32) -> f32 {
        let wraps = self.wraps(axis, x);
        let Some([lo, hi]) = self.axes[axis].filter(|_| wraps != 0.0) else { return x };
        // Neither of the two roundings, of the quotient above and of the difference here, may lead out of the borders.
        ((f64::from(x) - wraps * f64::from(hi - lo)) as f32).clamp(lo, hi)
    }
}

impl<'a, const D: usize> From<Periodic<'a, D>> for Input<'a, D> {
    fn from(Periodic { bodies, axes, layers }: Periodic<'a, D>) -> Self {
        Self::within(Set { layers, ..Set::from(bodies) }).periodic(axes)
    }
}

/// The largest radius and the first body that has it, and whether some bodies lie outside the borders, or too far.
#[derive(Debug, Clone, Copy)]
struct Survey {
    radius: f32,
    id: u32,
    outside: bool,
    too_far: bool,
}

impl Survey {
    const NOTHING: Self = Self { radius: 0.0, id: 0, outside: false, too_far: false };

    fn merge(self, later: Self) -> Self {
        let larger = if later.radius > self.radius { later } else { self };
        Self { outside: self.outside | later.outside, too_far: self.too_far | later.too_far, ..larger }
    }
}

/// What a finder keeps for periodic searches.
#[derive(Debug, Clone)]
pub(crate) struct Cell<const D: usize> {
    surveys: Vec<Survey>,
    /// Offsets in periods, the zero first, then half of the others, then those opposite to these.
    steps: [[i32; D]; MAX_IMAGES],
    pub(crate) offsets: [[f32; D]; MAX_IMAGES],
    pub(crate) images: usize,
    outside: bool,
    pub(crate) shifts: Vec<[i32; D]>,
}

impl<const D: usize> Default for Cell<D> {
    fn default() -> Self {
        Self {
            surveys: Vec::new(),
            steps: [[0; D]; MAX_IMAGES],
            offsets: [[0.0; D]; MAX_IMAGES],
            images: 1,
            outside: false,
            shifts: Vec::new(),
        }
    }
}

impl<const D: usize> Cell<D> {
    pub(crate) fn bytes(&self) -> usize {
        self.surveys.capacity() * size_of::<Survey>() + self.shifts.capacity() * size_of::<[i32; D]>()
    }

    /// Images that pairs are sought with, the bodies themselves included.
    pub(crate) fn half(&self) -> usize {
        self.images.div_ceil(2)
    }

    /// Moves the bodies into one period. What is not finite stays so, and is refused with the tree.
    pub(crate) fn prepare(
        &mut self,
        periodic: &Periodic<'_, D>,
        derived: &mut Derived<D>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        let bodies = periodic.bodies;
        periodic.check_shape()?;
        periodic.layers.map_or(Ok(()), |layers| layers.check(bodies.len()))?;
        let survey = |ids: core::ops::Range<usize>| {
            ids.fold(Survey::NOTHING, |all, id| {
                let (center, radius) = (bodies.center(id), bodies.radius(id));
                let wraps = |axis: usize| periodic.wraps(axis, center[axis]);
                let outside = (0..D).any(|axis| wraps(axis) != 0.0);
                let too_far = outside && (0..D).any(|axis| center[axis].is_finite() && wraps(axis).abs() > MAX_WRAPS);
                all.merge(Survey { radius, id: id as u32, outside, too_far })
            })
        };
        let survey = reduce(bodies.len(), &mut self.surveys, Survey::NOTHING, survey, workers, Survey::merge);
        if survey.too_far {
            let far = |id, axis: usize| periodic.wraps(axis, bodies.center(id)[axis]).abs() > MAX_WRAPS;
            let reason = |axis| Reason::TooManyPeriods { axis: axis as u8 };
            InputError::of_bodies(bodies.len(), |id| (0..D).find(|&axis| far(id, axis)).map(reason))?;
        }
        derived.fill(
            bodies.len(),
            |axis, first, out| bodies.centers()[axis].map_into(first, out, |at| periodic.wrapped(axis, at)),
            |first, out| bodies.radii().map_into(first, out, |radius| radius + bodies.margin()),
            workers,
        );
        self.outside = survey.outside;
        if survey.radius.is_finite() {
            check_periods(periodic, survey)?;
        }
        self.lay_out(periodic);
        Ok(())
    }

    /// The offsets of all images.
    fn lay_out(&mut self, periodic: &Periodic<'_, D>) {
        let periods = periodic.axes.map(|axis| axis.map(|[lo, hi]| hi - lo));
        self.images = 1;
        for number in 1..3_usize.pow(D as u32) {
            let step: [i32; D] = core::array::from_fn(|axis| (number / 3_usize.pow(axis as u32) % 3) as i32 - 1);
            let first = step.iter().rev().find(|&&step| step != 0);
            if first == Some(&1) && (0..D).all(|axis| step[axis] == 0 || periods[axis].is_some()) {
                self.steps[self.images] = step;
                self.images += 1;
            }
        }
        let half = self.images;
        for image in 1..half {
            self.steps[half + image - 1] = self.steps[image].map(|step| -step);
        }
        self.images = 2 * half - 1;
        for (offset, step) in self.offsets.iter_mut().zip(&self.steps) {
            *offset = core::array::from_fn(|axis| step[axis] as f32 * periods[axis].unwrap_or(0.0));
        }
    }

    /// By how many periods the second of each pair is moved to touch the first; the pairs of each image end at `ends`.
    pub(crate) fn find_shifts(
        &mut self,
        periodic: &Periodic<'_, D>,
        derived: &Derived<D>,
        pairs: &[[u32; 2]],
        ends: &[usize],
        workers: Workers<'_>,
    ) {
        let Self { steps, outside, shifts, .. } = self;
        resize_with_headroom(shifts, pairs.len(), [0; D]);
        let (view, bodies) = (derived.view(), periodic.bodies);
        workers.fill_blocks("shifts", shifts, BLOCK, |first, block| {
            let mut image = ends.partition_point(|&end| end <= first);
            for (shift, at) in block.iter_mut().zip(first..) {
                while at >= ends[image] {
                    image += 1;
                }
                let [a, b] = pairs[at].map(|id| id as usize);
                *shift = [0; D];
                for axis in 0..D {
                    if steps[image][axis] != 0 {
                        // It is less than half a period: so b is moved against the difference.
                        let ahead = view.centers()[axis].get(b) > view.centers()[axis].get(a);
                        shift[axis] = if ahead { -1 } else { 1 };
                    }
                    if *outside {
                        let wraps = |id: usize| periodic.wraps(axis, bodies.centers()[axis].get(id)) as i32;
                        shift[axis] += wraps(a) - wraps(b);
                    }
                }
            }
        });
    }
}

fn check_periods<const D: usize>(periodic: &Periodic<'_, D>, survey: Survey) -> Result<(), InputError> {
    let diameter = 2.0 * f64::from(survey.radius);
    for (axis, borders) in periodic.axes.iter().enumerate() {
        let Some([lo, hi]) = *borders else { continue };
        let period = f64::from(hi - lo);
        if 2.0 * diameter >= period * (1.0 - CLEARANCE) {
            return Err(InputError::Period { axis: axis as u8, period, diameter, id: survey.id });
        }
    }
    Ok(())
}

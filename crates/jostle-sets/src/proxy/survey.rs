//! The survey of a set before proxies are made of it: how far its bodies extend, and whether they are sound.

mod side_by_side;

use core::ops::Range;

use jostle_core::axes::{Axes, from_axes};
use jostle_core::limits::REACH_F64;
use jostle_core::{Bodies, Column, Isa, Reason, Scalar};

use crate::input::error::RangeFault;
use crate::input::{Displacements, UnitCell};
use side_by_side::{COPIED, LANES, MoveBy, MoveIn, MovedIn, NoteFaults, Spread, Take, in_rows, run};

/// Growth of a body's reach, relative to itself: 2^-20.
pub(super) const RELATIVE: f64 = 1.0 / 1_048_576.0;

/// The greatest |coordinate| + displacement + radius of a moving body, 2^250. Fourth powers then stay in the range of
/// `f64`.
pub(super) const STEP_REACH: f64 = f64::from_bits((1023 + 250) << 52);

/// Cells that a body may be away, at most. Sums of its steps, another body's and an image's then fit an `i32`.
pub(super) const MAX_WRAPS: f64 = (1_u32 << 29) as f64;

/// Bodies in the sample that tells what the bodies of a set typically reach, at most.
const SAMPLES: usize = 32;

/// How far some bodies extend, once they have been moved into the cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Extent<const D: usize> {
    /// The box of the middles of their paths; of centres, where nothing moves.
    pub(crate) lo: [f64; D],
    pub(crate) hi: [f64; D],
    /// The largest radius of a circle around the middle that holds the whole path.
    pub(crate) radius: f64,
    /// The largest radius of a circle around the beginning of a path that holds the whole path.
    pub(crate) reach: f64,
    /// The least radius.
    pub(crate) least: f64,
    /// The length of the longest path.
    pub(crate) path: f64,
    /// On each axis, the greatest sum of |coordinate| and all that was taken off, of bodies moved into the cell.
    pub(crate) far: [f64; D],
    /// Some bodies have been moved into the cell.
    pub(crate) outside: bool,
    pub(crate) sound: bool,
}

impl<const D: usize> Extent<D> {
    pub(crate) const EMPTY: Self = Self {
        lo: [f64::INFINITY; D],
        hi: [f64::NEG_INFINITY; D],
        radius: 0.0,
        reach: 0.0,
        least: f64::INFINITY,
        path: 0.0,
        far: [0.0; D],
        outside: false,
        sound: true,
    };

    pub(crate) fn merge(mut self, other: Self) -> Self {
        for axis in 0..D {
            self.lo[axis] = self.lo[axis].min(other.lo[axis]);
            self.hi[axis] = self.hi[axis].max(other.hi[axis]);
            self.far[axis] = self.far[axis].max(other.far[axis]);
        }
        Self {
            radius: self.radius.max(other.radius),
            reach: self.reach.max(other.reach),
            least: self.least.min(other.least),
            path: self.path.max(other.path),
            outside: self.outside | other.outside,
            sound: self.sound & other.sound,
            ..self
        }
    }

    /// The largest number that coordinates of the bodies come from.
    pub(crate) fn largest(&self) -> [f64; D] {
        from_axes(|axis| self.lo[axis].abs().max(self.hi[axis].abs()) + self.reach + self.far[axis])
    }

    /// The greatest `far` of all axes.
    pub(crate) fn farthest(&self) -> f64 {
        self.far.into_iter().fold(0.0, f64::max)
    }
}

/// Bodies as the caller gave them, and the space that they are in.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a, const D: usize, T> {
    pub(crate) bodies: Bodies<'a, D, T>,
    pub(crate) moving: Option<Displacements<'a, D>>,
    pub(crate) cell: Option<UnitCell<D>>,
    /// Whether pairs are decided in `f64`. Faults of direct bodies are found when their tree is built.
    pub(crate) decided: bool,
    /// The instructions by which bodies are read many at a time.
    pub(crate) isa: Isa,
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

    /// Moves the bodies from number `first` on into the cell, and counts by how many vectors. Returns the extent of the
    /// moved bodies but for their radii.
    pub(crate) fn move_in(&self, first: usize, wraps: &mut [[i32; D]]) -> Extent<D> {
        let Some(cell) = &self.cell else { return Extent::EMPTY };
        let (mut centers, mut moved) = ([[0.0; COPIED]; D], MovedIn::<D>::NONE);
        for (first, wraps) in (first..).step_by(COPIED).zip(wraps.chunks_mut(COPIED)) {
            for (axis, centers) in centers.iter_mut().enumerate() {
                self.read_centers(axis, first, &mut centers[..wraps.len()]);
                in_rows(centers, wraps.len());
            }
            run(self.isa, MoveIn { cell, centers: &centers, wraps, moved: &mut moved });
        }
        let mut extent = Extent::EMPTY;
        for axis in 0..D {
            extent.lo[axis] = moved.lo[axis].into_iter().fold(f64::INFINITY, f64::min);
            extent.hi[axis] = moved.hi[axis].into_iter().fold(f64::NEG_INFINITY, f64::max);
            extent.far[axis] = moved.far[axis].into_iter().fold(0.0, f64::max);
        }
        extent.outside = moved.outside != [0; LANES];
        extent.sound = moved.too_far == [0; LANES];
        extent
    }

    /// Moves the coordinates of bodies on an axis into the cell, by such counts.
    pub(crate) fn move_by(&self, wraps: &[[i32; D]], axis: usize, x: &mut [f64]) {
        if let Some(cell) = &self.cell {
            run(self.isa, MoveBy { cell, axis, wraps, x });
        }
    }

    /// The least reach of a sample of bodies about the middles of their paths, once one in eight is set aside.
    pub(super) fn typical_radius(&self) -> f64 {
        let (count, mut least) = (self.bodies.len().min(SAMPLES), [f64::INFINITY; SAMPLES / 8]);
        for sample in 0..count {
            let mut radius = self.reach(sample * (self.bodies.len() / count));
            for slot in &mut least {
                if radius < *slot {
                    core::mem::swap(slot, &mut radius);
                }
            }
        }
        least[count.saturating_sub(1) / 8]
    }

    /// An upper bound on the reach of a body about the middle of its path.
    #[inline]
    fn reach(&self, id: usize) -> f64 {
        let path: f64 = self.moving.map_or(0.0, |moving| moving.get(id).iter().map(|by| by.abs()).sum());
        self.bodies.radius(id).to_f64() + path / 2.0
    }

    /// How far bodies at rest reach about their centres: an extent without a box.
    pub(crate) fn survey_radii(&self, ids: Range<usize>) -> Extent<D> {
        let (mut radii, mut sizes) = ([T::default(); COPIED], self.no_sizes(&ids));
        for first in ids.clone().step_by(COPIED) {
            self.take_radii(&mut radii, first..ids.end.min(first + COPIED), &mut sizes);
        }
        let [least, radius] = self.radii_of(&sizes);
        Extent { radius, reach: radius, least, ..Extent::EMPTY }
    }

    /// Reads the centres of the bodies from number `first` on, on one axis.
    pub(crate) fn read_centers(&self, axis: usize, first: usize, out: &mut [f64]) {
        self.bodies.centers()[axis].read_in_double(first, out);
    }

    /// Takes the radii of some bodies into `sizes`, and leaves them in the buffer.
    fn take_radii<'b>(
        &self,
        buffer: &'b mut [T; COPIED],
        ids: Range<usize>,
        sizes: &mut Spread<T>,
    ) -> &'b [[T; LANES]] {
        self.bodies.radii().copy_into(ids.start, &mut buffer[..ids.len()]);
        let rows = in_rows(buffer, ids.len());
        run(self.isa, Take { spread: sizes, rows });
        rows
    }

    /// Sizes before any are taken in: the least is that of one of these bodies.
    fn no_sizes(&self, ids: &Range<usize>) -> Spread<T> {
        let any = if ids.is_empty() { T::default() } else { self.bodies.radii().get(ids.start) };
        Spread { least: [any; LANES], ..Spread::of(T::default()) }
    }

    /// The least and the greatest radius, with the margin.
    fn radii_of(&self, Spread { least, greatest }: &Spread<T>) -> [f64; 2] {
        let least = least.iter().fold(least[0], |least, &size| if size < least { size } else { least });
        let greatest = greatest.iter().fold(T::default(), |most, &size| if size > most { size } else { most });
        [least, greatest].map(|radius| (radius + self.bodies.margin()).to_f64())
    }

    /// The extent of some bodies at rest where they are; some may lie outside of the cell if it says so.
    pub(crate) fn survey(&self, ids: Range<usize>) -> Extent<D> {
        let &Self { bodies, cell, decided, isa, .. } = self;
        let (mut centers, mut radii) = ([[T::default(); COPIED]; D], [T::default(); COPIED]);
        let any = |column: Column<'_, T>| if ids.is_empty() { T::default() } else { column.get(ids.start) };
        let mut axes = bodies.centers().map(|column| Spread::of(any(column)));
        let mut sizes = self.no_sizes(&ids);
        let mut faults = [0; LANES];
        for first in ids.clone().step_by(COPIED) {
            let count = COPIED.min(ids.end - first);
            let radii = self.take_radii(&mut radii, first..first + count, &mut sizes);
            for axis in 0..D {
                bodies.centers()[axis].copy_into(first, &mut centers[axis][..count]);
                let centers = in_rows(&mut centers[axis], count);
                run(isa, Take { spread: &mut axes[axis], rows: centers });
                if decided {
                    run(isa, NoteFaults { centers, radii, margin: bodies.margin(), faults: &mut faults });
                }
            }
        }
        let borders = axes.axes(|axis| axis.borders());
        let [least, radius] = self.radii_of(&sizes);
        let mut extent =
            Extent { radius, reach: radius, least, sound: !decided || faults == [0; LANES], ..Extent::EMPTY };
        for axis in 0..D {
            [extent.lo[axis], extent.hi[axis]] = borders[axis];
        }
        // In a cell whose walls lie in the axes, the corners of the box of all centres say whether bodies lie within.
        extent.outside = cell.is_some_and(|cell| !cell.is_straight() || !cell.holds(&borders));
        extent
    }

    /// Returns the fault of a body by itself, if it has one.
    pub(crate) fn fault(&self, id: usize) -> Option<Reason> {
        let (center, given) = (self.center(id), self.bodies.radii().get(id).to_f64());
        let radius = self.bodies.radius(id).to_f64();
        if !self.decided {
            return None;
        }
        if let Some(axis) = axis_where::<D>(&|axis| !center[axis].is_finite()) {
            return Some(Reason::CenterNotFinite { axis });
        }
        if !given.is_finite() {
            return Some(Reason::RadiusNotFinite);
        }
        if given < 0.0 {
            return Some(Reason::RadiusNegative);
        }
        let axis = axis_where::<D>(&|axis| center[axis].abs() + radius > REACH_F64)?;
        Some(Reason::TooFar64 { axis })
    }

    /// Returns why the step or the space does not allow the place of a sound body, if it does not.
    pub(crate) fn range_fault(&self, id: usize) -> Option<RangeFault> {
        let (center, radius) = (self.center(id), self.bodies.radius(id).to_f64());
        if let Some(moving) = &self.moving {
            let by = moving.get(id);
            let fine = |axis: usize| center[axis].abs() + by[axis].abs() + radius <= STEP_REACH;
            if let Some(axis) = axis_where::<D>(&|axis| !fine(axis)) {
                return Some(RangeFault::Displacement { axis });
            }
        }
        let wraps = self.wraps(center);
        // A centre that is not finite is named when the tree is built.
        let finite = center.iter().all(|x| x.is_finite());
        let axis = axis_where::<D>(&|axis| finite && wraps[axis].abs() > MAX_WRAPS)?;
        Some(RangeFault::TooManyPeriods { axis })
    }
}

/// The first axis on which something fails.
fn axis_where<const D: usize>(fails: &dyn Fn(usize) -> bool) -> Option<u8> {
    (0..D).find(|&axis| fails(axis)).map(|axis| axis as u8)
}

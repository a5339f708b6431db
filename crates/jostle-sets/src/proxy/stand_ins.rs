//! The boxes that stand in for the bodies of a set: a survey, which refuses bodies that are not sound, and the making
//! of the boxes.

use core::ops::Range;

use jostle_core::axes::{Axes, Both, slices_mut};
use jostle_core::scratch::resize_with_headroom;
use jostle_core::{BoxView, Reason, Scalar, ViewError, Workers};

use crate::InputError;
use crate::input::error::RangeFault;
use crate::input::shaped::Shaped;
use crate::input::{Set, Source, UnitCell};
use crate::proxy::boxed::{BoxFrame, Finite};
use crate::proxy::columns::{BLOCK, reduce, set_each};
use crate::proxy::solid::Solid;
use crate::proxy::sorted::SortedSet;
use crate::proxy::survey::MAX_WRAPS;

impl<const D: usize> SortedSet<D> {
    /// A body of a set as the caller gave it. The bodies of a tree have been read before.
    #[inline]
    pub fn solid(&self, set: &Set<'_, D>, id: usize) -> Solid<D> {
        let round = |center: [f64; D], radius: f64| Solid::Round { center, radius };
        match &set.source {
            Source::View(bodies) => round(bodies.center(id).axes(f64::from), bodies.radius(id).into()),
            Source::Double(bodies) => round(bodies.center(id), bodies.radius(id)),
            Source::Tree(_) => {
                let bodies = self.proxies.tree_view();
                round(bodies.center(id).axes(f64::from), bodies.radius(id).into())
            }
            Source::Shaped(Shaped::Boxes(boxes)) => boxed(boxes, id),
            Source::Shaped(Shaped::Boxes64(boxes)) => boxed(boxes, id),
            Source::Shaped(Shaped::Capsules(capsules)) => Solid::Capsule {
                ends: capsules.ends(id).both(|end| end.axes(f64::from)),
                radius: capsules.radius(id).into(),
            },
            Source::Shaped(Shaped::Capsules64(capsules)) => {
                Solid::Capsule { ends: capsules.ends(id), radius: capsules.radius(id) }
            }
        }
    }

    /// Reads the bodies of a set, if it is a tree.
    pub fn read(&mut self, set: &Set<'_, D>) {
        if let Source::Tree(tree) = set.source {
            self.proxies.read_tree(tree);
        }
    }

    /// Returns the fault of a body by itself, if it has one.
    pub fn solid_fault(&self, set: &Set<'_, D>, id: usize) -> Option<Reason> {
        match &set.source {
            Source::Shaped(Shaped::Boxes(boxes)) => boxes.fault(id),
            Source::Shaped(Shaped::Boxes64(boxes)) => boxes.fault(id),
            Source::Shaped(Shaped::Capsules(capsules)) => capsules.fault(id),
            Source::Shaped(Shaped::Capsules64(capsules)) => capsules.fault(id),
            Source::View(_) | Source::Double(_) | Source::Tree(_) => self.proxies.fault(set, id),
        }
    }

    /// Surveys all bodies of a set. Refuses bodies that are not sound, or whose place the space does not allow.
    pub(crate) fn survey_solids(
        &mut self,
        set: &Set<'_, D>,
        cell: Option<&UnitCell<D>>,
        workers: Workers<'_>,
    ) -> Result<Finite<D>, InputError> {
        self.read(set);
        let mut columns = core::mem::take(&mut self.columns);
        let fault = |id: usize| self.solid_fault(set, id);
        let survey = |ids: Range<usize>| {
            ids.fold(Finite::NONE, |all, id| {
                let sound = fault(id).is_none();
                let solid = self.solid(set, id);
                Finite { sound, ..Finite::NONE }.merge(all).merge(if sound { surveyed(&solid, cell) } else { all })
            })
        };
        let all = reduce(set.len(), &mut columns.extents, Finite::NONE, &survey, workers, &Finite::merge);
        let refused = if all.sound {
            Ok(())
        } else {
            let refused = ViewError::of_bodies(set.len(), fault).map_err(InputError::from);
            refused.and_then(|()| InputError::of_range(set.len(), |id| range_fault(&self.solid(set, id), cell)))
        };
        self.columns = columns;
        self.proxies.outside = all.outside;
        refused.map(|()| all)
    }

    /// Counts by how many vectors each body of a surveyed set is moved into the cell.
    pub(crate) fn count_wraps(&mut self, set: &Set<'_, D>, cell: Option<&UnitCell<D>>, workers: Workers<'_>) {
        let Some(cell) = cell.filter(|_| self.proxies.outside) else { return };
        let mut wraps = core::mem::take(&mut self.proxies.wraps);
        resize_with_headroom(&mut wraps, set.len());
        workers.fill_blocks("wraps", &mut wraps, BLOCK, |first, block| {
            set_each(first, block, |id| cell.wraps(self.solid(set, id).middle()).axes(|wraps| wraps as i32));
        });
        self.proxies.wraps = wraps;
    }

    /// Makes the boxes that stand in for the bodies of a set, of which it is known by how many vectors each is moved.
    pub(crate) fn fill_boxes(
        &mut self,
        set: &Set<'_, D>,
        cell: Option<&UnitCell<D>>,
        frame: &BoxFrame<D>,
        workers: Workers<'_>,
    ) {
        let mut boxes = core::mem::take(&mut self.columns);
        boxes.make_room(set.len());
        let columns = boxes.corners.each_mut().both(slices_mut);
        workers.fill_columns("boxes", columns, BLOCK, |first, [lo, hi]| {
            for at in 0..lo[0].len() {
                let id = first + at;
                let wraps = self.proxies.wraps_of(id as u32).axes(f64::from);
                let taken = cell.map_or([0.0; D], |cell| cell.shift(wraps));
                let solid = self.solid(set, id);
                let mut ends = [[0.0; 2]; D];
                for axis in 0..D {
                    ends[axis] = solid.extent(axis, taken[axis], frame.origin[axis]);
                }
                let widest = || {
                    let finite = ends.as_flattened().iter().map(|end| end.abs()).filter(|end| end.is_finite());
                    finite.fold(0.0, f64::max)
                };
                for axis in 0..D {
                    let [low, high] = ends[axis];
                    (lo[axis][at], hi[axis][at]) = (frame.border(low, 0, widest), frame.border(high, 1, widest));
                }
            }
        });
        self.columns = boxes;
    }
}

/// Returns how far a body reaches once it has been moved into the cell, and whether its place is allowed.
fn surveyed<const D: usize>(solid: &Solid<D>, cell: Option<&UnitCell<D>>) -> Finite<D> {
    let (mut all, mut shift) = (Finite::NONE, [0.0; D]);
    if let Some(cell) = cell {
        let wraps = cell.wraps(solid.middle());
        all.sound = range_fault(solid, Some(cell)).is_none();
        all.outside = wraps != [0.0; D];
        if all.outside {
            shift = cell.shift(wraps);
        }
        for axis in (0..D).filter(|_| all.outside) {
            let taken: f64 = (0..D).map(|k| (wraps[k] * cell.space.vectors[k][axis]).abs()).sum();
            let [lo, hi] = solid.extent(axis, 0.0, 0.0).map(f64::abs);
            let far = lo.max(hi) + taken;
            all.far = all.far.max(if far.is_finite() { far } else { taken });
        }
    }
    for axis in 0..D {
        let [lo, hi] = solid.extent(axis, shift[axis], 0.0);
        for end in [lo, hi] {
            if end.is_finite() {
                (all.lo[axis], all.hi[axis]) = (all.lo[axis].min(end), all.hi[axis].max(end));
            }
        }
        let half = hi / 2.0 - lo / 2.0;
        all.reach[axis] = if half.is_finite() { half } else { 0.0 };
    }
    all.least = all.reach.iter().copied().fold(0.0, f64::max);
    all
}

/// Returns why a space that repeats does not allow the place of a body, if it does not.
fn range_fault<const D: usize>(solid: &Solid<D>, cell: Option<&UnitCell<D>>) -> Option<RangeFault> {
    let cell = cell?;
    let endless = |axis: &usize| {
        (cell.space.repeats[*axis] || !cell.is_straight())
            && solid.extent(*axis, 0.0, 0.0).iter().any(|end| !end.is_finite())
    };
    if let Some(axis) = (0..D).find(endless) {
        return Some(RangeFault::Endless { axis: axis as u8 });
    }
    let wraps = cell.wraps(solid.middle());
    let axis = (0..D).find(|&axis| wraps[axis].abs() > MAX_WRAPS)?;
    Some(RangeFault::TooManyPeriods { axis: axis as u8 })
}

fn boxed<const D: usize, T: Scalar>(boxes: &BoxView<'_, D, T>, id: usize) -> Solid<D> {
    let (mut lo, mut hi) = ([0.0; D], [0.0; D]);
    for axis in 0..D {
        let [low, high] = boxes.corners();
        lo[axis] = (low[axis].get(id) - boxes.margin()).to_f64();
        hi[axis] = (high[axis].get(id) + boxes.margin()).to_f64();
    }
    Solid::Boxed { lo, hi }
}

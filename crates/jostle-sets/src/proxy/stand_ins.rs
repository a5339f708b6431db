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
            let at_once = match &set.source {
                Source::Shaped(Shaped::Boxes(boxes)) if cell.is_none() => surveyed_boxes(boxes, ids.clone()),
                Source::Shaped(Shaped::Boxes64(boxes)) if cell.is_none() => surveyed_boxes(boxes, ids.clone()),
                _ => None,
            };
            if let Some(all) = at_once {
                return all;
            }
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
            match &set.source {
                Source::Shaped(Shaped::Boxes(boxes)) if cell.is_none() && !frame.reaches_beyond() => {
                    return fill_with_boxes(frame, boxes, first, [lo, hi]);
                }
                Source::Shaped(Shaped::Boxes64(boxes)) if cell.is_none() && !frame.reaches_beyond() => {
                    return fill_with_boxes(frame, boxes, first, [lo, hi]);
                }
                _ => {}
            }
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

/// Boxes that are surveyed side by side.
const PIECE: usize = 64;

/// Returns how far some boxes in open space reach, as [`surveyed`] does of each; `None` if some of them are not sound.
fn surveyed_boxes<const D: usize, T: Scalar>(boxes: &BoxView<'_, D, T>, ids: Range<usize>) -> Option<Finite<D>> {
    let ([lower, upper], margin) = (boxes.corners(), boxes.margin());
    let (mut all, mut sound) = (Finite::NONE, true);
    let [mut lo, mut hi, mut reach] = [f64::INFINITY, f64::NEG_INFINITY, 0.0].map(|start| [[start; PIECE]; D]);
    for first in ids.clone().step_by(PIECE) {
        let count = PIECE.min(ids.end - first);
        let mut longest = [0.0; PIECE];
        for axis in 0..D {
            let [mut low, mut high] = [[0.0; PIECE]; 2];
            lower[axis].map_into(first, &mut low[..count], |x| (x - margin).to_f64());
            upper[axis].map_into(first, &mut high[..count], |x| (x + margin).to_f64());
            for at in 0..count {
                let (from, to) = (low[at], high[at]);
                sound &= (from <= to) & (from < f64::INFINITY) & (to > f64::NEG_INFINITY);
                // Of a box without an end, the other one counts; if it has none, neither counts.
                lo[axis][at] = lo[axis][at].min(if from > f64::NEG_INFINITY { from } else { to });
                hi[axis][at] = hi[axis][at].max(if to < f64::INFINITY { to } else { from });
                let half = to / 2.0 - from / 2.0;
                let half = if half < f64::INFINITY { half } else { 0.0 };
                reach[axis][at] = reach[axis][at].max(half);
                longest[at] = half.max(longest[at]);
            }
        }
        all.least = longest[..count].iter().fold(all.least, |least, &half| least.min(half));
    }
    for axis in 0..D {
        all.lo[axis] = lo[axis].iter().copied().fold(f64::INFINITY, f64::min);
        all.hi[axis] = hi[axis].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        all.reach[axis] = reach[axis].iter().copied().fold(0.0, f64::max);
    }
    sound.then_some(all)
}

/// Makes boxes in a frame of the boxes from number `first` on, which are in open space.
fn fill_with_boxes<const D: usize, T: Scalar>(
    frame: &BoxFrame<D>,
    boxes: &BoxView<'_, D, T>,
    first: usize,
    [lo, hi]: [[&mut [f32]; D]; 2],
) {
    let ([lower, upper], margin) = (boxes.corners(), boxes.margin());
    for (axis, (lo, hi)) in lo.into_iter().zip(hi).enumerate() {
        let border = |x: T, side: usize| frame.border(x.to_f64() - frame.origin[axis], side, || 0.0);
        lower[axis].map_into(first, lo, |x| border(x - margin, 0));
        upper[axis].map_into(first, hi, |x| border(x + margin, 1));
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

#[cfg(test)]
mod tests {
    use jostle_core::Boxes64;

    use super::{Finite, boxed, surveyed, surveyed_boxes};

    /// Boxes at whole numbers, some of them without an end on either side.
    fn corners(seed: u64) -> [[Vec<f64>; 2]; 2] {
        let mut state = seed;
        let mut random = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        let mut corners = [const { [const { Vec::new() }; 2] }; 2];
        for _ in 0..1 + seed {
            for axis in 0..2 {
                let low = random(1000) as f64 - 500.0;
                let high = low + random(100) as f64;
                corners[0][axis].push(if random(9) == 0 { f64::NEG_INFINITY } else { low });
                corners[1][axis].push(if random(9) == 0 { f64::INFINITY } else { high });
            }
        }
        corners
    }

    #[test]
    fn boxes_side_by_side_reach_as_far_as_each_does() {
        for seed in 0..200 {
            let [lo, hi] = corners(seed);
            let boxes = Boxes64::new(lo.each_ref(), hi.each_ref()).with_margin(0.25);
            let first = seed as usize / 3;
            let each = (first..boxes.len()).map(|id| surveyed(&boxed(&boxes, id), None));
            let all = each.fold(Finite::NONE, Finite::merge);
            let found = surveyed_boxes(&boxes, first..boxes.len()).expect("sound boxes");
            assert_eq!(format!("{found:?}"), format!("{all:?}"), "{seed}");
        }
    }

    #[test]
    fn boxes_that_are_not_sound_are_left_to_a_closer_look() {
        for (axis, side, bad) in [(0, 0, f64::NAN), (1, 1, f64::NAN), (1, 0, f64::INFINITY), (0, 1, -1e9)] {
            let mut corners = corners(150);
            corners[side][axis][130] = bad;
            let [lo, hi] = &corners;
            let boxes = Boxes64::new(lo.each_ref(), hi.each_ref());
            assert!(surveyed_boxes(&boxes, 0..boxes.len()).is_none(), "{bad}");
            assert!(surveyed_boxes(&boxes, 0..130).is_some());
        }
    }
}

//! The boxes that stand in for the bodies of a set: a survey, which refuses bodies that are not sound, and the making
//! of the boxes.

use core::ops::Range;

use jostle_core::axes::{Axes, Both, from_axes, slices_mut};
use jostle_core::isa::Work;
use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Reason, ViewError, Workers};

use crate::InputError;
use crate::compiled::compiled_here;
use crate::input::error::RangeFault;
use crate::input::shaped::Shaped;
use crate::input::{Set, Source, UnitCell};
use crate::proxy::Proxies;
use crate::proxy::boxed::{BoxFrame, Finite};
use crate::proxy::columns::{BLOCK, reduce, set_each};
use crate::proxy::piece::{PIECE, Piece, Reached};
use crate::proxy::solid::{Solid, of_path};
use crate::proxy::sorted::SortedSet;
use crate::proxy::survey::{MAX_WRAPS, STEP_REACH};

impl<const D: usize> Proxies<D> {
    /// A body of a set as the caller gave it. The bodies of a tree have been read before.
    #[inline]
    pub fn solid(&self, set: &Set<'_, D>, id: usize) -> Solid<D> {
        let round = |center: [f64; D], radius: f64| Solid::Round { center, radius };
        match &set.source {
            Source::View(bodies) => round(bodies.center(id).axes(f64::from), bodies.radius(id).into()),
            Source::Double(bodies) => round(bodies.center(id), bodies.radius(id)),
            Source::Tree(_) => {
                let bodies = self.tree_view();
                round(bodies.center(id).axes(f64::from), bodies.radius(id).into())
            }
            Source::Shaped(shaped) => Solid::shaped(shaped, id),
        }
    }

    /// Returns the fault of a body by itself, if it has one.
    pub fn solid_fault(&self, set: &Set<'_, D>, id: usize) -> Option<Reason> {
        fault_of_solid(self, set, id)
    }
}

impl<const D: usize> SortedSet<D> {
    /// See [`Proxies::solid`].
    #[inline]
    pub fn solid(&self, set: &Set<'_, D>, id: usize) -> Solid<D> {
        self.proxies.solid(set, id)
    }

    /// Reads the bodies of a set, if it is a tree.
    fn read(&mut self, set: &Set<'_, D>) {
        if let Source::Tree(tree) = set.source {
            self.proxies.read_tree(tree);
        }
    }

    fn solid_fault(&self, set: &Set<'_, D>, id: usize) -> Option<Reason> {
        self.proxies.solid_fault(set, id)
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
        let isa = self.boxes.isa();
        let survey = |ids: Range<usize>| isa.run(SurveyBlock { set, sorted: self, cell, ids });
        let all = reduce(set.len(), &mut columns.extents, Finite::NONE, &survey, workers, &Finite::merge);
        let refused = if all.sound {
            Ok(())
        } else {
            let refused = ViewError::of_bodies(set.len(), fault).map_err(InputError::from);
            refused.and_then(|()| {
                InputError::of_range(set.len(), |id| range_fault(&self.solid(set, id), set.by(id), cell))
            })
        };
        self.columns = columns;
        self.proxies.outside = all.outside;
        refused.map(|()| all)
    }

    /// As [`surveyed`], of some bodies, which may not be sound.
    #[inline(never)]
    fn surveyed_one_by_one(&self, set: &Set<'_, D>, cell: Option<&UnitCell<D>>, ids: Range<usize>) -> Finite<D> {
        ids.fold(Finite::NONE, |all, id| {
            let sound = self.solid_fault(set, id).is_none();
            let solid = self.solid(set, id);
            let of_it = || surveyed(&solid, set.by(id), cell);
            Finite { sound, ..Finite::NONE }.merge(all).merge(if sound { of_it() } else { all })
        })
    }

    /// Counts by how many vectors each body of a surveyed set is moved into the cell.
    pub(crate) fn count_wraps(&mut self, set: &Set<'_, D>, cell: Option<&UnitCell<D>>, workers: Workers<'_>) {
        let Some(cell) = cell.filter(|_| self.proxies.outside) else { return };
        let mut wraps = core::mem::take(&mut self.proxies.wraps);
        resize_with_headroom(&mut wraps, set.len());
        workers.fill_blocks("wraps", &mut wraps, BLOCK, |first, block| {
            for from in (0..block.len()).step_by(PIECE) {
                let to = block.len().min(from + PIECE);
                let wraps = Piece::read((set, self), first + from, to - from).wraps(cell);
                set_each(0, &mut block[from..to], |at| from_axes(|k| wraps[k][at] as i32));
            }
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
        let isa = self.boxes.isa();
        workers.fill_columns("boxes", columns, BLOCK, |first, corners| {
            isa.run(FillBlock { set, sorted: self, cell, frame, first, corners });
        });
        self.columns = boxes;
    }
}

compiled_here! {
    fn fault_of_solid<const D: usize>(bodies: &Proxies<D>, set: &Set<'_, D>, id: usize) -> Option<Reason> {
        match &set.source {
            Source::Shaped(Shaped::Boxes(boxes)) => boxes.fault(id),
            Source::Shaped(Shaped::Boxes64(boxes)) => boxes.fault(id),
            Source::Shaped(Shaped::Capsules(capsules)) => capsules.fault(id),
            Source::Shaped(Shaped::Capsules64(capsules)) => capsules.fault(id),
            Source::View(_) | Source::Double(_) | Source::Tree(_) => bodies.fault(set, id),
        }
    }
}

/// Surveys some bodies: side by side, or one by one where some move or are not sound.
struct SurveyBlock<'a, const D: usize> {
    set: &'a Set<'a, D>,
    sorted: &'a SortedSet<D>,
    cell: Option<&'a UnitCell<D>>,
    ids: Range<usize>,
}

impl<const D: usize> Work for SurveyBlock<'_, D> {
    type Output = Finite<D>;
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) -> Finite<D> {
        let Self { set, sorted, cell, ids } = self;
        if set.moving.is_some() {
            return sorted.surveyed_one_by_one(set, cell, ids);
        }
        let (mut reached, mut rest) = (Reached::NONE, Finite::NONE);
        for first in ids.clone().step_by(PIECE) {
            let len = PIECE.min(ids.end - first);
            if !reached.add(&Piece::read((set, sorted), first, len), cell) {
                rest = rest.merge(sorted.surveyed_one_by_one(set, cell, first..first + len));
            }
        }
        reached.finish().merge(rest)
    }
}

/// Makes the boxes of the bodies from number `first` on: side by side, or one by one where they move.
struct FillBlock<'a, 'c, const D: usize> {
    set: &'a Set<'a, D>,
    sorted: &'a SortedSet<D>,
    cell: Option<&'a UnitCell<D>>,
    frame: &'a BoxFrame<D>,
    first: usize,
    corners: [[&'c mut [f32]; D]; 2],
}

impl<const D: usize> Work for FillBlock<'_, '_, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        if self.set.moving.is_some() {
            return self.run_one_by_one();
        }
        let Self { set, sorted, cell, frame, first, corners: [lo, hi] } = self;
        for from in (0..lo[0].len()).step_by(PIECE) {
            let to = lo[0].len().min(from + PIECE);
            let piece = Piece::read((set, sorted), first + from, to - from);
            let mut taken = [[0.0; PIECE]; D];
            if let Some(cell) = cell.filter(|_| sorted.proxies.outside) {
                for at in from..to {
                    let shift = cell.shift(sorted.proxies.wraps_of((first + at) as u32).axes(f64::from));
                    for axis in 0..D {
                        taken[axis][at - from] = shift[axis];
                    }
                }
            }
            let (mut extents, mut widest) = ([[[0.0; PIECE]; 2]; D], [0.0_f64; PIECE]);
            for axis in 0..D {
                extents[axis] = piece.extents(axis, &taken[axis], frame.origin[axis]);
                for at in 0..if frame.reaches_beyond() { PIECE } else { 0 } {
                    let [lo, hi] = extents[axis].both(|ends| ends[at].abs());
                    widest[at] = widest[at].max(if lo < f64::INFINITY { lo } else { 0.0 });
                    widest[at] = widest[at].max(if hi < f64::INFINITY { hi } else { 0.0 });
                }
            }
            let mut growths = [0.0; PIECE];
            for at in 0..PIECE {
                growths[at] = frame.growth_at(widest[at]);
            }
            for axis in 0..D {
                let mut borders = [[0.0; PIECE]; 2];
                for at in 0..PIECE {
                    borders[0][at] = frame.border(extents[axis][0][at], -growths[at]);
                    borders[1][at] = frame.border(extents[axis][1][at], growths[at]);
                }
                lo[axis][from..to].copy_from_slice(&borders[0][..to - from]);
                hi[axis][from..to].copy_from_slice(&borders[1][..to - from]);
            }
        }
    }
}

impl<const D: usize> FillBlock<'_, '_, D> {
    #[inline(never)]
    fn run_one_by_one(self) {
        let Self { set, sorted, cell, frame, first, corners: [lo, hi] } = self;
        for at in 0..lo[0].len() {
            let (solid, by) = (sorted.solid(set, first + at), set.by(first + at).unwrap_or([0.0; D]));
            let wraps = sorted.proxies.wraps_of((first + at) as u32).axes(f64::from);
            let taken = cell.map_or([0.0; D], |cell| cell.shift(wraps));
            let end = |axis: usize| of_path(solid.extent(axis, taken[axis], frame.origin[axis]), by[axis]);
            let ends: [[f64; 2]; D] = from_axes(end);
            let finite = ends.as_flattened().iter().map(|end| end.abs()).filter(|end| end.is_finite());
            let growth = frame.growth_at(if frame.reaches_beyond() { finite.fold(0.0, f64::max) } else { 0.0 });
            for axis in 0..D {
                lo[axis][at] = frame.border(ends[axis][0], -growth);
                hi[axis][at] = frame.border(ends[axis][1], growth);
            }
        }
    }
}

/// Returns how far a body that moves by `by` reaches once it has been moved into the cell, and whether its place is
/// allowed.
fn surveyed<const D: usize>(solid: &Solid<D>, by: Option<[f64; D]>, cell: Option<&UnitCell<D>>) -> Finite<D> {
    let (mut all, mut shift, mut longest) = (Finite::NONE, [0.0; D], 0.0_f64);
    all.sound = range_fault(solid, by, cell).is_none();
    if let Some(cell) = cell {
        let wraps = cell.wraps(solid.middle());
        all.outside = wraps != [0.0; D];
        if all.outside {
            shift = cell.shift(wraps);
        }
        // An axis on which nothing is taken off keeps its coordinates as they are, however far away the body lies.
        for (axis, taken) in (0..D).map(|axis| (axis, cell.taken(wraps, axis))).filter(|(_, taken)| *taken > 0.0) {
            let [lo, hi] = solid.extent(axis, 0.0, 0.0).map(f64::abs);
            let far = lo.max(hi) + taken;
            all.far = all.far.max(if far.is_finite() { far } else { taken });
        }
    }
    for axis in 0..D {
        let mut ends = solid.extent(axis, shift[axis], 0.0);
        if let Some(by) = by {
            ends = of_path(ends, by[axis]);
            all.reach[axis] = reach(ends, by[axis]);
        }
        let [lo, hi] = ends;
        for end in ends {
            if end.is_finite() {
                (all.lo[axis], all.hi[axis]) = (all.lo[axis].min(end), all.hi[axis].max(end));
            }
        }
        let half = hi / 2.0 - lo / 2.0;
        let half = if half.is_finite() { half } else { 0.0 };
        (all.reach[axis], longest) = (all.reach[axis].max(half), half.max(longest));
    }
    Finite { least: longest, ..all }
}

/// How far the path of a body leads from the middle of the body, given the ends of the path on an axis.
#[inline(always)]
fn reach([lo, hi]: [f64; 2], by: f64) -> f64 {
    let reach = hi / 2.0 - lo / 2.0 + by.abs() / 2.0;
    if reach < f64::INFINITY { reach } else { 0.0 }
}

/// Whether a body with these ends on an axis may move by `by` there.
#[inline(always)]
fn may_move([lo, hi]: [f64; 2], by: f64) -> bool {
    let fine = |end: f64| (end.abs() == f64::INFINITY) | (end.abs() + by.abs() <= STEP_REACH);
    (by.abs() < f64::INFINITY) & fine(lo) & fine(hi)
}

/// Returns why the step or the space does not allow the place of a body, if it does not.
fn range_fault<const D: usize>(
    solid: &Solid<D>,
    by: Option<[f64; D]>,
    cell: Option<&UnitCell<D>>,
) -> Option<RangeFault> {
    let moves_badly = |axis: &usize| by.is_some_and(|by| !may_move(solid.extent(*axis, 0.0, 0.0), by[*axis]));
    if let Some(axis) = (0..D).find(moves_badly) {
        return Some(RangeFault::Displacement { axis: axis as u8 });
    }
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

#[cfg(test)]
mod tests {
    use jostle_core::{Bodies, BoxView, CapsuleView, Isa};

    use super::{FillBlock, Finite, SurveyBlock};
    use crate::input::{Input, Set, Space, UnitCell};
    use crate::proxy::boxed::BoxFrame;
    use crate::proxy::solid::of_path;
    use crate::proxy::sorted::SortedSet;

    const BODIES: usize = 150;

    /// Columns of numbers in quarters, or of radii, some of them endless or bad.
    fn column(seed: &mut u64, width: u64, rare: Option<f64>) -> Vec<f64> {
        let mut random = |end: u64| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*seed >> 33) % end
        };
        let number = |random: &mut dyn FnMut(u64) -> u64| random(width) as f64 / 4.0;
        (0..BODIES)
            .map(|_| match rare {
                Some(rare) if random(40) == 0 => rare,
                _ => number(&mut random),
            })
            .collect()
    }

    /// Calls `check` with sets of all shapes. Some boxes are endless; in some sets some bodies are not sound.
    fn each_set(check: &mut dyn FnMut(&Set<'_, 2>)) {
        for case in 0..40 {
            let (seed, bad) = (&mut (case + 1), (case % 4 == 3).then_some(f64::NAN));
            let columns = [(); 4].map(|()| column(seed, 200, bad));
            let radii = column(seed, 20, (case % 8 == 7).then_some(-1.0));
            let [x, y, x_end, y_end] = columns.each_ref().map(Vec::as_slice);
            let singles = columns.each_ref().map(|column| column.iter().map(|&x| x as f32).collect::<Vec<_>>());
            let [x32, y32, x_end32, y_end32] = singles.each_ref().map(Vec::as_slice);
            let long = |column: &[f64], rare: f64, seed: &mut u64| -> Vec<f64> {
                let lengths = self::column(seed, 40, (case % 2 == 1).then_some(rare));
                column.iter().zip(lengths).map(|(x, length)| x + length).collect()
            };
            let (right, top) = (long(x, f64::INFINITY, seed), long(y, f64::INFINITY, seed));
            let bottom = long(y, f64::NEG_INFINITY, seed).iter().zip(y).map(|(low, y)| low.min(*y)).collect::<Vec<_>>();
            let steps = [(); 2].map(|()| column(seed, 60, bad));
            let mut check = |input: Input<'_, 2>| {
                check(&input.sets()[0]);
                check(&input.sets()[0].moving(steps.each_ref()));
            };
            check(BoxView::new([x, &bottom], [&right, &top]).with_margin(0.25).into());
            check(CapsuleView::new([x, y], [x_end, y_end], radii.as_slice()).with_margin(0.5).into());
            check(CapsuleView::new([x32, y32], [x_end32, y_end32], 0.75).into());
            check(Bodies::<2, f32>::from_slices([x32, y32], 1.0).with_margin(0.5).into());
            check(Bodies::<2, f64>::from_slices([x, y], radii.as_slice()).into());
        }
    }

    fn cells() -> [Option<UnitCell<2>>; 3] {
        let [wide, narrow] = [60.0, 9.0].map(|width| Space::periodic([Some([0.0, width]), None]));
        [None, Some(UnitCell::of(&wide)), Some(UnitCell::of(&narrow))]
    }

    #[test]
    fn bodies_side_by_side_reach_as_far_as_each_does() {
        each_set(&mut |set| {
            for (cell, isa) in cells().iter().flat_map(|cell| Isa::available().map(move |isa| (cell.as_ref(), isa))) {
                let sorted = &SortedSet::default();
                for ids in [0..BODIES, 3..70, 64..64] {
                    let each = ids.clone().map(|id| sorted.surveyed_one_by_one(set, cell, id..id + 1));
                    let all = each.fold(Finite::NONE, Finite::merge);
                    let found = isa.run(SurveyBlock { set, sorted, cell, ids });
                    assert_eq!(found.sound, all.sound);
                    if all.sound {
                        assert_eq!(format!("{found:?}"), format!("{all:?}"), "{set:?}");
                    }
                }
            }
        });
    }

    #[test]
    fn boxes_side_by_side_are_those_of_each_body() {
        each_set(&mut |set| {
            for cell in cells() {
                let (mut sorted, workers) = (SortedSet::default(), jostle_core::Workers::default());
                let Ok(all) = sorted.survey_solids(set, cell.as_ref(), workers) else { continue };
                sorted.count_wraps(set, cell.as_ref(), workers);
                let near = BoxFrame::of(all, cell.as_ref());
                let far = BoxFrame::adopted(None, all, cell.as_ref()).expect("bodies fit");
                for (frame, isa) in [near, far].iter().flat_map(|frame| Isa::available().map(move |isa| (frame, isa))) {
                    let (mut lo, mut hi) = ([[0.0; BODIES - 5]; 2], [[0.0; BODIES - 5]; 2]);
                    let corners = [lo.each_mut().map(|x| &mut x[..]), hi.each_mut().map(|x| &mut x[..])];
                    isa.run(FillBlock { set, sorted: &sorted, cell: cell.as_ref(), frame, first: 5, corners });
                    for id in 5..BODIES {
                        let solid = sorted.solid(set, id);
                        let taken = cell.as_ref().map_or([0.0; 2], |cell| cell.shift(cell.wraps(solid.middle())));
                        let by = set.by(id).unwrap_or([0.0; 2]);
                        let end = |axis: usize| solid.extent(axis, taken[axis], frame.origin[axis]);
                        let ends = [0, 1].map(|axis| of_path(end(axis), by[axis]));
                        let finite = ends.as_flattened().iter().map(|end| end.abs()).filter(|end| end.is_finite());
                        let widest = if frame.reaches_beyond() { finite.fold(0.0, f64::max) } else { 0.0 };
                        let growth = frame.growth_at(widest);
                        for axis in 0..2 {
                            assert_eq!(lo[axis][id - 5], frame.border(ends[axis][0], -growth), "{solid:?}");
                            assert_eq!(hi[axis][id - 5], frame.border(ends[axis][1], growth), "{solid:?}");
                        }
                    }
                }
            }
        });
    }
}

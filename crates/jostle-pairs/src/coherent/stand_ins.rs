//! Bodies in `f32` at rest in open space that stand in for others: in `f64`, in a tree, or where space repeats. Those are followed: where the
//! caller puts one back by whole vectors of the cell, its stand-in goes straight on.
//!
//! A stand-in is rounded, and so is what decides whether two bodies touch. How much both may come to is known (`error`): where it is in doubt whether
//! two touch, they are decided by the caller's own numbers (`Test`).

use core::mem::swap;
use std::sync::{Arc, Mutex, PoisonError};

use jostle_core::axes::{Axes, from_axes};
use jostle_core::isa::Work;
use jostle_core::scratch::fill_with_headroom;
use jostle_core::{Bodies, Column, Isa, LinearTree, Scalar, Workers};
use jostle_sets::input::{Input, Relation, Set, Source, UnitCell};
use jostle_sets::proxy::{Exact, Images, InCell, each_body, squared};
use jostle_sets::simd::LANES;

use crate::coherent::was::measure::read;
use crate::coherent::was::{PART, block};
use crate::pairs::shifts::Places;

/// 2^-24: a number is rounded to `f32` by so much of itself at most.
const ROUNDED: f32 = f32::EPSILON / 2.0;

/// 2^-49: what sums and products in `f64` may lose, amply.
const ROUNDED_64: f64 = f64::EPSILON * 8.0;

/// What all of that is multiplied by, for what is rounded when it is summed up.
const AMPLY: f64 = 1.0 + 1.0 / 65_536.0;

/// A body that is farther from its stand-in than so many vectors of the cell is not followed.
const FARTHEST: f64 = 4_194_304.0;

/// 1.5 * 2^52: a number of less than 2^51 that is added is rounded to a whole one.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// What two bodies may reach, in heights of the cell, if each is to be followed at one image alone.
const NEAREST: f64 = 0.499;

/// Bodies of which the middle is taken, at most.
const SAMPLE: usize = 4096;

/// Stand-ins are put around another middle when they are so many times as far from this one as at first.
const DRIFTED: f64 = 4.0;

/// See the top of this file.
#[derive(Debug)]
pub(super) struct StandIns<const D: usize> {
    sets: Vec<StandIn<D>>,
    cell: Option<UnitCell<D>>,
    /// What they are counted from.
    origin: [f64; D],
    /// How far a body may be from where its stand-in says that it is.
    error: f64,
    /// The largest radius.
    largest: f64,
    /// How far from the origin one has come along an axis, at most, and when they began.
    reach: f64,
    reach_at_first: f64,
    /// No two bodies touch at more than one.
    images: Images<D>,
    /// Direct bodies moved into the cell, of as many sets as there are, if that is wanted.
    in_cell: Vec<InCell<D>>,
}

/// Those of one set.
#[derive(Debug)]
struct StandIn<const D: usize> {
    kind: Kind,
    len: usize,
    /// Where they are, filled up to whole parts, which whoever asks for the images of pairs is told until the next frame; and where they were.
    now: Arc<Places<D>>,
    before: Arc<Places<D>>,
    radii: Vec<f32>,
    far: Far,
    /// The bodies of a tree by id.
    of_tree: ([Vec<f32>; D], Vec<f32>),
}

/// What they stand in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    Nothing,
    Single,
    Double,
    /// A tree of this build.
    Tree(u64),
}

impl<const D: usize> Default for StandIns<D> {
    fn default() -> Self {
        Self {
            sets: Vec::new(),
            cell: None,
            origin: [0.0; D],
            error: 0.0,
            largest: 0.0,
            reach: 0.0,
            reach_at_first: 0.0,
            images: Images::default(),
            in_cell: Vec::new(),
        }
    }
}

impl<const D: usize> Default for StandIn<D> {
    fn default() -> Self {
        let of_tree = [const { Vec::new() }; D];
        Self {
            kind: Kind::default(),
            len: 0,
            now: Arc::default(),
            before: Arc::default(),
            radii: Vec::new(),
            far: Far::default(),
            of_tree: (of_tree, Vec::new()),
        }
    }
}

/// Whether others may stand in for the bodies of an input, in which they are round: they are at rest, and, where space repeats, of one set, or of two
/// that meet.
pub(super) fn may_stand_in<const D: usize>(input: &Input<'_, D>) -> bool {
    (input.space.is_open() || !matches!(input.relation, Relation::Among(..)))
        && input.sets().iter().all(|set| set.moving.is_none())
}

impl<const D: usize> StandIns<D> {
    pub(super) fn bytes(&self) -> usize {
        let of_set = |set: &StandIn<D>| {
            let (centers, radii) = &set.of_tree;
            let columns = centers.iter().chain([radii, &set.radii]).map(Vec::capacity).sum::<usize>();
            set.now.bytes() + set.before.bytes() + columns * size_of::<f32>()
        };
        self.sets.iter().map(of_set).sum::<usize>() + self.sets.capacity() * size_of::<StandIn<D>>()
    }

    /// Stands in for no body.
    pub(super) fn forget(&mut self) {
        self.sets.iter_mut().for_each(|set| set.kind = Kind::Nothing);
    }

    /// Stands in for the bodies of a frame. Whether those of the frame before went on, so that these may be compared with them.
    pub(super) fn follow(&mut self, input: &Input<'_, D>, on: (Isa, Workers<'_>)) -> bool {
        let (sets, cell) = (input.sets(), (!input.space.is_open()).then_some(input.space));
        let goes_on = self.cell.map(|cell| cell.space) == cell
            && self.sets.len() >= sets.len()
            && self.sets.iter().zip(sets).all(|(now, set)| now.is_of(set));
        if !goes_on {
            self.sets.resize_with(sets.len().max(self.sets.len()), StandIn::default);
            self.cell = cell.map(|space| UnitCell::of(&space));
            self.origin = self.middle(input);
        }
        let mut far = Far::default();
        for (now, set) in self.sets.iter_mut().zip(sets) {
            now.follow(set, (self.origin, self.cell.as_ref(), goes_on), on);
            far.merge(now.far);
        }
        (self.reach, self.largest) = (far.reach.into(), far.radius.into());
        if !goes_on {
            self.reach_at_first = self.reach;
        }
        self.error = self.error_of(far, input.is_decided());
        goes_on
    }

    /// How far bodies may be from where stand-ins as far as this are, by rounding, and how far the predicate may be from both, on average of two that
    /// are tested. Bodies in `f32` in open space, which are copied, are where they are.
    ///
    /// On each axis, in parts of 2^-24: a stand-in is rounded by its distance from the origin; one of two that is seen elsewhere by that of where it is
    /// seen, and by how far that is. Direct bodies are moved into the cell, each rounded by its place in it, subtracted, and moved by an offset,
    /// both rounded by the length of the cell. What is relative to their distance then is none of this.
    fn error_of(&self, far: Far, decided: bool) -> f64 {
        if self.cell.is_none() && !decided {
            return 0.0;
        }
        let (root, rounded, reach) = ((D as f64).sqrt(), f64::from(ROUNDED), f64::from(far.reach));
        let greatest = |of_axis: &dyn Fn(usize) -> f64| (0..D).map(of_axis).fold(0.0, f64::max);
        let of_origin = greatest(&|axis| self.origin[axis].abs());
        let ([mut of_cell, mut of_corner], mut is_contained) = ([0.0; 2], true);
        if let Some(cell) = self.cell {
            let space = cell.space;
            let vectors =
                |axis: usize| (0..D).filter(move |&k| space.repeats[k]).map(move |k| space.vectors[k][axis].abs());
            of_cell = greatest(&|axis| vectors(axis).sum());
            of_corner = greatest(&|axis| space.origin[axis].abs());
            // Else coordinates in the cell may be wider than it.
            is_contained = space.is_straight() || space.repeats == [true; D];
        }
        let of_stand_in = rounded * (1.5 * reach + of_cell) + ROUNDED_64 * (of_origin + reach + of_cell * FARTHEST);
        let widest = if is_contained { of_corner + of_cell } else { of_origin + reach + of_cell };
        let of_predicate = if decided { 0.0 } else { rounded * (widest + of_cell) };
        root * (of_stand_in + of_predicate) * AMPLY
    }

    /// What bodies are to be counted from: the middle of some; or, if they are copied, nothing.
    fn middle(&self, input: &Input<'_, D>) -> [f64; D] {
        if self.cell.is_none() && !input.is_decided() {
            return [0.0; D];
        }
        let mut borders = [[f64::INFINITY, f64::NEG_INFINITY]; D];
        for set in input.sets() {
            for id in (0..set.len()).step_by(set.len().div_ceil(SAMPLE).max(1)) {
                let center = match set.source {
                    Source::View(bodies) => bodies.center(id).axes(f64::from),
                    Source::Double(bodies) => bodies.center(id),
                    Source::Tree(_) | Source::Shaped(_) => continue,
                };
                for (border, x) in borders.iter_mut().zip(center) {
                    *border = [border[0].min(x), border[1].max(x)];
                }
            }
        }
        borders.axes(|[lo, hi]| if lo <= hi { lo / 2.0 + hi / 2.0 } else { 0.0 })
    }

    /// Moves direct bodies into the cell, as a search does, for whoever measures how they lie apart.
    pub(super) fn put_in_cell(&mut self, input: &Input<'_, D>, workers: Workers<'_>) {
        let Some(cell) = self.cell.filter(|_| !input.is_decided()) else { return self.in_cell.clear() };
        self.in_cell.resize_with(input.sets().len(), InCell::default);
        for ((InCell { centers, wraps }, set), now) in self.in_cell.iter_mut().zip(input.sets()).zip(&self.sets) {
            let bodies = match set.source {
                Source::View(bodies) => bodies,
                _ => now.bodies_of_tree(),
            };
            fill_with_headroom(wraps, bodies.len(), [0; D]);
            let block = block(bodies.len(), workers);
            workers.fill_blocks("wraps", wraps, block, |first, block| {
                for (slot, id) in block.iter_mut().zip(first..) {
                    *slot = cell.wraps(bodies.center(id).axes(f64::from)).axes(|step| step as i32);
                }
            });
            let wraps = &*wraps;
            for axis in 0..D {
                fill_with_headroom(&mut centers[axis], bodies.len(), 0.0);
                workers.fill_blocks("in cell", &mut centers[axis], block, |first, block| {
                    for (slot, id) in block.iter_mut().zip(first..) {
                        let x = bodies.centers()[axis].get(id);
                        *slot = if wraps[id] == [0; D] {
                            x
                        } else {
                            (f64::from(x) - cell.shift(wraps[id].axes(f64::from))[axis]) as f32
                        };
                    }
                });
            }
        }
    }

    /// Moves those back into the cell that have left it, and as far what `kept` gives of the next set, if it is of so many: columns of where they were, filled up to
    /// whole parts.
    pub(super) fn settle<'k>(
        &mut self,
        mut kept: impl FnMut(usize) -> Option<[[&'k mut [f32]; D]; 2]>,
        (isa, workers): (Isa, Workers<'_>),
    ) {
        let Some(cell) = &self.cell else { return };
        for StandIn { len, now, .. } in &mut self.sets {
            let Places { centers, steps } = Arc::make_mut(now);
            let columns = [centers, steps].map(|columns| columns.each_mut().map(Vec::as_mut_slice));
            let block = block(*len, workers);
            let [centers, steps] = columns;
            if let Some([one, other]) = kept(*len) {
                workers.fill_columns(
                    "settle",
                    [centers, steps, one, other],
                    block,
                    |_, [centers, steps, one, other]| {
                        isa.run(Settle { cell, centers, steps, kept: Some([one, other]) });
                    },
                );
            } else {
                workers.fill_columns("settle", [centers, steps], block, |_, [centers, steps]| {
                    isa.run(Settle { cell, centers, steps, kept: None });
                });
            }
        }
    }

    /// Whether they have come so far from their middle that others are to stand in, from the next time on that bodies are followed.
    pub(super) fn end_if_drifted(&mut self) -> bool {
        let far = DRIFTED * self.reach_at_first.max(self.largest);
        let have_drifted = self.cell.is_none() && self.error > 0.0 && self.reach > far;
        if have_drifted {
            self.forget();
        }
        have_drifted
    }

    /// How far a body may be from where its stand-in says that it is.
    pub(super) fn error(&self) -> f64 {
        self.error
    }

    /// Whether no two bodies, with such a margin, meet at more than one image.
    pub(super) fn are_single(&self, margin: f64) -> bool {
        self.cell.is_none_or(|cell| {
            let reach = 2.0 * (self.largest + 2.0 * margin);
            (0..D).filter(|&k| cell.space.repeats[k]).all(|k| reach * squared(cell.duals[k]).sqrt() < NEAREST)
        })
    }

    /// The largest radius.
    pub(super) fn largest(&self) -> f64 {
        self.largest
    }

    pub(super) fn cell(&self) -> Option<&UnitCell<D>> {
        self.cell.as_ref()
    }

    /// The bodies of a set.
    pub(super) fn of_set(&self, set: usize) -> Bodies<'_, D> {
        let StandIn { now, radii, len, .. } = &self.sets[set];
        Bodies::from_slices(now.centers.each_ref().each(|column| &column[..*len]), &radii[..*len])
    }

    /// The input that they are for one in which they stand in, of sets that may be many.
    pub(super) fn input<'a>(&'a self, input: &Input<'a, D>, sets: &'a mut Vec<Set<'a, D>>) -> Input<'a, D> {
        with_sets(input, sets, |number, _| self.of_set(number).into())
    }

    /// An input in which they stand in, with copies of bodies in trees.
    pub(super) fn without_trees<'a>(&'a self, input: &Input<'a, D>, sets: &'a mut Vec<Set<'a, D>>) -> Input<'a, D> {
        let of_set = |number: usize, set: &Set<'a, D>| match set.source {
            Source::Tree(_) => Set { source: Source::View(self.sets[number].bodies_of_tree()), ..*set },
            _ => *set,
        };
        with_sets(input, sets, of_set).space(input.space)
    }

    /// What decides by the caller's own numbers.
    pub(super) fn exact<'a>(&'a self, input: &'a Input<'a, D>) -> Exact<'a, D> {
        Exact {
            sets: input.sets(),
            sorted: &[],
            cell: self.cell,
            images: &self.images,
            decided: input.is_decided(),
            shaped: false,
            in_cell: &self.in_cell,
        }
    }

    /// How many vectors of the cell lead from the stand-in of a body to it.
    #[inline]
    fn steps_of(&self, set: u32, id: u32) -> [i32; D] {
        let steps = &self.sets[set as usize].now.steps;
        from_axes(|axis| steps[axis].get(id as usize).map_or(0, |&step| step as i32))
    }

    /// Whether two bodies touch, the stand-in of the second being seen so many vectors of the cell from where it is.
    pub(super) fn touch(&self, exact: &Exact<'_, D>, sets: [u32; 2], [a, b]: [u32; 2], image: [i32; D]) -> bool {
        let [from, to] = [self.steps_of(sets[0], a), self.steps_of(sets[1], b)];
        let steps = from_axes(|k| image[k] + from[k] - to[k]);
        if exact.decided {
            return exact.is_pair_from(exact.difference_by(sets, steps, a, b), sets, a, b);
        }
        let [(one, from), (other, to)] = [self.in_cell(exact, sets[0], a), self.in_cell(exact, sets[1], b)];
        let mut offset = [0.0; D];
        if let Some(cell) = &self.cell {
            let steps = from_axes(|k| f64::from(steps[k]) - from[k] + to[k]);
            offset = cell.shift(steps).axes(|x| x as f32);
        }
        let mut distance2 = 0.0;
        for axis in 0..D {
            let d = (other[axis] - one[axis]) + offset[axis];
            distance2 = if axis == 0 { d * d } else { distance2 + d * d };
        }
        let radii = exact.radius(sets[0], a) as f32 + exact.radius(sets[1], b) as f32;
        distance2 <= radii * radii
    }

    /// A direct body moved into the cell, as a search has it, and by how many vectors.
    fn in_cell(&self, exact: &Exact<'_, D>, set: u32, id: u32) -> ([f32; D], [f64; D]) {
        let center = exact.center(set, id);
        let wraps = self.cell.map_or([0.0; D], |cell| cell.wraps(center));
        let shift = self.cell.map_or([0.0; D], |cell| cell.shift(wraps));
        if wraps == [0.0; D] {
            return (center.axes(|x| x as f32), wraps);
        }
        (from_axes(|axis| (center[axis] - shift[axis]) as f32), wraps)
    }

    /// Where those of a set are, and how many vectors of the cell lead from there to their bodies.
    pub(super) fn places(&self, set: usize) -> &Arc<Places<D>> {
        &self.sets[set].now
    }
}

/// An input of others in place of these sets, in open space.
fn with_sets<'a, const D: usize>(
    input: &Input<'a, D>,
    sets: &'a mut Vec<Set<'a, D>>,
    other: impl Fn(usize, &Set<'a, D>) -> Set<'a, D>,
) -> Input<'a, D> {
    match &input.relation {
        Relation::Within(set) => Input::within(other(0, set)),
        Relation::Between([a, b]) => Input::between(other(0, a), other(1, b)),
        Relation::Among(of, table) => {
            sets.extend(of.iter().enumerate().map(|(number, set)| other(number, set)));
            Input::among(sets, table)
        }
    }
}

/// How far stand-ins are, at most, from the origin along an axis, and how large.
#[derive(Debug, Clone, Copy, Default)]
struct Far {
    reach: f32,
    radius: f32,
}

impl Far {
    fn merge(&mut self, other: Self) {
        // Of what is no number nothing is known.
        let greater = |a: f32, b: f32| if a >= b { a } else { b };
        self.reach = greater(self.reach, other.reach);
        self.radius = greater(self.radius, other.radius);
    }
}

impl<const D: usize> StandIn<D> {
    /// Whether these stand in for bodies of the same kind, of which a few may have come or gone.
    fn is_of(&self, set: &Set<'_, D>) -> bool {
        self.kind != Kind::Nothing && self.kind == kind_of(set)
    }

    fn follow(&mut self, set: &Set<'_, D>, of_bodies: ([f64; D], Option<&UnitCell<D>>, bool), on: (Isa, Workers<'_>)) {
        self.kind = kind_of(set);
        match set.source {
            Source::View(bodies) => self.follow_bodies(bodies, of_bodies, on),
            Source::Double(bodies) => self.follow_bodies(bodies, of_bodies, on),
            // They stay where they are.
            Source::Tree(_) if of_bodies.2 => {}
            Source::Tree(tree) => {
                self.copy_tree(tree);
                let none = ([const { Vec::new() }; D], Vec::new());
                let (centers, radii) = core::mem::replace(&mut self.of_tree, none);
                let bodies = Bodies::from_slices(centers.each_ref().each(Vec::as_slice), radii.as_slice());
                self.follow_bodies(bodies, of_bodies, on);
                self.of_tree = (centers, radii);
            }
            Source::Shaped(_) => {}
        }
    }

    fn bodies_of_tree(&self) -> Bodies<'_, D> {
        let (centers, radii) = &self.of_tree;
        Bodies::from_slices(centers.each_ref().each(Vec::as_slice), radii.as_slice())
    }

    fn copy_tree(&mut self, tree: &LinearTree<D>) {
        let (centers, radii) = &mut self.of_tree;
        for column in centers.iter_mut().chain([&mut *radii]) {
            fill_with_headroom(column, tree.len(), 0.0);
        }
        each_body(tree, |id, leaf, lane| {
            for axis in 0..D {
                centers[axis][id as usize] = leaf.centers[axis].0[lane];
            }
            radii[id as usize] = leaf.radii.0[lane];
        });
    }

    fn follow_bodies<T: Scalar>(
        &mut self,
        bodies: Bodies<'_, D, T>,
        (origin, cell, goes_on): ([f64; D], Option<&UnitCell<D>>, bool),
        (isa, workers): (Isa, Workers<'_>),
    ) {
        let len = bodies.len().next_multiple_of(PART);
        if cell.is_some() {
            swap(&mut self.now, &mut self.before);
        }
        if Arc::get_mut(&mut self.now).is_none() {
            self.now = Arc::default();
        }
        let (now, before) = (Arc::make_mut(&mut self.now), &mut self.before);
        for (column, steps) in now.centers.iter_mut().zip(&mut now.steps) {
            fill_with_headroom(column, len, 0.0);
            fill_with_headroom(steps, if cell.is_some() { len } else { 0 }, 0.0);
        }
        if cell.is_some() && (!goes_on || self.len != bodies.len()) {
            for column in &mut Arc::make_mut(before).centers {
                column.truncate(if goes_on { self.len } else { 0 });
                fill_with_headroom(column, len, 0.0);
            }
        }
        self.len = bodies.len();
        fill_with_headroom(&mut self.radii, len, 0.0);
        let all = Mutex::new(Far::default());
        let note = |of_block: Far| all.lock().unwrap_or_else(PoisonError::into_inner).merge(of_block);
        let (block, centers) = (block(len, workers), bodies.centers());
        workers.fill_blocks("radii", &mut self.radii, block, |first, out| {
            let sound = |radius: T| if radius >= T::default() { radius.to_f64() as f32 } else { f32::NAN };
            let within = out.len().min(bodies.len() - first);
            bodies.radii().map_into(first, &mut out[..within], sound);
            out[within..].fill(0.0);
            note(Far { radius: out.iter().copied().fold(0.0, f32::max), ..Far::default() });
        });
        let columns = now.centers.each_mut().map(Vec::as_mut_slice);
        let steps = now.steps.each_mut().map(Vec::as_mut_slice);
        let before = before.centers.each_ref().each(Vec::as_slice);
        if let Some(cell) = cell {
            workers.fill_columns("follow", [columns, steps], block, |first, [out, steps]| {
                note(isa.run(Follow { centers, first, origin, out, images: Some((cell, before, steps)) }));
            });
        } else {
            workers.fill_columns("follow", [columns], block, |first, [out]| {
                note(isa.run(Follow { centers, first, origin, out, images: None }));
            });
        }
        self.far = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    }
}

fn kind_of<const D: usize>(set: &Set<'_, D>) -> Kind {
    match set.source {
        Source::View(_) => Kind::Single,
        Source::Double(_) => Kind::Double,
        Source::Tree(tree) => Kind::Tree(tree.build_number()),
        Source::Shaped(_) => Kind::Nothing,
    }
}

/// Where one was; if that is no number, anywhere.
#[inline(always)]
fn place(before: f32) -> f64 {
    if before.abs() < f32::INFINITY { before.into() } else { 0.0 }
}

/// A whole number of vectors of the cell near this one, or none of those too far away.
#[inline(always)]
fn whole(steps: f64) -> f64 {
    let whole = (steps + ROUNDING) - ROUNDING;
    if whole.abs() <= FARTHEST { whole } else { f64::NAN }
}

/// The cell, where all were, and how many of its vectors lead to their bodies.
type Followed<'a, const D: usize> = (&'a UnitCell<D>, [&'a [f32]; D], [&'a mut [f32]; D]);

/// Puts stand-ins, whole parts of them, to the images of their bodies nearest to where they were.
struct Follow<'a, T, const D: usize> {
    centers: &'a [Column<'a, T>; D],
    first: usize,
    origin: [f64; D],
    out: [&'a mut [f32]; D],
    /// Where space repeats.
    images: Option<Followed<'a, D>>,
}

impl<T: Scalar, const D: usize> Work for Follow<'_, T, D> {
    type Output = Far;
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) -> Far {
        let Self { centers, first, origin, mut out, mut images } = self;
        let mut reach = [0.0_f32; LANES];
        for part in 0..out[0].len() / PART {
            let (first, begin) = (first + part * PART, part * PART);
            let mut rooms = [[T::default(); PART]; D];
            let zeros = [T::default(); PART];
            let mut at = [&zeros; D];
            for (axis, room) in rooms.iter_mut().enumerate() {
                at[axis] = read(&centers[axis], first, room);
            }
            match &mut images {
                None => {
                    for axis in 0..D {
                        for (slot, x) in out[axis][begin..][..PART].iter_mut().zip(at[axis]) {
                            *slot = (x.to_f64() - origin[axis]) as f32;
                        }
                    }
                }
                Some((cell, before, steps)) if cell.is_straight() => {
                    for axis in 0..D {
                        let (out, steps) = (&mut out[axis][begin..][..PART], &mut steps[axis][begin..][..PART]);
                        let before = &before[axis][first..][..PART];
                        let repeats = if cell.space.repeats[axis] { cell.duals[axis][axis] } else { 0.0 };
                        let length = cell.space.vectors[axis][axis];
                        for lane in 0..PART {
                            let x = at[axis][lane].to_f64() - origin[axis];
                            let step = whole((x - place(before[lane])) * repeats);
                            (out[lane], steps[lane]) = ((x - step * length) as f32, step as f32);
                        }
                    }
                }
                Some((cell, before, steps)) => {
                    let mut seen = [[0.0; PART]; D];
                    for axis in 0..D {
                        for lane in 0..PART {
                            seen[axis][lane] = at[axis][lane].to_f64() - origin[axis];
                        }
                    }
                    let apart = seen;
                    for k in (0..D).filter(|&k| cell.space.repeats[k]) {
                        let mut along = [0.0_f64; PART];
                        for axis in 0..D {
                            let before = &before[axis][first..][..PART];
                            for lane in 0..PART {
                                along[lane] += (apart[axis][lane] - place(before[lane])) * cell.duals[k][axis];
                            }
                        }
                        for (slot, along) in steps[k][begin..][..PART].iter_mut().zip(&mut along) {
                            *along = whole(*along);
                            *slot = *along as f32;
                        }
                        for axis in 0..D {
                            for lane in 0..PART {
                                seen[axis][lane] -= along[lane] * cell.space.vectors[k][axis];
                            }
                        }
                    }
                    for axis in 0..D {
                        for (slot, x) in out[axis][begin..][..PART].iter_mut().zip(seen[axis]) {
                            *slot = x as f32;
                        }
                    }
                }
            }
            // Of those behind the last nothing counts.
            let there = centers[0].len().saturating_sub(first).min(PART);
            for out in &mut out {
                out[begin + there..begin + PART].fill(0.0);
                for some in out[begin..][..PART].as_chunks::<LANES>().0 {
                    for lane in 0..LANES {
                        let far = some[lane].abs();
                        reach[lane] = if reach[lane] >= far { reach[lane] } else { far };
                    }
                }
            }
        }
        let reach = reach.into_iter().fold(0.0, |most: f32, far| if most >= far { most } else { far });
        Far { reach, radius: 0.0 }
    }
}

/// Moves some, whole parts of them, back into the cell, and what is kept of them as far.
struct Settle<'a, const D: usize> {
    cell: &'a UnitCell<D>,
    centers: [&'a mut [f32]; D],
    steps: [&'a mut [f32]; D],
    kept: Option<[[&'a mut [f32]; D]; 2]>,
}

impl<const D: usize> Work for Settle<'_, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        let Self { cell, centers, steps, mut kept } = self;
        for begin in (0..centers[0].len()).step_by(PART) {
            let mut shift = [[0.0_f64; PART]; D];
            for k in (0..D).filter(|&k| cell.space.repeats[k]) {
                let mut along = [0.0_f64; PART];
                for axis in 0..D {
                    for (slot, x) in along.iter_mut().zip(&centers[axis][begin..][..PART]) {
                        *slot += f64::from(*x) * cell.duals[k][axis];
                    }
                }
                for (along, step) in along.iter_mut().zip(&mut steps[k][begin..][..PART]) {
                    *along = whole(*along);
                    *step += *along as f32;
                }
                for axis in 0..D {
                    for (slot, along) in shift[axis].iter_mut().zip(along) {
                        *slot += along * cell.space.vectors[k][axis];
                    }
                }
            }
            for axis in 0..D {
                for (x, shift) in centers[axis][begin..][..PART].iter_mut().zip(shift[axis]) {
                    *x = (f64::from(*x) - shift) as f32;
                }
                for columns in kept.iter_mut().flatten() {
                    for (x, shift) in columns[axis][begin..][..PART].iter_mut().zip(shift[axis]) {
                        *x = (f64::from(*x) - shift) as f32;
                    }
                }
            }
        }
    }
}

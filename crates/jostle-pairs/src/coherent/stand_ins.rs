//! Stand-ins: bodies in `f32` at rest in open space that represent bodies in `f64`, in a tree, or where space repeats.
//! Stand-ins follow their bodies: where the caller puts a body back by whole vectors of the cell, its stand-in goes
//! straight on.
//!
//! A stand-in is rounded, and so is what decides whether two bodies touch. It is known how much both may come to
//! (`error`): where it is in doubt whether two bodies touch, the caller's own numbers decide (`Test`).

mod follow;
mod images;

use std::sync::Arc;

use jostle_core::axes::{Axes, Both, from_axes};
use jostle_core::{Isa, Workers};
use jostle_sets::input::{Input, Relation, Set, Source, UnitCell};
use jostle_sets::proxy::{Exact, Images, InCell, put_in_cell, squared};

use crate::coherent::reference::Reference;
use crate::coherent::slack::LEAST;
use crate::pairs::shifts::Places;
use follow::{Far, StandIn};
use images::FARTHEST;

/// 2^-24: rounding a number to `f32` loses at most this part of it.
const ROUNDED: f32 = f32::EPSILON / 2.0;

/// 2^-49: more than sums and products in `f64` may lose.
const ROUNDED_64: f64 = f64::EPSILON * 8.0;

/// A factor for the whole bound, for what is rounded when it is summed up.
const AMPLY: f64 = 1.0 + 1.0 / 65_536.0;

/// How far two bodies may reach together, in heights of the cell, if each is to be followed at one image alone.
const NEAREST: f64 = 0.499;

/// Bodies of a set that are sampled for the middle, at most.
const SAMPLE: usize = 4096;

/// A median that is no farther than this part of a vector of the cell from the cell's middle is near.
const NEAR_MIDDLE: f64 = 1.0 / 16.0;

/// Stand-ins are put around another middle when they are so many times as far from their origin as at first.
const DRIFTED: f64 = 4.0;

/// See the top of this file.
#[derive(Debug)]
pub(super) struct StandIns<const D: usize> {
    sets: Vec<StandIn<D>>,
    cell: Option<UnitCell<D>>,
    /// What coordinates are counted from.
    origin: [f64; D],
    /// How far a body may be from where its stand-in says that it is.
    error: f64,
    /// The largest radius.
    largest: f64,
    /// How far from the origin a stand-in is along an axis, at most; and how far one was when they began.
    reach: f64,
    reach_at_first: f64,
    /// Where some bodies are on each axis: see [`StandIns::middle`].
    sample: [Vec<f64>; D],
    /// One image alone: no two bodies touch at more.
    images: Images<D>,
    /// For each set, its direct bodies moved into the cell, if that is wanted.
    in_cell: Vec<InCell<D>>,
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
            sample: [const { Vec::new() }; D],
            images: Images::default(),
            in_cell: Vec::new(),
        }
    }
}

/// Whether stand-ins may represent the bodies of an input: the bodies must be round and at rest.
pub(super) fn may_stand_in<const D: usize>(input: &Input<'_, D>) -> bool {
    !input.is_shaped() && input.sets().iter().all(|set| set.moving.is_none())
}

impl<const D: usize> StandIns<D> {
    pub(super) fn bytes(&self) -> usize {
        let in_cell = |set: &InCell<D>| {
            set.centers.iter().map(Vec::capacity).sum::<usize>() * size_of::<f32>()
                + set.wraps.capacity() * size_of::<[i32; D]>()
        };
        self.sets.iter().map(StandIn::bytes).sum::<usize>()
            + self.sets.capacity() * size_of::<StandIn<D>>()
            + self.sample.iter().map(Vec::capacity).sum::<usize>() * size_of::<f64>()
            + self.in_cell.iter().map(in_cell).sum::<usize>()
    }

    /// Makes them stand in for no body.
    pub(super) fn forget(&mut self) {
        self.sets.iter_mut().for_each(StandIn::forget);
    }

    /// Makes stand-ins follow the bodies of a frame. Returns whether they go on from the frame before, so that both
    /// frames may be compared.
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
            far.merge(now.far());
        }
        // Sets that this frame does not have are no longer where a later frame would look for them.
        self.sets[sets.len()..].iter_mut().for_each(StandIn::forget);
        (self.reach, self.largest) = (far.reach.into(), far.radius.into());
        if !goes_on {
            self.reach_at_first = self.reach;
        }
        self.error = self.error_of(far, input.is_decided());
        goes_on
    }

    /// Returns how far bodies may be, by rounding, from stand-ins that are as far as `far`, and how far off the
    /// predicate may be, on average of the two bodies that are tested. Bodies in `f32` in open space are copied, so
    /// their stand-ins are exact.
    ///
    /// On each axis, in parts of 2^-24: a stand-in is rounded by its distance from the origin. If one of two is seen at
    /// an image, it is also rounded by the distance of the image, and by how far the image is moved. Direct bodies are
    /// moved into the cell: each is rounded by its place in it, subtracted, and moved by an offset, and both of these
    /// are rounded by the length of the cell. What is rounded afterwards, by the distance of two bodies, does not count
    /// here.
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
            // Else the bodies' coordinates in the cell may span more than the cell.
            is_contained = space.is_straight() || space.repeats == [true; D];
        }
        let of_stand_in = rounded * (1.5 * reach + of_cell) + ROUNDED_64 * (of_origin + reach + of_cell * FARTHEST);
        let widest = if is_contained { of_corner + of_cell } else { of_origin + reach + of_cell };
        let of_predicate = if decided { 0.0 } else { rounded * (widest + of_cell) };
        root * (of_stand_in + of_predicate) * AMPLY
    }

    /// Returns what coordinates are to be counted from: on each axis the median of some bodies, which a few bodies far
    /// away do not move; or, along a vector of the cell, its middle, if the median is near, so that bodies within the
    /// cell are their own nearest images; or 0 if bodies are copied.
    fn middle(&mut self, input: &Input<'_, D>) -> [f64; D] {
        if self.cell.is_none() && !input.is_decided() {
            return [0.0; D];
        }
        let sample = &mut self.sample;
        sample.iter_mut().for_each(Vec::clear);
        for set in input.sets() {
            for id in (0..set.len()).step_by(set.len().div_ceil(SAMPLE).max(1)) {
                let center = match set.source {
                    Source::View(bodies) => bodies.center(id).axes(f64::from),
                    Source::Double(bodies) => bodies.center(id),
                    Source::Tree(_) | Source::Shaped(_) => continue,
                };
                for (column, x) in sample.iter_mut().zip(center) {
                    column.extend(Some(x).filter(|x| x.is_finite()));
                }
            }
        }
        let mut middle = sample.each_mut().map(|column| {
            let half = column.len() / 2;
            if column.is_empty() { 0.0 } else { *column.select_nth_unstable_by(half, f64::total_cmp).1 }
        });
        if let Some(UnitCell { space, duals, .. }) = &self.cell {
            let median = middle;
            for k in (0..D).filter(|&k| space.repeats[k]) {
                let at = (0..D).map(|axis| (median[axis] - space.origin[axis]) * duals[k][axis]).sum::<f64>() - 0.5;
                if at.abs() <= NEAR_MIDDLE {
                    (0..D).for_each(|axis| middle[axis] -= at * space.vectors[k][axis]);
                }
            }
        }
        // Bodies in `f32` can be counted from there in `f32`.
        if !input.is_decided() {
            middle = middle.axes(|x| f64::from((x as f32).clamp(f32::MIN, f32::MAX)));
        }
        middle
    }

    /// Moves direct bodies into the cell, as a search does, to measure how they lie apart.
    pub(super) fn put_in_cell(&mut self, input: &Input<'_, D>, (isa, workers): (Isa, Workers<'_>)) {
        let Some(cell) = self.cell.filter(|_| !input.is_decided()) else { return self.in_cell.clear() };
        self.in_cell.resize_with(input.sets().len(), InCell::default);
        for ((in_cell, set), now) in self.in_cell.iter_mut().zip(input.sets()).zip(&self.sets) {
            let bodies = match set.source {
                Source::View(bodies) => bodies,
                _ => now.bodies_of_tree(),
            };
            put_in_cell(in_cell, bodies, &cell, isa, workers);
        }
    }

    /// Moves stand-ins that have left the cell back into it, of as many sets as `kept` gives. What is kept of the
    /// bodies of a set moves as far, if it is of as many bodies.
    pub(super) fn settle<'k>(&mut self, kept: impl Iterator<Item = &'k mut Reference<D>>, on: (Isa, Workers<'_>)) {
        let Some(cell) = &self.cell else { return };
        for (set, kept) in self.sets.iter_mut().zip(kept) {
            set.settle(cell, |len| kept.columns_mut(len), on);
        }
    }

    /// Whether stand-ins have come so far from their middle that they are to begin anew. If so, they do the next time
    /// that bodies are followed.
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

    /// Whether no two bodies, with this margin, meet at more than one image.
    pub(super) fn are_single(&self, margin: f64) -> bool {
        self.cell.is_none_or(|cell| {
            let reach = 2.0 * (self.largest + 2.0 * margin) + f64::from(LEAST);
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

    /// Returns the input with stand-ins in place of bodies; `sets` is memory for many sets.
    pub(super) fn input<'a>(&'a self, input: &Input<'a, D>, sets: &'a mut Vec<Set<'a, D>>) -> Input<'a, D> {
        with_sets(input, sets, |number, set| self.sets[number].bodies(&set.source).into())
    }

    /// Returns the input with copies of bodies in place of trees; `sets` is memory for many sets.
    pub(super) fn without_trees<'a>(&'a self, input: &Input<'a, D>, sets: &'a mut Vec<Set<'a, D>>) -> Input<'a, D> {
        let of_set = |number: usize, set: &Set<'a, D>| match set.source {
            Source::Tree(_) => Set { source: Source::View(self.sets[number].bodies_of_tree()), ..*set },
            _ => *set,
        };
        with_sets(input, sets, of_set).space(input.space)
    }

    /// Returns what decides by the caller's own numbers.
    pub(super) fn exact<'a>(&'a self, input: &'a Input<'a, D>) -> Exact<'a, D> {
        Exact {
            sets: input.sets(),
            sorted: &[],
            cell: self.cell,
            images: &self.images,
            decided: input.is_decided(),
            shaped: false,
            boxed: false,
            in_cell: &self.in_cell,
        }
    }

    /// Whether two bodies touch. The stand-in of the second is seen `image` vectors of the cell from where it is.
    pub(super) fn touch(&self, exact: &Exact<'_, D>, sets: [u32; 2], [a, b]: [u32; 2], image: [i32; D]) -> bool {
        let [from, to] = [(sets[0], a), (sets[1], b)].both(|(set, id)| self.sets[set as usize].steps_of(id));
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

    /// Returns a direct body moved into the cell, as a search moves it, and by how many vectors.
    fn in_cell(&self, exact: &Exact<'_, D>, set: u32, id: u32) -> ([f32; D], [f64; D]) {
        let center = exact.center(set, id);
        let wraps = self.cell.map_or([0.0; D], |cell| cell.wraps(center));
        let shift = self.cell.map_or([0.0; D], |cell| cell.shift(wraps));
        if wraps == [0.0; D] {
            return (center.axes(|x| x as f32), wraps);
        }
        (from_axes(|axis| (center[axis] - shift[axis]) as f32), wraps)
    }

    /// Returns, for each of the first `sets` sets, where its stand-ins are, and how many vectors of the cell lead from
    /// there to their bodies.
    pub(super) fn places(&self, sets: usize) -> impl Iterator<Item = &Arc<Places<D>>> {
        self.sets[..sets].iter().map(StandIn::places)
    }
}

/// Makes an input of other sets in place of these, in open space.
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

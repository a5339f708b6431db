//! The predicates in `f64`, on the caller's own numbers, and the shift of an image.

use core::ops::Range;

use jostle_core::Scalar;

use crate::filter::Decide;
use crate::input::{Cell, Set, Source};
use crate::proxy::Images;
use crate::rows::Rows;
use crate::side::Side;

/// The bodies of a search as the caller gave them.
#[derive(Clone, Copy)]
pub(crate) struct Exact<'a, const D: usize> {
    pub(crate) sets: &'a [Set<'a, D>],
    pub(crate) sides: &'a [Side<D>],
    pub(crate) cell: Option<Cell<D>>,
    pub(crate) images: &'a Images<D>,
    /// Whether pairs are decided in `f64`; else by the proxies.
    pub(crate) decided: bool,
}

impl<const D: usize> Exact<'_, D> {
    #[inline]
    fn center(&self, set: u32, id: u32) -> [f64; D] {
        let (mut center, id) = ([0.0; D], id as usize);
        match &self.sets[set as usize].source {
            Source::View(bodies) => (0..D).for_each(|axis| center[axis] = bodies.centers()[axis].get(id).to_f64()),
            Source::Double(bodies) => (0..D).for_each(|axis| center[axis] = bodies.centers()[axis].get(id)),
            Source::Tree(_) => {
                let bodies = self.sides[set as usize].proxies.tree_bodies.view();
                (0..D).for_each(|axis| center[axis] = bodies.centers()[axis].get(id).to_f64());
            }
        }
        center
    }

    #[inline]
    fn radius(&self, set: u32, id: u32) -> f64 {
        match &self.sets[set as usize].source {
            Source::View(bodies) => bodies.radius(id as usize).to_f64(),
            Source::Double(bodies) => bodies.radius(id as usize),
            Source::Tree(_) => self.sides[set as usize].proxies.tree_bodies.view().radius(id as usize).to_f64(),
        }
    }

    #[inline]
    fn displacement(&self, set: u32, id: u32) -> [f64; D] {
        self.sets[set as usize].moving.map_or([0.0; D], |moving| moving.get(id as usize))
    }

    /// By how many of each vector b is moved to be at an image of the cell that a is in, of bodies where they are.
    #[inline]
    pub(crate) fn steps(&self, sets: [u32; 2], image: u32, a: u32, b: u32) -> [i32; D] {
        let [of_a, of_b] = sets.map(|set| &self.sides[set as usize].proxies);
        let (mut steps, from, to) = (self.images.steps[image as usize], of_a.wraps_of(a), of_b.wraps_of(b));
        for k in 0..D {
            steps[k] += from[k] - to[k];
        }
        steps
    }

    /// As [`Exact::steps`], of two bodies that touch at the nearest image of each other, whichever that is.
    pub(crate) fn nearest_steps(&self, sets: [u32; 2], a: u32, b: u32) -> [i32; D] {
        let (mut steps, from, to) = ([0; D], self.center(sets[0], a), self.center(sets[1], b));
        if let Some(cell) = &self.cell {
            for k in (0..D).filter(|&k| cell.space.repeats[k]) {
                let fraction = (0..D).fold(0.0, |sum, axis| sum + (to[axis] - from[axis]) * cell.duals[k][axis]);
                steps[k] = -fraction.round() as i32;
            }
        }
        steps
    }

    /// From a to b once b has been moved by so many of each vector.
    #[inline]
    fn difference_by(&self, sets: [u32; 2], steps: [i32; D], a: u32, b: u32) -> [f64; D] {
        let shift = self.cell.as_ref().map_or([0.0; D], |cell| cell.shift(steps.map(f64::from)));
        self.difference_at(sets, shift, a, b)
    }

    #[inline]
    fn difference_at(&self, sets: [u32; 2], shift: [f64; D], a: u32, b: u32) -> [f64; D] {
        let (mut difference, from) = (self.center(sets[1], b), self.center(sets[0], a));
        for axis in 0..D {
            difference[axis] -= from[axis];
            if self.cell.is_some() {
                difference[axis] += shift[axis];
            }
        }
        difference
    }

    /// From a to b at an image.
    #[inline]
    fn difference(&self, sets: [u32; 2], image: u32, a: u32, b: u32) -> [f64; D] {
        if self.is_outside(sets) {
            return self.difference_by(sets, self.steps(sets, image, a, b), a, b);
        }
        self.difference_at(sets, self.images.shifts[image as usize], a, b)
    }

    /// From the proxy of a to that of b at an offset, of direct bodies in a space that repeats.
    #[inline]
    fn direct_difference(&self, sets: [u32; 2], offset: [f32; D], a: u32, b: u32) -> [f32; D] {
        let center = |set: u32, id: u32| self.sides[set as usize].proxies.view().center(id as usize);
        let (mut difference, from) = (center(sets[1], b), center(sets[0], a));
        for axis in 0..D {
            difference[axis] = (difference[axis] - from[axis]) + offset[axis];
        }
        difference
    }

    /// The squared distance of the centres of a and b once b has been moved by so many of each vector, at the beginning, as
    /// the predicate has it.
    pub(crate) fn distance2_by(&self, sets: [u32; 2], steps: [i32; D], a: u32, b: u32) -> f32 {
        if self.decided {
            return squared(self.difference_by(sets, steps, a, b)) as f32;
        }
        let Some(cell) = &self.cell else { return 0.0 };
        let [of_a, of_b] = sets.map(|set| &self.sides[set as usize].proxies);
        let (mut steps, from, to) = (steps, of_a.wraps_of(a), of_b.wraps_of(b));
        (0..D).for_each(|k| steps[k] += to[k] - from[k]);
        let offset = cell.shift(steps.map(f64::from)).map(|shift| shift as f32);
        self.direct_difference(sets, offset, a, b).into_iter().fold(0.0, |sum, d| sum + d * d)
    }

    /// The first image from this number on at which a and b touch, and by how many of each vector b is moved there.
    pub(crate) fn next_image(&self, sets: [u32; 2], images: Range<u32>, a: u32, b: u32) -> Option<(u32, [i32; D])> {
        let image = images.into_iter().find(|&image| {
            if self.decided {
                return self.is_pair(sets, image, a, b);
            }
            let radius = |set: u32, id: u32| self.sides[set as usize].proxies.view().radius(id as usize);
            let s = radius(sets[0], a) + radius(sets[1], b);
            let apart = self.direct_difference(sets, self.images.offsets[image as usize], a, b);
            apart.into_iter().fold(0.0, |sum, d| sum + d * d) <= s * s
        })?;
        Some((image, self.steps(sets, image, a, b)))
    }

    /// When a and b at an image first touch, if they do.
    pub(crate) fn touch(&self, sets: [u32; 2], image: u32, a: u32, b: u32) -> Option<f64> {
        let p = self.difference(sets, image, a, b);
        let (from, to) = (self.displacement(sets[0], a), self.displacement(sets[1], b));
        let (mut pp, mut pv, mut vv) = (0.0, 0.0, 0.0);
        for axis in 0..D {
            let v = to[axis] - from[axis];
            (pp, pv, vv) = (pp + p[axis] * p[axis], pv + p[axis] * v, vv + v * v);
        }
        let s = self.radius(sets[0], a) + self.radius(sets[1], b);
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

    /// The image of a neighbour b in the row of a from number `next` on: the number after it, and the squared distance.
    pub(crate) fn neighbor(&self, kind: Rows, a: u32, b: u32, next: u32) -> (u32, f32) {
        let sets = if self.sets.len() > 1 { [0, 1] } else { [0, 0] };
        if self.images.unique {
            return (0, self.distance2_by(sets, self.nearest_steps(sets, a, b), a, b));
        }
        let itself = sets == [0, 0] && a == b;
        let all = self.images.steps.len() as u32;
        let last = if itself && kind == Rows::Half { self.images.half() as u32 } else { all };
        match self.next_image(sets, next.max(u32::from(itself))..last, a, b) {
            Some((image, steps)) => (image + 1, self.distance2_by(sets, steps, a, b)),
            None => (next, f32::NAN),
        }
    }

    /// Whether a body of these sets has been moved into the cell.
    #[inline]
    pub(crate) fn is_outside(&self, sets: [u32; 2]) -> bool {
        sets.iter().any(|&set| self.sides[set as usize].proxies.outside)
    }

    /// Whether a body of these sets moves.
    pub(crate) fn moves(&self, sets: [u32; 2]) -> bool {
        sets.iter().any(|&set| self.sets[set as usize].moving.is_some())
    }
}

impl<const D: usize> Decide for Exact<'_, D> {
    fn is_pair(&self, sets: [u32; 2], image: u32, a: u32, b: u32) -> bool {
        if self.moves(sets) {
            return self.touch(sets, image, a, b).is_some();
        }
        let s = self.radius(sets[0], a) + self.radius(sets[1], b);
        squared(self.difference(sets, image, a, b)) <= s * s
    }
}

#[inline]
fn squared<const D: usize>(apart: [f64; D]) -> f64 {
    apart.into_iter().fold(0.0, |sum, d| sum + d * d)
}

//! Ghost images: images of bodies, where space repeats, that may touch other bodies in open space. They stand behind
//! the bodies of their set, as more of it.
//!
//! The second body of a pair is the one that is seen at an image. Within a set half of the images are enough: each pair
//! has one at which the second body is moved, and an opposite one at which the first is. Where other sets meet this set
//! as their second, all images are there, and the body with the lesser id stays where it is.

use core::ops::Range;
use std::sync::{Mutex, PoisonError};

use jostle_core::axes::{Axes, Both, from_axes};
use jostle_core::isa::Work;
use jostle_core::scratch::fill_with_headroom;
use jostle_core::{Bodies, Column, Isa, Workers};
use jostle_sets::Circle;
use jostle_sets::input::UnitCell;
use jostle_sets::simd::LANES;

use crate::coherent::names::Names;
use crate::coherent::reference::measure::read;
use crate::coherent::reference::{PART, block};

/// See the top of this file.
#[derive(Debug)]
pub(super) struct Ghosts<const D: usize> {
    /// How many bodies their set has: the ghost images stand behind these.
    first: u32,
    /// Whether these are half of the images, for the set alone.
    half: bool,
    /// Of each ghost image: its body, by how many vectors of the cell it is moved, and how far.
    of: Vec<u32>,
    images: Vec<[i32; D]>,
    shifts: Vec<[f32; D]>,
    /// The images at which bodies may have ghosts; how far each is away; and for each body a bit for each of them.
    next: Vec<[i32; D]>,
    next_shifts: Vec<[f32; D]>,
    marks: Vec<u32>,
    /// The bodies of the set and their ghost images, and their radii with margins.
    centers: [Vec<f32>; D],
    radii: Vec<f32>,
}

impl<const D: usize> Default for Ghosts<D> {
    fn default() -> Self {
        Self {
            first: u32::MAX,
            half: false,
            of: Vec::new(),
            images: Vec::new(),
            shifts: Vec::new(),
            next: Vec::new(),
            next_shifts: Vec::new(),
            marks: Vec::new(),
            centers: [const { Vec::new() }; D],
            radii: Vec::new(),
        }
    }
}

/// Images stand among the bodies where there are more bodies than this to an image: to keep them apart would then cost
/// more than the pairs of two images that are found.
const WORTH_APART: usize = 8;

/// The steps along each vector of the cell that a ghost image may be away.
const STEPS: [i32; 3] = [0, 1, -1];

impl<const D: usize> Ghosts<D> {
    pub(super) fn bytes(&self) -> usize {
        (self.of.capacity() + self.marks.capacity()) * size_of::<u32>()
            + (self.images.capacity() + self.next.capacity()) * size_of::<[i32; D]>()
            + (self.shifts.capacity() + self.next_shifts.capacity()) * size_of::<[f32; D]>()
            + self.centers.iter().chain([&self.radii]).map(Vec::capacity).sum::<usize>() * size_of::<f32>()
    }

    /// Removes all ghost images.
    pub(super) fn clear(&mut self) {
        self.first = u32::MAX;
        self.of.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Returns the body with this name, or the body of the ghost image with this name.
    #[inline(always)]
    pub(super) fn body(&self, name: u32) -> u32 {
        if name < self.first { name } else { self.of[(name - self.first) as usize] }
    }

    fn image(&self, name: u32) -> [i32; D] {
        if name < self.first { [0; D] } else { self.images[(name - self.first) as usize] }
    }

    /// Finds the ghost images of bodies that may touch other bodies within such borders, where any two radii are up to
    /// `reach` together. Finds half of the images if the others are the same bodies.
    pub(super) fn find(
        &mut self,
        (cell, reach): (&UnitCell<D>, f32),
        bodies: Bodies<'_, D>,
        (borders, half): ([[f32; 2]; D], bool),
        (isa, workers): (Isa, Workers<'_>),
    ) {
        self.clear();
        self.half = half;
        let Self { first, of, images, shifts, next, next_shifts, marks, .. } = self;
        next.clear();
        next.extend(images_of(cell, half));
        next_shifts.clear();
        next_shifts.extend(next.iter().map(|image| cell.shift(image.axes(f64::from)).axes(|x| x as f32)));
        *first = bodies.len() as u32;
        let borders = borders.axes(|[lo, hi]| {
            // Amply, since sums are rounded.
            let more = reach + (lo.abs().max(hi.abs()) + reach) * (1.0 / 1_048_576.0);
            [lo - more, hi + more]
        });
        fill_with_headroom(marks, bodies.len(), 0);
        let (centers, all_shifts) = (bodies.centers(), next_shifts.as_slice());
        workers.fill_blocks("ghosts", marks, block(bodies.len(), workers), |first, marks| {
            isa.run(Mark { centers, first, borders, shifts: all_shifts, marks });
        });
        images.clear();
        shifts.clear();
        // Most bodies have no ghost images.
        let some = (0..).step_by(LANES).zip(marks.chunks(LANES)).filter(|(_, some)| some.iter().any(|&mark| mark != 0));
        for (id, &mark) in some.flat_map(|(first, some)| (first..).zip(some)) {
            let mut rest = mark;
            while rest != 0 {
                let image = rest.trailing_zeros() as usize;
                of.push(id);
                images.push(next[image]);
                shifts.push(next_shifts[image]);
                rest &= rest - 1;
            }
        }
    }

    /// Puts the ghost images behind the bodies of their set.
    pub(super) fn put_behind<P: Copy + Default + Send + Sync>(
        &self,
        bodies: &mut Vec<P>,
        moved: impl Fn(P, [f32; D]) -> P + Sync + Send,
        workers: Workers<'_>,
    ) {
        if self.is_empty() {
            return;
        }
        let first = self.first as usize;
        fill_with_headroom(bodies, first + self.of.len(), P::default());
        let (bodies, ghosts) = bodies.split_at_mut(first);
        workers.fill_blocks("ghosts", ghosts, block(self.of.len(), workers), |first, ghosts| {
            for (slot, (&body, &shift)) in ghosts.iter_mut().zip(self.of[first..].iter().zip(&self.shifts[first..])) {
                *slot = moved(bodies[body as usize], shift);
            }
        });
    }

    /// Returns the names of the ghost images of a body.
    pub(super) fn images_of(&self, body: u32) -> Range<u32> {
        let number = |end: usize| self.first.saturating_add(end as u32);
        let [begin, end] = [body, body.saturating_add(1)].both(|body| self.of.partition_point(|&of| of < body));
        number(begin)..number(end)
    }

    /// Returns the names that two bodies of a pair had when it was found among [`Ghosts::with_bodies`]: those at which
    /// they are nearest.
    pub(super) fn found_as(&self, [a, b]: [u32; 2]) -> [u32; 2] {
        let names = [a, b].both(|body| self.images_of(body));
        if names[0].is_empty() && names[1].is_empty() {
            return [a, b];
        }
        let distance2 = |[a, b]: [u32; 2]| {
            let apart = |axis: usize| self.centers[axis][b as usize] - self.centers[axis][a as usize];
            (0..D).map(apart).fold(0.0, |sum, apart| sum + apart * apart)
        };
        let [of_a, of_b] = names;
        // Where all images are there, the body with the lesser id stays where it is.
        let of_a = if self.half { of_a } else { 0..0 };
        let others = of_b.map(|b| [a, b]).chain(of_a.map(|a| [a, b]));
        others.fold([a, b], |nearest, other| if distance2(other) < distance2(nearest) { other } else { nearest })
    }

    /// Returns a body of the set, or a ghost image, as it was listed.
    pub(super) fn listed_body(&self, name: u32) -> Option<Circle<D>> {
        let at = name as usize;
        let radius = *self.radii.get(at)?;
        Some(Circle::new(from_axes(|axis| self.centers[axis][at]), radius))
    }

    /// Returns the name of the first ghost image: as many bodies have names before it.
    pub(super) fn first_name(&self) -> usize {
        self.first as usize
    }

    /// Lists the bodies of the set with their ghost images.
    pub(super) fn listed(&mut self, bodies: Bodies<'_, D>, workers: Workers<'_>) {
        let Self { of, shifts, centers, radii, .. } = self;
        let (len, all, margin) = (bodies.len(), bodies.len() + of.len(), bodies.margin());
        for axis in 0..D {
            fill_with_headroom(&mut centers[axis], all, 0.0);
            let (front, back) = centers[axis].split_at_mut(len);
            workers.fill_blocks("with ghosts", front, block(len, workers), |first, out| {
                bodies.centers()[axis].copy_into(first, out);
            });
            for ((slot, &body), shift) in back.iter_mut().zip(&*of).zip(&*shifts) {
                *slot = front[body as usize] + shift[axis];
            }
        }
        fill_with_headroom(radii, all, 0.0);
        let (front, back) = radii.split_at_mut(len);
        workers.fill_blocks("with ghosts", front, block(len, workers), |first, out| {
            bodies.radii().map_into(first, out, |radius| radius + margin);
        });
        back.iter_mut().zip(&*of).for_each(|(slot, &body)| *slot = front[body as usize]);
    }

    /// Returns what was listed last.
    pub(super) fn with_bodies(&self) -> Bodies<'_, D> {
        let bodies = Bodies::from_slices(self.centers.each_ref().each(Vec::as_slice), self.radii.as_slice());
        let (first, are_few) = (self.first as usize, self.of.len() * WORTH_APART < self.first as usize);
        if are_few { bodies } else { bodies.with_images_from(first) }
    }
}

/// Returns all images next to the cell, or half of them.
pub(super) fn images_of<const D: usize>(cell: &UnitCell<D>, half: bool) -> impl Iterator<Item = [i32; D]> {
    let count = STEPS.len().pow(D as u32);
    let of_number = move |number: usize| from_axes(|k| STEPS[number / STEPS.len().pow(k as u32) % STEPS.len()]);
    let is_wanted = move |image: &[i32; D]| {
        let fits = (0..D).all(|k| cell.space.repeats[k] || image[k] == 0);
        let last = image.iter().rev().find(|&&step| step != 0);
        fits && last.is_some_and(|&step| !half || step > 0)
    };
    (0..count).map(of_number).filter(is_wanted)
}

/// The ghost images of two sets that meet.
#[derive(Debug, Clone, Copy)]
pub(super) struct GhostsOfTwo<'a, const D: usize> {
    of: [&'a Ghosts<D>; 2],
    within: bool,
}

impl<'a, const D: usize> GhostsOfTwo<'a, D> {
    pub(super) fn new(of: [&'a Ghosts<D>; 2], within: bool) -> Self {
        Self { of, within }
    }

    /// Whether some candidates with no more than one ghost image do not count.
    pub(super) fn sort_out(&self) -> bool {
        let Ghosts { of, half, .. } = self.of[0];
        !(of.is_empty() || self.within && *half)
    }

    /// Whether a candidate counts, where some do not. Its first body must be no ghost image; within a set, if the other
    /// body is one, the first must have the lesser id of the two.
    #[inline(always)]
    pub(super) fn is_one(&self, [a, b]: [u32; 2]) -> bool {
        let [a, b] = if self.within { [a.min(b), a.max(b)] } else { [a, b] };
        let ghosts = self.of[0];
        a < ghosts.first && (!self.within || b < ghosts.first || a < ghosts.body(b))
    }

    /// Returns the bodies of a candidate.
    #[inline(always)]
    pub(super) fn bodies(&self, [a, b]: [u32; 2]) -> [u32; 2] {
        [self.of[0].body(a), self.of[1].body(b)]
    }

    /// Returns by how many vectors of the cell the second body is moved to where it is seen from the first.
    pub(super) fn image_between(&self, [a, b]: [u32; 2]) -> [i32; D] {
        let [from, to] = [self.of[0].image(a), self.of[1].image(b)];
        from_axes(|k| to[k] - from[k])
    }

    /// Returns the names by which candidates call bodies: ids or ranks.
    pub(super) fn names(&self, ids: &'a [u32]) -> Names<'a> {
        Names { ids, within: self.within, first_image: self.of[1].first, images_of: &self.of[1].of }
    }
}

/// The borders of nothing.
pub(super) const NOWHERE: [f32; 2] = [f32::INFINITY, f32::NEG_INFINITY];

/// Returns the borders around both on each axis.
pub(super) fn around<const D: usize>(one: [[f32; 2]; D], other: [[f32; 2]; D]) -> [[f32; 2]; D] {
    from_axes(|axis| [one[axis][0].min(other[axis][0]), one[axis][1].max(other[axis][1])])
}

/// Returns the least and the greatest coordinate of centres on each axis.
pub(super) fn borders_of<const D: usize>(bodies: Bodies<'_, D>, (isa, workers): (Isa, Workers<'_>)) -> [[f32; 2]; D] {
    let all = Mutex::new([NOWHERE; D]);
    let block = block(bodies.len(), workers);
    workers.run("borders", bodies.len().div_ceil(block), |task| {
        let range = task * block..((task + 1) * block).min(bodies.len());
        let of_task = isa.run(Borders { centers: bodies.centers(), range });
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        *all = around(*all, of_task);
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

struct Borders<'a, const D: usize> {
    centers: &'a [Column<'a, f32>; D],
    range: Range<usize>,
}

impl<const D: usize> Work for Borders<'_, D> {
    type Output = [[f32; 2]; D];

    #[inline(always)]
    fn run(self) -> [[f32; 2]; D] {
        let Self { centers, range } = self;
        let mut borders = [NOWHERE; D];
        for first in range.clone().step_by(PART) {
            let count = PART.min(range.end - first);
            for axis in 0..D {
                let mut room = [0.0; PART];
                let part = read(&centers[axis], first, &mut room);
                let [mut lo, mut hi] = [[part[0]; LANES]; 2];
                for some in part[..count].as_chunks::<LANES>().0 {
                    for lane in 0..LANES {
                        lo[lane] = if some[lane] < lo[lane] { some[lane] } else { lo[lane] };
                        hi[lane] = if some[lane] > hi[lane] { some[lane] } else { hi[lane] };
                    }
                }
                for &x in part[..count].as_chunks::<LANES>().1 {
                    (lo[0], hi[0]) = (lo[0].min(x), hi[0].max(x));
                }
                let of_part =
                    [lo.into_iter().fold(f32::INFINITY, f32::min), hi.into_iter().fold(f32::NEG_INFINITY, f32::max)];
                borders[axis] = [borders[axis][0].min(of_part[0]), borders[axis][1].max(of_part[1])];
            }
        }
        borders
    }
}

/// Sets, for each body, a bit for each shift that brings it within borders.
struct Mark<'a, const D: usize> {
    centers: &'a [Column<'a, f32>; D],
    first: usize,
    borders: [[f32; 2]; D],
    shifts: &'a [[f32; D]],
    marks: &'a mut [u32],
}

impl<const D: usize> Work for Mark<'_, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        let Self { centers, first, borders, shifts, marks } = self;
        for (first, marks) in (first..).step_by(PART).zip(marks.chunks_mut(PART)) {
            let (mut rooms, mut at) = ([[0.0; PART]; D], [&[0.0; PART]; D]);
            for (axis, room) in rooms.iter_mut().enumerate() {
                at[axis] = read(&centers[axis], first, room);
            }
            let mut near = [0_u32; PART];
            for (image, shift) in shifts.iter().enumerate() {
                for lane in 0..PART {
                    let mut is_near = true;
                    for axis in 0..D {
                        let x = at[axis][lane] + shift[axis];
                        is_near &= (x >= borders[axis][0]) & (x <= borders[axis][1]);
                    }
                    near[lane] |= u32::from(is_near) << image;
                }
            }
            marks.copy_from_slice(&near[..marks.len()]);
        }
    }
}

//! Ghost images: images of bodies, where space repeats, that may touch other bodies in open space. They stand behind
//! the bodies of their set, as more of it.
//!
//! The second body of a pair is the one that is seen at an image. A pair within a set has one image at which the second
//! body is moved, and an opposite one at which the first is. Of a small and a large body, the large one is seen at an
//! image, so that small bodies far from all borders need none (`classes.rs`); of two of about the same size, half of
//! the images are enough. Where other sets meet this set, all images are there, and the body with the lesser id stays
//! where it is.

mod classes;
mod near;

use core::ops::Range;

use jostle_core::axes::{Axes, Both, from_axes};
use jostle_core::scratch::fill_with_headroom;
use jostle_core::{Bodies, Column, Isa, Workers};
use jostle_sets::Circle;
use jostle_sets::input::UnitCell;
use jostle_sets::simd::LANES;

use crate::coherent::names::Names;
use crate::coherent::packed::Moving;
use crate::coherent::reference::block;
use classes::Classes;
pub(super) use classes::ONE_IMAGE;
use near::Mark;
pub(super) use near::{NOWHERE, around, borders_of};

/// See the top of this file.
#[derive(Debug)]
pub(super) struct Ghosts<const D: usize> {
    /// How many bodies their set has: the ghost images stand behind these.
    first: u32,
    /// Whether these are images for the set alone, by classes, and the classes. Else all bodies are of one class.
    by_class: bool,
    classes: Classes,
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

/// The bodies that ghost images of a set may touch: those of all sets that it meets as the second of two.
#[derive(Debug)]
pub(super) struct Others<const D: usize> {
    pub(super) borders: [[f32; 2]; D],
    /// The largest radius, with its margin.
    pub(super) largest: f32,
    /// Whether these are the bodies of the set itself, and whether it meets no other set, not even as the first of two.
    pub(super) are_own: bool,
    pub(super) are_alone: bool,
}

impl<const D: usize> Default for Others<D> {
    fn default() -> Self {
        Self { borders: [NOWHERE; D], largest: 0.0, are_own: true, are_alone: true }
    }
}

impl<const D: usize> Default for Ghosts<D> {
    fn default() -> Self {
        Self {
            first: u32::MAX,
            by_class: false,
            classes: Classes::default(),
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

    /// Finds the ghost images of bodies that may touch others within borders, and lists the bodies of the set with them.
    /// `error` is added to how far two bodies reach.
    pub(super) fn find(
        &mut self,
        cell: &UnitCell<D>,
        bodies: Bodies<'_, D>,
        (others, error): (&Others<D>, f32),
        (isa, workers): (Isa, Workers<'_>),
    ) {
        self.clear();
        self.first = bodies.len() as u32;
        self.list_radii(bodies, workers);
        let Self { by_class, classes, of, images, shifts, next, next_shifts, marks, radii, .. } = self;
        *by_class = others.are_own;
        *classes = if others.are_alone {
            let [of_radii] = borders_of(&[Column::from(radii.as_slice())], (isa, workers));
            Classes::of(of_radii)
        } else {
            Classes::one(others.largest)
        };
        next.clear();
        next.extend(images_of(cell).filter(|&image| !*by_class || is_for_equals(image)));
        let of_equals = next.len();
        if classes.are_many() {
            next.extend(images_of(cell).filter(|&image| !is_for_equals(image)));
        }
        next_shifts.clear();
        next_shifts.extend(next.iter().map(|image| cell.shift(image.axes(f64::from)).axes(|x| x as f32)));
        fill_with_headroom(marks, bodies.len(), 0);
        let (centers, of_radii) = (bodies.centers(), Column::from(radii.as_slice()));
        let (all_shifts, classes) = (next_shifts.split_at(of_equals), *classes);
        workers.fill_blocks("ghosts", marks, block(bodies.len(), workers), |first, marks| {
            let (radii, borders, shifts) = (of_radii, others.borders, all_shifts.into());
            isa.run(Mark { centers, radii, first, borders, classes, error, shifts, marks });
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
        self.list_centers(bodies, workers);
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

    /// Marks the shares of bodies and ghost images, by which two are told that are no candidate.
    pub(super) fn mark(&self, all: &mut [Moving], workers: Workers<'_>) {
        if self.is_empty() {
            return;
        }
        let Self { classes, radii, .. } = self;
        let block = block(all.len(), workers);
        let (bodies, ghosts) = all.split_at_mut(self.first as usize);
        if classes.are_many() {
            workers.fill_blocks("ghosts", bodies, block, |first, bodies| {
                for (body, &radius) in bodies.iter_mut().zip(&radii[first..]) {
                    body.mark(classes.mark_of_body(radius));
                }
            });
        }
        workers.fill_blocks("ghosts", ghosts, block, |first, ghosts| {
            for (ghost, name) in ghosts.iter_mut().zip(self.first + first as u32..) {
                ghost.mark(self.mark_of(name));
            }
        });
    }

    /// Returns the mark of a body or of a ghost image.
    fn mark_of(&self, name: u32) -> f32 {
        let radius = self.radii[name as usize];
        let Some(image) = name.checked_sub(self.first) else { return self.classes.mark_of_body(radius) };
        self.classes.mark_of_image(radius, !self.by_class || is_for_equals(self.images[image as usize]))
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
        let is_candidate = |names: &[u32; 2]| names.both(|name| self.mark_of(name)).iter().sum::<f32>() <= ONE_IMAGE;
        // Where all images are there, the body with the lesser id stays where it is.
        let of_a = if self.by_class { of_a } else { 0..0 };
        let others = of_b.map(|b| [a, b]).chain(of_a.map(|a| [a, b])).filter(is_candidate);
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

    /// Lists the radii of the bodies of the set, with their margins.
    fn list_radii(&mut self, bodies: Bodies<'_, D>, workers: Workers<'_>) {
        let (len, margin) = (bodies.len(), bodies.margin());
        fill_with_headroom(&mut self.radii, len, 0.0);
        workers.fill_blocks("with ghosts", &mut self.radii, block(len, workers), |first, out| {
            bodies.radii().map_into(first, out, |radius| radius + margin);
        });
    }

    /// Lists the centres of the bodies of the set and of their ghost images, and the radii of these.
    fn list_centers(&mut self, bodies: Bodies<'_, D>, workers: Workers<'_>) {
        let Self { of, shifts, centers, radii, .. } = self;
        let (len, all) = (bodies.len(), bodies.len() + of.len());
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
        back.iter_mut().zip(&*of).for_each(|(slot, &body)| *slot = front[body as usize]);
    }

    /// Returns what was listed last.
    pub(super) fn with_bodies(&self) -> Bodies<'_, D> {
        let bodies = Bodies::from_slices(self.centers.each_ref().each(Vec::as_slice), self.radii.as_slice());
        let (first, are_few) = (self.first as usize, self.of.len() * WORTH_APART < self.first as usize);
        if are_few { bodies } else { bodies.with_images_from(first) }
    }
}

/// Returns all images next to the cell.
pub(super) fn images_of<const D: usize>(cell: &UnitCell<D>) -> impl Iterator<Item = [i32; D]> {
    let count = STEPS.len().pow(D as u32);
    let of_number = move |number: usize| from_axes(|k| STEPS[number / STEPS.len().pow(k as u32) % STEPS.len()]);
    let is_wanted = move |image: &[i32; D]| *image != [0; D] && (0..D).all(|k| cell.space.repeats[k] || image[k] == 0);
    (0..count).map(of_number).filter(is_wanted)
}

/// Whether an image is of the half at which two bodies of one class are seen.
fn is_for_equals<const D: usize>(image: [i32; D]) -> bool {
    image.iter().rev().find(|&&step| step != 0).is_some_and(|&step| step > 0)
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
        let Ghosts { of, by_class, .. } = self.of[0];
        !(of.is_empty() || self.within && *by_class)
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

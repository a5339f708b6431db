//! The predicates in `f64`, on the caller's own numbers, and the shift of an image.

use jostle_core::axes::{Axes, Both, from_axes};
use jostle_core::{Bodies, Isa, LinearTree, Scalar};

use crate::input::{Set, Source, UnitCell};
use crate::proxy::impact::{SixteenPaths, first_touch};
use crate::proxy::sixteen_pairs::{Kind, SixteenPairs};
use crate::proxy::sorted::SortedSet;
use crate::proxy::{Images, Proxies, Solid};
use crate::shape::first_lanes;
use crate::simd::LANES;

/// Bodies in the precision that distances are measured from.
#[derive(Debug, Clone, Copy)]
pub enum Measured<'a, const D: usize> {
    Single(Bodies<'a, D>),
    Double(Bodies<'a, D, f64>),
}

/// Decides whether bodies are pairs, by the caller's own numbers.
pub trait Decide: Sync {
    /// Which of some bodies `[a, b]` of these sets, at most sixteen, are pairs, as bits; `b` is seen at an image by its
    /// number. At image 0, `b` is where it is.
    fn are_pairs(&self, sets: [u32; 2], image: u32, bodies: &[[u32; 2]]) -> u16;
}

/// Centres of direct bodies of a set in a space that repeats, moved into the cell, and by how many vectors each was
/// moved. Used where no search has moved them.
#[derive(Debug)]
pub struct InCell<const D: usize> {
    pub centers: [Vec<f32>; D],
    pub wraps: Vec<[i32; D]>,
}

impl<const D: usize> Default for InCell<D> {
    fn default() -> Self {
        Self { centers: [const { Vec::new() }; D], wraps: Vec::new() }
    }
}

/// The bodies of a search as the caller gave them.
#[derive(Debug, Clone, Copy)]
pub struct Exact<'a, const D: usize> {
    pub sets: &'a [Set<'a, D>],
    pub sorted: &'a [SortedSet<D>],
    pub cell: Option<UnitCell<D>>,
    pub images: &'a Images<D>,
    /// Whether pairs are decided in `f64`; else by the proxies.
    pub decided: bool,
    /// Whether the bodies are of several shapes.
    pub shaped: bool,
    /// Whether the trees are of boxes.
    pub boxed: bool,
    /// By set, the direct bodies moved into the cell, where nothing has been sorted.
    pub in_cell: &'a [InCell<D>],
}

impl<const D: usize> Exact<'_, D> {
    #[inline(always)]
    pub fn proxies(&self, set: u32) -> &Proxies<D> {
        self.sorted[set as usize].proxies_of(&self.sets[set as usize])
    }

    #[inline(always)]
    pub fn center(&self, set: u32, id: u32) -> [f64; D] {
        let (mut center, id) = ([0.0; D], id as usize);
        match &self.sets[set as usize].source {
            Source::View(bodies) => {
                for axis in 0..D {
                    center[axis] = bodies.centers()[axis].get(id).to_f64();
                }
            }
            Source::Double(bodies) => {
                for axis in 0..D {
                    center[axis] = bodies.centers()[axis].get(id);
                }
            }
            Source::Tree(_) | Source::Shaped(_) => {
                let bodies = self.proxies(set).tree_bodies.view();
                for axis in 0..D {
                    center[axis] = bodies.centers()[axis].get(id).to_f64();
                }
            }
        }
        center
    }

    #[inline(always)]
    pub fn radius(&self, set: u32, id: u32) -> f64 {
        match &self.sets[set as usize].source {
            Source::View(bodies) => bodies.radius(id as usize).to_f64(),
            Source::Double(bodies) => bodies.radius(id as usize),
            Source::Tree(_) | Source::Shaped(_) => self.proxies(set).tree_bodies.view().radius(id as usize).to_f64(),
        }
    }

    #[inline(always)]
    pub fn displacement(&self, set: u32, id: u32) -> [f64; D] {
        self.sets[set as usize].by(id as usize).unwrap_or([0.0; D])
    }

    /// Whether some bodies are boxes or capsules.
    pub fn has_solids(&self) -> bool {
        self.sets.iter().any(Set::is_shaped)
    }

    /// A body of any shape, with its margin; and its core, without.
    #[inline]
    pub fn solid(&self, set: u32, id: u32) -> Solid<D> {
        self.sorted[set as usize].solid(&self.sets[set as usize], id as usize)
    }

    pub fn core(&self, set: u32, id: u32) -> Solid<D> {
        match &self.sets[set as usize].source {
            Source::Shaped(bodies) => Solid::core(bodies, id as usize),
            Source::View(_) | Source::Double(_) | Source::Tree(_) => self.solid(set, id),
        }
    }

    /// By how many of each vector `b` is moved to be seen from `a` at an image of the cell, with both bodies where they
    /// were given.
    #[inline]
    pub fn steps(&self, sets: [u32; 2], image: u32, a: u32, b: u32) -> [i32; D] {
        let [of_a, of_b] = sets.both(|set| self.proxies(set));
        let (mut steps, from, to) = (self.images.steps[image as usize], of_a.wraps_of(a), of_b.wraps_of(b));
        for k in 0..D {
            steps[k] += from[k] - to[k];
        }
        steps
    }

    /// By how many cells each body of a set has been moved to lie in the cell; empty where none has been moved.
    pub fn wraps(&self, set: u32) -> &[[i32; D]] {
        if self.sorted.is_empty() {
            return self.in_cell.get(set as usize).map_or(&[], |set| &set.wraps);
        }
        let proxies = self.proxies(set);
        if proxies.outside { &proxies.wraps } else { &[] }
    }

    /// The bodies of a set whose centres the predicate takes: as they were given, or, for direct bodies in a space that
    /// repeats, in the cell. Not for a set that has its tree in [`Exact::direct_tree`].
    pub fn measured(&self, set: u32) -> Measured<'_, D> {
        if !self.decided && self.cell.is_some() {
            return Measured::Single(self.in_cell(set));
        }
        match self.sets[set as usize].source {
            Source::View(bodies) => Measured::Single(bodies),
            Source::Double(bodies) => Measured::Double(bodies),
            Source::Tree(_) | Source::Shaped(_) => Measured::Single(self.proxies(set).tree_bodies.view()),
        }
    }

    /// Direct bodies in a space that repeats, as the predicate takes them: in the cell, their radii with the margin.
    #[inline]
    pub fn in_cell(&self, set: u32) -> Bodies<'_, D> {
        if let Some(set) = self.in_cell.get(set as usize) {
            return Bodies::from_slices(set.centers.each_ref().each(Vec::as_slice), 0.0);
        }
        let proxies = self.proxies(set);
        match self.sets[set as usize].source {
            Source::View(bodies) if proxies.are_as_given() => bodies,
            _ => proxies.view(),
        }
    }

    /// The tree that a set came with, if nothing else holds its bodies.
    pub fn direct_tree(&self, set: u32) -> Option<&LinearTree<D>> {
        match self.sets[set as usize].source {
            Source::Tree(tree) if !self.decided && self.cell.is_none() => Some(tree),
            _ => None,
        }
    }

    /// The difference from `a` to `b`, once `b` has been moved by `steps` of each vector.
    #[inline]
    pub fn difference_by(&self, sets: [u32; 2], steps: [i32; D], a: u32, b: u32) -> [f64; D] {
        let shift = self.cell.as_ref().map_or([0.0; D], |cell| cell.shift(steps.axes(f64::from)));
        self.difference_at(sets, shift, a, b)
    }

    #[inline(always)]
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

    /// The difference from `a` to `b` at an image.
    #[inline(always)]
    fn difference(&self, sets: [u32; 2], image: u32, a: u32, b: u32) -> [f64; D] {
        if self.is_outside(sets) {
            return self.difference_by(sets, self.steps(sets, image, a, b), a, b);
        }
        self.difference_at(sets, self.images.shifts[image as usize], a, b)
    }

    /// Whether bodies of any set move.
    pub fn any_move(&self) -> bool {
        self.sets.iter().any(|set| set.moving.is_some())
    }

    /// When `a` and `b` at an image first touch, if they do.
    pub fn touch(&self, sets: [u32; 2], image: u32, a: u32, b: u32) -> Option<f64> {
        if self.shaped && !self.are_round(sets) {
            return self.touch_of_solids(sets, image, a, b);
        }
        self.touch_from(self.difference(sets, image, a, b), sets, a, b)
    }

    /// When each of some pairs that were found first touch.
    pub fn touches(&self, sets: [u32; 2], image: u32, pairs: &[[u32; 2]], times: &mut [f64]) {
        // Bodies at rest were found to touch by their distance. What decides for bodies that move may round otherwise.
        if !self.moves(sets) {
            return times.fill(0.0);
        }
        for (pairs, times) in pairs.chunks(LANES).zip(times.chunks_mut(LANES)) {
            let all = self.first_touches(sets, image, pairs);
            times.copy_from_slice(&all[..times.len()]);
        }
    }

    /// When `a` and `b` first touch, if they do. `p` leads from `a` to `b` at the beginning.
    #[inline]
    pub fn touch_from(&self, p: [f64; D], sets: [u32; 2], a: u32, b: u32) -> Option<f64> {
        let s = self.radius(sets[0], a) + self.radius(sets[1], b);
        first_touch(p, [self.displacement(sets[0], a), self.displacement(sets[1], b)], s)
    }

    /// Whether `a` and `b` touch. `p` leads from `a` to `b` at the beginning.
    #[inline]
    pub fn is_pair_from(&self, p: [f64; D], sets: [u32; 2], a: u32, b: u32) -> bool {
        if self.moves(sets) {
            return self.touch_from(p, sets, a, b).is_some();
        }
        let s = self.radius(sets[0], a) + self.radius(sets[1], b);
        squared(p) <= s * s
    }

    /// As [`Exact::touch`], in a search with boxes or capsules. (Searches that visit hits one by one would take 1.2 to
    /// 1.6 times as long if each were decided as one of sixteen.)
    fn touch_of_solids(&self, sets: [u32; 2], image: u32, a: u32, b: u32) -> Option<f64> {
        let body = |set: u32, id: u32| (self.solid(set, id), self.displacement(set, id));
        let steps =
            if self.is_outside(sets) { self.steps(sets, image, a, b) } else { self.images.steps[image as usize] };
        let shift = self.cell.as_ref().map_or([0.0; D], |cell| cell.shift(steps.axes(f64::from)));
        let (mut of, mut shift) = ([body(sets[0], a), body(sets[1], b)], shift);
        if sets[0] == sets[1] && b < a {
            (of, shift) = ([of[1], of[0]], shift.axes(|x| -x));
        }
        let [(one, from), (other, to)] = of;
        one.first_touch(&other, shift, from_axes(|axis| to[axis] - from[axis]))
    }

    /// As [`Decide::are_pairs`], of bodies of which some move, or in a search with boxes or capsules.
    fn touching(&self, sets: [u32; 2], image: u32, bodies: &[[u32; 2]]) -> u16 {
        if self.moves(sets) {
            let times = self.first_touches(sets, image, bodies);
            return which(bodies, |pair| !times[pair].is_nan());
        }
        let mut pairs = SixteenPairs::NONE;
        let (kind, isa) = self.read_sixteen(&mut pairs, (sets, image), bodies, |_, _, _| ());
        pairs.touching(kind, isa) & first_lanes(bodies.len())
    }

    /// When each of some bodies, at most sixteen, first touch; NaN where they do not.
    fn first_touches(&self, sets: [u32; 2], image: u32, bodies: &[[u32; 2]]) -> [f64; LANES] {
        // Coherent frames sort nothing.
        if self.sorted.is_empty() {
            let mut times = [f64::NAN; LANES];
            for (&[a, b], time) in bodies.iter().zip(&mut times) {
                *time = self.touch(sets, image, a, b).unwrap_or(f64::NAN);
            }
            return times;
        }
        let mut paths = SixteenPaths { pairs: SixteenPairs::NONE, by: [[0.0; LANES]; D] };
        let SixteenPaths { pairs, by } = &mut paths;
        let (kind, isa) = self.read_sixteen(pairs, (sets, image), bodies, |pair, sets, [one, other]| {
            let (from, to) = (self.displacement(sets[0], one), self.displacement(sets[1], other));
            (0..D).for_each(|axis| by[axis][pair] = to[axis] - from[axis]);
        });
        paths.first_touches(kind, isa)
    }

    /// Reads some bodies, at most sixteen, column by column, and tells of the sets and the bodies of each pair in the
    /// order in which they are compared.
    #[inline(always)]
    fn read_sixteen(
        &self,
        pairs: &mut SixteenPairs<D>,
        (sets, image): ([u32; 2], u32),
        bodies: &[[u32; 2]],
        mut tell: impl FnMut(usize, [u32; 2], [u32; 2]),
    ) -> (Kind, Isa) {
        let of = |set: u32| (&self.sets[set as usize], &self.sorted[set as usize]);
        let (kind, turned) = Kind::of(sets.both(|set| of(set).0));
        let shift = |steps: [i32; D]| self.cell.as_ref().map_or([0.0; D], |cell| cell.shift(steps.axes(f64::from)));
        let (is_outside, of_all) = (self.is_outside(sets), shift(self.images.steps[image as usize]));
        let mut ids = [[0; LANES]; 2];
        for (pair, &[a, b]) in bodies.iter().enumerate() {
            let turns = turned || sets[0] == sets[1] && b < a;
            let [one, other] = if turns { [b, a] } else { [a, b] };
            (ids[0][pair], ids[1][pair]) = (one, other);
            tell(pair, if turned { [sets[1], sets[0]] } else { sets }, [one, other]);
            let shift = if is_outside { shift(self.steps(sets, image, a, b)) } else { of_all };
            pairs.shift(pair, if turns { shift.axes(|shift| -shift) } else { shift });
        }
        let [one, other] = if turned { [sets[1], sets[0]] } else { sets };
        pairs.read(0, of(one), &ids[0][..bodies.len()]);
        pairs.read(1, of(other), &ids[1][..bodies.len()]);
        (kind, self.sorted[one as usize].boxes.isa())
    }

    /// Whether the bodies of both sets are circles or spheres.
    #[inline(always)]
    fn are_round(&self, sets: [u32; 2]) -> bool {
        let is_round = |set: u32| !self.sets[set as usize].is_shaped();
        is_round(sets[0]) && is_round(sets[1])
    }

    /// Whether a body of these sets has been moved into the cell.
    #[inline]
    pub fn is_outside(&self, sets: [u32; 2]) -> bool {
        if self.sorted.is_empty() {
            return !self.in_cell.is_empty();
        }
        self.proxies(sets[0]).outside || self.proxies(sets[1]).outside
    }

    /// Whether a body of these sets moves.
    #[inline]
    pub fn moves(&self, sets: [u32; 2]) -> bool {
        let moves = |set: u32| self.sets[set as usize].moving.is_some();
        moves(sets[0]) || moves(sets[1])
    }
}

impl<const D: usize> Decide for Exact<'_, D> {
    fn are_pairs(&self, sets: [u32; 2], image: u32, bodies: &[[u32; 2]]) -> u16 {
        if self.shaped || self.moves(sets) {
            return self.touching(sets, image, bodies);
        }
        which(bodies, |pair| {
            let [a, b] = bodies[pair];
            self.is_pair_from(self.difference(sets, image, a, b), sets, a, b)
        })
    }
}

/// Which of some pairs pass a test, which gets their numbers, as bits.
#[inline(always)]
fn which(pairs: &[[u32; 2]], test: impl Fn(usize) -> bool) -> u16 {
    (0..pairs.len()).fold(0, |which, pair| which | u16::from(test(pair)) << pair)
}

#[inline]
pub fn squared<const D: usize>(apart: [f64; D]) -> f64 {
    let mut sum = 0.0;
    for axis in 0..D {
        sum += apart[axis] * apart[axis];
    }
    sum
}

//! Boxes: scenes of them, and the definition of which overlap.

use jostle_core::Boxes;
use jostle_core::axes::{Axes, from_axes};

use crate::axes::compiled_here;
use crate::random::Random;

/// Boxes by their corners, one column an axis.
#[derive(Debug, Clone)]
pub struct BoxScene<const D: usize> {
    /// The lower corners.
    pub lo: [Vec<f32>; D],
    /// The upper corners.
    pub hi: [Vec<f32>; D],
}

impl<const D: usize> Default for BoxScene<D> {
    fn default() -> Self {
        Self { lo: [const { Vec::new() }; D], hi: [const { Vec::new() }; D] }
    }
}

impl<const D: usize> BoxScene<D> {
    /// The boxes, borrowed.
    #[must_use]
    pub fn view(&self) -> Boxes<'_, D> {
        Boxes::new(self.lo.each_ref(), self.hi.each_ref())
    }

    /// Number of boxes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lo[0].len()
    }

    /// True when there is no box.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a box.
    pub fn push(&mut self, lo: [f32; D], hi: [f32; D]) {
        for axis in 0..D {
            self.lo[axis].push(lo[axis]);
            self.hi[axis].push(hi[axis]);
        }
    }

    /// Returns the boxes whose id leaves this remainder when divided by 2.
    #[must_use]
    pub fn half(&self, remainder: usize) -> Self {
        let every = |column: &Vec<f32>| column.iter().copied().skip(remainder).step_by(2).collect();
        Self { lo: self.lo.each_ref().map(every), hi: self.hi.each_ref().map(every) }
    }
}

/// What boxes look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoxKind {
    /// Spread evenly, with similar sides.
    Uniform,
    /// A thousand times as long as they are thin, along the axes.
    Beams,
    /// The bounds of thin rods at any angle.
    Rods,
    /// In clusters.
    Clustered,
    /// Many small boxes among few large ones.
    PowerLaw,
    /// On a lattice, each touching its neighbours at an edge or a corner.
    Touching,
    /// Points, lines and planes, and some boxes without end.
    Degenerate,
    /// All in the same place.
    Equal,
}

impl BoxKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Uniform,
        Self::Beams,
        Self::Rods,
        Self::Clustered,
        Self::PowerLaw,
        Self::Touching,
        Self::Degenerate,
        Self::Equal,
    ];
}

/// Makes `n` boxes, each of which overlaps a few others.
#[must_use]
pub fn boxes<const D: usize>(kind: BoxKind, n: usize) -> BoxScene<D> {
    scene_of(&kind, &n)
}

/// Returns every overlapping pair `[a, b]`, `a < b`, in ascending order. O(n^2).
#[must_use]
pub fn box_pairs<const D: usize>(boxes: &BoxScene<D>) -> Vec<[u32; 2]> {
    loops(boxes, &None)
}

/// Returns every overlapping pair `[a, b]` of a box of the first scene and a box of the second, in ascending order. O(n
/// m).
#[must_use]
pub fn boxes_across<const D: usize>(a: &BoxScene<D>, b: &BoxScene<D>) -> Vec<[u32; 2]> {
    loops(a, &Some(b.clone()))
}

compiled_here! {
    fn scene_of<const D: usize>(kind: &BoxKind, n: &usize) -> BoxScene<D> {
        made(*kind, *n)
    }

    fn loops<const D: usize>(a: &BoxScene<D>, b: &Option<BoxScene<D>>) -> Vec<[u32; 2]> {
        let (mut pairs, others) = (Vec::new(), b.as_ref().unwrap_or(a));
        for i in 0..a.len() {
            for j in if b.is_some() { 0 } else { i + 1 }..others.len() {
                if (0..D).all(|axis| a.lo[axis][i] <= others.hi[axis][j] && others.lo[axis][j] <= a.hi[axis][i]) {
                    pairs.push([i as u32, j as u32]);
                }
            }
        }
        pairs
    }
}

fn made<const D: usize>(kind: BoxKind, n: usize) -> BoxScene<D> {
    let (mut random, mut boxes) = (Random(kind as u64 + 7), BoxScene::default());
    let width = (n as f64).powf(1.0 / D as f64);
    for id in 0..n {
        let mut unit = || random.unit() as f32;
        let mut place = [0.0; D];
        for axis in 0..D {
            place[axis] = unit() * width as f32;
        }
        let mut sides = [0.0; D];
        for axis in 0..D {
            sides[axis] = 0.2 + unit() * 0.8;
        }
        match kind {
            BoxKind::Uniform => {}
            BoxKind::Beams => {
                let long = (unit() * D as f32) as usize % D;
                for axis in 0..D {
                    sides[axis] *= if axis == long { 10.0 } else { 0.01 };
                }
            }
            BoxKind::Rods => {
                for axis in 0..D {
                    sides[axis] = (unit() - 0.5).abs() * 4.0;
                }
            }
            BoxKind::Clustered => {
                let center = (id % 7) as f32 / 7.0 * width as f32;
                for axis in 0..D {
                    place[axis] = center + (place[axis] - center) * unit() * unit() * 0.3;
                    sides[axis] *= 0.2;
                }
            }
            BoxKind::PowerLaw => {
                let size = 0.05 / (unit() + 0.001);
                sides = sides.axes(|side| side * size);
            }
            BoxKind::Touching => {
                let cells = width as usize + 1;
                let mut rest = id;
                for axis in 0..D {
                    place[axis] = (rest % cells) as f32;
                    rest /= cells;
                }
                sides = [1.0; D];
            }
            BoxKind::Degenerate => {
                for (axis, side) in sides.iter_mut().enumerate() {
                    *side *= f32::from(u8::from(id >> axis & 1 == 0));
                }
                if id % 5 == 0 {
                    place = place.axes(|x| (x * 2.0).round() / 2.0);
                }
            }
            BoxKind::Equal => (place, sides) = ([0.5; D], [1.0; D]),
        }
        let (mut lo, mut hi) = (place, place);
        for axis in 0..D {
            hi[axis] += sides[axis];
        }
        if kind == BoxKind::Degenerate {
            match id {
                3 => (lo, hi) = ([f32::NEG_INFINITY; D], [f32::INFINITY; D]),
                40 => (lo[0], hi[0]) = (f32::NEG_INFINITY, f32::INFINITY),
                41 => lo[1] = f32::NEG_INFINITY,
                57 => (lo, hi) = ([f32::MIN; D], [f32::MAX; D]),
                _ => {}
            }
        }
        boxes.push(lo, hi);
    }
    boxes
}

/// A body of any shape.
#[derive(Debug, Clone, Copy)]
pub enum Solid<const D: usize> {
    /// A box by its corners.
    Boxed([[f64; D]; 2]),
    /// A capsule by its ends and its radius. The ends of a circle or a sphere are the same.
    Long([[f64; D]; 2], f64),
}

impl<const D: usize> Solid<D> {
    /// Returns a little more than the extent of the body on an axis.
    fn reach(&self, axis: usize) -> [f64; 2] {
        let (&[p, q], radius) = match self {
            Self::Boxed(corners) => (corners, 0.0),
            Self::Long(ends, radius) => (ends, *radius),
        };
        [p[axis].min(q[axis]) - radius - 1e-6, p[axis].max(q[axis]) + radius + 1e-6]
    }

    /// Returns the distance of a point from the box, or from the segment of the capsule.
    #[must_use]
    pub fn distance(&self, point: [f64; D]) -> f64 {
        distance_from(&point, self)
    }

    /// Returns how far along a ray the body is entered, and by how much the ray could miss it. The direction is of
    /// length 1. Both are found by halving.
    #[must_use]
    pub fn entered(&self, origin: [f64; D], direction: [f64; D], reach: f64) -> (f64, f64) {
        entered(self, &origin, &direction, &reach)
    }

    /// Returns the least gap between this body and another one, which moves by `by` as seen from this one; of bodies
    /// that overlap from the beginning their gap then, and 1 of bodies that pass far from each other. It is found by
    /// halving, and shares no formula with the engine.
    #[must_use]
    pub fn least_gap(&self, other: &Self, by: [f64; D]) -> f64 {
        least_gap(self, other, &by)
    }

    /// Returns by how much the bodies are apart, or, below zero, overlap: two boxes along the axis where it is most.
    #[must_use]
    pub fn gap(&self, other: &Self) -> f64 {
        gap(self, other)
    }

    /// Returns the body moved by a shift.
    #[must_use]
    pub fn at(&self, shift: [f64; D]) -> Self {
        let moved = |points: [[f64; D]; 2]| points.axes(|point| from_axes(|axis| point[axis] + shift[axis]));
        match *self {
            Self::Boxed(corners) => Self::Boxed(moved(corners)),
            Self::Long(ends, radius) => Self::Long(moved(ends), radius),
        }
    }
}

/// Returns the pairs `[a, b]` of bodies of two sets that touch, and the pairs that are too close to tell. Distances are
/// found by halving, and share no formula with those of the engine. Without a second set, pairs are within the first.
/// O(n m).
#[must_use]
pub fn solid_pairs<const D: usize>(a: &Vec<Solid<D>>, b: &Option<Vec<Solid<D>>>) -> [Vec<[u32; 2]>; 2] {
    solid_loops(a, b)
}

/// A pair, and how many of each vector of the cell its second body is moved by.
pub type Seen<const D: usize> = ([u32; 2], [i32; D]);

/// As [`solid_pairs`], in a space that repeats in each direction that has a vector, with all bodies as they were given.
/// The second body of a pair is seen at each sum of at most `most` of each vector. A body meets images of itself at
/// shifts whose last number other than 0 is positive. The pairs ascend. O(n m (2 most + 1)^D).
#[must_use]
pub fn solid_images<const D: usize>(
    a: &Vec<Solid<D>>,
    b: &Option<Vec<Solid<D>>>,
    vectors: &[Option<[f64; D]>; D],
    most: &i32,
) -> [Vec<Seen<D>>; 2] {
    image_loops(a, b, vectors, most)
}

compiled_here! {
    fn distance_from<const D: usize>(point: &[f64; D], body: &Solid<D>) -> f64 {
        distance(*point, body)
    }

    fn gap<const D: usize>(one: &Solid<D>, other: &Solid<D>) -> f64 {
        gap_of(one, other)
    }

    fn least_gap<const D: usize>(one: &Solid<D>, other: &Solid<D>, by: &[f64; D]) -> f64 {
        let passes = (0..D).any(|axis| {
            let ([lo, hi], [low, high]) = (one.reach(axis), other.reach(axis));
            low + by[axis].min(0.0) > hi || high + by[axis].max(0.0) < lo
        });
        if passes {
            return 1.0;
        }
        let at = |t: f64| gap_of(one, &other.at(from_axes(|axis| t * by[axis])));
        let (mut from, mut to, begin) = (0.0, 1.0, at(0.0));
        if begin < -1e-6 {
            return begin;
        }
        for _ in 0..60 {
            let third = (to - from) / 3.0;
            if at(from + third) <= at(to - third) { to -= third } else { from += third }
        }
        begin.min(at(from)).min(at(1.0))
    }

    fn entered<const D: usize>(body: &Solid<D>, origin: &[f64; D], direction: &[f64; D], reach: &f64) -> (f64, f64) {
        let radius = if let Solid::Long(_, radius) = body { *radius } else { 0.0 };
        let at = |t: f64| distance(from_axes(|axis| origin[axis] + t * direction[axis]), body) - radius;
        let (mut from, mut to) = (0.0, *reach);
        for _ in 0..120 {
            let third = (to - from) / 3.0;
            if at(from + third) <= at(to - third) { to -= third } else { from += third }
        }
        let (nearest, mut outside) = (from, 0.0);
        let mut inside = nearest;
        for _ in 0..80 {
            let middle = (outside + inside) / 2.0;
            if at(middle) <= 1e-12 { inside = middle } else { outside = middle }
        }
        (inside, at(nearest))
    }

    fn image_loops<const D: usize>(
        a: &Vec<Solid<D>>,
        b: &Option<Vec<Solid<D>>>,
        vectors: &[Option<[f64; D]>; D],
        most: &i32,
    ) -> [Vec<Seen<D>>; 2] {
        let mut pairs = [Vec::new(), Vec::new()];
        let side = 2 * most + 1;
        for image in 0..side.pow(D as u32) {
            let steps: [i32; D] = from_axes(|k| image / side.pow(k as u32) % side - most);
            if (0..D).any(|k| steps[k] != 0 && vectors[k].is_none()) {
                continue;
            }
            let mut shift = [0.0; D];
            for (vector, step) in vectors.iter().zip(steps) {
                (0..D).for_each(|axis| shift[axis] += f64::from(step) * vector.map_or(0.0, |vector| vector[axis]));
            }
            let forward = steps.iter().rev().find(|&&step| step != 0).is_some_and(|&step| step > 0);
            for (j, other) in b.as_ref().unwrap_or(a).iter().enumerate() {
                let seen = other.at(shift);
                for (i, one) in a.iter().enumerate() {
                    let slack = slack_of(one, &seen);
                    if slack > -1e-9 && (b.is_some() || i < j || i == j && forward) {
                        pairs[usize::from(slack < 1e-9)].push(([i as u32, j as u32], steps));
                    }
                }
            }
        }
        pairs.iter_mut().for_each(|pairs| pairs.sort_unstable());
        pairs
    }

    fn solid_loops<const D: usize>(a: &Vec<Solid<D>>, b: &Option<Vec<Solid<D>>>) -> [Vec<[u32; 2]>; 2] {
        let mut pairs = [Vec::new(), Vec::new()];
        for (i, one) in a.iter().enumerate() {
            let first = if b.is_some() { 0 } else { i + 1 };
            for (j, other) in b.as_ref().unwrap_or(a).iter().enumerate().skip(first) {
                let slack = slack_of(one, other);
                if slack > -1e-9 {
                    pairs[usize::from(slack < 1e-9)].push([i as u32, j as u32]);
                }
            }
        }
        pairs
    }
}

/// Returns by how much two bodies overlap. It is 1 or -1 for two boxes, and -1 where bounds do not meet.
fn slack_of<const D: usize>(a: &Solid<D>, b: &Solid<D>) -> f64 {
    if !(0..D).all(|axis| a.reach(axis)[0] <= b.reach(axis)[1] && b.reach(axis)[0] <= a.reach(axis)[1]) {
        return -1.0;
    }
    match (a, b) {
        (Solid::Boxed(_), Solid::Boxed(_)) => {
            if gap_of(a, b) <= 0.0 {
                1.0
            } else {
                -1.0
            }
        }
        _ => -gap_of(a, b),
    }
}

/// See [`Solid::gap`].
fn gap_of<const D: usize>(a: &Solid<D>, b: &Solid<D>) -> f64 {
    match (a, b) {
        (Solid::Boxed([lo, hi]), Solid::Boxed([low, high])) => {
            let gaps = (0..D).map(|axis| (low[axis] - hi[axis]).max(lo[axis] - high[axis]));
            gaps.fold(f64::NEG_INFINITY, f64::max)
        }
        (Solid::Boxed(_), Solid::Long(ends, radius)) => least_distance(*ends, a) - radius,
        (Solid::Long(ends, radius), Solid::Boxed(_)) => least_distance(*ends, b) - radius,
        (Solid::Long(ends, radius), Solid::Long(_, other)) => least_distance(*ends, b) - radius - other,
    }
}

/// Returns the distance of a segment from a box or from the segment of a capsule: along the segment it falls, then
/// rises.
fn least_distance<const D: usize>([p, q]: [[f64; D]; 2], body: &Solid<D>) -> f64 {
    let at = |t: f64| {
        let point = from_axes(|axis| p[axis] + t * (q[axis] - p[axis]));
        distance(point, body)
    };
    let (mut from, mut to) = (0.0, 1.0);
    for _ in 0..80 {
        let third = (to - from) / 3.0;
        if at(from + third) <= at(to - third) { to -= third } else { from += third }
    }
    at((from + to) / 2.0)
}

fn distance<const D: usize>(point: [f64; D], body: &Solid<D>) -> f64 {
    let nearest: [f64; D] = match *body {
        Solid::Boxed([lo, hi]) => from_axes(|axis| point[axis].clamp(lo[axis], hi[axis])),
        Solid::Long([p, q], _) => {
            let (mut length2, mut along) = (0.0, 0.0);
            for axis in 0..D {
                length2 += (q[axis] - p[axis]) * (q[axis] - p[axis]);
                along += (q[axis] - p[axis]) * (point[axis] - p[axis]);
            }
            let t = if length2 > 0.0 { (along / length2).clamp(0.0, 1.0) } else { 0.0 };
            from_axes(|axis| p[axis] + t * (q[axis] - p[axis]))
        }
    };
    (0..D).map(|axis| (point[axis] - nearest[axis]) * (point[axis] - nearest[axis])).sum::<f64>().sqrt()
}

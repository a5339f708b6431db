//! Boxes: scenes of them, and the definition of which overlap.

use jostle_core::Boxes;

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

    /// The boxes whose id leaves this remainder by 2.
    #[must_use]
    pub fn half(&self, remainder: usize) -> Self {
        let every = |column: &Vec<f32>| column.iter().copied().skip(remainder).step_by(2).collect();
        Self { lo: self.lo.each_ref().map(every), hi: self.hi.each_ref().map(every) }
    }
}

/// What boxes look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoxKind {
    /// Spread evenly, of sides alike.
    Uniform,
    /// A thousand times as long as they are thin, along the axes.
    Beams,
    /// The bounds of thin rods at any angle.
    Rods,
    /// In clusters.
    Clustered,
    /// Many small ones among few large ones.
    PowerLaw,
    /// On a lattice, each touching its neighbours at an edge or a corner.
    Touching,
    /// Points, lines, planes, and some without end.
    Degenerate,
    /// All of the same place.
    Equal,
}

impl BoxKind {
    /// All of them.
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

/// `n` boxes, each of which overlaps a few others.
#[must_use]
pub fn boxes<const D: usize>(kind: BoxKind, n: usize) -> BoxScene<D> {
    scene_of(&kind, &n)
}

/// Every overlapping pair `[a, b]`, `a < b`, in ascending order. O(n^2).
#[must_use]
pub fn box_pairs<const D: usize>(boxes: &BoxScene<D>) -> Vec<[u32; 2]> {
    loops(boxes, &None)
}

/// Every overlapping pair `[a, b]` of a box of the first scene and one of the second, in ascending order. O(n m).
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
                sides = sides.map(|side| side * size);
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
                    place = place.map(|x| (x * 2.0).round() / 2.0);
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

//! Bodies of one set as they were, and how much of their margins they have used up since.

use jostle_core::scratch::{fill_with_headroom, resize_with_headroom};
use jostle_core::{Bodies, LinearTree, Scalar, Workers};
use jostle_sets::input::{Displacements, Set, Source};

use super::changes::{BLOCK, Change, Outcome, Path, Paths, ROUNDING, ROUNDING_64, Rounding, Width, survey};
use super::shapes::Shapes;

#[derive(Debug, Clone, Copy)]
struct Body<const D: usize, T> {
    center: [T; D],
    radius: T,
}

impl<const D: usize, T: Scalar> Body<D, T> {
    fn of(bodies: Bodies<'_, D, T>, id: usize) -> Self {
        Self { center: bodies.center(id), radius: bodies.radii().get(id) }
    }

    fn same(&self, now: &Self) -> bool {
        self.center == now.center && now.radius <= self.radius
    }

    /// How far the body has moved on an axis.
    #[inline(always)]
    fn moved(&self, now: &Self, axis: usize) -> f64 {
        now.center[axis].to_f64() - self.center[axis].to_f64()
    }

    /// How far the body may have moved, less the cost of rounding.
    #[inline(always)]
    fn allowed(&self, now: &Self, margin: T, rounding: Rounding) -> f64 {
        let (grown, radius) = ((self.radius + margin).to_f64(), self.radius.to_f64());
        let spare = (grown - radius).min(margin.to_f64()) - grown * rounding.relative - rounding.least;
        let growth = now.radius.to_f64() - radius;
        // Not `max`, which would take NaN for no growth.
        spare - growth.clamp(0.0, f64::INFINITY)
    }
}

fn copy<const D: usize, T: Scalar>(to: &mut Vec<Body<D, T>>, from: Bodies<'_, D, T>, workers: Workers<'_>) {
    fill_with_headroom(to, from.len(), Body { center: [T::default(); D], radius: T::default() });
    workers.fill_blocks("skin", to, BLOCK, |first, block| {
        for at in 0..block.len() {
            block[at] = Body::of(from, first + at);
        }
    });
}

/// A set of bodies, or a tree, as it was.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept<const D: usize> {
    kind: Kind,
    single: Vec<Body<D, f32>>,
    double: Vec<Body<D, f64>>,
    shapes: Shapes<D>,
    margin: f64,
    /// The displacements of moving bodies.
    displacements: Option<Vec<[f64; D]>>,
    /// Memory for displacements.
    spare: Vec<[f64; D]>,
}

/// The form in which the bodies were searched.
#[derive(Debug, Clone, Copy, Default)]
enum Kind {
    #[default]
    Nothing,
    Single,
    Double,
    Shapes,
    Tree(KeptTree),
}

/// A kept tree: it holds the same bodies until it is built again.
#[derive(Debug, Clone, Copy)]
struct KeptTree {
    build: u64,
    bodies: usize,
    largest_radius: f32,
}

impl KeptTree {
    fn of<const D: usize>(tree: &LinearTree<D>) -> Self {
        let radii = tree.bodies().iter().flat_map(|leaf| leaf.radii.0);
        Self { build: tree.build_number(), bodies: tree.len(), largest_radius: radii.fold(0.0, f32::max) }
    }
}

impl<const D: usize> Kept<D> {
    pub(super) fn keep(&mut self, set: &Set<'_, D>, workers: Workers<'_>) {
        match set.source {
            Source::View(bodies) => {
                (self.kind, self.margin) = (Kind::Single, bodies.margin().into());
                copy(&mut self.single, bodies, workers);
            }
            Source::Double(bodies) => {
                (self.kind, self.margin) = (Kind::Double, bodies.margin());
                copy(&mut self.double, bodies, workers);
            }
            Source::Tree(tree) => {
                self.margin = tree.margin().into();
                let same = matches!(self.kind, Kind::Tree(kept) if kept.build == tree.build_number());
                if !same {
                    self.kind = Kind::Tree(KeptTree::of(tree));
                }
            }
            Source::Shaped(shaped) => {
                (self.kind, self.margin) = (Kind::Shapes, shaped.margin());
                self.shapes.keep(&shaped, workers);
            }
        }
        let spare = self.displacements.take().unwrap_or_else(|| core::mem::take(&mut self.spare));
        match set.moving {
            Some(moving) => self.displacements = Some(copy_moves(spare, set.len(), moving, workers)),
            None => self.spare = spare,
        }
    }

    pub(super) fn forget(&mut self) {
        self.kind = Kind::Nothing;
    }

    pub(super) fn margin(&self) -> f64 {
        self.margin
    }

    pub(super) fn len(&self) -> usize {
        match self.kind {
            Kind::Nothing => 0,
            Kind::Single => self.single.len(),
            Kind::Double => self.double.len(),
            Kind::Shapes => self.shapes.len(),
            Kind::Tree(kept) => kept.bodies,
        }
    }

    pub(super) fn compare(&self, set: &Set<'_, D>, width: &Width<D>, workers: Workers<'_>) -> Outcome {
        let paths = match (&self.displacements, set.moving) {
            (None, None) => None,
            (Some(was), Some(now)) => Some((was.as_slice(), now)),
            _ => return Outcome::LOST,
        };
        match (self.kind, set.source) {
            (Kind::Single, Source::View(now)) => {
                compare(&self.single, now, (self.margin as f32, ROUNDING), width, paths, workers)
            }
            (Kind::Double, Source::Double(now)) => {
                compare(&self.double, now, (self.margin, ROUNDING_64), width, paths, workers)
            }
            (Kind::Shapes, Source::Shaped(now)) => self.shapes.compare(&now, width, paths, workers),
            (Kind::Tree(kept), Source::Tree(now)) if now.build_number() == kept.build => {
                self.compare_tree(kept, width, paths, workers)
            }
            _ => Outcome::LOST,
        }
    }

    /// Compares a tree: its bodies are where they were, but their displacements may have changed.
    fn compare_tree(
        &self,
        kept: KeptTree,
        width: &Width<D>,
        paths: Option<Paths<'_, D>>,
        workers: Workers<'_>,
    ) -> Outcome {
        // A radius that was rounded with its margin may lack a part.
        let lost = f64::from(kept.largest_radius) * ROUNDING.relative;
        let least = lost + ROUNDING.least + width.least;
        // Bodies that the tree meets may use up its margin.
        let Some((was, now)) = paths else { return Outcome::same(least - (self.margin - lost).max(0.0)) };
        let change = |id: usize| {
            let path = Path::of([0.0; D], was[id], now.get(id));
            let allowed = self.margin - lost - least - path.length * ROUNDING.relative;
            Change { moved2: path.moved2, allowed, same: was[id] == now.get(id) }
        };
        survey(kept.bodies, change, workers)
    }

    pub(super) fn bytes(&self) -> usize {
        let displacements = self.displacements.as_ref().map_or(0, Vec::capacity) + self.spare.capacity();
        self.single.capacity() * size_of::<Body<D, f32>>()
            + self.double.capacity() * size_of::<Body<D, f64>>()
            + self.shapes.bytes()
            + displacements * size_of::<[f64; D]>()
    }
}

fn copy_moves<const D: usize>(
    mut to: Vec<[f64; D]>,
    bodies: usize,
    moving: Displacements<'_, D>,
    workers: Workers<'_>,
) -> Vec<[f64; D]> {
    resize_with_headroom(&mut to, bodies);
    workers.fill_blocks("skin", &mut to, BLOCK, |first, block| {
        for at in 0..block.len() {
            block[at] = moving.get(first + at);
        }
    });
    to
}

fn compare<const D: usize, T: Scalar>(
    kept: &[Body<D, T>],
    now: Bodies<'_, D, T>,
    (margin, rounding): (T, Rounding),
    width: &Width<D>,
    paths: Option<Paths<'_, D>>,
    workers: Workers<'_>,
) -> Outcome {
    if now.len() != kept.len() {
        return Outcome::LOST;
    }
    let change = |id: usize| {
        let (was, is) = (&kept[id], Body::of(now, id));
        let mut by = [0.0; D];
        for axis in 0..D {
            by[axis] = was.moved(&is, axis);
        }
        let by = width.moved(by);
        let mut least = rounding.least + width.least;
        if width.of_body > 0.0 {
            let widest = (0..D).map(|axis| was.center[axis].to_f64().abs() + is.center[axis].to_f64().abs());
            least += width.of_body * widest.fold(0.0, f64::max);
        }
        let (mut moved2, mut same) = (by.iter().map(|by| by * by).sum(), was.same(&is));
        if let Some((was_by, is_by)) = paths {
            let (was_by, is_by) = (was_by[id], is_by.get(id));
            let path = Path::of(by, was_by, is_by);
            least += path.length * ROUNDING.relative;
            (moved2, same) = (path.moved2, same && was_by == is_by);
        }
        Change { moved2, allowed: was.allowed(&is, margin, Rounding { least, ..rounding }), same }
    };
    survey(now.len(), change, workers)
}

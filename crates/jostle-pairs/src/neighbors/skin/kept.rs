//! Bodies of one set as they were, and how much of their margins they have used up since.

use std::sync::{Mutex, PoisonError};

use jostle_core::scratch::{fill_with_headroom, resize_with_headroom};
use jostle_core::{Bodies, LinearTree, Scalar, Workers};
use jostle_sets::input::{Displacements, Set, Source, Space, UnitCell};

use super::shapes::Shapes;

/// Bodies that one task looks at.
pub(super) const BLOCK: usize = 1 << 13;

/// The cost of rounding, in the list and now: a part of a body's grown radius, and a length, for squares that are
/// denormal or vanish.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounding {
    pub(super) relative: f64,
    pub(super) least: f64,
}

/// The predicate rounds a distance and a sum of radii by four times 2^-24 each; 2^-20 is ample. The length, 2^-73, is
/// that of `jostle_core::aabb`.
pub(super) const ROUNDING: Rounding =
    Rounding { relative: 1.0 / 1_048_576.0, least: f64::from_bits((1023 - 73) << 52) };

/// In `f64`, the numbers computed here are rounded as well: 2^-48, and 2^-530.
pub(super) const ROUNDING_64: Rounding =
    Rounding { relative: f64::from_bits((1023 - 48) << 52), least: f64::from_bits((1023 - 530) << 52) };

/// The corner of a cube is less than so many of its half edges away from its middle.
const CORNER: f64 = 1.733;

/// How a body has changed.
pub(super) struct Change {
    /// The square of how far the body has moved.
    pub(super) moved2: f64,
    /// How far the body may have moved.
    pub(super) allowed: f64,
    /// The body stands where it stood, and has not grown.
    pub(super) same: bool,
}

impl Change {
    pub(super) const LOST: Self = Self { moved2: f64::INFINITY, allowed: 0.0, same: false };
}

/// How the bodies of a set have changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    /// The most that a body has moved farther than it may; below zero when no body has.
    excess: f64,
    /// All bodies are the same as they were.
    same: bool,
    /// The bodies are boxes, whose corners are farther away than their sides.
    are_boxes: bool,
}

impl Outcome {
    const NOTHING: Self = Self { excess: f64::NEG_INFINITY, same: true, are_boxes: false };
    pub(super) const LOST: Self = Self { excess: f64::INFINITY, same: false, are_boxes: false };

    pub(super) fn of_boxes(self, are_boxes: bool) -> Self {
        Self { are_boxes, ..self }
    }

    /// By how much too far a body of this set and a body of the other have moved, on average, at most. While that is
    /// not above 0, lists of their pairs hold all pairs. `None` if the bodies cannot be those of the list.
    pub(super) fn excess_with(self, other: Self) -> Option<f64> {
        if self.same && other.same {
            return Some(f64::NEG_INFINITY);
        }
        let excess = (self.excess_beside(other) + other.excess_beside(self)) / 2.0;
        (excess < f64::INFINITY).then_some(excess)
    }

    /// The excess as a body of the other set may see it: a round one sees that of a box at its corner.
    fn excess_beside(self, other: Self) -> f64 {
        let corner = self.are_boxes && !other.are_boxes && self.excess > 0.0;
        if corner { CORNER * self.excess } else { self.excess }
    }

    /// The numbers that [`Outcome::excess_with`] is made of: whether a body is another than it was, 0 or 1, and the
    /// excess of each set.
    pub(super) fn spent_with(self, other: Self) -> [f64; 3] {
        [f64::from(!(self.same && other.same)), self.excess_beside(other), other.excess_beside(self)]
    }

    fn merge(self, other: Self) -> Self {
        Self { excess: self.excess.max(other.excess), same: self.same & other.same, ..self }
    }

    #[inline(always)]
    fn note(&mut self, Change { moved2, allowed, same }: Change) {
        self.same &= same;
        // A root is taken only where a body is worse off than all before it.
        let reach = allowed + self.excess;
        if !(reach >= 0.0 && moved2 <= reach * reach) {
            let excess = moved2.sqrt() - allowed;
            self.excess = if excess.is_nan() { f64::INFINITY } else { self.excess.max(excess) };
        }
    }
}

/// Looks at the changes of `bodies` bodies, and returns the outcome.
pub(super) fn survey(bodies: usize, change: impl Fn(usize) -> Change + Sync + Send, workers: Workers<'_>) -> Outcome {
    let all = Mutex::new(Outcome::NOTHING);
    workers.run("still valid", bodies.div_ceil(BLOCK), |block| {
        let mut outcome = Outcome::NOTHING;
        for id in block * BLOCK..((block + 1) * BLOCK).min(bodies) {
            outcome.note(change(id));
        }
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        *all = all.merge(outcome);
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

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

/// What a space adds to the measure of a body's change.
#[derive(Debug, Clone, Copy)]
pub(super) struct Width<const D: usize> {
    /// Where space repeats, unless margins are so wide that a body which has gone half a cell far would seem to have come
    /// back.
    cell: Option<UnitCell<D>>,
    /// What differences may lose to rounding: a length, for coordinates in the cell, and a part of a body's own
    /// coordinates.
    pub(super) least: f64,
    pub(super) of_body: f64,
}

impl<const D: usize> Width<D> {
    /// Where space repeats, rounding of the offset that is added to a difference costs a part of the cell's width.
    ///
    /// Moving direct bodies into the cell rounds as well: on each axis by u = 2^-24 of the widest coordinate W for each
    /// body, by 2u of W for their difference, and by as much for the offset, in the list and now. That is 12u of W in
    /// all, in length 21u, and for one body half of that; 16u are taken off. In a cell that is not straight and leaves
    /// a direction open, coordinates may be wider than the cell. For decided bodies, the rounding is that of the
    /// coordinates as they were given.
    ///
    /// `margins` is how far a body may have moved at most, by its own margin and that of another.
    pub(super) fn of(space: &Space<D>, decided: bool, margins: f64) -> Self {
        if space.is_open() {
            return Self { cell: None, least: 0.0, of_body: 0.0 };
        }
        let relative = if decided { ROUNDING_64.relative } else { ROUNDING.relative };
        let width = (0..D).map(|axis| {
            let vectors = (0..D).filter(|&k| space.repeats[k]).map(|k| space.vectors[k][axis].abs());
            space.origin[axis].abs() + vectors.sum::<f64>()
        });
        let contained = space.is_straight() || space.repeats == [true; D];
        let of_body = if decided || !contained { relative } else { 0.0 };
        let cell = UnitCell::of(space);
        let inverse_height2 = |k: usize| cell.duals[k].iter().map(|x| x * x).sum::<f64>();
        let highest = (0..D).filter(|&k| space.repeats[k]).map(inverse_height2).fold(0.0, f64::max).sqrt();
        let tells_apart = margins * highest < 0.499;
        Self { cell: tells_apart.then_some(cell), least: relative * width.fold(0.0, f64::max), of_body }
    }

    /// How far a body has moved, without whole vectors of the cell.
    #[inline(always)]
    pub(super) fn moved(&self, mut by: [f64; D]) -> [f64; D] {
        let Some(cell) = &self.cell else { return by };
        let steps = cell.steps_to(by);
        if steps != [0.0; D] {
            let shift = cell.shift(steps);
            for axis in 0..D {
                by[axis] -= shift[axis];
            }
        }
        by
    }
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
            (Kind::Shapes, Source::Shaped(now)) => self.shapes.compare(&now, self.margin, width, paths, workers),
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
        let least = f64::from(kept.largest_radius) * ROUNDING.relative + ROUNDING.least + width.least;
        let Some((was, now)) = paths else { return Outcome { excess: least, ..Outcome::NOTHING } };
        let change = |id: usize| {
            let path = Path::of([0.0; D], was[id], now.get(id));
            // A radius that was rounded with its margin may lack a part.
            let lost = f64::from(kept.largest_radius) * ROUNDING.relative;
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

/// The displacements of bodies as they were, and as they are.
pub(super) type Paths<'a, const D: usize> = (&'a [[f64; D]], Displacements<'a, D>);

/// How a path has changed.
pub(super) struct Path {
    /// The square of how far the end that moved farther has moved.
    pub(super) moved2: f64,
    /// The length of the longer of the two paths.
    length: f64,
}

impl Path {
    /// Two paths are at no time farther apart than at their beginnings or at their ends, whichever is more.
    ///
    /// The test whether two bodies touch on their way rounds by 2^-24.6 of what they move and reach, twice; 2^-20 of
    /// the length are taken off.
    #[inline(always)]
    pub(super) fn of<const D: usize>(begin: [f64; D], was: [f64; D], is: [f64; D]) -> Self {
        let (mut begin2, mut end2, mut path2) = (0.0, 0.0, 0.0);
        for axis in 0..D {
            let end = begin[axis] + (is[axis] - was[axis]);
            (begin2, end2) = (begin2 + begin[axis] * begin[axis], end2 + end * end);
            path2 += (is[axis] * is[axis]).max(was[axis] * was[axis]);
        }
        // Not `max`, which would take NaN for nothing.
        let moved2 = if begin2 <= end2 || end2.is_nan() { end2 } else { begin2 };
        Self { moved2, length: path2.sqrt() }
    }
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

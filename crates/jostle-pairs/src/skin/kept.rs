//! Bodies of one set as they were, and how much of their margins they have used up since.

use std::sync::{Mutex, PoisonError};

use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Bodies, LinearTree, Scalar, Workers};

use crate::among::{Plain, Source};
use crate::periodic::Periodic;
use crate::swept::Swept;

/// Bodies that one task looks at.
const BLOCK: usize = 1 << 13;

/// What rounding may cost, in the list and now: a part of a body's grown radius, and, for squares that are denormal or
/// vanish, a length.
#[derive(Debug, Clone, Copy)]
struct Rounding {
    relative: f64,
    least: f64,
}

/// The predicate rounds a distance and a sum of radii by four times 2^-24 each. Amply: 2^-20. The length, 2^-73, is that
/// of `jostle_core::aabb`.
const ROUNDING: Rounding = Rounding { relative: 1.0 / 1_048_576.0, least: f64::from_bits((1023 - 73) << 52) };

/// In `f64`, what is computed here is rounded as well: 2^-48, and 2^-530.
const ROUNDING_64: Rounding =
    Rounding { relative: f64::from_bits((1023 - 48) << 52), least: f64::from_bits((1023 - 530) << 52) };

/// How a body has changed.
struct Change {
    /// The square of how far it has moved.
    moved2: f64,
    /// How far it may have.
    allowed: f64,
    /// It stands where it stood, and its radius has not grown.
    same: bool,
}

/// How the bodies of a set have changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    /// By how much a body has moved farther than it may, at most; below zero when none has.
    excess: f64,
    /// All are the same as they were.
    same: bool,
}

impl Outcome {
    const NOTHING: Self = Self { excess: f64::NEG_INFINITY, same: true };
    const LOST: Self = Self { excess: f64::INFINITY, same: false };

    /// Whether lists of the pairs within the set hold all.
    pub(super) fn suffices(self) -> bool {
        self.suffices_with(self)
    }

    /// Whether lists of the pairs between two sets hold all.
    pub(super) fn suffices_with(self, other: Self) -> bool {
        (self.same && other.same) || self.excess + other.excess <= 0.0
    }

    fn merge(self, other: Self) -> Self {
        Self { excess: self.excess.max(other.excess), same: self.same & other.same }
    }

    #[inline(always)]
    fn note(&mut self, Change { moved2, allowed, same }: Change) {
        self.same &= same;
        // A root is drawn only where a body is worse off than all before it.
        let reach = allowed + self.excess;
        if !(reach >= 0.0 && moved2 <= reach * reach) {
            let excess = moved2.sqrt() - allowed;
            self.excess = if excess.is_nan() { f64::INFINITY } else { self.excess.max(excess) };
        }
    }
}

/// Looks at the changes of so many bodies.
fn survey(bodies: usize, change: impl Fn(usize) -> Change + Sync + Send, workers: Workers<'_>) -> Outcome {
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

    /// How far it has moved on an axis.
    #[inline(always)]
    fn moved(&self, now: &Self, axis: usize) -> f64 {
        now.center[axis].to_f64() - self.center[axis].to_f64()
    }

    /// How far it may have moved, if rounding costs `least` more.
    #[inline(always)]
    fn allowed(&self, now: &Self, margin: T, rounding: Rounding) -> f64 {
        let (grown, radius) = ((self.radius + margin).to_f64(), self.radius.to_f64());
        let spare = (grown - radius).min(margin.to_f64()) - grown * rounding.relative - rounding.least;
        // Not `max`, which would take NaN for no growth.
        spare - (now.radius.to_f64() - radius).clamp(0.0, f64::INFINITY)
    }
}

fn copy<const D: usize, T: Scalar>(to: &mut Vec<Body<D, T>>, from: Bodies<'_, D, T>, workers: Workers<'_>) {
    resize_with_headroom(to, from.len(), Body { center: [T::default(); D], radius: T::default() });
    workers.fill_blocks("skin", to, BLOCK, |first, block| {
        block.iter_mut().zip(first..).for_each(|(body, id)| *body = Body::of(from, id));
    });
}

fn compare<const D: usize, T: Scalar>(
    kept: &[Body<D, T>],
    now: Bodies<'_, D, T>,
    margin: T,
    rounding: Rounding,
    workers: Workers<'_>,
) -> Outcome {
    if now.len() != kept.len() {
        return Outcome::LOST;
    }
    let change = |id: usize| {
        let (was, is) = (&kept[id], Body::of(now, id));
        let moved2 = (0..D).map(|axis| was.moved(&is, axis)).map(|by| by * by).sum();
        Change { moved2, allowed: was.allowed(&is, margin, rounding), same: was.same(&is) }
    };
    survey(now.len(), change, workers)
}

/// A set of bodies, or a tree, as it was.
#[derive(Debug, Clone, Default)]
pub(super) struct Kept<const D: usize> {
    bodies: Vec<Body<D, f32>>,
    margin: f32,
    tree: Option<KeptTree>,
}

/// A tree holds what it was built of until it is built again.
#[derive(Debug, Clone, Copy)]
struct KeptTree {
    build: u64,
    largest_radius: f32,
}

impl KeptTree {
    fn of<const D: usize>(tree: &LinearTree<D>) -> Self {
        let radii = tree.bodies().iter().flat_map(|leaf| leaf.radii.0);
        Self { build: tree.build_number(), largest_radius: radii.fold(0.0, f32::max) }
    }
}

impl<const D: usize> Kept<D> {
    pub(super) fn keep(&mut self, set: &Plain<'_, D>, workers: Workers<'_>) {
        match set.source {
            Source::View(bodies) => {
                self.tree = None;
                self.margin = bodies.margin();
                copy(&mut self.bodies, bodies, workers);
            }
            Source::Tree(tree) => {
                self.bodies.clear();
                if self.tree.is_none_or(|kept| kept.build != tree.build_number()) {
                    self.tree = Some(KeptTree::of(tree));
                }
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.bodies.len()
    }

    pub(super) fn compare(&self, set: &Plain<'_, D>, workers: Workers<'_>) -> Outcome {
        match (set.source, self.tree) {
            (Source::View(now), None) => compare(&self.bodies, now, self.margin, ROUNDING, workers),
            (Source::Tree(now), Some(kept)) if now.build_number() == kept.build => {
                let excess = f64::from(kept.largest_radius) * ROUNDING.relative + ROUNDING.least;
                Outcome { excess, same: true }
            }
            _ => Outcome::LOST,
        }
    }

    /// As `compare`, where a body may have left on one side and come in on the other.
    ///
    /// There, differences are rounded by parts of the period, and what is moved into the borders by parts of those: on each
    /// axis 1.5 * 2^-23 of the larger for two bodies, twice, and displacements once more. In all less than 2^-21 for a
    /// body; 2^-20 are taken off.
    pub(super) fn compare_periodic(&self, now: &Periodic<'_, D>, workers: Workers<'_>) -> Outcome {
        if now.bodies.len() != self.bodies.len() {
            return Outcome::LOST;
        }
        let periods = now.axes.map(|axis| axis.map_or(0.0, |[lo, hi]| f64::from(hi - lo)));
        let borders = now.axes.iter().flatten().flatten().map(|border| f64::from(border.abs()));
        let width = borders.chain(periods).fold(0.0, f64::max);
        let rounding = Rounding { least: ROUNDING.least + width * ROUNDING.relative, ..ROUNDING };
        let change = |id: usize| {
            let (was, is) = (&self.bodies[id], Body::of(now.bodies, id));
            let by = |axis: usize| {
                let (by, period) = (was.moved(&is, axis), periods[axis]);
                if period > 0.0 && 2.0 * by.abs() > period { by - period * (by / period).round() } else { by }
            };
            let moved2 = (0..D).map(by).map(|by| by * by).sum();
            Change { moved2, allowed: was.allowed(&is, self.margin, rounding), same: was.same(&is) }
        };
        survey(now.bodies.len(), change, workers)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bodies.capacity() * size_of::<Body<D, f32>>()
    }
}

/// Bodies in `f64` as they were.
#[derive(Debug, Clone, Default)]
pub(super) struct Bodies64<const D: usize> {
    bodies: Vec<Body<D, f64>>,
    margin: f64,
}

impl<const D: usize> Bodies64<D> {
    pub(super) fn keep(&mut self, bodies: Bodies<'_, D, f64>, workers: Workers<'_>) {
        self.margin = bodies.margin();
        copy(&mut self.bodies, bodies, workers);
    }

    pub(super) fn len(&self) -> usize {
        self.bodies.len()
    }

    pub(super) fn compare(&self, now: Bodies<'_, D, f64>, workers: Workers<'_>) -> Outcome {
        compare(&self.bodies, now, self.margin, ROUNDING_64, workers)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bodies.capacity() * size_of::<Body<D, f64>>()
    }
}

/// The displacements of swept bodies as they were.
#[derive(Debug, Clone, Default)]
pub(super) struct Paths<const D: usize> {
    displacements: Vec<[f32; D]>,
}

impl<const D: usize> Paths<D> {
    pub(super) fn keep(&mut self, swept: &Swept<'_, D>, workers: Workers<'_>) {
        resize_with_headroom(&mut self.displacements, swept.bodies.len(), [0.0; D]);
        workers.fill_blocks("skin", &mut self.displacements, BLOCK, |first, block| {
            block.iter_mut().zip(first..).for_each(|(slot, id)| *slot = swept.displacement(id));
        });
    }

    /// Two paths are at no time farther apart than at their beginnings or at their ends, whichever is more.
    ///
    /// Whether two bodies touch on their way is rounded by 2^-24.6 of what they move and reach, twice; 2^-20 are taken off.
    pub(super) fn compare(&self, kept: &Kept<D>, now: &Swept<'_, D>, workers: Workers<'_>) -> Outcome {
        if now.bodies.len() != kept.bodies.len() {
            return Outcome::LOST;
        }
        let change = |id: usize| {
            let (was, is) = (&kept.bodies[id], Body::of(now.bodies, id));
            let (was_by, is_by) = (self.displacements[id], now.displacement(id));
            let (mut begin2, mut end2, mut path2) = (0.0, 0.0, 0.0);
            for axis in 0..D {
                let (begin, is_by, was_by) = (was.moved(&is, axis), f64::from(is_by[axis]), f64::from(was_by[axis]));
                let end = begin + (is_by - was_by);
                (begin2, end2) = (begin2 + begin * begin, end2 + end * end);
                path2 += (is_by * is_by).max(was_by * was_by);
            }
            let least = ROUNDING.least + path2.sqrt() * ROUNDING.relative;
            let allowed = was.allowed(&is, kept.margin, Rounding { least, ..ROUNDING });
            // Not `max`, which would take NaN for nothing.
            let moved2 = if begin2 <= end2 || end2.is_nan() { end2 } else { begin2 };
            Change { moved2, allowed, same: was.same(&is) && was_by == is_by }
        };
        survey(now.bodies.len(), change, workers)
    }

    pub(super) fn bytes(&self) -> usize {
        self.displacements.capacity() * size_of::<[f32; D]>()
    }
}

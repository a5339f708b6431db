//! Boxes and capsules as they were, and how much of their margins they have used up since.
//!
//! A capsule has moved as far as that end of it which has moved farther. A box has moved as far as that side of it
//! which has moved outwards the farthest: sides that moved inwards are within the box that was listed.

use jostle_core::Workers;
use jostle_core::scratch::fill_with_headroom;
use jostle_sets::input::Shaped;
use jostle_sets::proxy::Solid::{self, Boxed, Capsule};

use super::changes::{BLOCK, Change, Outcome, Path, Paths, ROUNDING, ROUNDING_64, Width, survey};

/// What a coordinate or a radius in `f32` may lose when a margin is added: 2^-24 of it; 2^-22 is ample.
const ROUNDING_OF_SINGLE: f64 = 1.0 / 4_194_304.0;

/// Boxes or capsules of one set, without a margin.
#[derive(Debug, Clone, Default)]
pub(super) struct Shapes<const D: usize> {
    bodies: Vec<Solid<D>>,
    /// In `f32`, as the caller gave them.
    are_single: bool,
}

impl<const D: usize> Shapes<D> {
    pub(super) fn keep(&mut self, now: &Shaped<'_, D>, workers: Workers<'_>) {
        let now = now.bare();
        self.are_single = is_single(&now);
        fill_with_headroom(&mut self.bodies, now.len(), Boxed { lo: [0.0; D], hi: [0.0; D] });
        workers.fill_blocks("skin", &mut self.bodies, BLOCK, |first, block| {
            (first..).zip(block).for_each(|(id, body)| *body = Solid::shaped(&now, id));
        });
    }

    pub(super) fn len(&self) -> usize {
        self.bodies.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bodies.capacity() * size_of::<Solid<D>>()
    }

    pub(super) fn compare(
        &self,
        now: &Shaped<'_, D>,
        margin: f64,
        width: &Width<D>,
        paths: Option<Paths<'_, D>>,
        workers: Workers<'_>,
    ) -> Outcome {
        let now = now.bare();
        if now.len() != self.bodies.len() || is_single(&now) != self.are_single {
            return Outcome::LOST;
        }
        let are_boxes = matches!(now, Shaped::Boxes(_) | Shaped::Boxes64(_));
        let rounding = if self.are_single { ROUNDING_OF_SINGLE } else { ROUNDING_64.relative };
        let change = |id: usize| {
            let (was, is) = (&self.bodies[id], Solid::shaped(&now, id));
            let (was_by, is_by) = paths.map_or(([0.0; D], [0.0; D]), |(was, now)| (was[id], now.get(id)));
            let moved = Moved { width, was_by, is_by };
            let (mut change, lost) = match (was, is) {
                (Boxed { lo, hi }, Boxed { lo: now_lo, hi: now_hi }) => moved.box_sides([*lo, *hi], [now_lo, now_hi]),
                (Capsule { ends, radius }, Capsule { ends: now_ends, radius: now_radius }) => {
                    moved.capsule_ends((ends, radius + margin), &now_ends, now_radius - radius)
                }
                _ => return Change::LOST,
            };
            change.allowed += margin - lost * rounding;
            change.same &= was_by == is_by;
            change
        };
        survey(now.len(), change, workers).of_boxes(are_boxes)
    }
}

fn is_single<const D: usize>(shaped: &Shaped<'_, D>) -> bool {
    matches!(shaped, Shaped::Boxes(_) | Shaped::Capsules(_))
}

/// How a body has moved, and by how much it was to move and is to move during the step.
struct Moved<'a, const D: usize> {
    width: &'a Width<D>,
    was_by: [f64; D],
    is_by: [f64; D],
}

impl<const D: usize> Moved<'_, D> {
    /// The change of a box by its two corners, but for its margin, and what the margin is rounded relative to.
    #[inline(always)]
    fn box_sides(&self, was: [[f64; D]; 2], is: [[f64; D]; 2]) -> (Change, f64) {
        let (from, to, far) = (apart(was[0], is[0]), apart(was[1], is[1]), farthest(was.into_iter().chain(is)));
        let seen = self.width.moved(from);
        let (wrapped, mut outwards, mut inside) = (apart(from, seen), 0.0_f64, true);
        for axis in 0..D {
            let (lo, hi) = (seen[axis], to[axis] + wrapped[axis]);
            let turned = self.is_by[axis] - self.was_by[axis];
            for out in [-lo, hi, -lo - turned, hi + turned] {
                outwards = more(outwards, out);
            }
            inside &= was[0][axis] <= is[0][axis] && is[1][axis] <= was[1][axis];
        }
        let allowed = -self.lost(far) - far * ROUNDING_64.relative;
        (Change { moved2: outwards * outwards, allowed, same: inside }, far)
    }

    /// The same for a capsule with a margin, whose radius has grown by so much.
    #[inline(always)]
    fn capsule_ends(&self, (was, reach): (&[[f64; D]; 2], f64), is: &[[f64; D]; 2], growth: f64) -> (Change, f64) {
        let from = apart(was[0], is[0]);
        let (wrapped, mut moved2) = (apart(from, self.width.moved(from)), 0.0);
        for (was, is) in was.iter().zip(is) {
            let to = apart(*was, *is);
            let by = core::array::from_fn(|axis| to[axis] + wrapped[axis]);
            moved2 = more(moved2, Path::of(by, self.was_by, self.is_by).moved2);
        }
        let far = farthest(was.iter().chain(is).copied());
        // Not `max`, which would take NaN for no growth.
        let allowed = -growth.clamp(0.0, f64::INFINITY) - self.lost(far) - ROUNDING_64.relative * (far + reach);
        let allowed = allowed - blurred(was, reach).max(blurred(is, reach));
        (Change { moved2, allowed, same: was == is && growth <= 0.0 }, reach)
    }

    /// What rounding costs where space repeats, and where bodies move.
    #[inline(always)]
    fn lost(&self, far: f64) -> f64 {
        let path2 = |by: [f64; D]| by.iter().map(|by| by * by).sum::<f64>();
        let path = path2(self.was_by).max(path2(self.is_by)).sqrt();
        self.width.least + self.width.of_body * far + path * ROUNDING.relative + ROUNDING_64.least
    }
}

/// The greater of two numbers, or NaN if one of them is NaN.
#[inline(always)]
fn more(a: f64, b: f64) -> f64 {
    if b <= a || a.is_nan() { a } else { b }
}

/// What leads from one point to another. Coordinates without an end are not apart.
#[inline(always)]
fn apart<const D: usize>(was: [f64; D], is: [f64; D]) -> [f64; D] {
    core::array::from_fn(|axis| if was[axis] == is[axis] { 0.0 } else { is[axis] - was[axis] })
}

/// The greatest coordinate that has an end.
#[inline(always)]
fn farthest<const D: usize>(points: impl Iterator<Item = [f64; D]>) -> f64 {
    points.flatten().map(f64::abs).filter(|x| *x < f64::INFINITY).fold(0.0, f64::max)
}

/// How far off the distance of a long segment may be where it touches a body: a square that is rounded relative to that
/// of its length, seen at the distance at which they touch.
#[inline(always)]
fn blurred<const D: usize>(ends: &[[f64; D]; 2], reach: f64) -> f64 {
    let along = apart(ends[0], ends[1]);
    let off2 = along.iter().map(|x| x * x).sum::<f64>() * ROUNDING_64.relative;
    off2.sqrt().min(if reach > 0.0 { off2 / reach } else { f64::INFINITY })
}

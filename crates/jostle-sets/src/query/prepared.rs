//! Questions to a prepared set: in either precision, in any space.
//!
//! The tree holds proxies in a frame of their own. A query is brought into that frame in `f64`, which rounds next to
//! nothing, and goes down to all leaves that it may touch, once for each image of the cell. The predicates of
//! [`PreparedQueries`] then decide, on the bodies as they were given.
//!
//! No body is lost. A proxy in a frame holds its body, since it has grown. A proxy of a body in `f32` is the body, its
//! centre rounded by 2^-24 of itself where it was moved into the cell. Spans are enlarged by that, and by 2^-48 of all
//! numbers that the predicates add up.
//!
//! The files: `images` (which images to look at), `boxes` (down the levels), `way` (what is asked with, and the
//! predicates), `regions`, `rays`, `nearest` (the questions), `batch` (many at once), `seen` (the answers).

mod batch;
mod boxes;
mod images;
mod nearest;
mod rays;
mod regions;
mod seen;
mod way;

use core::fmt;

use jostle_core::axes::{Axes, from_axes};
use jostle_core::tree::Level;

pub use batch::{PreparedAnswers, PreparedBatch};
pub use seen::{Seen, SeenAt};

use super::Only;
use crate::input::UnitCell;
use crate::proxy::Extent;
use crate::proxy::prepared::PreparedSet;
use boxes::{ROUNDING, descend};
use images::Sweep;
use way::squared;

/// Twice the relative rounding of centres in `f32` in the cell: 2^-23.
const MOVED: f64 = 1.0 / 8_388_608.0;

/// Answers questions about the bodies of a [`PreparedSet`] and all their images, from as many threads as you like.
///
/// Let x be the centre and r the radius (margin included) of a body as it was given, in `f64` (`f32` is widened). Let
/// `d = (x - q) + shift`, where `shift = S0 v0 + S1 v1 ..` is that of its image. The shift and each sum of squares are
/// summed from left to right. The predicates:
/// - circle of radius `rq` about q, a point being one of radius 0: `d.d <= s*s` with `s = rq + r`;
/// - box: `e.e <= r*r` with `e = max(lo - y, 0, y - hi)` on each axis and `y = x + shift`;
/// - ray from q: that of [`Queries::ray`](super::Queries::ray) with `m = d`, the distance not rounded;
/// - nearest: `d.d`, at most `within * within`; the distance is its root, and radii do not count.
///
/// For boxes and capsules, with the same `d` from q to each of their corners or ends:
/// - circle, point and box: the predicates of pairs, with that circle or box as the other body; a point on the border
///   of a box lies in it;
/// - ray: a box is hit when `near <= far`, with `near = max(0, d_lo / direction, ..)` and
///   `far = min(d_hi / direction, ..)` over the axes, the two quotients of each axis in ascending order; the distance
///   is `near * |direction|`. A capsule is hit where either ball about its ends or its side is first, and at 0 from
///   within;
/// - nearest: the squared distance of a box, 0 from within, or of the segment of a capsule, whose radius does not
///   count.
///
/// Answers come in the order of [`Seen`], or of [`SeenAt`]: one for each image. The lists are cleared first; nothing
/// else is allocated. `visit_...` calls a closure for each answer, in an order that is a function of the bodies and the
/// space alone, and allocates nothing. [`PreparedBatch`](super::PreparedBatch) answers many questions at once, in
/// parallel. For bodies in `f32` in open space a [`Queries`](super::Queries) of their tree is faster, by predicates in
/// `f32`.
///
/// Questions are refused with [`QueryError::Query`](crate::QueryError::Query), and the list then stays as it was, for:
/// whatever is not finite, has a negative radius or a |coordinate| (+ radius) above 2^500; a box whose `lo` is above
/// its `hi`; a direction of zero; a reach that is negative or NaN; a ray without end in a space that repeats, which
/// would meet endless images; whatever looks at more than 2^20 images or lies more than 2^29 cells away.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles64, PreparedSet, Seen, Space, Threads};
///
/// let mut atoms = PreparedSet::new();
/// let space = Space::periodic([Some([0.0, 10.0]), None]);
/// atoms.build(Circles64::new(&[0.5, 5.0], &[0.0, 0.0], 0.5), space, Threads::Serial)?;
///
/// let mut found = Vec::new();
/// atoms.queries().circle([9.5, 0.0], 0.5, &mut found)?;
/// assert_eq!(found, [Seen { id: 0, image_shift: [1, 0] }]); // 0.5 + 10 is 1 to the right of 9.5
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct PreparedQueries<'p, const D: usize> {
    set: &'p PreparedSet<D>,
    only: Only<'p>,
    cell: Option<UnitCell<D>>,
    origin: [f64; D],
    scale: f64,
}

impl<const D: usize> fmt::Debug for PreparedQueries<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedQueries").field("set", self.set).finish_non_exhaustive()
    }
}

impl<const D: usize> PreparedSet<D> {
    /// Answers questions about the bodies of the set and their images.
    #[must_use]
    pub fn queries(&self) -> PreparedQueries<'_, D> {
        PreparedQueries::new(self)
    }
}

impl<'p, const D: usize> PreparedQueries<'p, D> {
    /// Questions to this set.
    #[must_use]
    pub fn new(set: &'p PreparedSet<D>) -> Self {
        let round = set.frame.map(|frame| (frame.origin, frame.scale));
        let boxed = set.boxed.and_then(|boxed| boxed.frame).map(|frame| (frame.origin, frame.scale));
        let (origin, scale) = boxed.or(round).unwrap_or(([0.0; D], 1.0));
        let cell = (!set.space.is_open()).then(|| UnitCell::of(&set.space));
        Self { set, only: Only::All, cell, origin, scale }
    }

    /// The same questions about the bodies that pass a test: see [`Queries::only`](super::Queries::only).
    #[must_use]
    pub fn only(self, test: &'p (dyn Fn(u32) -> bool + Sync)) -> Self {
        Self { only: Only::Passing(test), ..self }
    }

    /// The same questions by a test that gets the number of the question as well: see
    /// [`Queries::only_for`](super::Queries::only_for).
    #[must_use]
    pub fn only_for(self, test: &'p (dyn Fn(usize, u32) -> bool + Sync)) -> Self {
        Self { only: Only::PassingFor(test, 0), ..self }
    }

    /// The question of this number in a batch.
    fn numbered(self, question: usize) -> Self {
        Self { only: self.only.numbered(question), ..self }
    }

    fn shift(&self, steps: [i32; D]) -> [f64; D] {
        self.cell.map_or([0.0; D], |cell| cell.shift(steps.axes(f64::from)))
    }

    /// By how many vectors a body is moved to the image of the cell that is `step` cells on.
    fn image_shift(&self, mut step: [i32; D], id: u32) -> [i32; D] {
        let wraps = self.set.sorted.proxies.wraps_of(id);
        for k in 0..D {
            step[k] -= wraps[k];
        }
        step
    }

    fn greatest_radius(&self) -> f64 {
        self.set.extent.radius
    }

    /// On each axis, the greatest number that coordinates of bodies are computed from.
    fn far(&self) -> [f64; D] {
        let Extent { lo, hi, far, .. } = &self.set.extent;
        let widest = |axis: usize| lo[axis].abs().max(hi[axis].abs()).max(far[axis]);
        let is_none = |axis: usize| self.set.is_empty() || lo[axis] > hi[axis];
        from_axes(|axis| if is_none(axis) { 0.0 } else { widest(axis) })
    }

    /// By how much spans are enlarged, in the frame: see the top of this file.
    fn blur(&self, numbers: &[[f64; D]], radius: f64) -> f64 {
        let far = self.far().into_iter().fold(0.0, f64::max);
        let origin = self.origin.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let widest: f64 = numbers.iter().flatten().fold(0.0, |sum, x| sum + x.abs());
        let moved =
            if self.set.frame.is_none() && self.set.boxed.is_none() && self.cell.is_some() { far * MOVED } else { 0.0 };
        let rounded = (widest + far + origin + radius + self.greatest_radius()) * ROUNDING;
        (rounded + moved) * self.scale + f64::MIN_POSITIVE.sqrt()
    }

    /// Calls `visit` with all images of a sweep, or, without a sweep, with the only image.
    fn each_image(&self, sweep: Option<&Sweep<D>>, mut visit: impl FnMut([i32; D])) {
        match sweep {
            Some(sweep) => sweep.each(visit),
            None => visit([0; D]),
        }
    }

    /// Visits the leaves of all boxes that `open` names.
    fn each_leaf(&self, open: impl Fn(&Level<D>, usize) -> u16, mut visit: impl FnMut(usize)) {
        let levels = self.set.tree().levels();
        if let Some(top) = levels.len().checked_sub(1) {
            descend(levels, (top, 0), &open, &mut visit);
        }
    }

    fn each_of(&self, leaf: usize, visit: impl FnMut(u32)) {
        let tree = self.set.tree();
        let present = tree.leaf(leaf).len();
        let ids = tree.leaf_ids()[leaf].0[..present].iter().copied();
        ids.filter(|&id| self.only.passes(id)).for_each(visit);
    }
}

fn lowest_height<const D: usize>(cell: &UnitCell<D>) -> f64 {
    let heights = (0..D).filter(|&k| cell.space.repeats[k]).map(|k| 1.0 / squared(cell.duals[k]).sqrt());
    heights.fold(f64::INFINITY, f64::min)
}

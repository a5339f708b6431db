//! Boxes and capsules as they were, and how much of their margins they have used up since.
//!
//! A capsule has moved as far as that end of it which has moved farther. A box has moved as far as that side of it
//! which has moved outwards the farthest: sides that moved inwards are within the box that was listed.
//!
//! What rounding costs a body that has not used up its margin is known when it is kept, since it is near to where it
//! was then. So a look at bodies at rest in open space goes column by column.

use core::array::from_fn;
use core::ops::Range;

use jostle_core::Workers;
use jostle_core::scratch::resize_with_headroom;
use jostle_sets::input::Shaped;

use super::changes::{BLOCK, Outcome, Paths, ROUNDING, ROUNDING_64, Width, survey_blocks};

/// What a coordinate or a radius in `f32` may lose when a margin is added: 2^-24 of it; 2^-22 is ample.
const ROUNDING_OF_SINGLE: f64 = 1.0 / 4_194_304.0;

/// Bodies that are looked at side by side.
const SOME: usize = 256;

/// A number of each of these.
type Each = [f64; SOME];

/// Boxes or capsules of one set, without a margin, column by column.
#[derive(Debug, Clone)]
pub(super) struct Shapes<const D: usize> {
    /// The lower and the upper corners, or both ends.
    ends: [[Vec<f64>; D]; 2],
    /// The radii of capsules; none of boxes.
    radii: Vec<f64>,
    /// How far each body may move, less the cost of rounding.
    allowed: Vec<f64>,
    are_boxes: bool,
    /// In `f32`, as the caller gave them.
    are_single: bool,
}

impl<const D: usize> Default for Shapes<D> {
    fn default() -> Self {
        let none = || from_fn(|_| Vec::new());
        Self { ends: [none(), none()], radii: Vec::new(), allowed: Vec::new(), are_boxes: false, are_single: false }
    }
}

impl<const D: usize> Shapes<D> {
    pub(super) fn keep(&mut self, now: &Shaped<'_, D>, workers: Workers<'_>) {
        (self.are_boxes, self.are_single) = (now.are_boxes(), now.is_single());
        let Self { ends, radii, allowed, .. } = self;
        for (side, axis) in (0..2).flat_map(|side| (0..D).map(move |axis| (side, axis))) {
            let column = &mut ends[side][axis];
            resize_with_headroom(column, now.len());
            workers.fill_blocks("skin", column, BLOCK, |first, out| now.read_ends(side, axis, first, out));
        }
        resize_with_headroom(radii, if now.are_boxes() { 0 } else { now.len() });
        workers.fill_blocks("skin", radii, BLOCK, |first, out| now.read_radii(first, out));
        resize_with_headroom(allowed, now.len());
        let (ends, radii, rules) = (&*ends, &*radii, Rules { margin: now.margin(), is_single: now.is_single() });
        workers.fill_blocks("skin", allowed, BLOCK, |first, out| {
            for (first, out) in (first..).step_by(SOME).zip(out.chunks_mut(SOME)) {
                let ids = first..first + out.len();
                let ends = ends.each_ref().map(|columns| columns.each_ref().map(|column| &column[ids.clone()]));
                rules.allow(ends, radii.get(ids), out);
            }
        });
    }

    pub(super) fn len(&self) -> usize {
        self.allowed.len()
    }

    pub(super) fn bytes(&self) -> usize {
        let columns = self.ends.iter().flatten().chain([&self.radii, &self.allowed]);
        columns.map(|column| column.capacity() * size_of::<f64>()).sum()
    }

    pub(super) fn compare(
        &self,
        now: &Shaped<'_, D>,
        width: &Width<D>,
        paths: Option<Paths<'_, D>>,
        workers: Workers<'_>,
    ) -> Outcome {
        if (now.len(), now.are_boxes(), now.is_single()) != (self.len(), self.are_boxes, self.are_single) {
            return Outcome::LOST;
        }
        let of_block = |ids: Range<usize>| {
            let some = ids.clone().step_by(SOME).map(|first| first..ids.end.min(first + SOME));
            some.fold(Outcome::NOTHING, |all, ids| all.merge(self.compare_some(now, ids, width, paths)))
        };
        survey_blocks(now.len(), of_block, workers).of_boxes(self.are_boxes)
    }

    fn compare_some(
        &self,
        now: &Shaped<'_, D>,
        ids: Range<usize>,
        width: &Width<D>,
        paths: Option<Paths<'_, D>>,
    ) -> Outcome {
        let (first, len) = (ids.start, ids.len());
        let mut some = Moved { by: [[[0.0; SOME]; D]; 2], lost: [0.0; SOME], turned: None };
        for (side, axis) in (0..2).flat_map(|side| (0..D).map(move |axis| (side, axis))) {
            let by = &mut some.by[side][axis][..len];
            now.read_ends(side, axis, first, by);
            if width.is_wider() {
                for at in (0..len).filter(|&at| by[at].abs() < f64::INFINITY) {
                    some.lost[at] = some.lost[at].max(width.of_body * by[at].abs());
                }
            }
            let was = &self.ends[side][axis][ids.clone()];
            for at in 0..len {
                // Coordinates without an end are not apart.
                by[at] = if by[at] == was[at] { 0.0 } else { by[at] - was[at] };
            }
        }
        if width.is_wider() {
            some.see_nearest(width, len);
        }
        let mut same = true;
        if let Some((was, now)) = paths {
            let turned = some.turned.insert([[0.0; SOME]; D]);
            for (at, id) in ids.clone().enumerate() {
                let (was_by, is_by) = (was[id], now.get(id));
                let path2 = |by: [f64; D]| by.iter().map(|by| by * by).sum::<f64>();
                some.lost[at] += path2(was_by).max(path2(is_by)).sqrt() * ROUNDING.relative;
                (0..D).for_each(|axis| turned[axis][at] = is_by[axis] - was_by[axis]);
                same &= was_by == is_by;
            }
        }
        let allowed = &self.allowed[ids.clone()];
        let outcome = if now.are_boxes() {
            some.box_sides(allowed)
        } else {
            let mut radii = [0.0; SOME];
            now.read_radii(first, &mut radii[..len]);
            some.capsule_ends(allowed, &self.radii[ids], &radii[..len])
        };
        outcome.and(same)
    }
}

/// How far bodies may move: by their margin, less the cost of rounding where they lie.
struct Rules {
    margin: f64,
    is_single: bool,
}

impl Rules {
    /// Fills `out` for at most [`SOME`] bodies by their corners, or by their ends and radii.
    fn allow<const D: usize>(&self, ends: [[&[f64]; D]; 2], radii: Option<&[f64]>, out: &mut [f64]) {
        let (margin, mut far, mut length2) = (self.margin, [0.0; SOME], [0.0; SOME]);
        let of_margin = if self.is_single { ROUNDING_OF_SINGLE } else { ROUNDING_64.relative };
        for axis in 0..D {
            let [p, q] = ends.map(|columns| &columns[axis][..out.len()]);
            for at in 0..out.len() {
                let (x, y) = (p[at].abs(), q[at].abs());
                // Ends that there are none of are not far.
                let (x, y) = (if x < f64::INFINITY { x } else { 0.0 }, if y < f64::INFINITY { y } else { 0.0 });
                let most = if x > y { x } else { y };
                far[at] = if most > far[at] { most } else { far[at] };
                let along = (q[at] - p[at]).abs() + 2.0 * margin;
                length2[at] += along * along;
            }
        }
        let Some(radii) = radii else {
            for at in 0..out.len() {
                let far = far[at] + margin;
                out[at] = margin - (ROUNDING_64.relative + of_margin) * far - ROUNDING_64.least;
            }
            return;
        };
        for at in 0..out.len() {
            // The distance of a long segment is off where it touches a body: its square is rounded relative to that of
            // the length, and seen at the distance at which they touch.
            let (reach, off2) = (radii[at] + margin, length2[at] * ROUNDING_64.relative);
            let (wide, narrow) = (off2 / reach, off2.sqrt());
            let off = if wide < narrow { wide } else { narrow };
            let lost = ROUNDING_64.relative * (far[at] + margin + reach) + of_margin * reach + ROUNDING_64.least;
            out[at] = margin - lost - off;
        }
    }
}

/// How some bodies have moved.
struct Moved<const D: usize> {
    /// Each of the two corners or ends.
    by: [[Each; D]; 2],
    /// What they may move less, where space repeats or bodies move.
    lost: Each,
    /// By how much more than before they are to move during the step.
    turned: Option<[Each; D]>,
}

impl<const D: usize> Moved<D> {
    /// Leaves out whole vectors of the cell. Both ends of a body are moved by the same ones.
    fn see_nearest(&mut self, width: &Width<D>, len: usize) {
        for at in 0..len {
            let from = from_fn(|axis| self.by[0][axis][at]);
            let seen = width.moved(from);
            self.lost[at] += width.least;
            for axis in (0..D).filter(|&axis| seen[axis] != from[axis]) {
                self.by[1][axis][at] += seen[axis] - from[axis];
                self.by[0][axis][at] = seen[axis];
            }
        }
    }

    /// What has been used up by boxes, whose sides are the corners on each axis.
    fn box_sides(&self, allowed: &[f64]) -> Outcome {
        let (len, mut out, mut unknown) = (allowed.len(), [f64::NEG_INFINITY; SOME], 0);
        let mut note = |sides: [&[f64]; 2], turned: Option<&[f64]>| {
            for at in 0..len {
                let by = turned.map_or(0.0, |turned| turned[at]);
                let (lower, upper) = (-sides[0][at] - by, sides[1][at] + by);
                unknown |= u64::from(lower.is_nan() | upper.is_nan());
                let most = if lower > upper { lower } else { upper };
                out[at] = if most > out[at] { most } else { out[at] };
            }
        };
        for axis in 0..D {
            let sides = [0, 1].map(|side| &self.by[side][axis][..len]);
            note(sides, None);
            if let Some(turned) = &self.turned {
                note(sides, Some(&turned[axis][..len]));
            }
        }
        let mut outcome = Outcome::NOTHING;
        for at in 0..len {
            outcome.note_excess(out[at] - (allowed[at] - self.lost[at]), out[at] <= 0.0);
        }
        if unknown == 0 { outcome } else { Outcome::LOST }
    }

    /// What has been used up by capsules with these radii, as they were and as they are.
    fn capsule_ends(&self, allowed: &[f64], was: &[f64], now: &[f64]) -> Outcome {
        let (len, mut moved2, mut other) = (allowed.len(), [0.0; SOME], [0_u64; SOME]);
        let mut note = |ends: &[Each; D], turned: Option<&[Each; D]>| {
            let mut all2 = [0.0; SOME];
            for axis in 0..D {
                for at in 0..len {
                    let by = ends[axis][at] + turned.map_or(0.0, |turned| turned[axis][at]);
                    all2[at] += by * by;
                    other[at] |= u64::from(by != 0.0);
                }
            }
            for at in 0..len {
                // NaN stays.
                moved2[at] = if all2[at] <= moved2[at] || moved2[at].is_nan() { moved2[at] } else { all2[at] };
            }
        };
        for ends in &self.by {
            note(ends, None);
            if let Some(turned) = &self.turned {
                note(ends, Some(turned));
            }
        }
        let mut outcome = Outcome::NOTHING;
        for at in 0..len {
            let growth = now[at] - was[at];
            // Not `max`, which would take NaN for no growth.
            let left = allowed[at] - self.lost[at] - growth.clamp(0.0, f64::INFINITY);
            outcome.note_excess(moved2[at].sqrt() - left, other[at] == 0 && growth <= 0.0);
        }
        outcome
    }
}

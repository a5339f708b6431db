//! Boxes of a tree and questions in `f64`: which boxes a span overlaps, and which a line crosses.

use jostle_core::tree::{LEAF, Level};

/// By how much spans are enlarged, relative to all numbers that are added up: 2^-48.
pub(super) const ROUNDING: f64 = 1.0 / (1_u64 << 48) as f64;

/// Components of a unit direction below this lead nowhere: 2^-600.
const PARALLEL: f64 = f64::from_bits((1023 - 600) << 52);

/// The part of a frame that a query at one image may touch.
pub(super) type Span<const D: usize> = ([f32; D], [f32; D]);

/// Visits the leaves of all boxes that `open` names, from a node on.
pub(super) fn descend<const D: usize>(
    levels: &[Level<D>],
    (level, node): (usize, usize),
    open: &impl Fn(&Level<D>, usize) -> u16,
    visit: &mut impl FnMut(usize),
) {
    let mut mask = open(&levels[level], node);
    while mask != 0 {
        let child = node * LEAF + mask.trailing_zeros() as usize;
        mask &= mask - 1;
        if level == 0 {
            visit(child);
        } else {
            descend(levels, (level - 1, child), open, visit);
        }
    }
}

/// Which of the sixteen boxes of a node overlap a span.
pub(super) fn overlapping<const D: usize>(level: &Level<D>, node: usize, (lo, hi): &Span<D>) -> u16 {
    let mut overlap = [true; LEAF];
    for axis in 0..D {
        let (los, his) = (&level.nodes()[node].lo[axis].0, &level.nodes()[node].hi[axis].0);
        for lane in 0..LEAF {
            overlap[lane] &= (los[lane] <= hi[axis]) & (his[lane] >= lo[axis]);
        }
    }
    mask_of(&overlap)
}

/// Which of the sixteen boxes, enlarged by `blur`, a line may cross: from a point, in a direction, of a length.
pub(super) fn crossed<const D: usize>(
    level: &Level<D>,
    node: usize,
    line: ([f64; D], [f64; D], f64),
    blur: f64,
) -> u16 {
    let (from, unit, length) = line;
    let (mut near, mut far) = ([0.0_f64; LEAF], [length; LEAF]);
    for axis in 0..D {
        let (los, his) = (&level.nodes()[node].lo[axis].0, &level.nodes()[node].hi[axis].0);
        let inverse = 1.0 / unit[axis];
        for lane in 0..LEAF {
            let (lo, hi) = (end(los[lane]) - from[axis] - blur, end(his[lane]) - from[axis] + blur);
            // A line as good as parallel to a border never crosses it.
            if unit[axis].abs() < PARALLEL {
                far[lane] = if lo <= 0.0 && hi >= 0.0 { far[lane] } else { -1.0 };
                continue;
            }
            let ends = [lo * inverse, hi * inverse];
            near[lane] = near[lane].max(ends[0].min(ends[1]));
            far[lane] = far[lane].min(ends[0].max(ends[1]));
        }
    }
    let mut crossed = [false; LEAF];
    for lane in 0..LEAF {
        let is_box = los_below_his(level, node, lane);
        crossed[lane] = is_box && near[lane] * (1.0 - ROUNDING) <= far[lane] * (1.0 + ROUNDING);
    }
    mask_of(&crossed)
}

/// A border of a box of the tree. The border of a box without an end is infinite.
pub(super) fn end(border: f32) -> f64 {
    if border.abs() == f32::MAX { f64::INFINITY.copysign(border.into()) } else { border.into() }
}

/// Whether a lane has a box, not a place that fills up a node.
fn los_below_his<const D: usize>(level: &Level<D>, node: usize, lane: usize) -> bool {
    let node = &level.nodes()[node];
    node.lo[0].0[lane] <= node.hi[0].0[lane]
}

fn mask_of(lanes: &[bool; LEAF]) -> u16 {
    lanes.iter().enumerate().fold(0, |mask, (lane, &set)| mask | u16::from(set) << lane)
}

/// Rounds to `f32` away from a span, within the finite.
pub(super) fn outward(x: f64, sign: f32) -> f32 {
    let rounded = x as f32;
    if sign > 0.0 { rounded.next_up().min(f32::MAX) } else { rounded.next_down().max(f32::MIN) }
}

//! Leaves gaps that no body reaches into out of the frame. Where bodies lie far apart beside what they reach, an `f32`
//! frame of all space between them would make candidates of bodies that are nowhere near each other.
//!
//! Each axis is treated by itself. The interval of a body is what its path and its radius cover on the axis, grown by
//! 2^-20 of them. The axis is cut into buckets. A bucket keeps the union of the intervals that begin in it, as if the
//! union had no gaps. Of a gap between unions, all but a remainder is dropped: the coordinate of a body becomes
//! `x - origin`, where `origin` is the sum of what has been dropped before the bucket in which its interval begins.
//! Where gaps within a bucket are still too wide, what is left is cut into finer buckets.
//!
//! - No pair is lost. Bodies whose intervals overlap have the same `origin`, so their difference stays. Of two other
//!   bodies, the farther one has no lesser `origin`, so their difference does not grow.
//! - No hit across a gap is sure: most of the remainder lies between the two bodies.
//! - Where the axis repeats, intervals that cross a border go on at the other border, and nothing is dropped at the
//!   borders themselves. An image lies one period further, less all that has been dropped.
//! - In a cell that is not straight, axes along which a vector leads that repeats keep their gaps.
//!
//! What is dropped in a gap is a multiple of a power of two, the quantum, which is at least 2^-45 ([`FINEST`]) of the
//! largest number that coordinates come from. So every `origin` is exact, and `x - origin` is rounded by 2^-53 of
//! itself, as in a frame with gaps. The way into the cell and the predicate round by at most 2^-49 of that number, and
//! ends of intervals are rounded by some 2^-52 of it: an eighth of a quantum for each body. Gaps of less than four
//! quanta, the remainder, stay as they are. So intervals of bodies that touch may be that much off.

use core::sync::atomic::{AtomicU64, Ordering};

use jostle_core::Workers;
use jostle_core::axes::{Axes, Both};

use crate::input::{Set, UnitCell};
use crate::proxy::crowded::is_crowded;
use crate::proxy::frame::half_width;
use crate::proxy::sorted::SortedSet;
use crate::proxy::{Extent, Frame, Span};

/// Searches of fewer bodies keep their gaps.
const LEAST_BODIES: usize = 16;

/// The least and the greatest number of buckets of an axis: one for four bodies, rounded up to a power of two. Caches
/// hold them.
const BUCKETS: (usize, usize) = (1 << 8, 1 << 17);

/// Bodies whose intervals one task notes.
const BLOCK: usize = 1 << 13;

/// How often an axis is cut, at most.
const LEVELS: usize = 4;

/// The least quantum, relative to the largest number that coordinates come from: 2^-45.
const FINEST: f64 = 1.0 / (1_u64 << 45) as f64;

/// What is left of a gap, in quanta.
const REMAINDER: f64 = 4.0;

/// The narrowest axis that is cut: 2^-400, far above what squares need.
const NARROWEST: f64 = f64::from_bits((1023 - 400) << 52);

/// A scene is wide where proxies grow by more than 2^-9 of what bodies typically reach. About there a search begins to
/// take longer than it would if the bodies lay near together.
const WIDE: f64 = 1.0 / 512.0;

/// An axis is cut again only if it is wider than so many times the width at which a scene becomes wide, and than all
/// bodies in a row.
const AGAIN: f64 = 32.0;

/// 2^52: a number less than 2^31, added to it, is rounded to a whole number, which stands in the last bits of the sum.
const UNITS: f64 = (1_u64 << 52) as f64;

/// Spans that are noted at a time.
pub(super) const SPANS: usize = 256;

/// Where the first of the intervals that begin in a bucket begins, and where the last of them ends: the bits of numbers
/// from 0 on, which are in the same order as the numbers.
#[derive(Debug)]
pub(super) struct Bucket([AtomicU64; 2]);

impl Bucket {
    const NONE: [f64; 2] = [f64::INFINITY, 0.0];

    fn of(ends: [f64; 2]) -> Self {
        Self(ends.both(|end| AtomicU64::new(end.to_bits())))
    }

    fn ends(&self) -> [f64; 2] {
        self.0.each_ref().both(|end| f64::from_bits(end.load(Ordering::Relaxed)))
    }

    /// Notes an interval. The least and the greatest of many do not depend on their order. A thread that is alone need
    /// not wait for others, and takes no branches: they would be mispredicted where few bodies are in a bucket.
    #[inline]
    fn note(&self, [from, to]: [f64; 2], alone: bool) {
        let ([first, last], [from, to]) = (&self.0, [(from.max(0.0) + 0.0).to_bits(), to.to_bits()]);
        let [least, most] = [first, last].both(|end| end.load(Ordering::Relaxed));
        if alone {
            first.store(least.min(from), Ordering::Relaxed);
            last.store(most.max(to), Ordering::Relaxed);
            return;
        }
        if from < least {
            first.fetch_min(from, Ordering::Relaxed);
        }
        if to > most {
            last.fetch_max(to, Ordering::Relaxed);
        }
    }
}

/// The buckets of an axis.
#[derive(Debug, Default)]
struct Level {
    inverse: f64,
    last: f64,
    /// For each bucket, the sum of what is dropped before the intervals that begin in it.
    dropped: Vec<f64>,
}

impl Level {
    /// The bucket whose middle is nearest to a place, which is not NaN.
    #[inline]
    fn bucket(&self, at: f64) -> usize {
        let at = (at * self.inverse).max(0.0).min(self.last);
        (at + UNITS).to_bits() as u32 as usize
    }
}

/// How far bodies extend on an axis.
#[derive(Debug, Clone, Copy)]
struct Line {
    ends: [f64; 2],
    /// The lower border of the cell and the period, where the axis repeats.
    period: Option<[f64; 2]>,
    /// What bodies typically reach, and the largest number that coordinates come from.
    typical: f64,
    largest: f64,
}

/// One axis without its gaps.
#[derive(Debug, Default)]
pub(super) struct Axis {
    start: f64,
    middle: f64,
    quantum: f64,
    levels: Vec<Level>,
    used: usize,
    /// The width that is left, and whether it may still be too wide.
    left: f64,
    is_open: bool,
    /// Where the axis repeats: the borders of the cell, what is left of the period, and what of the period has been
    /// dropped.
    borders: Option<[f64; 2]>,
    period: f64,
    dropped: f64,
}

impl Axis {
    /// The interval of a body whose coordinate is relative to `origin`.
    #[inline]
    fn interval([x, half, reach]: Span, origin: f64) -> [f64; 2] {
        let at = x - origin + half;
        [at - reach, at + reach]
    }

    /// Returns the origins that the coordinates of bodies are relative to, for at most [`SPANS`] bodies. Loops are
    /// short, so that many look-ups are under way at a time.
    pub(super) fn origins(&self, spans: &[Span]) -> [f64; SPANS] {
        let mut origins = [self.start; SPANS];
        for level in &self.levels[..self.used] {
            for (&span, origin) in spans.iter().zip(&mut origins) {
                *origin += level.dropped[level.bucket(Self::interval(span, *origin)[0])];
            }
        }
        origins.iter_mut().for_each(|origin| *origin += self.middle);
        origins
    }

    /// Begins an axis with its gaps.
    fn begin(&mut self, line: &Line) {
        let borders = line.period.map(|[lo, period]| [lo, lo + period]);
        let [lo, hi] = line.ends;
        let [lo, hi] = borders.map_or([lo, hi], |[first, last]| [lo.min(first), hi.max(last)]);
        (self.used, self.left, self.middle, self.dropped, self.is_open) = (0, hi - lo, 0.0, 0.0, true);
        self.quantum = power_of_two_above((line.typical / 2.0).max(line.largest * FINEST).max(NARROWEST * FINEST));
        self.start = (lo / self.quantum).floor() * self.quantum;
        (self.borders, self.period) = (borders, line.period.map_or(0.0, |[_, period]| period));
    }

    /// Cuts what is left of the axis into buckets.
    fn cut(&mut self, buckets: usize) {
        if self.levels.len() == self.used {
            self.levels.push(Level::default());
        }
        let level = &mut self.levels[self.used];
        level.inverse = buckets as f64 / power_of_two_above(self.left);
        level.last = (buckets - 1) as f64;
    }

    /// Notes the intervals of bodies, at most [`SPANS`] of them.
    fn cover(&self, spans: &[Span], buckets: &[Bucket], alone: bool) {
        let level = &self.levels[self.used];
        for (&span, origin) in spans.iter().zip(self.origins(spans)) {
            let interval = Self::interval(span, origin);
            buckets[level.bucket(interval[0])].note(interval, alone);
            if self.borders.is_some() {
                self.cover_images(interval, buckets, alone);
            }
        }
    }

    /// Notes the interval of a body that crosses a border at the other border.
    #[inline]
    fn cover_images(&self, [from, to]: [f64; 2], buckets: &[Bucket], alone: bool) {
        let level = &self.levels[self.used];
        if from + self.period < self.left {
            buckets[level.bucket(from + self.period)].note([from + self.period, to + self.period], alone);
        }
        if to - self.period > 0.0 {
            buckets[level.bucket(from - self.period)].note([from - self.period, to - self.period], alone);
        }
    }

    /// Drops the gaps between the unions of buckets, unless more than half of the width is left.
    fn close(&mut self, buckets: &[Bucket]) {
        let borders = self.borders.unwrap_or_default().both(|border| [border, 0.0, 0.0]);
        if self.borders.is_some() {
            self.cover(&borders, buckets, true);
        }
        let (remainder, inverse) = (REMAINDER * self.quantum, 1.0 / self.quantum);
        let (mut reached, mut dropped) = (0.0_f64, 0.0);
        let level = &mut self.levels[self.used];
        level.dropped.clear();
        level.dropped.extend(buckets.iter().map(|bucket| {
            let [from, to] = bucket.ends();
            if from < f64::INFINITY {
                // The cast rounds towards zero; `floor` is a call on many targets.
                dropped += ((from - reached - remainder) * inverse).max(0.0) as i64 as f64 * self.quantum;
                reached = reached.max(to);
            }
            dropped
        }));
        self.is_open = reached - dropped <= self.left / 2.0;
        if !self.is_open {
            return;
        }
        (self.left, self.used) = (reached - dropped, self.used + 1);
        if self.borders.is_some() {
            let [first, last, ..] = self.origins(&borders);
            let dropped = last - first;
            (self.period, self.dropped) = (self.period - (dropped - self.dropped), dropped);
        }
    }

    /// Makes coordinates relative to the middle of what is left. Returns half of the width plus a quantum.
    fn center(&mut self) -> f64 {
        self.middle = (self.left / 2.0 / self.quantum).round() * self.quantum;
        self.left / 2.0 + self.quantum
    }
}

/// The axes of a search without their gaps.
#[derive(Debug)]
pub(crate) struct Gaps<const D: usize> {
    axes: [Axis; D],
    buckets: Vec<Bucket>,
    used: bool,
}

impl<const D: usize> Default for Gaps<D> {
    fn default() -> Self {
        Self { axes: core::array::from_fn(|_| Axis::default()), buckets: Vec::new(), used: false }
    }
}

impl<const D: usize> Gaps<D> {
    pub(crate) fn bytes(&self) -> usize {
        let levels = self.axes.iter().flat_map(|axis| &axis.levels);
        self.buckets.capacity() * size_of::<Bucket>()
            + levels.map(|level| size_of::<Level>() + level.dropped.capacity() * size_of::<f64>()).sum::<usize>()
    }

    /// The gaps that the frame of this search leaves out, if it does.
    pub(crate) fn in_use(&self) -> Option<&Self> {
        self.used.then_some(self)
    }

    pub(crate) fn clear(&mut self) {
        self.used = false;
    }

    /// The origins that the coordinates of bodies on an axis are relative to.
    pub(super) fn origins(&self, axis: usize, spans: &[Span]) -> [f64; SPANS] {
        self.axes[axis].origins(spans)
    }

    /// How much of the period of each axis has been dropped.
    pub(crate) fn dropped(&self) -> [f64; D] {
        self.axes.each_ref().axes(|axis| axis.dropped)
    }

    /// Returns a frame without the gaps between surveyed bodies, if it is better than their `frame`.
    pub(crate) fn close(
        &mut self,
        (sets, sorted): (&[Set<'_, D>], &[SortedSet<D>]),
        cell: Option<&UnitCell<D>>,
        frame: &Frame<D>,
        all: Extent<D>,
        workers: Workers<'_>,
    ) -> Option<Frame<D>> {
        let bodies = sets.iter().map(Set::len).sum::<usize>();
        if bodies < LEAST_BODIES {
            return None;
        }
        let each = || sorted.iter().zip(sets);
        let typical = each().map(|(kept, set)| kept.proxies.typical_radius(set, cell)).fold(f64::INFINITY, f64::min);
        let wide = frame.growth() / (typical * WIDE);
        if wide.is_nan() || wide <= 1.0 {
            return None;
        }
        if !is_crowded((sets, sorted), cell, frame.growth()) {
            return None;
        }
        let far = self.begin(cell, all, typical);
        // The scale of a frame is at most one over its width.
        let enough = 1.0 / (frame.scale * wide);
        let buckets = (bodies / 4).next_power_of_two().clamp(BUCKETS.0, BUCKETS.1);
        for level in 0..LEVELS {
            let enough = if level == 0 { enough } else { (AGAIN * enough).max(2.0 * typical * bodies as f64) };
            let is_open = |axis: &Axis| axis.is_open && axis.left > enough && axis.left > NARROWEST;
            self.axes.iter_mut().for_each(|axis| axis.is_open = is_open(axis));
            if !self.axes.iter().any(|axis| axis.is_open) {
                break;
            }
            self.axes.iter_mut().filter(|axis| axis.is_open).for_each(|axis| axis.cut(buckets));
            self.buckets.resize_with(D * buckets, || Bucket::of(Bucket::NONE));
            workers
                .fill_blocks("gaps", &mut self.buckets, BLOCK, |_, block| block.fill_with(|| Bucket::of(Bucket::NONE)));
            let noted: [&[Bucket]; D] = core::array::from_fn(|at| &self.buckets[at * buckets..(at + 1) * buckets]);
            for (kept, set) in each() {
                workers.run("gaps", set.len().div_ceil(BLOCK), |block| {
                    let ids = block * BLOCK..((block + 1) * BLOCK).min(set.len());
                    for (at, axis) in self.axes.iter().enumerate().filter(|(_, axis)| axis.is_open) {
                        kept.proxies.each_span(set, cell, at, ids.clone(), |spans| {
                            axis.cover(spans, noted[at], workers.is_alone());
                        });
                    }
                });
            }
            workers.fill_blocks("gaps", &mut self.axes, 1, |at, axis| {
                axis.iter_mut().filter(|axis| axis.is_open).for_each(|axis| axis.close(noted[at]));
            });
        }
        let oblique = cell.filter(|cell| !cell.is_straight());
        let least = |axis: usize| oblique.map_or(all.radius, |cell| all.radius.max(half_width(cell, axis)));
        let halves = self.axes.iter_mut().enumerate().map(|(at, axis)| axis.center().max(least(at)));
        let half = halves.fold(0.0, f64::max);
        let closed = Frame::without_gaps(half, Extent { far, ..all }, cell);
        self.used = closed.scale > frame.scale;
        self.used.then_some(closed)
    }

    /// Begins all axes with their gaps. Returns `all.far`, with the largest numbers of the predicate where an axis
    /// repeats.
    fn begin(&mut self, cell: Option<&UnitCell<D>>, all: Extent<D>, typical: f64) -> [f64; D] {
        let mut far = all.far;
        for (at, axis) in self.axes.iter_mut().enumerate() {
            // The width of the cell along the vectors that repeat.
            let width = cell.map_or(0.0, |cell| 2.0 * half_width(cell, at));
            if let Some(cell) = cell.filter(|_| width > 0.0) {
                far[at] = far[at].max(cell.space.origin[at].abs() + width);
            }
            let straight = cell.filter(|cell| width > 0.0 && cell.is_straight());
            let period = straight.map(|cell| [cell.space.origin[at], cell.space.vectors[at][at]]);
            let ends = [all.lo[at], all.hi[at]];
            let largest = ends.iter().fold(far[at], |largest, end| largest.max(end.abs()));
            axis.begin(&Line { ends, period, typical, largest });
            axis.is_open = width == 0.0 || period.is_some();
        }
        far
    }
}

/// The least power of two above a positive number that is neither tiny nor huge.
fn power_of_two_above(x: f64) -> f64 {
    f64::from_bits((x.to_bits() >> 52 << 52) + (1 << 52))
}

#[cfg(test)]
mod tests {
    use super::{Axis, Bucket, LEVELS, Line};
    use crate::proxy::Span;

    /// The axis without the gaps between bodies, and what the coordinate of each is relative to.
    fn closed(spans: &[Span], period: Option<[f64; 2]>) -> (Axis, Vec<f64>) {
        let (mut axis, count) = (Axis::default(), 64);
        let middles = || spans.iter().map(|[x, half, _]| x + half);
        let ends = [middles().fold(f64::INFINITY, f64::min), middles().fold(f64::NEG_INFINITY, f64::max)];
        let largest = ends.iter().chain(period.iter().flatten()).fold(0.0_f64, |most, x| most.max(2.0 * x.abs()));
        axis.begin(&Line { ends, period, typical: 0.5, largest });
        while axis.is_open && axis.used < LEVELS && axis.left > 0.0 {
            axis.cut(count);
            let buckets: Vec<_> = (0..count).map(|_| Bucket::of(Bucket::NONE)).collect();
            axis.cover(spans, &buckets, spans.len().is_multiple_of(2));
            axis.close(&buckets);
        }
        axis.center();
        let origins = axis.origins(spans)[..spans.len()].to_vec();
        (axis, origins)
    }

    /// Random bodies at whole numbers, near each other and far apart, some of which move.
    fn spans(seed: u64) -> Vec<Span> {
        let mut state = seed;
        let mut random = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        let mut corner = |_| {
            let power = 1 + random(40);
            random(1 << power) as f64
        };
        let corners: Vec<_> = (0..1 + seed % 9).map(&mut corner).collect();
        let body = |_| {
            let x = corners[random(corners.len() as u64) as usize] + random(20) as f64 - 1e3;
            let half = if random(8) == 0 { random(40) as f64 - 20.0 } else { 0.0 };
            [x, half, 0.5 + half.abs() + if random(50) == 0 { random(1 << 20) as f64 } else { 0.0 }]
        };
        (0..2 + seed % 60).map(body).collect()
    }

    /// Compares two bodies, the second seen at `shift`, with the same bodies without gaps, the second seen at `left`.
    fn check([a, b]: [Span; 2], [from, to]: [f64; 2], shift: f64, left: f64) {
        let ends = |[x, half, reach]: Span, shift: f64, origin: f64| {
            [x + half - reach + shift - origin, x + half + reach + shift - origin]
        };
        let ([one, other], [near, far]) =
            ([ends(a, 0.0, 0.0), ends(b, shift, 0.0)], [ends(a, 0.0, from), ends(b, left, to)]);
        if one[0] <= other[1] && other[0] <= one[1] {
            assert!(far[0] - near[0] == other[0] - one[0], "{a:?} and {b:?} overlap at {shift}");
        } else if one[1] < other[0] {
            assert!(near[1] < far[0], "{a:?} and {b:?} do not overlap at {shift}");
            assert!(far[0] - near[0] <= other[0] - one[0], "{a:?} and {b:?} are farther apart at {shift}");
        } else {
            assert!(far[1] < near[0] && near[0] - far[0] <= one[0] - other[0], "{a:?} and {b:?} at {shift}");
        }
    }

    #[test]
    fn what_overlaps_stays_and_nothing_comes_nearer_than_a_gap_is_wide() {
        for seed in 0..600 {
            let mut spans = spans(seed);
            let (_, origins) = closed(&spans, None);
            for (i, &a) in spans.iter().enumerate() {
                for (j, &b) in spans.iter().enumerate() {
                    check([a, b], [origins[i], origins[j]], 0.0, 0.0);
                }
            }
            let (lo, hi) = spans.iter().fold((f64::MAX, f64::MIN), |(lo, hi), span| (lo.min(span[0]), hi.max(span[0])));
            spans.retain(|span| span[2] < hi - lo);
            let period = hi - lo + (seed % 3) as f64;
            if spans.is_empty() || period == 0.0 {
                continue;
            }
            let (axis, origins) = closed(&spans, Some([lo, period]));
            for (i, &a) in spans.iter().enumerate() {
                for (j, &b) in spans.iter().enumerate() {
                    for step in [-1.0, 0.0, 1.0] {
                        check([a, b], [origins[i], origins[j]], step * period, step * (period - axis.dropped));
                    }
                }
            }
        }
    }

    #[test]
    fn little_is_left_of_gaps() {
        let spans: Vec<_> = (0..40).map(|i| [f64::from(i % 4) * 1e12 + f64::from(i), 0.0, 0.5]).collect();
        let (axis, _) = closed(&spans, None);
        assert!(axis.left < 300.0, "{}", axis.left);
        let one: Vec<_> = spans.iter().map(|span| [span[0] / 1e10, 0.0, 5e3]).collect();
        assert_eq!(closed(&one, None).0.used, 0, "there are no gaps");
    }
}

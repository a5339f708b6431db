//! Axis-aligned boxes, rounded outwards so that no pair is lost to rounding.
//!
//! The margin. The predicate accepts a pair when `fl(dx*dx + ...) <= fl(s*s)` with `dx = fl(xj - xi)`,
//! `s = fl(ri + rj)`. Every rounding is monotone and the sum is of squares, so `fl(dx*dx) <= fl(s*s)` on each axis.
//! With u = 2^-24, each of the four roundings changes its value by a factor within 1 +- u, plus 2^-150 where a product
//! is denormal, so `|xj - xi| <= (ri + rj)(1 + 4u) + 2^-74`. A box must therefore reach `r(1 + 4u)` from each centre,
//! and 2^-74 farther in all, and its own arithmetic must not lose any of it:
//! - radii are grown by [`GROWTH`] = 1 + 8u first, whose product is rounded by at most a factor 1 - u;
//! - `x - r` is rounded by at most u relative to its result v; `v - 2u|v|` grows with v, so taking the least v over a
//!   leaf and subtracting `8u|v| + 2^-73` from it once covers every circle of the leaf.
//!
//! A circle is tested against such a box by `x + GROWTH*r >= lo` and `x - GROWTH*r <= hi`. Again rounding is monotone,
//! and the box's margin covers what rounding takes from the circle.

/// Factor on a radius before it enters a box: 1 + 2^-21, eight times the unit roundoff of f32.
pub const GROWTH: f32 = 1.0 + 1.0 / 2_097_152.0;

/// Outward shift of a box relative to the magnitude of its border: 2^-21.
pub(crate) const RELATIVE_MARGIN: f32 = 1.0 / 2_097_152.0;

/// Outward shift in absolute terms, 2^-73: below about 2^-75 a difference squares to zero and counts as a hit.
pub(crate) const ABSOLUTE_MARGIN: f32 = f32::from_bits((127 - 73) << 23);

/// An axis-aligned box: `lo[axis] <= hi[axis]` on every axis, or empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aabb<const D: usize> {
    /// The least coordinate on each axis.
    pub lo: [f32; D],
    /// The greatest coordinate on each axis.
    pub hi: [f32; D],
}

impl<const D: usize> Aabb<D> {
    /// The box that holds nothing.
    pub const EMPTY: Self = Self { lo: [f32::INFINITY; D], hi: [f32::NEG_INFINITY; D] };

    /// The smallest box that holds both.
    #[must_use]
    pub fn union(mut self, other: Self) -> Self {
        for axis in 0..D {
            self.lo[axis] = self.lo[axis].min(other.lo[axis]);
            self.hi[axis] = self.hi[axis].max(other.hi[axis]);
        }
        self
    }

    /// The smallest box that holds this one and a point.
    #[must_use]
    pub fn with_point(self, point: [f32; D]) -> Self {
        self.union(Self { lo: point, hi: point })
    }

    /// The largest side; negative infinity for the empty box.
    #[must_use]
    pub fn widest(&self) -> f32 {
        (0..D).map(|axis| self.hi[axis] - self.lo[axis]).fold(f32::NEG_INFINITY, f32::max)
    }

    /// True when the boxes share at least a point.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..D).all(|axis| self.lo[axis] <= other.hi[axis] && other.lo[axis] <= self.hi[axis])
    }

    /// True when `other` lies wholly within this box.
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        (0..D).all(|axis| self.lo[axis] <= other.lo[axis] && other.hi[axis] <= self.hi[axis])
    }
}

/// The least of four numbers, none of them NaN.
#[inline(always)]
fn least(of: [f32; 4]) -> f32 {
    let least = |a: f32, b: f32| if a < b { a } else { b };
    least(least(of[0], of[2]), least(of[1], of[3]))
}

/// The greatest of four numbers, none of them NaN.
#[inline(always)]
fn greatest(of: [f32; 4]) -> f32 {
    let greatest = |a: f32, b: f32| if a > b { a } else { b };
    greatest(greatest(of[0], of[2]), greatest(of[1], of[3]))
}

/// The least of sixteen numbers, none of them NaN. Takes four lanes at a time, which the compiler keeps in registers.
#[inline(always)]
pub(crate) fn least_of_all(of: &[f32; 16]) -> f32 {
    let mut four = [of[0], of[1], of[2], of[3]];
    for run in 1..4 {
        for lane in 0..4 {
            four[lane] = if of[4 * run + lane] < four[lane] { of[4 * run + lane] } else { four[lane] };
        }
    }
    least(four)
}

/// The greatest of sixteen numbers, as [`least_of_all`].
#[inline(always)]
pub(crate) fn greatest_of_all(of: &[f32; 16]) -> f32 {
    let mut four = [of[0], of[1], of[2], of[3]];
    for run in 1..4 {
        for lane in 0..4 {
            four[lane] = if of[4 * run + lane] > four[lane] { of[4 * run + lane] } else { four[lane] };
        }
    }
    greatest(four)
}

/// The lower border of a box, moved outwards by the margin explained at the top of this file.
#[inline(always)]
#[must_use]
pub fn outward_lo(lo: f32) -> f32 {
    lo - (lo.abs() * RELATIVE_MARGIN + ABSOLUTE_MARGIN)
}

/// The upper border of a box, moved outwards by the margin explained at the top of this file.
#[inline(always)]
#[must_use]
pub fn outward_hi(hi: f32) -> f32 {
    hi + (hi.abs() * RELATIVE_MARGIN + ABSOLUTE_MARGIN)
}

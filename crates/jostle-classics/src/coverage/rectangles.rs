//! Rectangles: exact coverage, with the end pixels apart from the pixels between them.

use jostle_core::limits::REACH;
use jostle_core::{Aabb, Reason, ViewError};

use super::bitmaps::{Bitmaps, Mask, Screen};
use super::hits::Hits;
use crate::error::SetupError;

/// "Was I hit at all?" for rectangles of two groups, by coverage of pixels. Approximate: see [`Hits::misjudged`].
///
/// What a rectangle covers of a pixel is exact, the product of two lengths. Of the columns from its left to its right
/// edge, the first is covered by 1 - frac, the last by frac, and the columns between wholly. Rows are covered likewise.
/// O(pixels + N R^2), with R a side in pixels.
///
/// Nothing beside the bitmap is seen.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle_classics::RectangleCoverage;
/// use jostle::Aabb;
///
/// let rectangle = |lo, hi| Aabb { lo, hi };
/// let mut coverage = RectangleCoverage::new(rectangle([0.0; 2], [64.0; 2]), 1.0)?;
/// let players = [rectangle([2.5, 2.5], [6.5, 8.0])];
/// let walls = [rectangle([6.0, 0.0], [7.0, 64.0]), rectangle([20.0, 0.0], [21.0, 64.0])];
/// let hits = coverage.find(&players, &walls)?;
/// assert_eq!((hits.a(), hits.b()), (&[true][..], &[true, false][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RectangleCoverage {
    bitmaps: Bitmaps<Slab>,
}

/// A rectangle in units of pixels, cut off at the borders of the bitmap.
#[derive(Debug, Clone, Copy)]
struct Slab {
    x: Span,
    y: Span,
}

/// What an interval covers along one axis: `head` of the first pixel, `tail` of the last, and the pixels between
/// wholly. An interval within one pixel has `first == last` and no tail; an interval beside the bitmap has a `head` of
/// 0.
#[derive(Debug, Clone, Copy)]
struct Span {
    first: u32,
    last: u32,
    head: f32,
    tail: f32,
}

/// Refuses rectangles with a coordinate that is not finite or too far, or with `hi` below `lo`: a negative half size.
pub(super) fn check(rectangles: &[Aabb<2>]) -> Result<(), ViewError> {
    ViewError::of_bodies(rectangles.len(), |i| {
        let Aabb { lo, hi } = rectangles[i];
        let on_axis = |fails: &dyn Fn(usize) -> bool| (0..2).find(|&axis| fails(axis)).map(|axis| axis as u8);
        if let Some(axis) = on_axis(&|axis| !(lo[axis].is_finite() && hi[axis].is_finite())) {
            Some(Reason::CenterNotFinite { axis })
        } else if on_axis(&|axis| hi[axis] < lo[axis]).is_some() {
            Some(Reason::RadiusNegative)
        } else {
            on_axis(&|axis| lo[axis].abs().max(hi[axis].abs()) > REACH).map(|axis| Reason::TooFar { axis })
        }
    })
}

impl RectangleCoverage {
    /// Makes bitmaps of square pixels of this side over the part of the world that is seen.
    ///
    /// # Errors
    /// A world that is empty or has no finite size; a side not from 2^-60 to 2^60; more than 2^24 pixels, or 2^16 a
    /// side.
    pub fn new(seen: Aabb<2>, pixel: f32) -> Result<Self, SetupError> {
        Ok(Self { bitmaps: Bitmaps::new(seen, pixel)? })
    }

    /// Finds which rectangles of each group are hit by the other group, approximately.
    ///
    /// # Errors
    /// [`ViewError::Bodies`] that names rectangles of the first group, else of the second, with a coordinate that is
    /// not finite or above 2^60, or with `hi` below `lo` (the reason is a negative radius).
    pub fn find(&mut self, a: &[Aabb<2>], b: &[Aabb<2>]) -> Result<&Hits, ViewError> {
        check(a)?;
        check(b)?;
        let screen = self.bitmaps.screen;
        for (group, rectangles) in self.bitmaps.groups.iter_mut().zip([a, b]) {
            group.clear();
            group.extend(rectangles.iter().map(|rectangle| Slab::new(&screen, rectangle)));
        }
        Ok(self.bitmaps.find())
    }

    /// Calls `pixel` with each pixel that was covered at the last search: its box, and the sum of what the objects of
    /// each group cover of it, in pixels. Something to look at, row by row; nothing before the first search. O(pixels).
    pub fn for_each_pixel(&self, pixel: &mut dyn FnMut(Aabb<2>, [f32; 2])) {
        self.bitmaps.for_each_pixel(pixel);
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bitmaps.bytes()
    }
}

impl Span {
    /// Makes the interval from `lo` to `hi`, cut off at 0 and `count`.
    fn new(lo: f32, hi: f32, count: u32) -> Self {
        let (lo, hi) = (lo.clamp(0.0, count as f32), hi.clamp(0.0, count as f32));
        let (first, last) = ((lo as u32).min(count - 1), (hi as u32).min(count - 1));
        if first == last {
            Self { first, last, head: hi - lo, tail: 0.0 }
        } else {
            Self { first, last, head: 1.0 - (lo - first as f32), tail: hi - last as f32 }
        }
    }

    /// Returns whether the interval has no width.
    fn is_empty(self) -> bool {
        self.head <= 0.0
    }
}

impl Slab {
    fn new(screen: &Screen, rectangle: &Aabb<2>) -> Self {
        let (lo, hi) = (screen.point(rectangle.lo), screen.point(rectangle.hi));
        let span = |axis: usize| Span::new(lo[axis], hi[axis], screen.size()[axis]);
        Self { x: span(0), y: span(1) }
    }

    /// Calls `stop` with the pixels of one row, of which the part `height` is covered, until it returns true.
    #[inline]
    fn any_of_row(&self, row: usize, height: f32, stop: &mut impl FnMut(usize, f32) -> bool) -> bool {
        let (first, last) = (row + self.x.first as usize, row + self.x.last as usize);
        stop(first, self.x.head * height)
            || (first + 1..last).any(|pixel| stop(pixel, height))
            || (first < last && stop(last, self.x.tail * height))
    }
}

impl Mask for Slab {
    fn any(&self, screen: &Screen, wanted: impl Fn(usize) -> bool, mut stop: impl FnMut(usize, f32) -> bool) -> bool {
        let (first, last) = (self.y.first, self.y.last);
        let mut stop = |pixel: usize, covered: f32| wanted(pixel) && stop(pixel, covered);
        let mut row = |y: u32, height: f32| self.any_of_row(screen.row(y), height, &mut stop);
        !self.x.is_empty()
            && !self.y.is_empty()
            && (row(first, self.y.head)
                || (first + 1..last).any(|y| row(y, 1.0))
                || (first < last && row(last, self.y.tail)))
    }
}

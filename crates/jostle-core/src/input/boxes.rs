//! Borrowed views of the caller's axis-aligned boxes.

use bytemuck::NoUninit;

use super::strided::strided;
use super::{Column, Scalar, check_bodies_and_margin};
use crate::axes::from_axes;
use crate::error::{Reason, ViewError};

/// A borrowed view of n axis-aligned boxes with `D` axes: where their lower and upper corners lie in the caller's
/// memory. It has two names, [`Boxes`] in `f32` and [`Boxes64`] in `f64`.
///
/// Two boxes overlap when on each axis `lo_a <= hi_b` and `lo_b <= hi_a`: nothing is rounded, and touching counts. A
/// box may be a point or a line, and may reach to infinity on either side. A view copies nothing, and checks nothing
/// until it is used. Then a corner that is NaN, or a lower corner above the upper one, is refused by an error that
/// names the boxes. The position of a box in the view is its *id*.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle::{Boxes, field};
///
/// let boxes = Boxes::new([&[0.0, 2.0], &[0.0, 0.0]], [&[1.0, 9.0], &[1.0, 0.5]]);
/// assert_eq!((boxes.len(), boxes.lo(1), boxes.hi(1)), (2, [2.0, 0.0], [9.0, 0.5]));
///
/// struct Wall {
///     name: &'static str,
///     min: [f32; 2],
///     max: [f32; 2],
/// }
/// let walls = [Wall { name: "north", min: [0.0, 8.0], max: [9.0, 8.5] }];
/// let boxes = Boxes::from_columns(field!(Wall, min).axes(&walls), field!(Wall, max).axes(&walls));
/// assert_eq!(boxes.lo(0), [0.0, 8.0]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct BoxView<'a, const D: usize, T> {
    lo: [Column<'a, T>; D],
    hi: [Column<'a, T>; D],
    margin: T,
}

/// Boxes in `f32`.
pub type Boxes<'a, const D: usize> = BoxView<'a, D, f32>;

/// Boxes in `f64`.
pub type Boxes64<'a, const D: usize> = BoxView<'a, D, f64>;

impl<'a, const D: usize, T: Scalar> BoxView<'a, D, T> {
    /// Boxes held as slices, vectors, arrays or columns: one column per axis for the lower corners, and one for the
    /// upper corners.
    #[must_use]
    pub fn new<C: Into<Column<'a, T>>>(lo: [C; D], hi: [C; D]) -> Self {
        Self::from_columns(lo.map(Into::into), hi.map(Into::into))
    }

    /// Boxes held in columns, one per axis. Each column is a slice or a [`Field`](super::Field) of the caller's
    /// structs, read in place.
    #[must_use]
    pub fn from_columns(lo: [Column<'a, T>; D], hi: [Column<'a, T>; D]) -> Self {
        Self { lo, hi, margin: T::default() }
    }

    /// Boxes in memory whose layout is given by numbers alone, as for
    /// [`Bodies::from_strided`](super::Bodies::from_strided): `lo` and `hi` are byte offsets from the beginning of
    /// `base`.
    ///
    /// # Errors
    /// [`ViewError::Stride`] when values would overlap, [`ViewError::Base`] when one would not end within `base`. O(D).
    pub fn from_strided<S: NoUninit>(
        base: &'a [S],
        count: usize,
        stride: usize,
        lo: [usize; D],
        hi: [usize; D],
    ) -> Result<Self, ViewError> {
        let memory = (base, count, stride);
        Ok(Self::from_columns(strided(memory, lo)?, strided(memory, hi)?))
    }

    /// The same boxes, each larger by `margin` on every side: `lo - margin` and `hi + margin` take the place of its
    /// corners.
    #[must_use]
    pub fn with_margin(self, margin: T) -> Self {
        Self { margin, ..self }
    }

    /// The margin, which is added on every side.
    #[inline]
    #[must_use]
    pub fn margin(&self) -> T {
        self.margin
    }

    /// Number of boxes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.lo[0].len()
    }

    /// True when there is no box.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns of the lower and of the upper corners, one per axis, without the margin.
    #[inline]
    #[must_use]
    pub fn corners(&self) -> [&[Column<'a, T>; D]; 2] {
        [&self.lo, &self.hi]
    }

    /// Both corners of box `id`, with the margin.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn grown(&self, id: usize) -> [[T; D]; 2] {
        [from_axes(|axis| self.lo[axis].get(id) - self.margin), from_axes(|axis| self.hi[axis].get(id) + self.margin)]
    }

    /// The lower corner of box `id`, without the margin.
    ///
    /// # Panics
    /// When `id` is out of bounds.
    #[inline]
    #[must_use]
    pub fn lo(&self, id: usize) -> [T; D] {
        from_axes(|axis| self.lo[axis].get(id))
    }

    /// The upper corner of box `id`, without the margin.
    ///
    /// # Panics
    /// When `id` is out of bounds.
    #[inline]
    #[must_use]
    pub fn hi(&self, id: usize) -> [T; D] {
        from_axes(|axis| self.hi[axis].get(id))
    }

    /// Checks the shape of the view: the lengths agree, ids can name all boxes, and the margin is finite and not
    /// negative.
    ///
    /// # Errors
    /// [`ViewError::Corners`], [`ViewError::TooMany`] or [`ViewError::Margin`]. O(D).
    pub fn check_shape(&self) -> Result<(), ViewError> {
        let bodies = self.len();
        if self.lo.iter().chain(&self.hi).any(|column| column.len() != bodies) {
            let lengths = |columns: &[Column<'_, T>; D]| columns.iter().map(Column::len).collect();
            return Err(ViewError::Corners { lower: lengths(&self.lo), upper: lengths(&self.hi) });
        }
        check_bodies_and_margin(bodies, self.margin.to_f64())
    }

    /// Returns what is wrong with a box, or `None`.
    #[doc(hidden)]
    #[must_use]
    pub fn fault(&self, id: usize) -> Option<Reason> {
        (0..D).find_map(|axis| {
            let (lo, hi) = (self.lo[axis].get(id).to_f64(), self.hi[axis].get(id).to_f64());
            let axis = axis as u8;
            if lo.is_nan() || hi.is_nan() || lo == f64::INFINITY || hi == f64::NEG_INFINITY {
                return Some(Reason::CornerNotNumber { axis });
            }
            (lo > hi).then_some(Reason::CornersSwapped { axis })
        })
    }
}

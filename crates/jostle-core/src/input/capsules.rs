//! Borrowed views of the caller's capsules.

use bytemuck::NoUninit;

use super::strided::{strided, strided_radii};
use super::{Column, Radii, RadiusField, Scalar, check_bodies_and_margin};
use crate::axes::Axes;
use crate::error::{Reason, ViewError};
use crate::limits::REACH_F64;

/// A borrowed view of n capsules with `D` axes: [`Capsules`] in `f32`, [`Capsules64`] in `f64`. A capsule holds all
/// points within a radius of the segment between its two ends. It may be as short as a point, and as thin as a line.
///
/// A view copies nothing, and checks nothing until it is used. The position of a capsule in the view is its *id*.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle::Capsules;
///
/// // A rod from (0, 0) to (4, 0), and a disc about (9, 9).
/// let rods = Capsules::new([&[0.0, 9.0], &[0.0, 9.0]], [&[4.0, 9.0], &[0.0, 9.0]], 0.5);
/// assert_eq!((rods.len(), rods.ends(0), rods.radius(1)), (2, [[0.0, 0.0], [4.0, 0.0]], 0.5));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CapsuleView<'a, const D: usize, T> {
    ends: [[Column<'a, T>; D]; 2],
    radii: Radii<'a, T>,
    margin: T,
}

/// Capsules in `f32`.
pub type Capsules<'a, const D: usize> = CapsuleView<'a, D, f32>;

/// Capsules in `f64`.
pub type Capsules64<'a, const D: usize> = CapsuleView<'a, D, f64>;

impl<'a, const D: usize, T: Scalar> CapsuleView<'a, D, T> {
    /// Capsules held as slices, vectors, arrays or columns: one column per axis for the first ends, one for the second
    /// ends, and one radius for all or one each.
    #[must_use]
    pub fn new<C: Into<Column<'a, T>>>(from: [C; D], to: [C; D], radii: impl Into<Radii<'a, T>>) -> Self {
        Self::from_columns(from.map(Into::into), to.map(Into::into), radii)
    }

    /// Capsules held in columns, one per axis. Each column is a slice or a [`Field`](super::Field) of the caller's
    /// structs, read in place.
    #[must_use]
    pub fn from_columns(from: [Column<'a, T>; D], to: [Column<'a, T>; D], radii: impl Into<Radii<'a, T>>) -> Self {
        Self { ends: [from, to], radii: radii.into(), margin: T::default() }
    }

    /// Capsules in memory whose layout is given by numbers alone, as for
    /// [`Bodies::from_strided`](super::Bodies::from_strided): `from`, `to` and `radius` are byte offsets from the
    /// beginning of `base`.
    ///
    /// # Errors
    /// [`ViewError::Stride`] when values would overlap, [`ViewError::Base`] when one would not end within `base`. O(D).
    pub fn from_strided<S: NoUninit>(
        base: &'a [S],
        count: usize,
        stride: usize,
        from: [usize; D],
        to: [usize; D],
        radius: RadiusField<T>,
    ) -> Result<Self, ViewError> {
        let memory = (base, count, stride);
        Ok(Self::from_columns(strided(memory, from)?, strided(memory, to)?, strided_radii(memory, radius)?))
    }

    /// The same capsules, each radius larger by `margin`.
    #[must_use]
    pub fn with_margin(self, margin: T) -> Self {
        Self { margin, ..self }
    }

    /// Number of capsules.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends[0][0].len()
    }

    /// True when there is no capsule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns of the first and of the second ends, one per axis.
    #[inline]
    #[must_use]
    pub fn columns(&self) -> [&[Column<'a, T>; D]; 2] {
        self.ends.each_ref()
    }

    /// The radii, without the margin.
    #[inline]
    #[must_use]
    pub fn radii(&self) -> Radii<'a, T> {
        self.radii
    }

    /// The margin, which is added to each radius.
    #[inline]
    #[must_use]
    pub fn margin(&self) -> T {
        self.margin
    }

    /// The two ends of capsule `id`.
    ///
    /// # Panics
    /// When `id` is out of bounds.
    #[inline]
    #[must_use]
    pub fn ends(&self, id: usize) -> [[T; D]; 2] {
        self.ends.axes(|columns| columns.axes(|column| column.get(id)))
    }

    /// The radius of capsule `id`, with the margin.
    ///
    /// # Panics
    /// When `id` is out of bounds.
    #[inline]
    #[must_use]
    pub fn radius(&self, id: usize) -> T {
        self.radii.get(id) + self.margin
    }

    /// Checks the shape of the view: the lengths agree, ids can name all capsules, and the margin is finite and not
    /// negative.
    ///
    /// # Errors
    /// [`ViewError::Ends`], [`ViewError::TooMany`] or [`ViewError::Margin`]. O(D).
    pub fn check_shape(&self) -> Result<(), ViewError> {
        let bodies = self.len();
        let radii = match self.radii {
            Radii::All(_) => bodies,
            Radii::Each(column) => column.len(),
        };
        if radii != bodies || self.ends.iter().flatten().any(|column| column.len() != bodies) {
            let lengths = |columns: &[Column<'_, T>; D]| columns.iter().map(Column::len).collect();
            return Err(ViewError::Ends { from: lengths(&self.ends[0]), to: lengths(&self.ends[1]), radii });
        }
        check_bodies_and_margin(bodies, self.margin.to_f64())
    }

    /// Returns what is wrong with a capsule, or `None`.
    #[doc(hidden)]
    #[must_use]
    pub fn fault(&self, id: usize) -> Option<Reason> {
        let (ends, given, radius) = (self.ends(id), self.radii.get(id).to_f64(), self.radius(id).to_f64());
        let on_axis = |fails: &dyn Fn(f64) -> bool| {
            (0..D).find(|&axis| ends.iter().any(|end| fails(end[axis].to_f64()))).map(|axis| axis as u8)
        };
        if let Some(axis) = on_axis(&|x| !x.is_finite()) {
            return Some(Reason::EndNotFinite { axis });
        }
        if !given.is_finite() {
            return Some(Reason::RadiusNotFinite);
        }
        if given < 0.0 {
            return Some(Reason::RadiusNegative);
        }
        on_axis(&|x| x.abs() + radius > REACH_F64).map(|axis| Reason::TooFar64 { axis })
    }
}

//! Views of memory as hosts in other languages hold it: a base, and the distance in bytes from one body to the next.

use bytemuck::{NoUninit, Pod};

use super::{Bodies, Column, Radii, RadiusField, Scalar};
use crate::error::ViewError;

impl<'a, T: Pod> Column<'a, T> {
    /// `count` values in memory: the first at byte `offset` of `base`, each `stride` bytes behind the one before.
    ///
    /// The values may lie between others, overlap with other columns of the same memory, and need not be aligned,
    /// neither by their offset nor by the stride. The stride of a single value is not looked at.
    ///
    /// ```
    /// # use jostle_core as jostle;
    /// use jostle::Column;
    ///
    /// let fortran = [1.0_f64, 2.0, 3.0, 10.0, 20.0, 30.0]; // x of three points, then y
    /// let [x, y] = [0, 24].map(|offset| Column::<f64>::from_strided(&fortran, 3, 8, offset));
    /// assert_eq!((x?.get(2), y?.get(2)), (3.0, 30.0));
    /// # Ok::<(), jostle::ViewError>(())
    /// ```
    ///
    /// # Errors
    /// [`ViewError::Stride`] when values would overlap, [`ViewError::Base`] when the last one would not end within
    /// `base`.
    pub fn from_strided<S: NoUninit>(
        base: &'a [S],
        count: usize,
        stride: usize,
        offset: usize,
    ) -> Result<Self, ViewError> {
        let (bytes, scalar) = (bytemuck::cast_slice(base), size_of::<T>());
        if count > 1 && stride < scalar {
            return Err(ViewError::Stride { stride, scalar });
        }
        let base = bytes.len();
        Self::of_bytes(bytes, offset, stride, count).ok_or(ViewError::Base { count, stride, offset, scalar, base })
    }
}

/// A column for each offset.
pub(super) fn strided<'a, S: NoUninit, T: Pod, const D: usize>(
    (base, count, stride): (&'a [S], usize, usize),
    offsets: [usize; D],
) -> Result<[Column<'a, T>; D], ViewError> {
    let mut columns = [Column::from(&[]); D];
    for (slot, offset) in columns.iter_mut().zip(offsets) {
        *slot = Column::from_strided(base, count, stride, offset)?;
    }
    Ok(columns)
}

/// The radii in the same memory, or one for all.
pub(super) fn strided_radii<'a, S: NoUninit, T: Pod>(
    (base, count, stride): (&'a [S], usize, usize),
    radius: RadiusField<T>,
) -> Result<Radii<'a, T>, ViewError> {
    match radius {
        RadiusField::At(offset) => Ok(Radii::Each(Column::from_strided(base, count, stride, offset)?)),
        RadiusField::All(radius) => Ok(Radii::All(radius)),
    }
}

impl<'a, const D: usize, T: Scalar> Bodies<'a, D, T> {
    /// Bodies in memory whose layout is given by numbers alone, as hosts in C, C++, Fortran or Python hold them:
    /// `count` bodies, each `stride` bytes behind the one before, read in place.
    ///
    /// `centers` and `radius` are byte offsets of values of type `T` from the beginning of `base`; they may exceed the
    /// stride. Nothing need be aligned. For radii in memory of their own, make a [`Column::from_strided`], and give it
    /// to [`Bodies::from_columns`] beside the columns of the centres.
    ///
    /// ```
    /// # use jostle_core as jostle;
    /// use jostle::{Circles64, RadiusField};
    ///
    /// // struct agent { double x, y; int64_t id; float speed, mass; }, as a C++ host lends it: std::slice::from_raw_parts
    /// // makes the slice of its pointer.
    /// let agents: [u64; 8] = [3.0_f64.to_bits(), 4.0_f64.to_bits(), 7, 0, 1.5_f64.to_bits(), 0.5_f64.to_bits(), 8, 0];
    /// let circles = Circles64::from_strided(&agents, 2, 32, [0, 8], RadiusField::All(0.25))?;
    /// assert_eq!([circles.center(0), circles.center(1)], [[3.0, 4.0], [1.5, 0.5]]);
    /// # Ok::<(), jostle::ViewError>(())
    /// ```
    ///
    /// # Errors
    /// [`ViewError::Stride`] when values would overlap, [`ViewError::Base`] when a value would not end within `base`,
    /// by overflow or not. O(D).
    pub fn from_strided<S: NoUninit>(
        base: &'a [S],
        count: usize,
        stride: usize,
        centers: [usize; D],
        radius: RadiusField<T>,
    ) -> Result<Self, ViewError> {
        let memory = (base, count, stride);
        Ok(Self::from_columns(strided(memory, centers)?, strided_radii(memory, radius)?))
    }
}

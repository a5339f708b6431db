//! Columns of the host's: a pointer, and the bytes from one value to the next.

use core::fmt::{self, Display};
use core::slice;
use std::ffi::c_void;

use bytemuck::Pod;
use engine::{Radii, Scalar, Values};

use crate::status::{Failure, Status};

/// One value of every body: a pointer to the first value, and the bytes from each value to the next. The stride of an
/// array of double is sizeof(double); that of a field of structs is the size of the struct. `double x[n][3]` is three
/// columns, at x[0], x[0] + 1 and x[0] + 2, each with the stride sizeof x[0].
///
/// Values need no alignment. While a call reads a column, nothing from its first value to its last may be written.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// The value of body 0. Null is allowed where there are no bodies, and where the field of this type says what null
    /// means.
    pub data: *const c_void,
    /// Bytes from one value to the next. 0: all bodies have the value at data (not for coordinates and displacements).
    /// A negative stride is refused.
    pub stride: isize,
}

/// A number in one of the two precisions.
pub(crate) trait Real: Scalar {
    /// Converts a parameter, which C gives in double.
    fn of(number: f64) -> Self;

    /// Converts a length, which must be finite in this precision and not negative.
    fn length(name: &str, length: f64) -> Result<Self, Failure> {
        let refuse = |message: fmt::Arguments<'_>| Err(Failure::new(Status::Parameter, message));
        if !length.is_finite() || length < 0.0 {
            return refuse(format_args!("the {name} is {length}: it must be finite and not negative; 0 for none"));
        }
        let rounded = Self::of(length);
        if rounded.to_f64().is_infinite() {
            return refuse(format_args!("the {name} {length:e} is too large for float: use JOSTLE_NUMBER_DOUBLE"));
        }
        Ok(rounded)
    }
}

impl Real for f32 {
    fn of(number: f64) -> Self {
        number as f32
    }
}

impl Real for f64 {
    fn of(number: f64) -> Self {
        number
    }
}

impl Column {
    /// The bytes from the first value to the last.
    ///
    /// # Safety
    /// The bytes are readable for as long as `'a`, if the pointer is not null.
    unsafe fn bytes<'a>(self, count: usize, value: usize, name: impl Display) -> Result<&'a [u8], Failure> {
        let Some(steps) = count.checked_sub(1) else { return Ok(&[]) };
        if self.data.is_null() {
            return Err(Failure::new(
                Status::NullPointer,
                format_args!("{name} is null, but there are {count} bodies"),
            ));
        }
        let refuse = |message: fmt::Arguments<'_>| Err(Failure::new(Status::Stride, message));
        let Ok(stride) = usize::try_from(self.stride) else {
            let stride = self.stride;
            return refuse(format_args!("{name} has the stride {stride}: begin at the other end, and reverse the ids"));
        };
        if steps > 0 && stride < value {
            return refuse(format_args!(
                "{name}: a stride of {stride} bytes lets values of {value} bytes overlap: it is the distance from one \
                 body to the next in bytes, not in values"
            ));
        }
        let len = steps.checked_mul(stride).and_then(|bytes| bytes.checked_add(value));
        let fits = |&bytes: &usize| bytes <= isize::MAX as usize && self.data.addr().checked_add(bytes).is_some();
        let Some(len) = len.filter(fits) else {
            let message = format_args!("{name}: {count} values {stride} bytes apart do not fit into memory");
            return Err(Failure::new(Status::Overflow, message));
        };
        // SAFETY: the range ends within memory, and is readable, as the caller says; bytes need no alignment.
        Ok(unsafe { slice::from_raw_parts(self.data.cast(), len) })
    }

    /// Lends the column to the engine.
    ///
    /// # Safety
    /// There are `count` values for as long as `'a`, if the pointer is not null.
    pub(crate) unsafe fn lend<'a, T: Pod>(
        self,
        count: usize,
        name: impl Display,
    ) -> Result<engine::Column<'a, T>, Failure> {
        // SAFETY: as the caller says.
        let bytes = unsafe { self.bytes(count, size_of::<T>(), &name) }?;
        Ok(engine::Column::from_strided(bytes, count, self.stride.unsigned_abs(), 0)?)
    }

    /// Returns the radii. All are 0 where the pointer is null.
    ///
    /// # Safety
    /// As for [`Column::lend`].
    pub(crate) unsafe fn radii<'a, T: Real>(self, count: usize) -> Result<Radii<'a, T>, Failure> {
        if self.data.is_null() {
            return Ok(Radii::All(T::of(0.0)));
        }
        if self.stride == 0 {
            // SAFETY: there is one value, as the caller says.
            return Ok(Radii::All(unsafe { self.data.cast::<T>().read_unaligned() }));
        }
        // SAFETY: as the caller says.
        Ok(Radii::Each(unsafe { self.lend(count, "radius") }?))
    }

    /// Returns integers. All are `absent` where the pointer is null.
    ///
    /// # Safety
    /// As for [`Column::lend`].
    pub(crate) unsafe fn integers<'a, T: Pod>(
        self,
        count: usize,
        absent: T,
        name: &str,
    ) -> Result<Values<'a, T>, Failure> {
        if self.data.is_null() {
            return Ok(Values::All(absent));
        }
        if self.stride == 0 {
            // SAFETY: there is one value, as the caller says.
            return Ok(Values::All(unsafe { self.data.cast::<T>().read_unaligned() }));
        }
        // SAFETY: as the caller says.
        Ok(Values::Each(unsafe { self.lend(count, name) }?))
    }
}

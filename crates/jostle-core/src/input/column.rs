//! One value of every body, read in place. A room of `unsafe`: reads of values at a fixed distance from each other.
#![allow(unsafe_code, reason = "fields of structs that have padding between them, which no slice of scalars may span")]

use core::fmt;
use core::marker::PhantomData;
use core::slice;

use bytemuck::Pod;

use crate::input::Scalar;

/// One value of every body: a slice, a field of each of the caller's structs ([`Field::of`](super::Field::of)), or
/// values at a fixed distance from each other ([`Column::from_strided`]).
#[derive(Clone, Copy)]
pub struct Column<'a, T = f32> {
    /// The value of the first body, aligned or not; dangling where there is no body.
    first: *const T,
    /// Bytes from one value to the next.
    stride: usize,
    /// The number of values that lie there, for as long as `'a` lasts.
    len: usize,
    borrowed: PhantomData<&'a [T]>,
}

// SAFETY: a column does what a `&[T]` does, which is Send where T is Sync.
unsafe impl<T: Sync> Send for Column<'_, T> {}

// SAFETY: as above.
unsafe impl<T: Sync> Sync for Column<'_, T> {}

impl<T> fmt::Debug for Column<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("len", &self.len).field("stride", &self.stride).finish_non_exhaustive()
    }
}

impl<'a, T> From<&'a [T]> for Column<'a, T> {
    fn from(values: &'a [T]) -> Self {
        Self { first: values.as_ptr(), stride: size_of::<T>(), len: values.len(), borrowed: PhantomData }
    }
}

impl<'a, T> From<&'a Vec<T>> for Column<'a, T> {
    fn from(values: &'a Vec<T>) -> Self {
        values.as_slice().into()
    }
}

impl<'a, T, const N: usize> From<&'a [T; N]> for Column<'a, T> {
    fn from(values: &'a [T; N]) -> Self {
        values.as_slice().into()
    }
}

/// Panics, for a body that the view does not have. A function apart from [`Column::get`], which is called for each body
/// and must stay small enough to be inlined.
#[cold]
#[inline(never)]
fn no_body(i: usize, len: usize) -> ! {
    panic!("no body {i}: the view is of {len} bodies");
}

impl<'a, T: Copy> Column<'a, T> {
    /// The field of each struct at byte `offset`, where all of them have one.
    pub(super) fn of_fields<S>(structs: &'a [S], offset: usize) -> Self {
        // A field lies within its struct, so the pointer stays within the structs; where there are none, nobody follows
        // it.
        let first = structs.as_ptr().wrapping_byte_add(offset).cast();
        Self { first, stride: size_of::<S>(), len: structs.len(), borrowed: PhantomData }
    }

    /// `len` values, the first at byte `offset`, each `stride` bytes behind the one before; `None` where the bytes end
    /// before the last value does.
    pub(super) fn of_bytes(bytes: &'a [u8], offset: usize, stride: usize, len: usize) -> Option<Self>
    where
        T: Pod,
    {
        let Some(steps) = len.checked_sub(1) else { return Some(Self::from(&[])) };
        let end = steps.checked_mul(stride)?.checked_add(offset)?.checked_add(size_of::<T>())?;
        let first = bytes.as_ptr().wrapping_add(offset).cast();
        (end <= bytes.len()).then_some(Self { first, stride, len, borrowed: PhantomData })
    }

    /// Number of bodies.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when there is no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value of body `i`.
    ///
    /// # Panics
    /// When `i >= self.len()`.
    #[inline]
    #[must_use]
    pub fn get(&self, i: usize) -> T {
        if i >= self.len {
            no_body(i, self.len);
        }
        // SAFETY: the maker of the column has lent, for 'a, `len` values at this distance, aligned or not, and `i` is
        // below `len`.
        unsafe { self.first.byte_add(i * self.stride).read_unaligned() }
    }

    /// Fills `out` with what `map` makes of the values of the bodies from number `first` on.
    ///
    /// # Panics
    /// When there are fewer than `first + out.len()` bodies.
    #[inline]
    pub fn map_into<U>(&self, first: usize, out: &mut [U], map: impl Fn(T) -> U) {
        if let Some(slice) = self.as_slice() {
            let values = &slice[first..first + out.len()];
            for at in 0..values.len() {
                out[at] = map(values[at]);
            }
        } else {
            let values = self.values(first, out.len());
            for (out, value) in out.iter_mut().zip(values) {
                *out = map(value);
            }
        }
    }

    /// Fills `out` with the values of the bodies from number `first` on.
    ///
    /// # Panics
    /// When there are fewer than `first + out.len()` bodies.
    // Inlined, the loop would be compiled once more, sixteen values at a time, wherever columns are read.
    #[inline(never)]
    pub fn copy_into(&self, first: usize, out: &mut [T]) {
        self.map_into(first, out, |value| value);
    }

    /// As [`Column::copy_into`], in `f64`.
    ///
    /// # Panics
    /// When there are fewer than `first + out.len()` bodies.
    #[inline(never)]
    pub fn read_in_double(&self, first: usize, out: &mut [f64])
    where
        T: Scalar,
    {
        self.map_into(first, out, T::to_f64);
    }

    /// As [`Column::read_in_double`], of values to each of which `more` is added before.
    ///
    /// # Panics
    /// When there are fewer than `first + out.len()` bodies.
    #[inline(never)]
    pub fn read_more_in_double(&self, more: T, first: usize, out: &mut [f64])
    where
        T: Scalar,
    {
        self.map_into(first, out, |value| (value + more).to_f64());
    }

    /// Returns the values of `count` bodies from number `first` on; the bounds are checked once for all.
    ///
    /// # Panics
    /// When there are fewer than `first + count` bodies.
    #[inline(always)]
    pub(crate) fn values(&self, first: usize, count: usize) -> impl Iterator<Item = T> + use<'a, T> {
        if count > self.len || first > self.len - count {
            no_body(first.saturating_add(count), self.len);
        }
        let (start, stride) = (self.first.wrapping_byte_add(first * self.stride), self.stride);
        // SAFETY: as in `get`; the check above covers all `count` values.
        (0..count).map(move |i| unsafe { start.byte_add(i * stride).read_unaligned() })
    }

    /// The whole column as one slice, when the values lie side by side and are aligned.
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> Option<&'a [T]> {
        if self.len == 0 {
            return Some(&[]);
        }
        let side_by_side = self.stride == size_of::<T>() && self.first.is_aligned();
        // SAFETY: as in `get`; at this distance nothing lies between the values, and they are aligned.
        side_by_side.then(|| unsafe { slice::from_raw_parts(self.first, self.len) })
    }
}

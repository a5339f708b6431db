//! One slice written by many tasks, each at places of its own. A room of `unsafe`: scatter and slot writes.
#![allow(unsafe_code, reason = "tasks write disjoint parts of one slice, which the borrow checker cannot see")]

use core::marker::PhantomData;
use core::ops::Range;

use crate::prefetch::prefetch_to_write;

/// A mutable slice that tasks share; they promise that no two touch the same element.
#[derive(Debug)]
pub struct Disjoint<'a, T> {
    start: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: the methods that reach an element are unsafe and demand that no other task touches it meanwhile.
unsafe impl<T: Send> Sync for Disjoint<'_, T> {}
// SAFETY: the type stands for a `&mut [T]`, which may be sent when `T` may.
unsafe impl<T: Send> Send for Disjoint<'_, T> {}

impl<'a, T> Disjoint<'a, T> {
    /// Shares a slice for as long as the value lives.
    pub fn new(slice: &'a mut [T]) -> Self {
        Self { start: slice.as_mut_ptr(), len: slice.len(), slice: PhantomData }
    }

    /// Number of elements.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a share in a slice, not a collection")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The elements of `range`.
    ///
    /// # Safety
    /// While the returned slice lives, no other reference to any element of `range` may be made.
    ///
    /// # Panics
    /// When `range` does not lie within the slice.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "the caller vouches for disjoint ranges")]
    pub unsafe fn range(&self, range: Range<usize>) -> &mut [T] {
        assert!(range.start <= range.end && range.end <= self.len, "range {range:?} outside a slice of {}", self.len);
        // SAFETY: in bounds by the assertion; exclusive by the caller's promise.
        unsafe { core::slice::from_raw_parts_mut(self.start.add(range.start), range.end - range.start) }
    }

    /// Returns where element `at` lies.
    ///
    /// # Safety
    /// `at` is below the length. No other task writes the element while it is read or written there.
    #[inline(always)]
    pub(crate) unsafe fn at(&self, at: usize) -> *mut T {
        debug_assert!(at < self.len);
        // SAFETY: in bounds by the caller's promise.
        unsafe { self.start.add(at) }
    }

    /// Writes element `at`.
    ///
    /// # Safety
    /// `at` is below the length, and no other task touches that element meanwhile.
    #[inline(always)]
    pub unsafe fn write(&self, at: usize, value: T) {
        debug_assert!(at < self.len);
        // SAFETY: in bounds and exclusive by the caller's promise.
        unsafe { self.start.add(at).write(value) }
    }

    /// Asks for the memory of element `at`, which will be written soon. `at` may lie past the end.
    #[inline(always)]
    pub fn prefetch(&self, at: usize) {
        prefetch_to_write(self.start.wrapping_add(at).cast_const().cast());
    }
}

//! Lists that begin a page of memory, for kernels that write sixteen lanes at a time and keep some of them.
//!
//! A store that lies in two pages takes ten times as long as one that lies in two lines of the cache (5.5 and 0.5 ns on
//! a Zen 5). Where a store appends only a few lanes, the next stores lie in both pages too. A list that an allocator
//! has put near the end of a page is slow for as long as the program runs: a search of 100,000 circles took 1.05 times
//! as long. A room of `unsafe`: a page is declared plain bytes by hand.
#![allow(unsafe_code, reason = "a type is said to be plain bytes")]

use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

use bytemuck::{Pod, Zeroable, cast_slice, cast_slice_mut};

#[derive(Debug, Clone, Copy)]
#[repr(C, align(4096))]
struct Page([u32; 1024]);

// SAFETY: numbers may have any bits, zeros too, and so many of them leave no padding in a page.
unsafe impl Zeroable for Page {}
// SAFETY: as above.
unsafe impl Pod for Page {}

const _: () = assert!(size_of::<Page>() == 4096);

/// A list that begins a page; it holds zeros at first.
#[derive(Debug, Default)]
pub struct Paged<T> {
    pages: Vec<Page>,
    len: usize,
    values: PhantomData<T>,
}

impl<T: Pod> Paged<T> {
    /// Returns a list of `len` zeros.
    ///
    /// # Panics
    /// When a list of that length does not fit in memory.
    #[must_use]
    pub fn zeros(len: usize) -> Self {
        let pages = len.checked_mul(size_of::<T>()).expect("a list that fits in memory").div_ceil(size_of::<Page>());
        Self { pages: vec![Page([0; 1024]); pages], len, values: PhantomData }
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.pages.capacity() * size_of::<Page>()
    }
}

impl<T: Pod> Deref for Paged<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &cast_slice(&self.pages)[..self.len]
    }
}

impl<T: Pod> DerefMut for Paged<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut cast_slice_mut(&mut self.pages)[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::Paged;
    use crate::sixteen::Floats;

    #[test]
    fn lists_begin_a_page_and_are_as_long_as_they_are_to_be() {
        for len in [0, 1, 1024, 1025, 5000] {
            let mut list = Paged::<u32>::zeros(len);
            assert!((list.as_ptr() as usize).is_multiple_of(4096));
            assert!(list.len() == len && list.iter().all(|&value| value == 0));
            assert_eq!(list.bytes(), (4 * len).next_multiple_of(4096));
            list.fill(7);
            assert_eq!(list.iter().sum::<u32>() as usize, 7 * len);
        }
        assert_eq!(Paged::<Floats>::zeros(65).len(), 65);
    }
}

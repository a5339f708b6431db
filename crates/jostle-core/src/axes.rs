//! Arrays of a number for each axis, and pairs.
//!
//! As `map` and `from_fn` of arrays, which the compiler makes four functions of wherever they are called, and is not sure to inline.

use bytemuck::Zeroable;

/// What is asked of each axis.
pub trait Axes<T, const N: usize> {
    /// The numbers that come of each.
    fn axes<U: Zeroable + Copy>(self, of: impl FnMut(T) -> U) -> [U; N];

    /// What comes of each, where that has no zero. The first is asked for by itself.
    fn each<U: Copy>(self, of: impl FnMut(T) -> U) -> [U; N];
}

impl<T: Copy, const N: usize> Axes<T, N> for [T; N] {
    #[inline(always)]
    fn axes<U: Zeroable + Copy>(self, mut of: impl FnMut(T) -> U) -> [U; N] {
        from_axes(|axis| of(self[axis]))
    }

    #[inline(always)]
    fn each<U: Copy>(self, mut of: impl FnMut(T) -> U) -> [U; N] {
        let (mut all, mut at) = ([of(self[0]); N], 1);
        while at < N {
            all[at] = of(self[at]);
            at += 1;
        }
        all
    }
}

/// The number of each axis.
#[inline(always)]
pub fn from_axes<U: Zeroable + Copy, const N: usize>(mut of: impl FnMut(usize) -> U) -> [U; N] {
    let (mut all, mut axis) = ([U::zeroed(); N], 0);
    while axis < N {
        all[axis] = of(axis);
        axis += 1;
    }
    all
}

/// Lists of each axis, to be written.
pub fn slices_mut<T, const N: usize>(lists: &mut [Vec<T>; N]) -> [&mut [T]; N] {
    lists.each_mut().map(Vec::as_mut_slice)
}

/// What is asked of two things.
pub trait Both<T> {
    /// What comes of the first, and of the second.
    fn both<U>(self, of: impl FnMut(T) -> U) -> [U; 2];
}

impl<T> Both<T> for [T; 2] {
    #[inline(always)]
    fn both<U>(self, mut of: impl FnMut(T) -> U) -> [U; 2] {
        let [first, second] = self;
        let first = of(first);
        [first, of(second)]
    }
}

//! Maps over arrays with a value for each axis, and over pairs.
//!
//! These functions do what `map` and `from_fn` of arrays do. The compiler makes four functions of each call of those,
//! and does not always inline them.

use bytemuck::Zeroable;

/// Maps an array axis by axis.
pub trait Axes<T, const N: usize> {
    /// Returns what `of` makes of the value of each axis.
    fn axes<U: Zeroable + Copy>(self, of: impl FnMut(T) -> U) -> [U; N];

    /// As [`Axes::axes`], for results without a zero: the first result fills the array until the others replace it.
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

/// Returns `of(axis)` for each axis.
#[inline(always)]
pub fn from_axes<U: Zeroable + Copy, const N: usize>(mut of: impl FnMut(usize) -> U) -> [U; N] {
    let (mut all, mut axis) = ([U::zeroed(); N], 0);
    while axis < N {
        all[axis] = of(axis);
        axis += 1;
    }
    all
}

/// Borrows the list of each axis as a mutable slice.
pub fn slices_mut<T, const N: usize>(lists: &mut [Vec<T>; N]) -> [&mut [T]; N] {
    lists.each_mut().map(Vec::as_mut_slice)
}

/// Maps a pair.
pub trait Both<T> {
    /// Returns what `of` makes of the first value, then of the second.
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

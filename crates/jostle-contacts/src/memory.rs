//! Lists that keep their memory from frame to frame.

use jostle_core::Workers;
use jostle_core::scratch::{fill_with_headroom, with_headroom};

/// Items that one task copies.
const COPIED_A_BLOCK: usize = 1 << 14;

/// Makes a list at least `len` long; if its memory must grow, it grows with headroom.
pub(crate) fn grow<T: Default>(list: &mut Vec<T>, len: usize) {
    if list.capacity() < len {
        list.reserve_exact(with_headroom(len) - list.len());
    }
    if list.len() < len {
        list.resize_with(len, T::default);
    }
}

/// Makes the list a copy of another.
pub(crate) fn keep<T: Copy + Default + Send + Sync>(list: &mut Vec<T>, from: &[T], workers: Workers<'_>) {
    fill_with_headroom(list, from.len(), T::default());
    workers.fill_blocks("keep", list, COPIED_A_BLOCK, |first, block| {
        block.copy_from_slice(&from[first..first + block.len()]);
    });
}

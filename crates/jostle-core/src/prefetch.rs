//! Prefetching: memory is asked for before it is needed. A room of `unsafe`: the instructions that ask.
#![allow(unsafe_code, reason = "the instructions that ask are unsafe functions, or assembly")]

/// The bytes of a line: memory is fetched line by line.
pub(crate) const LINE: usize = 64;

/// Asks for the line of memory at an address, whatever lies there; may do nothing.
#[inline(always)]
pub fn prefetch_at(_address: *const u8) {
    // SAFETY: asking for memory affects time alone, whatever the address.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(_address.cast());
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) _address, options(readonly, nostack, preserves_flags));
    }
}

/// Asks for the line of memory at an address, to write to it: no other core is to keep a copy. May do nothing.
#[inline(always)]
pub(crate) fn prefetch_to_write(_address: *const u8) {
    // SAFETY: as in `prefetch_at`; processors that do not know the instruction skip it.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) _address, options(readonly, nostack, preserves_flags));
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) _address, options(readonly, nostack, preserves_flags));
    }
}

/// Asks for all lines of memory of a value at an address, to write to it; may do nothing.
#[inline(always)]
pub(crate) fn prefetch_all_to_write<T>(address: *const T) {
    for at in (0..size_of::<T>()).step_by(LINE) {
        prefetch_to_write(address.cast::<u8>().wrapping_add(at));
    }
}

/// Asks for all lines of memory of a value; may do nothing.
#[inline(always)]
pub fn prefetch<T: ?Sized>(value: &T) {
    for at in (0..size_of_val(value)).step_by(LINE) {
        prefetch_at(core::ptr::from_ref(value).cast::<u8>().wrapping_add(at));
    }
}

/// Asks for all lines of memory of a value, to write to it; may do nothing.
#[inline(always)]
pub fn prefetch_mut<T: ?Sized>(value: &mut T) {
    for at in (0..size_of_val(value)).step_by(LINE) {
        prefetch_to_write(core::ptr::from_ref(value).cast::<u8>().wrapping_add(at));
    }
}

//! Memory asked for before it is wanted. A room of `unsafe`: instructions of their own.
#![allow(unsafe_code, reason = "the instructions that ask are unsafe functions, or assembly")]

/// Bytes that memory is fetched by.
pub(crate) const LINE: usize = 64;

/// Asks for the line of memory at an address, whatever lies there; may do nothing.
#[inline(always)]
pub fn prefetch_at(_address: *const u8) {
    // SAFETY: to ask for memory has no effect but on time, whatever the address.
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
    // SAFETY: as above; processors that do not know the instruction pass it over.
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

/// Asks for all lines of memory at an address that a value takes, to write to it; may do nothing.
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

/// The same, to write to it.
#[inline(always)]
pub fn prefetch_mut<T: ?Sized>(value: &mut T) {
    for at in (0..size_of_val(value)).step_by(LINE) {
        prefetch_to_write(core::ptr::from_ref(value).cast::<u8>().wrapping_add(at));
    }
}

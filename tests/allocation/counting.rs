//! An allocator that counts for the whole process, and refuses what is too large. A room of `unsafe`.
#![allow(unsafe_code, reason = "a counting allocator is an implementation of the unsafe trait GlobalAlloc")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

/// Bytes allocated and not freed, and the most since [`begin_peak`].
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Bytes that one allocation may have.
static MOST: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Counts an allocation of so many bytes, unless it is refused.
fn counted(bytes: usize) -> bool {
    let granted = bytes <= MOST.load(Ordering::Relaxed);
    if granted {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        PEAK.fetch_max(LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes, Ordering::Relaxed);
    }
    granted
}

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract, or answered by null.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !counted(layout.size()) {
            return null_mut();
        }
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`, and all memory came from `System`.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !counted(size) {
            return null_mut();
        }
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`, and all memory came from `System`.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations so far.
pub(crate) fn allocations() -> usize {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// Bytes allocated and not freed.
pub(crate) fn live() -> usize {
    LIVE.load(Ordering::Relaxed)
}

/// Begins to look for the most bytes that are allocated at a time, [`peak`].
pub(crate) fn begin_peak() {
    PEAK.store(live(), Ordering::Relaxed);
}

pub(crate) fn peak() -> usize {
    PEAK.load(Ordering::Relaxed)
}

/// Calls `work` while no allocation may have more than `most` bytes.
pub(crate) fn with_short_memory<R>(most: usize, work: impl FnOnce() -> R) -> R {
    MOST.store(most, Ordering::Relaxed);
    let done = work();
    MOST.store(usize::MAX, Ordering::Relaxed);
    done
}

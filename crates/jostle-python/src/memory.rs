//! Large pages for large vectors, where the system has such pages, as for numpy's arrays; and how much memory there is.
//! A room of `unsafe`: an allocator.
//!
//! A result lies in memory that nobody has touched yet. The vectors between the neighbours of 100,000 atoms take 100
//! MB. In pages of 4 KiB, the system hands out memory 25,000 times for these vectors, which takes longer than to find
//! them.
#![allow(unsafe_code, reason = "an allocator, and a question to the system")]

use std::alloc::{GlobalAlloc, Layout, System};

/// How many pairs a search may list unless told otherwise: as many as take a third of the machine's memory, since lists
/// grow twofold. Systems promise more memory than they have, and end a program that uses it.
pub(crate) fn pairs_by_memory() -> usize {
    #[cfg(unix)]
    {
        // SAFETY: it asks for two numbers.
        let [pages, bytes] = [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| unsafe { libc::sysconf(name) });
        match (usize::try_from(pages), usize::try_from(bytes)) {
            (Ok(pages), Ok(bytes)) if pages > 0 => pages.saturating_mul(bytes) / 3 / size_of::<[u32; 2]>(),
            _ => usize::MAX,
        }
    }
    #[cfg(not(unix))]
    usize::MAX
}

/// From so many bytes on, the allocator asks for large pages. Numpy asks for them from the same number on.
const LARGE: usize = 1 << 22;

#[global_allocator]
static ALLOCATOR: LargePages = LargePages;

/// The system's allocator, which also advises the system to use large pages.
struct LargePages;

/// Asks for large pages for all whole pages of some memory.
fn advise(memory: *mut u8, bytes: usize) {
    #[cfg(target_os = "linux")]
    if bytes >= LARGE && !memory.is_null() {
        const PAGE: usize = 4096;
        let skipped = memory.addr().next_multiple_of(PAGE) - memory.addr();
        let whole = (bytes - skipped) / PAGE * PAGE;
        // SAFETY: the memory was just handed out, and advice changes no byte of it. Whether the system takes the advice
        // does not matter.
        unsafe { libc::madvise(memory.wrapping_add(skipped).cast(), whole, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (memory, bytes);
}

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        let memory = unsafe { System.alloc(layout) };
        advise(memory, layout.size());
        memory
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller says.
        let memory = unsafe { System.alloc_zeroed(layout) };
        advise(memory, layout.size());
        memory
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller says.
        let memory = unsafe { System.realloc(memory, layout, size) };
        if size > layout.size() {
            advise(memory, size);
        }
        memory
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller says.
        unsafe { System.dealloc(memory, layout) }
    }
}

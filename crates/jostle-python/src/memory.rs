//! Large pages for large vectors, where the system has such pages, as for numpy's arrays; and how much memory there is.
//! A room of `unsafe`: an allocator.
//!
//! A result lies in memory that nobody has touched yet. The vectors between the neighbours of 100,000 atoms take 100
//! MB. In pages of 4 KiB, the system hands out memory 25,000 times for these vectors, which takes longer than to find
//! them.
#![allow(unsafe_code, reason = "an allocator, and a question to the system")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// How many entries of so many bytes a list may have unless told otherwise: as many as take a third of the memory that
/// there is, since lists grow twofold. Systems promise more memory than they have, and end a program that uses it.
pub(crate) fn entries_by_memory(bytes: usize) -> usize {
    static FOUND: OnceLock<[usize; 2]> = OnceLock::new();
    // What the process takes later may be the last list, whose memory the next one gets: it is not subtracted.
    let [given, taken] = *FOUND.get_or_init(|| [physical().min(of_groups(Path::new("/"))), addresses_taken()]);
    given.min(addresses().saturating_sub(taken)) / 3 / bytes.max(1)
}

/// The bytes of the machine's memory.
#[cfg(unix)]
fn physical() -> usize {
    // SAFETY: it asks for two numbers.
    let [pages, bytes] = [libc::_SC_PHYS_PAGES, libc::_SC_PAGESIZE].map(|name| unsafe { libc::sysconf(name) });
    match (usize::try_from(pages), usize::try_from(bytes)) {
        (Ok(pages), Ok(bytes)) if pages > 0 => pages.saturating_mul(bytes),
        _ => usize::MAX,
    }
}

/// The bytes of addresses that the process may take in all.
#[cfg(unix)]
fn addresses() -> usize {
    let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: it writes to `limit` alone.
    let told = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    if told && limit.rlim_cur != libc::RLIM_INFINITY {
        return usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX);
    }
    usize::MAX
}

#[cfg(not(unix))]
fn physical() -> usize {
    usize::MAX
}

#[cfg(not(unix))]
fn addresses() -> usize {
    usize::MAX
}

/// The bytes of addresses that the process has taken, where the system has a file that tells them.
fn addresses_taken() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split_whitespace().next()?.parse().ok());
    pages.map_or(0, |pages: usize| pages.saturating_mul(4096))
}

/// The bytes that the process's control groups and the groups above them may take, on a system whose files lie under
/// `root`. A line of `/proc/self/cgroup` is `0::/path` in the second version, `number:controllers:/path` in the first.
fn of_groups(root: &Path) -> usize {
    let limit_of = |line: &str| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let (top, limit) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                ("sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        let top = root.join(top);
        // In a container the path may be the one outside of it. A folder that is not there has no limit.
        let group = top.join(path.trim_start_matches('/'));
        let folders = group.ancestors().take_while(|folder| folder.starts_with(&top));
        folders.filter_map(|folder| fs::read_to_string(folder.join(limit)).ok()?.trim().parse().ok()).min()
    };
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    groups.lines().filter_map(limit_of).min().unwrap_or(usize::MAX)
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

//! Tells how many threads are worth calling: no more than the cores that the process may use, less those at work
//! already.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::available_parallelism;

use rayon::ThreadPool;

/// The most workers: each holds scratch memory and a kilobyte of stack, and a host may state too many.
pub(crate) const WORKERS_MAX: usize = 256;

/// Cores that the process may use; 0 while nobody has asked.
static CORES: AtomicUsize = AtomicUsize::new(0);

/// Whether [`assume`] has been called.
static ASSUMED: AtomicBool = AtomicBool::new(false);

/// Threads of rayon pools that are at work in a search.
static BUSY: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of cores that this process may use: affinity and cgroup limits count, as of the first call.
fn cores() -> usize {
    match CORES.load(Ordering::Relaxed) {
        0 => {
            let cores = available_parallelism().map_or(1, usize::from);
            CORES.store(cores, Ordering::Relaxed);
            cores
        }
        cores => cores,
    }
}

/// Assumes from now on that the process may use `cores` cores: for tests of more threads than the machine has cores,
/// and for programs that know better than their system.
pub fn assume(cores: usize) {
    ASSUMED.store(true, Ordering::Relaxed);
    CORES.store(cores.max(1), Ordering::Relaxed);
}

/// Returns the processor that this thread is on, where that is cheap to ask: by `sched_getcpu(3)` of the C library,
/// which the standard library brings. Returns `None` after [`assume`], when more threads than processors may take part.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "a function of the C library, which is safe to call")]
pub(crate) fn processor() -> Option<usize> {
    unsafe extern "C" {
        safe fn sched_getcpu() -> core::ffi::c_int;
    }
    if ASSUMED.load(Ordering::Relaxed) { None } else { usize::try_from(sched_getcpu()).ok() }
}

/// Returns `None`: on no system but Linux does the standard library bring a function for it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn processor() -> Option<usize> {
    None
}

/// Returns how many workers of a rayon pool, by default the current one, may run at once: its threads, or fewer where
/// the process may use fewer cores.
pub(crate) fn workers(pool: Option<&ThreadPool>) -> usize {
    let threads = pool.map_or_else(rayon::current_num_threads, ThreadPool::current_num_threads);
    threads.min(cores()).clamp(1, WORKERS_MAX)
}

/// Returns the number of cores that no search is at work on.
pub(crate) fn spare() -> usize {
    cores().saturating_sub(BUSY.load(Ordering::Relaxed))
}

/// Counts its thread as at work for as long as it lives.
#[derive(Debug)]
pub(crate) struct Busy(());

impl Busy {
    pub(crate) fn new() -> Self {
        BUSY.fetch_add(1, Ordering::Relaxed);
        Self(())
    }

    /// As [`Busy::new`], unless all cores are taken.
    pub(crate) fn if_spare() -> Option<Self> {
        let busy = Self::new();
        (BUSY.load(Ordering::Relaxed) <= cores()).then_some(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        BUSY.fetch_sub(1, Ordering::Relaxed);
    }
}

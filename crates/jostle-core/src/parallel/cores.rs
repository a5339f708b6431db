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

/// Returns the processor that this thread is on, where that is cheap to ask. Returns `None` after [`assume`], when more
/// threads than processors may take part.
pub(crate) fn processor() -> Option<usize> {
    if ASSUMED.load(Ordering::Relaxed) { None } else { linux::processor() }
}

/// Moves this thread to another processor than `from`, if it may run on another. Returns whether the system was asked to.
pub(crate) fn leave_processor(from: usize) -> bool {
    linux::leave(from)
}

/// What Linux knows of processors, by functions of the C library, which the standard library brings.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "functions of the C library")]
mod linux {
    use core::ffi::{c_int, c_ulong};

    /// Processors that the C library's `cpu_set_t` has a bit for, which this has the size of.
    const PROCESSORS: usize = 1024;
    const BITS: usize = c_ulong::BITS as usize;
    type Processors = [c_ulong; PROCESSORS / BITS];

    unsafe extern "C" {
        safe fn sched_getcpu() -> c_int;
        fn sched_getaffinity(thread: c_int, bytes: usize, processors: *mut Processors) -> c_int;
        fn sched_setaffinity(thread: c_int, bytes: usize, processors: *const Processors) -> c_int;
    }

    pub(super) fn processor() -> Option<usize> {
        usize::try_from(sched_getcpu()).ok()
    }

    /// The processors that this thread may run on.
    pub(super) fn allowed() -> Option<Processors> {
        let mut allowed = Processors::default();
        // SAFETY: the place is as long as is said; 0 is this thread.
        (unsafe { sched_getaffinity(0, size_of::<Processors>(), &raw mut allowed) } == 0).then_some(allowed)
    }

    fn allow(processors: &Processors) -> bool {
        // SAFETY: as above.
        unsafe { sched_setaffinity(0, size_of::<Processors>(), processors) == 0 }
    }

    /// Forbids this thread the processor for a moment, by which the system moves it at once. Whoever has said where the
    /// thread may run has the last word: nothing of that is changed.
    pub(super) fn leave(from: usize) -> bool {
        let Some(allowed) = allowed().filter(|_| from < PROCESSORS) else { return false };
        let mut others = allowed;
        others[from / BITS] &= !(1 << (from % BITS));
        others != Processors::default() && allow(&others) && allow(&allowed)
    }
}

/// On no system but Linux does the standard library bring functions for this.
#[cfg(not(target_os = "linux"))]
mod linux {
    pub(super) fn processor() -> Option<usize> {
        None
    }

    pub(super) fn leave(_from: usize) -> bool {
        false
    }
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{leave_processor, linux};

    #[test]
    fn a_thread_leaves_its_processor_and_may_run_where_it_might() {
        let allowed = linux::allowed().expect("Linux knows");
        let count = allowed.iter().map(|word| word.count_ones()).sum::<u32>();
        let leaves = |_| {
            let from = linux::processor().expect("Linux knows");
            let asked = leave_processor(from);
            assert_eq!(asked, count > 1);
            asked && linux::processor() != Some(from)
        };
        // The system may move it back at any time.
        assert_eq!((0..100).any(leaves), count > 1);
        assert_eq!(linux::allowed(), Some(allowed));
        assert!(!leave_processor(usize::MAX));
    }
}

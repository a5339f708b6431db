//! How many threads are worth calling: no more than the process may use cores, and those not at work already.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use rayon::ThreadPool;

/// Workers at most: each holds scratch memory and a kilobyte of stack, and a host may be mistaken.
pub(crate) const WORKERS_MAX: usize = 256;

/// Cores that the process may use; 0 while nobody has asked.
static CORES: AtomicUsize = AtomicUsize::new(0);

/// Threads of rayon pools that are at work in a search.
static BUSY: AtomicUsize = AtomicUsize::new(0);

/// Cores that this process may use: affinity and cgroup limits count, as of the first call.
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

/// Believes from now on that the process may use so many cores: for tests of more threads than the machine has cores, and
/// for programs that know better than their system.
pub fn assume(cores: usize) {
    CORES.store(cores.max(1), Ordering::Relaxed);
}

/// Workers of a rayon pool, by default the current one, that may run at once: its threads, or the cores where they are fewer.
pub(crate) fn workers(pool: Option<&ThreadPool>) -> usize {
    let threads = pool.map_or_else(rayon::current_num_threads, ThreadPool::current_num_threads);
    threads.min(cores()).clamp(1, WORKERS_MAX)
}

/// Cores that no search is at work on.
pub(crate) fn spare() -> usize {
    cores().saturating_sub(BUSY.load(Ordering::Relaxed))
}

/// While it lives, its thread counts as at work.
#[derive(Debug)]
pub(crate) struct Busy(());

impl Busy {
    pub(crate) fn new() -> Self {
        BUSY.fetch_add(1, Ordering::Relaxed);
        Self(())
    }

    /// Unless all cores are taken.
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

//! The tasks of a region, handed out to its workers.

use core::mem;
use core::ops::Range;

use crate::parallel::sync::{AtomicUsize, CachePadded, Ordering};
use crate::parallel::task::Task;

/// Shares that the tasks of a stage are cut into at first, at most: one for each of so many workers.
const SHARES: usize = 32;

/// The next of `0..end` that nobody has taken.
#[inline]
fn take(next: &AtomicUsize, end: usize) -> Option<usize> {
    // Looked at first, so that idle workers do not write to a line that others need.
    let left = next.load(Ordering::Relaxed) < end;
    left.then(|| next.fetch_add(1, Ordering::Relaxed)).filter(|&task| task < end)
}

/// Runs `work`; should it panic, `stop`, so that the others do no more for a result that nobody will see.
fn or_stop(work: impl FnOnce(), stop: impl Fn()) {
    struct Stop<F: Fn()>(F);
    impl<F: Fn()> Drop for Stop<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    let stop = Stop(stop);
    work();
    mem::forget(stop);
}

/// Tasks in ascending order, handed out in runs: what lies side by side is then read by one core, and need not be taken away from
/// others when it is written again.
pub(crate) struct InOrder {
    tasks: usize,
    workers: usize,
    next: AtomicUsize,
}

/// A run is as long as this part of what each worker has left to do, if it takes as much as the others.
const RUN: usize = 16;

impl InOrder {
    pub(crate) fn new(tasks: usize, workers: usize) -> Self {
        Self { tasks, workers, next: AtomicUsize::new(0) }
    }

    /// The next run that nobody has taken.
    fn take_run(&self) -> Option<Range<usize>> {
        let mut first = self.next.load(Ordering::Relaxed);
        while first < self.tasks {
            let end = first + ((self.tasks - first) / (RUN * self.workers)).max(1);
            match self.next.compare_exchange(first, end, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(first..end),
                Err(now) => first = now,
            }
        }
        None
    }

    /// Runs a worker with what is left.
    pub(crate) fn work_off(&self, worker: &(dyn Fn(&mut dyn Iterator<Item = usize>) + Sync)) {
        let mut left = core::iter::from_fn(|| self.take_run()).flatten();
        or_stop(|| worker(&mut left), || self.next.store(self.tasks, Ordering::Relaxed));
    }
}

/// Tasks cut into shares, of which each worker begins with one.
pub(crate) struct Shares {
    tasks: usize,
    shares: usize,
    /// The next task of each share.
    next: [CachePadded<AtomicUsize>; SHARES],
}

impl Shares {
    pub(crate) fn new(tasks: usize, workers: usize) -> Self {
        let shares = workers.min(tasks).min(SHARES);
        let next = |share| CachePadded::new(AtomicUsize::new(share * tasks / shares));
        Self { tasks, shares, next: core::array::from_fn(next) }
    }

    /// Runs the tasks of the worker's own share, then those that others have left.
    pub(crate) fn work_off(&self, worker: usize, task: &dyn Task<usize>) {
        let own = worker % self.shares;
        let work = || {
            for share in (own..self.shares).chain(0..own) {
                let end = (share + 1) * self.tasks / self.shares;
                while let Some(at) = take(&self.next[share], end) {
                    task.run(at);
                }
            }
        };
        or_stop(work, || self.next.iter().for_each(|next| next.store(self.tasks, Ordering::Relaxed)));
    }
}

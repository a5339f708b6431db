//! The tasks of a region, handed out to its workers.

use core::mem;

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

/// Tasks in ascending order.
pub(crate) struct InOrder {
    tasks: usize,
    next: AtomicUsize,
}

impl InOrder {
    pub(crate) fn new(tasks: usize) -> Self {
        Self { tasks, next: AtomicUsize::new(0) }
    }

    /// Runs a worker with what is left.
    pub(crate) fn work_off(&self, worker: &(dyn Fn(&mut dyn Iterator<Item = usize>) + Sync)) {
        let mut left = core::iter::from_fn(|| take(&self.next, self.tasks));
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

//! The tasks of a region, handed out to its workers.

use core::mem;
use core::ops::Range;

use crate::parallel::sync::{AtomicUsize, CachePadded, Ordering};
use crate::parallel::task::Task;

/// Shares that the tasks of a stage are cut into at first, at most: one for each of so many workers.
const SHARES: usize = 32;

/// Bodies up to which what a stage writes for each is still in some cache when the next one reads it. Two workers measured: twice as many
/// take a thirtieth longer where stages keep to shares (see docs/measurements.md).
pub(crate) const CACHED_BODIES: usize = 1 << 20;

/// Bodies of a share along a tree, at most: what comes out of one waits for those before it, and is to wait in a cache.
const BODIES: usize = 1 << 15;

/// Rounds of shares along a tree, at least: so that less has to wait.
const LEAST_ROUNDS: usize = 2;

/// Tasks of a stage as one worker gets them.
pub trait Tasks {
    /// The next one: of its own shares if there is one left, but if `first` the first that nobody has taken. And whether all before it have
    /// been taken, and none of them is this worker's to begin: so it may wait for them.
    fn next_task(&mut self, first: bool) -> Option<(usize, bool)>;
}

impl dyn Tasks + '_ {
    /// All that it gets, its own shares first.
    pub fn in_turn(&mut self) -> impl Iterator<Item = usize> {
        core::iter::from_fn(|| self.next_task(false).map(|(task, _)| task))
    }
}

impl<I: Iterator<Item = usize>> Tasks for I {
    fn next_task(&mut self, _first: bool) -> Option<(usize, bool)> {
        self.next().map(|task| (task, true))
    }
}

/// Workers that have shares of their own, and how many shares there are, where so many tasks lie along a tree of so many bodies; none where
/// those are more than caches hold.
pub(crate) fn shares_along(tasks: usize, bodies: usize, workers: usize) -> Option<(usize, usize)> {
    let workers = workers.min(SHARES);
    let rounds = bodies.div_ceil(BODIES * workers).max(LEAST_ROUNDS).min(SHARES / workers);
    (bodies <= CACHED_BODIES).then(|| (workers, (workers * rounds).min(tasks)))
}

/// The next of `0..end` that nobody has taken.
#[inline]
fn take(next: &AtomicUsize, end: usize) -> Option<usize> {
    // Looked at first, so that idle workers do not write to a line that others need.
    let left = next.load(Ordering::Relaxed) < end;
    left.then(|| next.fetch_add(1, Ordering::Relaxed)).filter(|&task| task < end)
}

/// The next run of `0..end` that nobody has taken: one of so many parts of what is left.
fn take_run(next: &AtomicUsize, end: usize, parts: usize) -> Option<Range<usize>> {
    let mut first = next.load(Ordering::Relaxed);
    while first < end {
        let to = first + ((end - first) / parts).max(1);
        match next.compare_exchange(first, to, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return Some(first..to),
            Err(now) => first = now,
        }
    }
    None
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

    /// Runs a worker with what is left.
    pub(crate) fn work_off(&self, worker: &(dyn Fn(&mut dyn Iterator<Item = usize>) + Sync)) {
        let mut left = core::iter::from_fn(|| take_run(&self.next, self.tasks, RUN * self.workers)).flatten();
        or_stop(|| worker(&mut left), || self.next.store(self.tasks, Ordering::Relaxed));
    }
}

/// Tasks cut into shares, of which each worker begins with its own.
pub(crate) struct Shares {
    tasks: usize,
    shares: usize,
    workers: usize,
    /// The next task of each share.
    next: [CachePadded<AtomicUsize>; SHARES],
}

impl Shares {
    /// One for each worker.
    pub(crate) fn new(tasks: usize, workers: usize) -> Self {
        let workers = workers.min(SHARES);
        Self::cut(tasks, (workers, workers.min(tasks)))
    }

    /// So many for so many workers, which have the same ones in every stage that is cut alike.
    pub(crate) fn cut(tasks: usize, (workers, shares): (usize, usize)) -> Self {
        let next = |share| CachePadded::new(AtomicUsize::new(share * tasks / shares));
        Self { tasks, shares, workers, next: core::array::from_fn(next) }
    }

    /// The shares of one worker, ascending.
    fn own(&self, worker: usize) -> impl Iterator<Item = usize> + use<> {
        (worker % self.workers..self.shares).step_by(self.workers)
    }

    /// The next task of a share, and its end.
    fn share(&self, share: usize) -> (&AtomicUsize, usize) {
        (&self.next[share], (share + 1) * self.tasks / self.shares)
    }

    /// Runs the tasks of the worker's own shares, then those that others have left.
    pub(crate) fn work_off(&self, worker: usize, task: &dyn Task<usize>) {
        let work = || {
            for share in (0..self.workers).flat_map(|others| self.own(worker % self.workers + others)) {
                let (next, end) = self.share(share);
                while let Some(at) = take(next, end) {
                    task.run(at);
                }
            }
        };
        or_stop(work, || self.stop());
    }

    /// Runs a worker with the tasks of its own shares, in runs, then with what others have left, from the first on.
    pub(crate) fn work_off_in_runs(&self, worker: usize, work: &(dyn Fn(&mut dyn Tasks) + Sync)) {
        let mut tasks = self.of_worker(worker);
        or_stop(|| work(&mut tasks), || self.stop());
    }

    fn of_worker(&self, worker: usize) -> OfWorker<'_> {
        OfWorker { shares: self, own: worker % self.workers, own_run: 0..0, first: 0, first_run: 0..0 }
    }

    fn stop(&self) {
        self.next.iter().for_each(|next| next.store(self.tasks, Ordering::Relaxed));
    }
}

/// The tasks that one worker has got, and what it may take.
struct OfWorker<'a> {
    shares: &'a Shares,
    /// Its share, and what it has taken of that.
    own: usize,
    own_run: Range<usize>,
    /// All shares before this one have been taken. What it has taken from there on.
    first: usize,
    first_run: Range<usize>,
}

impl OfWorker<'_> {
    /// The first task that nobody has taken, of the shares before some.
    fn take_first(&mut self, end: usize) -> Option<usize> {
        loop {
            if let Some(task) = self.first_run.next() {
                return Some(task);
            }
            if self.first >= end {
                return None;
            }
            let (next, end) = self.shares.share(self.first);
            match take_run(next, end, RUN) {
                Some(run) => self.first_run = run,
                None => self.first += 1,
            }
        }
    }

    fn take_own(&mut self) -> Option<usize> {
        loop {
            if let Some(task) = self.own_run.next() {
                return Some(task);
            }
            if self.own >= self.shares.shares {
                return None;
            }
            let (next, end) = self.shares.share(self.own);
            match take_run(next, end, RUN) {
                Some(run) => self.own_run = run,
                None => self.own += self.shares.workers,
            }
        }
    }
}

impl Tasks for OfWorker<'_> {
    fn next_task(&mut self, first: bool) -> Option<(usize, bool)> {
        // Those that it has taken out of turn are waited for.
        if first || !self.first_run.is_empty() {
            let task = self.take_first(self.own.min(self.shares.shares));
            if task.is_some() {
                return task.map(|task| (task, true));
            }
        }
        // Where the first were asked for, nobody is to begin one before.
        let own = self.take_own().map(|task| (task, first));
        own.or_else(|| self.take_first(self.shares.shares).map(|task| (task, true)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Shares, Tasks, shares_along};

    /// Workers of which another one goes on each time, some of which do not come before the others are done; who asks for the first tasks
    /// now and then. Each task is handed out once, and what is said of those before it holds.
    #[test]
    fn each_task_is_handed_out_once_and_those_before_it_are_known() {
        for (workers, tasks, bodies) in [(1, 5, 10), (2, 1, 9), (2, 113, 20_000), (3, 700, 200_000), (40, 900, 50_000)]
        {
            let shares = Shares::cut(tasks, shares_along(tasks, bodies, workers).expect("few bodies"));
            let (mut begun, mut state) = (vec![false; tasks], 1_u32);
            let mut hands: Vec<_> = (0..workers).map(|worker| shares.of_worker(worker)).collect();
            let mut at_work = vec![true; workers];
            for step in 0.. {
                state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
                let worker = (state >> 16) as usize % workers;
                if !at_work.contains(&true) {
                    break;
                }
                if worker == 0 && workers > 1 && step < 2 * tasks {
                    continue;
                }
                let Some((task, all_before)) = hands[worker].next_task(state >> 29 == 0) else {
                    at_work[worker] = false;
                    continue;
                };
                assert!(!std::mem::replace(&mut begun[task], true), "task {task} again");
                // What others have taken and not begun yet, they will begin without waiting for this one.
                let in_hand =
                    |at: &usize| hands.iter().any(|hand| hand.own_run.contains(at) || hand.first_run.contains(at));
                let free = |at: usize| !begun[at] && !in_hand(&at);
                assert!(
                    !all_before || !(0..task).any(free),
                    "task {task} of {tasks}: not all before it have been taken"
                );
                let own = |at: &usize| hands[worker].own_run.contains(at) || hands[worker].first_run.contains(at);
                assert!(!all_before || !(0..task).any(|at| own(&at)), "task {task}: it would wait for its own");
            }
            assert!(begun.iter().all(|&begun| begun), "{workers} workers left tasks of {tasks}");
        }
    }
}

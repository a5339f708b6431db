//! The tasks of a region, handed out to its workers.

use core::mem;
use core::ops::Range;

use crate::parallel::sync::{AtomicUsize, CachePadded, Ordering};
use crate::parallel::task::Task;

/// The most workers with shares of their own: further workers have the same shares as these.
const WORKERS: usize = 32;

/// The most bodies of a share along a tree. The output of a share waits until its place is known, and should wait in
/// the second-level cache.
const BODIES: usize = 1 << 14;

/// The fewest rounds of shares along a tree: more rounds let less wait.
const LEAST_ROUNDS: usize = 2;

/// The tasks of a stage, as one worker gets them.
pub trait Tasks {
    /// Returns the next task: one of the worker's own shares if one is left, but with `first` the first task that
    /// nobody has taken. The flag says whether all tasks before it have been taken, and none of them is this worker's
    /// to begin: then the worker may wait for them.
    fn next_task(&mut self, first: bool) -> Option<(usize, bool)>;

    /// Returns whether the last task that the worker got ends a share of its own, or is in none of its shares.
    fn ends_share(&self) -> bool;
}

impl dyn Tasks + '_ {
    /// Returns all tasks that the worker gets, its own shares first.
    pub fn in_turn(&mut self) -> impl Iterator<Item = usize> {
        core::iter::from_fn(|| self.next_task(false).map(|(task, _)| task))
    }
}

impl<I: Iterator<Item = usize>> Tasks for I {
    fn next_task(&mut self, _first: bool) -> Option<(usize, bool)> {
        self.next().map(|task| (task, true))
    }

    fn ends_share(&self) -> bool {
        true
    }
}

/// Returns how many workers have shares of their own, and how many shares there are, where `tasks` tasks lie along a
/// tree of `bodies` bodies.
pub(crate) fn shares_along(tasks: usize, bodies: usize, workers: usize) -> (usize, usize) {
    let workers = workers.clamp(1, WORKERS);
    let rounds = bodies.div_ceil(BODIES * workers).max(LEAST_ROUNDS);
    (workers, (workers * rounds).min(tasks))
}

/// Takes the next run of `0..end` that nobody has taken: one of `parts` parts of what is left.
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

/// Runs `work`, and `stop` if it panics, so that the other workers do no more for a result that nobody will see.
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

/// Tasks in ascending order, handed out in runs. One core then reads neighbouring memory, and need not take it away
/// from other cores to write it again.
pub(crate) struct InOrder {
    tasks: usize,
    workers: usize,
    next: AtomicUsize,
}

/// A run is one of this many parts of the tasks that a worker has left to do, if it takes as many as the others.
const RUN: usize = 16;

impl InOrder {
    pub(crate) fn new(tasks: usize, workers: usize) -> Self {
        Self { tasks, workers, next: AtomicUsize::new(0) }
    }

    /// Runs a worker with the tasks that are left.
    pub(crate) fn work_off(&self, worker: &(dyn Fn(&mut dyn Iterator<Item = usize>) + Sync)) {
        let mut left = core::iter::from_fn(|| take_run(&self.next, self.tasks, RUN * self.workers)).flatten();
        or_stop(|| worker(&mut left), || self.next.store(self.tasks, Ordering::Relaxed));
    }
}

/// Returns the first task of a share; the number of all tasks, for a share behind the last.
fn start_of(share: usize, (tasks, shares): (usize, usize)) -> usize {
    share.min(shares) * tasks / shares
}

/// Tasks cut into shares. The workers have the shares in turn, and each begins with its own.
pub(crate) struct Shares {
    tasks: usize,
    shares: usize,
    workers: usize,
    /// For each worker, the first task of its shares that nobody has taken; the end of its shares or beyond, when none
    /// is left.
    next: [CachePadded<AtomicUsize>; WORKERS],
}

impl Shares {
    /// Cuts tasks into one share for each worker.
    pub(crate) fn new(tasks: usize, workers: usize) -> Self {
        let workers = workers.min(WORKERS);
        Self::cut(tasks, (workers, workers))
    }

    /// Cuts tasks into `shares` shares for `workers` workers, which have the same shares in every stage that is cut
    /// alike.
    pub(crate) fn cut(tasks: usize, (workers, shares): (usize, usize)) -> Self {
        let next = |worker| CachePadded::new(AtomicUsize::new(start_of(worker, (tasks, shares))));
        Self { tasks, shares, workers, next: core::array::from_fn(next) }
    }

    /// The first task of a share.
    fn start_of(&self, share: usize) -> usize {
        start_of(share, (self.tasks, self.shares))
    }

    /// The share that a task is in.
    fn share_of(&self, task: usize) -> usize {
        ((task + 1) * self.shares - 1) / self.tasks
    }

    /// Runs the tasks of the worker's own share, then the tasks that others have left. Each worker has one share.
    pub(crate) fn work_off(&self, worker: usize, task: &dyn Task<usize>) {
        let work = || {
            for share in (0..self.workers).map(|others| (worker % self.workers + others) % self.workers) {
                let (next, end) = (&self.next[share], self.start_of(share + 1));
                // `next` is looked at first, so that idle workers do not write to a line that others need.
                while next.load(Ordering::Relaxed) < end {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at < end {
                        task.run(at);
                    }
                }
            }
        };
        or_stop(work, || self.stop());
    }

    /// Runs a worker with the tasks of its own shares, in runs, then with the tasks that others have left, from the
    /// first on.
    pub(crate) fn work_off_in_runs(&self, worker: usize, work: &(dyn Fn(&mut dyn Tasks) + Sync)) {
        let mut tasks = self.of_worker(worker);
        or_stop(|| work(&mut tasks), || self.stop());
    }

    fn of_worker(&self, worker: usize) -> OfWorker<'_> {
        let own = worker % self.workers;
        OfWorker { shares: self, own, own_run: 0..0, is_last_run: false, first_run: 0..0, ends_share: false }
    }

    /// Takes a run of one share: the next tasks of `worker`, if they begin with `first`. Returns the run, and whether
    /// it ends the share; else, as an error, the task that the worker's next tasks begin with.
    fn take_run(&self, worker: usize, first: usize) -> Result<(Range<usize>, bool), usize> {
        let share = self.share_of(first);
        let end = self.start_of(share + 1);
        let to = first + ((end - first) / RUN).max(1);
        let next = if to == end { self.start_of(share + self.workers) } else { to };
        self.next[worker]
            .compare_exchange(first, next, Ordering::Relaxed, Ordering::Relaxed)
            .map(|_| (first..to, to == end))
    }

    /// Returns the first task that nobody has taken, and the worker whose share it is in.
    fn first(&self) -> (usize, usize) {
        let next = |worker: usize| (self.next[worker].load(Ordering::Relaxed), worker);
        (0..self.workers).map(next).min().unwrap_or((self.tasks, 0))
    }

    fn stop(&self) {
        self.next.iter().for_each(|next| next.store(self.tasks, Ordering::Relaxed));
    }
}

/// The tasks that one worker has taken, of its own shares and from the first on.
struct OfWorker<'a> {
    shares: &'a Shares,
    own: usize,
    own_run: Range<usize>,
    /// Whether `own_run` is the last of a share.
    is_last_run: bool,
    first_run: Range<usize>,
    ends_share: bool,
}

impl OfWorker<'_> {
    /// Takes the first task that nobody has taken, if it comes before `end`.
    fn take_first(&mut self, end: usize) -> Option<usize> {
        while self.first_run.is_empty() {
            let (first, worker) = self.shares.first();
            if first >= end {
                return None;
            }
            if let Ok((run, _)) = self.shares.take_run(worker, first) {
                self.first_run = run;
            }
        }
        self.ends_share = true;
        self.first_run.next()
    }

    fn take_own(&mut self) -> Option<usize> {
        let mut first = self.next_own();
        while self.own_run.is_empty() {
            if first >= self.shares.tasks {
                return None;
            }
            match self.shares.take_run(self.own, first) {
                Ok(run) => (self.own_run, self.is_last_run) = run,
                Err(now) => first = now,
            }
        }
        let task = self.own_run.next();
        self.ends_share = self.is_last_run && self.own_run.is_empty();
        task
    }

    /// Returns the next task of the worker's own shares.
    fn next_own(&self) -> usize {
        let next = || self.shares.next[self.own].load(Ordering::Relaxed);
        if self.own_run.is_empty() { next() } else { self.own_run.start }
    }
}

impl Tasks for OfWorker<'_> {
    fn next_task(&mut self, first: bool) -> Option<(usize, bool)> {
        // Other workers wait for the tasks that this one has taken out of turn.
        if first || !self.first_run.is_empty() {
            let task = self.take_first(self.next_own());
            if task.is_some() {
                return task.map(|task| (task, true));
            }
        }
        // Where the first task was asked for, the flag is set if all tasks before this one have been taken. None of
        // them is left for this worker to begin: its `first_run` is empty, and its own tasks ascend.
        let own = self.take_own().map(|task| (task, first && self.shares.first().0 > task));
        own.or_else(|| self.take_first(self.shares.tasks).map(|task| (task, true)))
    }

    fn ends_share(&self) -> bool {
        self.ends_share
    }
}

#[cfg(test)]
mod tests {
    use super::{Shares, Tasks, shares_along};

    /// Another worker goes on each time. One of them does not come before the others are done, and all ask for the
    /// first task now and then. Each task is handed out once, and the flag about the tasks before it holds.
    #[test]
    fn each_task_is_handed_out_once_and_those_before_it_are_known() {
        for (workers, tasks, bodies) in
            [(1, 5, 10), (2, 1, 9), (2, 113, 20_000), (3, 700, 200_000), (7, 1_999, 1_000_000), (40, 900, 50_000)]
        {
            let shares = Shares::cut(tasks, shares_along(tasks, bodies, workers));
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
                let share = |task| shares.share_of(task);
                assert!(hands[worker].ends_share() || share(task + 1) == share(task), "task {task} ends a share");
                // Tasks that others have taken and not begun yet, they will begin without waiting for this one.
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

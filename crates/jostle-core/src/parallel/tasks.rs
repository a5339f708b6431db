//! The tasks of a region, handed out to its workers.

use core::mem;
use core::ops::Range;

use crate::parallel::sync::{AtomicUsize, CachePadded, Ordering};
use crate::parallel::task::Task;

/// Workers that have shares of their own, at most: more have the same ones as these.
const WORKERS: usize = 32;

/// Bodies of a share along a tree, at most: what is made of one waits, until it is known where it goes, and is to wait in the second-level cache.
const BODIES: usize = 1 << 14;

/// Rounds of shares along a tree, at least: so that less has to wait.
const LEAST_ROUNDS: usize = 2;

/// Tasks of a stage as one worker gets them.
pub trait Tasks {
    /// The next one: of its own shares if there is one left, but if `first` the first that nobody has taken. And whether all before it have
    /// been taken, and none of them is this worker's to begin: so it may wait for them.
    fn next_task(&mut self, first: bool) -> Option<(usize, bool)>;

    /// Whether the last one that it got ends a share of its own, or is of none.
    fn ends_share(&self) -> bool;
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

    fn ends_share(&self) -> bool {
        true
    }
}

/// Workers that have shares of their own, and how many shares there are, where so many tasks lie along a tree of so many bodies.
pub(crate) fn shares_along(tasks: usize, bodies: usize, workers: usize) -> (usize, usize) {
    let workers = workers.clamp(1, WORKERS);
    let rounds = bodies.div_ceil(BODIES * workers).max(LEAST_ROUNDS);
    (workers, (workers * rounds).min(tasks))
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

/// The first task of a share; of one behind the last, the number of all.
fn start_of(share: usize, (tasks, shares): (usize, usize)) -> usize {
    share.min(shares) * tasks / shares
}

/// Tasks cut into shares, which workers have in turn: each begins with its own.
pub(crate) struct Shares {
    tasks: usize,
    shares: usize,
    workers: usize,
    /// Of each worker, the first task of its shares that nobody has taken, or the end of them or beyond it.
    next: [CachePadded<AtomicUsize>; WORKERS],
}

impl Shares {
    /// One for each worker.
    pub(crate) fn new(tasks: usize, workers: usize) -> Self {
        let workers = workers.min(WORKERS);
        Self::cut(tasks, (workers, workers))
    }

    /// So many for so many workers, which have the same ones in every stage that is cut alike.
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

    /// Runs the tasks of the worker's own share, then those that others have left; each worker has one.
    pub(crate) fn work_off(&self, worker: usize, task: &dyn Task<usize>) {
        let work = || {
            for share in (0..self.workers).map(|others| (worker % self.workers + others) % self.workers) {
                let (next, end) = (&self.next[share], self.start_of(share + 1));
                // Looked at first, so that idle workers do not write to a line that others need.
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

    /// Runs a worker with the tasks of its own shares, in runs, then with what others have left, from the first on.
    pub(crate) fn work_off_in_runs(&self, worker: usize, work: &(dyn Fn(&mut dyn Tasks) + Sync)) {
        let mut tasks = self.of_worker(worker);
        or_stop(|| work(&mut tasks), || self.stop());
    }

    fn of_worker(&self, worker: usize) -> OfWorker<'_> {
        let own = worker % self.workers;
        OfWorker { shares: self, own, own_run: 0..0, is_last_run: false, first_run: 0..0, ends_share: false }
    }

    /// Takes a run of one share: the next tasks of a worker's, if they begin with `first`, and whether they are its last. Else the one they
    /// begin with.
    fn take_run(&self, worker: usize, first: usize) -> Result<(Range<usize>, bool), usize> {
        let share = self.share_of(first);
        let end = self.start_of(share + 1);
        let to = first + ((end - first) / RUN).max(1);
        let next = if to == end { self.start_of(share + self.workers) } else { to };
        self.next[worker]
            .compare_exchange(first, next, Ordering::Relaxed, Ordering::Relaxed)
            .map(|_| (first..to, to == end))
    }

    /// The first task that nobody has taken, and whose share it is in.
    fn first(&self) -> (usize, usize) {
        let next = |worker: usize| (self.next[worker].load(Ordering::Relaxed), worker);
        (0..self.workers).map(next).min().unwrap_or((self.tasks, 0))
    }

    fn stop(&self) {
        self.next.iter().for_each(|next| next.store(self.tasks, Ordering::Relaxed));
    }
}

/// The tasks that one worker has got, of its own shares and from the first on.
struct OfWorker<'a> {
    shares: &'a Shares,
    own: usize,
    own_run: Range<usize>,
    /// The run of its own is the last of a share.
    is_last_run: bool,
    first_run: Range<usize>,
    ends_share: bool,
}

impl OfWorker<'_> {
    /// The first task that nobody has taken, if it comes before this one.
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

    /// The next task of its own shares.
    fn next_own(&self) -> usize {
        let next = || self.shares.next[self.own].load(Ordering::Relaxed);
        if self.own_run.is_empty() { next() } else { self.own_run.start }
    }
}

impl Tasks for OfWorker<'_> {
    fn next_task(&mut self, first: bool) -> Option<(usize, bool)> {
        // Those that it has taken out of turn are waited for.
        if first || !self.first_run.is_empty() {
            let task = self.take_first(self.next_own());
            if task.is_some() {
                return task.map(|task| (task, true));
            }
        }
        // Where the first were asked for, nobody may be to begin one before.
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

    /// Workers of which another one goes on each time, some of which do not come before the others are done; who asks for the first tasks
    /// now and then. Each task is handed out once, and what is said of those before it holds.
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

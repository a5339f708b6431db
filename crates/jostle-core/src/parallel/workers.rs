//! The threads that run the tasks of a stage. Work is cut by its size alone, or also by the number of workers where the
//! output does not show it, so every choice gives the same bytes.

use rayon::ThreadPool;

use crate::parallel::disjoint::Disjoint;
use crate::parallel::host::{self, Spawner};
use crate::parallel::recording::Recording;
use crate::parallel::task::Task;
use crate::parallel::tasks::{InOrder, Shares, Tasks, shares_along};
use crate::parallel::{callers, cores, recording, team};

/// The threads that run the tasks of a stage.
#[derive(Debug, Clone, Copy, Default)]
pub enum Workers<'a> {
    /// The calling thread, task after task.
    #[default]
    Serial,
    /// The rayon pool that the call is made in; from outside of any pool, the calling thread and the global pool.
    Rayon,
    /// The calling thread and this pool; in a call from within the pool, as [`Workers::Rayon`].
    Pool(&'a ThreadPool),
    /// Threads of the host.
    Host(&'a dyn Spawner),
    /// The calling thread alone, task after task, as several threads would work: for [`record`](crate::record).
    Recorded,
}

/// Runs a computation on the calling thread as several threads would work, and returns how long each task took.
/// Recordings do not nest: the inner one ends the outer.
///
/// ```
/// use jostle_core::{Circles, LinearTree, record};
/// let mut tree = LinearTree::<2>::new();
/// let x: Vec<f32> = (0..100_000).map(|i| i as f32).collect();
/// let (built, recording) = record(|workers| tree.build_on(Circles::new(&x, &x, 1.0), workers));
/// assert!(built.is_ok());
/// assert!(recording.makespan(16) <= recording.makespan(1));
/// ```
pub fn record<R>(computation: impl FnOnce(Workers<'static>) -> R) -> (R, Recording) {
    recording::recorded(|| computation(Workers::Recorded))
}

impl<'a> Workers<'a> {
    /// The current rayon pool, or the calling thread when that pool has but one thread, or the process but one core.
    #[must_use]
    pub fn current() -> Self {
        if cores::workers(None) > 1 { Self::Rayon } else { Self::Serial }
    }

    /// The calling thread and this pool, or the calling thread alone when the pool has but one thread, or the process
    /// but one core.
    #[must_use]
    pub fn of_pool(pool: &'a ThreadPool) -> Self {
        if cores::workers(Some(pool)) > 1 { Self::Pool(pool) } else { Self::Serial }
    }

    /// The host's threads, or the calling thread when the host has but one worker.
    #[must_use]
    pub fn of(host: &'a dyn Spawner) -> Self {
        if host.workers() > 1 { Self::Host(host) } else { Self::Serial }
    }

    /// The number of tasks that may run at once: no more than the process may use cores, since a thread that waits for
    /// a core keeps others waiting.
    #[must_use]
    pub fn count(self) -> usize {
        match self {
            Self::Serial | Self::Recorded => 1,
            Self::Rayon | Self::Pool(_) => cores::workers(self.pool()),
            Self::Host(host) => host::workers(host),
        }
    }

    /// Whether the calling thread does all tasks: then atomic operations need not be locked. [`Workers::count`] does not
    /// tell, since a host's answers may differ.
    #[must_use]
    pub fn is_alone(self) -> bool {
        matches!(self, Self::Serial | Self::Recorded)
    }

    /// The pool of [`Workers::Pool`].
    fn pool(self) -> Option<&'a ThreadPool> {
        if let Self::Pool(pool) = self { Some(pool) } else { None }
    }

    /// Runs a computation of several regions, and keeps its threads standing by from the first to the last: a thread
    /// that sleeps between regions takes longer to wake than many a region lasts. Between regions, a host's threads are
    /// its own affair.
    pub fn together<R: Send>(self, computation: impl FnOnce() -> R + Send) -> R {
        match self {
            Self::Serial | Self::Recorded | Self::Host(_) => computation(),
            Self::Rayon | Self::Pool(_) => team::together(self.pool(), computation),
        }
    }

    /// Runs `task(0)`, ..., `task(tasks - 1)`, each once, in any order, and returns when all have ended. `name` is what
    /// recordings call this region.
    ///
    /// Each worker begins with a share of its own, the same one in every region with as many tasks, so that it finds in
    /// its cache what it wrote there. Then it helps the others.
    ///
    /// # Panics
    /// When a task panics.
    #[inline]
    pub fn run(self, name: &'static str, tasks: usize, task: impl Fn(usize) + Sync + Send) {
        self.run_each(name, tasks, &task);
    }

    /// As [`Workers::run`], with a trait object, so that each task is compiled once and not for each way to run it.
    fn run_each(self, name: &'static str, tasks: usize, task: &dyn Task<usize>) {
        let at_once = self.count().min(tasks);
        match self {
            Self::Recorded => recording::region(name, tasks, |tasks| tasks.for_each(|at| task.run(at))),
            _ if at_once <= 1 => (0..tasks).for_each(|at| task.run(at)),
            _ => {
                let shares = Shares::new(tasks, at_once);
                self.on_all(at_once, &|worker| shares.work_off(worker, task));
            }
        }
    }

    /// Runs `worker` on as many threads as there are, and hands out each task of `0..tasks` once; returns when all
    /// workers have ended.
    ///
    /// In a stage that goes through a tree of `bodies` bodies, each worker begins with the shares that it has in every
    /// such stage (see [`Workers::shares`]), in ascending order. Then it helps the others, beginning with the first
    /// task that is left. Where `bodies` is `None`, all tasks are handed out in ascending order.
    ///
    /// So a worker finds in its cache what it has written. Others have read little of that, so the worker can write
    /// there again without taking lines away from them, which takes several times as long.
    ///
    /// # Panics
    /// When a worker panics.
    pub fn run_in_shares(
        self,
        name: &'static str,
        (tasks, bodies): (usize, Option<usize>),
        worker: impl Fn(&mut dyn Tasks) + Sync,
    ) {
        self.run_each_of_tree(name, (tasks, bodies), &worker);
    }

    /// Returns how many shares there are in a stage that goes through a tree of `bodies` bodies.
    #[must_use]
    pub fn shares(self, tasks: usize, bodies: usize) -> usize {
        match self.count() {
            1 => 1,
            workers => shares_along(tasks, bodies, workers).1.max(1),
        }
    }

    fn run_each_of_tree(
        self,
        name: &'static str,
        (tasks, bodies): (usize, Option<usize>),
        worker: &(dyn Fn(&mut dyn Tasks) + Sync),
    ) {
        let at_once = self.count().min(tasks);
        match (self, bodies) {
            (Self::Recorded, _) => recording::region(name, tasks, |mut tasks| worker(&mut tasks)),
            _ if at_once <= 1 => worker(&mut (0..tasks)),
            (_, Some(bodies)) => {
                let shares = Shares::cut(tasks, shares_along(tasks, bodies, self.count()));
                self.on_all(at_once, &|number| shares.work_off_in_runs(number, worker));
            }
            (_, None) => {
                let tasks = InOrder::new(tasks, at_once);
                self.on_all(at_once, &|_| tasks.work_off(&|mut tasks| worker(&mut tasks)));
            }
        }
    }

    /// Runs `stage`; `callers` says whether the caller's functions run in its regions (see the module `callers`).
    pub fn run_callers<R>(self, callers: bool, stage: impl FnOnce() -> R) -> R {
        callers::run_with(callers, stage)
    }

    /// Runs `worker` on as many threads as help, `workers` of them at most, each with a number of its own.
    fn on_all(self, workers: usize, worker: &(dyn Fn(usize) + Sync)) {
        match self {
            Self::Serial | Self::Recorded => worker(0),
            Self::Rayon | Self::Pool(_) => {
                let (pool, callers) = (self.pool(), callers::running());
                // In a pool of no more threads than may help, each thread has the same number in every search, so that
                // it finds in its cache what it wrote in the last one. A leader from outside has number 0; then the
                // pool's first thread, which may come or not, gets any number.
                let threads = pool.map_or_else(rayon::current_num_threads, ThreadPool::current_num_threads);
                let (all, outside) = (threads <= self.count(), team::is_outside(pool));
                let own = |number: usize| match rayon::current_thread_index() {
                    Some(index) if all && (!outside || (number > 0 && index > 0)) => index,
                    _ => number,
                };
                let worker = |number| callers::run_with(callers, || worker(own(number)));
                team::together(pool, || team::region(workers, &worker));
            }
            Self::Host(host) => host::region(host, workers, worker),
        }
    }

    /// Sets every slot of `slots` to `value(index)`, one task per slot.
    #[allow(unsafe_code, reason = "each task sets a slot of its own")]
    pub(crate) fn fill<T: Copy + Send>(
        self,
        name: &'static str,
        slots: &mut [T],
        value: impl Fn(usize) -> T + Sync + Send,
    ) {
        let len = slots.len();
        let slots = Disjoint::new(slots);
        // SAFETY: `slot` is below the length, and in this task alone.
        self.run(name, len, |slot| unsafe { slots.write(slot, value(slot)) });
    }
}

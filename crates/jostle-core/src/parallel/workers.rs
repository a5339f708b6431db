//! The threads that run the tasks of a stage. Work is cut by its size alone, so every choice gives the same bytes.

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
    /// The rayon pool that the call is made in; from outside of any, the calling thread and the global pool.
    Rayon,
    /// The calling thread, and this pool; from within it, as [`Workers::Rayon`].
    Pool(&'a ThreadPool),
    /// Threads of the host.
    Host(&'a dyn Spawner),
    /// What several threads would do, on the calling thread, task after task: for [`record`](crate::record).
    Recorded,
}

/// Runs a computation with workers that do, on the calling thread, what several threads would, and tells how long each
/// task took. Recordings do not nest: the inner one ends the outer.
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
    /// The current rayon pool, or the calling thread when that pool has but one thread, or the process one core.
    #[must_use]
    pub fn current() -> Self {
        if cores::workers(None) > 1 { Self::Rayon } else { Self::Serial }
    }

    /// The calling thread and this pool, or that thread alone when the pool has but one, or the process one core.
    #[must_use]
    pub fn of_pool(pool: &'a ThreadPool) -> Self {
        if cores::workers(Some(pool)) > 1 { Self::Pool(pool) } else { Self::Serial }
    }

    /// The host's threads, or the calling thread when the host has but one worker.
    #[must_use]
    pub fn of(host: &'a dyn Spawner) -> Self {
        if host.workers() > 1 { Self::Host(host) } else { Self::Serial }
    }

    /// The number of tasks that may run at once: no more than the process may use cores, since a thread that waits for a
    /// core keeps others waiting.
    #[must_use]
    pub fn count(self) -> usize {
        match self {
            Self::Serial | Self::Recorded => 1,
            Self::Rayon | Self::Pool(_) => cores::workers(self.pool()),
            Self::Host(host) => host::workers(host),
        }
    }

    /// The pool that was named.
    fn pool(self) -> Option<&'a ThreadPool> {
        if let Self::Pool(pool) = self { Some(pool) } else { None }
    }

    /// Runs a computation of several regions with its threads standing by from first to last: a thread that sleeps between
    /// regions takes longer to wake than many a region lasts. A host's threads are its own affair between regions.
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
    /// its cache what it wrote there; then it helps the others.
    ///
    /// # Panics
    /// When a task panics.
    #[inline]
    pub fn run(self, name: &'static str, tasks: usize, task: impl Fn(usize) + Sync + Send) {
        self.run_each(name, tasks, &task);
    }

    /// As [`Workers::run`]: for all tasks together, so that each is compiled once and not for each way to run it.
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

    /// Runs `worker` on as many threads as there are, each with tasks of `0..tasks`, each of which is handed out once; returns when all
    /// workers have ended. Of a stage that goes through a tree of so many bodies, each worker begins with the shares that it has in every such
    /// stage (see [`Workers::shares`]), in ascending order, then helps the others, beginning with the first; where `bodies` is none, all is
    /// handed out in ascending order.
    ///
    /// So it finds in its cache what it has written, and, since others have read little of that, can write there again without
    /// taking it away from them, which takes several times as long.
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

    /// How many shares there are in a stage that goes through a tree of so many bodies.
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

    /// Runs `stage`, in whose regions functions of the caller's run, or do not (see `callers`).
    pub fn run_callers<R>(self, callers: bool, stage: impl FnOnce() -> R) -> R {
        callers::run_with(callers, stage)
    }

    /// Runs `worker`, which is told a number of its own, on as many threads as help, `workers` of them at most.
    fn on_all(self, workers: usize, worker: &(dyn Fn(usize) + Sync)) {
        match self {
            Self::Serial | Self::Recorded => worker(0),
            Self::Rayon | Self::Pool(_) => {
                let (pool, callers) = (self.pool(), callers::running());
                // In a pool of no more threads than may help, each has the same number in every search: it finds in its cache what it wrote
                // in the last one. Who leads from outside has number 0, and the pool's first thread, which may come or not, any.
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

    /// Sets every slot of `slots` to `value(index)`, a task a slot.
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

//! Who runs the tasks of a stage. Work is cut by its size alone, so that every choice here gives the same bytes.

use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

use crossbeam::utils::CachePadded;

use crate::disjoint::Disjoint;
use crate::{recording, team};

/// The threads that run the tasks of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Workers {
    /// The calling thread, task after task.
    #[default]
    Serial,
    /// The rayon pool that the call is made in.
    Rayon,
    /// What several threads would do, on the calling thread, task after task: for [`record`](crate::record).
    Recorded,
}

/// Shares that the tasks of a stage are cut into at first, at most: one for each of so many workers.
const SHARES: usize = 32;

impl Workers {
    /// The current rayon pool, or the calling thread when that pool has but one worker.
    #[must_use]
    pub fn current() -> Self {
        if rayon::current_num_threads() > 1 { Self::Rayon } else { Self::Serial }
    }

    /// The number of tasks that may run at once.
    #[must_use]
    pub fn count(self) -> usize {
        match self {
            Self::Serial | Self::Recorded => 1,
            Self::Rayon => rayon::current_num_threads(),
        }
    }

    /// Runs a computation of several regions with its threads standing by from first to last: a thread that sleeps between
    /// regions takes longer to wake than many a region lasts.
    pub fn together<R: Send>(self, computation: impl FnOnce() -> R + Send) -> R {
        match self {
            Self::Serial | Self::Recorded => computation(),
            Self::Rayon => team::together(computation),
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
        match self {
            Self::Rayon if tasks > 1 => run_shared(tasks, &task),
            Self::Rayon | Self::Serial => (0..tasks).for_each(task),
            Self::Recorded => recording::region(name, tasks, |tasks| tasks.for_each(&task)),
        }
    }

    /// Runs `worker` on as many threads as there are, each with an iterator that hands out what is left of
    /// `0..tasks` in ascending order, each number once; returns when all workers have ended.
    ///
    /// # Panics
    /// When a worker panics.
    pub fn run_in_order(
        self,
        name: &'static str,
        tasks: usize,
        worker: impl Fn(&mut dyn Iterator<Item = usize>) + Sync,
    ) {
        match self {
            Self::Rayon if tasks > 1 => {
                let next = AtomicUsize::new(0);
                on_all(&|| worker(&mut core::iter::from_fn(|| take(&next, tasks))));
            }
            Self::Rayon | Self::Serial => worker(&mut (0..tasks)),
            Self::Recorded => recording::region(name, tasks, |tasks| worker(tasks)),
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

/// The next of `0..end` that nobody has taken.
#[inline]
fn take(next: &AtomicUsize, end: usize) -> Option<usize> {
    // Looked at first, so that idle workers do not write to a line that others need.
    let left = next.load(Ordering::Relaxed) < end;
    left.then(|| next.fetch_add(1, Ordering::Relaxed)).filter(|&task| task < end)
}

/// Runs `worker` on the calling thread and on as many others as help.
fn on_all(worker: &(impl Fn() + Sync)) {
    team::together(|| team::region(worker));
}

fn run_shared(tasks: usize, task: &(impl Fn(usize) + Sync)) {
    let shares = rayon::current_num_threads().min(tasks).min(SHARES);
    let share = |s: usize| s * tasks / shares..(s + 1) * tasks / shares;
    let next: [CachePadded<AtomicUsize>; SHARES] =
        core::array::from_fn(|s| CachePadded::new(AtomicUsize::new(share(s).start)));
    on_all(&|| {
        let own = rayon::current_thread_index().unwrap_or_default();
        for s in (0..shares).map(|s| (own + s) % shares) {
            let Range { end, .. } = share(s);
            while let Some(at) = take(&next[s], end) {
                task(at);
            }
        }
    });
}

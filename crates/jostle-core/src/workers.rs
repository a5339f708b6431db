//! Who runs the tasks of a stage. Work is cut by its size alone, so that every choice here gives the same bytes.

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

/// The threads that run the tasks of a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Workers {
    /// The calling thread, task after task.
    #[default]
    Serial,
    /// The rayon pool that the call is made in.
    Rayon,
}

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
            Self::Serial => 1,
            Self::Rayon => rayon::current_num_threads(),
        }
    }

    /// Runs `task(0)`, ..., `task(tasks - 1)`, each once, in any order, and returns when all have ended.
    ///
    /// # Panics
    /// When a task panics.
    #[inline]
    pub fn run(self, tasks: usize, task: impl Fn(usize) + Sync + Send) {
        match self {
            Self::Rayon if tasks > 1 => (0..tasks).into_par_iter().with_max_len(1).for_each(task),
            _ => (0..tasks).for_each(task),
        }
    }

    /// Sets every slot of `slots` to `value(index)`, a task a slot.
    pub(crate) fn fill<T: Copy + Send>(self, slots: &mut [T], value: impl Fn(usize) -> T + Sync + Send) {
        match self {
            Self::Rayon if slots.len() > 1 => {
                slots.par_iter_mut().with_max_len(1).enumerate().for_each(|(i, slot)| *slot = value(i));
            }
            _ => slots.iter_mut().enumerate().for_each(|(i, slot)| *slot = value(i)),
        }
    }

    /// Runs both closures, side by side where the workers allow it.
    pub fn join<A: Send, B: Send>(self, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
        match self {
            Self::Serial => (a(), b()),
            Self::Rayon => rayon::join(a, b),
        }
    }
}

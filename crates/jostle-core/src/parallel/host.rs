//! The host's own threads: a hook for programs that have a task system already, and want no second pool beside it.

use core::any::Any;
use core::cell::Cell;
use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::thread;

use crate::parallel::cores::WORKERS_MAX;
use crate::parallel::handover::keep_first;
use crate::parallel::sync::{PATIENCE, look_out};

/// Runs tasks on threads of the host: a game engine's task pool, a C program's threads, or any pool but rayon's.
///
/// A search hands over its work in half a dozen calls of [`run`](Spawner::run), each with one task per worker. The
/// result is the same bytes however the host runs them: tasks may run one after the other on one thread, in any order,
/// since each does all the work that it finds left. A host that drops a task, calls one twice, or states a wrong number
/// of workers is slower for it, but not wrong.
///
/// - No panic unwinds through the host: a task's panic is kept until `run` has returned, and goes on from there.
/// - Tasks never call `run`: a visitor's own search runs on its thread alone. A task that is called within another one,
///   as by a thread that waits for other work of a visitor's, returns at once.
/// - Where several finders share a host, `run` is called on several threads at once.
/// - **A host in `unsafe` code, or beyond a C interface,** must neither keep nor call `task` after `run` has returned:
///   the data that it refers to is gone by then. Safe code cannot do so.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle::{Circles, LinearTree, Spawner, Threads};
///
/// /// So many threads, started anew each time.
/// struct Crew(usize);
///
/// impl Spawner for Crew {
///     fn workers(&self) -> usize {
///         self.0
///     }
///
///     fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
///         std::thread::scope(|scope| {
///             for number in 1..tasks {
///                 scope.spawn(move || task(number));
///             }
///             task(0);
///         });
///     }
/// }
///
/// let x: Vec<f32> = (0..50_000).map(|i| (i % 1_777) as f32).collect();
/// let y: Vec<f32> = (0..50_000).map(|i| (i % 991) as f32).collect();
/// let bodies = Circles::new(&x, &y, 0.5);
/// let (mut alone, mut hosted) = (LinearTree::new(), LinearTree::new());
/// alone.build(bodies, Threads::Serial)?;
/// hosted.build(bodies, Threads::Host(&Crew(3)))?;
/// assert!(hosted.ids().eq(alone.ids()));
/// # Ok::<(), jostle::ViewError>(())
/// ```
pub trait Spawner: Sync {
    /// The number of workers that may run tasks at once; 0 counts as 1. Memory is held for each of them, for 256 at
    /// most.
    fn workers(&self) -> usize;

    /// Runs `task(0)`, ..., `task(tasks - 1)`, each once, on any threads, in any order; returns when all have ended.
    /// The calling thread may take part.
    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync));
}

impl fmt::Debug for dyn Spawner + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawner").field("workers", &self.workers()).finish_non_exhaustive()
    }
}

/// The host's workers, between 1 and [`WORKERS_MAX`].
pub(crate) fn workers(host: &dyn Spawner) -> usize {
    host.workers().clamp(1, WORKERS_MAX)
}

/// Runs `worker(0)`, ..., `worker(workers - 1)` on the host's threads. Each call of `worker` must do all the work that
/// it finds left, so that one call that has ended is enough, whatever the host does with the others.
///
/// # Panics
/// When a worker panics, on the calling thread.
pub(crate) fn region(host: &dyn Spawner, workers: usize, worker: &(dyn Fn(usize) + Sync)) {
    let calls = Calls::default();
    host.run(workers, &|number| {
        // A thread that waits within one task may take another one on. It would wait in vain for what lies below it on
        // its own stack, so it drops that task.
        if !is_at_work() {
            calls.run(|| at_work(|| worker(number)));
        }
    });
    if calls.begun.load(Ordering::SeqCst) == 0 {
        return at_work(|| worker(0));
    }
    calls.wait();
    if let Some(panic) = calls.panic.into_inner().ok().flatten() {
        resume_unwind(panic);
    }
}

thread_local! {
    static AT_WORK: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread runs a task of a host's: a search that begins there runs on this thread alone, since a host may
/// have no thread left for it.
pub(crate) fn is_at_work() -> bool {
    AT_WORK.get()
}

/// Runs a task of a host's.
fn at_work(task: impl FnOnce()) {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            AT_WORK.set(self.0);
        }
    }
    let _before = Before(AT_WORK.replace(true));
    task();
}

/// The calls of a region's worker.
#[derive(Default)]
struct Calls {
    begun: AtomicUsize,
    ended: AtomicUsize,
    /// The first panic.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Calls {
    fn run(&self, worker: impl Fn()) {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let done = catch_unwind(AssertUnwindSafe(worker));
        if let (Err(payload), Ok(mut panic)) = (done, self.panic.lock()) {
            keep_first(&mut panic, payload);
        }
        self.ended.fetch_add(1, Ordering::SeqCst);
    }

    /// Waits for calls that a host in `unsafe` code has left behind; the calls of any other host have ended. From here
    /// on, what the calls have written can be read, even where the host itself does not order the memory of its
    /// threads.
    fn wait(&self) {
        let all_ended = || self.ended.load(Ordering::SeqCst) == self.begun.load(Ordering::SeqCst);
        if !look_out(all_ended) {
            // A call that has ended may touch nothing here any more, so it cannot ring a bell either.
            while !all_ended() {
                thread::sleep(PATIENCE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::resume_unwind;

    use super::Calls;
    use crate::parallel::handover::tests::Bomb;

    /// Else the host would get that panic, and the search would wait for the call.
    #[test]
    fn a_call_ends_when_the_payload_of_its_panic_panics_as_well() {
        let calls = Calls::default();
        for _ in 0..3 {
            calls.run(|| resume_unwind(Box::new(Bomb)));
        }
        assert_eq!((calls.begun.into_inner(), calls.ended.into_inner()), (3, 3));
        let first = calls.panic.into_inner().ok().flatten();
        assert!(first.as_ref().is_some_and(|payload| payload.is::<Bomb>()));
        std::mem::forget(first);
    }
}

//! Which threads do the work, and when one of them is enough.

use crate::parallel::host::{self, Spawner};
use crate::parallel::workers::Workers;

/// Below this number of bodies one thread does all: handing tasks to a pool would cost more than it gains. Measured by
/// `cargo bench -p jostle-benches --bench find -- crossover`.
pub const SERIAL_BELOW: usize = 8_000;

/// As [`SERIAL_BELOW`], for calls from a thread outside of the pool. The pool's threads may sleep, and for a single
/// search it is not known whether waking them gains. A finder that is called again and again measures, below this
/// number, whether all threads are done sooner.
pub const SERIAL_BELOW_FROM_OUTSIDE: usize = 30_000;

/// Which threads do the work. The result is the same in any case.
///
/// # In a pool shared with others
/// A search calls as many of a rayon pool's threads as there are cores that no other search is at work on, cgroup
/// limits counted. It waits for none of them: a busy thread comes later or not at all, and a thread that finds nothing
/// to do for 90 microseconds goes back to its pool. A thread that has to wait for another's work sleeps. It runs no
/// other task of the pool meanwhile, but for one case: where the system takes a helper's thread away at the very moment
/// at which it comes, as where a pool has more threads than cores, `rayon::join` may run one other task, and no search
/// within that task runs another. So a search may be made under a lock that no other task of the same pool takes;
/// called from outside of the pool, under any lock. A search takes a kilobyte of stack for each thread that it calls,
/// 256 at most. Called from outside of the pool, rayon allocates some dozens of bytes for a thread that is called, and
/// now and then a block of its queue.
///
/// # What the caller's functions may do
/// Visitors, folds and tests (`only`) may call anything of rayon, with two rules. First, a call that needs every thread
/// of the pool, such as `rayon::broadcast`, ends when all threads of the search have come to wait or to an end: threads
/// that wait where the caller's functions run do the pool's other work now and then. So here, unlike in a search
/// without such functions, another task of the pool may run on a waiting thread, as in rayon's own `for_each`: a lock
/// that such a task takes must not be held across the search. Second, the caller's functions may search with another
/// finder; that search runs on the one thread. The first panic is handed on to the caller as it was, after other
/// threads have ended what they have begun.
#[derive(Debug, Clone, Copy, Default)]
pub enum Threads<'a> {
    /// The rayon pool that the call is made in; outside of any pool the calling thread, and threads of the global one.
    #[default]
    Current,
    /// This pool. In a call from outside of it, the calling thread does its part, and one thread of the pool less is
    /// called. Where only the pool's threads are to work, call from within [`install`](rayon::ThreadPool::install).
    Pool(&'a rayon::ThreadPool),
    /// Threads of the host: any other pool, called as from outside of it. Below [`SERIAL_BELOW_FROM_OUTSIDE`] bodies
    /// the calling thread does all, unless a finder has measured that all threads are sooner done.
    Host(&'a dyn Spawner),
    /// The calling thread alone.
    Serial,
}

/// Runs a search with the workers that `threads` and the number of bodies ask for.
#[doc(hidden)]
pub fn run<'a, R: Send>(threads: Threads<'a>, bodies: usize, search: impl FnOnce(Workers<'a>) -> R + Send) -> R {
    threads.run([SERIAL_BELOW, SERIAL_BELOW_FROM_OUTSIDE], bodies, search)
}

impl<'a> Threads<'a> {
    /// How many threads may work at once.
    #[doc(hidden)]
    #[must_use]
    pub fn workers(self) -> usize {
        match self {
            Self::Serial => 1,
            Self::Current => Workers::current().count(),
            Self::Pool(pool) => Workers::of_pool(pool).count(),
            Self::Host(host) => Workers::of(host).count(),
        }
    }

    /// Runs `work` on these threads; on the calling thread alone where `items` is below a limit. The first limit holds
    /// for calls from within the pool, the second for calls from outside.
    #[doc(hidden)]
    pub fn run<R: Send>(self, limits: [usize; 2], items: usize, work: impl FnOnce(Workers<'a>) -> R + Send) -> R {
        let (mut work, mut result) = (Some(work), None);
        self.run_once(limits, items, &mut |workers| result = work.take().map(|work| work(workers)));
        result.expect("work is run once")
    }

    /// As [`Threads::run`], with a trait object, so that the ways to rayon's threads are compiled once for all work.
    fn run_once(self, limits: [usize; 2], items: usize, work: &mut (dyn FnMut(Workers<'a>) + Send)) {
        let inside = match self {
            Self::Serial => return work(Workers::Serial),
            Self::Current => rayon::current_thread_index().is_some(),
            Self::Pool(pool) => pool.current_thread_index().is_some(),
            Self::Host(_) if host::is_at_work() => return work(Workers::Serial),
            Self::Host(_) => false,
        };
        let [from_inside, from_outside] = limits;
        if items < if inside { from_inside } else { from_outside } {
            return work(Workers::Serial);
        }
        match self {
            Self::Pool(pool) if !inside => work(Workers::of_pool(pool)),
            Self::Host(host) => work(Workers::of(host)),
            Self::Serial | Self::Current | Self::Pool(_) => work(Workers::current()),
        }
    }
}

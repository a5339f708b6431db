//! Which threads do the work, and when one of them is enough.

use jostle_core::{Spawner, Workers};

/// Below this number of bodies one thread does all: handing tasks to a pool would cost more than it gains. Measured by
/// `cargo bench --bench find -- crossover`.
pub const SERIAL_BELOW: usize = 8_000;

/// As [`SERIAL_BELOW`], for calls from a thread outside of the pool, which sleeps while the pool works: two threads more
/// have to be woken.
pub const SERIAL_BELOW_FROM_OUTSIDE: usize = 30_000;

/// Which threads do the work. The result is the same in any case.
#[derive(Debug, Clone, Copy, Default)]
pub enum Threads<'a> {
    /// The rayon pool that the call is made in: the global one outside any pool.
    #[default]
    Current,
    /// This pool.
    Pool(&'a rayon::ThreadPool),
    /// Threads of the host: any other pool. Below [`SERIAL_BELOW_FROM_OUTSIDE`] bodies the calling thread does all.
    Host(&'a dyn Spawner),
    /// The calling thread alone.
    Serial,
}

/// Runs a search with the workers that `threads` and the number of bodies ask for.
pub(crate) fn run<'a, R: Send>(threads: Threads<'a>, bodies: usize, search: impl FnOnce(Workers<'a>) -> R + Send) -> R {
    let inside = match threads {
        Threads::Serial => return search(Workers::Serial),
        Threads::Current => rayon::current_thread_index().is_some(),
        Threads::Pool(pool) => pool.current_thread_index().is_some(),
        Threads::Host(_) => false,
    };
    let serial_below = if inside { SERIAL_BELOW } else { SERIAL_BELOW_FROM_OUTSIDE };
    match threads {
        _ if bodies < serial_below => search(Workers::Serial),
        Threads::Pool(pool) => pool.install(|| search(Workers::current())),
        Threads::Host(host) => search(Workers::of(host)),
        Threads::Serial | Threads::Current => search(Workers::current()),
    }
}

//! Which threads do the work, and when one of them is enough.

use crate::parallel::host::Spawner;
use crate::parallel::workers::Workers;

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
#[doc(hidden)]
pub fn run<'a, R: Send>(threads: Threads<'a>, bodies: usize, search: impl FnOnce(Workers<'a>) -> R + Send) -> R {
    threads.run([SERIAL_BELOW, SERIAL_BELOW_FROM_OUTSIDE], bodies, search)
}

impl<'a> Threads<'a> {
    /// Runs `work` on these threads; on the calling thread alone where there are fewer items than are worth more: the
    /// first limit holds for calls from within the pool, the second for calls from outside.
    #[doc(hidden)]
    pub fn run<R: Send>(self, limits: [usize; 2], items: usize, work: impl FnOnce(Workers<'a>) -> R + Send) -> R {
        let inside = match self {
            Self::Serial => return work(Workers::Serial),
            Self::Current => rayon::current_thread_index().is_some(),
            Self::Pool(pool) => pool.current_thread_index().is_some(),
            Self::Host(_) => false,
        };
        let [from_inside, from_outside] = limits;
        if items < if inside { from_inside } else { from_outside } {
            return work(Workers::Serial);
        }
        match self {
            Self::Pool(pool) => pool.install(|| work(Workers::current())),
            Self::Host(host) => work(Workers::of(host)),
            Self::Serial | Self::Current => work(Workers::current()),
        }
    }
}

//! How a choice of threads becomes workers.

use jostle_core::Workers;

use crate::finder::Threads;

impl Threads<'_> {
    /// Runs `work` on these threads; on the calling thread alone where there are fewer items than are worth more: the
    /// first limit holds for calls from within the pool, the second for calls from outside.
    pub(crate) fn run<R: Send>(self, limits: [usize; 2], items: usize, work: impl FnOnce(Workers) -> R + Send) -> R {
        let inside = match self {
            Self::Serial => return work(Workers::Serial),
            Self::Current => rayon::current_thread_index().is_some(),
            Self::Pool(pool) => pool.current_thread_index().is_some(),
        };
        let [from_inside, from_outside] = limits;
        if items < if inside { from_inside } else { from_outside } {
            return work(Workers::Serial);
        }
        match self {
            Self::Pool(pool) => pool.install(|| work(Workers::current())),
            Self::Serial | Self::Current => work(Workers::current()),
        }
    }
}

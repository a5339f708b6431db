//! The threads that a command works with.

use anyhow::{Context, Result};
use jostle::Threads;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::args::ThreadArgs;

/// A pool of the size asked for.
pub(crate) struct Workers {
    pool: ThreadPool,
}

impl Workers {
    pub(crate) fn new(args: &ThreadArgs) -> Result<Self> {
        // rayon reads 0 as "one for each core".
        let threads = args.threads.map_or(0, usize::from);
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().context("cannot start threads")?;
        Ok(Self { pool })
    }

    pub(crate) fn count(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// The threads for a search. If there is one, it is the caller's own: handing over to a pool of one would only cost
    /// time.
    pub(crate) fn threads(&self) -> Threads<'_> {
        if self.count() == 1 { Threads::Serial } else { Threads::Pool(&self.pool) }
    }

    /// Runs `work` where rayon's parallel iterators use this pool.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }
}

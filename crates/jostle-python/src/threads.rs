//! Threads: pools that are made when they are first asked for, one for each number of threads.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::value_error;

/// The most threads of a pool.
const MAX: usize = 1024;

/// The pools of a process, by the number of threads that were asked for.
struct Pools {
    process: u32,
    pools: HashMap<usize, Arc<ThreadPool>>,
}

static POOLS: Mutex<Option<Pools>> = Mutex::new(None);

/// The threads of one call.
pub(crate) enum Threads {
    Serial,
    Pool(Arc<ThreadPool>),
}

impl Threads {
    /// Returns as many threads as were asked for. Where no number was, there is one for each core, or as many as
    /// RAYON_NUM_THREADS says.
    pub(crate) fn of(asked: Option<isize>) -> PyResult<Self> {
        let count = match asked {
            None => 0,
            Some(1) => return Ok(Self::Serial),
            Some(count) => usize::try_from(count)
                .ok()
                .and_then(NonZeroUsize::new)
                .filter(|count| count.get() <= MAX)
                .ok_or_else(|| value_error(format_args!("threads is {count}: from 1 to {MAX}, or None")))?
                .get(),
        };
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        let process = process::id();
        if pools.as_ref().is_some_and(|pools| pools.process != process) {
            // The process is a fork: the pools have the threads of the parent, which can be neither called nor waited
            // for.
            core::mem::forget(pools.take());
        }
        let pools = &mut pools.get_or_insert_with(|| Pools { process, pools: HashMap::new() }).pools;
        if let Some(pool) = pools.get(&count) {
            return Ok(Self::Pool(Arc::clone(pool)));
        }
        let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(|number| format!("jostle {number}")).build();
        let pool = pool.map_err(|refused| PyRuntimeError::new_err(format!("threads cannot be started: {refused}")))?;
        let pool = Arc::new(pool);
        pools.insert(count, Arc::clone(&pool));
        Ok(Self::Pool(pool))
    }

    /// How many threads there are.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Serial => 1,
            Self::Pool(pool) => pool.current_num_threads(),
        }
    }

    /// Returns the threads as the engine takes them.
    pub(crate) fn lend(&self) -> engine::Threads<'_> {
        match self {
            Self::Serial => engine::Threads::Serial,
            Self::Pool(pool) => engine::Threads::Pool(pool),
        }
    }

    /// Calls `work` with each part: on these threads, where there are several parts.
    pub(crate) fn each<T: Send>(&self, parts: Vec<T>, work: impl Fn(T) + Sync + Send) {
        match self {
            Self::Pool(pool) if parts.len() > 1 => pool.install(|| parts.into_par_iter().for_each(work)),
            _ => parts.into_iter().for_each(work),
        }
    }
}

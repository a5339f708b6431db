//! The search: by the engine, on as many threads as are chosen, or by one of the older systems.

use std::num::NonZero;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use jostle::{Circles, InputError, PairFinder, Threads};
use jostle_classics::System;
use jostle_view::{OlderSystem, Shown};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::world::World;

/// The name of the engine among those of the older systems.
pub(crate) const JOSTLE: &str = "jostle";

/// The engine, the older system if one is chosen, and the threads, kept from frame to frame.
pub(crate) struct Search {
    pub(crate) finder: PairFinder<2>,
    older: Option<OlderSystem>,
    pool: Arc<ThreadPool>,
}

/// The names of all that can search.
pub(crate) fn engines() -> Vec<&'static str> {
    [JOSTLE].into_iter().chain(System::ALL.map(System::name)).collect()
}

/// Most threads that the engine uses.
pub(crate) fn most_threads() -> u32 {
    thread::available_parallelism().map_or(1, NonZero::get) as u32
}

fn pool(threads: u32) -> Result<Arc<ThreadPool>> {
    let pool = ThreadPoolBuilder::new().num_threads(threads as usize).build();
    pool.map(Arc::new).context("cannot start threads")
}

impl Search {
    /// Makes a search by the engine.
    pub(crate) fn new(threads: u32) -> Result<Self> {
        Ok(Self { finder: PairFinder::new(), older: None, pool: pool(threads)? })
    }

    pub(crate) fn set_threads(&mut self, threads: u32) -> Result<()> {
        self.pool = pool(threads)?;
        Ok(())
    }

    /// Searches by the system of this name from now on, set up for this world; if that cannot be, by the engine.
    ///
    /// # Errors
    /// The reason why the system cannot search.
    pub(crate) fn choose(&mut self, engine: &str, world: &World) -> Result<()> {
        self.older = None;
        if engine != JOSTLE {
            let system = engine.parse::<System>()?;
            system.check_count(world.view().len())?;
            self.older = Some(OlderSystem::new(system.in_world(world.walls(), world.view())?));
        }
        Ok(())
    }

    /// The threads that the engine searches on.
    pub(crate) fn pool(&self) -> Arc<ThreadPool> {
        Arc::clone(&self.pool)
    }

    /// True while the engine searches.
    pub(crate) fn is_by_engine(&self) -> bool {
        self.older.is_none()
    }

    pub(crate) fn find(&mut self, view: Circles<'_>) -> Result<(), InputError> {
        match &mut self.older {
            Some(older) => older.find(view).map(drop),
            None => {
                let one = self.pool.current_num_threads() == 1;
                let threads = if one { Threads::Serial } else { Threads::Pool(&self.pool) };
                self.finder.on(threads).find(view).map(drop)
            }
        }
    }

    /// What was found last.
    pub(crate) fn shown(&self) -> Shown<'_> {
        self.older.as_ref().map_or_else(|| (&self.finder.last()).into(), Into::into)
    }

    /// The pairs found last.
    pub(crate) fn pairs(&self) -> &[[u32; 2]] {
        self.older.as_ref().map_or_else(|| self.finder.last().pairs(), OlderSystem::pairs)
    }

    /// How long the last search took.
    pub(crate) fn time(&self) -> Duration {
        self.older.as_ref().map_or_else(|| self.finder.last().stats().time.total(), OlderSystem::time)
    }
}

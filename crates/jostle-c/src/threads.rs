//! The threads that calls run on.

use std::ffi::c_void;
use std::sync::Arc;

use engine::Spawner;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::handle::{Opaque, Shared, free, kind, make};
use crate::memory::{self, Grows};
use crate::status::{Failure, Status};

/// The most threads of a pool of the library's own.
const POOL_MAX: usize = 1024;

/// The threads that the calls of one or several handles run on: the calling thread alone, a pool of the library's own,
/// or threads of the host. A handle that was given none uses the global pool, which has a thread for each core and is
/// started by the first call that is worth it. Results are the same bytes on any threads.
#[derive(Debug)]
pub struct Threads {
    _opaque: [u8; 0],
}

impl Opaque for Threads {
    type State = Arc<OwnThreads>;
    const KIND: u64 = kind(1);
    const NAME: &'static str = "jostle_threads";
}

/// Does one task of a region. The library makes this function. data is the pointer that run was given with the task,
/// and number is less than the number of tasks that run was given.
pub type Task = Option<unsafe extern "C" fn(data: *mut c_void, number: usize)>;

/// Runs task(data, 0), ..., task(data, tasks - 1), each once, on any threads, in any order, and returns when all have
/// ended. Tasks may run one after the other, and the calling thread may take part. After run has returned, neither task
/// nor data may be used. No exception may leave run. Where several handles share threads, several threads call run at
/// once.
///
/// Each task does all the work that it finds left. So tasks may be left out: those that run do their work, and if none
/// runs, the calling thread does it after run has returned. A task that is run twice, and a number that is not below
/// tasks, do no harm. The result is the same, only later.
pub type Run = Option<unsafe extern "C" fn(host: *mut c_void, tasks: usize, task: Task, data: *mut c_void)>;

/// Threads of the host.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Host {
    /// sizeof(jostle_host).
    pub size: usize,
    /// How many workers run at once; 0 counts as 1, and more than 256 as 256.
    pub workers: usize,
    /// Runs tasks on the workers.
    pub run: Run,
    /// The first argument of run, whatever it is.
    pub host: *mut c_void,
}

// SAFETY: the struct is repr(C), begins with its size, and holds only numbers and pointers, which may be null.
unsafe impl Grows for Host {
    const NAME: &'static str = "jostle_host";
}

#[derive(Debug)]
pub(crate) enum OwnThreads {
    Serial,
    Pool(ThreadPool),
    Host(Crew),
}

/// The host's threads, as the engine calls them.
#[derive(Debug)]
pub(crate) struct Crew {
    workers: usize,
    run: unsafe extern "C" fn(*mut c_void, usize, Task, *mut c_void),
    host: *mut c_void,
}

// SAFETY: the header asks for a `run` that any thread may call with this pointer. This crate does not follow it.
unsafe impl Send for Crew {}

// SAFETY: as above.
unsafe impl Sync for Crew {}

/// A region of tasks. The host gets a pointer to it as `data`.
struct Region<'t> {
    tasks: usize,
    task: &'t (dyn Fn(usize) + Sync),
}

/// The task that the host calls.
unsafe extern "C" fn run_task(data: *mut c_void, number: usize) {
    // SAFETY: the host passes the `data` that it was given, before `run` has returned.
    let region = unsafe { &*data.cast::<Region<'_>>() };
    if number < region.tasks {
        (region.task)(number);
    }
}

impl Spawner for Crew {
    fn workers(&self) -> usize {
        self.workers
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        let mut region = Region { tasks, task };
        // SAFETY: the host keeps to what the header asks of `run`; the region lives until `run` has returned.
        unsafe { (self.run)(self.host, tasks, Some(run_task), (&raw mut region).cast()) }
    }
}

/// Returns the threads as the engine takes them.
pub(crate) fn threads(own: Option<&Arc<OwnThreads>>) -> engine::Threads<'_> {
    match own.map(|own| &**own) {
        None => engine::Threads::Current,
        Some(OwnThreads::Serial) => engine::Threads::Serial,
        Some(OwnThreads::Pool(pool)) => engine::Threads::Pool(pool),
        Some(OwnThreads::Host(crew)) => engine::Threads::Host(crew),
    }
}

/// Returns what a handle keeps of the threads that it is given; `None` for a null pointer.
///
/// # Safety
/// The pointer is null, or leads to a handle.
pub(crate) unsafe fn keep(threads: *const Threads) -> Result<Option<Arc<OwnThreads>>, Failure> {
    if threads.is_null() {
        return Ok(None);
    }
    // SAFETY: as the caller says.
    Ok(Some(Arc::clone(unsafe { Shared::take(threads) }?.state())))
}

/// Makes threads with which the calling thread does all the work itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_threads_serial(out: *mut *mut Threads) -> Status {
    // SAFETY: the pointer is what the header asks for.
    unsafe { make(out, || Ok(Arc::new(OwnThreads::Serial))) }
}

/// Starts a pool of count threads, from 1 to 1024. They are told to end when the last handle that uses them is freed;
/// nobody waits until they have ended, so do not unload the library at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_threads_pool(count: usize, out: *mut *mut Threads) -> Status {
    let pool = || {
        if !(1..=POOL_MAX).contains(&count) {
            return Err(Failure::new(Status::Parameter, format_args!("{count} threads: from 1 to {POOL_MAX}")));
        }
        let pool = ThreadPoolBuilder::new().num_threads(count).thread_name(|number| format!("jostle {number}")).build();
        let pool = pool.map_err(|refused| Failure::new(Status::Threads, refused))?;
        Ok(Arc::new(OwnThreads::Pool(pool)))
    };
    // SAFETY: the pointer is what the header asks for.
    unsafe { make(out, pool) }
}

/// Makes threads with which the host's own threads do the work. The struct is copied; what it leads to has to live
/// until the last handle that uses it is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_threads_host(host: *const Host, out: *mut *mut Threads) -> Status {
    let crew = || {
        // SAFETY: the pointer is what the header asks for.
        let Host { workers, run, host, .. } = unsafe { memory::read(host) }?;
        let run = run.ok_or_else(|| Failure::new(Status::NullPointer, "jostle_host.run is null"))?;
        Ok(Arc::new(OwnThreads::Host(Crew { workers, run, host })))
    };
    // SAFETY: the pointer is what the header asks for.
    unsafe { make(out, crew) }
}

/// Frees the handle. The threads stay as long as other handles use them. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_threads_free(threads: *mut Threads) {
    // SAFETY: the pointer is what the header asks for.
    unsafe { free(threads) }
}

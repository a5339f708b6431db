//! What every crate of the workspace is tested and timed with: scenes, two independent ways to find their pairs, and
//! a hash of the answer.
//!
//! [`oracle`] is the definition of the answer and is called wherever n allows. [`sweep`] shares no code with it and is
//! fast enough for millions of bodies. Scenes are the same bits on every platform: they use only `+ - * /` and square
//! roots, which IEEE 754 rounds in one way, and nothing of the platform's mathematics library.

pub mod algebra;
mod axes;
pub mod box_pairs;
pub mod contacts;
pub mod hash;
pub mod keyed;
pub mod lists;
pub mod oracle;
pub mod pairs;
pub mod queries;
pub mod random;
mod real;
pub mod scene;
pub mod shapes;
pub mod sorting;
pub mod sweep;
pub mod tree;
pub mod ugly;

use rayon::{ThreadPool, ThreadPoolBuilder};

pub use scene::{Kind, Scene};

/// Makes a pool of so many threads that all take part in a search, however few cores the machine has.
///
/// # Panics
/// When the system has no threads left.
#[must_use]
pub fn pool(threads: usize) -> ThreadPool {
    jostle_core::parallel::cores::assume(64);
    ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

/// Runs some work on a thread of a pool, and returns its result: [`ThreadPool::install`], compiled with this crate.
///
/// # Panics
/// When the work panics.
pub fn within<R: Send>(pool: &ThreadPool, work: impl FnOnce() -> R + Send) -> R {
    let (mut work, mut result) = (Some(work), None);
    install(pool, &mut || result = work.take().map(|work| work()));
    result.expect("work is done once")
}

fn install(pool: &ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

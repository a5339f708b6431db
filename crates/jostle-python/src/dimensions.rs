//! Finders in two dimensions and three, and those that calls without one of their own share.

use std::sync::{Mutex, PoisonError};

use engine::PairFinder;
use pyo3::PyResult;

use crate::prepared::Of;

/// A finder for each number of dimensions; they hold no memory before their first search.
#[derive(Default)]
pub(crate) struct Both {
    pub(crate) two: PairFinder<2>,
    three: PairFinder<3>,
}

/// Finders that nobody uses, of the functions that are called without one.
static IDLE: Mutex<Vec<Both>> = Mutex::new(Vec::new());

/// How many of them are kept, and up to how many bytes each.
const IDLE_MAX: usize = 4;
const IDLE_BYTES: usize = 1 << 28;

/// Calls `search` with a finder that is kept for the next call, unless it has grown large.
pub(crate) fn with_idle<R>(search: impl FnOnce(&mut Both) -> PyResult<R>) -> PyResult<R> {
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut both = idle().pop().unwrap_or_default();
    let result = search(&mut both)?;
    let mut idle = idle();
    if idle.len() < IDLE_MAX && both.bytes() <= IDLE_BYTES {
        idle.push(both);
    }
    Ok(result)
}

/// The one of these for so many dimensions.
pub(crate) trait Dimension<const D: usize>: Of<D> {
    fn finder(both: &mut Both) -> &mut PairFinder<D>;
}

impl Dimension<2> for () {
    fn finder(both: &mut Both) -> &mut PairFinder<2> {
        &mut both.two
    }
}

impl Dimension<3> for () {
    fn finder(both: &mut Both) -> &mut PairFinder<3> {
        &mut both.three
    }
}

/// The same in two dimensions or three.
macro_rules! in_dimensions {
    ($dimensions:expr, $D:ident => $body:expr) => {
        if $dimensions == 2 {
            const $D: usize = 2;
            $body
        } else {
            const $D: usize = 3;
            $body
        }
    };
}

impl Both {
    pub(crate) fn bytes(&self) -> usize {
        self.two.bytes() + self.three.bytes()
    }
}

pub(crate) use in_dimensions;

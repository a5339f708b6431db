//! Finders in two dimensions and three, and the finders that calls without one of their own share.

use std::sync::{Mutex, PoisonError};

use engine::{CoherentFinder, InputError, PairFinder};
use pyo3::{PyErr, PyResult};

use crate::errors::{Refused, too_many};
use crate::freed::Freed;
use crate::memory::entries_by_memory;
use crate::prepared::Of;

/// A finder in two dimensions and a finder in three. Neither holds memory before its first search.
pub(crate) struct Both<Two = PairFinder<2>, Three = PairFinder<3>> {
    pub(crate) two: Two,
    pub(crate) three: Three,
    /// The limit that each search for a list sets.
    pub(crate) max_pairs: MaxPairs,
    /// Memory of the finders' results.
    pub(crate) freed: Freed,
}

/// The finders for frames in which bodies move little.
pub(crate) type BothCoherent = Both<CoherentFinder<2>, CoherentFinder<3>>;

/// How long a list may be: so many pairs as the caller allows, or as many as memory holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MaxPairs(pub(crate) Option<usize>);

impl MaxPairs {
    /// Returns how many entries a list may have that take so many bytes each, all columns counted.
    pub(crate) fn of_bytes(self, bytes: usize) -> usize {
        self.0.unwrap_or_else(|| entries_by_memory(bytes))
    }

    /// Makes the exception: where the caller has set no limit, it is memory's.
    pub(crate) fn refused(self, error: InputError) -> PyErr {
        match error {
            InputError::TooManyPairs { pairs, .. } if self.0.is_none() => too_many(pairs),
            error => error.refused(),
        }
    }
}

impl<Two: Default, Three: Default> Both<Two, Three> {
    /// Makes finders that list so many pairs at most, or as many as memory holds.
    pub(crate) fn new(max_pairs: Option<usize>) -> Self {
        let (two, three) = Default::default();
        Self { two, three, max_pairs: MaxPairs(max_pairs), freed: Freed::up_to(usize::MAX) }
    }
}

/// Idle finders of the functions that are called without one.
static IDLE: Mutex<Vec<Both>> = Mutex::new(Vec::new());

/// How many idle finders are kept, and how many bytes each may hold; its memory of results may be as large again.
const IDLE_MAX: usize = 4;
const IDLE_BYTES: usize = 1 << 28;

/// Calls `search` with an idle finder, and keeps it for the next call unless it has grown large.
pub(crate) fn with_idle<R>(search: impl FnOnce(&mut Both) -> PyResult<R>) -> PyResult<R> {
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let idle_one = || Both { freed: Freed::up_to(IDLE_BYTES), ..Both::new(None) };
    let mut both = idle().pop().unwrap_or_else(idle_one);
    let result = search(&mut both)?;
    let mut idle = idle();
    if idle.len() < IDLE_MAX && both.bytes() - both.freed.bytes() <= IDLE_BYTES {
        idle.push(both);
    }
    Ok(result)
}

/// Picks the finder in `D` dimensions.
pub(crate) trait Dimension<const D: usize>: Of<D> {
    fn finder(both: &mut Both) -> &mut PairFinder<D>;

    fn coherent(both: &mut BothCoherent) -> &mut CoherentFinder<D>;
}

impl Dimension<2> for () {
    fn finder(both: &mut Both) -> &mut PairFinder<2> {
        &mut both.two
    }

    fn coherent(both: &mut BothCoherent) -> &mut CoherentFinder<2> {
        &mut both.two
    }
}

impl Dimension<3> for () {
    fn finder(both: &mut Both) -> &mut PairFinder<3> {
        &mut both.three
    }

    fn coherent(both: &mut BothCoherent) -> &mut CoherentFinder<3> {
        &mut both.three
    }
}

/// Evaluates the same expression in two dimensions or in three.
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
        self.two.bytes() + self.three.bytes() + self.freed.bytes()
    }
}

pub(crate) use in_dimensions;

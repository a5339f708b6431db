//! Visitors: a function of Python's is called with pairs block by block, so that no list of all pairs is made.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use engine::{Hit, InputError};
use pyo3::prelude::*;

use crate::arrays::{Cutoff, rows};
use crate::dimensions::{Both, Dimension, in_dimensions, with_idle};
use crate::errors::{Refused, type_error, value_error};
use crate::finder::Call;
use crate::input::SetsOfPairs;
use crate::space::AskedSpace;

/// How many pairs a block has by default: enough that a call of Python's costs nothing, and few enough to stay in
/// cache.
const BLOCK: usize = 1 << 16;

/// Pairs of a thread that wait to be passed on, and their shifts. Two threads share no cache line of these.
#[derive(Default)]
#[repr(align(128))]
struct Waiting {
    pairs: Vec<u32>,
    shifts: Vec<i32>,
}

/// A function of Python's, and the pairs that wait to be passed to it.
struct Visitor<'f> {
    function: &'f Py<PyAny>,
    block: usize,
    /// One for the calling thread, then one for each thread of the pool.
    waiting: Vec<Mutex<Waiting>>,
    /// The exception that the function has raised, if it has: it is not called again.
    raised: Mutex<Option<PyErr>>,
    /// Whether the function has raised.
    stops: AtomicBool,
}

/// What unwinds a search whose function has raised: nobody waits for the rest of its pairs.
struct Stopped;

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Visitor<'_> {
    fn add<const D: usize>(&self, pair: [u32; 2], shift: Option<[i32; D]>) {
        if self.stops.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped));
        }
        let thread = rayon::current_thread_index().map_or(0, |index| index + 1) % self.waiting.len();
        let mut waiting = lock(&self.waiting[thread]);
        waiting.pairs.extend_from_slice(&pair);
        if let Some(shift) = shift {
            waiting.shifts.extend_from_slice(&shift);
        }
        if waiting.pairs.len() >= 2 * self.block {
            let full = core::mem::take(&mut *waiting);
            waiting.pairs.reserve(full.pairs.len());
            waiting.shifts.reserve(full.shifts.len());
            drop(waiting);
            self.pass::<D>(full, shift.is_some());
        }
    }

    /// Calls the function, unless it has raised.
    fn pass<const D: usize>(&self, Waiting { pairs, shifts }: Waiting, repeats: bool) {
        if pairs.is_empty() {
            return;
        }
        Python::attach(|py| {
            if self.stops.load(Ordering::Relaxed) {
                return;
            }
            let called = rows(py, pairs, 2).and_then(|pairs| match repeats {
                true => self.function.call1(py, (pairs, rows(py, shifts, D)?)),
                false => self.function.call1(py, (pairs,)),
            });
            // Functions that are not written in Python see no interrupts.
            if let Err(raised) = called.and_then(|_| py.check_signals()) {
                lock(&self.raised).get_or_insert(raised);
                self.stops.store(true, Ordering::Relaxed);
            }
        });
    }
}

fn visit<const D: usize>(
    py: Python<'_>,
    call: &Call<'_>,
    both: &mut Both,
    (function, block): (&Py<PyAny>, usize),
) -> PyResult<()>
where
    (): Dimension<D>,
{
    let Call { read, threads } = call;
    let waiting = (0..=threads.count()).map(|_| Mutex::default()).collect();
    let visitor = Visitor { function, block, waiting, raised: Mutex::default(), stops: AtomicBool::new(false) };
    read.with::<D, _>(|input, cell| {
        let (finder, repeats) = (<()>::finder(both), !cell.space.is_open());
        let search = || {
            let search = finder.on(threads.lend());
            if !repeats {
                return search.for_each_pair(input, |a, b| visitor.add::<D>([a, b], None)).map(drop);
            }
            let add = |Hit { pair, mut image_shift, .. }: Hit<D>| {
                if cell.turned {
                    image_shift[0] = -image_shift[0];
                }
                visitor.add(pair, Some(image_shift));
            };
            search.for_each_hit(input, add).map(drop)
        };
        let visited = py.detach(|| {
            // A finder whose search was unwound is not kept: `with_idle` drops it.
            match catch_unwind(AssertUnwindSafe(search)) {
                Ok(searched) => searched?,
                Err(stopped) if stopped.is::<Stopped>() => return Ok(()),
                Err(panic) => resume_unwind(panic),
            }
            visitor.waiting.iter().for_each(|waiting| visitor.pass::<D>(core::mem::take(&mut lock(waiting)), repeats));
            Ok(())
        });
        visited.map_err(|refused: InputError| refused.refused())
    })?;
    visitor.raised.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Calls a function with every overlapping pair, block by block.
///
/// It serves where memory has no room for a list of all pairs, or where pairs are not worth a list.
///
/// Parameters
/// ----------
/// function : callable
///     Called as ``function(pairs)`` with a (k, 2) array of uint32 of its own; where space repeats, as
///     ``function(pairs, shifts)``, with a (k, d) array of int32 beside it. Calls come one at a time, but from other
///     threads than the one that waits. What the function returns is not looked at. Once it raises, the search stops,
///     and ``for_each`` raises its exception.
/// positions, radii, cutoff, cell, pbc, origin, threads
///     As for ``pairs``. On one thread, pairs come in the order of ``pairs``; on several, in no fixed order.
/// block : int, default 65536
///     The most pairs of a call. A call costs some microseconds, and a pair some 17 nanoseconds, four times as long as
///     in a list.
///
/// Examples
/// --------
/// >>> histogram = np.zeros(100, int)
/// >>> def add(pairs):
/// ...     apart = np.linalg.norm(xyz[pairs[:, 1]] - xyz[pairs[:, 0]], axis=1)
/// ...     histogram[:] += np.histogram(apart, 100, (0.0, 5.0))[0]
/// >>> jostle.for_each(add, xyz, cutoff=5.0)
#[pyfunction]
#[pyo3(signature = (function, positions, radii=None, *, block=BLOCK, cutoff=None, cell=None, pbc=None, origin=None, threads=None))]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn for_each<'py>(
    py: Python<'py>,
    function: &Bound<'py, PyAny>,
    positions: Bound<'py, PyAny>,
    radii: Option<Bound<'py, PyAny>>,
    block: usize,
    cutoff: Option<Cutoff>,
    cell: Option<Bound<'py, PyAny>>,
    pbc: Option<Bound<'py, PyAny>>,
    origin: Option<Bound<'py, PyAny>>,
    threads: Option<isize>,
) -> PyResult<()> {
    if !function.is_callable() {
        return Err(type_error(format_args!("for_each calls a function, not {}", function.get_type().name()?)));
    }
    if !(1..=1 << 30).contains(&block) {
        return Err(value_error(format_args!("block is {block}: from 1 to 2**30 pairs")));
    }
    let call = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
    if call.read.sets_of_pairs() == SetsOfPairs::Many {
        return Err(type_error("for_each tells no sets apart: call it for each set, and for each two of them"));
    }
    let function = (&function.clone().unbind(), block);
    with_idle(|both| in_dimensions!(call.read.dimensions(), D => visit::<D>(py, &call, both, function)))
}

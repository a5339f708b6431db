//! Visitors: a function of Python's is called with pairs block by block, so that no list of all pairs is made.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use engine::{Hit, InputError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{Cutoff, array, rows};
use crate::dimensions::{Both, Dimension, in_dimensions, with_idle};
use crate::errors::{Refused, type_error, value_error};
use crate::finder::Call;
use crate::input::SetsOfPairs;
use crate::space::AskedSpace;

/// How many pairs a block has by default: enough that a call of Python's costs nothing, and few enough to stay in
/// cache.
pub(crate) const BLOCK: usize = 1 << 16;

/// Pairs of a thread that wait to be passed on, with their shifts where space repeats, with their sets where there are
/// many, and with their times of impact where bodies move. Two threads share no cache line of these.
#[derive(Default)]
#[repr(align(128))]
struct Waiting {
    pairs: Vec<u32>,
    shifts: Vec<i32>,
    sets: Vec<u32>,
    times: Vec<f64>,
}

/// A function of Python's, and the pairs that wait to be passed to it.
struct Visitor<'f> {
    function: &'f Py<PyAny>,
    block: usize,
    /// Whether shifts, sets and times are passed on.
    wants: [bool; 3],
    /// One for the calling thread, then one for each thread of the pool.
    waiting: Vec<Mutex<Waiting>>,
    /// The exception that the function has raised, if it has: it is not called again. Whoever calls the function holds
    /// the lock meanwhile, so that calls come one at a time.
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
    fn add<const D: usize>(&self, hit: &Hit<D>) {
        if self.stops.load(Ordering::Relaxed) {
            resume_unwind(Box::new(Stopped));
        }
        let thread = rayon::current_thread_index().map_or(0, |index| index + 1) % self.waiting.len();
        let mut waiting = lock(&self.waiting[thread]);
        let [shifts, sets, _] = self.wants;
        waiting.pairs.extend_from_slice(&hit.pair);
        if shifts {
            waiting.shifts.extend_from_slice(&hit.image_shift);
        }
        if sets {
            waiting.sets.extend_from_slice(&hit.sets);
        }
        waiting.times.extend(hit.time_of_impact);
        if waiting.pairs.len() >= 2 * self.block {
            let full = core::mem::take(&mut *waiting);
            waiting.pairs.reserve(full.pairs.len());
            waiting.shifts.reserve(full.shifts.len());
            waiting.sets.reserve(full.sets.len());
            waiting.times.reserve(full.times.len());
            drop(waiting);
            self.pass::<D>(full);
        }
    }

    /// Calls the function, unless it has raised. The calling thread must not hold the interpreter.
    fn pass<const D: usize>(&self, Waiting { pairs, shifts, sets, times }: Waiting) {
        if pairs.is_empty() {
            return;
        }
        // The interpreter goes to other threads during a call, so it does not keep two calls apart. Whoever has the lock
        // needs the interpreter; nobody has the interpreter while waiting for the lock.
        let mut raised = lock(&self.raised);
        if raised.is_some() {
            return;
        }
        Python::attach(|py| {
            let called = || {
                let mut arguments = vec![rows(py, pairs, 2)?];
                let [has_shifts, has_sets, has_times] = self.wants;
                arguments.extend(has_shifts.then(|| rows(py, shifts, D)).transpose()?);
                arguments.extend(has_sets.then(|| rows(py, sets, 2)).transpose()?);
                arguments.extend(has_times.then(|| array(py, times)));
                self.function.call1(py, PyTuple::new(py, arguments)?)
            };
            // Functions that are not written in Python see no interrupts.
            if let Err(error) = called().and_then(|_| py.check_signals()) {
                *raised = Some(error);
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
    read.with::<D, _>(|input, cell| {
        let wants = [!cell.space.is_open(), read.sets_of_pairs() == SetsOfPairs::Many, read.moves()];
        let visitor =
            Visitor { function, block, wants, waiting, raised: Mutex::default(), stops: AtomicBool::new(false) };
        let finder = <()>::finder(both);
        let search = || {
            let search = finder.on(threads.lend());
            if wants == [false; 3] {
                let add = |a, b| {
                    visitor.add(&Hit { sets: [0; 2], pair: [a, b], image_shift: [0; D], time_of_impact: None });
                };
                return search.for_each_pair(input, add);
            }
            search.for_each_hit(input, |mut hit| {
                if cell.turned {
                    hit.image_shift[0] = -hit.image_shift[0];
                }
                visitor.add(&hit);
            })
        };
        let visited = py.detach(|| {
            match catch_unwind(AssertUnwindSafe(search)) {
                Ok(searched) => searched?,
                Err(stopped) if stopped.is::<Stopped>() => return Ok(()),
                Err(panic) => resume_unwind(panic),
            };
            visitor.waiting.iter().for_each(|waiting| visitor.pass::<D>(core::mem::take(&mut lock(waiting))));
            Ok(())
        });
        visited.map_err(|refused: InputError| refused.refused())?;
        visitor.raised.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    })
}

/// A call of `for_each` whose arguments have been read.
pub(crate) struct VisitCall<'py> {
    call: Call<'py>,
    function: Py<PyAny>,
    block: usize,
}

impl<'py> VisitCall<'py> {
    pub(crate) fn new(function: &Bound<'py, PyAny>, block: usize, call: Call<'py>) -> PyResult<Self> {
        if !function.is_callable() {
            return Err(type_error(format_args!("for_each calls a function, not {}", function.get_type().name()?)));
        }
        if !(1..=1 << 30).contains(&block) {
            return Err(value_error(format_args!("block is {block}: from 1 to 2**30 pairs")));
        }
        Ok(Self { call, function: function.clone().unbind(), block })
    }

    pub(crate) fn run(&self, py: Python<'py>, both: &mut Both) -> PyResult<()> {
        let function = (&self.function, self.block);
        in_dimensions!(self.call.read.dimensions(), D => visit::<D>(py, &self.call, both, function))
    }
}

/// Calls a function with every overlapping pair, block by block.
///
/// It serves where memory has no room for a list of all pairs, or where pairs are not worth a list.
///
/// Parameters
/// ----------
/// function : callable
///     Called as ``function(pairs)`` with a (k, 2) array of uint32 of its own. Where space repeats, a (k, d) array of
///     int32 follows, the shifts; then, for many sets (``among``), a (k, 2) array of uint32, the numbers of the sets of
///     each pair; then, where bodies move, a (k,) array of float64, the times of impact. Calls come one at a time, but
///     from other threads than the one that waits. What the function returns is not looked at. Once it raises, the
///     search stops, and ``for_each`` raises its exception.
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
    let call = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
    let call = VisitCall::new(function, block, call)?;
    with_idle(|both| call.run(py, both))
}

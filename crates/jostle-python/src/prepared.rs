//! Sets that are sorted once, and questions to them.

use engine::{PreparedAnswers, PreparedBatch, PreparedQueries, QueryError, SeenAt};
use pyo3::prelude::*;

use crate::answers::{Answers, Gathered, Unanswered};
use crate::arrays::{Cutoff, Integers, NAMED, Number, Reals, as_array, number, reach_of};
use crate::dimensions::in_dimensions;
use crate::errors::{Refused, refused, type_error, value_error};
use crate::input::{Asked, Read};
use crate::memory::entries_by_memory;
use crate::space::{AskedSpace, Cell};
use crate::threads::Threads;

/// A set in two dimensions or three, and the cell that it was sorted for.
pub(crate) enum Prepared {
    Two(Box<engine::PreparedSet<2>>, Cell<2>),
    Three(Box<engine::PreparedSet<3>>, Cell<3>),
}

/// Takes a prepared set out of [`Prepared`], or puts it there, in `D` dimensions.
pub(crate) trait Of<const D: usize> {
    fn of(prepared: &Prepared) -> PyResult<(&engine::PreparedSet<D>, Cell<D>)>;

    fn make(set: engine::PreparedSet<D>, cell: Cell<D>) -> Prepared;
}

impl Of<2> for () {
    fn of(prepared: &Prepared) -> PyResult<(&engine::PreparedSet<2>, Cell<2>)> {
        match prepared {
            Prepared::Two(set, cell) => Ok((set, *cell)),
            Prepared::Three(..) => Err(type_error("a prepared set is in three dimensions, not in two")),
        }
    }

    fn make(set: engine::PreparedSet<2>, cell: Cell<2>) -> Prepared {
        Prepared::Two(Box::new(set), cell)
    }
}

impl Of<3> for () {
    fn of(prepared: &Prepared) -> PyResult<(&engine::PreparedSet<3>, Cell<3>)> {
        match prepared {
            Prepared::Three(set, cell) => Ok((set, *cell)),
            Prepared::Two(..) => Err(type_error("a prepared set is in two dimensions, not in three")),
        }
    }

    fn make(set: engine::PreparedSet<3>, cell: Cell<3>) -> Prepared {
        Prepared::Three(Box::new(set), cell)
    }
}

/// Bodies at rest, copied and sorted once: for many searches (walls, terrain, a crystal), and for questions.
///
/// Searches take a prepared set in place of positions, alone or in ``between`` and ``among``. A search that names no
/// cell is in the cell of the prepared set. Questions are answered many at once, in float64 and at every image of the
/// cell: see the methods. Each takes ``exclude``, an index or an array of shape (q,): the body that is left out of the
/// answers to each question, since it is the one that asks, say (``exclude=np.arange(n)``); -1 leaves out none.
/// More answers than a third of the memory holds are a ``MemoryError``: see ``Finder``.
///
/// Parameters
/// ----------
/// positions, radii, cutoff, cell, pbc, origin, threads
///     As for ``pairs``, or ``Bodies``, ``Boxes`` or ``Capsules``. For questions about points alone (``nearest``), radii
///     may be 0.
///
/// Examples
/// --------
/// >>> places = jostle.PreparedSet(xy, 0.0)
/// >>> answers = places.nearest([[0.5, 0.5]], 3)
/// >>> answers.indices, answers.distances
#[pyclass(frozen, module = "jostle")]
pub(crate) struct PreparedSet {
    pub(crate) prepared: Prepared,
    pub(crate) number: Number,
    /// What the bodies are called.
    pub(crate) kind: &'static str,
}

/// Reads points, one a row, in either precision.
fn points<const D: usize>(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<[f64; D]>> {
    let array = as_array(object, name)?;
    let read = Reals::points(&array, name)?;
    if read.columns() != D {
        return Err(type_error(format_args!("{name} must have shape (q, {D}), as the set is in {D} dimensions")));
    }
    read.to_rows()
}

/// Reads a number for each question, a row of what is called `of`, or one for all.
fn each(object: &Bound<'_, PyAny>, name: &str, (of, questions): (&str, usize)) -> PyResult<Vec<f64>> {
    if let Some(all) = number(object) {
        return Ok(vec![all; questions]);
    }
    let array = as_array(object, name)?;
    Ok(Reals::numbers(&array, name, (of, questions))?.to_rows::<1>()?.into_flattened())
}

/// The body that each question leaves out, if there are such.
struct Exclude(Option<Integers<i64>>);

impl Exclude {
    /// Reads an index for each question, or one for all. Negative ones leave out nothing.
    fn of(object: Option<&Bound<'_, PyAny>>, questions: usize, bodies: usize) -> PyResult<Self> {
        let Some(object) = object else { return Ok(Self(None)) };
        let read = Integers::of(object, "exclude", questions)?;
        let is_beyond = |index: i64| usize::try_from(index).is_ok_and(|index| index >= bodies);
        match read.each() {
            Err(all) if is_beyond(all) => {
                return Err(value_error(format_args!("exclude is {all}, and there are {bodies} bodies")));
            }
            Err(_) => {}
            Ok(each) => {
                let faults = (0..).zip(each).filter(|&(_, &index)| is_beyond(index)).collect::<Vec<(u64, _)>>();
                if let Some((row, index)) = faults.first() {
                    let message = format!("there are {bodies} bodies, and row {row} of exclude is {index}");
                    return Err(refused(
                        message,
                        faults.len(),
                        faults.iter().map(|fault| fault.0).take(NAMED).collect(),
                    ));
                }
            }
        }
        Ok(Self(Some(read)))
    }

    /// Whether a question leaves out a body.
    fn leaves_out(&self, question: usize, id: u32) -> bool {
        self.0.as_ref().is_some_and(|read| match read.each() {
            Ok(each) => each[question] == i64::from(id),
            Err(all) => all == i64::from(id),
        })
    }
}

impl Refused for QueryError {
    fn refused(self) -> PyErr {
        match &self {
            Self::Queries { count, first } => {
                refused(&self, *count, first.iter().map(|(query, _)| *query as u64).collect())
            }
            _ => value_error(self),
        }
    }
}

/// The fewest and the most questions of a slice, unless they are the last.
const SLICE: [usize; 2] = [64, 1 << 14];

impl PreparedSet {
    /// Asks many questions, in slices, so that answers are counted before they fill the memory.
    fn ask<Q: Sync, const D: usize>(
        &self,
        py: Python<'_>,
        (threads, far): (Option<isize>, bool),
        (asked, exclude): (&[Q], Option<&Bound<'_, PyAny>>),
        ask: impl Sync
        + for<'b> Fn(
            &'b mut PreparedBatch<D>,
            PreparedQueries<'_, D>,
            &[Q],
            engine::Threads<'_>,
        ) -> Result<PreparedAnswers<'b, D>, QueryError>,
    ) -> PyResult<Answers>
    where
        (): Of<D>,
    {
        let ((set, cell), threads) = (<() as Of<D>>::of(&self.prepared)?, Threads::of(threads)?);
        let exclude = Exclude::of(exclude, asked.len(), set.len())?;
        let most = entries_by_memory(size_of::<SeenAt<D>>());
        let answer = || {
            let (mut batch, mut gathered, mut done) = (PreparedBatch::new(), Gathered::new(cell), 0);
            let (mut faults, mut first) = (0, Vec::new());
            while done < asked.len() {
                // The first slice is short enough even if every body answers. The next ones are so if answers are as
                // many as before, and are not longer than all before them together.
                let (each, longest) = match done {
                    0 => (set.len().max(1), SLICE[1]),
                    _ => (gathered.indices.len() / done + 1, done),
                };
                let len = (most / 4 / each).min(longest).clamp(SLICE[0], SLICE[1]);
                let slice = &asked[done..asked.len().min(done + len)];
                let counts = |question: usize, id: u32| !exclude.leaves_out(done + question, id);
                let all = set.queries();
                let queries = if exclude.0.is_some() { all.only_for(&counts) } else { all };
                match ask(&mut batch, queries, slice, threads.lend()) {
                    Ok(given) => gathered.add(given),
                    // The other slices are asked too, so that all questions at fault are counted.
                    Err(QueryError::Queries { count, first: of_slice }) => {
                        faults += count;
                        first.extend(of_slice.into_iter().map(|(question, fault)| (done + question, fault)));
                        first.truncate(NAMED);
                    }
                    Err(refused) => return Err(Unanswered::Refused(refused)),
                }
                done += slice.len();
                if gathered.indices.len() > most {
                    return Err(Unanswered::TooMany(gathered.indices.len()));
                }
            }
            if faults > 0 {
                return Err(Unanswered::Refused(QueryError::Queries { count: faults, first }));
            }
            Ok(gathered)
        };
        py.detach(answer).map_err(Refused::refused)?.arrays(py, far)
    }

    pub(crate) fn len(&self) -> usize {
        match &self.prepared {
            Prepared::Two(set, _) => set.len(),
            Prepared::Three(set, _) => set.len(),
        }
    }

    pub(crate) fn dimensions(&self) -> usize {
        match self.prepared {
            Prepared::Two(..) => 2,
            Prepared::Three(..) => 3,
        }
    }

    fn build<const D: usize>(py: Python<'_>, read: &Read<'_>, threads: &Threads) -> PyResult<Prepared>
    where
        (): Of<D>,
    {
        let (set, cell) = read.one::<D>()?;
        let mut prepared = engine::PreparedSet::new();
        py.detach(|| prepared.build(set, cell.space, threads.lend())).map_err(Refused::refused)?;
        Ok(<() as Of<D>>::make(prepared, cell))
    }
}

#[pymethods]
impl PreparedSet {
    #[new]
    #[pyo3(signature = (positions, radii=None, *, cutoff=None, cell=None, pbc=None, origin=None, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new<'py>(
        py: Python<'py>,
        positions: Bound<'py, PyAny>,
        radii: Option<Bound<'py, PyAny>>,
        cutoff: Option<Cutoff>,
        cell: Option<Bound<'py, PyAny>>,
        pbc: Option<Bound<'py, PyAny>>,
        origin: Option<Bound<'py, PyAny>>,
        threads: Option<isize>,
    ) -> PyResult<Self> {
        let read = Asked { of: positions, radii, cutoff, space: AskedSpace { cell, pbc, origin } }.read()?;
        let threads = Threads::of(threads)?;
        let prepared = in_dimensions!(read.dimensions(), D => Self::build::<D>(py, &read, &threads))?;
        Ok(Self {
            prepared,
            number: if read.is_decided() { Number::Double } else { Number::Single },
            kind: read.kind(),
        })
    }

    /// Finds the bodies that hold each point.
    ///
    /// Parameters
    /// ----------
    /// points : (q, d) array
    ///
    /// Returns
    /// -------
    /// Answers
    ///     Indices ascending.
    #[pyo3(signature = (points, *, exclude=None, threads=None))]
    fn points(
        &self,
        py: Python<'_>,
        points: &Bound<'_, PyAny>,
        exclude: Option<&Bound<'_, PyAny>>,
        threads: Option<isize>,
    ) -> PyResult<Answers> {
        in_dimensions!(self.dimensions(), D => {
            let asked = self::points::<D>(points, "points")?;
            self.ask(py, (threads, false), (&asked, exclude), |batch, queries, asked, threads| batch.points(queries, asked, threads))
        })
    }

    /// Finds the bodies that overlap each circle or sphere; touching counts.
    ///
    /// Parameters
    /// ----------
    /// centers : (q, d) array
    /// radii : float or (q,) array
    ///
    /// Returns
    /// -------
    /// Answers
    ///     Indices ascending.
    #[pyo3(signature = (centers, radii, *, exclude=None, threads=None))]
    fn circles(
        &self,
        py: Python<'_>,
        centers: &Bound<'_, PyAny>,
        radii: &Bound<'_, PyAny>,
        exclude: Option<&Bound<'_, PyAny>>,
        threads: Option<isize>,
    ) -> PyResult<Answers> {
        in_dimensions!(self.dimensions(), D => {
            let centers = self::points::<D>(centers, "centers")?;
            let radii = each(radii, "radii", ("centers", centers.len()))?;
            let asked: Vec<_> = centers.into_iter().zip(radii).collect();
            self.ask(py, (threads, false), (&asked, exclude), |batch, queries, asked, threads| batch.circles(queries, asked, threads))
        })
    }

    /// Finds the bodies that touch each box.
    ///
    /// Parameters
    /// ----------
    /// lo, hi : (q, d) arrays
    ///     The lower and the upper corner of each box.
    ///
    /// Returns
    /// -------
    /// Answers
    ///     Indices ascending.
    #[pyo3(signature = (lo, hi, *, exclude=None, threads=None))]
    fn boxes(
        &self,
        py: Python<'_>,
        lo: &Bound<'_, PyAny>,
        hi: &Bound<'_, PyAny>,
        exclude: Option<&Bound<'_, PyAny>>,
        threads: Option<isize>,
    ) -> PyResult<Answers> {
        in_dimensions!(self.dimensions(), D => {
            let asked = two::<D>((lo, "lo"), (hi, "hi"))?;
            self.ask(py, (threads, false), (&asked, exclude), |batch, queries, asked, threads| batch.aabbs(queries, asked, threads))
        })
    }

    /// Finds the bodies that each ray hits, the nearest first.
    ///
    /// Parameters
    /// ----------
    /// origins, directions : (q, d) arrays
    ///     Directions of any length.
    /// reach : float or (q,) array, default inf
    ///     How far each ray goes, in the unit of the positions; finite where space repeats.
    ///
    /// Returns
    /// -------
    /// Answers
    ///     With the distance from the origin to where the ray enters each body.
    #[pyo3(signature = (origins, directions, reach=None, *, exclude=None, threads=None))]
    fn rays(
        &self,
        py: Python<'_>,
        origins: &Bound<'_, PyAny>,
        directions: &Bound<'_, PyAny>,
        reach: Option<&Bound<'_, PyAny>>,
        exclude: Option<&Bound<'_, PyAny>>,
        threads: Option<isize>,
    ) -> PyResult<Answers> {
        in_dimensions!(self.dimensions(), D => {
            let asked = self::rays::<D>(origins, directions, reach)?;
            self.ask(py, (threads, true), (&asked, exclude), |batch, queries, asked, threads| batch.rays(queries, asked, threads))
        })
    }

    /// Finds the first body that each ray hits: as ``rays``, with one answer or none.
    #[pyo3(signature = (origins, directions, reach=None, *, exclude=None, threads=None))]
    fn first_hits(
        &self,
        py: Python<'_>,
        origins: &Bound<'_, PyAny>,
        directions: &Bound<'_, PyAny>,
        reach: Option<&Bound<'_, PyAny>>,
        exclude: Option<&Bound<'_, PyAny>>,
        threads: Option<isize>,
    ) -> PyResult<Answers> {
        in_dimensions!(self.dimensions(), D => {
            let asked = self::rays::<D>(origins, directions, reach)?;
            self.ask(py, (threads, true), (&asked, exclude), |batch, queries, asked, threads| batch.first_hits(queries, asked, threads))
        })
    }

    /// Finds the bodies whose centres are nearest to each point, the nearest first.
    ///
    /// Parameters
    /// ----------
    /// points : (q, d) array
    /// k : int, default 1
    ///     How many bodies; all, if there are fewer. Where each point has k, ``answers.indices.reshape(-1, k)`` has a
    ///     row for each point.
    /// reach : float, default inf
    ///     How far away the bodies may be.
    ///
    /// Returns
    /// -------
    /// Answers
    ///     With the distance from the point to each centre.
    #[pyo3(signature = (points, k=1, reach=f64::INFINITY, *, exclude=None, threads=None))]
    fn nearest(
        &self,
        py: Python<'_>,
        points: &Bound<'_, PyAny>,
        k: usize,
        #[pyo3(from_py_with = reach_of)] reach: f64,
        exclude: Option<&Bound<'_, PyAny>>,
        threads: Option<isize>,
    ) -> PyResult<Answers> {
        in_dimensions!(self.dimensions(), D => {
            let asked = self::points::<D>(points, "points")?;
            self.ask(py, (threads, true), (&asked, exclude), |batch, queries, asked, threads| {
                batch.nearest(queries, asked, k, reach, threads)
            })
        })
    }

    fn __len__(&self) -> usize {
        self.len()
    }

    fn __repr__(&self) -> String {
        format!("jostle.PreparedSet({} {} of {})", self.len(), self.kind, self.number.name())
    }
}

type TwoPoints<const D: usize> = ([f64; D], [f64; D]);

/// Reads two points for each question.
fn two<const D: usize>(
    (a, a_name): (&Bound<'_, PyAny>, &str),
    (b, b_name): (&Bound<'_, PyAny>, &str),
) -> PyResult<Vec<TwoPoints<D>>> {
    let (a, b) = (points::<D>(a, a_name)?, points::<D>(b, b_name)?);
    if a.len() != b.len() {
        return Err(type_error(format_args!("{a_name} has {} rows, and {b_name} {}", a.len(), b.len())));
    }
    Ok(a.into_iter().zip(b).collect())
}

/// Origin, direction, reach.
type Ray<const D: usize> = ([f64; D], [f64; D], f64);

fn rays<const D: usize>(
    origins: &Bound<'_, PyAny>,
    directions: &Bound<'_, PyAny>,
    reach: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Ray<D>>> {
    let lines = two::<D>((origins, "origins"), (directions, "directions"))?;
    let reach = match reach {
        None => vec![f64::INFINITY; lines.len()],
        Some(reach) => each(reach, "reach", ("origins", lines.len()))?,
    };
    Ok(lines.into_iter().zip(reach).map(|((origin, direction), reach)| (origin, direction, reach)).collect())
}

//! Answers to the questions that a prepared set is asked: gathered slice after slice, and as arrays.

use engine::{PreparedAnswers, QueryError};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PySlice;

use crate::arrays::{array, rows};
use crate::errors::Refused;
use crate::space::Cell;

/// Answers to questions, slice after slice.
pub(crate) struct Gathered<const D: usize> {
    offsets: Vec<i64>,
    pub(crate) indices: Vec<u32>,
    distances: Vec<f64>,
    shifts: Vec<i32>,
    cell: Cell<D>,
}

impl<const D: usize> Gathered<D> {
    pub(crate) fn new(cell: Cell<D>) -> Self {
        Self { offsets: vec![0], indices: Vec::new(), distances: Vec::new(), shifts: Vec::new(), cell }
    }

    /// Adds the answers to a slice. Shifts are turned round where the cell was.
    pub(crate) fn add(&mut self, given: PreparedAnswers<'_, D>) {
        let before = self.indices.len() as i64;
        self.offsets.extend(given.offsets()[1..].iter().map(|&offset| before + offset as i64));
        self.indices.extend(given.found().iter().map(|seen| seen.id));
        self.distances.extend_from_slice(given.distances());
        if self.cell.space.is_open() {
            return;
        }
        for seen in given.found() {
            let mut shift = seen.image_shift;
            if self.cell.turned {
                shift[0] = -shift[0];
            }
            self.shifts.extend_from_slice(&shift);
        }
    }

    /// Makes arrays; of distances if they were asked for.
    pub(crate) fn arrays(self, py: Python<'_>, far: bool) -> PyResult<Answers> {
        let repeats = !self.cell.space.is_open();
        Ok(Answers {
            offsets: array(py, self.offsets).unbind(),
            indices: array(py, self.indices).unbind(),
            distances: far.then(|| array(py, self.distances).unbind()),
            shifts: repeats.then(|| rows(py, self.shifts, D)).transpose()?.map(Bound::unbind),
        })
    }
}

/// Why questions have no answers.
pub(crate) enum Unanswered {
    Refused(QueryError),
    /// So many answers were found before memory ran short.
    TooMany(usize),
}

impl Refused for Unanswered {
    fn refused(self) -> PyErr {
        match self {
            Self::Refused(error) => error.refused(),
            Self::TooMany(answers) => PyMemoryError::new_err(format!(
                "{answers} answers so far, more than memory holds: ask fewer questions at a time"
            )),
        }
    }
}

/// The answers to questions.
///
/// The answers to question q are ``indices[offsets[q]:offsets[q + 1]]``, or ``answers[q]``.
///
/// Attributes
/// ----------
/// offsets : (q + 1,) array of int64
///     Where the answers to each question begin.
/// indices : (m,) array of uint32
///     The bodies, by their rows in the positions.
/// distances : (m,) array of float64, or None
///     How far away each body is, for rays, first hits and nearest bodies; None for other questions.
/// shifts : (m, d) array of int32, or None
///     By how many vectors of the cell each body is moved to where it is met; None in open space.
#[pyclass(frozen, module = "jostle", get_all)]
pub(crate) struct Answers {
    offsets: Py<PyAny>,
    indices: Py<PyAny>,
    distances: Option<Py<PyAny>>,
    shifts: Option<Py<PyAny>>,
}

#[pymethods]
impl Answers {
    #[new]
    fn new(offsets: Py<PyAny>, indices: Py<PyAny>, distances: Option<Py<PyAny>>, shifts: Option<Py<PyAny>>) -> Self {
        Self { offsets, indices, distances, shifts }
    }

    fn __getnewargs__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        (&self.offsets, &self.indices, &self.distances, &self.shifts).into_py_any(py)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.offsets.bind(py).len()? - 1)
    }

    /// The bodies that answer one question: a view of ``indices``.
    fn __getitem__<'py>(&self, py: Python<'py>, question: isize) -> PyResult<Bound<'py, PyAny>> {
        row_of((self.offsets.bind(py), self.indices.bind(py)), question)
    }

    fn __iter__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        each_row(this)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("jostle.Answers({} questions, {} answers)", self.__len__(py)?, self.indices.bind(py).len()?))
    }
}

/// Makes an iterator over all rows of what is indexed by row.
pub(crate) fn each_row<'py>(rows: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let builtins = rows.py().import("builtins")?;
    let numbers = builtins.call_method1("range", (rows.len()?,))?;
    builtins.call_method1("map", (rows.getattr("__getitem__")?, numbers))
}

/// Returns one of the rows that lie one after the other. A negative row counts from the end.
pub(crate) fn row_of<'py>(
    (offsets, values): (&Bound<'py, PyAny>, &Bound<'py, PyAny>),
    row: isize,
) -> PyResult<Bound<'py, PyAny>> {
    let count = offsets.len()? as isize - 1;
    let at = if row < 0 { row + count } else { row };
    if !(0..count).contains(&at) {
        return Err(pyo3::exceptions::PyIndexError::new_err(format!("row {row} of {count}")));
    }
    let (start, end): (isize, isize) = (offsets.get_item(at)?.extract()?, offsets.get_item(at + 1)?.extract()?);
    values.get_item(PySlice::new(values.py(), start, end, 1))
}

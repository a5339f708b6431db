//! Pairs with all that a search knows of them.

use engine::{Found as Lent, PairFinder};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PySlice;

use crate::arrays::{array, rows};
use crate::errors::value_error;
use crate::freed::Freed;
use crate::input::{Read, SetsOfPairs};
use crate::space::Cell;

/// Two sets that meet: their numbers, and where their pairs begin and end in the list.
pub(crate) type Meeting = ([usize; 2], [usize; 2]);

/// The greatest number of a set in a result that is made again.
const MAX_SETS: usize = 1 << 16;

/// The result of ``find``: pairs, with all that is known of them.
///
/// Attributes
/// ----------
/// pairs : (m, 2) array of uint32
///     The pairs, as ``pairs`` returns them. The pairs of each two sets stand together, in ascending order of the sets:
///     see ``between(i, j)``.
/// shifts : (m, d) array of int32, or None
///     By how many vectors of the cell the second body of each pair is moved to touch the first; None in open space.
/// times : (m,) array of float64, or None
///     When the two bodies of each pair first touch, from 0 to 1; None where no body moves.
#[pyclass(frozen, module = "jostle")]
pub(crate) struct Found {
    #[pyo3(get)]
    pub(crate) pairs: Py<PyAny>,
    #[pyo3(get)]
    pub(crate) shifts: Option<Py<PyAny>>,
    #[pyo3(get)]
    times: Option<Py<PyAny>>,
    pub(crate) meetings: Vec<Meeting>,
    pub(crate) of: SetsOfPairs,
    /// How many sets there were.
    sets: usize,
    /// Whether two bodies may touch at several images, so that only shifts tell their pairs apart.
    pub(crate) by_image: bool,
}

/// The columns of [`Found`], before Python sees them.
#[derive(Default)]
pub(crate) struct FoundColumns {
    pairs: Vec<[u32; 2]>,
    shifts: Option<Vec<i32>>,
    times: Option<Vec<f64>>,
    meetings: Vec<Meeting>,
    by_image: bool,
}

impl FoundColumns {
    /// Returns all columns but the pairs, which the caller takes or copies.
    pub(crate) fn of<const D: usize>(found: Lent<'_, D>, cell: &Cell<D>, meetings: &[[usize; 2]]) -> Self {
        let repeats = !cell.space.is_open();
        let turned = |shift: [i32; D]| {
            if cell.turned { core::array::from_fn(|k| if k == 0 { -shift[k] } else { shift[k] }) } else { shift }
        };
        let times = found.times_of_impact();
        let first = found.pairs().as_ptr().addr();
        let place = |&[i, j]: &[usize; 2]| {
            let pairs = found.pairs_between(i, j);
            let start = if pairs.is_empty() { 0 } else { (pairs.as_ptr().addr() - first) / size_of::<[u32; 2]>() };
            ([i, j], [start, start + pairs.len()])
        };
        Self {
            pairs: Vec::new(),
            shifts: repeats.then(|| found.image_shifts().flat_map(turned).collect()),
            times: (!times.is_empty()).then(|| times.to_vec()),
            meetings: meetings.iter().map(place).collect(),
            by_image: repeats && !found.has_single_images(),
        }
    }

    /// Takes the list of a finder, and gives the finder `memory` for its next list.
    pub(crate) fn take<const D: usize>(
        finder: &mut PairFinder<D>,
        cell: &Cell<D>,
        meetings: &[[usize; 2]],
        memory: Vec<[u32; 2]>,
    ) -> Self {
        let columns = Self::of(finder.last(), cell, meetings);
        columns.with_pairs(finder.replace_pairs(memory))
    }

    pub(crate) fn with_pairs(self, pairs: Vec<[u32; 2]>) -> Self {
        Self { pairs, ..self }
    }

    pub(crate) fn found(self, py: Python<'_>, read: &Read<'_>, freed: &Freed) -> PyResult<Found> {
        let dimensions = read.dimensions();
        let moves = read.moves();
        let times = self.times.or_else(|| moves.then(Vec::new));
        Ok(Found {
            pairs: freed.pairs(py, self.pairs)?.unbind(),
            shifts: self.shifts.map(|shifts| rows(py, shifts, dimensions)).transpose()?.map(Bound::unbind),
            times: times.map(|times| array(py, times).unbind()),
            meetings: self.meetings,
            of: read.sets_of_pairs(),
            sets: read.count_of_sets(),
            by_image: self.by_image,
        })
    }
}

#[pymethods]
impl Found {
    /// Makes a result again of what `__getnewargs__` has told of it.
    #[new]
    fn new(
        py: Python<'_>,
        columns: (Py<PyAny>, Option<Py<PyAny>>, Option<Py<PyAny>>),
        meetings: Vec<Meeting>,
        relation_and_sets: (usize, usize),
        by_image: bool,
    ) -> PyResult<Self> {
        let ((pairs, shifts, times), (relation, sets)) = (columns, relation_and_sets);
        let of = match relation {
            1 => SetsOfPairs::One,
            2 => SetsOfPairs::Two,
            _ => SetsOfPairs::Many,
        };
        let lengths = meetings.iter().map(|(_, [start, end])| end.checked_sub(*start));
        let len = lengths.sum::<Option<usize>>();
        if len != Some(pairs.bind(py).len()?) || meetings.iter().any(|(sets, _)| sets.iter().any(|&set| set > MAX_SETS))
        {
            return Err(value_error("the pairs of sets are not all pairs"));
        }
        Ok(Self { pairs, shifts, times, meetings, of, sets, by_image })
    }

    fn __getnewargs__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let relation = match self.of {
            SetsOfPairs::One => 1,
            SetsOfPairs::Two => 2,
            SetsOfPairs::Many => 3,
        };
        ((&self.pairs, &self.shifts, &self.times), &self.meetings, (relation, self.sets), self.by_image).into_py_any(py)
    }

    /// Returns the pairs of sets i and j, the body of the lesser set first, as a view of ``pairs``. The view
    /// is empty where the sets do not meet.
    fn between<'py>(&self, py: Python<'py>, i: usize, j: usize) -> PyResult<Bound<'py, PyAny>> {
        if i.max(j) >= self.sets {
            let count = self.sets;
            return Err(value_error(format_args!("pairs of sets {i} and {j}, but there are {count} sets, from 0 on")));
        }
        let sets = [i.min(j), i.max(j)];
        let [start, end] = self.meetings.iter().find(|(of, _)| *of == sets).map_or([0, 0], |(_, place)| *place);
        self.pairs.bind(py).get_item(PySlice::new(py, start as isize, end as isize, 1))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.pairs.bind(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let names = [("shifts", &self.shifts), ("times", &self.times)];
        let with: String =
            names.iter().filter(|(_, column)| column.is_some()).map(|(name, _)| format!(", {name}")).collect();
        Ok(format!("jostle.Found({} pairs{with})", self.__len__(py)?))
    }
}

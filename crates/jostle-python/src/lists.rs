//! Neighbour lists: compressed sparse rows, and columns beside the indices.

use engine::NeighborColumns;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

use crate::answers::{each_row, row_of};
use crate::arrays::array;
use crate::freed::Freed;
use crate::space::Cell;
use crate::threads::Threads;

/// About how many neighbours one task looks at.
pub(crate) const BLOCK: usize = 1 << 15;

/// The places of columns in the free memory of their type of number.
pub(crate) const DISTANCES: usize = 0;
pub(crate) const SHIFTS: usize = 0;
pub(crate) const VECTORS: usize = 1;

/// Which columns are asked for beside the ids.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) distances: bool,
    pub(crate) shifts: bool,
    pub(crate) vectors: bool,
    /// Whether distances are in f64.
    pub(crate) double: bool,
}

impl Columns {
    /// The bytes of one neighbour in so many dimensions.
    pub(crate) fn bytes(self, dimensions: usize) -> usize {
        let column = |asked: bool, bytes: usize| if asked { bytes } else { 0 };
        size_of::<u32>()
            + column(self.distances, if self.double { 8 } else { 4 })
            + column(self.shifts, size_of::<i32>() * dimensions)
            + column(self.vectors, size_of::<f64>() * dimensions)
    }

    /// Makes lists in which searches fill in these columns, in free memory.
    pub(crate) fn lists(self, freed: &Freed) -> engine::NeighborLists {
        let mut columns = NeighborColumns::default();
        columns.neighbors = freed.take(0);
        if self.distances && self.double {
            columns.distances2_f64 = freed.take(DISTANCES);
        } else if self.distances {
            columns.distances2 = freed.take(DISTANCES);
        }
        if self.shifts {
            columns.image_shifts = freed.take(SHIFTS);
        }
        if self.vectors {
            columns.vectors = freed.take(VECTORS);
        }
        let mut lists = engine::NeighborLists::from(columns);
        if self.distances && self.double {
            lists = lists.and_distances_f64();
        } else if self.distances {
            lists = lists.and_distances();
        }
        if self.shifts {
            lists = lists.and_image_shifts();
        }
        if self.vectors {
            lists = lists.and_vectors();
        }
        lists
    }
}

/// Turns the columns that a search has filled in into those that Python gets: distances in place of their squares, and
/// shifts by the vectors of the cell as it was given.
pub(crate) fn finish<const D: usize>(
    lists: engine::NeighborLists,
    cell: &Cell<D>,
    threads: &Threads,
) -> NeighborColumns {
    let mut lists = lists.into_columns();
    let single = lists.distances2.chunks_mut(BLOCK).collect();
    threads.each(single, |block: &mut [f32]| block.iter_mut().for_each(|d| *d = d.sqrt()));
    let double = lists.distances2_f64.chunks_mut(BLOCK).collect();
    threads.each(double, |block: &mut [f64]| block.iter_mut().for_each(|d| *d = d.sqrt()));
    if cell.turned {
        let shifts = lists.image_shifts.as_chunks_mut::<D>().0.chunks_mut(BLOCK).collect();
        threads.each(shifts, |block: &mut [[i32; D]]| block.iter_mut().for_each(|shift| shift[0] = -shift[0]));
    }
    lists
}

/// The neighbours of each body, as compressed sparse rows (CSR).
///
/// The neighbours of body i are ``indices[offsets[i]:offsets[i + 1]]``, ascending. Of many sets (``among``), the bodies
/// of all are numbered one set after the other, as the rows of their positions would be in ``numpy.concatenate``.
///
/// Attributes
/// ----------
/// offsets : (n + 1,) array of int64
///     Where each row begins; the last is the number of neighbours in all.
/// indices : (m,) array of uint32
///     The neighbours, row after row.
/// distances : (m,) array of float32 or float64, or None
///     The distance to each neighbour, in the precision of the positions; where bodies move, in float64. In a search
///     with boxes or capsules, that of the cores: a centre, a segment, a box without its margin.
/// vectors : (m, 2) or (m, 3) array of float64, or None
///     The vector from the body of the row to each neighbour, at the image at which the neighbour is near.
/// shifts : (m, 2) or (m, 3) array of int32, or None
///     By how many vectors of the cell each neighbour is moved to that image. Of circles and spheres,
///     ``vectors = x[j] - x[i] + shifts @ cell``.
#[pyclass(frozen, module = "jostle", get_all)]
pub(crate) struct NeighborLists {
    offsets: Py<PyAny>,
    indices: Py<PyAny>,
    distances: Option<Py<PyAny>>,
    vectors: Option<Py<PyAny>>,
    shifts: Option<Py<PyAny>>,
}

impl NeighborLists {
    pub(crate) fn of(
        py: Python<'_>,
        lists: NeighborColumns,
        columns: Columns,
        (dimensions, freed): (usize, &Freed),
    ) -> PyResult<Self> {
        let NeighborColumns { offsets, neighbors, distances2, distances2_f64, image_shifts, vectors, .. } = lists;
        let distances = match columns {
            Columns { distances: false, .. } => None,
            Columns { double: true, .. } => Some(freed.array(py, distances2_f64, DISTANCES)?.unbind()),
            _ => Some(freed.array(py, distances2, DISTANCES)?.unbind()),
        };
        let vectors =
            columns.vectors.then(|| freed.rows(py, vectors, dimensions, VECTORS)).transpose()?.map(Bound::unbind);
        let shifts =
            columns.shifts.then(|| freed.rows(py, image_shifts, dimensions, SHIFTS)).transpose()?.map(Bound::unbind);
        let offsets = offsets.into_iter().map(|offset| offset as i64).collect::<Vec<_>>();
        Ok(Self {
            offsets: array(py, offsets).unbind(),
            indices: freed.array(py, neighbors, 0)?.unbind(),
            distances,
            vectors,
            shifts,
        })
    }
}

#[pymethods]
impl NeighborLists {
    #[new]
    fn new(
        offsets: Py<PyAny>,
        indices: Py<PyAny>,
        distances: Option<Py<PyAny>>,
        vectors: Option<Py<PyAny>>,
        shifts: Option<Py<PyAny>>,
    ) -> Self {
        Self { offsets, indices, distances, vectors, shifts }
    }

    fn __getnewargs__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        (&self.offsets, &self.indices, &self.distances, &self.vectors, &self.shifts).into_py_any(py)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.offsets.bind(py).len()? - 1)
    }

    /// The neighbours of one body: a view of ``indices``.
    fn __getitem__<'py>(&self, py: Python<'py>, row: isize) -> PyResult<Bound<'py, PyAny>> {
        row_of((self.offsets.bind(py), self.indices.bind(py)), row)
    }

    fn __iter__<'py>(this: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        each_row(this)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let names = [("distances", &self.distances), ("vectors", &self.vectors), ("shifts", &self.shifts)];
        let with: String =
            names.iter().filter(|(_, column)| column.is_some()).map(|(name, _)| format!(", {name}")).collect();
        Ok(format!(
            "jostle.NeighborLists({} rows, {} neighbours{with})",
            self.__len__(py)?,
            self.indices.bind(py).len()?
        ))
    }
}

//! Searches: a finder that keeps its memory, and functions that share finders.

use engine::Rows;
use pyo3::prelude::*;

use crate::arrays::Cutoff;
use crate::dimensions::{Both, Dimension, in_dimensions, with_idle};
use crate::errors::Refused;
use crate::found::{Found, FoundColumns};
use crate::held::Held;
use crate::input::{Asked, Read};
use crate::lists::{Columns, NeighborLists, finish};
use crate::neighbor_list::TableCall;
use crate::space::AskedSpace;
use crate::threads::Threads;
use crate::visit::{BLOCK, VisitCall};

impl Both {
    fn pairs<const D: usize>(&mut self, py: Python<'_>, read: &Read<'_>, threads: &Threads) -> PyResult<Vec<[u32; 2]>>
    where
        (): Dimension<D>,
    {
        read.with::<D, _>(|input, _| {
            let memory = self.freed.take_pairs();
            let max_pairs = self.max_pairs;
            let finder = <()>::finder(self);
            finder.set_max_pairs(max_pairs.of_bytes(size_of::<[u32; 2]>()));
            let found = py.detach(|| finder.on(threads.lend()).find(input).map(drop));
            found.map_err(|error| max_pairs.refused(error))?;
            Ok(finder.replace_pairs(memory))
        })
    }

    fn find<const D: usize>(&mut self, py: Python<'_>, read: &Read<'_>, threads: &Threads) -> PyResult<FoundColumns>
    where
        (): Dimension<D>,
    {
        read.with::<D, _>(|input, cell| {
            let memory = self.freed.take_pairs();
            let max_pairs = self.max_pairs;
            let (finder, meetings) = (<()>::finder(self), read.meetings());
            finder.set_max_pairs(max_pairs.of_bytes(read.bytes_found(&cell)));
            let found = py.detach(|| {
                finder.on(threads.lend()).find(input)?;
                Ok(FoundColumns::take(finder, &cell, &meetings, memory))
            });
            found.map_err(|error| max_pairs.refused(error))
        })
    }

    fn still_valid<const D: usize>(&mut self, py: Python<'_>, read: &Read<'_>, threads: &Threads) -> PyResult<bool>
    where
        (): Dimension<D>,
    {
        read.with::<D, _>(|input, _| {
            let finder = <()>::finder(self);
            Ok(py.detach(|| finder.on(threads.lend()).still_valid(input)))
        })
    }

    fn count<const D: usize>(&mut self, py: Python<'_>, read: &Read<'_>, threads: &Threads) -> PyResult<u64>
    where
        (): Dimension<D>,
    {
        read.with::<D, _>(|input, _| {
            let finder = <()>::finder(self);
            py.detach(|| finder.on(threads.lend()).count(input)).map_err(Refused::refused)
        })
    }

    fn neighbors<const D: usize>(
        &mut self,
        py: Python<'_>,
        read: &Read<'_>,
        (kind, columns): (Rows, Columns),
        threads: &Threads,
    ) -> PyResult<engine::NeighborColumns>
    where
        (): Dimension<D>,
    {
        read.with::<D, _>(|input, cell| {
            let freed = self.freed.clone();
            let max_pairs = self.max_pairs;
            let finder = <()>::finder(self);
            finder.set_max_pairs(max_pairs.of_bytes(columns.bytes(D)));
            let filled = py.detach(|| {
                let mut lists = columns.lists(&freed);
                finder.on(threads.lend()).neighbors(input, kind, &mut lists)?;
                Ok(finish::<D>(lists, &cell, threads))
            });
            filled.map_err(|error| max_pairs.refused(error))
        })
    }
}

/// Finds pairs and neighbours, and keeps its memory from call to call.
///
/// From the second call of a size on, a finder allocates nothing but the results. Memory of large results comes back to
/// it when Python is done with them, for the next results. (The functions of the same names keep up to four finders of
/// at most 256 MiB, and as much memory of their results, for all their calls.) Threads may share a finder: their calls
/// wait for each other.
///
/// Parameters
/// ----------
/// max_pairs : int, optional
///     How many pairs a search may list, or neighbours in all rows together. A search that finds more counts them, takes
///     no memory for them, and raises ``InputError``. By default, and for the functions, as many as take a third of the
///     memory, all columns of the result counted: the machine's memory, or what its control groups or the limit of its
///     addresses leave the process. A search that finds more raises ``MemoryError``.
///
/// Examples
/// --------
/// >>> finder = jostle.Finder()
/// >>> for step in range(1000):
/// ...     pairs = finder.pairs(xy, r)
#[pyclass(frozen, module = "jostle")]
pub(crate) struct Finder {
    both: Held<Both>,
    max_pairs: Option<usize>,
}

/// A search whose arguments have been read.
pub(crate) struct Call<'py> {
    pub(crate) read: Read<'py>,
    pub(crate) threads: Threads,
}

impl<'py> Call<'py> {
    pub(crate) fn new(
        of: Bound<'py, PyAny>,
        radii: Option<Bound<'py, PyAny>>,
        cutoff: Option<Cutoff>,
        space: AskedSpace<'py>,
        threads: Option<isize>,
    ) -> PyResult<Self> {
        let read = Asked { of, radii, cutoff, space }.read()?;
        Ok(Self { read, threads: Threads::of(threads)? })
    }

    fn pairs(&self, py: Python<'py>, both: &mut Both) -> PyResult<Bound<'py, PyAny>> {
        let found = in_dimensions!(self.read.dimensions(), D => both.pairs::<D>(py, &self.read, &self.threads))?;
        both.freed.pairs(py, found)
    }

    fn find(&self, py: Python<'py>, both: &mut Both) -> PyResult<Found> {
        let found = in_dimensions!(self.read.dimensions(), D => both.find::<D>(py, &self.read, &self.threads))?;
        found.found(py, &self.read, &both.freed)
    }

    fn count(&self, py: Python<'py>, both: &mut Both) -> PyResult<u64> {
        let found = in_dimensions!(self.read.dimensions(), D => both.count::<D>(py, &self.read, &self.threads))?;
        Ok(found)
    }

    fn neighbors(&self, py: Python<'py>, both: &mut Both, half: bool, columns: [bool; 3]) -> PyResult<NeighborLists> {
        let [distances, vectors, shifts] = columns;
        let columns = Columns { distances, vectors, shifts, double: self.read.is_decided() };
        let (dimensions, what) = (self.read.dimensions(), (if half { Rows::Half } else { Rows::Full }, columns));
        let lists = in_dimensions!(dimensions, D => both.neighbors::<D>(py, &self.read, what, &self.threads))?;
        NeighborLists::of(py, lists, columns, (dimensions, &both.freed))
    }
}

impl Finder {
    /// Works with the finders, or with others for this call alone if this thread is already at work with these.
    pub(crate) fn with<R>(&self, py: Python<'_>, work: impl FnOnce(&mut Both) -> R) -> R {
        self.both.lend(py, |both| match both {
            Some(both) => work(both),
            None => work(&mut Both::new(self.max_pairs)),
        })
    }
}

#[pymethods]
impl Finder {
    #[new]
    #[pyo3(signature = (*, max_pairs=None))]
    fn new(max_pairs: Option<usize>) -> Self {
        Self { both: Held::new(Both::new(max_pairs)), max_pairs }
    }

    /// As ``jostle.pairs``.
    #[pyo3(signature = (positions, radii=None, *, cutoff=None, cell=None, pbc=None, origin=None, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn pairs<'py>(
        &self,
        py: Python<'py>,
        positions: Bound<'py, PyAny>,
        radii: Option<Bound<'py, PyAny>>,
        cutoff: Option<Cutoff>,
        cell: Option<Bound<'py, PyAny>>,
        pbc: Option<Bound<'py, PyAny>>,
        origin: Option<Bound<'py, PyAny>>,
        threads: Option<isize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let call = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
        self.with(py, |both| call.pairs(py, both))
    }

    /// As ``jostle.find``.
    #[pyo3(signature = (positions, radii=None, *, cutoff=None, cell=None, pbc=None, origin=None, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn find<'py>(
        &self,
        py: Python<'py>,
        positions: Bound<'py, PyAny>,
        radii: Option<Bound<'py, PyAny>>,
        cutoff: Option<Cutoff>,
        cell: Option<Bound<'py, PyAny>>,
        pbc: Option<Bound<'py, PyAny>>,
        origin: Option<Bound<'py, PyAny>>,
        threads: Option<isize>,
    ) -> PyResult<Found> {
        let call = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
        self.with(py, |both| call.find(py, both))
    }

    /// Tells whether lists that this finder has made of bodies with a margin still hold all pairs of these bodies. Give
    /// the bodies as they were searched: ``jostle.Bodies(..., margin=...)``.
    #[pyo3(signature = (positions, radii=None, *, cutoff=None, cell=None, pbc=None, origin=None, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn still_valid<'py>(
        &self,
        py: Python<'py>,
        positions: Bound<'py, PyAny>,
        radii: Option<Bound<'py, PyAny>>,
        cutoff: Option<Cutoff>,
        cell: Option<Bound<'py, PyAny>>,
        pbc: Option<Bound<'py, PyAny>>,
        origin: Option<Bound<'py, PyAny>>,
        threads: Option<isize>,
    ) -> PyResult<bool> {
        let call = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
        self.with(
            py,
            |both| in_dimensions!(call.read.dimensions(), D => both.still_valid::<D>(py, &call.read, &call.threads)),
        )
    }

    /// As ``jostle.count``.
    #[pyo3(signature = (positions, radii=None, *, cutoff=None, cell=None, pbc=None, origin=None, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn count<'py>(
        &self,
        py: Python<'py>,
        positions: Bound<'py, PyAny>,
        radii: Option<Bound<'py, PyAny>>,
        cutoff: Option<Cutoff>,
        cell: Option<Bound<'py, PyAny>>,
        pbc: Option<Bound<'py, PyAny>>,
        origin: Option<Bound<'py, PyAny>>,
        threads: Option<isize>,
    ) -> PyResult<u64> {
        let call = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
        self.with(py, |both| call.count(py, both))
    }

    /// As ``jostle.for_each``. Calls of this finder meanwhile, by the function or by other threads, work in memory of
    /// their own.
    #[pyo3(signature = (function, positions, radii=None, *, block=BLOCK, cutoff=None, cell=None, pbc=None, origin=None, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn for_each<'py>(
        &self,
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
        let mut both = self.with(py, |both| core::mem::replace(both, Both::new(self.max_pairs)));
        // A finder whose search was unwound is not kept.
        call.run(py, &mut both)?;
        self.with(py, |kept| *kept = both);
        Ok(())
    }

    /// As ``jostle.neighbors``.
    #[pyo3(signature = (positions, cutoff=None, *, radii=None, cell=None, pbc=None, origin=None, half=false, distances=true, vectors=false, shifts=false, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn neighbors<'py>(
        &self,
        py: Python<'py>,
        positions: Bound<'py, PyAny>,
        cutoff: Option<Cutoff>,
        radii: Option<Bound<'py, PyAny>>,
        cell: Option<Bound<'py, PyAny>>,
        pbc: Option<Bound<'py, PyAny>>,
        origin: Option<Bound<'py, PyAny>>,
        half: bool,
        distances: bool,
        vectors: bool,
        shifts: bool,
        threads: Option<isize>,
    ) -> PyResult<NeighborLists> {
        let call = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
        self.with(py, |both| call.neighbors(py, both, half, [distances, vectors, shifts]))
    }

    /// As ``jostle.neighbor_list``.
    #[pyo3(signature = (quantities, positions, cutoff, *, cell=None, pbc=None, types=None, self_interaction=false, threads=None))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn neighbor_list<'py>(
        &self,
        py: Python<'py>,
        quantities: &Bound<'py, PyAny>,
        positions: &Bound<'py, PyAny>,
        cutoff: &Bound<'py, PyAny>,
        cell: Option<Bound<'py, PyAny>>,
        pbc: Option<Bound<'py, PyAny>>,
        types: Option<&Bound<'py, PyAny>>,
        self_interaction: bool,
        threads: Option<isize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let space = AskedSpace { cell, pbc, origin: None };
        let call = TableCall::new((quantities, self_interaction, false), positions, (cutoff, types), space, threads)?;
        self.with(py, |both| call.table(py, both))
    }

    /// How many bytes the finder holds, memory of results that came back included.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> usize {
        self.with(py, |both| both.bytes())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.with(py, |both| format!("jostle.Finder({} bytes, {})", both.bytes(), both.two.isa()))
    }
}

/// Finds every overlapping pair of circles or spheres, or every pair of points within a cutoff.
///
/// Parameters
/// ----------
/// positions : (n, 2) or (n, 3) array of float32 or float64, Bodies or Sets
///     Centres, one a row, in any memory order and with any strides. They are read in place, without a copy, unless
///     strides are negative. Or one set with more than positions and radii (``Bodies``), or several sets (``between``,
///     ``among``).
/// radii : float or (n,) array
///     The radius of all bodies, or one for each, in the precision of the positions.
/// cutoff : float, optional
///     Instead of radii: two bodies are a pair when their centres are at most this far apart.
/// cell : float, (d,) or (d, d) array, optional
///     Where space repeats: the lengths of the cell, or its vectors, one a row. Positions may lie outside of the cell.
/// pbc : bool or d bools, default True where there is a cell
///     In which directions space repeats.
/// origin : (d,) array, default 0
///     The corner of the cell.
/// threads : int, optional
///     How many threads to use; by default as many as there are cores. The result does not depend on them, its order
///     included.
///
/// Returns
/// -------
/// (m, 2) array of uint32
///     The rows of each pair, the lesser first; of two sets, the row in the first set first. Touching counts. Where
///     space repeats, a pair comes once for each image at which it touches.
///
/// Raises
/// ------
/// InputError
///     A ValueError. Its ``ids`` are the first rows at fault: not finite, a negative radius, too far away.
/// TypeError
///     For arrays of other types or shapes.
///
/// Examples
/// --------
/// >>> xy = np.random.default_rng(0).random((1_000_000, 2), dtype=np.float32) * 1000
/// >>> jostle.pairs(xy, 0.4)
#[pyfunction]
#[pyo3(signature = (positions, radii=None, *, cutoff=None, cell=None, pbc=None, origin=None, threads=None))]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn pairs<'py>(
    py: Python<'py>,
    positions: Bound<'py, PyAny>,
    radii: Option<Bound<'py, PyAny>>,
    cutoff: Option<Cutoff>,
    cell: Option<Bound<'py, PyAny>>,
    pbc: Option<Bound<'py, PyAny>>,
    origin: Option<Bound<'py, PyAny>>,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let call = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
    with_idle(|both| call.pairs(py, both))
}

/// As ``pairs``, with all that is known of the pairs: image shifts, times of impact, and which sets they belong to.
///
/// Parameters
/// ----------
/// positions, radii, cutoff, cell, pbc, origin, threads
///     As for ``pairs``.
///
/// Returns
/// -------
/// Found
///     ``pairs``, ``shifts``, ``times``, ``between(i, j)``.
#[pyfunction]
#[pyo3(signature = (positions, radii=None, *, cutoff=None, cell=None, pbc=None, origin=None, threads=None))]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn find<'py>(
    py: Python<'py>,
    positions: Bound<'py, PyAny>,
    radii: Option<Bound<'py, PyAny>>,
    cutoff: Option<Cutoff>,
    cell: Option<Bound<'py, PyAny>>,
    pbc: Option<Bound<'py, PyAny>>,
    origin: Option<Bound<'py, PyAny>>,
    threads: Option<isize>,
) -> PyResult<Found> {
    let call = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
    with_idle(|both| call.find(py, both))
}

/// Counts the pairs that ``pairs`` would list. No list is made.
///
/// Parameters
/// ----------
/// positions, radii, cutoff, cell, pbc, origin, threads
///     As for ``pairs``.
///
/// Returns
/// -------
/// int
#[pyfunction]
#[pyo3(signature = (positions, radii=None, *, cutoff=None, cell=None, pbc=None, origin=None, threads=None))]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn count<'py>(
    py: Python<'py>,
    positions: Bound<'py, PyAny>,
    radii: Option<Bound<'py, PyAny>>,
    cutoff: Option<Cutoff>,
    cell: Option<Bound<'py, PyAny>>,
    pbc: Option<Bound<'py, PyAny>>,
    origin: Option<Bound<'py, PyAny>>,
    threads: Option<isize>,
) -> PyResult<u64> {
    let call = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
    with_idle(|both| call.count(py, both))
}

/// Finds the neighbours of each body, as compressed sparse rows (CSR).
///
/// Parameters
/// ----------
/// positions : (n, 2) or (n, 3) array of float32 or float64, Bodies or Sets
///     As for ``pairs``. For ``between(a, b)``, each body of a has a row with its neighbours in b.
/// cutoff : float
///     Neighbours are bodies whose centres are at most this far away.
/// radii : float or (n,) array, optional
///     Instead of a cutoff: neighbours are bodies that overlap.
/// cell, pbc, origin, threads
///     As for ``pairs``.
/// half : bool, default False
///     Whether each pair stands once, in the row of its lesser body, and not in both rows.
/// distances, vectors, shifts : bool
///     Which columns there are beside the indices. Of boxes and capsules, distances and vectors are between their
///     cores where these are nearest: boxes without margins, and segments.
///
/// Returns
/// -------
/// NeighborLists
///     ``offsets``, ``indices``, ``distances``, ``vectors``, ``shifts``.
///
/// Examples
/// --------
/// >>> lists = jostle.neighbors(xyz, 3.0, cell=[10, 10, 10])
/// >>> lists.indices[lists.offsets[7]:lists.offsets[8]]   # of body 7, as is lists[7]
#[pyfunction]
#[pyo3(signature = (positions, cutoff=None, *, radii=None, cell=None, pbc=None, origin=None, half=false, distances=true, vectors=false, shifts=false, threads=None))]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn neighbors<'py>(
    py: Python<'py>,
    positions: Bound<'py, PyAny>,
    cutoff: Option<Cutoff>,
    radii: Option<Bound<'py, PyAny>>,
    cell: Option<Bound<'py, PyAny>>,
    pbc: Option<Bound<'py, PyAny>>,
    origin: Option<Bound<'py, PyAny>>,
    half: bool,
    distances: bool,
    vectors: bool,
    shifts: bool,
    threads: Option<isize>,
) -> PyResult<NeighborLists> {
    let call = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
    with_idle(|both| call.neighbors(py, both, half, [distances, vectors, shifts]))
}

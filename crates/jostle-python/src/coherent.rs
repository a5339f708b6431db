//! Coherent frames: bodies move little from frame to frame.

use engine::Rows;
use pyo3::prelude::*;

use crate::arrays::Cutoff;
use crate::dimensions::{Both, BothCoherent, Dimension, in_dimensions};
use crate::finder::Call;
use crate::found::{Found, FoundColumns};
use crate::held::Held;
use crate::input::Read;
use crate::lists::{Columns, NeighborLists, finish};
use crate::space::AskedSpace;
use crate::threads::Threads;

impl BothCoherent {
    fn find<const D: usize>(&mut self, py: Python<'_>, read: &Read<'_>, threads: &Threads) -> PyResult<FoundColumns>
    where
        (): Dimension<D>,
    {
        read.with::<D, _>(|input, cell| {
            let mut pairs = self.freed.take_pairs();
            let max_pairs = self.max_pairs;
            let (finder, meetings) = (<()>::coherent(self), read.meetings());
            finder.set_max_pairs(max_pairs.of_bytes(read.bytes_found(&cell)));
            let found = py.detach(|| {
                let found = finder.on(threads.lend()).find(input)?;
                let columns = FoundColumns::of(found, &cell, &meetings);
                pairs.clear();
                pairs.extend_from_slice(found.pairs());
                Ok(columns.with_pairs(pairs))
            });
            found.map_err(|error| max_pairs.refused(error))
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
            let finder = <()>::coherent(self);
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

/// Finds the pairs or neighbours of bodies that move little from frame to frame, for less than a search from scratch.
///
/// The answers are those of a ``Finder``, but for the order of pairs, which depends on the frames that were given. The
/// finder chooses a margin by how far bodies move. Where they move too far, each frame is searched from scratch; so is
/// each frame in which a set has boxes, capsules or displacements. Make one finder for each input that is searched
/// frame by frame, and, where both pairs and rows are asked for, one for each.
///
/// Parameters
/// ----------
/// max_pairs : int, optional
///     How many pairs a frame may list: see ``Finder``.
///
/// Examples
/// --------
/// >>> frames = jostle.CoherentFinder()
/// >>> for step in range(1000):
/// ...     pairs = frames.pairs(xy, r)
#[pyclass(frozen, module = "jostle")]
pub(crate) struct CoherentFinder {
    both: Held<BothCoherent>,
}

#[pymethods]
impl CoherentFinder {
    #[new]
    #[pyo3(signature = (*, max_pairs=None))]
    fn new(max_pairs: Option<usize>) -> Self {
        Self { both: Held::new(Both::new(max_pairs)) }
    }

    /// As ``jostle.find``, for the next frame.
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
        let Call { read, threads } = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
        let (found, freed) = self.both.with(py, |both| {
            let found = in_dimensions!(read.dimensions(), D => both.find::<D>(py, &read, &threads))?;
            PyResult::Ok((found, both.freed.clone()))
        })??;
        found.found(py, &read, &freed)
    }

    /// As ``jostle.pairs``, for the next frame.
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
    ) -> PyResult<Py<PyAny>> {
        Ok(self.find(py, positions, radii, cutoff, cell, pbc, origin, threads)?.pairs)
    }

    /// As ``jostle.neighbors``, for the next frame.
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
        let Call { read, threads } = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
        let columns = Columns { distances, vectors, shifts, double: read.is_decided() };
        let what = (if half { Rows::Half } else { Rows::Full }, columns);
        let (lists, freed) = self.both.with(py, |both| {
            let lists = in_dimensions!(read.dimensions(), D => both.neighbors::<D>(py, &read, what, &threads))?;
            PyResult::Ok((lists, both.freed.clone()))
        })??;
        NeighborLists::of(py, lists, columns, (read.dimensions(), &freed))
    }

    /// How far the fastest bodies may be from where they were searched before pairs are listed anew; 0 while each frame
    /// is searched from scratch.
    #[getter]
    fn margin(&self, py: Python<'_>) -> PyResult<f64> {
        self.both.with(py, |both| both.two.margin().max(both.three.margin()))
    }

    /// How many frames have been searched from scratch so far.
    #[getter]
    fn rebuilds(&self, py: Python<'_>) -> PyResult<u64> {
        self.both.with(py, |both| both.two.rebuilds() + both.three.rebuilds())
    }

    /// Makes the finder search the next frame from scratch, whatever it has kept.
    fn forget(&self, py: Python<'_>) -> PyResult<()> {
        self.both.with(py, |both| {
            both.two.forget();
            both.three.forget();
        })
    }

    /// How many bytes the finder holds.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<usize> {
        self.both.with(py, |both| both.two.bytes() + both.three.bytes() + both.freed.bytes())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("jostle.CoherentFinder(margin={}, rebuilds={})", self.margin(py)?, self.rebuilds(py)?))
    }
}

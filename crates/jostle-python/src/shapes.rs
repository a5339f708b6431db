//! Sets of boxes and of capsules.

use numpy::PyUntypedArray;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::margin_of;
use crate::bodies::{AskedSet, Origin, displacements_of};

/// The arrays that a set of boxes or capsules was made of.
fn arrays(asked: &AskedSet, py: Python<'_>) -> Option<[Py<PyUntypedArray>; 2]> {
    match &asked.origin {
        Origin::Boxes(two) | Origin::Capsules(two, _) => Some(two.each_ref().map(|array| array.clone_ref(py))),
        Origin::Balls(..) | Origin::Prepared(_) => None,
    }
}

/// A set of axis-aligned boxes: rectangles in two dimensions.
///
/// Every search takes ``Boxes`` in place of positions and radii, alone or in ``between`` and ``among`` with sets of any
/// shape, in any cell. Two boxes overlap when they do so on each axis; touching counts. A box may be a point or a line,
/// and may reach to infinity in open space. Give the boxes of bodies of any other shape, and test the pairs that are
/// found. Nothing is copied: each search reads the arrays in place, anew.
///
/// ``CoherentFinder`` searches boxes from scratch in each frame: a list of pairs with a margin lasts longer.
///
/// Parameters
/// ----------
/// lo, hi : (n, 2) or (n, 3) arrays of float32 or float64
///     The lower and the upper corner of each box. In float64, pairs are decided in float64.
/// margin : float, default 0
///     A length by which each box is larger on every side. A list of pairs then holds for as long as no side of a box
///     has moved outwards by more (``Finder.still_valid``).
/// displacements : (n, 2) or (n, 3) array, optional
///     As for ``Bodies``. Boxes do not turn as they move.
/// category, mask, group : optional
///     As for ``Bodies``.
///
/// Examples
/// --------
/// >>> jostle.pairs(jostle.Boxes(lo, hi))
/// >>> jostle.pairs(jostle.between(jostle.Bodies(xy, r), jostle.Boxes(lo, hi)))
#[pyclass(frozen, module = "jostle")]
pub(crate) struct Boxes {
    pub(crate) asked: AskedSet,
}

#[pymethods]
impl Boxes {
    #[new]
    #[pyo3(signature = (lo, hi, *, margin=0.0, displacements=None, category=None, mask=None, group=None))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        lo: &Bound<'_, PyAny>,
        hi: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = margin_of)] margin: f64,
        displacements: Option<&Bound<'_, PyAny>>,
        category: Option<Py<PyAny>>,
        mask: Option<Py<PyAny>>,
        group: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let displacements = displacements_of(displacements)?;
        let asked = AskedSet { margin, displacements, category, mask, group, ..AskedSet::boxes(lo, hi)? };
        asked.read(py)?;
        Ok(Self { asked })
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, Bound<'py, PyDict>)> {
        Ok(((self.lo(py), self.hi(py)).into_py_any(py)?, self.asked.named(py)?))
    }

    /// The array of the lower corners.
    #[getter]
    fn lo(&self, py: Python<'_>) -> Option<Py<PyUntypedArray>> {
        arrays(&self.asked, py).map(|[lo, _]| lo)
    }

    /// The array of the upper corners.
    #[getter]
    fn hi(&self, py: Python<'_>) -> Option<Py<PyUntypedArray>> {
        arrays(&self.asked, py).map(|[_, hi]| hi)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.asked.read(py)?.len())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.asked.said(py, "Boxes")
    }
}

/// A set of capsules: all points within a radius of a segment.
///
/// Every search takes ``Capsules`` in place of positions and radii, alone or in ``between`` and ``among`` with sets of
/// any shape, in any cell. Two capsules overlap when their segments are at most as far apart as the sum of their radii.
/// Nothing is copied: each search reads the arrays in place, anew. The limits of ``Boxes`` hold for capsules too.
///
/// Parameters
/// ----------
/// a, b : (n, 2) or (n, 3) arrays of float32 or float64
///     The ends of each segment; a segment may be a point. In float64, pairs are decided in float64.
/// radii : float or (n,) array
///     The radius of all capsules, or one for each, in the precision of the ends.
/// margin : float, default 0
///     A length added to each radius. A list of pairs then holds for as long as no end has moved by more.
/// displacements : (n, 2) or (n, 3) array, optional
///     As for ``Bodies``. Capsules do not turn as they move.
/// category, mask, group : optional
///     As for ``Bodies``.
///
/// Examples
/// --------
/// >>> fibres = jostle.Capsules(tail, head, 0.1)
/// >>> jostle.contacts(jostle.find(fibres), fibres).depths
#[pyclass(frozen, module = "jostle")]
pub(crate) struct Capsules {
    pub(crate) asked: AskedSet,
}

#[pymethods]
impl Capsules {
    #[new]
    #[pyo3(signature = (a, b, radii, *, margin=0.0, displacements=None, category=None, mask=None, group=None))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        a: &Bound<'_, PyAny>,
        b: &Bound<'_, PyAny>,
        radii: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = margin_of)] margin: f64,
        displacements: Option<&Bound<'_, PyAny>>,
        category: Option<Py<PyAny>>,
        mask: Option<Py<PyAny>>,
        group: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (displacements, set) = (displacements_of(displacements)?, AskedSet::capsules([a, b], radii)?);
        let asked = AskedSet { margin, displacements, category, mask, group, ..set };
        asked.read(py)?;
        Ok(Self { asked })
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, Bound<'py, PyDict>)> {
        let radii = match &self.asked.origin {
            Origin::Capsules(_, radii) => Some(radii),
            _ => None,
        };
        Ok(((self.a(py), self.b(py), radii).into_py_any(py)?, self.asked.named(py)?))
    }

    /// The array of the first ends.
    #[getter]
    fn a(&self, py: Python<'_>) -> Option<Py<PyUntypedArray>> {
        arrays(&self.asked, py).map(|[a, _]| a)
    }

    /// The array of the other ends.
    #[getter]
    fn b(&self, py: Python<'_>) -> Option<Py<PyUntypedArray>> {
        arrays(&self.asked, py).map(|[_, b]| b)
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.asked.read(py)?.len())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.asked.said(py, "Capsules")
    }
}

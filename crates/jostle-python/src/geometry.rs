//! Where and how deep the bodies of pairs overlap.

use engine::Contact;
use pyo3::prelude::*;

use crate::arrays::{Cutoff, array, rows};
use crate::contacts::Given;
use crate::dimensions::in_dimensions;
use crate::errors::{Refused, type_error};
use crate::finder::Call;
use crate::prepared::Of;
use crate::space::AskedSpace;

/// Where and how deep pairs overlap.
///
/// Attributes
/// ----------
/// depths : (m,) array of float64
///     How deep the bodies overlap; 0 where they touch. Of circles and spheres: the sum of the radii less the distance
///     of the centres. Of capsules, the nearest points of the two segments count as centres; of a box and another
///     shape, the nearest points. Of two boxes: the shortest way along an axis that takes the second out of the first.
/// normals : (m, d) array of float64
///     The direction from the first body of each pair to the second, of length 1.
/// points : (m, d) array of float64
///     The middle of what both bodies share: of circles and spheres, of that part of the line through both centres
///     which lies in both. Where the centre or axis of another shape reaches into a box: half of the depth inside the border
///     of the box, which may lead through a thin box.
#[pyclass(frozen, module = "jostle", get_all)]
pub(crate) struct ContactGeometry {
    depths: Py<PyAny>,
    normals: Py<PyAny>,
    points: Py<PyAny>,
}

#[pymethods]
impl ContactGeometry {
    #[new]
    fn new(depths: Py<PyAny>, normals: Py<PyAny>, points: Py<PyAny>) -> Self {
        Self { depths, normals, points }
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (Py<PyAny>, Py<PyAny>, Py<PyAny>) {
        (self.depths.clone_ref(py), self.normals.clone_ref(py), self.points.clone_ref(py))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.depths.bind(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("jostle.ContactGeometry({} contacts)", self.__len__(py)?))
    }
}

fn geometry<const D: usize>(py: Python<'_>, call: &Call<'_>, given: &mut Given) -> PyResult<ContactGeometry>
where
    (): Of<D>,
{
    let threads = &call.threads;
    let list = call.read.with::<D, _>(|input, cell| {
        if let Some((shifts, axes)) = &mut given.shifts {
            if *axes != D {
                return Err(type_error(format_args!("shifts are in {axes} dimensions, and positions in {D}")));
            }
            if cell.turned {
                shifts.as_chunks_mut::<D>().0.iter_mut().for_each(|shift| shift[0] = -shift[0]);
            }
        }
        let made = py.detach(|| {
            let mut list: Vec<Contact<D, f64>> = Vec::new();
            engine::contacts_f64(given.lend(), input, threads.lend(), &mut list).map(|()| list)
        });
        made.map_err(Refused::refused)
    })?;
    Ok(ContactGeometry {
        depths: array::<f64>(py, list.iter().map(|contact| contact.depth).collect()).unbind(),
        normals: rows::<f64>(py, list.iter().flat_map(|contact| contact.normal).collect(), D)?.unbind(),
        points: rows::<f64>(py, list.iter().flat_map(|contact| contact.point).collect(), D)?.unbind(),
    })
}

/// Tells where and how deep the pairs of a search overlap.
///
/// Parameters
/// ----------
/// pairs : Found, or (m, 2) array of uint32
///     The result of ``find``, or an array of pairs.
/// positions, radii, cutoff, cell, pbc, origin, threads
///     As they were searched. For bodies that move, contacts are those of the moment at which they first touch.
/// shifts : (m, d) array of int32, optional
///     The image shift of each pair, for an array of pairs where space repeats. (The result of ``find`` has them.)
///
/// Returns
/// -------
/// ContactGeometry
///     ``depths``, ``normals``, ``points``, in the order of the pairs.
#[pyfunction]
#[pyo3(signature = (pairs, positions, radii=None, *, cutoff=None, cell=None, pbc=None, origin=None, shifts=None, threads=None))]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn contacts<'py>(
    py: Python<'py>,
    pairs: &Bound<'py, PyAny>,
    positions: Bound<'py, PyAny>,
    radii: Option<Bound<'py, PyAny>>,
    cutoff: Option<Cutoff>,
    cell: Option<Bound<'py, PyAny>>,
    pbc: Option<Bound<'py, PyAny>>,
    origin: Option<Bound<'py, PyAny>>,
    shifts: Option<&Bound<'py, PyAny>>,
    threads: Option<isize>,
) -> PyResult<ContactGeometry> {
    let mut given = Given::of(pairs, shifts)?;
    let call = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
    in_dimensions!(call.read.dimensions(), D => geometry::<D>(py, &call, &mut given))
}

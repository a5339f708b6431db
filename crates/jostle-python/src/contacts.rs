//! Contacts over time, and their geometry.

use std::sync::{Mutex, PoisonError};

use engine::{Contact, ContactError, ContactPairs, Keys};
use numpy::{PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arrays::{Integers, array, rows};
use crate::dimensions::in_dimensions;
use crate::errors::{Refused, refused, type_error, value_error};
use crate::finder::Call;
use crate::found::Found;
use crate::input::SetsOfPairs;
use crate::prepared::Of;
use crate::space::AskedSpace;
use crate::threads::Threads;

impl Refused for ContactError {
    fn refused(self) -> PyErr {
        match self {
            Self::Bodies(error) => error.refused(),
            Self::Keys { count, ref first, .. } => {
                refused(&self, count, first.iter().map(|key| key.id.into()).collect())
            }
            Self::Pairs { count, ref first } => {
                refused(&self, count, first.iter().map(|pair| pair.at as u64).collect())
            }
            _ => value_error(self),
        }
    }
}

/// Pairs as they were given, with their image shifts and the sets that they belong to.
struct Given {
    pairs: Vec<[u32; 2]>,
    shifts: Option<(Vec<i32>, usize)>,
    sets: Option<Sets>,
}

/// Which sets the pairs of a search belong to, and where the pairs of each two sets end.
struct Sets {
    of: SetsOfPairs,
    meetings: Vec<[u32; 2]>,
    ends: Vec<usize>,
}

impl Sets {
    fn of(found: &Found) -> Self {
        let meetings = found.meetings.iter().map(|(sets, _)| sets.map(|set| set as u32)).collect();
        let mut end = 0;
        let ends = found.meetings.iter().map(|(_, [start, stop])| {
            end += stop - start;
            end
        });
        let mut ends: Vec<usize> = ends.collect();
        ends.pop();
        Self { of: found.of, meetings, ends }
    }

    /// Returns the keys of each set where rows are keys: all rows up to the last that a pair names.
    fn rows(&self, pairs: &[[u32; 2]]) -> Vec<Vec<u64>> {
        let sets = self.meetings.iter().flatten().max().map_or(0, |&last| last as usize + 1);
        let (mut counts, mut start) = (vec![0; sets], 0);
        for (meeting, end) in self.meetings.iter().zip(self.ends.iter().copied().chain([pairs.len()])) {
            for side in 0..2 {
                let count = &mut counts[meeting[side] as usize];
                *count = pairs[start..end].iter().map(|pair| u64::from(pair[side]) + 1).fold(*count, u64::max);
            }
            start = end;
        }
        counts.into_iter().map(|count| (0..count).collect()).collect()
    }
}

/// Copies a table of integers: later writes to it change nothing.
fn table<T: numpy::Element + Copy>(object: &Bound<'_, PyAny>, name: &str, kind: &str) -> PyResult<(Vec<T>, usize)> {
    let wanted = || type_error(format_args!("{name} must be an array of {kind}, one pair a row"));
    let numpy = object.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (object,))?;
    let letter: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !(letter == "i" || letter == "u" || array.len()? == 0) {
        return Err(wanted());
    }
    let array = array.call_method1("astype", (T::get_dtype(object.py()),))?;
    let array = array.cast::<PyArray2<T>>().map_err(|_| wanted())?;
    let columns = array.shape()[1];
    let array = array.call_method1("ravel", ("C",))?;
    Ok((array.cast::<numpy::PyArray1<T>>().map_err(|_| wanted())?.to_vec()?, columns))
}

impl Given {
    /// Reads the pairs of a search, or an array of pairs.
    fn of(pairs: &Bound<'_, PyAny>, shifts: Option<&Bound<'_, PyAny>>, geometry: bool) -> PyResult<Self> {
        let py = pairs.py();
        let (pairs, shifts, sets) = match pairs.cast::<Found>() {
            Err(_) => (pairs.clone(), shifts.cloned(), None),
            Ok(_) if shifts.is_some() => return Err(type_error("shifts beside what find returned, which has them")),
            Ok(found) => {
                let found = found.get();
                let told_apart = found.shifts.as_ref().filter(|_| geometry || found.by_image);
                let shifts = told_apart.map(|shifts| shifts.bind(py).clone());
                (found.pairs.bind(py).clone(), shifts, Some(Sets::of(found)))
            }
        };
        let (pairs, columns) = table::<u32>(&pairs, "pairs", "uint32")?;
        if columns != 2 {
            return Err(type_error("pairs must have shape (m, 2)"));
        }
        let shifts = shifts.map(|shifts| table::<i32>(&shifts, "shifts", "int32")).transpose()?;
        if let Some((_, columns)) = &shifts
            && !matches!(columns, 2 | 3)
        {
            return Err(type_error("shifts must have shape (m, 2) or (m, 3)"));
        }
        Ok(Self { pairs: pairs.as_chunks().0.to_vec(), shifts, sets })
    }

    fn lend(&self) -> ContactPairs<'_> {
        let mut pairs = ContactPairs::from(&self.pairs);
        if let Some(Sets { meetings, ends, .. }) = &self.sets {
            pairs = pairs.with_sets(meetings, ends);
        }
        match &self.shifts {
            None => pairs,
            Some((shifts, 2)) => pairs.with_image_shifts::<2>(shifts.as_chunks().0),
            Some((shifts, _)) => pairs.with_image_shifts::<3>(shifts.as_chunks().0),
        }
    }
}

/// Contacts that begin, persist or end.
///
/// Attributes
/// ----------
/// keys : (m, 2) array of uint64
///     The keys of the two bodies: within a set the lesser key first, else the key of the body in the first set.
/// pairs : (m, 2) array of uint32
///     The rows of the two bodies. Contacts that ended have their rows of the last frame.
/// slots : (m,) array of uint32
///     A small number that no other contact has while this one lasts: the place of the contact's data in an array of
///     length ``tracker.slots``.
#[pyclass(frozen, module = "jostle", get_all)]
pub(crate) struct Contacts {
    keys: Py<PyAny>,
    pairs: Py<PyAny>,
    slots: Py<PyAny>,
}

impl Contacts {
    fn of(py: Python<'_>, contacts: engine::Contacts<'_>) -> PyResult<Py<Self>> {
        let this = Self {
            keys: rows(py, contacts.keys().as_flattened().to_vec(), 2)?.unbind(),
            pairs: rows(py, contacts.pairs().as_flattened().to_vec(), 2)?.unbind(),
            slots: array(py, contacts.slots().to_vec()).unbind(),
        };
        Py::new(py, this)
    }
}

#[pymethods]
impl Contacts {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.keys.bind(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("jostle.Contacts({})", self.__len__(py)?))
    }
}

/// The changes since the last frame.
///
/// Attributes
/// ----------
/// begin, persist, end : Contacts
///     The contacts of this frame alone, of both frames, and of the last frame alone.
/// pair_slots : (m,) array of uint32
///     The slot of each pair of this frame, in the order in which the pairs were given.
/// slots : int
///     The length of an array that has a place for each slot.
#[pyclass(frozen, module = "jostle", get_all)]
pub(crate) struct Changes {
    begin: Py<Contacts>,
    persist: Py<Contacts>,
    end: Py<Contacts>,
    pair_slots: Py<PyAny>,
    slots: usize,
}

#[pymethods]
impl Changes {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let [begin, persist, end] = [&self.begin, &self.persist, &self.end].map(|list| list.get().__len__(py));
        Ok(format!("jostle.Changes(begin={}, persist={}, end={})", begin?, persist?, end?))
    }
}

/// Tells which contacts begin, persist and end from frame to frame.
///
/// Contacts are known by keys. A key is a number that stays with a body while it lives, so bodies may come and go, and
/// stand in another order in each frame.
///
/// Examples
/// --------
/// >>> tracker = jostle.ContactTracker()
/// >>> for step in range(1000):
/// ...     changes = tracker.update(finder.find(xy, r), keys)
/// ...     born = changes.begin.pairs
#[pyclass(frozen, module = "jostle")]
pub(crate) struct ContactTracker {
    tracker: Mutex<engine::ContactTracker>,
}

/// The keys of each set.
struct GivenKeys {
    of: SetsOfPairs,
    each: Vec<Integers<u64>>,
}

fn keys_of(object: &Bound<'_, PyAny>) -> PyResult<Integers<u64>> {
    let bodies = object.len().map_err(|_| type_error("keys must be an array of integers, one for each body"))?;
    Integers::of(object, "keys", bodies)
}

impl GivenKeys {
    fn of(keys: Option<&Bound<'_, PyAny>>, given: &Given) -> PyResult<Self> {
        let of = given.sets.as_ref().map_or(SetsOfPairs::One, |sets| sets.of);
        let Some(keys) = keys else {
            let rows = match &given.sets {
                Some(sets) => sets.rows(&given.pairs),
                None => {
                    let last = given.pairs.as_flattened().iter().copied().max();
                    vec![(0..last.map_or(0, |last| u64::from(last) + 1)).collect()]
                }
            };
            return Ok(Self { of, each: rows.into_iter().map(Integers::Each).collect() });
        };
        if of == SetsOfPairs::Many {
            let wanted = || type_error("keys of many sets must be a sequence of arrays of integers, one for each set");
            let each = keys.try_iter().map_err(|_| wanted())?.map(|keys| keys_of(&keys?));
            return Ok(Self { of, each: each.collect::<PyResult<_>>().map_err(|_| wanted())? });
        }
        match keys.cast::<PyTuple>().ok().map(|both| both.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()) {
            Some(Ok((a, b))) if a.len().is_ok() => {
                Ok(Self { of: SetsOfPairs::Two, each: vec![keys_of(&a)?, keys_of(&b)?] })
            }
            _ => Ok(Self { of: SetsOfPairs::One, each: vec![keys_of(keys)?] }),
        }
    }

    fn slices(&self) -> PyResult<Vec<&[u64]>> {
        let number = |_| type_error("keys must be arrays of integers, one key for each body");
        self.each.iter().map(|keys| keys.each().map_err(number)).collect()
    }

    /// Returns the keys as the engine takes them.
    fn lend<'k>(&self, slices: &'k [&'k [u64]]) -> Keys<'k> {
        match (self.of, slices) {
            (SetsOfPairs::One, [keys]) => Keys::Within(keys),
            (SetsOfPairs::Two, [a, b]) => Keys::Between(a, b),
            _ => Keys::Among(slices),
        }
    }
}

impl ContactTracker {
    fn with<R>(&self, py: Python<'_>, work: impl FnOnce(&mut engine::ContactTracker) -> R) -> R {
        use pyo3::sync::MutexExt;
        work(&mut self.tracker.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl ContactTracker {
    #[new]
    fn new() -> Self {
        Self { tracker: Mutex::default() }
    }

    /// Compares the pairs of a frame with the pairs of the last frame.
    ///
    /// Parameters
    /// ----------
    /// pairs : Found, or (m, 2) array of uint32
    ///     The result of ``find``, or an array of pairs.
    /// keys : (n,) array of uint64, or several, optional
    ///     The key of each body, each once within its set. For pairs between two sets, a tuple of the keys of each set;
    ///     for pairs among many sets, a sequence of the keys of every set. Without keys, rows are keys.
    /// shifts : (m, d) array of int32, optional
    ///     The image shift of each pair, for an array of pairs in a cell so small that two bodies touch at several
    ///     images: shifts then tell contacts apart. (The result of ``find`` has them.)
    /// threads : int, optional
    ///
    /// Returns
    /// -------
    /// Changes
    #[pyo3(signature = (pairs, keys=None, *, shifts=None, threads=None))]
    fn update(
        &self,
        py: Python<'_>,
        pairs: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, PyAny>>,
        shifts: Option<&Bound<'_, PyAny>>,
        threads: Option<isize>,
    ) -> PyResult<Changes> {
        let given = Given::of(pairs, shifts, false)?;
        let (keys, threads) = (GivenKeys::of(keys, &given)?, Threads::of(threads)?);
        let slices = keys.slices()?;
        let lent = keys.lend(&slices);
        self.with(py, |tracker| {
            let updated = py.detach(|| tracker.on(threads.lend()).update(given.lend(), lent).map(drop));
            updated.map_err(Refused::refused)?;
            let last = tracker.last();
            Ok(Changes {
                begin: Contacts::of(py, last.begin())?,
                persist: Contacts::of(py, last.persist())?,
                end: Contacts::of(py, last.end())?,
                pair_slots: array(py, last.pair_slots().to_vec()).unbind(),
                slots: last.slots(),
            })
        })
    }

    /// The length of an array that has a place for each slot.
    #[getter]
    fn slots(&self, py: Python<'_>) -> usize {
        self.with(py, |tracker| tracker.slots())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        self.with(py, |tracker| {
            let last = tracker.last();
            format!("jostle.ContactTracker({} contacts)", last.begin().len() + last.persist().len())
        })
    }
}

/// Where and how deep pairs overlap.
///
/// Attributes
/// ----------
/// depths : (m,) array of float64
///     The sum of the radii less the distance of the centres; 0 where the bodies touch.
/// normals : (m, d) array of float64
///     The direction from the first body of each pair to the second, of length 1.
/// points : (m, d) array of float64
///     The middle of that part of the line through both centres which lies in both bodies.
#[pyclass(frozen, module = "jostle", get_all)]
pub(crate) struct ContactGeometry {
    depths: Py<PyAny>,
    normals: Py<PyAny>,
    points: Py<PyAny>,
}

#[pymethods]
impl ContactGeometry {
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
    cutoff: Option<f64>,
    cell: Option<Bound<'py, PyAny>>,
    pbc: Option<Bound<'py, PyAny>>,
    origin: Option<Bound<'py, PyAny>>,
    shifts: Option<&Bound<'py, PyAny>>,
    threads: Option<isize>,
) -> PyResult<ContactGeometry> {
    let mut given = Given::of(pairs, shifts, true)?;
    let call = Call::new(positions, radii, cutoff, AskedSpace { cell, pbc, origin }, threads)?;
    in_dimensions!(call.read.dimensions(), D => geometry::<D>(py, &call, &mut given))
}

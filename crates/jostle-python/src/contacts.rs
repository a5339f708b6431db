//! Contacts over time, and pairs as they are given.

use engine::{BadPair, ContactError, ContactPairs, Keys, PairFault};
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;

use crate::arrays::{Integer, Integers, array, integer_array, integers, rows, show};
use crate::errors::{Refused, refused, type_error, value_error};
use crate::found::Found;
use crate::held::Held;
use crate::input::SetsOfPairs;
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

/// How many rows there may be to a row that a pair names, so that each has a key; and how many named rows small frames
/// count as.
const ROWS_A_PAIR: usize = 16;
const LEAST_PAIRS: usize = 1 << 12;

/// Pairs as they were given, with their image shifts and the sets that they belong to.
pub(crate) struct Given {
    pairs: Vec<[u32; 2]>,
    pub(crate) shifts: Option<(Vec<i32>, usize)>,
    /// Whether no two bodies touch at several images, by what the search has told.
    single: bool,
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
fn table<T: Integer>(object: &Bound<'_, PyAny>, name: &str) -> PyResult<(Vec<T>, usize)> {
    let array = integer_array(object, name)?;
    let columns = match *array.shape() {
        [0] => 0,
        [_, columns] => columns,
        ref shape => {
            let shape = show(shape);
            return Err(type_error(format_args!("{name} must be an array with one pair a row, not of shape {shape}")));
        }
    };
    Ok((integers(&array, name)?, columns))
}

impl Given {
    /// Reads the pairs of a search, or an array of pairs.
    pub(crate) fn of(pairs: &Bound<'_, PyAny>, shifts: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let py = pairs.py();
        let (pairs, shifts, sets, single) = match pairs.cast::<Found>() {
            Err(_) => (pairs.clone(), shifts.cloned(), None, false),
            Ok(_) if shifts.is_some() => return Err(type_error("shifts beside what find returned, which has them")),
            Ok(found) => {
                let found = found.get();
                let shifts = found.shifts.as_ref().map(|shifts| shifts.bind(py).clone());
                (found.pairs.bind(py).clone(), shifts, Some(Sets::of(found)), !found.by_image)
            }
        };
        let (pairs, columns) = table::<u32>(&pairs, "pairs")?;
        if columns != 2 && !(columns == 0 && pairs.is_empty()) {
            return Err(type_error("pairs must have shape (m, 2)"));
        }
        let shifts = shifts.map(|shifts| table::<i32>(&shifts, "shifts")).transpose()?;
        if let Some((_, columns)) = &shifts
            && !matches!(columns, 2 | 3)
        {
            return Err(type_error("shifts must have shape (m, 2) or (m, 3)"));
        }
        Ok(Self { pairs: pairs.as_chunks().0.to_vec(), shifts, sets, single })
    }

    /// Numbers bodies by their place among the rows that pairs name, and returns these rows. Returns `None`, and leaves
    /// pairs as they are, where rows are few enough for a key each.
    fn renumber(&mut self) -> Option<Vec<u32>> {
        let all = self.pairs.as_flattened();
        let last = *all.iter().max()?;
        if last as usize / ROWS_A_PAIR < all.len().max(LEAST_PAIRS) {
            return None;
        }
        let mut rows = all.to_vec();
        rows.sort_unstable();
        rows.dedup();
        for row in self.pairs.as_flattened_mut() {
            *row = rows.partition_point(|other| other < row) as u32;
        }
        Some(rows)
    }

    pub(crate) fn lend(&self) -> ContactPairs<'_> {
        let mut pairs = ContactPairs::from(&self.pairs);
        if let Some(Sets { meetings, ends, .. }) = &self.sets {
            pairs = pairs.with_sets(meetings, ends);
        }
        match &self.shifts {
            None => pairs,
            Some((shifts, 2)) => pairs.with_image_shifts::<2>(shifts.as_chunks().0).with_single_images(self.single),
            Some((shifts, _)) => pairs.with_image_shifts::<3>(shifts.as_chunks().0).with_single_images(self.single),
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
/// sets : (m, 2) array of uint32, or None
///     The sets of the two bodies, if keys were given for pairs among many sets.
#[pyclass(frozen, module = "jostle", get_all)]
pub(crate) struct Contacts {
    keys: Py<PyAny>,
    pairs: Py<PyAny>,
    slots: Py<PyAny>,
    sets: Option<Py<PyAny>>,
}

impl Contacts {
    /// Makes the arrays of contacts. `numbered` has the row of each body, where bodies were numbered anew; `among` says
    /// that they are of many sets.
    fn of(
        py: Python<'_>,
        contacts: engine::Contacts<'_>,
        (numbered, among): (Option<&[u32]>, bool),
    ) -> PyResult<Py<Self>> {
        let mut pairs = contacts.pairs().as_flattened().to_vec();
        if let Some(numbered) = numbered {
            pairs.iter_mut().for_each(|body| *body = numbered[*body as usize]);
        }
        let this = Self {
            keys: rows(py, contacts.keys().as_flattened().to_vec(), 2)?.unbind(),
            pairs: rows(py, pairs, 2)?.unbind(),
            slots: array(py, contacts.slots().to_vec()).unbind(),
            sets: if among && contacts.sets().len() == contacts.len() {
                Some(rows(py, contacts.sets().as_flattened().to_vec(), 2)?.unbind())
            } else {
                None
            },
        };
        Py::new(py, this)
    }
}

#[pymethods]
impl Contacts {
    #[new]
    #[pyo3(signature = (keys, pairs, slots, sets=None))]
    fn new(keys: Py<PyAny>, pairs: Py<PyAny>, slots: Py<PyAny>, sets: Option<Py<PyAny>>) -> Self {
        Self { keys, pairs, slots, sets }
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (Py<PyAny>, Py<PyAny>, Py<PyAny>, Option<Py<PyAny>>) {
        let sets = self.sets.as_ref().map(|sets| sets.clone_ref(py));
        (self.keys.clone_ref(py), self.pairs.clone_ref(py), self.slots.clone_ref(py), sets)
    }

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
    #[new]
    fn new(begin: Py<Contacts>, persist: Py<Contacts>, end: Py<Contacts>, pair_slots: Py<PyAny>, slots: usize) -> Self {
        Self { begin, persist, end, pair_slots, slots }
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (Py<Contacts>, Py<Contacts>, Py<Contacts>, Py<PyAny>, usize) {
        let [begin, persist, end] = [&self.begin, &self.persist, &self.end].map(|list| list.clone_ref(py));
        (begin, persist, end, self.pair_slots.clone_ref(py), self.slots)
    }

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
    tracker: Held<Tracked>,
}

#[derive(Default)]
struct Tracked {
    tracker: engine::ContactTracker,
    /// The row of each body of the last frame, where bodies were numbered anew.
    numbered: Option<Vec<u32>>,
}

/// The keys of each set.
struct GivenKeys {
    of: SetsOfPairs,
    each: Vec<Integers<u64>>,
    /// The row of each body, where bodies were numbered anew.
    numbered: Option<Vec<u32>>,
}

fn keys_of(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Integers<u64>> {
    let array = integer_array(object, name)?;
    let [bodies] = *array.shape() else {
        let shape = show(array.shape());
        let message = format_args!("{name} must be an array of integers, one for each body, not of shape {shape}");
        return Err(type_error(message));
    };
    Integers::of(&array, name, bodies)
}

impl GivenKeys {
    fn of(keys: Option<&Bound<'_, PyAny>>, given: &mut Given) -> PyResult<Self> {
        let of = given.sets.as_ref().map_or(SetsOfPairs::One, |sets| sets.of);
        let Some(keys) = keys else { return Ok(Self::rows(of, given)) };
        let both =
            keys.extract::<[Bound<'_, PyAny>; 2]>().ok().filter(|both| both.iter().all(|keys| keys.len().is_ok()));
        let (of, each) = match (of, both) {
            (SetsOfPairs::Many, _) => {
                let each = keys.try_iter().map_err(|_| {
                    type_error("keys of many sets must be a sequence of arrays of integers, one for each set")
                })?;
                let each = each.enumerate().map(|(set, keys)| keys_of(&keys?, &format!("keys of set {set}")));
                (of, each.collect::<PyResult<_>>()?)
            }
            (SetsOfPairs::One, Some(_)) if given.sets.is_some() => {
                return Err(type_error(
                    "keys of one set must be an array of integers, one for each body, not two arrays",
                ));
            }
            (_, Some([a, b])) => (SetsOfPairs::Two, vec![keys_of(&a, "keys of set 0")?, keys_of(&b, "keys of set 1")?]),
            (SetsOfPairs::Two, None) => {
                return Err(type_error("keys of two sets must be two arrays of integers, one for each set"));
            }
            (SetsOfPairs::One, None) => (of, vec![keys_of(keys, "keys")?]),
        };
        Ok(Self { of, each, numbered: None })
    }

    /// Makes rows the keys.
    fn rows(of: SetsOfPairs, given: &mut Given) -> Self {
        let numbered = if given.sets.is_none() { given.renumber() } else { None };
        let rows = match (&given.sets, &numbered) {
            (Some(sets), _) => sets.rows(&given.pairs),
            (None, Some(rows)) => vec![rows.iter().map(|&row| row.into()).collect()],
            (None, None) => {
                let last = given.pairs.as_flattened().iter().copied().max();
                vec![(0..last.map_or(0, |last| u64::from(last) + 1)).collect()]
            }
        };
        Self { of, each: rows.into_iter().map(Integers::Each).collect(), numbered }
    }

    /// Makes an exception of what a tracker refuses.
    fn refuse(&self, mut error: ContactError) -> PyErr {
        let ContactError::Pairs { count, first } = &mut error else { return error.refused() };
        if let Some(&BadPair { fault: PairFault::NoSuchId { ids, .. }, .. }) = first.first() {
            let (count, at) = (*count, first.iter().map(|pair| pair.at as u64).collect());
            return refused(format_args!("{ids} keys were given, but each body needs one: {error}"), count, at);
        }
        if let Some(numbered) = &self.numbered {
            first.iter_mut().for_each(|bad| bad.pair = bad.pair.map(|body| numbered[body as usize]));
        }
        error.refused()
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

#[pymethods]
impl ContactTracker {
    #[new]
    fn new() -> Self {
        Self { tracker: Held::default() }
    }

    /// Compares the pairs of a frame with the pairs of the last frame.
    ///
    /// Parameters
    /// ----------
    /// pairs : Found, or (m, 2) array of uint32
    ///     The result of ``find``, or an array of pairs.
    /// keys : (n,) array of uint64, or several, optional
    ///     The key of each body, each once within its set. For pairs between two sets, both sets' keys, ``(a, b)``;
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
        let mut given = Given::of(pairs, shifts)?;
        let (keys, threads) = (GivenKeys::of(keys, &mut given)?, Threads::of(threads)?);
        let slices = keys.slices()?;
        let lent = keys.lend(&slices);
        let among = matches!(lent, Keys::Among(_));
        self.tracker.with(py, |Tracked { tracker, numbered }| {
            let updated = py.detach(|| tracker.on(threads.lend()).update(given.lend(), lent).map(drop));
            updated.map_err(|refused| keys.refuse(refused))?;
            let before = core::mem::replace(numbered, keys.numbered.clone());
            let last = tracker.last();
            Ok(Changes {
                begin: Contacts::of(py, last.begin(), (numbered.as_deref(), among))?,
                persist: Contacts::of(py, last.persist(), (numbered.as_deref(), among))?,
                end: Contacts::of(py, last.end(), (before.as_deref(), among))?,
                pair_slots: array(py, last.pair_slots().to_vec()).unbind(),
                slots: last.slots(),
            })
        })?
    }

    /// The length of an array that has a place for each slot.
    #[getter]
    fn slots(&self, py: Python<'_>) -> PyResult<usize> {
        self.tracker.with(py, |Tracked { tracker, .. }| tracker.slots())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.tracker.with(py, |Tracked { tracker, .. }| {
            let last = tracker.last();
            format!("jostle.ContactTracker({} contacts)", last.begin().len() + last.persist().len())
        })
    }
}

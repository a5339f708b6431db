//! `neighbor_list`: neighbour lists, asked for as ASE asks for them.

use std::collections::HashMap;

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arrays::{Integers, Number, as_array, number, show};
use crate::bodies::{AskedSet, Origin};
use crate::dimensions::{Both, Dimension, in_dimensions, with_idle};
use crate::errors::{type_error, value_error};
use crate::input::Read;
use crate::space::AskedSpace;
use crate::table::{I, J, Kept, Quantities, Table, WIDE_SHIFTS, Wanted, table};
use crate::threads::Threads;

/// A call whose arguments have been read.
pub(crate) struct TableCall<'py> {
    letters: String,
    wanted: Wanted,
    read: Read<'py>,
    threads: Threads,
}

/// Returns the set to search, and which of the neighbours found are kept.
fn asked_set(
    positions: &Bound<'_, PyUntypedArray>,
    cutoff: &Bound<'_, PyAny>,
    types: Option<&Bound<'_, PyAny>>,
) -> PyResult<(AskedSet, Kept)> {
    let (py, bodies) = (cutoff.py(), positions.shape().first().copied().unwrap_or_default());
    let within = |cutoff: f64| Origin::Balls(positions.clone().unbind(), None, Some(cutoff)).into();
    if let Some(cutoff) = number(cutoff) {
        return Ok((within(up(cutoff, positions)), Kept::Below(cutoff)));
    }
    if let Ok(cutoffs) = cutoff.cast::<PyDict>() {
        let Some(types) = types else {
            return Err(type_error("cutoffs for pairs of types need types=, one for each row of the positions"));
        };
        let kept = of_types(cutoffs, types, bodies)?;
        let Kept::Types { cutoffs, .. } = &kept else { return Ok((within(0.0), kept)) };
        let longest = cutoffs.iter().copied().fold(0.0, f64::max);
        return Ok((within(up(longest, positions)), kept));
    }
    let radii = as_array(cutoff, "cutoff")?;
    if radii.shape() != [bodies] {
        let shape = show(radii.shape());
        return Err(type_error(format_args!(
            "cutoff must be a number, a radius for each body, of shape ({bodies},), or a dict, not of shape {shape}"
        )));
    }
    let double = radii.call_method1("astype", ("f8",))?;
    let each: Vec<f64> = double.extract()?;
    let mut radii = double;
    if Number::of(&positions.dtype()) == Some(Number::Single) {
        let single = radii.call_method1("astype", ("f4",))?;
        let infinity = radii.get_type().py().import("numpy")?.getattr("float32")?.call1((f32::INFINITY,))?;
        radii = py.import("numpy")?.call_method1("nextafter", (single, infinity))?;
    }
    let set = Origin::Balls(positions.clone().unbind(), Some(radii.unbind()), None);
    Ok((set.into(), Kept::Radii(each)))
}

/// Returns a cutoff in the precision of the positions that is not less than the given one.
fn up(cutoff: f64, positions: &Bound<'_, PyUntypedArray>) -> f64 {
    let single = cutoff as f32;
    if Number::of(&positions.dtype()) == Some(Number::Single) && f64::from(single) < cutoff {
        return single.next_up().into();
    }
    cutoff
}

/// Returns a cutoff for each two types: 0 for two types that the dict does not name together.
fn of_types(cutoffs: &Bound<'_, PyDict>, types: &Bound<'_, PyAny>, bodies: usize) -> PyResult<Kept> {
    let py = types.py();
    let shape: Vec<usize> = py.import("numpy")?.call_method1("shape", (types,))?.extract()?;
    if shape != [bodies] {
        let shape = show(&shape);
        let message = format_args!("types must have shape ({bodies},), one for each row of the positions, not {shape}");
        return Err(type_error(message));
    }
    let unique = PyDict::new(py);
    unique.set_item("return_inverse", true)?;
    let found = py.import("numpy")?.call_method("unique", (types,), Some(&unique))?;
    let (labels, inverse) = (found.get_item(0)?, found.get_item(1)?);
    let labels: Vec<Bound<'_, PyAny>> = labels.call_method0("tolist")?.extract()?;
    let Integers::Each(of) = Integers::<u32>::of(&inverse, "types", bodies)? else {
        return Err(type_error(format_args!("types must have shape ({bodies},)")));
    };
    let number_of = |label: &Bound<'_, PyAny>| labels.iter().position(|known| known.eq(label).unwrap_or(false));
    let mut table = HashMap::new();
    for (pair, cutoff) in cutoffs.iter() {
        let pair: (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract().map_err(|_| {
            type_error(format_args!("a key of the cutoffs is {pair}, not a pair of types such as (1, 8)"))
        })?;
        let wanted = || type_error(format_args!("the cutoff of {pair:?} is {cutoff}: it must be a number"));
        let cutoff = number(&cutoff).ok_or_else(wanted)?;
        if !(cutoff.is_finite() && cutoff >= 0.0) {
            let message = format_args!("the cutoff of {pair:?} is {cutoff}: it must be finite and not negative");
            return Err(value_error(message));
        }
        if let (Some(a), Some(b)) = (number_of(&pair.0), number_of(&pair.1)) {
            table.insert((a, b), cutoff);
            table.insert((b, a), cutoff);
        }
    }
    let types = labels.len();
    let mut cutoffs = vec![0.0; types * types];
    for ((a, b), cutoff) in table {
        cutoffs[a * types + b] = cutoff;
    }
    Ok(Kept::Types { of, cutoffs, types })
}

impl<'py> TableCall<'py> {
    pub(crate) fn new(
        (letters, itself, wide): (&Bound<'py, PyAny>, bool, bool),
        positions: &Bound<'py, PyAny>,
        (cutoff, types): (&Bound<'py, PyAny>, Option<&Bound<'py, PyAny>>),
        space: AskedSpace<'py>,
        threads: Option<isize>,
    ) -> PyResult<Self> {
        let letters: String = letters.extract().map_err(|_| {
            let kind = letters.get_type();
            type_error(format_args!("quantities must be letters of \"ijdDS\", ahead of positions, not {kind}"))
        })?;
        let quantities = Quantities::of(&letters).map_err(|letter| {
            value_error(format_args!("there is no quantity {letter:?}: quantities are some of \"ijdDS\""))
        })?;
        let positions = as_array(positions, "positions")?;
        let (set, kept) = asked_set(&positions, cutoff, types)?;
        let read = Read::within(set.read(positions.py())?, space);
        let wanted = Wanted { quantities, kept, itself, double: read.is_decided(), wide };
        Ok(Self { letters, wanted, read, threads: Threads::of(threads)? })
    }

    fn search<const D: usize>(&self, py: Python<'py>, both: &mut Both) -> PyResult<Table>
    where
        (): Dimension<D>,
    {
        self.read.with::<D, _>(|input, cell| {
            let (freed, max_pairs) = (both.freed.clone(), both.max_pairs);
            let (finder, wanted, threads) = (<()>::finder(both), &self.wanted, &self.threads);
            let made = py.detach(|| table(finder, input, cell, (wanted, max_pairs), (threads, &freed)));
            made.map_err(|error| max_pairs.refused(error))
        })
    }

    /// Returns a tuple of the arrays in the order of their letters, or, for one letter, the array.
    pub(crate) fn table(&self, py: Python<'py>, both: &mut Both) -> PyResult<Bound<'py, PyAny>> {
        let dimensions = self.read.dimensions();
        let table = in_dimensions!(dimensions, D => self.search::<D>(py, both))?;
        let (freed, places) = (&both.freed, table.places);
        let distances = match self.wanted.double {
            true => freed.array(py, table.double, places.distances)?,
            false => freed.array(py, table.single, places.distances)?,
        };
        let (i, j) = (freed.array(py, table.i, I)?, freed.array(py, table.j, J)?);
        let vectors = freed.rows(py, table.vectors, dimensions, places.vectors)?;
        let shifts = match self.wanted.wide {
            true => freed.rows(py, table.wide_shifts, dimensions, WIDE_SHIFTS)?,
            false => freed.rows(py, table.shifts, dimensions, places.shifts)?,
        };
        let all = self.letters.chars().map(|letter| match letter {
            'i' => &i,
            'j' => &j,
            'd' => &distances,
            'D' => &vectors,
            _ => &shifts,
        });
        let all: Vec<_> = all.collect();
        Ok(match all[..] {
            [one] => one.clone(),
            _ => PyTuple::new(py, all)?.into_any(),
        })
    }
}

/// Finds pairs of points nearer than a cutoff, each from both sides, as ``ase.neighborlist.neighbor_list`` does.
///
/// Parameters
/// ----------
/// quantities : str
///     What is returned: some of these letters, in any order. ``i`` and ``j`` are the two points of a pair; ``d`` is
///     their distance; ``D`` is the vector from i to j; ``S`` is the shift of j, ``D = x[j] - x[i] + S @ cell``.
/// positions : (n, 2) or (n, 3) array of float32 or float64
/// cutoff : float, (n,) array, or dict
///     A number: the distance of a pair is less than it. An array, the radius of each point: the distance is less than
///     the sum of both radii. A dict, ``{(1, 8): 1.2, (8, 8): 2.0}``: the distance is less than the cutoff of the two
///     types, and other types have no pairs.
/// cell : float, (d,) or (d, d) array, optional
///     Where space repeats: the lengths of the cell, or its vectors, one a row. Positions may lie outside of the cell,
///     and the cutoff may be larger than the cell.
/// pbc : bool or d bools, default True where there is a cell
///     In which directions space repeats.
/// types : (n,) array, optional
///     The type of each point, as the keys of the dict name it: numbers, or names.
/// self_interaction : bool, default False
///     Whether each point is a neighbour of itself, at distance 0. (Its images are its neighbours in any case.)
/// threads : int, optional
///     How many threads to use; by default as many as there are cores. The result does not depend on them.
///
/// Returns
/// -------
/// tuple of arrays, or one array
///     i and j : (m,) int64; d : (m,) float32 or float64, as the positions; D : (m, d) float64; S : (m, d) int32.
///     Sorted by i, then j.
///
/// Examples
/// --------
/// >>> i, j, S, d = jostle.neighbor_list("ijSd", positions, 5.0, cell=cell, pbc=True)
#[pyfunction]
#[pyo3(signature = (quantities, positions, cutoff, *, cell=None, pbc=None, types=None, self_interaction=false, threads=None))]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn neighbor_list<'py>(
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
    with_idle(|both| call.table(py, both))
}

/// As `neighbor_list`, with shifts in int64, for atoms: in three dimensions alone.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "`jostle.ase` names them")]
pub(crate) fn ase_neighbor_list<'py>(
    py: Python<'py>,
    quantities: &Bound<'py, PyAny>,
    positions: &Bound<'py, PyAny>,
    cutoff: &Bound<'py, PyAny>,
    cell: Bound<'py, PyAny>,
    pbc: Bound<'py, PyAny>,
    types: Option<&Bound<'py, PyAny>>,
    self_interaction: bool,
    threads: Option<isize>,
) -> PyResult<Bound<'py, PyAny>> {
    let space = AskedSpace { cell: Some(cell), pbc: Some(pbc), origin: None };
    let call = TableCall::new((quantities, self_interaction, true), positions, (cutoff, types), space, threads)?;
    with_idle(|both| call.table(py, both))
}

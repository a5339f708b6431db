//! A set of bodies: where they are, how they move, and which of them may meet.

use engine::{Bodies as View, Displacements, Layers, Radii, Set};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Cutoff, Integers, Number, Real, Reals, as_array, number, repeated, show};
use crate::errors::{type_error, value_error};
use crate::prepared::{Of, PreparedSet};
use crate::space::Cell;

/// A set as the caller describes it: numbers, and arrays that each search looks at anew.
#[derive(Default)]
pub(crate) struct AskedSet {
    pub(crate) positions: Option<Positions>,
    pub(crate) radii: Option<Py<PyAny>>,
    pub(crate) cutoff: Option<f64>,
    pub(crate) margin: f64,
    pub(crate) displacements: Option<Py<PyUntypedArray>>,
    pub(crate) category: Option<Py<PyAny>>,
    pub(crate) mask: Option<Py<PyAny>>,
    pub(crate) group: Option<Py<PyAny>>,
}

/// What a set has its positions from.
pub(crate) enum Positions {
    Array(Py<PyUntypedArray>),
    Prepared(Py<PreparedSet>),
}

impl AskedSet {
    /// Takes positions, and either radii or a cutoff. A prepared set has radii or a cutoff of its own.
    pub(crate) fn new(
        positions: &Bound<'_, PyAny>,
        radii: Option<&Bound<'_, PyAny>>,
        cutoff: Option<f64>,
    ) -> PyResult<Self> {
        if let Ok(prepared) = positions.cast::<PreparedSet>() {
            if radii.is_some() || cutoff.is_some() {
                return Err(type_error("radii or a cutoff of a prepared set: it has those that it was prepared with"));
            }
            let positions = Some(Positions::Prepared(prepared.clone().unbind()));
            return Ok(Self { positions, ..Self::default() });
        }
        let positions = as_array(positions, "positions")?;
        let number = Number::of(&positions.dtype());
        let radii = radii.map(|radii| numbers(radii, "radii", number)).transpose()?;
        let positions = Positions::Array(positions.unbind());
        Ok(Self { positions: Some(positions), radii, cutoff, ..Self::default() })
    }

    fn read_source(&self, py: Python<'_>) -> PyResult<Source> {
        let array = match &self.positions {
            None => return Err(type_error("a set without positions")),
            Some(Positions::Prepared(prepared)) => return Ok(Source::Prepared(prepared.clone_ref(py))),
            Some(Positions::Array(array)) => array.bind(py),
        };
        let positions = Reals::points(array, "positions")?;
        if self.radii.is_none() && self.cutoff.is_none() {
            return Err(type_error("radii (a number or an array), or cutoff=..., are missing"));
        }
        if self.radii.is_some() && self.cutoff.is_some() {
            return Err(type_error("radii and a cutoff: give one of them, the cutoff is a distance of centres"));
        }
        let radii = match &self.radii {
            None => ReadRadii::All(0.0),
            Some(radii) => ReadRadii::of(radii.bind(py), "radii", positions.len())?,
        };
        if let ReadRadii::Each(radii) = &radii
            && radii.number != positions.number
        {
            let [radii, positions] = [radii.number, positions.number].map(Number::name);
            return Err(type_error(format_args!(
                "radii are {radii}, but positions {positions}: give both in one precision, \
                 radii.astype(np.{positions}), say"
            )));
        }
        if let Some(cutoff) = self.cutoff {
            check_length(cutoff, "cutoff", positions.number)?;
        }
        if let ReadRadii::All(radius) = radii {
            check_length(radius, "the radius", positions.number)?;
        }
        Ok(Source::Arrays { positions, radii, cutoff: self.cutoff, margin: self.margin })
    }

    pub(crate) fn read(&self, py: Python<'_>) -> PyResult<ReadSet> {
        let source = self.read_source(py)?;
        let (bodies, axes) = (source.len(), source.dimensions());
        let displacements = match &self.displacements {
            None => None,
            Some(displacements) => {
                let displacements = displacements.bind(py);
                let read = Reals::points(displacements, "displacements")?;
                if [read.len(), read.columns()] != [bodies, axes] {
                    let [given, wanted] = [show(displacements.shape()), show(&[bodies, axes])];
                    let message =
                        format_args!("displacements must have the shape of the positions, {wanted}, not {given}");
                    return Err(type_error(message));
                }
                Some(read)
            }
        };
        let layers = if self.category.is_some() || self.mask.is_some() || self.group.is_some() {
            let bits = |object: &Option<Py<PyAny>>, name| match object {
                None => Ok(Integers::All(u32::MAX)),
                Some(object) => Integers::of(object.bind(py), name, bodies),
            };
            let group = match &self.group {
                None => Integers::All(0),
                Some(object) => Integers::of(object.bind(py), "group", bodies)?,
            };
            Some((bits(&self.category, "category")?, bits(&self.mask, "mask")?, group))
        } else {
            None
        };
        Ok(ReadSet { source, displacements, layers })
    }
}

/// Refuses a length that no search takes, or that is infinite in the precision of the positions.
fn check_length(length: f64, name: &str, number: Number) -> PyResult<()> {
    if !(length.is_finite() && length >= 0.0) {
        return Err(value_error(format_args!("{name} is {length}: it must be finite and not negative")));
    }
    if number == Number::Single && (length as f32).is_infinite() {
        let message = format_args!("{name} is {length:e}, too large for float32: give positions in float64");
        return Err(value_error(message));
    }
    Ok(())
}

/// Returns numbers and arrays as they are. Whatever else numpy can make an array of becomes an array in this precision.
fn numbers(object: &Bound<'_, PyAny>, name: &str, number: Option<Number>) -> PyResult<Py<PyAny>> {
    if self::number(object).is_some() {
        return Ok(object.clone().unbind());
    }
    let array = as_array(object, name)?;
    let is_list = !object.is_instance_of::<PyUntypedArray>();
    match number.filter(|_| is_list) {
        Some(number) => Ok(array.call_method1("astype", (number.name(),))?.unbind()),
        None => Ok(array.into_any().unbind()),
    }
}

/// The radii of a set, read.
pub(crate) enum ReadRadii {
    All(f64),
    Each(Reals),
}

impl ReadRadii {
    fn of(object: &Bound<'_, PyAny>, name: &str, bodies: usize) -> PyResult<Self> {
        let Ok(array) = object.cast::<PyUntypedArray>() else { return Ok(Self::All(object.extract()?)) };
        if array.ndim() == 0 {
            return Ok(Self::All(object.call_method0("item")?.extract()?));
        }
        let read = Reals::numbers(array, name, ("positions", bodies))?;
        Ok(repeated(array)?.map_or(Self::Each(read), Self::All))
    }
}

type ReadLayers = (Integers<u32>, Integers<u32>, Integers<i32>);

/// The positions and radii of a set, read.
pub(crate) enum Source {
    Arrays { positions: Reals, radii: ReadRadii, cutoff: Option<f64>, margin: f64 },
    Prepared(Py<PreparedSet>),
}

impl Source {
    fn len(&self) -> usize {
        match self {
            Self::Arrays { positions, .. } => positions.len(),
            Self::Prepared(prepared) => prepared.get().len(),
        }
    }

    fn dimensions(&self) -> usize {
        match self {
            Self::Arrays { positions, .. } => positions.columns(),
            Self::Prepared(prepared) => prepared.get().dimensions(),
        }
    }

    fn number(&self) -> Number {
        match self {
            Self::Arrays { positions, .. } => positions.number,
            Self::Prepared(prepared) => prepared.get().number,
        }
    }
}

/// A set whose arrays have been read.
pub(crate) struct ReadSet {
    source: Source,
    displacements: Option<Reals>,
    layers: Option<ReadLayers>,
}

fn view<'a, const D: usize, T: Real>(
    positions: &'a Reals,
    radii: &'a ReadRadii,
    cutoff: Option<f64>,
    margin: f64,
) -> PyResult<View<'a, D, T>> {
    let radii = match radii {
        ReadRadii::All(radius) => Radii::All(T::of(*radius)),
        ReadRadii::Each(radii) => Radii::Each(radii.column(0)?),
    };
    let view = View::from_columns(positions.axes::<D, T>()?, radii);
    let view = cutoff.map_or(view, |cutoff| view.within(T::of(cutoff)));
    Ok(view.with_margin(T::of(margin)))
}

impl ReadSet {
    pub(crate) fn len(&self) -> usize {
        self.source.len()
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.source.dimensions()
    }

    /// Whether the pairs of the set are decided in f64.
    pub(crate) fn is_decided(&self) -> bool {
        self.source.number() == Number::Double || self.displacements.is_some()
    }

    pub(crate) fn moves(&self) -> bool {
        self.displacements.is_some()
    }

    /// The cell that a prepared set was sorted for.
    pub(crate) fn cell<const D: usize>(&self) -> PyResult<Option<Cell<D>>>
    where
        (): Of<D>,
    {
        match &self.source {
            Source::Arrays { .. } => Ok(None),
            Source::Prepared(prepared) => Ok(Some(<() as Of<D>>::of(&prepared.get().prepared)?.1)),
        }
    }

    /// Returns the set as the engine takes it.
    pub(crate) fn set<const D: usize>(&self) -> PyResult<Set<'_, D>>
    where
        (): Of<D>,
    {
        let mut set = match &self.source {
            Source::Prepared(prepared) => Set::from(<() as Of<D>>::of(&prepared.get().prepared)?.0),
            Source::Arrays { positions, radii, cutoff, margin } => match positions.number {
                Number::Single => Set::from(view::<D, f32>(positions, radii, *cutoff, *margin)?),
                Number::Double => Set::from(view::<D, f64>(positions, radii, *cutoff, *margin)?),
            },
        };
        if let Some((category, mask, group)) = &self.layers {
            set = set.layers(Layers::new(category.values(), mask.values()).with_groups(group.values()));
        }
        Ok(match &self.displacements {
            None => set,
            Some(moving) if moving.number == Number::Single => {
                set.moving(Displacements::from(moving.axes::<D, f32>()?))
            }
            Some(moving) => set.moving(Displacements::from(moving.axes::<D, f64>()?)),
        })
    }
}

/// A set of circles or spheres: where they are, how they move, and which of them may meet.
///
/// Every search takes ``Bodies`` in place of positions and radii. Nothing is copied: each search reads the arrays in
/// place, anew. So ``Bodies`` that are made once follow a simulation that moves its positions in place.
///
/// Parameters
/// ----------
/// positions : (n, 2) or (n, 3) array of float32 or float64, or PreparedSet
///     Centres, one a row, in any memory order and with any strides. In float64, pairs are decided in float64. A
///     prepared set has radii of its own.
/// radii : float or (n,) array, optional
///     The radius of all bodies, or one for each, in the precision of the positions.
/// cutoff : float, optional
///     Instead of radii: two bodies are a pair when their centres are at most this far apart.
/// margin : float, default 0
///     A length added to each radius. A list of pairs then holds for as long as no body has moved by more
///     (``Finder.still_valid``).
/// displacements : (n, 2) or (n, 3) array, optional
///     How far each body moves during the step, in a straight line. Bodies that touch on the way are pairs.
/// category, mask : int or (n,) array of uint32, optional
///     What each body is, and what it meets: two bodies may meet when ``category[a] & mask[b]`` and
///     ``category[b] & mask[a]`` both have a bit.
/// group : int or (n,) array of int32, optional
///     Two bodies of one group other than 0 always meet (above 0), or never do (below).
///
/// Examples
/// --------
/// >>> ships = jostle.Bodies(xy, 1.0, category=1, mask=3)
/// >>> jostle.pairs(ships)
#[pyclass(frozen, module = "jostle")]
pub(crate) struct Bodies {
    pub(crate) asked: AskedSet,
}

#[pymethods]
impl Bodies {
    #[new]
    #[pyo3(signature = (positions, radii=None, *, cutoff=None, margin=0.0, displacements=None, category=None, mask=None, group=None))]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    fn new(
        py: Python<'_>,
        positions: &Bound<'_, PyAny>,
        radii: Option<&Bound<'_, PyAny>>,
        cutoff: Option<Cutoff>,
        margin: f64,
        displacements: Option<&Bound<'_, PyAny>>,
        category: Option<Py<PyAny>>,
        mask: Option<Py<PyAny>>,
        group: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let displacements = displacements.map(|moves| as_array(moves, "displacements")).transpose()?;
        let displacements = displacements.map(Bound::unbind);
        let set = AskedSet::new(positions, radii, cutoff.map(|cutoff| cutoff.0))?;
        let asked = AskedSet { margin, displacements, category, mask, group, ..set };
        asked.read(py)?;
        Ok(Self { asked })
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, Bound<'py, PyDict>)> {
        let AskedSet { radii, cutoff, margin, displacements, category, mask, group, .. } = &self.asked;
        let named = PyDict::new(py);
        named.set_item("cutoff", cutoff)?;
        named.set_item("margin", margin)?;
        named.set_item("displacements", displacements)?;
        named.set_item("category", category)?;
        named.set_item("mask", mask)?;
        named.set_item("group", group)?;
        Ok(((self.positions(py), radii).into_py_any(py)?, named))
    }

    /// The array of positions, or the prepared set.
    #[getter]
    fn positions(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.asked.positions.as_ref().map(|positions| match positions {
            Positions::Array(array) => array.clone_ref(py).into_any(),
            Positions::Prepared(prepared) => prepared.clone_ref(py).into_any(),
        })
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.asked.read(py)?.len())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let read = self.asked.read(py)?;
        let mut said = match &read.source {
            Source::Prepared(_) => String::from(", prepared"),
            Source::Arrays { cutoff: Some(cutoff), .. } => format!(", cutoff={cutoff}"),
            Source::Arrays { radii: ReadRadii::All(radius), .. } => format!(", radii={radius}"),
            Source::Arrays { .. } => String::from(", radii of their own"),
        };
        if self.asked.margin > 0.0 {
            said += &format!(", margin={}", self.asked.margin);
        }
        if read.displacements.is_some() {
            said += ", moving";
        }
        if read.layers.is_some() {
            said += ", with layers";
        }
        let (kind, number) = (if read.dimensions() == 2 { "circles" } else { "spheres" }, read.source.number().name());
        Ok(format!("jostle.Bodies({} {kind} of {number}{said})", read.len()))
    }
}

//! A set of bodies: where they are, how they move, and which of them may meet.

use engine::{Bodies as View, BoxView, CapsuleView, Displacements, Layers, Radii, Set};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{Cutoff, Integers, Number, Real, Reals, as_array, margin_of, number, repeated, show};
use crate::errors::{type_error, value_error};
use crate::prepared::{Of, PreparedSet};
use crate::space::Cell;

/// A set as the caller describes it: numbers, and arrays that each search looks at anew.
pub(crate) struct AskedSet {
    pub(crate) origin: Origin,
    pub(crate) margin: f64,
    pub(crate) displacements: Option<Py<PyUntypedArray>>,
    pub(crate) category: Option<Py<PyAny>>,
    pub(crate) mask: Option<Py<PyAny>>,
    pub(crate) group: Option<Py<PyAny>>,
}

type Array = Py<PyUntypedArray>;

/// What a set has its bodies from.
pub(crate) enum Origin {
    /// Centres, and radii or a cutoff.
    Balls(Array, Option<Py<PyAny>>, Option<f64>),
    /// Lower corners and upper corners.
    Boxes([Array; 2]),
    /// Both ends of the axes, and radii.
    Capsules([Array; 2], Py<PyAny>),
    Prepared(Py<PreparedSet>),
}

impl From<Origin> for AskedSet {
    fn from(origin: Origin) -> Self {
        Self { origin, margin: 0.0, displacements: None, category: None, mask: None, group: None }
    }
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
            return Ok(Origin::Prepared(prepared.clone().unbind()).into());
        }
        let positions = as_array(positions, "positions")?;
        let number = Number::of(&positions.dtype());
        let radii = radii.map(|radii| numbers(radii, "radii", number)).transpose()?;
        Ok(Origin::Balls(positions.unbind(), radii, cutoff).into())
    }

    /// Takes the lower and the upper corners of boxes.
    pub(crate) fn boxes(lo: &Bound<'_, PyAny>, hi: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Origin::Boxes([as_array(lo, "lo")?.unbind(), as_array(hi, "hi")?.unbind()]).into())
    }

    /// Takes both ends of the axes of capsules, and their radii.
    pub(crate) fn capsules([a, b]: [&Bound<'_, PyAny>; 2], radii: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (a, b) = (as_array(a, "a")?, as_array(b, "b")?);
        let radii = numbers(radii, "radii", Number::of(&a.dtype()))?;
        Ok(Origin::Capsules([a.unbind(), b.unbind()], radii).into())
    }

    fn read_source(&self, py: Python<'_>) -> PyResult<Source> {
        match &self.origin {
            Origin::Prepared(prepared) => Ok(Source::Prepared(prepared.clone_ref(py))),
            Origin::Boxes([lo, hi]) => Ok(Source::Boxes(Reals::two([(lo.bind(py), "lo"), (hi.bind(py), "hi")])?)),
            Origin::Capsules([a, b], radii) => {
                let ends = Reals::two([(a.bind(py), "a"), (b.bind(py), "b")])?;
                let radii = ReadRadii::of(radii.bind(py), &ends[0], "a")?;
                Ok(Source::Capsules(ends, radii))
            }
            Origin::Balls(positions, radii, cutoff) => read_balls(positions.bind(py), radii.as_ref(), *cutoff),
        }
    }

    /// The arguments that sets of all shapes have.
    pub(crate) fn named<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let named = PyDict::new(py);
        named.set_item("margin", self.margin)?;
        named.set_item("displacements", &self.displacements)?;
        named.set_item("category", &self.category)?;
        named.set_item("mask", &self.mask)?;
        named.set_item("group", &self.group)?;
        Ok(named)
    }

    /// What Python shows of a set of this class.
    pub(crate) fn said(&self, py: Python<'_>, class: &str) -> PyResult<String> {
        let read = self.read(py)?;
        let mut said = match &read.source {
            Source::Prepared(_) => String::from(", prepared"),
            Source::Balls { cutoff: Some(cutoff), .. } => format!(", cutoff={cutoff}"),
            Source::Balls { radii, .. } | Source::Capsules(_, radii) => match radii {
                ReadRadii::All(radius) => format!(", radii={radius}"),
                ReadRadii::Each(_) => String::from(", radii of their own"),
            },
            Source::Boxes(_) => String::new(),
        };
        if self.margin > 0.0 {
            said += &format!(", margin={}", self.margin);
        }
        if read.displacements.is_some() {
            said += ", moving";
        }
        if read.layers.is_some() {
            said += ", with layers";
        }
        let (count, kind, number) = (read.len(), read.source.kind(), read.source.number().name());
        Ok(format!("jostle.{class}({count} {kind} of {number}{said})"))
    }

    pub(crate) fn read(&self, py: Python<'_>) -> PyResult<ReadSet> {
        let source = self.read_source(py)?;
        let (bodies, axes, margin) = (source.len(), source.dimensions(), self.margin);
        check_length(margin, "the margin", source.number())?;
        let displacements = match &self.displacements {
            None => None,
            Some(displacements) => {
                let displacements = displacements.bind(py);
                let read = Reals::points(displacements, "displacements")?;
                if [read.len(), read.columns()] != [bodies, axes] {
                    let [given, wanted] = [show(displacements.shape()), show(&[bodies, axes])];
                    let of = match &self.origin {
                        Origin::Boxes(_) => "lo",
                        Origin::Capsules(..) => "a",
                        Origin::Balls(..) | Origin::Prepared(_) => "the positions",
                    };
                    let message = format_args!("displacements must have the shape of {of}, {wanted}, not {given}");
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
        Ok(ReadSet { source, margin, displacements, layers })
    }
}

fn read_balls(
    positions: &Bound<'_, PyUntypedArray>,
    radii: Option<&Py<PyAny>>,
    cutoff: Option<f64>,
) -> PyResult<Source> {
    let positions = Reals::points(positions, "positions")?;
    let Some(radii) = radii else {
        let Some(cutoff) = cutoff else {
            return Err(type_error("radii (a number or an array), or cutoff=..., are missing"));
        };
        check_length(cutoff, "cutoff", positions.number)?;
        return Ok(Source::Balls { positions, radii: ReadRadii::All(0.0), cutoff: Some(cutoff) });
    };
    if cutoff.is_some() {
        return Err(type_error("radii and a cutoff: give one of them, the cutoff is a distance of centres"));
    }
    let radii = Python::attach(|py| ReadRadii::of(radii.bind(py), &positions, "positions"))?;
    Ok(Source::Balls { positions, radii, cutoff })
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

/// Returns displacements as an array, if there are any.
pub(crate) fn displacements_of(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Py<PyUntypedArray>>> {
    given.map(|moves| as_array(moves, "displacements").map(Bound::unbind)).transpose()
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
    /// Reads the radii of bodies that are at these `points`, which are called `name`.
    fn of(object: &Bound<'_, PyAny>, points: &Reals, name: &str) -> PyResult<Self> {
        let read = match object.cast::<PyUntypedArray>() {
            Err(_) => Self::All(object.extract()?),
            Ok(array) if array.ndim() == 0 => Self::All(object.call_method0("item")?.extract()?),
            Ok(array) => {
                let read = Reals::numbers(array, "radii", (name, points.len()))?;
                repeated(array)?.map_or(Self::Each(read), Self::All)
            }
        };
        match &read {
            Self::All(radius) => check_length(*radius, "the radius", points.number)?,
            Self::Each(radii) if radii.number != points.number => {
                let [radii, points] = [radii.number, points.number].map(Number::name);
                return Err(type_error(format_args!(
                    "radii are {radii}, but {name} {points}: give both in one precision, radii.astype(np.{points}), say"
                )));
            }
            Self::Each(_) => {}
        }
        Ok(read)
    }

    fn lend<T: Real>(&self) -> PyResult<Radii<'_, T>> {
        Ok(match self {
            Self::All(radius) => Radii::All(T::of(*radius)),
            Self::Each(radii) => Radii::Each(radii.column(0)?),
        })
    }
}

type ReadLayers = (Integers<u32>, Integers<u32>, Integers<i32>);

/// The bodies of a set, read.
pub(crate) enum Source {
    Balls { positions: Reals, radii: ReadRadii, cutoff: Option<f64> },
    Boxes([Reals; 2]),
    Capsules([Reals; 2], ReadRadii),
    Prepared(Py<PreparedSet>),
}

impl Source {
    /// The points that all bodies have, or the prepared set.
    fn points(&self) -> Result<&Reals, &PreparedSet> {
        match self {
            Self::Balls { positions: points, .. } | Self::Boxes([points, _]) | Self::Capsules([points, _], _) => {
                Ok(points)
            }
            Self::Prepared(prepared) => Err(prepared.get()),
        }
    }

    fn len(&self) -> usize {
        self.points().map_or_else(PreparedSet::len, Reals::len)
    }

    fn dimensions(&self) -> usize {
        self.points().map_or_else(PreparedSet::dimensions, Reals::columns)
    }

    fn number(&self) -> Number {
        self.points().map_or_else(|prepared| prepared.number, |points| points.number)
    }

    /// What the bodies are called.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Boxes(_) => "boxes",
            Self::Capsules(..) => "capsules",
            Self::Prepared(prepared) => prepared.get().kind,
            Self::Balls { positions, .. } if positions.columns() == 2 => "circles",
            Self::Balls { .. } => "spheres",
        }
    }

    /// Returns the set as the engine takes it, of coordinates in this precision.
    fn set<'a, const D: usize, T: Real>(&'a self, margin: f64) -> PyResult<Set<'a, D>>
    where
        (): Of<D>,
        Set<'a, D>: From<View<'a, D, T>> + From<BoxView<'a, D, T>> + From<CapsuleView<'a, D, T>>,
    {
        let margin = T::of(margin);
        Ok(match self {
            Self::Prepared(prepared) => <() as Of<D>>::of(&prepared.get().prepared)?.0.into(),
            Self::Balls { positions, radii, cutoff } => {
                let view = View::from_columns(positions.axes::<D, T>()?, radii.lend()?);
                let view = cutoff.map_or(view, |cutoff| view.within(T::of(cutoff)));
                view.with_margin(margin).into()
            }
            Self::Boxes([lo, hi]) => BoxView::from_columns(lo.axes::<D, T>()?, hi.axes()?).with_margin(margin).into(),
            Self::Capsules([a, b], radii) => {
                CapsuleView::from_columns(a.axes::<D, T>()?, b.axes()?, radii.lend()?).with_margin(margin).into()
            }
        })
    }
}

/// A set whose arrays have been read.
pub(crate) struct ReadSet {
    pub(crate) source: Source,
    margin: f64,
    displacements: Option<Reals>,
    layers: Option<ReadLayers>,
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
            Source::Prepared(prepared) => Ok(Some(<() as Of<D>>::of(&prepared.get().prepared)?.1)),
            _ => Ok(None),
        }
    }

    /// Returns the set as the engine takes it.
    pub(crate) fn set<const D: usize>(&self) -> PyResult<Set<'_, D>>
    where
        (): Of<D>,
    {
        let mut set = match self.source.number() {
            Number::Single => self.source.set::<D, f32>(self.margin)?,
            Number::Double => self.source.set::<D, f64>(self.margin)?,
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
///     prepared set has radii and a margin of its own.
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
        #[pyo3(from_py_with = margin_of)] margin: f64,
        displacements: Option<&Bound<'_, PyAny>>,
        category: Option<Py<PyAny>>,
        mask: Option<Py<PyAny>>,
        group: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let displacements = displacements_of(displacements)?;
        let set = AskedSet::new(positions, radii, cutoff.map(|cutoff| cutoff.0))?;
        if matches!(set.origin, Origin::Prepared(_)) && margin != 0.0 {
            return Err(type_error("a margin of a prepared set: it has the one that it was prepared with"));
        }
        let asked = AskedSet { margin, displacements, category, mask, group, ..set };
        asked.read(py)?;
        Ok(Self { asked })
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, Bound<'py, PyDict>)> {
        let (radii, cutoff) = match &self.asked.origin {
            Origin::Balls(_, radii, cutoff) => (radii.as_ref(), *cutoff),
            _ => (None, None),
        };
        let named = self.asked.named(py)?;
        named.set_item("cutoff", cutoff)?;
        Ok(((self.positions(py), radii).into_py_any(py)?, named))
    }

    /// The array of positions, or the prepared set.
    #[getter]
    fn positions(&self, py: Python<'_>) -> Py<PyAny> {
        match &self.asked.origin {
            Origin::Balls(array, ..) | Origin::Boxes([array, _]) | Origin::Capsules([array, _], _) => {
                array.clone_ref(py).into_any()
            }
            Origin::Prepared(prepared) => prepared.clone_ref(py).into_any(),
        }
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.asked.read(py)?.len())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.asked.said(py, "Bodies")
    }
}

//! Arrays of numpy's: read in place, and made of vectors. A room of `unsafe`, which follows numpy's pointers.
#![allow(unsafe_code, reason = "numpy lends pointers")]

use core::fmt::Display;
use core::slice;

use engine::{Column, Scalar};
use numpy::ndarray::{ArrayView1, ArrayView2};
use numpy::{
    Element, PyArray1, PyArray2, PyArrayDescr, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyString};

use crate::errors::{refused, type_error, value_error};

/// The precision of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    Single,
    Double,
}

impl Number {
    pub(crate) fn of(descr: &Bound<'_, PyArrayDescr>) -> Option<Self> {
        let is = |other: Bound<'_, PyArrayDescr>| descr.is_equiv_to(&other);
        if is(f64::get_dtype(descr.py())) {
            Some(Self::Double)
        } else {
            is(f32::get_dtype(descr.py())).then_some(Self::Single)
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Single => 4,
            Self::Double => 8,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Single => "float32",
            Self::Double => "float64",
        }
    }
}

/// A number in one of the two precisions.
pub(crate) trait Real: Scalar + Element {
    const NUMBER: Number;

    /// Converts a parameter, which Python gives in double.
    fn of(number: f64) -> Self;
}

impl Real for f32 {
    const NUMBER: Number = Number::Single;

    fn of(number: f64) -> Self {
        number as f32
    }
}

impl Real for f64 {
    const NUMBER: Number = Number::Double;

    fn of(number: f64) -> Self {
        number
    }
}

fn numpy_asarray<'py>(py: Python<'py>) -> PyResult<&'py Bound<'py, PyAny>> {
    static ASARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    ASARRAY.import(py, "numpy", "asarray")
}

/// Refuses arrays in which some values do not count: numpy would hand out these values like all others.
fn refuse_masked(object: &Bound<'_, PyAny>, name: &str) -> PyResult<()> {
    if object.is_exact_instance_of::<PyUntypedArray>() || !object.is_instance_of::<PyUntypedArray>() {
        return Ok(());
    }
    match object.hasattr(intern!(object.py(), "mask"))? {
        true => {
            Err(type_error(format_args!("{name} must not be a masked array: give the rows that count, without mask")))
        }
        false => Ok(()),
    }
}

/// Returns a number of Python's or numpy's, but no array of one number, which older numpy takes for a number.
pub(crate) fn number(object: &Bound<'_, PyAny>) -> Option<f64> {
    let is_array = || match object.cast::<PyUntypedArray>() {
        Ok(array) => array.ndim() > 0,
        Err(_) => object.hasattr(intern!(object.py(), "__len__")).unwrap_or(false),
    };
    if object.is_instance_of::<PyFloat>() || !is_array() { object.extract().ok() } else { None }
}

/// Reads an argument that is a number, or refuses it by its name.
fn number_called(object: &Bound<'_, PyAny>, name: &str) -> PyResult<f64> {
    let kind = object.get_type().name()?;
    number(object).ok_or_else(|| type_error(format_args!("{name} must be a number, not of type {kind}")))
}

/// Reads the argument `margin`.
pub(crate) fn margin_of(object: &Bound<'_, PyAny>) -> PyResult<f64> {
    number_called(object, "margin")
}

/// Reads the argument `reach`, where it is one for all questions.
pub(crate) fn reach_of(object: &Bound<'_, PyAny>) -> PyResult<f64> {
    number_called(object, "reach")
}

/// The argument `cutoff`.
pub(crate) struct Cutoff(pub(crate) f64);

impl<'a, 'py> FromPyObject<'a, 'py> for Cutoff {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        number_called(&object, "cutoff").map(Self)
    }
}

/// Returns an array as it is, and makes an array of whatever else numpy can. Integers that are in no array become
/// float64.
pub(crate) fn as_array<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyUntypedArray>> {
    refuse_masked(object, name)?;
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    let py = object.py();
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>() {
        let kind = object.get_type().name()?;
        return Err(type_error(format_args!("{name} cannot be made an array of numbers: it is a {kind}")));
    }
    let asked = if object.hasattr(intern!(py, "dtype"))? || object.hasattr(intern!(py, "__array__"))? {
        None
    } else {
        let double = PyDict::new(py);
        double.set_item(intern!(py, "dtype"), f64::get_dtype(py))?;
        Some(double)
    };
    let array = numpy_asarray(py)?.call((object,), asked.as_ref()).map_err(|refused| {
        type_error(format_args!("{name} cannot be made an array of numbers: {}", refused.value(py)))
    })?;
    Ok(array.cast_into()?)
}

/// An array of float32 or float64, one or two-dimensional, that is lent column by column.
pub(crate) struct Reals {
    /// The array that `data` leads into.
    _keep: Py<PyUntypedArray>,
    data: *const u8,
    rows: usize,
    columns: usize,
    /// The bytes from row to row, and from column to column. No value lies before `data`.
    strides: [usize; 2],
    pub(crate) number: Number,
}

// SAFETY: the array is only read, and kept alive. Callers are told not to write it meanwhile.
unsafe impl Send for Reals {}

// SAFETY: as above.
unsafe impl Sync for Reals {}

/// Returns the bytes from one value to the next if a column can be lent in place. Values that overlap, or go backwards,
/// cannot be lent.
fn usable(stride: isize, count: usize, bytes: usize) -> Option<usize> {
    match usize::try_from(stride) {
        _ if count < 2 => Some(bytes),
        Ok(stride) if stride >= bytes => Some(stride),
        _ => None,
    }
}

/// Returns where the first value of an array lies.
fn data(array: &Bound<'_, PyUntypedArray>) -> *const u8 {
    // SAFETY: `array` is an array. Its pointer is the same whatever the type of its values is.
    unsafe { array.cast_unchecked::<PyArray1<u8>>() }.data()
}

impl Reals {
    fn number_of(array: &Bound<'_, PyUntypedArray>, name: &str) -> PyResult<Number> {
        let descr = array.dtype();
        Number::of(&descr).ok_or_else(|| {
            type_error(format_args!(
                "{name} must be float32 or float64 in native byte order, not {descr}: {name}.astype(float), say"
            ))
        })
    }

    /// Reads an array in place where its strides allow it, else a copy of it.
    fn read(array: &Bound<'_, PyUntypedArray>, name: &str) -> PyResult<Self> {
        let number = Self::number_of(array, name)?;
        let (shape, strides, bytes) = (array.shape(), array.strides(), number.bytes());
        let rows = shape[0];
        let (columns, across) = if shape.len() > 1 { (shape[1], strides[1]) } else { (1, 0) };
        let across = usize::try_from(across).ok().or((columns < 2).then_some(0));
        let (Some(down), Some(across)) = (usable(strides[0], rows, bytes), across) else {
            let copy = array.call_method1(intern!(array.py(), "copy"), ("C",))?;
            return Self::read(copy.cast()?, name);
        };
        let data = data(array).cast();
        Ok(Self { _keep: array.clone().unbind(), data, rows, columns, strides: [down, across], number })
    }

    /// Reads two arrays of points, one a row, that have one shape and precision.
    pub(crate) fn two([a, b]: [(&Bound<'_, PyUntypedArray>, &str); 2]) -> PyResult<[Self; 2]> {
        let read = [Self::points(a.0, a.1)?, Self::points(b.0, b.1)?];
        if a.0.shape() != b.0.shape() || read[0].number != read[1].number {
            let [a, b] = [(a, &read[0]), (b, &read[1])]
                .map(|((array, name), read)| format!("{name} is {} of {}", show(array.shape()), read.number.name()));
            return Err(type_error(format_args!("{a}, but {b}: both must have one shape and one precision")));
        }
        Ok(read)
    }

    /// Reads points, one a row, in two or three dimensions.
    pub(crate) fn points(array: &Bound<'_, PyUntypedArray>, name: &str) -> PyResult<Self> {
        let shape = array.shape();
        if !matches!(shape, [_, 2 | 3]) {
            return Err(type_error(format_args!("{name} must have shape (n, 2) or (n, 3), not {}", show(shape))));
        }
        Self::read(array, name)
    }

    /// Reads one number for each row of what is called `of`.
    pub(crate) fn numbers(array: &Bound<'_, PyUntypedArray>, name: &str, (of, rows): (&str, usize)) -> PyResult<Self> {
        if array.shape() != [rows] {
            let shape = show(array.shape());
            return Err(type_error(format_args!(
                "{name} must be a number or have shape ({rows},), one for each row of the {of}, not {shape}"
            )));
        }
        Self::read(array, name)
    }

    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Lends one column, which has to exist and to be in the precision `T`.
    pub(crate) fn column<T: Real>(&self, at: usize) -> PyResult<Column<'_, T>> {
        if T::NUMBER != self.number || at >= self.columns {
            return Err(type_error("an array is read as what it is not"));
        }
        let (bytes, [down, across]) = (size_of::<T>(), self.strides);
        let Some(steps) = self.rows.checked_sub(1) else { return Ok(Column::from(&[])) };
        let start = self.data.wrapping_add(at * across);
        // SAFETY: numpy has lent rows and columns at these distances, and the last value of the column ends where the
        // slice does. The array is kept alive.
        let column = unsafe { slice::from_raw_parts(start, steps * down + bytes) };
        Column::from_strided(column, self.rows, down, 0).map_err(value_error)
    }

    /// Copies all rows, in float64.
    pub(crate) fn to_rows<const D: usize>(&self) -> PyResult<Vec<[f64; D]>> {
        let mut rows = vec![[0.0; D]; self.rows];
        for axis in 0..D {
            match self.number {
                Number::Single => {
                    let column = self.column::<f32>(axis)?;
                    rows.iter_mut().enumerate().for_each(|(row, slot)| slot[axis] = column.get(row).into());
                }
                Number::Double => {
                    let column = self.column::<f64>(axis)?;
                    rows.iter_mut().enumerate().for_each(|(row, slot)| slot[axis] = column.get(row));
                }
            }
        }
        Ok(rows)
    }

    /// Lends all columns, one an axis.
    pub(crate) fn axes<const D: usize, T: Real>(&self) -> PyResult<[Column<'_, T>; D]> {
        let mut axes = [Column::from(&[]); D];
        for (axis, slot) in axes.iter_mut().enumerate() {
            *slot = self.column(axis)?;
        }
        Ok(axes)
    }
}

/// Writes a shape as numpy does.
pub(crate) fn show(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        many => format!("({})", many.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// Returns the value that a one-dimensional array repeats by a stride of 0; `None` for all other arrays.
pub(crate) fn repeated(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<f64>> {
    if array.len() < 2 || array.ndim() != 1 || array.strides() != [0] {
        return Ok(None);
    }
    Ok(array.get_item(0)?.extract().ok())
}

/// One integer for each body, or one for all.
pub(crate) enum Integers<T> {
    All(T),
    Each(Vec<T>),
    Lent(Lent<T>),
}

/// Integers of numpy's that lie side by side.
pub(crate) struct Lent<T> {
    _keep: Py<PyUntypedArray>,
    data: *const T,
    len: usize,
}

// SAFETY: the array is only read, and kept alive.
unsafe impl<T: Sync> Send for Lent<T> {}

// SAFETY: as above.
unsafe impl<T: Sync> Sync for Lent<T> {}

/// Integers of a width that the engine takes.
pub(crate) trait Integer: Element + Copy + TryFrom<i64> + TryFrom<u64> {
    /// The type's name, its least value and its greatest.
    const RANGE: [&'static str; 3];
}

impl Integer for u32 {
    const RANGE: [&'static str; 3] = ["uint32", "0", "2**32 - 1"];
}

impl Integer for i32 {
    const RANGE: [&'static str; 3] = ["int32", "-2**31", "2**31 - 1"];
}

impl Integer for i64 {
    const RANGE: [&'static str; 3] = ["int64", "-2**63", "2**63 - 1"];
}

impl Integer for u64 {
    const RANGE: [&'static str; 3] = ["uint64", "0", "2**64 - 1"];
}

/// How many rows at fault a refusal names.
pub(crate) const NAMED: usize = 16;

/// Converts values to another type of integers, or names the rows of those that it does not hold.
fn fit<T: Integer + TryFrom<W>, W: Copy + Display>(values: &[W], name: &str, columns: usize) -> PyResult<Vec<T>> {
    let fitting: Vec<T> = values.iter().map_while(|&value| T::try_from(value).ok()).collect();
    if fitting.len() == values.len() {
        return Ok(fitting);
    }
    let faults = values.chunks(columns.max(1)).enumerate().filter_map(|(row, values)| {
        values.iter().find(|&&value| T::try_from(value).is_err()).map(|value| (row as u64, value))
    });
    let faults: Vec<_> = faults.collect();
    let first = &faults[..faults.len().min(NAMED)];
    let named: Vec<_> = first.iter().map(|(row, value)| format!("row {row} has {value}")).collect();
    let ([kind, least, most], more) = (T::RANGE, if first.len() < faults.len() { "; ..." } else { "" });
    let message = format!("{name} must be integers from {least} to {most} ({kind}): {}{more}", named.join("; "));
    Err(refused(message, faults.len(), first.iter().map(|(row, _)| *row).collect()))
}

/// Copies all integers of an array, row by row. Whatever holds no integers is refused, but for empty arrays.
pub(crate) fn integers<'py, T: Integer>(array: &Bound<'py, PyUntypedArray>, name: &str) -> PyResult<Vec<T>> {
    let (py, kind, columns) = (array.py(), array.dtype().kind(), array.shape().get(1).copied().unwrap_or(1));
    let wide = |descr: Bound<'py, PyArrayDescr>| {
        let wide = array.call_method1(intern!(py, "astype"), (descr,))?;
        wide.call_method1(intern!(py, "ravel"), ("C",))
    };
    match kind {
        _ if array.dtype().is_equiv_to(&T::get_dtype(py)) => {
            Ok(wide(T::get_dtype(py))?.cast::<PyArray1<T>>()?.to_vec()?)
        }
        b'u' => fit(&wide(u64::get_dtype(py))?.cast::<PyArray1<u64>>()?.to_vec()?, name, columns),
        b'i' | b'b' => fit(&wide(i64::get_dtype(py))?.cast::<PyArray1<i64>>()?.to_vec()?, name, columns),
        _ if array.len() == 0 => Ok(Vec::new()),
        _ => {
            let ([wanted, ..], given) = (T::RANGE, array.dtype());
            Err(type_error(format_args!("{name} must be integers ({wanted}), not {given}")))
        }
    }
}

/// Makes an array of whatever numpy makes one of, with integers in their own type.
pub(crate) fn integer_array<'py>(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, PyUntypedArray>> {
    refuse_masked(object, name)?;
    Ok(numpy_asarray(object.py())?.call1((object,))?.cast_into()?)
}

impl<T: Integer> Integers<T> {
    /// Reads a number or an array of integers. Integers of this type that lie side by side are read in place; integers
    /// of other types are converted where their values fit.
    pub(crate) fn of(object: &Bound<'_, PyAny>, name: &str, bodies: usize) -> PyResult<Self> {
        let py = object.py();
        if object.is_instance_of::<PyInt>() {
            let all = object.extract::<i64>().ok().and_then(|all| T::try_from(all).ok());
            let all = all.or_else(|| object.extract::<u64>().ok().and_then(|all| T::try_from(all).ok()));
            let [kind, least, most] = T::RANGE;
            let beyond = || value_error(format_args!("{name} is {object}: it must be from {least} to {most} ({kind})"));
            return all.map(Self::All).ok_or_else(beyond);
        }
        let array = integer_array(object, name)?;
        if array.ndim() == 0 {
            let [all] = integers(&array, name)?[..] else {
                return Err(type_error(format_args!("{name} is no integer")));
            };
            return Ok(Self::All(all));
        }
        if array.shape() != [bodies] {
            let shape = show(array.shape());
            return Err(type_error(format_args!("{name} must be an integer or have shape ({bodies},), not {shape}")));
        }
        if array.dtype().is_equiv_to(&T::get_dtype(py)) && array.is_c_contiguous() && array.is_aligned() {
            let data = data(&array).cast();
            return Ok(Self::Lent(Lent { _keep: array.unbind(), data, len: bodies }));
        }
        Ok(Self::Each(integers(&array, name)?))
    }

    /// Returns the values of an array, or as an error the one value of all bodies.
    pub(crate) fn each(&self) -> Result<&[T], T> {
        match self {
            Self::All(value) => Err(*value),
            Self::Each(values) => Ok(values),
            // SAFETY: numpy has lent so many values side by side, aligned; the array is kept alive. An empty array may
            // have any address.
            Self::Lent(lent) if lent.len > 0 => Ok(unsafe { slice::from_raw_parts(lent.data, lent.len) }),
            Self::Lent(_) => Ok(&[]),
        }
    }

    /// Returns the values as the engine takes them.
    pub(crate) fn values(&self) -> engine::Values<'_, T> {
        match self.each() {
            Ok(values) => values.into(),
            Err(value) => engine::Values::All(value),
        }
    }
}

/// Memory that arrays of numpy's lead into, for as long as there are such arrays.
#[pyclass(frozen, module = "jostle")]
struct Memory {
    /// Holds the vector, and is called when no array leads into it any more.
    end: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            end();
        }
    }
}

/// Makes an array of a vector, without a copy. When Python is done with the array, `back` gets the vector.
pub(crate) fn array_of<T: Element + 'static>(
    py: Python<'_>,
    mut values: Vec<T>,
    back: impl FnOnce(Vec<T>) + Send + Sync + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    let (first, len) = (values.as_mut_ptr(), values.len());
    let owner = Bound::new(py, Memory { end: Some(Box::new(move || back(values))) })?;
    // SAFETY: so many numbers stand there. Only the array has them until the owner, which the array keeps, is dropped.
    Ok(unsafe {
        let view = ArrayView1::from_shape_ptr(len, first.cast_const());
        PyArray1::borrow_from_array(&view, owner.into_any()).into_any()
    })
}

/// As [`array_of`], for pairs, one a row.
pub(crate) fn pairs_of(
    py: Python<'_>,
    mut pairs: Vec<[u32; 2]>,
    back: impl FnOnce(Vec<[u32; 2]>) + Send + Sync + 'static,
) -> PyResult<Bound<'_, PyAny>> {
    let (first, len) = (pairs.as_mut_ptr().cast::<u32>(), pairs.len());
    let owner = Bound::new(py, Memory { end: Some(Box::new(move || back(pairs))) })?;
    // SAFETY: as above.
    Ok(unsafe {
        let view = ArrayView2::from_shape_ptr((len, 2), first.cast_const());
        PyArray2::borrow_from_array(&view, owner.into_any()).into_any()
    })
}

/// Makes an array of a vector, without a copy.
pub(crate) fn array<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyAny> {
    PyArray1::from_vec(py, values).into_any()
}

/// As [`array`], with `columns` numbers a row.
pub(crate) fn rows<T: Element>(py: Python<'_>, values: Vec<T>, columns: usize) -> PyResult<Bound<'_, PyAny>> {
    let shape = [values.len() / columns, columns];
    Ok(PyArray1::from_vec(py, values).reshape(shape)?.into_any())
}

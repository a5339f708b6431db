//! What is refused, and why.

use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;

pyo3::create_exception!(
    jostle,
    InputError,
    PyValueError,
    "Bodies, pairs, keys or questions that were refused; nothing was computed.\n\n\
     Attributes\n----------\n\
     ids : list of int\n    The first sixteen at fault: positions in the arrays given. Empty where none is, but a parameter.\n\
     count : int\n    How many are at fault in all.\n\
     set : int or None\n    The number of the bodies at fault among those of between or among."
);

/// Names of Rust's in the engine's messages, and what is said of them in Python.
const NAMES: [(&str, &str); 8] = [
    ("`set_max_pairs` allows", "max_pairs= allows"),
    ("count or visit them", "take count or for_each"),
    ("search in f64 (`Circles64`, `Spheres64`)", "give positions in float64"),
    (
        "to the set of each search, `Set::from(&prepared)`",
        "beside the prepared set, jostle.Bodies(prepared, category=...)",
    ),
    ("rows number the bodies of all sets by `u32`", "rows number the bodies of all sets by uint32"),
    ("by what `find` returned of this input", "by what find returned of this input"),
    ("or by `ContactPairs::with_image_shifts`", "or by shifts="),
    ("give what `find` returned, not its pairs", "give what find returned, not its pairs"),
];

/// Makes a refusal that names what is at fault, by ids.
pub(crate) fn refused(message: impl ToString, count: usize, ids: Vec<u64>) -> PyErr {
    let message = NAMES.iter().fold(message.to_string(), |message, (rust, python)| message.replace(rust, python));
    let error = InputError::new_err(message);
    Python::attach(|py| {
        let value = error.value(py);
        match value.setattr("ids", ids).and_then(|()| value.setattr("count", count)) {
            Ok(()) => error,
            Err(other) => other,
        }
    })
}

/// Makes a refusal in which no body, pair, key or question is at fault.
pub(crate) fn value_error(message: impl ToString) -> PyErr {
    refused(message, 0, Vec::new())
}

pub(crate) fn type_error(message: impl ToString) -> PyErr {
    PyTypeError::new_err(message.to_string())
}

/// An error of the engine, which becomes an exception of Python's.
pub(crate) trait Refused {
    fn refused(self) -> PyErr;
}

impl Refused for engine::InputError {
    fn refused(self) -> PyErr {
        let ids = |ids: &mut dyn Iterator<Item = u32>| ids.map(u64::from).collect();
        let (set, fault) = self.by_set();
        let error = match fault {
            Self::Bodies { count, first } => refused(&self, *count, ids(&mut first.iter().map(|(id, _)| *id))),
            Self::Range { count, first } => refused(&self, *count, ids(&mut first.iter().map(|(id, _)| *id))),
            &Self::TooManyPairs { pairs, max: None } => return too_many(pairs),
            _ => value_error(&self),
        };
        Python::attach(|py| error.value(py).setattr("set", set)).map_or_else(|other| other, |()| error)
    }
}

/// Refuses a list that memory does not hold.
pub(crate) fn too_many(pairs: u64) -> PyErr {
    PyMemoryError::new_err(format!("{pairs} pairs or neighbours, more than memory holds: take count or for_each"))
}

impl Refused for engine::ViewError {
    fn refused(self) -> PyErr {
        engine::InputError::from(self).refused()
    }
}

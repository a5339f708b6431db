//! Memory of results that Python is done with, for the next results of the same finder.
//!
//! The system hands out memory that nobody has touched yet page by page, and clears each page. For the 270 MB that the
//! neighbours of 100,000 atoms take, this is two fifths of the time of a search.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use numpy::Element;
use pyo3::prelude::*;

use crate::arrays;

/// Results of at least so many bytes come back. Smaller results lie in memory that the process has already, and their
/// calls cost less.
const LARGE: usize = 1 << 17;

/// Free memory of a finder: for each kind of column, the memory that came back last.
#[derive(Clone)]
pub(crate) struct Freed(Arc<Mutex<Places>>);

pub(crate) struct Places {
    i64: [Vec<i64>; 3],
    f64: [Vec<f64>; 4],
    f32: [Vec<f32>; 3],
    i32: [Vec<i32>; 2],
    u32: [Vec<u32>; 1],
    pairs: Vec<[u32; 2]>,
    /// The most bytes that are kept.
    limit: usize,
}

/// A type of the numbers in columns.
pub(crate) trait Number: Element + Copy + Default + 'static {
    fn places(places: &mut Places) -> &mut [Vec<Self>];
}

macro_rules! numbers {
    ($($type:ident)*) => {
        $(impl Number for $type {
            fn places(places: &mut Places) -> &mut [Vec<Self>] {
                &mut places.$type
            }
        })*
    };
}

numbers!(i64 f64 f32 i32 u32);

impl Places {
    fn bytes(&self) -> usize {
        fn of<T>(places: &[Vec<T>]) -> usize {
            places.iter().map(|column| column.capacity() * size_of::<T>()).sum()
        }
        of(&self.i64)
            + of(&self.f64)
            + of(&self.f32)
            + of(&self.i32)
            + of(&self.u32)
            + self.pairs.capacity() * size_of::<[u32; 2]>()
    }
}

impl Freed {
    /// Makes a store that keeps at most `limit` bytes.
    pub(crate) fn up_to(limit: usize) -> Self {
        let places = Places {
            i64: Default::default(),
            f64: Default::default(),
            f32: Default::default(),
            i32: Default::default(),
            u32: Default::default(),
            pairs: Vec::new(),
            limit,
        };
        Self(Arc::new(Mutex::new(places)))
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.places().bytes()
    }

    /// Takes the free memory of a kind of column, of any length, with whatever it holds.
    pub(crate) fn take<T: Number>(&self, place: usize) -> Vec<T> {
        core::mem::take(&mut T::places(&mut self.places())[place])
    }

    /// Returns `len` numbers, which the caller writes over.
    pub(crate) fn numbers<T: Number>(&self, place: usize, len: usize) -> Vec<T> {
        let mut values = self.take(place);
        if values.capacity() < len {
            // Zeros from the system: the thread that writes a page first also touches it first, whichever thread that
            // is.
            return vec![T::default(); len];
        }
        values.resize(len, T::default());
        values
    }

    /// Keeps a column that came back, for a later result.
    pub(crate) fn give<T: Number>(&self, place: usize, values: Vec<T>) {
        let bytes = values.capacity() * size_of::<T>();
        if bytes < LARGE {
            return;
        }
        let mut places = self.places();
        // The column that was there is dropped after the lock, when nobody waits for it.
        let before = core::mem::take(&mut T::places(&mut places)[place]);
        if places.bytes() + bytes <= places.limit {
            T::places(&mut places)[place] = values;
        }
        drop(places);
        drop(before);
    }

    /// Takes the free memory of a list of pairs, with whatever it holds.
    pub(crate) fn take_pairs(&self) -> Vec<[u32; 2]> {
        core::mem::take(&mut self.places().pairs)
    }

    fn give_pairs(&self, pairs: Vec<[u32; 2]>) {
        let mut places = self.places();
        let before = core::mem::take(&mut places.pairs);
        if places.bytes() + pairs.capacity() * size_of::<[u32; 2]>() <= places.limit {
            places.pairs = pairs;
        }
        drop(places);
        drop(before);
    }

    /// Makes an array of pairs, one a row. It gives their memory back when Python is done with it.
    pub(crate) fn pairs<'py>(&self, py: Python<'py>, pairs: Vec<[u32; 2]>) -> PyResult<Bound<'py, PyAny>> {
        if size_of_val(&pairs[..]) < LARGE {
            return arrays::rows(py, pairs.into_flattened(), 2);
        }
        let places = Arc::downgrade(&self.0);
        arrays::pairs_of(py, pairs, move |pairs| {
            if let Some(places) = places.upgrade() {
                Self(places).give_pairs(pairs);
            }
        })
    }

    /// Makes an array that owns the numbers, and gives their memory back when Python is done with it.
    pub(crate) fn array<'py, T: Number>(
        &self,
        py: Python<'py>,
        values: Vec<T>,
        place: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        if values.len() * size_of::<T>() < LARGE {
            return Ok(arrays::array(py, values));
        }
        let places = Arc::downgrade(&self.0);
        arrays::array_of(py, values, move |values| {
            if let Some(places) = places.upgrade() {
                Self(places).give(place, values);
            }
        })
    }

    /// As [`Freed::array`], with `columns` numbers a row.
    pub(crate) fn rows<'py, T: Number>(
        &self,
        py: Python<'py>,
        values: Vec<T>,
        columns: usize,
        place: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let shape = (values.len() / columns, columns);
        self.array(py, values, place)?.call_method1(pyo3::intern!(py, "reshape"), (shape,))
    }
}

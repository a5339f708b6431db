//! What a host in C would do, right and wrong: the tests call the functions as a host calls them.

mod contacts;
mod frames;
mod misuse;
mod price;
mod queries;
mod searches;
mod shapes;

use core::ptr::{null, null_mut};
use std::ffi::{CStr, c_void};

use crate::columns::Column;
use crate::contacts::{Changes, ContactList};
use crate::finder::{Finder, jostle_finder_free, jostle_finder_new};
use crate::geometry::ContactGeometry;
use crate::handle::{Error, jostle_last_error};
use crate::input::{Input, Relation};
use crate::lists::Neighbors;
use crate::search::{Pairs, jostle_find};
use crate::sets::{Number, RawSet, Shape};
use crate::space::{RawSpace, SpaceKind};
use crate::status::Status;

/// A finder that frees itself.
struct Own(*mut Finder);

impl Own {
    fn new(dimensions: u32) -> Self {
        let mut finder = null_mut();
        // SAFETY: the place is valid.
        assert_eq!(unsafe { jostle_finder_new(dimensions, &raw mut finder) }, Status::Ok);
        Self(finder)
    }

    fn find(&self, input: &Input) -> Result<Vec<[u32; 2]>, Status> {
        let mut pairs = no_pairs();
        // SAFETY: all that the input leads to outlives the call.
        match unsafe { jostle_find(self.0, input, &raw mut pairs) } {
            // SAFETY: the finder lends so many pairs until its next call.
            Status::Ok => Ok(unsafe { core::slice::from_raw_parts(pairs.pairs, pairs.count) }.to_vec()),
            failed => Err(failed),
        }
    }

    fn error(&self) -> Error {
        let mut error = Error { size: size_of::<Error>(), ..no_error() };
        // SAFETY: handle and place are valid.
        assert_eq!(unsafe { jostle_last_error(self.0.cast(), &raw mut error) }, Status::Ok);
        error
    }

    fn message(&self) -> String {
        // SAFETY: the handle keeps the message until its next call.
        unsafe { CStr::from_ptr(self.error().message) }.to_string_lossy().into_owned()
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // SAFETY: the library made the handle.
        unsafe { jostle_finder_free(self.0) }
    }
}

fn no_pairs() -> Pairs {
    Pairs { size: size_of::<Pairs>(), count: 0, pairs: null(), times_of_impact: null() }
}

fn no_neighbors() -> Neighbors {
    let (offsets, ids, image_shifts, vectors) = (null(), null(), null(), null());
    let (size, distances2, distances2_double) = (size_of::<Neighbors>(), null(), null());
    Neighbors { size, rows: 0, count: 0, offsets, ids, distances2, distances2_double, image_shifts, vectors }
}

fn no_geometry() -> ContactGeometry {
    let (depths, normals, points) = (null(), null(), null());
    let (depths_double, normals_double, points_double) = (null(), null(), null());
    let size = size_of::<ContactGeometry>();
    ContactGeometry { size, count: 0, step: 0, depths, normals, points, depths_double, normals_double, points_double }
}

fn no_changes() -> Changes {
    let none = ContactList { count: 0, keys: null(), pairs: null(), slots: null(), sets: null() };
    let size = size_of::<Changes>();
    Changes { size, begin: none, persist: none, end: none, pair_count: 0, pair_slots: null(), slot_count: 0 }
}

fn no_error() -> Error {
    Error { size: 0, status: 0, set: 0, message: null(), offenders: 0, first: null(), first_count: 0 }
}

const ABSENT: Column = Column { data: null(), stride: 0 };

fn column<T>(values: &[T]) -> Column {
    Column { data: values.as_ptr().cast::<c_void>(), stride: size_of::<T>() as isize }
}

fn one<T>(value: &T) -> Column {
    Column { data: (&raw const *value).cast(), stride: 0 }
}

/// An empty set, at rest, without layers.
fn no_set() -> RawSet {
    RawSet {
        size: size_of::<RawSet>(),
        count: 0,
        number: Number::Float as i32,
        displacement_number: Number::Float as i32,
        center: [ABSENT; 3],
        radius: ABSENT,
        margin: 0.0,
        cutoff: 0.0,
        displacement: [ABSENT; 3],
        category: ABSENT,
        mask: ABSENT,
        group: ABSENT,
        prepared: null(),
        shape: Shape::Ball as i32,
        reserved: 0,
        end: [ABSENT; 3],
    }
}

fn circles(x: &[f32], y: &[f32], radius: &[f32]) -> RawSet {
    RawSet { count: x.len(), center: [column(x), column(y), ABSENT], radius: column(radius), ..no_set() }
}

fn input(sets: &[RawSet]) -> Input {
    let relation = if sets.len() == 2 { Relation::Between } else { Relation::Within };
    Input {
        size: size_of::<Input>(),
        sets: sets.as_ptr(),
        set_count: sets.len(),
        relation: relation as i32,
        reserved: 0,
        table: null(),
        space: null(),
        only: None,
        only_user: null_mut(),
        only_of_sets: None,
    }
}

fn open() -> RawSpace {
    RawSpace {
        size: size_of::<RawSpace>(),
        kind: SpaceKind::Open as i32,
        repeats: [0; 3],
        reserved: 0,
        lo: [0.0; 3],
        hi: [0.0; 3],
        vectors: [[0.0; 3]; 3],
        origin: [0.0; 3],
    }
}

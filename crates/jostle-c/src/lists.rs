//! Neighbour lists: compressed sparse rows, and columns beside the ids.

use engine::NeighborLists;

use crate::dimensions::in_either;
use crate::finder::{AnyFinder, AnySearch, Finder};
use crate::handle::{Opaque, call, free, kind, make, with};
use crate::input::{Input, with_input};
use crate::memory::{Grows, answer};
use crate::status::{Failure, Status};
use crate::threads::threads;

/// Neighbour lists: they own their memory, so make them once and keep them. They belong to no finder.
#[derive(Debug)]
pub struct Lists {
    _opaque: [u8; 0],
}

#[derive(Debug)]
pub(crate) struct ListsState {
    lists: NeighborLists,
    columns: u32,
}

impl Opaque for Lists {
    type State = ListsState;
    const KIND: u64 = kind(4);
    const NAME: &'static str = "jostle_lists";
}

/// A column for jostle_lists_new: squared distances in float.
pub const JOSTLE_LISTS_DISTANCES2: u32 = 1;
/// A column for jostle_lists_new: squared distances in double.
pub const JOSTLE_LISTS_DISTANCES2_DOUBLE: u32 = 2;
/// A column for jostle_lists_new: by how many vectors of the cell each neighbour is moved.
pub const JOSTLE_LISTS_IMAGE_SHIFTS: u32 = 4;
/// A column for jostle_lists_new: the vector to each neighbour.
pub const JOSTLE_LISTS_VECTORS: u32 = 8;

/// Which neighbours stand in a row.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Within a set, neighbours with a greater id than the row's own, and the row's own body once for each two opposite
    /// images that it touches: each pair once. Between two sets, as JOSTLE_ROWS_FULL. Among many, in the row of the
    /// body of the lesser set.
    Half = 0,
    /// All neighbours: within a set, and among many, each pair twice.
    Full = 1,
}

/// The neighbours of all bodies, lent by the lists until they are filled again. The neighbours of body i stand from
/// offsets[i] to before offsets[i + 1], in ascending order.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Neighbors {
    /// sizeof(jostle_neighbors).
    pub size: usize,
    /// How many rows: one for each body of the set or, between two sets, for each body of the first; among many, for
    /// each body of all.
    pub rows: usize,
    /// How many neighbours in all.
    pub count: usize,
    /// Where each row begins: rows + 1 numbers, of which the last is count.
    pub offsets: *const usize,
    /// The ids of the neighbours, or their numbers among many sets (jostle_neighbors_find): count of them.
    pub ids: *const u32,
    /// The squared distance from the centre of the row's body to that of each neighbour; where one is a box or a
    /// capsule, between the box or segment of the one and of the other. Like all columns below, null unless
    /// jostle_lists_new was asked for it.
    pub distances2: *const f32,
    /// The same squared distances in double.
    pub distances2_double: *const f64,
    /// By how many vectors of the cell each neighbour is moved to where it touches: one number for each dimension.
    pub image_shifts: *const i32,
    /// The vector from the body of the row to each neighbour: one number for each dimension.
    pub vectors: *const f64,
}

// SAFETY: the struct is repr(C), begins with its size, and holds only numbers and pointers.
unsafe impl Grows for Neighbors {
    const NAME: &'static str = "jostle_neighbors";
}

/// Makes empty lists. columns is 0, or the sum of the columns that searches are to fill in beside the ids:
/// JOSTLE_LISTS_DISTANCES2 ...
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_lists_new(columns: u32, out: *mut *mut Lists) -> Status {
    let state = || {
        let all =
            JOSTLE_LISTS_DISTANCES2 | JOSTLE_LISTS_DISTANCES2_DOUBLE | JOSTLE_LISTS_IMAGE_SHIFTS | JOSTLE_LISTS_VECTORS;
        if columns & !all != 0 {
            return Err(Failure::unknown("columns", columns));
        }
        let mut lists = NeighborLists::new();
        if columns & JOSTLE_LISTS_DISTANCES2 != 0 {
            lists = lists.and_distances();
        }
        if columns & JOSTLE_LISTS_DISTANCES2_DOUBLE != 0 {
            lists = lists.and_distances_f64();
        }
        if columns & JOSTLE_LISTS_IMAGE_SHIFTS != 0 {
            lists = lists.and_image_shifts();
        }
        if columns & JOSTLE_LISTS_VECTORS != 0 {
            lists = lists.and_vectors();
        }
        Ok(ListsState { lists, columns })
    };
    // SAFETY: the pointer is what the header asks for.
    unsafe { make(out, state) }
}

/// Frees the lists, and all that they have lent. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_lists_free(lists: *mut Lists) {
    // SAFETY: the pointer is what the header asks for.
    unsafe { free(lists) }
}

/// Fills lists with the neighbours of each body; rows, a jostle_rows, says which of them. Between two sets, the rows of
/// the first set hold bodies of the second. Among many sets, the bodies of all have rows, and are numbered one set
/// after the other: body i of the second set has the number that is the length of the first, plus i. Distances of boxes
/// and capsules are those of their cores, without margins: boxes and segments. The finder keeps errors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_neighbors_find(
    finder: *mut Finder,
    input: *const Input,
    rows: i32,
    lists: *mut Lists,
    out: *mut Neighbors,
) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(finder, |state| {
            let rows = match rows {
                rows if rows == Rows::Half as i32 => engine::Rows::Half,
                rows if rows == Rows::Full as i32 => engine::Rows::Full,
                rows => return Err(Failure::unknown("rows", rows)),
            };
            let (out, threads) = (answer(out)?, threads(state.threads.as_ref()));
            with(lists, |lists| {
                *out = in_either!(&mut state.finder, finder => {
                    with_input(input, |input, only| {
                        match finder.search(threads, only) {
                            AnySearch::Each(search) => search.neighbors(input, rows, &mut lists.lists),
                            AnySearch::Coherent(search) => search.neighbors(input, rows, &mut lists.lists),
                        }?;
                        Ok(lent(finder, lists, out.size))
                    })
                })?;
                Ok(())
            })
        })
    }
}

/// Lends what this finder has filled lists with.
fn lent<const D: usize>(_finder: &AnyFinder<D>, lists: &ListsState, size: usize) -> Neighbors {
    let ListsState { lists, columns } = lists;
    let wanted = |column: u32| columns & column != 0;
    // The pointer of an empty slice leads nowhere that C may follow. C gets null for a column that was not asked for.
    fn pointer<T, U>(values: &[T], wanted: bool) -> *const U {
        if wanted { values.as_ptr().cast() } else { core::ptr::null() }
    }
    Neighbors {
        size,
        rows: lists.len(),
        count: lists.neighbors().len(),
        offsets: lists.offsets().as_ptr(),
        ids: lists.neighbors().as_ptr(),
        distances2: pointer(lists.distances2(), wanted(JOSTLE_LISTS_DISTANCES2)),
        distances2_double: pointer(lists.distances2_f64(), wanted(JOSTLE_LISTS_DISTANCES2_DOUBLE)),
        image_shifts: pointer::<_, i32>(lists.image_shifts::<D>(), wanted(JOSTLE_LISTS_IMAGE_SHIFTS)),
        vectors: pointer::<_, f64>(lists.vectors::<D>(), wanted(JOSTLE_LISTS_VECTORS)),
    }
}

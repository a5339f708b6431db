//! The input of a search: sets, which of them meet, their space, and a test of the host's.

use std::ffi::c_void;

use engine::ActivationTable;

use crate::memory::{self, Grows};
use crate::sets::{Dimensional, Lent, RawSet};
use crate::space::{RawSpace, space};
use crate::status::{Failure, Status};

/// Which sets meet.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The bodies of one set meet each other, each two once.
    Within = 0,
    /// The bodies of the first of two sets meet those of the second.
    Between = 1,
    /// The bodies of many sets meet as a table says.
    Among = 2,
}

impl Relation {
    pub(crate) fn of(number: i32) -> Result<Self, Failure> {
        let all = [Self::Within, Self::Between, Self::Among];
        let found = all.into_iter().find(|&relation| relation as i32 == number);
        found.ok_or_else(|| Failure::unknown("relation", number))
    }

    /// The name of the relation in C.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Within => "JOSTLE_RELATION_WITHIN",
            Self::Between => "JOSTLE_RELATION_BETWEEN",
            Self::Among => "JOSTLE_RELATION_AMONG",
        }
    }
}

/// Tells whether a search keeps a pair: 0 if not. The search calls the test once for each pair that overlaps and that
/// layers let through, with the ids as they stand in the pair. Neighbour lists call it for each row that the pair
/// stands in, and perhaps again. Several threads call it at once, unless the search runs on one thread. No exception
/// may leave the test, and it must not use the handle that calls it.
pub type Test = Option<unsafe extern "C" fn(user: *mut c_void, a: u32, b: u32) -> i32>;

/// As jostle_test, of a pair of body a of set i and body b of set j.
pub type TestOfSets = Option<unsafe extern "C" fn(user: *mut c_void, i: u32, j: u32, a: u32, b: u32) -> i32>;

/// The input of a search: sets, which of them meet, their space, and a test.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Input {
    /// sizeof(jostle_input).
    pub size: usize,
    /// The sets, side by side.
    pub sets: *const RawSet,
    /// How many sets: 1 within, 2 between, any number among.
    pub set_count: usize,
    /// Which sets meet, a jostle_relation.
    pub relation: i32,
    /// Not used yet.
    pub reserved: i32,
    /// For JOSTLE_RELATION_AMONG: set_count times set_count bytes of 0 or 1, row after row. 1 at [i][j] or at [j][i]
    /// means that sets i and j meet; 1 at [i][i], that the bodies of set i meet each other.
    pub table: *const u8,
    /// The space that the sets are in; null for open space.
    pub space: *const RawSpace,
    /// Keeps only the pairs that this test lets through; null for all. jostle_still_valid and contact geometry do not
    /// call it.
    pub only: Test,
    /// The first argument of only or only_of_sets, whatever it is.
    pub only_user: *mut c_void,
    /// A test that knows the sets of a pair, in place of only; null for none.
    pub only_of_sets: TestOfSets,
}

// SAFETY: the struct is repr(C), begins with its size, and holds only numbers and pointers, which may be null.
unsafe impl Grows for Input {
    const NAME: &'static str = "jostle_input";
}

/// The host's test, as the engine calls it.
pub(crate) type Asks<'t> = &'t (dyn Fn([u32; 2], [u32; 2]) -> bool + Sync);

/// The host's own pointer, which the host's functions may use from any thread.
#[derive(Clone, Copy)]
pub(crate) struct User(pub(crate) *mut c_void);

// SAFETY: the header asks for functions that several threads may call with this pointer. This crate does not follow it.
unsafe impl Sync for User {}

impl User {
    /// Returns the pointer. A closure that calls this holds the whole `User`, which is `Sync`, and not its field.
    pub(crate) fn pointer(&self) -> *mut c_void {
        self.0
    }
}

/// Calls `search` with the input as the engine takes it, and with the host's test.
///
/// # Safety
/// The pointer is null, misaligned, or leads to an input that is readable during the call, with all that it leads to.
pub(crate) unsafe fn with_input<const D: usize, R>(
    raw: *const Input,
    search: impl FnOnce(engine::Input<'_, D>, Option<Asks<'_>>) -> Result<R, Failure>,
) -> Result<R, Failure>
where
    (): Dimensional<D>,
{
    // SAFETY: as the caller says.
    let (raw, space) = unsafe {
        let raw = memory::read(raw)?;
        (raw, space::<D>(raw.space)?)
    };
    let relation = Relation::of(raw.relation)?;
    let wanted = match relation {
        Relation::Within => Some(1),
        Relation::Between => Some(2),
        Relation::Among => None,
    };
    if let Some(wanted) = wanted.filter(|&wanted| wanted != raw.set_count) {
        let message = format_args!("set_count is {}: {} takes {wanted}", raw.set_count, relation.name());
        return Err(Failure::new(Status::Parameter, message));
    }
    // SAFETY: as the caller says.
    let lent = unsafe { lend_all(raw) }?;
    let sets = lent.iter().map(Lent::set).collect::<Result<Vec<_>, _>>()?;
    let (user, tests) = (User(raw.only_user), (raw.only, raw.only_of_sets));
    let asks = move |[i, j]: [u32; 2], [a, b]: [u32; 2]| match tests {
        // SAFETY: the host keeps to what the header asks of tests.
        (Some(test), _) => unsafe { test(user.pointer(), a, b) != 0 },
        // SAFETY: as above.
        (None, Some(test)) => unsafe { test(user.pointer(), i, j, a, b) != 0 },
        (None, None) => true,
    };
    let only = match tests {
        (None, None) => None,
        (Some(_), Some(_)) => {
            let message = "only and only_of_sets are given: a search has one test, so clear one of them";
            return Err(Failure::new(Status::Combination, message));
        }
        _ => Some(&asks as Asks<'_>),
    };
    let input = match sets[..] {
        [set] if relation == Relation::Within => engine::Input::within(set),
        [a, b] if relation == Relation::Between => engine::Input::between(a, b),
        _ => {
            // SAFETY: as the caller says.
            let table = unsafe { table(raw.table, sets.len()) }?;
            return search(engine::Input::among(&sets, &table).space(space), only);
        }
    };
    search(input.space(space), only)
}

/// # Safety
/// As for [`with_input`].
unsafe fn lend_all<'a, const D: usize>(raw: Input) -> Result<Vec<Lent<'a, D>>, Failure>
where
    (): Dimensional<D>,
{
    // SAFETY: as the caller says.
    let sets = unsafe { memory::structs(raw.sets, raw.set_count, "jostle_input.sets") }?;
    let mut lent = Vec::with_capacity(sets.len());
    for (number, set) in sets.iter().enumerate() {
        // SAFETY: as the caller says.
        lent.push(
            unsafe { memory::read(set).and_then(|set| Lent::of(&set)) }.map_err(|failure| failure.in_set(number))?,
        );
    }
    Ok(lent)
}

/// # Safety
/// The pointer is null, or leads to `sets` times `sets` bytes.
unsafe fn table(bytes: *const u8, sets: usize) -> Result<ActivationTable, Failure> {
    let cells =
        sets.checked_mul(sets).ok_or_else(|| Failure::new(Status::Overflow, "more sets than a table can be of"))?;
    // SAFETY: as the caller says.
    let cells = unsafe { memory::array(bytes, cells, "jostle_input.table") }?;
    let mut table = ActivationTable::none(sets);
    for (at, &cell) in cells.iter().enumerate().filter(|(_, cell)| **cell != 0) {
        if cell != 1 {
            return Err(Failure::unknown("a byte of jostle_input.table", cell));
        }
        table = table.with(at / sets, at % sets);
    }
    Ok(table)
}

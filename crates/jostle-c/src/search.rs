//! Searches: a list of pairs, a count, visitors.

use std::ffi::c_void;

use engine::{Found, Hit as EngineHit, InputError, Set};

use crate::dimensions::in_either;
use crate::finder::{AnySearch, Finder};
use crate::handle::call;
use crate::input::{Input, User, with_input};
use crate::memory::{Grows, answer, place};
use crate::status::{Failure, Status};
use crate::threads::threads;

/// Pairs, lent by a finder until its next jostle_find or jostle_neighbors_find.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Pairs {
    /// sizeof(jostle_pairs).
    pub size: usize,
    /// How many pairs.
    pub count: usize,
    /// The two ids of each pair: within a set the lesser first; between sets, the id in the first set first. The order
    /// of pairs is a function of the input alone.
    pub pairs: *const [u32; 2],
    /// When the bodies of each pair first touch, from 0 to 1; null unless the search has displacements. May be null
    /// where there are no pairs.
    pub times_of_impact: *const f64,
}

// SAFETY: the struct is repr(C), begins with its size, and holds only numbers and pointers.
unsafe impl Grows for Pairs {
    const NAME: &'static str = "jostle_pairs";
}

/// Image shifts, lent by a finder until its next jostle_find_image_shifts. They are those of the list at that time.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ImageShifts {
    /// sizeof(jostle_image_shifts).
    pub size: usize,
    /// How many pairs have an image shift: all of them in a space that repeats, none in open space.
    pub count: usize,
    /// By how many vectors of the cell (or periods) the second body of each pair is moved to touch the first: one
    /// number for each dimension.
    pub shifts: *const i32,
}

// SAFETY: the struct is repr(C), begins with its size, and holds only numbers and pointers.
unsafe impl Grows for ImageShifts {
    const NAME: &'static str = "jostle_image_shifts";
}

/// A visitor, which is called for each pair with the pointer that the host has passed for it. Several threads call it
/// at once, unless the search runs on one thread. No exception may leave the visitor, and it must not use the handle
/// that calls it.
pub type Visit = Option<unsafe extern "C" fn(user: *mut c_void, a: u32, b: u32)>;

/// A pair with all that is known of it, lent for the length of a call. Later versions may add fields at its end.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Hit {
    /// The numbers of the sets of the two bodies: 0 and 0 within one set, 0 and 1 between two.
    pub sets: [u32; 2],
    /// The ids of the two bodies, as in a list.
    pub pair: [u32; 2],
    /// By how many vectors of the cell (or periods) the second body is moved to touch the first. In two dimensions the
    /// third number is 0.
    pub image_shift: [i32; 3],
    /// Not used yet.
    pub reserved: i32,
    /// When the bodies first touch, from 0 to 1; 0 unless the search has displacements.
    pub time_of_impact: f64,
}

/// As jostle_visit, with all that is known of each pair.
pub type VisitHit = Option<unsafe extern "C" fn(user: *mut c_void, hit: *const Hit)>;

impl Hit {
    fn of<const D: usize>(hit: EngineHit<D>) -> Self {
        let EngineHit { sets, pair, image_shift, time_of_impact } = hit;
        let time_of_impact = time_of_impact.unwrap_or_default();
        let mut out = Self { sets, pair, image_shift: [0; 3], reserved: 0, time_of_impact };
        out.image_shift[..D].copy_from_slice(&image_shift);
        out
    }
}

fn no_visitor() -> Failure {
    Failure::new(Status::NullPointer, "visit is null")
}

fn listed<const D: usize>(found: Found<'_, D>, pairs: &[[u32; 2]], size: usize) -> Pairs {
    let times = found.times_of_impact();
    // For a part of the pairs, the times begin where that part begins.
    let at = (pairs.as_ptr().addr() - found.pairs().as_ptr().addr()) / size_of::<[u32; 2]>();
    let times_of_impact = times.get(at..).filter(|_| !times.is_empty()).map_or(core::ptr::null(), <[f64]>::as_ptr);
    Pairs { size, count: pairs.len(), pairs: pairs.as_ptr(), times_of_impact }
}

/// Finds every overlapping pair. Two circles or spheres overlap when the distance of their centres is at most the sum
/// of their radii; jostle_shape tells of other shapes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_find(finder: *mut Finder, input: *const Input, out: *mut Pairs) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(finder, |state| {
            let (out, threads) = (answer(out)?, threads(state.threads.as_ref()));
            *out = in_either!(&mut state.finder, finder => with_input(input, |input, only| {
                let found = match finder.search(threads, only) {
                    AnySearch::Each(search) => search.find(input),
                    AnySearch::Coherent(search) => search.find(input),
                };
                let found = found.inspect_err(|refused| {
                    if matches!(refused, InputError::TooManyPairs { .. }) {
                        state.bodies.clear();
                    }
                })?;
                state.bodies.clear();
                state.bodies.extend(input.sets().iter().map(Set::len));
                Ok(listed(found, found.pairs(), out.size))
            }))?;
            Ok(())
        })
    }
}

/// Lends the pairs of sets i and j in the last list, a of the lesser of the two, whichever is named first. There are none
/// where the sets do not meet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_pairs_between(finder: *mut Finder, i: usize, j: usize, out: *mut Pairs) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(finder, |state| {
            let out = answer(out)?;
            *out = in_either!(&state.finder, finder => {
                let (found, pairs) = (finder.last(), finder.last().pairs_between(i, j));
                // An empty slice need not lie in the list, so an empty part of the list stands in for it.
                listed(found, if pairs.is_empty() { &found.pairs()[..0] } else { pairs }, out.size)
            });
            Ok(())
        })
    }
}

/// Lends the image shift of each pair of the last list. This call computes them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_find_image_shifts(finder: *mut Finder, out: *mut ImageShifts) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(finder, |state| {
            let (out, shifts) = (answer(out)?, &mut state.image_shifts);
            shifts.clear();
            out.count = in_either!(&state.finder, finder => {
                let found = finder.last().image_shifts();
                let count = found.len();
                shifts.extend(found.flatten());
                count
            });
            out.shifts = shifts.as_ptr();
            Ok(())
        })
    }
}

/// Counts the overlapping pairs. No list is made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_count(finder: *mut Finder, input: *const Input, out: *mut u64) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(finder, |state| {
            let (out, threads) = (place(out, "out")?, threads(state.threads.as_ref()));
            *out = in_either!(&mut state.finder, finder => {
                with_input(input, |input, only| Ok(finder.search_each(threads, only)?.count(input)?))
            })?;
            Ok(())
        })
    }
}

/// Calls visit(user, a, b) once for each overlapping pair, from the threads that find the pairs. No list is made. The
/// order is not fixed, except that a search on one thread keeps the order of the list. This is the fold of C: the sum
/// goes where user leads, by atomics or one sum for each thread. For a sum of floats that is the same on any threads,
/// visit on one thread, or sum over the list.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_for_each_pair(
    finder: *mut Finder,
    input: *const Input,
    visit: Visit,
    user: *mut c_void,
) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(finder, |state| {
            let (visit, user) = (visit.ok_or_else(no_visitor)?, User(user));
            let threads = threads(state.threads.as_ref());
            in_either!(&mut state.finder, finder => with_input(input, |input, only| {
                let search = finder.search_each(threads, only)?;
                search.for_each_pair(input, |a, b| visit(user.pointer(), a, b))?;
                Ok(())
            }))
        })
    }
}

/// As jostle_for_each_pair, with the sets and the image of each pair.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_for_each_hit(
    finder: *mut Finder,
    input: *const Input,
    visit: VisitHit,
    user: *mut c_void,
) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(finder, |state| {
            let (visit, user) = (visit.ok_or_else(no_visitor)?, User(user));
            let threads = threads(state.threads.as_ref());
            in_either!(&mut state.finder, finder => with_input(input, |input, only| {
                let search = finder.search_each(threads, only)?;
                search.for_each_hit(input, |hit| visit(user.pointer(), &Hit::of(hit)))?;
                Ok(())
            }))
        })
    }
}

/// Tells whether lists that were made of bodies with a margin still hold all pairs of these bodies: writes 1 if so,
/// else 0. The bodies are given as they were searched, with the margin or without.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_still_valid(finder: *mut Finder, input: *const Input, out: *mut i32) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(finder, |state| {
            let (out, threads) = (place(out, "out")?, threads(state.threads.as_ref()));
            *out = in_either!(&mut state.finder, finder => {
                with_input(input, |input, _| Ok(finder.search_each(threads, None)?.still_valid(input).into()))
            })?;
            Ok(())
        })
    }
}

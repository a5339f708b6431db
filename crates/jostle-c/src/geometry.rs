//! Where and how deep the bodies of each pair overlap.

use engine::{Contact, ContactPairs, Input as EngineInput};

use crate::dimensions::Either;
use crate::finder::{Finder, FinderState, Geometry};
use crate::handle::call;
use crate::input::{Input, with_input};
use crate::memory::{self, Grows, answer};
use crate::status::{Failure, Status};
use crate::threads::threads;

/// The contact of each pair, lent by a finder until it is next asked for contact geometry. Number n of pair i stands at
/// [i * step + n], in float or in double, as was asked. The pointers of the other precision are null.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ContactGeometry {
    /// sizeof(jostle_contact_geometry).
    pub size: usize,
    /// How many contacts there are: one for each pair.
    pub count: usize,
    /// How many numbers lie from one contact to the next.
    pub step: usize,
    /// How deep the bodies overlap. Of circles and spheres: the sum of the radii less the distance of the centres, or 0
    /// if this is below 0. Of two boxes: the shortest way along an axis that takes the second out of the first.
    pub depths: *const f32,
    /// The direction from the first body to the second, of length 1: one number for each dimension. Of circles and
    /// spheres: from centre to centre, and (1, 0) or (1, 0, 0) where the centres coincide.
    pub normals: *const f32,
    /// The middle of what both bodies share: one number for each dimension. Of circles and spheres: the middle of that
    /// part of the line through both centres which lies in both bodies; where they do not overlap, of the gap. Where
    /// the centre or axis of another shape reaches into a box: half of the depth inside the border of the box, which
    /// may lead through a thin box.
    pub points: *const f32,
    /// The same in double.
    pub depths_double: *const f64,
    /// The same in double.
    pub normals_double: *const f64,
    /// The same in double.
    pub points_double: *const f64,
}

// SAFETY: the struct is repr(C), begins with its size, and holds only numbers and pointers.
unsafe impl Grows for ContactGeometry {
    const NAME: &'static str = "jostle_contact_geometry";
}

impl Geometry {
    pub(crate) fn bytes(&self) -> usize {
        fn of<T>(list: &Vec<T>) -> usize {
            list.capacity() * size_of::<T>()
        }
        of(&self.two) + of(&self.two_double) + of(&self.three) + of(&self.three_double)
    }
}

/// Returns how many contacts a list has, how many numbers lie from one contact to the next, and where depths, normals
/// and points begin.
fn columns<const D: usize, T>(list: &[Contact<D, T>]) -> (usize, usize, [*const T; 3]) {
    let first = list.as_ptr().cast::<u8>();
    let at = |offset: usize| first.wrapping_add(offset).cast::<T>();
    let contact = [
        core::mem::offset_of!(Contact<D, T>, depth),
        core::mem::offset_of!(Contact<D, T>, normal),
        core::mem::offset_of!(Contact<D, T>, point),
    ];
    (list.len(), size_of::<Contact<D, T>>() / size_of::<T>(), contact.map(at))
}

fn single<const D: usize>(list: &[Contact<D>], size: usize) -> ContactGeometry {
    let (count, step, [depths, normals, points]) = columns(list);
    let none = core::ptr::null();
    let (depths_double, normals_double, points_double) = (none, none, none);
    ContactGeometry { size, count, step, depths, normals, points, depths_double, normals_double, points_double }
}

fn double<const D: usize>(list: &[Contact<D, f64>], size: usize) -> ContactGeometry {
    let (count, step, [depths_double, normals_double, points_double]) = columns(list);
    let none = core::ptr::null();
    let (depths, normals, points) = (none, none, none);
    ContactGeometry { size, count, step, depths, normals, points, depths_double, normals_double, points_double }
}

fn fill<const D: usize>(
    (pairs, input): (ContactPairs<'_>, EngineInput<'_, D>),
    (in_double, threads): (bool, engine::Threads<'_>),
    (floats, doubles): (&mut Vec<Contact<D>>, &mut Vec<Contact<D, f64>>),
    size: usize,
) -> Result<ContactGeometry, Failure> {
    if in_double {
        engine::contacts_f64(pairs, input, threads, doubles)?;
        return Ok(double(doubles, size));
    }
    engine::contacts(pairs, input, threads, floats)?;
    Ok(single(floats, size))
}

/// Computes the contacts of the pairs `own`, or of the last list if there are none.
///
/// # Safety
/// The input is null, misaligned, or leads to what the header says.
unsafe fn of_pairs(
    state: &mut FinderState,
    own: Option<&[[u32; 2]]>,
    input: *const Input,
    number: i32,
    size: usize,
) -> Result<ContactGeometry, Failure> {
    let asked = (crate::sets::is_double(number, "number")?, threads(state.threads.as_ref()));
    let Geometry { two, two_double, three, three_double } = &mut state.geometry;
    // SAFETY: as the caller says.
    unsafe {
        match &state.finder {
            Either::Two(finder) => with_input(input, |input, _| {
                let pairs = own.map_or_else(|| finder.last().into(), ContactPairs::from);
                fill((pairs, input), asked, (two, two_double), size)
            }),
            Either::Three(finder) => with_input(input, |input, _| {
                let pairs = own.map_or_else(|| finder.last().into(), ContactPairs::from);
                fill((pairs, input), asked, (three, three_double), size)
            }),
        }
    }
}

/// Tells where and how deep the bodies of each pair of the last list overlap. input is the input that was searched;
/// number, a jostle_number, is the precision of the answer. Where space repeats, the second body is at the image that
/// the image shift says, and the point lies near the first body as it was given. For bodies that move, the contact is
/// that of the moment when they first touch. Margins count as parts of radii, and half of a cutoff as a radius. Of
/// capsules, the nearest points of the two axes count as centres; of a box and another shape, the nearest points.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_find_contact_geometry(
    finder: *mut Finder,
    input: *const Input,
    number: i32,
    out: *mut ContactGeometry,
) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(finder, |state| {
            let out = answer(out)?;
            *out = of_pairs(state, None, input, number, out.size)?;
            Ok(())
        })
    }
}

/// As jostle_find_contact_geometry, for pairs of the host's own in open space, such as some pairs of a list. pairs
/// leads to two ids for each pair, such as found.pairs[0]: in any order, and whether the bodies overlap or not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_contact_geometry_of(
    finder: *mut Finder,
    pairs: *const u32,
    pair_count: usize,
    input: *const Input,
    number: i32,
    out: *mut ContactGeometry,
) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(finder, |state| {
            let (out, pairs) = (answer(out)?, memory::array(pairs.cast(), pair_count, "pairs")?);
            *out = of_pairs(state, Some(pairs), input, number, out.size)?;
            Ok(())
        })
    }
}

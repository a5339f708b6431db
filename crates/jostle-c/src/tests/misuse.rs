//! Wrong calls get a code, and a message where a handle can keep it.

use super::*;
use crate::finder::{jostle_finder_bytes, jostle_finder_new_coherent, jostle_finder_set_max_pairs};
use crate::handle::call;
use crate::lists::{Lists, jostle_lists_free, jostle_lists_new, jostle_neighbors_find};
use crate::prepared::{Prepared, jostle_prepared_build, jostle_prepared_free, jostle_prepared_new};
use crate::search::{jostle_count, jostle_for_each_pair};
use crate::status::{Failure, Reason, jostle_status_text};
use crate::threads::{Host, jostle_threads_free, jostle_threads_host, jostle_threads_pool, jostle_threads_serial};

const X: [f32; 3] = [0.0, 1.0, 9.0];
const RADII: [f32; 3] = [1.0; 3];

fn sound() -> RawSet {
    circles(&X, &[0.0; 3], &RADII)
}

#[test]
fn null_pointers_get_a_code() {
    let (finder, sets) = (Own::new(2), [sound()]);
    let (sound, mut pairs, mut count) = (input(&sets), no_pairs(), 0);
    // SAFETY: the library checks for null first; all other pointers are what the header asks for.
    unsafe {
        assert_eq!(jostle_finder_new(2, null_mut()), Status::NullPointer);
        assert_eq!(jostle_find(null_mut(), &raw const sound, &raw mut pairs), Status::NullPointer);
        assert_eq!(jostle_find(finder.0, null(), &raw mut pairs), Status::NullPointer);
        assert_eq!(finder.message(), "the pointer to jostle_input is null");
        assert_eq!(jostle_find(finder.0, &raw const sound, null_mut()), Status::NullPointer);
        assert_eq!(jostle_count(finder.0, &raw const sound, null_mut()), Status::NullPointer);
        assert_eq!(jostle_for_each_pair(finder.0, &raw const sound, None, null_mut()), Status::NullPointer);
        assert_eq!(jostle_count(finder.0, &Input { sets: null(), ..sound }, &raw mut count), Status::NullPointer);
        assert_eq!(jostle_last_error(null(), &mut no_error()), Status::NullPointer);
        assert_eq!(jostle_last_error(finder.0.cast(), null_mut()), Status::NullPointer);
        let host = Host { size: size_of::<Host>(), workers: 1, run: None, host: null_mut() };
        assert_eq!(jostle_threads_host(&raw const host, &mut null_mut()), Status::NullPointer);
        jostle_finder_free(null_mut());
    }
    let unplaced = RawSet { center: [column(&X), ABSENT, ABSENT], ..sets[0] };
    assert_eq!(finder.find(&input(&[unplaced])), Err(Status::NullPointer));
    assert_eq!(finder.message(), "set 0: y is null, but there are 3 bodies");
    let among = Input { relation: Relation::Among as i32, ..input(&sets) };
    assert_eq!(finder.find(&among), Err(Status::NullPointer));
}

#[test]
fn other_sizes_get_a_code() {
    let (finder, sets) = (Own::new(2), [sound()]);
    assert_eq!(finder.find(&Input { size: 8, ..input(&sets) }), Err(Status::StructSize));
    let wanted =
        format!("jostle_input begins with the size 8, not {}: write sizeof(jostle_input) there", size_of::<Input>());
    assert_eq!(finder.message(), wanted);
    assert_eq!(finder.find(&input(&[RawSet { size: usize::MAX, ..sound() }])), Err(Status::StructSize));
    let space = RawSpace { size: 0, ..open() };
    assert_eq!(finder.find(&Input { space: &raw const space, ..input(&sets) }), Err(Status::StructSize));
    // SAFETY: handle and place are valid.
    assert_eq!(unsafe { jostle_last_error(finder.0.cast(), &mut no_error()) }, Status::StructSize);
}

#[test]
fn misaligned_structs_get_a_code_and_misaligned_columns_are_read() {
    let (finder, sets) = (Own::new(2), [sound()]);
    let sound = input(&sets);
    // SAFETY: the pointer is not followed.
    let found = unsafe { jostle_find(finder.0, (&raw const sound).byte_add(1), &mut no_pairs()) };
    assert_eq!(found, Status::Misaligned);
    let mut bytes = [0_u8; 13];
    X.iter().enumerate().for_each(|(i, x)| bytes[1 + 4 * i..5 + 4 * i].copy_from_slice(&x.to_ne_bytes()));
    let odd = Column { stride: 4, ..column(&bytes[1..]) };
    let set = RawSet { center: [odd, sets[0].center[1], ABSENT], ..sets[0] };
    assert_eq!(finder.find(&input(&[set])), Ok(vec![[0, 1]]));
}

#[test]
fn unknown_choices_get_a_code() {
    let (finder, sets) = (Own::new(2), [sound()]);
    let refused = |input: &Input| assert_eq!(finder.find(input), Err(Status::UnknownValue), "{input:?}");
    refused(&Input { relation: 3, ..input(&sets) });
    refused(&Input { relation: -1, ..input(&sets) });
    refused(&input(&[RawSet { number: 2, ..sound() }]));
    let (kind, repeats) = (RawSpace { kind: 77, ..open() }, RawSpace { repeats: [0, 2, 0], ..open() });
    refused(&Input { space: &raw const kind, ..input(&sets) });
    refused(&Input { space: &raw const repeats, ..input(&sets) });
    let table = [5_u8];
    refused(&Input { relation: Relation::Among as i32, table: table.as_ptr(), ..input(&sets) });
    // SAFETY: the places are valid.
    unsafe {
        assert_eq!(jostle_lists_new(16, &mut null_mut()), Status::UnknownValue);
        assert_eq!(jostle_finder_new(4, &mut null_mut()), Status::Dimensions);
        assert_eq!(jostle_threads_pool(0, &mut null_mut()), Status::Parameter);
        assert_eq!(jostle_threads_pool(usize::MAX, &mut null_mut()), Status::Parameter);
    }
    refused(&input(&[RawSet { displacement_number: 9, ..sound() }]));
    assert_eq!(finder.find(&Input { relation: Relation::Between as i32, ..input(&sets) }), Err(Status::Parameter));
}

#[test]
fn strides_that_lead_nowhere_get_a_code() {
    let finder = Own::new(2);
    let with = |stride, count| {
        let far = Column { stride, ..column(&X) };
        RawSet { count, center: [far, column(&[0.0_f32; 3]), ABSENT], ..sound() }
    };
    for (stride, count) in [(isize::MAX, 3), (isize::MAX, usize::MAX), (1 << 40, 1 << 30), (4, usize::MAX / 4)] {
        assert_eq!(finder.find(&input(&[with(stride, count)])), Err(Status::Overflow), "{count} times {stride}");
    }
    for stride in [-4, isize::MIN, 0, 3] {
        assert_eq!(finder.find(&input(&[with(stride, 3)])), Err(Status::Stride), "{stride}");
    }
    assert!(finder.message().starts_with("set 0: x: a stride of 3 bytes"), "{}", finder.message());
}

#[test]
fn integers_that_would_overlap_are_refused() {
    let (finder, bits) = (Own::new(2), [1_u32; 3]);
    let short = |stride| Column { stride, ..column(&bits) };
    for stride in 1..4 {
        for set in [
            RawSet { category: short(stride), ..sound() },
            RawSet { mask: short(stride), ..sound() },
            RawSet { group: short(stride), ..sound() },
        ] {
            assert_eq!(finder.find(&input(&[set])), Err(Status::Stride), "{stride}");
        }
    }
    assert!(finder.message().starts_with("set 0: group: a stride of 3 bytes lets values of 4"), "{}", finder.message());
    assert_eq!(finder.find(&input(&[RawSet { group: short(0), ..sound() }])), Ok(vec![[0, 1]]));
}

#[test]
fn lengths_that_float_does_not_hold_are_refused_by_their_names() {
    let (finder, far) = (Own::new(2), 1e300);
    for (set, message) in [
        (RawSet { cutoff: far, ..sound() }, "set 0: the cutoff 1e300 is too large for float: use JOSTLE_NUMBER_DOUBLE"),
        (RawSet { margin: far, ..sound() }, "set 0: the margin 1e300 is too large for float: use JOSTLE_NUMBER_DOUBLE"),
        (RawSet { margin: -1.0, ..sound() }, "set 0: the margin is -1: it must be finite and not negative; 0 for none"),
    ] {
        assert_eq!(finder.find(&input(&[set])), Err(Status::Parameter));
        assert_eq!(finder.message(), message);
    }
    let far = [1e30_f32; 3];
    assert_eq!(finder.find(&input(&[circles(&far, &[0.0; 3], &RADII)])), Err(Status::Bodies));
    assert!(finder.message().contains("or take JOSTLE_NUMBER_DOUBLE;"), "{}", finder.message());
}

#[test]
fn z_is_refused_in_the_plane() {
    let (finder, z) = (Own::new(2), [ABSENT, ABSENT, column(&X)]);
    let [x, y, _] = sound().center;
    let deep = RawSet { center: [x, y, z[2]], ..sound() };
    let moving = RawSet { displacement: [x, y, z[2]], ..sound() };
    let boxes = RawSet { shape: Shape::Box as i32, radius: ABSENT, end: [x, y, z[2]], ..sound() };
    let capsules = RawSet { shape: Shape::Capsule as i32, end: z, ..sound() };
    for set in [deep, moving, boxes, capsules, RawSet { displacement: z, ..sound() }] {
        assert_eq!(finder.find(&input(&[set])), Err(Status::Dimensions));
    }
    assert_eq!(
        finder.message(),
        "set 0: z of the displacements is given, in 2 dimensions: clear it, or make the handle in 3"
    );
}

#[test]
fn bad_bodies_come_back_by_their_ids_and_the_last_answer_stands() {
    let (finder, sets) = (Own::new(2), [sound()]);
    let mut pairs = no_pairs();
    // SAFETY: all that the input leads to outlives the call.
    assert_eq!(unsafe { jostle_find(finder.0, &input(&sets), &raw mut pairs) }, Status::Ok);
    let (x, radius) = ([0.0, f32::NAN, 1.0], [1.0, 1.0, -1.0]);
    assert_eq!(finder.find(&input(&[circles(&x, &[0.0; 3], &radius)])), Err(Status::Bodies));
    let error = finder.error();
    assert_eq!((error.status, error.set, error.offenders, error.first_count), (Status::Bodies as i32, 0, 2, 2));
    // SAFETY: so many offenders are lent.
    let first = unsafe { core::slice::from_raw_parts(error.first, 2) };
    let told = first.iter().map(|one| (one.id, one.reason, one.axis)).collect::<Vec<_>>();
    assert_eq!(told, [(1, Reason::CoordinateNotFinite as i32, 0), (2, Reason::RadiusNegative as i32, -1)]);
    assert!(finder.message().contains("2 bodies refused"), "{}", finder.message());
    // SAFETY: the search that failed has left the list where it was.
    assert_eq!((pairs.count, unsafe { *pairs.pairs }), (1, [0, 1]));

    let (two, relation) = ([sound(), circles(&x, &[0.0; 3], &radius)], Relation::Between as i32);
    assert_eq!(finder.find(&Input { relation, ..input(&two) }), Err(Status::Bodies));
    assert_eq!((finder.error().set, finder.error().offenders), (1, 2));
    assert!(finder.message().contains("set 1: 2 bodies refused"), "{}", finder.message());

    let set = RawSet { cutoff: f64::NAN, ..sound() };
    assert_eq!(finder.find(&input(&[set])), Err(Status::Parameter));
    let set = RawSet { margin: -1.0, ..sound() };
    assert_eq!(finder.find(&input(&[set])), Err(Status::Parameter));
    let space = RawSpace { kind: SpaceKind::Lattice as i32, repeats: [1, 1, 0], ..open() };
    assert_eq!(finder.find(&Input { space: &raw const space, ..input(&sets) }), Err(Status::Space));
    let space = RawSpace { kind: SpaceKind::Periodic as i32, repeats: [1, 0, 0], hi: [-1.0, 0.0, 0.0], ..open() };
    assert_eq!(finder.find(&Input { space: &raw const space, ..input(&sets) }), Err(Status::Space));
}

#[test]
fn handles_of_another_kind_get_a_code() {
    let (mut lists, mut prepared, finder) = (null_mut::<Lists>(), null_mut::<Prepared>(), Own::new(2));
    let sets = [sound()];
    // SAFETY: the places are valid; every pointer to a handle leads to one, or to readable memory.
    unsafe {
        assert_eq!(jostle_lists_new(0, &raw mut lists), Status::Ok);
        assert_eq!(jostle_prepared_new(3, &raw mut prepared), Status::Ok);
        assert_eq!(jostle_finder_bytes(lists.cast(), &mut 0), Status::WrongHandle);
        jostle_finder_free(lists.cast());
        let bytes = [0_u64; 8];
        assert_eq!(jostle_last_error(bytes.as_ptr().cast(), &mut no_error()), Status::WrongHandle);
        let mut threads = null_mut();
        assert_eq!(jostle_threads_serial(&raw mut threads), Status::Ok);
        let mut error = Error { size: size_of::<Error>(), ..no_error() };
        assert_eq!(jostle_last_error(threads.cast(), &raw mut error), Status::WrongHandle);
        jostle_threads_free(threads);
        let of_three = RawSet { prepared, ..no_set() };
        assert_eq!(finder.find(&input(&[of_three])), Err(Status::Dimensions));
        assert_eq!(jostle_prepared_build(prepared, sets.as_ptr(), null()), Status::NullPointer); // no z
        let built = jostle_prepared_build(prepared, &of_three, null());
        assert_eq!(built, Status::Busy); // of itself
        let mut rows = no_neighbors();
        assert_eq!(jostle_neighbors_find(finder.0, &input(&sets), 0, null_mut(), &raw mut rows), Status::NullPointer);
        assert_eq!(finder.message(), "the jostle_lists is null");
        jostle_prepared_free(prepared);
        jostle_lists_free(lists);
    }
}

unsafe extern "C" fn search_again(user: *mut c_void, _: u32, _: u32) {
    let finder: &Own = unsafe_ref(user);
    let sets = [sound()];
    assert_eq!(finder.find(&input(&sets)), Err(Status::Busy));
}

fn unsafe_ref<'a, T>(user: *mut c_void) -> &'a T {
    // SAFETY: `user` is what `jostle_for_each_pair` was given.
    unsafe { &*user.cast() }
}

#[test]
fn a_visitor_that_uses_its_own_finder_is_told_so() {
    let (finder, sets) = (Own::new(2), [sound()]);
    let user = (&raw const finder).cast_mut().cast();
    // SAFETY: all that the input and the visitor lead to outlives the call.
    let visited = unsafe { jostle_for_each_pair(finder.0, &input(&sets), Some(search_again), user) };
    assert_eq!(visited, Status::Ok);
    assert_eq!(finder.find(&input(&sets)), Ok(vec![[0, 1]]));
}

#[test]
fn a_panic_becomes_a_code_and_the_handle_stays_usable() {
    let (finder, sets) = (Own::new(2), [sound()]);
    // SAFETY: the handle is valid.
    let status = unsafe { call(finder.0, |_| -> Result<(), Failure> { panic!("of a test") }) };
    assert_eq!((status, finder.message().as_str()), (Status::Panic, "of a test"));
    assert_eq!(finder.find(&input(&sets)), Ok(vec![[0, 1]]));
}

#[test]
fn every_status_has_a_text() {
    for status in -1..30 {
        // SAFETY: each status has a text that lives for ever.
        let text = unsafe { CStr::from_ptr(jostle_status_text(status)) };
        assert!(!text.is_empty());
        assert_eq!(text == c"an unknown status", !(0..=18).contains(&status), "{status}");
    }
}

#[test]
fn more_pairs_than_allowed_get_a_code_and_leave_an_empty_list() {
    let (zeros, mut coherent) = ([0.0; 50], null_mut());
    // SAFETY: the place is valid.
    assert_eq!(unsafe { jostle_finder_new_coherent(2, &raw mut coherent) }, Status::Ok);
    for finder in [Own::new(2), Own(coherent)] {
        let (few, many) = ([sound()], [circles(&zeros, &zeros, &[1.0; 50])]);
        let (few, many) = (input(&few), input(&many));
        // SAFETY: the handle is valid.
        let allow = |max| unsafe { jostle_finder_set_max_pairs(finder.0, max) };
        assert_eq!(allow(1224), Status::Ok);
        assert_eq!(finder.find(&few), Ok(vec![[0, 1]]));
        assert_eq!(finder.find(&many), Err(Status::TooManyPairs));
        let wanted = "1225 pairs or neighbours, more than the 1224 that jostle_finder_set_max_pairs allows: count or \
                      visit them, or allow more";
        assert_eq!(finder.message(), wanted);
        assert_eq!(finder.find(&few), Ok(vec![[0, 1]]));
        assert_eq!(allow(1225), Status::Ok);
        assert_eq!(finder.find(&many).map(|pairs| pairs.len()), Ok(1225));
    }
}

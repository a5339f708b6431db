//! Questions to prepared sets. Each answer is compared with the engine's own.

use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering};

use engine::{PreparedSet, Space, Spheres};

use super::*;
use crate::prepared::{Prepared, jostle_prepared_build, jostle_prepared_free, jostle_prepared_new};
use crate::queries::{Answers, Queries, Query, Question, jostle_queries_free, jostle_queries_new, jostle_query_ask};
use crate::status::Reason;

/// Where the answers to each question begin, their ids, and their distances.
type Answered = (Vec<usize>, Vec<u32>, Vec<f64>);

struct Asker(*mut Queries, *mut Prepared);

impl Asker {
    fn new(dimensions: u32) -> Self {
        let (mut queries, mut prepared) = (null_mut(), null_mut());
        // SAFETY: the places are valid.
        unsafe {
            assert_eq!(jostle_queries_new(dimensions, &raw mut queries), Status::Ok);
            assert_eq!(jostle_prepared_new(dimensions, &raw mut prepared), Status::Ok);
        }
        Self(queries, prepared)
    }

    fn ask(&self, query: &Query) -> Result<Answered, Status> {
        let size = size_of::<Answers>();
        let (offsets, ids, image_shifts, distances) = (null(), null(), null(), null());
        let mut out = Answers { size, questions: 0, count: 0, offsets, ids, image_shifts, distances };
        // SAFETY: all that the query leads to outlives the call, and so many numbers are lent.
        unsafe {
            let status = jostle_query_ask(self.0, self.1, query, &raw mut out);
            if status != Status::Ok {
                return Err(status);
            }
            let far = if out.distances.is_null() { &[] } else { core::slice::from_raw_parts(out.distances, out.count) };
            let offsets = core::slice::from_raw_parts(out.offsets, out.questions + 1);
            Ok((offsets.to_vec(), core::slice::from_raw_parts(out.ids, out.count).to_vec(), far.to_vec()))
        }
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        // SAFETY: the library made the handles.
        unsafe {
            jostle_queries_free(self.0);
            jostle_prepared_free(self.1);
        }
    }
}

fn query(question: Question, count: usize, numbers: &[f64]) -> Query {
    let (size, question, reach) = (size_of::<Query>(), question as i32, f64::INFINITY);
    let (only, only_user) = (None, null_mut());
    Query { size, question, reserved: 0, count, numbers: numbers.as_ptr(), nearest: 3, reach, only, only_user }
}

#[test]
fn questions_are_answered_as_in_rust_one_by_one_and_together() {
    let line: Vec<f32> = (0..50).map(|i| i as f32).collect();
    let (zero, radius) = (vec![0.0_f32; 50], 0.75_f32);
    let center = [column(&line), column(&zero), column(&zero)];
    let set = RawSet { count: 50, center, radius: one(&radius), ..no_set() };
    let asker = Asker::new(3);
    // SAFETY: all that the set leads to outlives the call.
    assert_eq!(unsafe { jostle_prepared_build(asker.1, &raw const set, null()) }, Status::Ok);
    let mut wanted = PreparedSet::new();
    wanted.build(Spheres::new(&line, &zero, &zero, radius), Space::open(), engine::Threads::Serial).unwrap();
    let wanted = wanted.queries();

    let questions: [(_, &[f64]); 6] = [
        (Question::Point, &[3.5, 0.0, 0.0]),
        (Question::Circle, &[7.0, 1.0, 0.0, 1.0]),
        (Question::Box, &[2.0, -1.0, -1.0, 4.0, 1.0, 1.0]),
        (Question::Ray, &[-5.0, 0.0, 0.0, 1.0, 0.0, 0.0, 8.0]),
        (Question::FirstHit, &[60.0, 0.0, 0.0, -1.0, 0.0, 0.0, f64::INFINITY]),
        (Question::Nearest, &[30.25, 0.0, 0.0]),
    ];
    for (question, numbers) in questions {
        let (mut seen, mut at) = (Vec::new(), Vec::new());
        let [x, y, z] = [numbers[0], numbers[1], numbers[2]];
        match question {
            Question::Point => wanted.point([x, y, z], &mut seen),
            Question::Circle => wanted.circle([x, y, z], 1.0, &mut seen),
            Question::Box => wanted.aabb([x, y, z], [4.0, 1.0, 1.0], &mut seen),
            Question::Ray => wanted.ray([x, y, z], [1.0, 0.0, 0.0], 8.0, &mut at),
            Question::FirstHit => {
                at.extend(wanted.first_hit([x, y, z], [-1.0, 0.0, 0.0], f64::INFINITY).unwrap());
                Ok(())
            }
            Question::Nearest => wanted.nearest([x, y, z], 3, f64::INFINITY, &mut at),
        }
        .unwrap();
        let ids = seen.iter().map(|seen| seen.id).chain(at.iter().map(|at| at.body.id)).collect::<Vec<_>>();
        let far = at.iter().map(|at| at.distance).collect::<Vec<_>>();
        assert!(!ids.is_empty(), "{question:?}");
        assert_eq!(asker.ask(&query(question, 1, numbers)), Ok((vec![0, ids.len()], ids.clone(), far.clone())));
        let (count, twice) = (ids.len(), [numbers, numbers].concat());
        let both = (vec![0, count, 2 * count], [&ids[..], &ids].concat(), [&far[..], &far].concat());
        assert_eq!(asker.ask(&query(question, 2, &twice)), Ok(both), "{question:?}");
    }
    assert_eq!(asker.ask(&query(Question::Point, 0, &[])), Ok((vec![0], vec![], vec![])));
}

unsafe extern "C" fn is_another(user: *mut c_void, question: usize, id: u32) -> i32 {
    // SAFETY: the tests lend a counter.
    let asked = unsafe { &*user.cast::<AtomicUsize>() };
    asked.fetch_add(1, Ordering::Relaxed);
    i32::from(question != id as usize)
}

#[test]
fn a_test_leaves_out_the_body_that_asks() {
    let line: Vec<f32> = (0..300).map(|i| i as f32).collect();
    let (zero, radius) = (vec![0.0_f32; 300], 0.25_f32);
    let set = RawSet { count: 300, center: [column(&line), column(&zero), ABSENT], radius: one(&radius), ..no_set() };
    let asker = Asker::new(2);
    // SAFETY: all that the set leads to outlives the call.
    assert_eq!(unsafe { jostle_prepared_build(asker.1, &raw const set, null()) }, Status::Ok);
    let mut asked = AtomicUsize::new(0);
    let numbers: Vec<f64> = (0..300).flat_map(|i| [f64::from(i) + 0.125, 0.0]).collect();
    let nearest = query(Question::Nearest, 300, &numbers);
    let only_user = (&raw mut asked).cast();
    let others = Query { nearest: 1, only: Some(is_another), only_user, ..nearest };
    let (offsets, ids, distances) = asker.ask(&others).expect("sound questions");
    assert_eq!(offsets, (0..=300).collect::<Vec<_>>());
    assert_eq!(ids, (1..300).chain([298]).collect::<Vec<_>>());
    assert_eq!(distances, [vec![0.875; 299], vec![1.125]].concat());
    let (_, ids, _) = asker.ask(&Query { count: 1, ..others }).expect("a sound question");
    assert_eq!(ids, [1]);
    assert!(asked.into_inner() >= 601);
    let (_, ids, _) = asker.ask(&Query { nearest: 1, ..nearest }).expect("sound questions");
    assert_eq!(ids, (0..300).collect::<Vec<_>>());
}

#[test]
fn questions_at_fault_get_a_code_and_their_numbers() {
    let asker = Asker::new(2);
    let numbers = [0.0, 0.0, f64::NAN, 0.0];
    assert_eq!(asker.ask(&query(Question::Point, 2, &numbers)), Err(Status::Query));
    let mut error = Error { size: size_of::<Error>(), ..no_error() };
    // SAFETY: the handle is valid and lends an offender.
    let first = unsafe {
        assert_eq!(jostle_last_error(asker.0.cast(), &raw mut error), Status::Ok);
        *error.first
    };
    assert_eq!((error.offenders, first.id, first.reason), (1, 1, Reason::CoordinateNotFinite as i32));
    assert_eq!(asker.ask(&query(Question::Circle, 1, &[0.0, 0.0, -1.0])), Err(Status::Query));
    let sound = query(Question::Point, 1, &numbers);
    assert_eq!(asker.ask(&Query { question: 6, ..sound }), Err(Status::UnknownValue));
    assert_eq!(asker.ask(&Query { numbers: null(), ..sound }), Err(Status::NullPointer));
    assert_eq!(asker.ask(&Query { count: usize::MAX, ..sound }), Err(Status::Overflow));
    assert_eq!(asker.ask(&Query { count: usize::MAX / 16, ..sound }), Err(Status::Overflow));
    assert_eq!(asker.ask(&Query { size: 3, ..sound }), Err(Status::StructSize));
    let three = Asker::new(3);
    let (size, offsets, ids, image_shifts) = (size_of::<Answers>(), null(), null(), null());
    let mut out = Answers { size, questions: 0, count: 0, offsets, ids, image_shifts, distances: null() };
    // SAFETY: the handles are valid, and all that the query leads to outlives the call.
    assert_eq!(unsafe { jostle_query_ask(asker.0, three.1, &sound, &raw mut out) }, Status::Dimensions);
}

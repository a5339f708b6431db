//! Questions to a prepared set: one at a time, or many at once.

use std::ffi::c_void;
use std::sync::Arc;

use crate::asked::{Asked, Columns, read};
use crate::dimensions::Either;
use crate::handle::{Opaque, Shared, call, free, kind, make};
use crate::memory::{Grows, answer};
use crate::prepared::Prepared;
use crate::sets::Dimensional;
use crate::status::Status;
use crate::threads::{OwnThreads, Threads, keep, threads};

/// Keeps the answers to questions: make one for each thread that asks, and keep it. It belongs to no set.
#[derive(Debug)]
pub struct Queries {
    _opaque: [u8; 0],
}

#[derive(Debug)]
pub(crate) struct QueriesState {
    asked: Either<Asked<2>, Asked<3>>,
    answers: Columns,
    threads: Option<Arc<OwnThreads>>,
}

impl Opaque for Queries {
    type State = QueriesState;
    const KIND: u64 = kind(6);
    const NAME: &'static str = "jostle_queries";
}

/// Kinds of questions, and the numbers that each takes.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// The bodies that hold a point. Numbers: the point.
    Point = 0,
    /// The bodies that overlap a circle or sphere; touching counts. Numbers: its centre, its radius.
    Circle = 1,
    /// The bodies that touch a box. Numbers: its lower corner, its upper corner.
    Box = 2,
    /// The bodies that a ray hits, the nearest first. Numbers: its origin, its direction, its reach. The reach may be
    /// infinite in open space.
    Ray = 3,
    /// The first body that a ray hits. Numbers: as for JOSTLE_QUESTION_RAY.
    FirstHit = 4,
    /// The bodies whose centres are nearest to a point, the nearest first: as many as jostle_query.nearest says, at
    /// most as far away as jostle_query.reach. The whole of a box counts as its centre, and so does the axis of a
    /// capsule. Numbers: the point.
    Nearest = 5,
}

/// Tells whether a body counts for a question, by its number in jostle_query.numbers: 0 if not. Called once or several
/// times for each body that the question may find, and by several threads at once where several questions are asked. No
/// exception may leave the test, and it must not use the handle that calls it.
pub type QueryTest = Option<unsafe extern "C" fn(user: *mut c_void, question: usize, id: u32) -> i32>;

/// Questions of one kind.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Query {
    /// sizeof(jostle_query).
    pub size: usize,
    /// A jostle_question.
    pub question: i32,
    /// Not used yet.
    pub reserved: i32,
    /// How many questions.
    pub count: usize,
    /// The numbers of each question, question after question; jostle_question tells how many each takes.
    pub numbers: *const f64,
    /// How many bodies JOSTLE_QUESTION_NEAREST asks for; of no meaning to other questions.
    pub nearest: usize,
    /// How far away these bodies may be; infinity for any distance.
    pub reach: f64,
    /// Finds only the bodies that this test lets through (any but the one that asks, say); null for all.
    pub only: QueryTest,
    /// The first argument of only, whatever it is.
    pub only_user: *mut c_void,
}

// SAFETY: the struct is repr(C), begins with its size, and holds only numbers and pointers.
unsafe impl Grows for Query {
    const NAME: &'static str = "jostle_query";
}

/// Answers, lent until the next questions. The answers to question i stand from offsets[i] to before offsets[i + 1].
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Answers {
    /// sizeof(jostle_answers).
    pub size: usize,
    /// How many questions.
    pub questions: usize,
    /// How many answers in all.
    pub count: usize,
    /// Where the answers to each question begin: questions + 1 numbers, of which the last is count.
    pub offsets: *const usize,
    /// The id of each body; ascending for a point, circle or box.
    pub ids: *const u32,
    /// By how many vectors of the cell each body is moved to where it is met: one number for each dimension.
    pub image_shifts: *const i32,
    /// How far away each body is, for rays, first hits and nearest bodies; null for other questions.
    pub distances: *const f64,
}

// SAFETY: the struct is repr(C), begins with its size, and holds only numbers and pointers.
unsafe impl Grows for Answers {
    const NAME: &'static str = "jostle_answers";
}

/// Makes memory for answers in 2 or 3 dimensions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_queries_new(dimensions: u32, out: *mut *mut Queries) -> Status {
    let state = || {
        let asked = Either::make(dimensions, Asked::default, Asked::default)?;
        Ok(QueriesState { asked, answers: Columns::default(), threads: None })
    };
    // SAFETY: the pointer is what the header asks for.
    unsafe { make(out, state) }
}

/// Frees the queries, and all that they have lent. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_queries_free(queries: *mut Queries) {
    // SAFETY: the pointer is what the header asks for.
    unsafe { free(queries) }
}

/// Sets the threads that answer several questions at once; null for the global pool. The calling thread answers a
/// single question.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_queries_set_threads(queries: *mut Queries, threads: *const Threads) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(queries, |state| {
            state.threads = keep(threads)?;
            Ok(())
        })
    }
}

/// Answers one or many questions about the bodies of a prepared set and all their images. Answers are decided in
/// double.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_query_ask(
    queries: *mut Queries,
    prepared: *const Prepared,
    query: *const Query,
    out: *mut Answers,
) -> Status {
    // SAFETY: the pointers are what the header asks for.
    unsafe {
        call(queries, |state| {
            let (out, prepared) = (answer(out)?, Shared::take(prepared)?);
            let (set, threads, columns) = (&prepared.state().set, threads(state.threads.as_ref()), &mut state.answers);
            let question = match &mut state.asked {
                Either::Two(asked) => {
                    let read = read::<2>(query)?;
                    asked.answer(<()>::prepared(set)?.queries(), &read, threads, columns)?;
                    read.question
                }
                Either::Three(asked) => {
                    let read = read::<3>(query)?;
                    asked.answer(<()>::prepared(set)?.queries(), &read, threads, columns)?;
                    read.question
                }
            };
            let far = matches!(question, Question::Ray | Question::FirstHit | Question::Nearest);
            *out = Answers {
                size: out.size,
                questions: columns.offsets.len() - 1,
                count: columns.ids.len(),
                offsets: columns.offsets.as_ptr(),
                ids: columns.ids.as_ptr(),
                image_shifts: columns.image_shifts.as_ptr(),
                distances: if far { columns.distances.as_ptr() } else { core::ptr::null() },
            };
            Ok(())
        })
    }
}

//! Questions to a prepared set: one at a time, or many at once.

use std::sync::Arc;

use engine::{PreparedBatch, PreparedQueries, QueryError, Seen, SeenAt};

use crate::dimensions::Either;
use crate::handle::{Opaque, Shared, call, free, kind, make};
use crate::input::Dimensional;
use crate::memory::{self, Grows, answer};
use crate::prepared::Prepared;
use crate::status::{Failure, Status};
use crate::threads::{OwnThreads, Threads, keep, threads};

/// What keeps the answers to questions: make one for each thread that asks, and keep it. It belongs to no set.
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
}

/// Answers as the engine gives them.
#[derive(Debug, Default)]
struct Asked<const D: usize> {
    seen: Vec<Seen<D>>,
    seen_at: Vec<SeenAt<D>>,
    batch: PreparedBatch<D>,
}

/// Answers as C reads them.
#[derive(Debug, Default)]
struct Columns {
    offsets: Vec<usize>,
    ids: Vec<u32>,
    image_shifts: Vec<i32>,
    distances: Vec<f64>,
}

/// What questions ask for.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// The bodies that hold a point. Numbers: the point.
    Point = 0,
    /// The bodies that overlap a circle or sphere; touching counts. Numbers: its centre, its radius.
    Circle = 1,
    /// The bodies that touch a box. Numbers: its lower corner, its upper corner.
    Box = 2,
    /// The bodies that a ray hits, the nearest first. Numbers: its origin, its direction, how far it reaches; infinity in open
    /// space for no end.
    Ray = 3,
    /// The first of these. Numbers: as for a ray.
    FirstHit = 4,
    /// The centres nearest to a point, the nearest first: as many as jostle_query.nearest says, at most as far as
    /// jostle_query.reach. Numbers: the point.
    Nearest = 5,
}

/// Questions of one kind.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Query {
    /// sizeof(jostle_query).
    pub size: usize,
    /// A jostle_question.
    pub question: i32,
    /// Nothing yet.
    pub reserved: i32,
    /// How many questions.
    pub count: usize,
    /// The numbers of each, as many as the kind of question takes in these dimensions, question after question.
    pub numbers: *const f64,
    /// How many of the nearest are asked for; of no meaning elsewhere.
    pub nearest: usize,
    /// How far away the nearest may be; infinity for any distance.
    pub reach: f64,
}

// SAFETY: it is repr(C), begins with its size, and holds numbers and pointers alone.
unsafe impl Grows for Query {
    const NAME: &'static str = "jostle_query";
}

/// Answers, lent until the next questions: those to question i stand from offsets[i] to before offsets[i + 1].
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Answers {
    /// sizeof(jostle_answers).
    pub size: usize,
    /// How many questions.
    pub questions: usize,
    /// How many answers in all.
    pub count: usize,
    /// Where the answers to each question begin, questions + 1 numbers.
    pub offsets: *const usize,
    /// The id of each body; ascending to a point, circle or box.
    pub ids: *const u32,
    /// For each as many numbers as there are dimensions: by how many vectors of the cell the body is moved to where it is met.
    pub image_shifts: *const i32,
    /// How far each is, of rays and nearest; null elsewhere.
    pub distances: *const f64,
}

// SAFETY: it is repr(C), begins with its size, and holds numbers and pointers alone.
unsafe impl Grows for Answers {
    const NAME: &'static str = "jostle_answers";
}

/// The questions of one kind, read from C.
struct Read<'q> {
    question: Question,
    count: usize,
    numbers: &'q [f64],
    nearest: usize,
    reach: f64,
}

impl Question {
    fn of(number: i32) -> Result<Self, Failure> {
        let all = [Self::Point, Self::Circle, Self::Box, Self::Ray, Self::FirstHit, Self::Nearest];
        let found = all.into_iter().find(|&question| question as i32 == number);
        found.ok_or_else(|| Failure::unknown("jostle_query.question", number))
    }

    /// Numbers that each question takes.
    fn numbers(self, dimensions: usize) -> usize {
        match self {
            Self::Point | Self::Nearest => dimensions,
            Self::Circle => dimensions + 1,
            Self::Box => 2 * dimensions,
            Self::Ray | Self::FirstHit => 2 * dimensions + 1,
        }
    }
}

fn axes<const D: usize>(numbers: &[f64]) -> [f64; D] {
    core::array::from_fn(|axis| numbers[axis])
}

fn with_number<const D: usize>(numbers: &[f64]) -> ([f64; D], f64) {
    (axes(numbers), numbers[D])
}

fn corners<const D: usize>(numbers: &[f64]) -> ([f64; D], [f64; D]) {
    (axes(numbers), axes(&numbers[D..]))
}

fn ray<const D: usize>(numbers: &[f64]) -> ([f64; D], [f64; D], f64) {
    (axes(numbers), axes(&numbers[D..]), numbers[2 * D])
}

impl Columns {
    fn clear(&mut self) {
        self.offsets.clear();
        self.ids.clear();
        self.image_shifts.clear();
        self.distances.clear();
    }

    fn push<const D: usize>(&mut self, seen: &Seen<D>) {
        self.ids.push(seen.id);
        self.image_shifts.extend(seen.image_shift);
    }

    fn push_at<const D: usize>(&mut self, seen: &SeenAt<D>) {
        self.push(&seen.body);
        self.distances.push(seen.distance);
    }
}

impl<const D: usize> Asked<D> {
    /// A single question, which calls no threads and makes no list of questions.
    fn answer_one(&mut self, queries: PreparedQueries<'_, D>, read: &Read<'_>) -> Result<(), QueryError> {
        let (numbers, seen, at) = (read.numbers, &mut self.seen, &mut self.seen_at);
        seen.clear();
        at.clear();
        match read.question {
            Question::Point => queries.point(axes(numbers), seen),
            Question::Circle => queries.circle(axes(numbers), numbers[D], seen),
            Question::Box => queries.aabb(axes(numbers), axes(&numbers[D..]), seen),
            Question::Ray => queries.ray(axes(numbers), axes(&numbers[D..]), numbers[2 * D], at),
            Question::FirstHit => {
                at.extend(queries.first_hit(axes(numbers), axes(&numbers[D..]), numbers[2 * D])?);
                Ok(())
            }
            Question::Nearest => queries.nearest(axes(numbers), read.nearest, read.reach, at),
        }
    }

    fn answer_all(
        &mut self,
        queries: PreparedQueries<'_, D>,
        read: &Read<'_>,
        threads: engine::Threads<'_>,
    ) -> Result<(), QueryError> {
        let (each, batch) = (read.numbers.chunks_exact(read.question.numbers(D)), &mut self.batch);
        match read.question {
            Question::Point => batch.points(queries, &each.map(axes).collect::<Vec<_>>(), threads),
            Question::Circle => batch.circles(queries, &each.map(with_number).collect::<Vec<_>>(), threads),
            Question::Box => batch.aabbs(queries, &each.map(corners).collect::<Vec<_>>(), threads),
            Question::Ray => batch.rays(queries, &each.map(ray).collect::<Vec<_>>(), threads),
            Question::FirstHit => batch.first_hits(queries, &each.map(ray).collect::<Vec<_>>(), threads),
            Question::Nearest => {
                let points = each.map(axes).collect::<Vec<_>>();
                batch.nearest(queries, &points, read.nearest, read.reach, threads)
            }
        }?;
        Ok(())
    }

    fn answer(
        &mut self,
        queries: PreparedQueries<'_, D>,
        read: &Read<'_>,
        threads: engine::Threads<'_>,
        columns: &mut Columns,
    ) -> Result<(), QueryError> {
        if read.count == 1 {
            self.answer_one(queries, read)?;
            columns.clear();
            self.seen.iter().for_each(|seen| columns.push(seen));
            self.seen_at.iter().for_each(|seen| columns.push_at(seen));
            columns.offsets.extend([0, columns.ids.len()]);
            return Ok(());
        }
        self.answer_all(queries, read, threads)?;
        let last = self.batch.last();
        columns.clear();
        last.found().iter().for_each(|seen| columns.push(seen));
        columns.offsets.extend_from_slice(last.offsets());
        columns.distances.extend_from_slice(last.distances());
        Ok(())
    }
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

/// Frees it, and all that it has lent. Null is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jostle_queries_free(queries: *mut Queries) {
    // SAFETY: the pointer is what the header asks for.
    unsafe { free(queries) }
}

/// The threads that several questions at once are answered on; null for the global pool. A single one is answered by the caller.
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

/// Answers questions about the bodies of a prepared set and all their images, in double, one or many at once.
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

/// # Safety
/// The pointer is null, misaligned, or leads to questions all of which is readable during the call.
unsafe fn read<'q, const D: usize>(query: *const Query) -> Result<Read<'q>, Failure> {
    // SAFETY: as the caller says.
    let Query { question, count, numbers, nearest, reach, .. } = unsafe { memory::read(query) }?;
    let question = Question::of(question)?;
    let overflow = || Failure::new(Status::Overflow, format_args!("{count} questions do not fit into memory"));
    let len = count.checked_mul(question.numbers(D)).ok_or_else(overflow)?;
    // SAFETY: as the caller says.
    let numbers = unsafe { memory::array(numbers, len, "jostle_query.numbers") }?;
    Ok(Read { question, count, numbers, nearest, reach })
}

//! Turns the questions of C into those of the engine, and the engine's answers into columns that C reads.

use engine::{PreparedBatch, PreparedQueries, QueryError, Seen, SeenAt};

use crate::input::User;
use crate::memory;
use crate::queries::{Query, QueryTest, Question};
use crate::status::{Failure, Status};

/// Answers as the engine gives them.
#[derive(Debug, Default)]
pub(crate) struct Asked<const D: usize> {
    seen: Vec<Seen<D>>,
    seen_at: Vec<SeenAt<D>>,
    batch: PreparedBatch<D>,
}

/// Answers as C reads them.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    pub(crate) offsets: Vec<usize>,
    pub(crate) ids: Vec<u32>,
    pub(crate) image_shifts: Vec<i32>,
    pub(crate) distances: Vec<f64>,
}

/// The questions of one kind, read from C.
pub(crate) struct Read<'q> {
    pub(crate) question: Question,
    count: usize,
    numbers: &'q [f64],
    nearest: usize,
    reach: f64,
    only: QueryTest,
    user: User,
}

impl Question {
    fn of(number: i32) -> Result<Self, Failure> {
        let all = [Self::Point, Self::Circle, Self::Box, Self::Ray, Self::FirstHit, Self::Nearest];
        let found = all.into_iter().find(|&question| question as i32 == number);
        found.ok_or_else(|| Failure::unknown("jostle_query.question", number))
    }

    /// Returns how many numbers each question of this kind takes.
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
    /// Answers a single question. It calls no threads and makes no list of questions.
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

    pub(crate) fn answer(
        &mut self,
        queries: PreparedQueries<'_, D>,
        read: &Read<'_>,
        threads: engine::Threads<'_>,
        columns: &mut Columns,
    ) -> Result<(), QueryError> {
        let &Read { only, user, .. } = read;
        // SAFETY: the host keeps to what the header asks of tests.
        let test = move |question, id| only.is_none_or(|test| unsafe { test(user.pointer(), question, id) != 0 });
        let queries = if only.is_some() { queries.only_for(&test) } else { queries };
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

/// # Safety
/// The pointer is null, misaligned, or leads to a query that is readable during the call, with all that it leads to.
pub(crate) unsafe fn read<'q, const D: usize>(query: *const Query) -> Result<Read<'q>, Failure> {
    // SAFETY: as the caller says.
    let Query { question, count, numbers, nearest, reach, only, only_user, .. } = unsafe { memory::read(query) }?;
    let question = Question::of(question)?;
    let overflow = || Failure::new(Status::Overflow, format_args!("{count} questions do not fit into memory"));
    let len = count.checked_mul(question.numbers(D)).ok_or_else(overflow)?;
    // SAFETY: as the caller says.
    let numbers = unsafe { memory::array(numbers, len, "jostle_query.numbers") }?;
    Ok(Read { question, count, numbers, nearest, reach, only, user: User(only_user) })
}

//! Batches of questions, and visits, give the answers of single questions.

use std::sync::LazyLock;

use jostle::{PreparedBatch, PreparedQueries, QueryError, Seen, SeenAt, Threads};
use jostle_testkit::{pool, within};
use rayon::ThreadPool;

static POOLS: LazyLock<[ThreadPool; 4]> = LazyLock::new(|| [1, 2, 3, 8].map(pool));

/// How often questions are asked in a batch that threads share, so that calling threads is worth it.
const TIMES: usize = 60;

/// Questions of a kind, and what each has found.
pub(crate) struct Told<Q, F> {
    asked: Vec<Q>,
    found: Vec<Vec<F>>,
}

impl<Q: Copy, F: Copy + Ord + core::fmt::Debug> Told<Q, F> {
    fn new() -> Self {
        Self { asked: Vec::new(), found: Vec::new() }
    }

    /// Notes what a question has found, and checks that it visits the same.
    pub(crate) fn add(&mut self, asked: Q, found: &[F], ask: impl FnOnce(&mut dyn FnMut(F)) -> Result<(), QueryError>) {
        let mut visited = Vec::new();
        ask(&mut |one| visited.push(one)).expect("a question that was answered");
        visited.sort_unstable();
        assert_eq!(visited, found, "visited");
        self.note(asked, found);
    }

    /// Notes what a question has found.
    pub(crate) fn note(&mut self, asked: Q, found: &[F]) {
        self.asked.push(asked);
        self.found.push(found.to_vec());
    }

    fn asked(&self, times: usize) -> Vec<Q> {
        self.asked.repeat(times)
    }
}

type Point<const D: usize> = [f64; D];

/// All questions to a set; for the nearest bodies, how many and how far.
pub(crate) struct Questions<const D: usize> {
    pub(crate) points: Told<Point<D>, Seen<D>>,
    pub(crate) circles: Told<(Point<D>, f64), Seen<D>>,
    pub(crate) aabbs: Told<(Point<D>, Point<D>), Seen<D>>,
    pub(crate) rays: Told<(Point<D>, Point<D>, f64), SeenAt<D>>,
    pub(crate) nearest: Told<Point<D>, SeenAt<D>>,
    pub(crate) of_nearest: (usize, f64),
}

impl<const D: usize> Questions<D> {
    pub(crate) fn new(of_nearest: (usize, f64)) -> Self {
        let (points, circles, aabbs) = (Told::new(), Told::new(), Told::new());
        Self { points, circles, aabbs, rays: Told::new(), nearest: Told::new(), of_nearest }
    }

    /// Asks all questions in batches, on one thread or, many times over, on several.
    pub(crate) fn check(&self, name: &str, queries: PreparedQueries<'_, D>, shared: bool) {
        let mut batch = PreparedBatch::new();
        self.ask(name, queries, &mut batch, 1, Threads::Serial);
        if shared {
            for pool in &*POOLS {
                within(pool, || self.ask(name, queries, &mut batch, TIMES, Threads::Current));
            }
        }
    }

    fn ask(
        &self,
        name: &str,
        queries: PreparedQueries<'_, D>,
        batch: &mut PreparedBatch<D>,
        times: usize,
        threads: Threads<'_>,
    ) {
        batch.points(queries, &self.points.asked(times), threads).expect(name);
        compare(name, batch, &self.points.found, times, |seen| (*seen, None));
        batch.circles(queries, &self.circles.asked(times), threads).expect(name);
        compare(name, batch, &self.circles.found, times, |seen| (*seen, None));
        batch.aabbs(queries, &self.aabbs.asked(times), threads).expect(name);
        compare(name, batch, &self.aabbs.found, times, |seen| (*seen, None));
        let at = |reached: &SeenAt<D>| (reached.body, Some(reached.distance.to_bits()));
        let rays = self.rays.asked(times);
        batch.rays(queries, &rays, threads).expect(name);
        compare(name, batch, &self.rays.found, times, at);
        let firsts: Vec<_> = self.rays.found.iter().map(|hits| hits[..hits.len().min(1)].to_vec()).collect();
        batch.first_hits(queries, &rays, threads).expect(name);
        compare(name, batch, &firsts, times, at);
        let (count, within) = self.of_nearest;
        batch.nearest(queries, &self.nearest.asked(times), count, within, threads).expect(name);
        compare(name, batch, &self.nearest.found, times, at);
    }
}

/// Compares the answers of a batch, in which each question was asked `times` times, with the answers to single
/// questions.
fn compare<F, const D: usize>(
    name: &str,
    batch: &PreparedBatch<D>,
    found: &[Vec<F>],
    times: usize,
    plain: impl Fn(&F) -> (Seen<D>, Option<u64>),
) {
    let answers = batch.last();
    assert_eq!(answers.len(), found.len() * times, "{name}");
    let all: Vec<_> = (0..times).flat_map(|_| found.iter().flatten()).map(&plain).collect();
    assert!(answers.found().iter().eq(all.iter().map(|(seen, _)| seen)), "{name}: another answer in a batch");
    let bits = answers.distances().iter().map(|distance| distance.to_bits());
    assert!(bits.eq(all.iter().filter_map(|&(_, bits)| bits)), "{name}: other distances in a batch");
    for (query, found) in (0..answers.len()).zip(found.iter().cycle()) {
        assert_eq!(answers.of(query).len(), found.len(), "{name}: query {query}");
    }
}

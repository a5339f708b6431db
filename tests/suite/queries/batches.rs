//! Batches give the answers of single queries, the same bytes on any threads, in memory that is kept.

use jostle::{Answers, Queries, QueryBatch, QueryError, Reached, Threads};
use jostle_testkit::{Kind, Scene, pool, scene, ugly, within};
use rayon::ThreadPool;

use crate::queries::asked::{Asked, about};
use crate::queries::check::tree_of;

/// Returns so many of `items`, over and over.
fn cycled<T: Copy>(items: &[T], count: usize) -> Vec<T> {
    items.iter().copied().cycle().take(if items.is_empty() { 0 } else { count }).collect()
}

type Owned = (Vec<usize>, Vec<u32>, Vec<f32>);

fn are(answers: Answers<'_>, (offsets, ids, distances): &Owned) -> bool {
    answers.offsets() == offsets && answers.ids() == ids && answers.distances() == distances
}

/// Returns the answers put together from single queries.
fn from_ids<Q: Copy>(asked: &[Q], one: impl Fn(Q, &mut Vec<u32>)) -> Owned {
    let (mut all, mut ids) = ((vec![0], Vec::new(), Vec::new()), Vec::new());
    for &query in asked {
        one(query, &mut ids);
        all.1.extend(&ids);
        all.0.push(all.1.len());
    }
    all
}

fn from_reached<Q: Copy>(asked: &[Q], one: impl Fn(Q, &mut Vec<Reached>)) -> Owned {
    let (mut all, mut reached) = ((vec![0], Vec::new(), Vec::new()), Vec::new());
    for &query in asked {
        one(query, &mut reached);
        all.1.extend(reached.iter().map(|body| body.id));
        all.2.extend(reached.iter().map(|body| body.distance));
        all.0.push(all.1.len());
    }
    all
}

/// A way to ask a batch.
type Ask<'a> = &'a (dyn for<'b> Fn(&'b mut QueryBatch, Threads<'_>) -> Result<Answers<'b>, QueryError> + Sync);

struct Batches {
    pools: [ThreadPool; 2],
    batch: QueryBatch,
}

impl Batches {
    fn new() -> Self {
        Self { pools: [pool(1), pool(3)], batch: QueryBatch::new() }
    }

    fn expect(&mut self, name: &str, expected: &Owned, ask: Ask<'_>) {
        let answers = ask(&mut self.batch, Threads::Serial).expect(name);
        assert!(are(answers, expected), "{name}, serial");
        for pool in &self.pools {
            let threads = pool.current_num_threads();
            let answers = ask(&mut self.batch, Threads::Pool(pool)).expect(name);
            assert!(are(answers, expected), "{name}, {threads} threads");
            let inside = within(pool, || ask(&mut self.batch, Threads::Current).map(|answers| are(answers, expected)));
            assert!(inside.expect(name), "{name}, within a pool of {threads}");
            assert!(are(self.batch.last(), expected), "{name}");
        }
    }

    fn check<const D: usize>(&mut self, name: &str, scene: &Scene<D>, asked: &Asked<D>, count: usize) {
        let tree = tree_of(scene);
        let queries = Queries::new(&tree);
        let points = cycled(&asked.points, count);
        let expected = from_ids(&points, |point, ids| queries.point(point, ids).expect("a point"));
        self.expect(name, &expected, &|batch, threads| batch.points(queries, &points, threads));
        let circles = cycled(&asked.circles, count);
        let expected = from_ids(&circles, |circle, ids| queries.circle(circle, ids).expect("a circle"));
        self.expect(name, &expected, &|batch, threads| batch.circles(queries, &circles, threads));
        let aabbs = cycled(&asked.aabbs, count);
        let expected = from_ids(&aabbs, |aabb, ids| queries.aabb(aabb, ids).expect("a box"));
        self.expect(name, &expected, &|batch, threads| batch.aabbs(queries, &aabbs, threads));
        let rays = cycled(&asked.rays, count);
        let expected = from_reached(&rays, |ray, hits| queries.ray(ray, hits).expect("a ray"));
        self.expect(name, &expected, &|batch, threads| batch.rays(queries, &rays, threads));
        let expected = from_reached(&rays, |ray, hits| {
            hits.clear();
            hits.extend(queries.first_hit(ray).expect("a ray"));
        });
        self.expect(name, &expected, &|batch, threads| batch.first_hits(queries, &rays, threads));
        let expected = from_reached(&points, |point, found| queries.nearest(point, 5, 3.0, found).expect("a point"));
        self.expect(name, &expected, &|batch, threads| batch.nearest(queries, &points, 5, 3.0, threads));
    }
}

fn batches_on_every_kind<const D: usize>() {
    let mut batches = Batches::new();
    for kind in Kind::ALL {
        let scene = scene::scene::<D>(kind, 3_000, 5);
        let asked = about(&scene, 60, 6);
        for count in [0, 1, 127, 3_000] {
            batches.check(&format!("{kind}, {count} queries, {D}D"), &scene, &asked, count);
        }
    }
}

#[test]
fn batches_on_every_kind_in_2d() {
    batches_on_every_kind::<2>();
}

#[test]
fn batches_on_every_kind_in_3d() {
    batches_on_every_kind::<3>();
}

#[test]
fn batches_on_ugly_scenes() {
    let mut batches = Batches::new();
    for (name, scene) in ugly::all::<2>().into_iter().step_by(3) {
        batches.check(name, &scene, &about(&scene, 5, 7), 2_000);
    }
}

#[test]
fn more_blocks_than_are_kept() {
    let (scene, mut batches) = (scene::scene::<2>(Kind::Uniform, 200, 5), Batches::new());
    let tree = tree_of(&scene);
    let (queries, points) = (Queries::new(&tree), cycled(&about(&scene, 60, 6).points, 140_001));
    let expected = from_ids(&points, |point, ids| queries.point(point, ids).expect("a point"));
    batches.expect("140,001 points", &expected, &|batch, threads| batch.points(queries, &points, threads));
}

#[test]
fn memory_is_kept() {
    let (scene, mut batch, pool) = (scene::scene::<3>(Kind::Dense, 4_000, 5), QueryBatch::new(), pool(3));
    let tree = tree_of(&scene);
    let (queries, asked) = (Queries::new(&tree), about(&scene, 100, 6));
    let mut bytes = Vec::new();
    for _ in 0..3 {
        for threads in [Threads::Serial, Threads::Pool(&pool)] {
            batch.rays(queries, &cycled(&asked.rays, 2_500), threads).expect("rays");
            batch.circles(queries, &cycled(&asked.circles, 2_500), threads).expect("circles");
            batch.nearest(queries, &cycled(&asked.points, 2_500), 9, f32::INFINITY, threads).expect("points");
        }
        bytes.push(batch.bytes());
    }
    assert!(bytes[0] > 0 && bytes[1] == bytes[0] && bytes[2] == bytes[0], "{bytes:?}");
}

#[test]
fn lists_of_single_queries_are_kept() {
    let scene = scene::scene::<2>(Kind::Dense, 4_000, 5);
    let tree = tree_of(&scene);
    let (queries, mut ids, mut reached) = (Queries::new(&tree), Vec::with_capacity(4_000), Vec::with_capacity(4_000));
    let places = (ids.as_ptr(), reached.as_ptr());
    for point in about(&scene, 20, 8).points {
        queries.circle(jostle::Circle::new(point, 30.0), &mut ids).expect("a circle");
        queries.nearest(point, 3_000, f32::INFINITY, &mut reached).expect("a point");
        assert_eq!((ids.as_ptr(), reached.as_ptr(), reached.len()), (places.0, places.1, 3_000));
    }
}

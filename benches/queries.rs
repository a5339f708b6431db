//! Questions to a tree of 100,000 circles: each kind alone, in time a query, and 10,000 at once. A search for all pairs
//! of the same circles, tree included, stands beside them.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use jostle::{Aabb, Circle, LinearTree, PairFinder, Queries, QueryBatch, Ray, Threads};
use jostle_testkit::{Kind, Scene, scene};
use std::hint::black_box;

const BODIES: usize = 100_000;

/// Queries of a batch, and queries that single calls go through in turn.
const QUERIES: usize = 10_000;

/// Side of the boxes and radius of the circles that are asked with. Bodies have radii of 0.5 to 1.
const SIZE: f32 = 4.0;

/// How far a segment reaches.
const REACH: f32 = 50.0;

/// Bodies to find about each point.
const NEAREST: usize = 8;

struct Asked {
    points: Vec<[f32; 2]>,
    circles: Vec<Circle<2>>,
    aabbs: Vec<Aabb<2>>,
    rays: Vec<Ray<2>>,
    segments: Vec<Ray<2>>,
}

impl Asked {
    /// Makes queries at places as random as those of the bodies, and in no order.
    fn new() -> Self {
        let world = scene::world::<2>(Kind::Uniform, BODIES) / scene::world::<2>(Kind::Uniform, QUERIES);
        let places: Scene<2> = scene::scene(Kind::Uniform, QUERIES, 2);
        let points: Vec<_> = (0..QUERIES).map(|at| places.view().center(at).map(|x| x * world)).collect();
        let rays: Vec<_> = points.windows(2).map(|p| Ray::new(p[0], [p[1][0] - p[0][0], p[1][1] - p[0][1]])).collect();
        Self {
            circles: points.iter().map(|&center| Circle::new(center, SIZE)).collect(),
            aabbs: points.iter().map(|&lo| Aabb { lo, hi: lo.map(|x| x + SIZE) }).collect(),
            segments: rays.iter().map(|ray| ray.within(REACH)).collect(),
            points,
            rays,
        }
    }
}

fn tree() -> LinearTree<2> {
    let mut tree = LinearTree::new();
    tree.build(scene::scene::<2>(Kind::Uniform, BODIES, 1).view(), Threads::Serial).expect("a sound scene");
    tree
}

/// Times one query after the other.
fn each<Q: Copy>(c: &mut Criterion, name: &str, asked: &[Q], mut one: impl FnMut(Q) -> usize) {
    let mut turns = asked.iter().cycle();
    c.bench_function(&format!("query/{name}"), |b| b.iter(|| turns.next().map(|&query| black_box(one(query)))));
}

fn single(c: &mut Criterion) {
    let (tree, asked) = (tree(), Asked::new());
    let (queries, mut ids, mut reached) = (Queries::new(&tree), Vec::new(), Vec::new());
    each(c, "point", &asked.points, |point| {
        queries.point(point, &mut ids).expect("a point");
        ids.len()
    });
    each(c, "aabb", &asked.aabbs, |aabb| {
        queries.aabb(aabb, &mut ids).expect("a box");
        ids.len()
    });
    each(c, "circle", &asked.circles, |circle| {
        queries.circle(circle, &mut ids).expect("a circle");
        ids.len()
    });
    each(c, "first hit of a ray", &asked.rays, |ray| usize::from(queries.first_hit(ray).expect("a ray").is_some()));
    each(c, "all hits of a ray", &asked.rays, |ray| {
        queries.ray(ray, &mut reached).expect("a ray");
        reached.len()
    });
    each(c, "all hits of a segment", &asked.segments, |ray| {
        queries.ray(ray, &mut reached).expect("a ray");
        reached.len()
    });
    each(c, "nearest", &asked.points, |point| {
        usize::from(queries.nearest_one(point, f32::INFINITY).expect("a point").is_some())
    });
    each(c, "eight nearest", &asked.points, |point| {
        queries.nearest(point, NEAREST, f32::INFINITY, &mut reached).expect("a point");
        reached.len()
    });
}

fn batches(c: &mut Criterion) {
    let (tree, asked, mut batch) = (tree(), Asked::new(), QueryBatch::new());
    let queries = Queries::new(&tree);
    let mut group = c.benchmark_group("batch");
    group.throughput(Throughput::Elements(QUERIES as u64));
    for (name, threads) in [("serial", Threads::Serial), ("pool", Threads::Current)] {
        group.bench_function(format!("points, {name}"), |b| {
            b.iter(|| black_box(batch.points(queries, &asked.points, threads).map(|found| found.ids().len())));
        });
        group.bench_function(format!("aabbs, {name}"), |b| {
            b.iter(|| black_box(batch.aabbs(queries, &asked.aabbs, threads).map(|found| found.ids().len())));
        });
        group.bench_function(format!("circles, {name}"), |b| {
            b.iter(|| black_box(batch.circles(queries, &asked.circles, threads).map(|found| found.ids().len())));
        });
        group.bench_function(format!("first hits, {name}"), |b| {
            b.iter(|| black_box(batch.first_hits(queries, &asked.rays, threads).map(|found| found.ids().len())));
        });
        group.bench_function(format!("segments, {name}"), |b| {
            b.iter(|| black_box(batch.rays(queries, &asked.segments, threads).map(|found| found.ids().len())));
        });
        group.bench_function(format!("eight nearest, {name}"), |b| {
            b.iter(|| {
                let found = batch.nearest(queries, &asked.points, NEAREST, f32::INFINITY, threads);
                black_box(found.map(|found| found.ids().len()))
            });
        });
    }
}

/// Times a search for all pairs, for scale.
fn find(c: &mut Criterion) {
    let (scene, mut finder) = (scene::scene::<2>(Kind::Uniform, BODIES, 1), PairFinder::new());
    for (name, threads) in [("serial", Threads::Serial), ("pool", Threads::Current)] {
        c.bench_function(&format!("find/{name}"), |b| {
            b.iter(|| black_box(finder.on(threads).find(scene.view()).map(|found| found.pairs().len())));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = single, batches, find
}
criterion_main!(benches);

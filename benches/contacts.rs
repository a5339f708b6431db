//! What follows a search, beside the search: contacts over time, their geometry, and arrays sorted by rank.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use jostle::{ContactTracker, PairFinder, Permutation, Threads, contacts};
use jostle_testkit::{Kind, Scene, scene};

const BODIES: usize = 100_000;

const THREADS: [(&str, Threads<'_>); 2] = [("serial", Threads::Serial), ("pool", Threads::Current)];

/// Returns the scene, and the same scene a little later: some 1 to 3 % of its pairs are others.
fn frames(kind: Kind) -> [Scene<2>; 2] {
    let now = scene::scene::<2>(kind, BODIES, 1);
    let mut later = now.clone();
    for (axis, column) in later.centers.iter_mut().enumerate() {
        column.iter_mut().enumerate().for_each(|(id, x)| *x += ((id * 31 + axis) % 101) as f32 * 5e-4);
    }
    [now, later]
}

/// Returns the keys of two frames, by what has happened to them between the two.
fn keys(change: &str) -> [Vec<u64>; 2] {
    let now: Vec<u64> = (0..BODIES as u64).map(|id| id << 20).collect();
    let mut later = now.clone();
    match change {
        "a hundred others" => later.iter_mut().step_by(BODIES / 100).for_each(|key| *key += 1),
        "all moved up" => later.rotate_left(1),
        _ => {}
    }
    [now, later]
}

fn track(c: &mut Criterion) {
    for kind in [Kind::Uniform, Kind::Dense] {
        let mut group = c.benchmark_group(format!("contacts/{kind}"));
        group.throughput(Throughput::Elements(BODIES as u64));
        let scenes = frames(kind);
        let mut finder = PairFinder::new();
        let pairs = scenes.each_ref().map(|scene| finder.find(scene.view()).expect("a sound scene").pairs().to_vec());
        for (name, threads) in THREADS {
            group.bench_function(BenchmarkId::new("find", name), |b| {
                b.iter(|| black_box(finder.on(threads).find(scenes[0].view()).map(|found| found.pairs().len())));
            });
            for change in ["same keys", "a hundred others", "all moved up"] {
                let (keys, mut tracker, mut frame) = (keys(change), ContactTracker::new(), 0);
                group.bench_function(BenchmarkId::new(format!("track, {change}"), name), |b| {
                    b.iter(|| {
                        frame = 1 - frame;
                        let changes = tracker.on(threads).update(&pairs[frame], &keys[frame]);
                        black_box(changes.map(|changes| changes.begin().len()))
                    });
                });
            }
            let mut list = Vec::new();
            group.bench_function(BenchmarkId::new("geometry", name), |b| {
                b.iter(|| black_box(contacts(&pairs[0], scenes[0].view(), threads, &mut list)));
            });
        }
    }
}

fn sort(c: &mut Criterion) {
    let mut group = c.benchmark_group("permutation");
    group.throughput(Throughput::Elements(BODIES as u64));
    let scene = scene::scene::<2>(Kind::Uniform, BODIES, 1);
    let (mut finder, mut order) = (PairFinder::new(), Permutation::new());
    let found = finder.find(scene.view()).expect("a sound scene");
    group.bench_function("take", |b| b.iter(|| order.take(found.tree())));
    let (mut column, mut buffer) = (scene.radii.clone(), Vec::new());
    group.bench_function("sort_by_rank", |b| b.iter(|| black_box(order.sort_by_rank(&mut column))));
    for (name, threads) in THREADS {
        group.bench_function(BenchmarkId::new("sort_by_rank_copy", name), |b| {
            b.iter(|| black_box(order.sort_by_rank_copy(&mut column, &mut buffer, threads)));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = track, sort
}
criterion_main!(benches);

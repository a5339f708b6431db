//! Each stage by itself, in time a body, so that a regression has an address: bounds, sort, tree and join as a search
//! times them, codes and the radix sort alone, and what listing pairs costs beyond counting them.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use jostle::radix::RadixSort;
use jostle::{PairFinder, StageTimes, Threads, morton};
use jostle_testkit::{Kind, scene};
use std::hint::black_box;

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn stages(c: &mut Criterion) {
    let mut group = c.benchmark_group("stage");
    for n in SIZES {
        let scene = scene::scene::<2>(Kind::Uniform, n, 1);
        let mut finder = PairFinder::new();
        group.throughput(Throughput::Elements(n as u64));
        for (stage, (name, _)) in StageTimes::default().named().into_iter().enumerate() {
            group.bench_function(BenchmarkId::new(name, n), |b| {
                b.iter_custom(|searches| {
                    let mut search =
                        || finder.on(Threads::Serial).find(scene.view()).expect("a sound scene").stats().time;
                    (0..searches).map(|_| search().named()[stage].1).sum()
                });
            });
        }
    }
}

fn codes(c: &mut Criterion) {
    let mut group = c.benchmark_group("codes");
    for n in SIZES {
        let scene = scene::scene::<2>(Kind::Uniform, n, 1);
        let bounds = jostle::bounds(scene.view(), Threads::Serial).expect("a sound scene");
        let grid = morton::Grid::new(&bounds).expect("bodies apart");
        let mut codes = vec![0; n];
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::new("morton", n), |b| {
            b.iter(|| {
                codes.iter_mut().enumerate().for_each(|(id, code)| *code = grid.code(scene.view().center(id)));
                black_box(&mut codes);
            });
        });
    }
}

fn sort(c: &mut Criterion) {
    let mut group = c.benchmark_group("sort");
    for n in SIZES {
        let scene = scene::scene::<2>(Kind::Uniform, n, 1);
        let bounds = jostle::bounds(scene.view(), Threads::Serial).expect("a sound scene");
        let grid = morton::Grid::new(&bounds).expect("bodies apart");
        let codes: Vec<(u64, u32)> = (0..n).map(|id| (grid.code(scene.view().center(id)), id as u32)).collect();
        let (mut records, mut sort) = (codes.clone(), RadixSort::new());
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::new("radix", n), |b| {
            b.iter(|| {
                records.copy_from_slice(&codes);
                sort.sort_by_code(&mut records, Threads::Serial, |record| record.0);
            });
        });
        group.bench_function(BenchmarkId::new("sort_unstable_by_key", n), |b| {
            b.iter(|| {
                records.copy_from_slice(&codes);
                records.sort_unstable_by_key(|record| record.0);
            });
        });
    }
}

fn pairs(c: &mut Criterion) {
    let mut group = c.benchmark_group("pairs");
    for n in SIZES {
        let scene = scene::scene::<2>(Kind::Uniform, n, 1);
        let mut finder = PairFinder::new();
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::new("list", n), |b| {
            b.iter(|| black_box(finder.on(Threads::Serial).find(scene.view()).map(|found| found.pairs().len())));
        });
        group.bench_function(BenchmarkId::new("count", n), |b| {
            b.iter(|| black_box(finder.on(Threads::Serial).count(scene.view())));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = stages, codes, sort, pairs
}
criterion_main!(benches);

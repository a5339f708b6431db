//! Each stage on its own, so that a regression has an address: bounds, sort, tree, and the search by how it hands on pairs.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use jostle::radix::RadixSort;
use jostle::{LinearTree, PairFinder, Workers, morton};
use jostle_testkit::{Kind, scene};
use std::hint::black_box;

const SIZES: [usize; 3] = [1_000, 100_000, 1_000_000];

fn build(c: &mut Criterion) {
    let mut group = c.benchmark_group("build");
    for n in SIZES {
        let scene = scene::scene::<2>(Kind::Uniform, n, 1);
        let mut tree = LinearTree::new();
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::new("bounds", n), |b| {
            b.iter(|| black_box(jostle::bounds(scene.view(), Workers::Serial)));
        });
        group.bench_function(BenchmarkId::new("tree", n), |b| {
            b.iter(|| black_box(tree.build(scene.view(), Workers::Serial)));
        });
    }
}

fn sort(c: &mut Criterion) {
    let mut group = c.benchmark_group("sort");
    for n in SIZES {
        let scene = scene::scene::<2>(Kind::Uniform, n, 1);
        let bounds = jostle::bounds(scene.view(), Workers::Serial).expect("a sound scene");
        let grid = morton::Grid::new(&bounds).expect("bodies apart");
        let codes: Vec<(u64, u32)> = (0..n).map(|id| (grid.code(scene.view().center(id)), id as u32)).collect();
        let (mut records, mut sort) = (codes.clone(), RadixSort::new());
        group.throughput(Throughput::Elements(n as u64));
        group.bench_function(BenchmarkId::new("radix", n), |b| {
            b.iter(|| {
                records.copy_from_slice(&codes);
                sort.sort_by_code(&mut records, Workers::Serial, |record| record.0);
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
            b.iter(|| black_box(finder.find(scene.view()).map(|found| found.pairs().len())));
        });
        group.bench_function(BenchmarkId::new("count", n), |b| b.iter(|| black_box(finder.count(scene.view()))));
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = build, sort, pairs
}
criterion_main!(benches);

//! The whole search, in time a body: each scene at 1k to 1M, and where handing work to a pool begins to pay.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use jostle::{PairFinder, Threads};
use jostle_testkit::{Kind, scene};
use std::hint::black_box;

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn find(c: &mut Criterion) {
    for kind in Kind::ALL {
        let mut group = c.benchmark_group(format!("find/{kind}"));
        for n in SIZES {
            let scene = scene::scene::<2>(kind, n, 1);
            let mut finder = PairFinder::new();
            group.throughput(Throughput::Elements(n as u64));
            for (name, threads) in [("serial", Threads::Serial), ("pool", Threads::Current)] {
                group.bench_function(BenchmarkId::new(name, n), |b| {
                    b.iter(|| black_box(finder.on(threads).find(scene.view()).map(|found| found.pairs().len())));
                });
            }
        }
    }
}

/// Times the two ways about `jostle_pairs::SERIAL_BELOW`, where they cross. The constant must be set to 0 to see the
/// pool below it.
fn crossover(c: &mut Criterion) {
    let mut group = c.benchmark_group("crossover");
    for n in [1_000, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000, 16_000, 24_000] {
        let scene = scene::scene::<2>(Kind::Uniform, n, 1);
        let mut finder = PairFinder::new();
        group.throughput(Throughput::Elements(n as u64));
        for (name, threads) in [("serial", Threads::Serial), ("pool", Threads::Current)] {
            group.bench_function(BenchmarkId::new(name, n), |b| {
                b.iter(|| black_box(finder.on(threads).find(scene.view()).map(|found| found.pairs().len())));
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = find, crossover
}
criterion_main!(benches);

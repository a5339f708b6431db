//! What a finder does besides the pairs of one view: two sets and many, layers, tests of the caller's, lists of
//! neighbours, whether a list with a margin still holds, and bodies in other frames. Each is timed with 100,000
//! circles, beside `find` of the same circles.

use criterion::{Criterion, criterion_group, criterion_main};
use jostle::{
    ActivationTable, Circles64, Input, Layers, LinearTree, NeighborLists, PairFinder, Rows, Set, Threads, between,
};
use jostle_testkit::{Kind, Scene, scene};
use std::hint::black_box;

const BODIES: usize = 100_000;

/// Bodies of a set in which few bodies are sought.
const MANY: usize = 1_000_000;

/// Bodies of the set of few.
const FEW: usize = 10_000;

/// Added to radii of 0.5 to 1.
const MARGIN: f32 = 0.1;

const THREADS: [(&str, Threads<'_>); 2] = [("serial", Threads::Serial), ("pool", Threads::Current)];

/// Makes `n` circles that spread over the world of `world` circles.
fn uniform(n: usize, world: usize, seed: u64) -> Scene<2> {
    let factor = scene::world::<2>(Kind::Uniform, world) / scene::world::<2>(Kind::Uniform, n);
    let Scene { centers, radii } = scene::scene(Kind::Uniform, n, seed);
    Scene { centers: centers.map(|column| column.into_iter().map(|x| x * factor).collect()), radii }
}

fn tree_of(scene: &Scene<2>) -> LinearTree<2> {
    let mut tree = LinearTree::new();
    tree.build(scene.view(), Threads::Serial).expect("a sound scene");
    tree
}

/// Times a search for pairs, serially and on the pool.
fn find(c: &mut Criterion, name: &str, among: Input<'_, 2>) {
    let mut finder = PairFinder::new();
    for (on, threads) in THREADS {
        c.bench_function(&format!("{name}/{on}"), |b| {
            b.iter(|| black_box(finder.on(threads).find(among).map(|found| found.pairs().len())));
        });
    }
}

fn two_sets(c: &mut Criterion) {
    let scene = uniform(BODIES, BODIES, 1);
    find(c, "find", scene.view().into());
    let halves = [1, 2].map(|seed| uniform(BODIES / 2, BODIES, seed));
    find(c, "between halves", between(halves[0].view(), halves[1].view()));
    let (few, many) = (uniform(FEW, MANY, 3), tree_of(&uniform(MANY, MANY, 4)));
    find(c, "between 10,000 and a tree of a million", between(few.view(), &many));
}

fn filters(c: &mut Criterion) {
    let scene = uniform(BODIES, BODIES, 1);
    let category: Vec<u32> = (0..BODIES).map(|id| 1 << (id % 4)).collect();
    find(c, "layers", Set::from(scene.view()).layers(Layers::new(&category, 0b111)).into());
    let (mut finder, odd) = (PairFinder::new(), |a: u32, b: u32| (a ^ b) & 1 == 1);
    for (on, threads) in THREADS {
        c.bench_function(&format!("only/{on}"), |b| {
            b.iter(|| black_box(finder.on(threads).only(&odd).find(scene.view()).map(|found| found.pairs().len())));
        });
    }
}

fn many_sets(c: &mut Criterion) {
    let sets = [1, 2, 3].map(|seed| uniform(BODIES / 3, BODIES, seed));
    let (sets, meetings) = (sets.each_ref().map(|set| Set::from(set.view())), ActivationTable::all(3));
    let mut finder = PairFinder::new();
    for (on, threads) in THREADS {
        c.bench_function(&format!("among three thirds/{on}"), |b| {
            b.iter(|| {
                black_box(
                    finder
                        .on(threads)
                        .find(Input::among(&sets, &meetings))
                        .map(|found| found.pairs_between(0, 1).len()),
                )
            });
        });
    }
}

fn rows(c: &mut Criterion) {
    let (scene, mut finder) = (uniform(BODIES, BODIES, 1), PairFinder::new());
    let kinds = [
        ("half rows", Rows::Half, NeighborLists::new()),
        ("full rows", Rows::Full, NeighborLists::new()),
        ("full rows with distances", Rows::Full, NeighborLists::with_distances()),
    ];
    for (name, rows, mut lists) in kinds {
        for (on, threads) in THREADS {
            c.bench_function(&format!("{name}/{on}"), |b| {
                b.iter(|| black_box(finder.on(threads).neighbors(scene.view(), rows, &mut lists).is_ok()));
            });
        }
    }
}

fn margins(c: &mut Criterion) {
    let (scene, mut finder) = (uniform(BODIES, BODIES, 1), PairFinder::new());
    find(c, "find with a margin", scene.view().with_margin(MARGIN).into());
    finder.find(scene.view().with_margin(MARGIN)).expect("a sound scene");
    c.bench_function("still valid/pool", |b| b.iter(|| black_box(finder.still_valid(scene.view()))));
}

fn frames(c: &mut Criterion) {
    let scene = uniform(BODIES, BODIES, 1);
    let world = scene::world::<2>(Kind::Uniform, BODIES);
    find(c, "periodic", Input::within(scene.view()).periodic([Some([0.0, world]); 2]));
    let doubled = |values: &[f32]| values.iter().map(|&x| f64::from(x) + 1e9).collect::<Vec<f64>>();
    let (x, y) = (doubled(&scene.centers[0]), doubled(&scene.centers[1]));
    let radii: Vec<f64> = scene.radii.iter().map(|&r| f64::from(r)).collect();
    find(c, "f64, a billion from the origin", Circles64::new(&x, &y, &radii).into());
    let moves = vec![MARGIN; BODIES];
    find(c, "swept", Set::from(scene.view()).moving([&moves, &moves]).into());
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = two_sets, filters, many_sets, rows, margins, frames
}
criterion_main!(benches);

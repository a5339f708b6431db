//! Every kernel gives one sequence of pairs on any number of threads, in every form in which pairs are handed out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use jostle::{Bodies, InputError, PairFinder, Stats, Threads};
use jostle_core::Isa;
use jostle_pairs::SERIAL_BELOW;
use jostle_testkit::pairs::{Calls, ascending};
use jostle_testkit::tree::validate;
use jostle_testkit::{Kind, Scene, pool, scene, sweep, ugly, within};
use rayon::ThreadPool;

/// A finder for each instruction set of this machine, and pools. All are used for scene after scene.
struct Kernels<const D: usize> {
    finders: Vec<PairFinder<D>>,
    pools: [ThreadPool; 4],
    /// Scenes checked.
    scenes: usize,
}

impl<const D: usize> Kernels<D> {
    fn new() -> Self {
        let finder = |isa| {
            let mut finder = PairFinder::new();
            finder.set_isa(isa);
            assert_eq!(finder.isa(), isa);
            finder
        };
        Self { finders: Isa::available().map(finder).collect(), pools: [1, 2, 3, 8].map(pool), scenes: 0 }
    }

    /// Checks that every kernel finds the pairs of the sweep, in one and the same order and with the same work, on any
    /// threads. By turns, for each kernel and some threads, it also checks the count, a fold and the calls.
    fn check(&mut self, name: &str, scene: &Scene<D>) {
        let view = scene.view();
        let expected = sweep::pairs(view);
        let first = self.finders[0].on(Threads::Serial).find(view).expect(name);
        let (sequence, work) = (first.pairs().to_vec(), work(first.stats()));
        let sorted = ascending(&sequence);
        assert!(sorted == expected, "{name}, {D}D: {} pairs found, {} expected", sorted.len(), expected.len());
        let hash = sequence.iter().fold(Hash::START, |hash, &[a, b]| hash.with(a, b));
        for (turn, finder) in self.finders.iter_mut().enumerate() {
            let all_threads = core::iter::once(Threads::Serial).chain(self.pools.iter().map(Threads::Pool));
            let mut check = |choice: usize, threads| {
                let label = format!("{name}, {D}D, {}, {}", finder.isa(), threads_name(threads));
                let found = finder.on(threads).find(view).expect(&label);
                assert!(found.pairs() == sequence, "{label}: another sequence");
                assert_eq!(self::work(found.stats()), work, "{label}");
                if (self.scenes + 2 * turn + choice).is_multiple_of(5) {
                    assert_eq!(finder.on(threads).count(view), Ok(sequence.len() as u64), "{label}");
                    assert_eq!(fold(finder, threads, view, || Hash::START), Ok(hash), "{label}: another fold");
                    assert_calls(&label, finder, threads, view, &sequence, &expected);
                }
            };
            // Called from within the pool, for scenes that are too small to be handed over from outside.
            for (choice, threads) in all_threads.enumerate() {
                match threads {
                    Threads::Pool(pool) => within(pool, || check(choice, threads)),
                    Threads::Current | Threads::Serial | Threads::Host(_) => check(choice, threads),
                }
            }
        }
        self.scenes += 1;
    }
}

fn threads_name(threads: Threads<'_>) -> String {
    match threads {
        Threads::Pool(pool) => format!("{} threads", pool.current_num_threads()),
        _ => format!("{threads:?}"),
    }
}

/// Returns what a search counts, which depends on the input alone.
fn work(stats: &Stats) -> [u64; 4] {
    [stats.node_tests, stats.leaf_tests, stats.circle_tests, stats.pairs]
}

/// A hash of a sequence that is put together from the hashes of its parts, in their order only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hash {
    value: u64,
    power: u64,
}

impl Hash {
    const START: Self = Self { value: 0, power: 1 };
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

    fn with(self, a: u32, b: u32) -> Self {
        let pair = u64::from(a) << 32 | u64::from(b);
        self.then(Self { value: pair + 1, power: Self::BASE })
    }

    fn then(self, next: Self) -> Self {
        let value = self.value.wrapping_mul(next.power).wrapping_add(next.value);
        Self { value, power: self.power.wrapping_mul(next.power) }
    }
}

/// Calls `for_each_pair` with one type of visitor, since each type compiles the kernels anew.
fn visit<const D: usize>(
    finder: &mut PairFinder<D>,
    threads: Threads<'_>,
    view: Bodies<'_, D>,
    visit: &(dyn Fn(u32, u32) + Sync),
) -> Result<Stats, InputError> {
    finder.on(threads).for_each_pair(view, visit)
}

/// Returns the hash of the pairs by a fold. `begin` is called for each block.
fn fold<const D: usize>(
    finder: &mut PairFinder<D>,
    threads: Threads<'_>,
    view: Bodies<'_, D>,
    begin: fn() -> Hash,
) -> Result<Hash, InputError> {
    finder.on(threads).fold(view, begin, |hash: &mut Hash, a, b| *hash = hash.with(a, b), Hash::then)
}

/// Checks that calls come once for each pair, and on one thread in the order of the list.
fn assert_calls<const D: usize>(
    label: &str,
    finder: &mut PairFinder<D>,
    threads: Threads<'_>,
    view: Bodies<'_, D>,
    sequence: &[[u32; 2]],
    sorted: &[[u32; 2]],
) {
    let single = match threads {
        Threads::Pool(pool) => pool.current_num_threads() == 1,
        _ => true,
    };
    let calls = Calls::default();
    let stats = visit(finder, threads, view, &|a, b| calls.push(a, b)).expect(label);
    let calls = calls.into_pairs();
    assert_eq!((stats.pairs, calls.len()), (sequence.len() as u64, sequence.len()), "{label}");
    if single {
        assert!(calls == sequence, "{label}: calls in another order");
    } else {
        assert!(ascending(&calls) == sorted, "{label}: calls for other pairs");
    }
}

fn scenes_of_every_kind<const D: usize>() {
    let mut kernels = Kernels::<D>::new();
    for kind in Kind::ALL {
        for n in [900, SERIAL_BELOW - 1, SERIAL_BELOW, 30_000] {
            kernels.check(&format!("{kind}, n = {n}"), &scene::scene(kind, n, n as u64 + 3));
        }
    }
}

#[test]
fn scenes_of_every_kind_in_2d() {
    scenes_of_every_kind::<2>();
}

#[test]
fn scenes_of_every_kind_in_3d() {
    scenes_of_every_kind::<3>();
}

fn large_ugly_scenes<const D: usize>() {
    let mut kernels = Kernels::<D>::new();
    for (name, scene) in ugly::large() {
        assert!(scene.len() >= SERIAL_BELOW, "{name} is searched by one thread");
        kernels.check(name, &scene);
    }
}

#[test]
fn large_ugly_scenes_in_2d() {
    large_ugly_scenes::<2>();
}

#[test]
fn large_ugly_scenes_in_3d() {
    large_ugly_scenes::<3>();
}

/// Tests each ugly scene alone, on one thread, and with so many other bodies that several threads share the work.
fn ugly_scenes_in_company<const D: usize>() {
    let mut kernels = Kernels::<D>::new();
    let company = scene::scene::<D>(Kind::Uniform, SERIAL_BELOW, 77);
    for (name, mut scene) in ugly::all::<D>() {
        kernels.check(name, &scene);
        for (column, others) in scene.centers.iter_mut().zip(&company.centers) {
            column.extend(others);
        }
        scene.radii.extend(&company.radii);
        kernels.check(&format!("{name}, in company"), &scene);
    }
}

#[test]
fn ugly_scenes_in_company_in_2d() {
    ugly_scenes_in_company::<2>();
}

#[test]
fn ugly_scenes_in_company_in_3d() {
    ugly_scenes_in_company::<3>();
}

/// Parts that may only be joined from left to right, and a sum that rounds differently in any other grouping.
#[derive(Debug, Clone, PartialEq, Default)]
struct Parts {
    text: String,
    list: Vec<[u32; 2]>,
    sum: f32,
}

#[test]
fn folds_keep_order_and_grouping() {
    let scene = scene::scene::<2>(Kind::Dense, 6_000, 4);
    let (x, mut kernels) = (&scene.centers[0], Kernels::<2>::new());
    let add = |parts: &mut Parts, a: u32, b: u32| {
        parts.text += &format!("{a}-{b} ");
        parts.list.push([a, b]);
        parts.sum += (x[a as usize] - x[b as usize]) * 1e-3 + 1.0 / (1.0 + b as f32);
    };
    let join = |left: Parts, right: Parts| Parts {
        text: left.text + &right.text,
        list: [left.list, right.list].concat(),
        sum: left.sum + right.sum,
    };
    let list = kernels.finders[0].find(scene.view()).expect("a good scene").pairs().to_vec();
    let text: String = list.iter().map(|[a, b]| format!("{a}-{b} ")).collect();
    let mut sums = Vec::new();
    for finder in &mut kernels.finders {
        for threads in core::iter::once(Threads::Serial).chain(kernels.pools.iter().map(Threads::Pool)) {
            let parts = finder.on(threads).fold(scene.view(), Parts::default, add, join).expect("a good scene");
            assert!(parts.text == text && parts.list == list, "{}", threads_name(threads));
            sums.push(parts.sum.to_bits());
        }
    }
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
}

#[test]
fn a_fold_over_nothing_is_what_it_began_with() {
    let seven = || Hash { value: 7, power: 1 };
    for scene in [scene::scene::<2>(Kind::Uniform, 0, 1), scene::scene(Kind::Uniform, 1, 1)] {
        let mut finder = PairFinder::new();
        assert_eq!(fold(&mut finder, Threads::Current, scene.view(), seven), Ok(seven()));
        assert_eq!(finder.count(scene.view()), Ok(0));
    }
}

/// A refusal of any kind of search comes before any call, and leaves the last list as it was.
#[test]
fn the_last_result_stands_after_a_refusal() {
    for n in [500, 9_000] {
        let good = scene::scene::<2>(Kind::Dense, n, 6);
        let mut bad = scene::scene::<2>(Kind::Uniform, n + 100, 7);
        bad.radii[n / 2] = f32::NAN;
        let mut finder = PairFinder::new();
        assert!(finder.last().pairs().is_empty() && finder.last().rank_to_id().next().is_none());
        finder.find(good.view()).expect("a good scene");
        let last = |finder: &PairFinder<2>| {
            let last = finder.last();
            assert_eq!(validate(last.tree()), Ok(()));
            (last.pairs().to_vec(), last.rank_to_id().collect::<Vec<_>>(), *last.stats())
        };
        let before = last(&finder);
        assert!(!before.0.is_empty());
        let error = finder.find(bad.view()).map(|_| ()).expect_err("a bad radius");
        assert!(last(&finder) == before, "another result after a refused find");
        assert_eq!(finder.count(bad.view()), Err(error.clone()));
        let visited = visit(&mut finder, Threads::Current, bad.view(), &|_, _| panic!("called"));
        assert_eq!(visited, Err(error.clone()));
        assert_eq!(fold(&mut finder, Threads::Current, bad.view(), || panic!("called")), Err(error));
        assert!(last(&finder) == before, "another result after refused searches");
    }
}

/// Searches without a list leave the last list as it was.
#[test]
fn the_last_list_stands_after_searches_without_one() {
    let (first, second) = (scene::scene::<3>(Kind::Dense, 5_000, 1), scene::scene::<3>(Kind::Uniform, 8_000, 2));
    let mut finder = PairFinder::new();
    let pairs = finder.find(first.view()).expect("a good scene").pairs().to_vec();
    let count = finder.count(second.view()).expect("a good scene");
    assert_ne!(count, pairs.len() as u64);
    assert!(finder.last().pairs() == pairs);
    visit(&mut finder, Threads::Current, second.view(), &|_, _| ()).expect("a good scene");
    assert!(finder.last().pairs() == pairs);
}

/// A panic of the caller's own function passes through, and the finder goes on.
#[test]
fn a_finder_goes_on_after_a_panic_of_a_visitor() {
    let scene = scene::scene::<2>(Kind::Dense, 9_000, 8);
    let pool = pool(3);
    let expected = PairFinder::new().find(scene.view()).expect("a good scene").pairs().to_vec();
    let mut finder = PairFinder::new();
    for threads in [Threads::Serial, Threads::Pool(&pool)] {
        let calls = AtomicU64::new(0);
        let give_up = |_, _| {
            if calls.fetch_add(1, Ordering::Relaxed) == 1_000 {
                std::panic::resume_unwind(Box::new("enough"));
            }
        };
        let search = catch_unwind(AssertUnwindSafe(|| visit(&mut finder, threads, scene.view(), &give_up)));
        assert_eq!(search.expect_err("a panic").downcast_ref(), Some(&"enough"));
        assert!(finder.on(threads).find(scene.view()).expect("a good scene").pairs() == expected);
    }
}

/// Tests scenes large enough for several passes of the sort and three levels above the leaves. Worth its time in
/// release builds.
fn two_hundred_thousand<const D: usize>() {
    let (mut finder, pool) = (PairFinder::new(), pool(3));
    for kind in Kind::ALL {
        let scene = scene::scene::<D>(kind, 200_000, 9);
        let sequence = finder.on(Threads::Pool(&pool)).find(scene.view()).expect("a good scene").pairs().to_vec();
        let again = finder.on(Threads::Serial).find(scene.view()).expect("a good scene");
        assert!(again.pairs() == sequence, "{kind}, {D}D: another sequence on one thread");
        assert_eq!(validate(again.tree()), Ok(()), "{kind}, {D}D");
        let sorted = ascending(&sequence);
        let expected = sweep::pairs(scene.view());
        assert!(sorted == expected, "{kind}, {D}D: {} pairs found, {} expected", sorted.len(), expected.len());
    }
}

#[test]
fn two_hundred_thousand_circles() {
    two_hundred_thousand::<2>();
}

#[test]
fn two_hundred_thousand_spheres() {
    two_hundred_thousand::<3>();
}

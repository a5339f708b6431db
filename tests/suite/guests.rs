//! Searches in a pool that is shared with others: what a visitor may do, whose panic comes out, and what runs on whose
//! stack.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::process::Command;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use jostle::{Boxes, LinearTree, NeighborLists, PairFinder, Rows, Threads};
use jostle_testkit::tree::validate;
use jostle_testkit::{Kind, Scene, oracle, pool, scene};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Returns so many bodies that all threads search them, even when called from outside a pool.
fn crowd() -> Scene<2> {
    scene::scene(Kind::Dense, 30_000, 5)
}

/// Calls what rayon offers, and searches by another finder, as a function of the caller's may.
fn call_rayon(within: &Scene<2>) {
    assert_eq!(rayon::broadcast(|_| ()).len(), rayon::current_num_threads());
    assert_eq!(rayon::join(|| 1, || 2), (1, 2));
    assert_eq!((0..1_000_u64).into_par_iter().map(|i| i * i).sum::<u64>(), 332_833_500);
    let spawned = AtomicUsize::new(0);
    rayon::scope(|scope| {
        for _ in 0..9 {
            scope.spawn(|_| {
                spawned.fetch_add(1, Ordering::Relaxed);
            });
        }
        scope.spawn_broadcast(|_, _| {
            spawned.fetch_add(1, Ordering::Relaxed);
        });
    });
    assert_eq!(spawned.into_inner(), 9 + rayon::current_num_threads());
    rayon::yield_now();
    let mut finder = PairFinder::new();
    let pairs = finder.find(within.view()).expect("a good scene").pairs().len();
    assert_eq!(pairs as u64, finder.on(Threads::Serial).count(within.view()).expect("a good scene"));
}

/// Wherever a function of the caller's runs, it may call rayon, even for work that needs every thread of the pool.
#[test]
fn whoever_is_called_may_call_rayon() {
    let (scene, mut finder) = (crowd(), PairFinder::new());
    let within = scene::scene(Kind::Uniform, 9_000, 6);
    let expected = finder.count(scene.view()).expect("a good scene");
    for threads in [2, 3, 8] {
        let pool = pool(threads);
        let mut search = |threads: Threads<'_>| {
            let calls = AtomicUsize::new(0);
            let call = || {
                if calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(10_000) {
                    call_rayon(&within);
                }
            };
            let seen = AtomicU64::new(0);
            let visit = |_, _| {
                call();
                seen.fetch_add(1, Ordering::Relaxed);
            };
            finder.on(threads).for_each_pair(scene.view(), visit).expect("a good scene");
            assert_eq!(seen.into_inner(), expected);
            let only = |_, _| {
                call();
                true
            };
            let found = finder.on(threads).only(&only).find(scene.view()).expect("a good scene");
            assert_eq!(found.pairs().len() as u64, expected);
            let fold = |sum: &mut u64, _, _| {
                call();
                *sum += 1;
            };
            let merge = |a, b| {
                call();
                a + b
            };
            let folded = finder.on(threads).fold(scene.view(), || 0, fold, merge).expect("a good scene");
            assert_eq!(folded, expected);
        };
        pool.install(|| search(Threads::Current));
        search(Threads::Pool(&pool));
        search(Threads::Current);
    }
}

/// Returns the processor seconds that the threads of a pool have spent, where the system tells.
fn spent(pool: &ThreadPool) -> Option<f64> {
    let nanoseconds = || -> Option<u64> {
        fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().next()?.parse().ok()
    };
    pool.broadcast(|_| nanoseconds()).into_iter().sum::<Option<u64>>().map(|sum| sum as f64 * 1e-9)
}

/// While a function of the caller's takes its time, on whatever thread, the other threads leave the processors alone.
#[test]
fn whoever_waits_for_the_caller_sleeps() {
    let (scene, pool, mut finder) = (crowd(), pool(4), PairFinder::new());
    // Runs every function of the caller's, of which `sleeper` sleeps at its first call.
    let mut search = |sleeper: usize, nap: Duration| {
        let called = [const { AtomicUsize::new(0) }; 3];
        let call = |function: usize| {
            if called[function].fetch_add(1, Ordering::Relaxed) == 0 && function == sleeper {
                sleep(nap);
            }
        };
        let before = spent(&pool)?;
        pool.install(|| {
            finder.for_each_pair(scene.view(), |_, _| call(0)).expect("a good scene");
            let only = |_, _| {
                call(1);
                true
            };
            finder.only(&only).find(scene.view()).expect("a good scene");
            let merge = |a, b| {
                call(2);
                a + b
            };
            finder.fold(scene.view(), || 0, |sum: &mut u64, _, _| *sum += 1, merge).expect("a good scene");
        });
        assert!(called.iter().all(|calls| calls.load(Ordering::Relaxed) > 0));
        Some(spent(&pool)? - before)
    };
    let nobody = 3;
    let Some(usual) = search(nobody, Duration::ZERO) else {
        return println!("the system does not tell what threads spend");
    };
    // The slower the machine, the longer the nap, for what threads spend varies with what they usually spend.
    let nap = Duration::from_secs_f64((4.0 * usual).max(0.2));
    for sleeper in 0..nobody {
        let more = search(sleeper, nap).expect("it has been told before") - usual;
        assert!(more < nap.as_secs_f64() / 4.0, "{more} s more than {usual} while function {sleeper} slept");
    }
}

/// Runs this test once more in a process that may use one core: one thread searches there, whatever the pool.
#[cfg(target_os = "linux")]
#[test]
fn no_more_threads_search_than_the_process_may_use_cores() {
    const WITHIN: &str = "JOSTLE_ON_ONE_CORE";
    if std::env::var_os(WITHIN).is_none() {
        let status = fs::read_to_string("/proc/self/status").expect("what the system tells of the process");
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("cores");
        let core = allowed.trim().split(['-', ',']).next().expect("a core");
        let mut limited = Command::new("taskset");
        limited.args(["-c", core]).arg(std::env::current_exe().expect("the path of this program")).env(WITHIN, "1");
        let name = "guests::no_more_threads_search_than_the_process_may_use_cores";
        match limited.args(["--exact", name]).output() {
            Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
            Err(error) => println!("no taskset: {error}"),
        }
        return;
    }
    let (scene, mut finder) = (crowd(), PairFinder::new());
    let mut threads = |pool: &ThreadPool| {
        let seen = Mutex::new(BTreeSet::new());
        let visit = |_, _| {
            // The first visits are slow, so that other threads come.
            let mut seen = seen.lock().expect("nobody panics");
            if seen.insert(rayon::current_thread_index()) {
                drop(seen);
                sleep(Duration::from_millis(3));
            }
        };
        pool.install(|| finder.for_each_pair(scene.view(), visit)).expect("a good scene");
        seen.into_inner().expect("nobody panics").len()
    };
    let of_four = ThreadPoolBuilder::new().num_threads(4).build().expect("threads");
    assert_eq!(threads(&of_four), 1);
    // Where more cores are assumed, more threads take part, so more would have done so above. A thread may be late, but
    // not a hundred times.
    assert!((0..100).any(|_| threads(&pool(4)) > 1));
}

/// The panic comes out whatever the other threads do, even while they wait for the thread that panics.
#[test]
fn the_callers_own_panic_comes_out_always() {
    let (scene, mut finder) = (crowd(), PairFinder::new());
    let pairs = finder.find(scene.view()).expect("a good scene").pairs().len();
    pool(8).install(|| {
        for run in 0..200 {
            let calls = AtomicUsize::new(0);
            let only = |_, _| {
                if calls.fetch_add(1, Ordering::Relaxed) == run * 97 % pairs {
                    panic_any(run);
                }
                true
            };
            let mut found = || finder.only(&only).find(scene.view()).map(|found| found.pairs().len());
            let search = catch_unwind(AssertUnwindSafe(&mut found));
            assert_eq!(search.expect_err("a panic").downcast_ref(), Some(&run));
            let last = finder.last();
            assert!(last.pairs().is_empty() && last.pairs_between(0, 0).is_empty() && last.stats().pairs == 0);
        }
        assert_eq!(finder.find(scene.view()).expect("a good scene").pairs().len(), pairs);
    });
}

/// A search ignores another panic on its thread.
/// Rows of boxes are made of pairs, which are listed beside the finder's own.
#[test]
fn a_panic_in_a_search_for_rows_leaves_the_pairs() {
    let (lo, hi) = ([0.0, 0.5, 1.0], [2.0, 2.5, 3.0]);
    let boxes = Boxes::new([&lo, &lo], [&hi, &hi]);
    let mut finder = PairFinder::new();
    finder.find(boxes).unwrap();
    let panics = |_: u32, _: u32| -> bool { panic!("on purpose") };
    let mut lists = NeighborLists::new();
    let result =
        catch_unwind(AssertUnwindSafe(|| finder.only(&panics).neighbors(boxes, Rows::Full, &mut lists).map(drop)));
    assert!(result.is_err());
    assert_eq!(finder.last().pairs().len(), 3);
    assert_eq!(finder.last().pairs_between(0, 0).len(), 3);
}

#[test]
fn a_destructor_of_an_unwinding_thread_may_search() {
    struct Searches<'a>(&'a Scene<2>, &'a Cell<usize>);
    impl Drop for Searches<'_> {
        fn drop(&mut self) {
            let mut finder = PairFinder::new();
            self.1.set(finder.find(self.0.view()).expect("a good scene").pairs().len());
        }
    }
    let scene = crowd();
    let expected = PairFinder::new().find(scene.view()).expect("a good scene").pairs().len();
    pool(4).install(|| {
        for _ in 0..20 {
            let found = Cell::new(0);
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                let _searches = Searches(&scene, &found);
                panic_any("on purpose");
            }));
            assert!(unwound.is_err());
            assert_eq!(found.get(), expected);
        }
    });
}

/// A search that waits does not run other tasks of its pool, neither on its caller's stack nor under a lock that the
/// caller holds. Rayon may run one only where the system takes a helper's thread away at the very moment at which it
/// comes.
#[test]
fn searches_that_are_spawned_do_not_nest() {
    const SEARCHES: usize = 2_000;
    thread_local! {
        static DEPTH: Cell<usize> = const { Cell::new(0) };
    }
    let (scene, idle) = (scene::scene::<2>(Kind::Uniform, 10_000, 5), Mutex::new(Vec::<PairFinder<2>>::new()));
    let (deepest, nested) = (AtomicUsize::new(0), AtomicUsize::new(0));
    pool(4).scope(|scope| {
        for _ in 0..SEARCHES {
            scope.spawn(|_| {
                let depth = DEPTH.get() + 1;
                DEPTH.set(depth);
                deepest.fetch_max(depth, Ordering::Relaxed);
                nested.fetch_add(usize::from(depth > 1), Ordering::Relaxed);
                let mut finder = idle.lock().expect("nobody panics").pop().unwrap_or_default();
                assert!(finder.find(scene.view()).is_ok());
                idle.lock().expect("nobody panics").push(finder);
                DEPTH.set(depth - 1);
            });
        }
    });
    println!("deepest {deepest:?}, nested {nested:?} of {SEARCHES}");
    assert!(deepest.into_inner() <= 2 && nested.into_inner() <= SEARCHES / 10);
}

/// Many worlds are searched side by side, each with as many threads as are to spare.
#[test]
fn searches_within_tasks_of_the_pool_find_the_same() {
    let scene = crowd();
    let expected = PairFinder::new().find(scene.view()).expect("a good scene").pairs().to_vec();
    let search = |finder: &mut PairFinder<2>, _| finder.find(scene.view()).expect("a good scene").pairs() == expected;
    assert!(pool(4).install(|| (0..60).into_par_iter().map_init(PairFinder::new, search).all(|same| same)));
}

/// With so many bodies, a finder tries whether one thread is faster.
#[test]
fn searches_find_the_same_whichever_threads_are_tried() {
    for n in [9_000, 15_000] {
        let scene = scene::scene::<2>(Kind::Clustered, n, 7);
        let mut alone = PairFinder::new();
        let expected =
            alone.on(Threads::Serial).find(scene.view()).expect("a scene within the contract").pairs().to_vec();
        let mut rows = NeighborLists::new();
        alone.on(Threads::Serial).neighbors(scene.view(), Rows::Full, &mut rows).expect("a scene within the contract");
        pool(3).install(|| {
            let (mut finder, mut found) = (PairFinder::new(), NeighborLists::new());
            for search in 0..20 {
                assert_eq!(finder.find(scene.view()).expect("a scene").pairs(), expected, "search {search} of {n}");
                finder.neighbors(scene.view(), Rows::Full, &mut found).expect("a scene");
                let same = found.offsets() == rows.offsets() && found.neighbors() == rows.neighbors();
                assert!(same, "rows {search} of {n}");
                assert_eq!(
                    finder.count(scene.view()).expect("a scene"),
                    expected.len() as u64,
                    "count {search} of {n}"
                );
            }
        });
    }
}

/// Small searches of a thread share scratch. Each finder keeps what it has found even if another finder has searched
/// since, if searches run within a search, or if one of them panics.
#[test]
fn finders_of_small_worlds_keep_what_is_theirs() {
    let worlds: Vec<Scene<2>> = (0..9).map(|seed| scene::scene(Kind::Dense, 60 + 90 * seed, seed as u64)).collect();
    let expected: Vec<_> = worlds.iter().map(|world| oracle::pairs(world.view())).collect();
    let mut finders: Vec<_> = worlds.iter().map(|_| PairFinder::new()).collect();
    for _ in 0..2 {
        for (world, finder) in worlds.iter().zip(&mut finders).rev() {
            finder.find(world.view()).expect("a good scene");
        }
    }
    let outer = Mutex::new(PairFinder::new());
    let search = |to: usize| {
        let mut outer = outer.lock().unwrap_or_else(PoisonError::into_inner);
        let visit = |a, _| {
            let mut inner = PairFinder::new();
            let found = inner.find(worlds[1].view()).expect("a good scene").pairs().len();
            assert!(found == expected[1].len() && a < to as u32, "{found} pairs in a search within one of body {a}");
        };
        outer.for_each_pair(worlds[0].view(), visit).expect("a good scene").pairs
    };
    assert_eq!(search(60), expected[0].len() as u64);
    catch_unwind(AssertUnwindSafe(|| search(20))).expect_err("a panic in the midst");
    assert_eq!(search(60), expected[0].len() as u64);
    for ((world, finder), expected) in worlds.iter().zip(&finders).zip(&expected) {
        let found = finder.last();
        let mut pairs = found.pairs().to_vec();
        pairs.sort_unstable();
        assert_eq!(pairs, *expected);
        assert_eq!((found.stats().pairs, found.stats().bytes), (pairs.len() as u64, finder.bytes()));
        validate(found.tree()).expect("a good tree");
        let mut tree = LinearTree::new();
        tree.build(world.view(), Threads::Serial).expect("a good scene");
        assert!(found.tree().ids().eq(tree.ids()));
        assert_eq!(found.tree().leaf_starts(), tree.leaf_starts());
    }
}

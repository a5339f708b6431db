//! In a pool that is shared with others: what a visitor may do, whose panic comes out, and what runs on whose stack.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use jostle::PairFinder;
use jostle_testkit::{Kind, Scene, pool, scene};
use rayon::prelude::*;

fn crowd() -> Scene<2> {
    scene::scene(Kind::Dense, 12_000, 5)
}

/// Wherever a function of the caller's runs, it may call what needs every thread of the pool.
#[test]
fn whoever_is_called_may_broadcast() {
    let (scene, mut finder) = (crowd(), PairFinder::new());
    let expected = finder.count(scene.view()).expect("a good scene");
    for threads in [2, 3, 8] {
        pool(threads).install(|| {
            let calls = AtomicUsize::new(0);
            let broadcast = || {
                if calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(10_000) {
                    assert_eq!(rayon::broadcast(|_| ()).len(), threads);
                }
            };
            let seen = AtomicU64::new(0);
            let visit = |_, _| {
                broadcast();
                seen.fetch_add(1, Ordering::Relaxed);
            };
            finder.for_each_pair(scene.view(), visit).expect("a good scene");
            assert_eq!(seen.into_inner(), expected);
            let only = |_, _| {
                broadcast();
                true
            };
            let found = finder.only(&only).find(scene.view()).expect("a good scene");
            assert_eq!(found.pairs().len() as u64, expected);
            let fold = |sum: &mut u64, _, _| {
                broadcast();
                *sum += 1;
            };
            let folded = finder.fold(scene.view(), || 0, fold, |a, b| a + b).expect("a good scene");
            assert_eq!(folded, expected);
        });
    }
}

/// Whatever the other threads are at, waiting for the one that panics included.
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
        }
        assert_eq!(finder.find(scene.view()).expect("a good scene").pairs().len(), pairs);
    });
}

/// Another's panic, on the same thread, is none of the search's.
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

/// A search does not run other tasks of its pool while it waits: not on the stack of its caller, nor under a lock that the
/// caller holds. Only where the system takes a helper's thread away at the very moment at which it comes, rayon may.
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
    assert!(deepest.into_inner() <= 2 && nested.into_inner() <= SEARCHES / 50);
}

/// Many worlds side by side, each search with as many threads as are to spare.
#[test]
fn searches_within_tasks_of_the_pool_find_the_same() {
    let scene = crowd();
    let expected = PairFinder::new().find(scene.view()).expect("a good scene").pairs().to_vec();
    let search = |finder: &mut PairFinder<2>, _| finder.find(scene.view()).expect("a good scene").pairs() == expected;
    assert!(pool(4).install(|| (0..60).into_par_iter().map_init(PairFinder::new, search).all(|same| same)));
}

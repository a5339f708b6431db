//! In a pool that is shared with others: what a visitor may do, whose panic comes out, and what runs on whose stack.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use jostle::{LinearTree, PairFinder, Threads};
use jostle_testkit::{Kind, Scene, oracle, pool, scene};
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

/// Small searches of a thread share scratch: each finder keeps what it has found all the same, also when another one has searched
/// since, when searches are made within a search, and when one of them panics.
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
        found.tree().validate().expect("a good tree");
        let mut tree = LinearTree::new();
        tree.build(world.view(), Threads::Serial).expect("a good scene");
        assert!(found.tree().ids().eq(tree.ids()));
        assert_eq!(found.tree().leaf_starts(), tree.leaf_starts());
    }
}

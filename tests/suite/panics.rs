//! Panics within a call, of a host or of the caller's test: what stands afterwards is whole.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use jostle::{
    Circles, ContactTracker, LinearTree, NeighborLists, PairFinder, PreparedBatch, PreparedSet, Queries, QueryBatch,
    Rows, Space, Spawner, Threads,
};
use jostle_testkit::keyed::{Oracle, update};
use jostle_testkit::{Kind, pool, scene};

/// A host that panics at one call, before its tasks or after them.
pub(super) struct Host {
    calls: AtomicUsize,
    panics_at: usize,
    late: bool,
}

impl Host {
    /// Calls count from 0.
    pub(super) fn at(panics_at: usize, late: bool) -> Self {
        Self { calls: AtomicUsize::new(0), panics_at, late }
    }

    /// A host for each call and time, without end: the calls of a search end.
    fn all() -> impl Iterator<Item = Self> {
        (0..).flat_map(|call| [false, true].map(|late| Self::at(call, late)))
    }

    /// Returns whether this host panicked in a call.
    fn panics(&self, call: impl FnOnce(Threads<'_>)) -> bool {
        let unwound = catch_unwind(AssertUnwindSafe(|| call(Threads::Host(self))));
        unwound.map_err(|payload| assert_eq!(payload.downcast_ref(), Some(&"of the host"))).is_err()
    }

    fn name(&self) -> String {
        format!("call {}, late: {}", self.panics_at, self.late)
    }
}

impl Spawner for Host {
    fn workers(&self) -> usize {
        3
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        let panics = self.calls.fetch_add(1, Ordering::Relaxed) == self.panics_at;
        if !panics || self.late {
            (0..tasks).for_each(task);
        }
        if panics {
            resume_unwind(Box::new("of the host"));
        }
    }
}

#[test]
fn a_tracker_is_as_new() {
    let keys: Vec<u64> = (0..60_000).collect();
    // The ids have other keys, so that a tracker that mixes frames is found out.
    let others: Vec<u64> = keys.iter().map(|key| (key + 7) % 60_000).collect();
    let few: Vec<[u32; 2]> = (0..20_000).map(|a| [a, a + 30_000]).collect();
    let many: Vec<[u32; 2]> = (0..30_000).map(|a| [a, a + 30_000]).collect();
    for host in Host::all() {
        let (mut tracker, mut oracle) = (ContactTracker::new(), Oracle::default());
        tracker.update(&few, &keys).expect("a frame");
        if !host.panics(|threads| tracker.on(threads).update(&many, &others).map(drop).expect("a frame")) {
            assert!(host.panics_at > 8, "{} calls", host.panics_at);
            break;
        }
        let last = tracker.last();
        assert_eq!((last.slots(), last.pair_slots().len(), last.begin().len(), last.end().len()), (0, 0, 0, 0));
        for (pairs, keys) in [(&few, &keys), (&many, &others), (&few, &others)] {
            let three = update(&mut tracker, Threads::Serial, pairs, keys.into()).expect("a frame");
            assert!(three == oracle.update(pairs, keys.into()), "{}", host.name());
        }
    }
}

/// The test of the queries panics, on one thread or on several. The batch then has no answers.
#[test]
fn a_batch_has_no_answers_after_its_test() {
    let mut tree = LinearTree::new();
    tree.build(Circles::new(&[0.0, 1.0], &[0.0; 2], 0.4), Threads::Serial).expect("two circles");
    let (mut batch, pool) = (QueryBatch::new(), pool(2));
    let points: Vec<[f32; 2]> = (0..3_000).map(|at| [at as f32 / 2_000.0, 0.0]).collect();
    for threads in [Threads::Serial, Threads::Pool(&pool)] {
        assert_eq!(batch.points(Queries::new(&tree), &points[..1], threads).expect("a point").ids(), [0]);
        let test = |id: u32| if id == 1 { resume_unwind(Box::new("of the test")) } else { true };
        let asked = AssertUnwindSafe(|| batch.points(Queries::new(&tree).only(&test), &points, threads).map(drop));
        assert_eq!(catch_unwind(asked).expect_err("a panic").downcast_ref(), Some(&"of the test"));
        assert!(batch.last().is_empty() && batch.last().offsets() == [0] && batch.last().ids().is_empty());
        assert_eq!(batch.points(Queries::new(&tree), &points[..1], threads).expect("a point").of(0), [0]);
    }
}

#[test]
fn batches_have_no_answers_after_a_host() {
    let scene = scene::scene::<2>(Kind::Dense, 3_000, 5);
    let (mut tree, mut set) = (LinearTree::new(), PreparedSet::new());
    tree.build(scene.view(), Threads::Serial).expect("a sound scene");
    set.build(scene.view(), Space::open(), Threads::Serial).expect("a sound scene");
    let points: Vec<[f32; 2]> = (0..3_000).map(|id| [0, 1].map(|axis: usize| scene.centers[axis][id])).collect();
    let asked = points[..].iter().map(|point| point.map(f64::from)).collect::<Vec<_>>();
    let (first, set) = (&points[..1], set.queries());
    for host in Host::all() {
        let mut batch = QueryBatch::new();
        batch.nearest(Queries::new(&tree), first, 3, 9.0, Threads::Serial).expect("a point");
        if !host.panics(|on| batch.nearest(Queries::new(&tree), &points, 3, 9.0, on).map(drop).expect("points")) {
            break;
        }
        let last = batch.last();
        assert!(last.is_empty() && last.ids().is_empty() && last.distances().is_empty(), "{}", host.name());
    }
    for host in Host::all() {
        let mut batch = PreparedBatch::new();
        batch.nearest(set, &asked[..1], 3, 9.0, Threads::Serial).expect("a point");
        if !host.panics(|on| batch.nearest(set, &asked, 3, 9.0, on).map(drop).expect("points")) {
            assert!(host.panics_at > 1, "{} calls", host.panics_at);
            break;
        }
        let (last, kept) = (batch.last(), batch.last().len());
        assert!(kept < 2 && last.offsets() == &[0, 3][..=kept], "{}", host.name());
        assert!(last.found().len() == 3 * kept && last.distances().len() == 3 * kept, "{}", host.name());
    }
}

/// Returns whether all rows, and the columns beside them, are within the lists.
pub(super) fn are_whole(lists: &NeighborLists) -> bool {
    let (offsets, count) = (lists.offsets(), lists.neighbors().len());
    let columns = [lists.distances2().len(), lists.vectors::<2>().len()];
    let are_rows = offsets[0] == 0 && offsets.is_sorted() && offsets[offsets.len() - 1] == count;
    are_rows && columns.iter().all(|&len| len == 0 || len == count)
}

fn same(a: &NeighborLists, b: &NeighborLists) -> bool {
    let ids = a.offsets() == b.offsets() && a.neighbors() == b.neighbors();
    ids && a.distances2() == b.distances2() && a.vectors::<2>() == b.vectors()
}

/// Rows made of pairs, and rows of a join, by a host that panics: the lists are as they were, empty, or filled.
#[test]
fn neighbor_lists_are_whole() {
    let makers: [fn() -> NeighborLists; 3] =
        [NeighborLists::new, NeighborLists::with_distances, || NeighborLists::with_distances().and_vectors()];
    for (kind, new) in [Kind::Uniform, Kind::Dense].into_iter().flat_map(|kind| makers.map(|new| (kind, new))) {
        let [before, now] = [3, 4].map(|seed| scene::scene::<2>(kind, 31_000, seed));
        let (mut old, mut expected) = (new(), new());
        PairFinder::new().neighbors(before.view(), Rows::Full, &mut old).expect("a sound scene");
        PairFinder::new().neighbors(now.view(), Rows::Full, &mut expected).expect("a sound scene");
        let mut were = [0; 3];
        for host in Host::all() {
            let (mut finder, mut lists) = (PairFinder::new(), old.clone());
            let search = |on: Threads<'_>| {
                finder.on(on).neighbors(now.view(), Rows::Full, &mut lists).expect("a sound scene");
            };
            if !host.panics(search) {
                break;
            }
            assert!(are_whole(&lists), "{kind}, {}", host.name());
            let is = [same(&lists, &old), lists.is_empty() && lists.neighbors().is_empty(), same(&lists, &expected)];
            let is = is.iter().position(|&is| is).unwrap_or_else(|| panic!("{kind}, {}", host.name()));
            were[is] += 1;
            finder.on(Threads::Serial).neighbors(now.view(), Rows::Full, &mut lists).expect("a sound scene");
            assert!(same(&lists, &expected), "{kind}, {}", host.name());
        }
        assert!(were[0] > 4 && were[1] > 0, "{kind}: {were:?}");
    }
}

/// Lists that a search has begun to write over hold nothing any more, and are not said to hold.
#[test]
fn lists_that_were_not_finished_are_not_valid() {
    let scene = scene::scene::<2>(Kind::Clustered, 40_000, 8);
    let (view, grown) = (scene.view(), scene.view().with_margin(0.01));
    let mut wiped = 0;
    for host in Host::all() {
        let (mut finder, mut lists) = (PairFinder::new(), NeighborLists::new());
        finder.neighbors(grown, Rows::Full, &mut lists).expect("a good scene");
        assert!(finder.still_valid(view));
        if !host.panics(|threads| drop(finder.on(threads).neighbors(grown, Rows::Full, &mut lists))) {
            break;
        }
        assert!(!lists.neighbors().is_empty() || !finder.still_valid(view), "{}", host.name());
        wiped += usize::from(lists.neighbors().is_empty());
        finder.neighbors(grown, Rows::Full, &mut lists).expect("a good scene");
        assert!(finder.still_valid(view), "{}", host.name());
    }
    assert!(wiped > 0, "no list was begun");
    let mut finder = PairFinder::new();
    finder.find(grown).expect("a good scene");
    finder.set_max_pairs(10);
    assert!(finder.find(view).is_err() && finder.still_valid(view));
    assert!(finder.find(grown).is_err() && !finder.still_valid(view));
    // Searches without a margin change nothing, however they end.
    let mut finder = PairFinder::new();
    for (searched, valid) in [(view, true), (grown, false)] {
        finder.find(grown).expect("a good scene");
        let stopped = catch_unwind(AssertUnwindSafe(|| drop(finder.only(&|_, _| panic!("stopped")).find(searched))));
        assert!(stopped.is_err() && finder.still_valid(view) == valid, "{valid}");
    }
}

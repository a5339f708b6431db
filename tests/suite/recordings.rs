//! Searches recorded task by task.

use std::time::Instant;

use jostle::{
    Capsules, Circles64, CoherentFinder, ContactTracker, NeighborLists, PairFinder, Rows, Set, Threads, between,
};
use jostle_testkit::shapes::{BoxKind, boxes};
use jostle_testkit::{Kind, scene};

/// A recorded search finds the same as an unrecorded one.
#[test]
fn recorded_rows_and_contacts_are_the_same() {
    let scene = scene::scene::<2>(Kind::Dense, 30_000, 4);
    let (mut finder, mut lists, mut again) = (PairFinder::new(), NeighborLists::new(), NeighborLists::new());
    let stats = finder.neighbors(scene.view(), Rows::Full, &mut lists).unwrap();
    let (recorded, recording) =
        finder.on(Threads::Current).neighbors_recorded(scene.view(), Rows::Full, &mut again).unwrap();
    assert_eq!((lists.offsets(), lists.neighbors()), (again.offsets(), again.neighbors()));
    assert_eq!((stats.pairs, stats.circle_tests), (recorded.pairs, recorded.circle_tests));
    assert!(recording.regions.iter().any(|region| region.name == "put rows" && region.tasks.len() > 1));

    let pairs = finder.find(scene.view()).unwrap().pairs();
    let keys: Vec<u64> = (0..30_000).collect();
    let (mut tracker, mut recorded) = (ContactTracker::new(), ContactTracker::new());
    for pairs in [&pairs[..pairs.len() / 2], pairs, &pairs[pairs.len() / 3..]] {
        let changes = tracker.update(pairs, &keys).unwrap();
        let (same, recording) = recorded.on(Threads::Serial).update_recorded(pairs, &keys).unwrap();
        for (one, other) in
            [(changes.begin(), same.begin()), (changes.persist(), same.persist()), (changes.end(), same.end())]
        {
            assert_eq!(one.keys(), other.keys());
        }
        assert!(!recording.regions.is_empty());
    }
    assert!(recorded.on(Threads::Serial).update_recorded(pairs, &keys[1..]).is_err());
}

/// Rows of boxes and capsules are made of pairs. All work that grows with their number is in regions of many tasks.
#[test]
fn recorded_rows_of_shapes_are_the_same() {
    let scene = boxes::<2>(BoxKind::Uniform, 30_000);
    let radii = vec![0.1; scene.len()];
    let capsules = Capsules::new(scene.lo.each_ref(), scene.hi.each_ref(), &radii);
    let (mut finder, mut lists, mut again) = (PairFinder::new(), NeighborLists::new(), NeighborLists::new());
    let inputs = [jostle::Input::from(scene.view()), Set::from(capsules).into(), between(scene.view(), capsules)];
    for (input, kind) in inputs.iter().flat_map(|input| [Rows::Half, Rows::Full].map(|kind| (*input, kind))) {
        finder.on(Threads::Serial).neighbors(input, kind, &mut lists).unwrap();
        let (_, recording) = finder.on(Threads::Serial).neighbors_recorded(input, kind, &mut again).unwrap();
        assert_eq!((lists.offsets(), lists.neighbors()), (again.offsets(), again.neighbors()));
        for name in ["join", "count pairs", "deal pairs", "put rows"] {
            let tasks = recording.regions.iter().filter(|region| region.name == name).map(|region| region.tasks.len());
            assert!(tasks.sum::<usize>() > 1, "{name}");
        }
    }
}

/// Tests coherent frames, rebuilt and kept, in each of which a body jumps.
#[test]
fn recorded_coherent_frames_are_the_same() {
    let mut scene = scene::scene::<2>(Kind::Dense, 10_000, 4);
    let (mut finders, mut of_rows) = ([(); 2].map(|()| CoherentFinder::new()), [(); 2].map(|()| CoherentFinder::new()));
    let (mut lists, mut again) = (NeighborLists::new(), NeighborLists::new());
    for frame in 0..12 {
        scene.centers[0].iter_mut().for_each(|x| *x += 0.01);
        scene.centers[1][7 * frame] += 9.0;
        let pairs = finders[0].on(Threads::Serial).find(scene.view()).unwrap().pairs().to_vec();
        let (found, recording) = finders[1].on(Threads::Current).find_recorded(scene.view()).unwrap();
        assert_eq!((found.pairs(), recording.regions.is_empty()), (&*pairs, false), "frame {frame}");
        of_rows[0].on(Threads::Serial).neighbors(scene.view(), Rows::Full, &mut lists).unwrap();
        let (_, recording) =
            of_rows[1].on(Threads::Current).neighbors_recorded(scene.view(), Rows::Full, &mut again).unwrap();
        assert_eq!((lists.offsets(), lists.neighbors()), (again.offsets(), again.neighbors()), "frame {frame}");
        assert!(!recording.regions.is_empty());
    }
    let rebuilds = finders.iter().chain(&of_rows).map(CoherentFinder::rebuilds);
    assert!(rebuilds.clone().all(|rebuilds| rebuilds < 6), "{:?}", rebuilds.collect::<Vec<_>>());
    let nowhere = jostle::Circles::new(&[f32::NAN], &[0.0], 1.0);
    assert!(finders[1].on(Threads::Serial).find_recorded(nowhere).is_err());
}

/// Of bodies in `f64`, a sixth of a search or more is checks and proxies.
#[test]
fn the_stages_of_a_search_come_to_most_of_its_time() {
    let x: Vec<f64> = (0..20_000).map(|id| f64::from(id * 7919 % 20_000)).collect();
    let mut finder = PairFinder::new();
    let most = (0..20).any(|_| {
        let started = Instant::now();
        let stages = finder.on(Threads::Serial).find(Circles64::new(&x, &x, 0.3)).expect("a line").stats().time.total();
        let took = started.elapsed();
        assert!(stages <= took);
        16 * stages > 15 * took
    });
    assert!(most);
}

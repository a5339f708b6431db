//! How many pairs a search may list.

use jostle::{
    ActivationTable, Bodies, CoherentFinder, Input, InputError, NeighborLists, PairFinder, Rows, Set, Threads, between,
};
use jostle_testkit::pairs::{ascending, assert_same};
use jostle_testkit::{Kind, Scene, pool, scene};

/// Checks that `search`, which wants to list `pairs` pairs, is refused by each smaller limit and by no other.
fn is_limited(case: &str, pairs: u64, mut search: impl FnMut(usize) -> Result<(), InputError>) {
    let exact = pairs as usize;
    for max in [0, exact / 2, exact.saturating_sub(1), exact] {
        let expected =
            if max < exact { Err(InputError::TooManyPairs { pairs, max: Some(max as u64) }) } else { Ok(()) };
        assert_eq!(search(max), expected, "{case}, a limit of {max}, {pairs} pairs");
    }
}

/// Checks lists of pairs and rows of an input, each limit with a finder that has found nothing and with one that has.
fn are_limited<const D: usize>(case: &str, input: Input<'_, D>, threads: Threads<'_>) {
    let mut used = PairFinder::new();
    let expected = used.on(threads).find(input).expect("sound bodies").pairs().to_vec();
    let check = |max: usize, finder: &mut PairFinder<D>| {
        finder.set_max_pairs(max);
        let found = finder.on(threads).find(input).map(|_| ());
        let listed = finder.last().pairs();
        assert_eq!(listed, if found.is_ok() { &expected[..] } else { &[] }, "{case}, {max}");
        assert_eq!(finder.on(threads).count(input), Ok(expected.len() as u64), "{case}, {max}");
        found
    };
    is_limited(case, expected.len() as u64, |max| {
        let anew = check(max, &mut PairFinder::new());
        assert_eq!(check(max, &mut used), anew, "{case}, {max}");
        anew
    });
    if matches!(used.neighbors(input, Rows::Full, &mut NeighborLists::new()), Err(InputError::Combination { .. })) {
        return;
    }
    for kind in [Rows::Half, Rows::Full] {
        let mut lists = NeighborLists::new();
        used.set_max_pairs(usize::MAX);
        used.on(threads).neighbors(input, kind, &mut lists).expect("sound bodies");
        let (neighbors, offsets) = (lists.neighbors().to_vec(), lists.offsets().to_vec());
        is_limited(&format!("{case}, {kind:?} rows"), neighbors.len() as u64, |max| {
            let mut anew = NeighborLists::new();
            let mut finder = PairFinder::new();
            for (finder, lists) in [(&mut finder, &mut anew), (&mut used, &mut lists)] {
                finder.set_max_pairs(max);
                let before = lists.neighbors().to_vec();
                let listed = finder.on(threads).neighbors(input, kind, lists).map(|_| ());
                let expected = if listed.is_ok() { &neighbors } else { &before };
                assert_eq!(lists.neighbors(), expected, "{case}, {kind:?}, {max}");
                listed?;
                assert_eq!(lists.offsets(), offsets, "{case}, {kind:?}, {max}");
            }
            Ok(())
        });
    }
}

#[test]
fn a_search_lists_as_many_pairs_as_it_may_and_counts_the_rest() {
    let three = pool(3);
    for threads in [Threads::Serial, Threads::Pool(&three)] {
        for (kind, n) in [(Kind::Uniform, 300), (Kind::Dense, 3_000), (Kind::Clustered, 9_000)] {
            let scene: Scene<2> = scene::scene(kind, n, 5);
            let case = format!("{kind}, {n}, {threads:?}");
            are_limited(&case, scene.view().into(), threads);
            let high = scene.centers.each_ref().map(|column| column.iter().map(|x| x + 1.0).collect::<Vec<_>>());
            let boxes = jostle::Boxes::new(scene.centers.each_ref(), high.each_ref());
            are_limited(&format!("{case}, boxes"), boxes.into(), threads);
            let periodic = Input::within(scene.view()).periodic([Some([0.0, 40.0]), None]);
            are_limited(&format!("{case}, periodic"), periodic, threads);
            are_limited(&format!("{case}, circles and boxes"), between(scene.view(), boxes), threads);
            let sets = [Set::from(scene.view()), boxes.into(), scene.view().into()];
            let table = ActivationTable::none(3).with(0, 1).with(1, 2).with(2, 2);
            are_limited(&format!("{case}, many sets"), Input::among(&sets, &table), threads);
        }
        let point = Bodies::<3>::from_slices([&[0.0; 700]; 3], 0.5);
        are_limited("one point", point.into(), threads);
    }
}

/// Circles on a grid of 1 that nearly touch, some of which do, and each of which moves a little. If `few` touch, that
/// is one in eighty, and its four neighbours.
fn grid(frame: usize, few: bool) -> Scene<2> {
    let at = |id: usize, axis: usize| (if axis == 0 { id % 40 } else { id / 40 }) as f32;
    let way = |id: usize, axis: usize| (id as f32 * 2.4 + axis as f32 * 1.570_796_4).cos() * 0.002 * frame as f32;
    let column = |axis| (0..1_600).map(|id| at(id, axis) + way(id, axis)).collect();
    let radius = |id: usize| if !few { 0.499 } else { 0.48 + if id.is_multiple_of(80) { 0.05 } else { 0.0 } };
    Scene { centers: [column(0), column(1)], radii: (0..1_600).map(radius).collect() }
}

#[test]
fn coherent_frames_keep_no_more_candidates_than_the_limit_allows_and_lose_no_pair() {
    let three = pool(3);
    for threads in [Threads::Serial, Threads::Pool(&three)] {
        for spare in [0, 10, 100_000] {
            let (mut coherent, mut rows, mut finder) =
                (CoherentFinder::new(), CoherentFinder::new(), PairFinder::new());
            let (mut lists, mut expected_lists) = (NeighborLists::new(), NeighborLists::new());
            for frame in 0..9 {
                let (scene, case) = (grid(frame, true), format!("{spare} to spare, frame {frame}, {threads:?}"));
                let expected = ascending(finder.find(scene.view()).expect("sound bodies").pairs());
                coherent.set_max_pairs(expected.len() + spare);
                let found = ascending(coherent.on(threads).find(scene.view()).expect("few pairs").pairs());
                assert_same(&case, &found, &expected);
                rows.set_max_pairs(2 * expected.len() + spare);
                rows.on(threads).neighbors(scene.view(), Rows::Full, &mut lists).expect("few pairs");
                finder.neighbors(scene.view(), Rows::Full, &mut expected_lists).expect("sound bodies");
                assert_eq!(lists.neighbors(), expected_lists.neighbors(), "{case}");
            }
            // A list would have some 3,000 candidates.
            assert_eq!(coherent.margin() > 0.0, spare > 10, "{spare} to spare");
            assert_eq!(rows.margin() > 0.0, spare > 10, "{spare} to spare");
        }
    }
}

#[test]
fn a_kept_frame_that_has_too_many_pairs_is_refused() {
    let mut finder = PairFinder::new();
    for rows in [false, true] {
        let (mut coherent, mut lists, mut refused) = (CoherentFinder::new(), NeighborLists::new(), 0);
        for frame in 0..40 {
            let scene = grid(frame, false);
            let pairs = finder.count(scene.view()).expect("sound bodies") << u32::from(rows);
            let max = if frame % 5 == 4 { pairs as usize - 1 } else { 10_000 };
            coherent.set_max_pairs(max);
            let before = coherent.rebuilds();
            let found = if rows {
                coherent.neighbors(scene.view(), Rows::Full, &mut lists).map(|_| lists.neighbors().len())
            } else {
                coherent.find(scene.view()).map(|found| found.pairs().len())
            };
            refused += usize::from(found.is_err() && coherent.rebuilds() == before);
            let expected = InputError::TooManyPairs { pairs, max: Some(max as u64) };
            assert_eq!(found, if max < 10_000 { Err(expected) } else { Ok(pairs as usize) }, "frame {frame}, {rows}");
            if max < 10_000 {
                assert!(coherent.last().pairs().is_empty(), "frame {frame}");
            }
        }
        assert!(refused > 3, "{refused} kept frames were refused");
    }
}

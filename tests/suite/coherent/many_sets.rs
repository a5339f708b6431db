//! Sets that meet, in any space and precision. The lists of each two last and make room for each other, and a few
//! bodies of each set may stray.

use jostle::{ActivationTable, Circles, CoherentFinder, Input, Layers, LinearTree, Rows, Set, Threads};
use jostle_testkit::random::Random;
use jostle_testkit::{Kind, scene};

use super::beside::{Beside, Only};
use super::drift::{Drift, HOSTS, spaces};

/// The lists of each two of many sets last, whatever kinds of sets there are.
#[test]
fn lists_last_of_many_sets() {
    let mut walls = LinearTree::new();
    let still = scene::scene::<2>(Kind::Uniform, 500, 2);
    walls.build(still.view(), Threads::Serial).expect("sound bodies");
    let table = ActivationTable::none(3).with(0, 0).with(0, 1).with(1, 1).with(1, 2);
    for case in 0_usize..10 {
        let bodies = if case < 4 { 700 } else { 260 };
        let mut halves = [Kind::Dense, Kind::Uniform].map(|kind| Drift::<2>::new(kind, bodies, 0.04));
        let space = spaces(halves[0].box_)[case.saturating_sub(2) / 2];
        let mut beside = Beside::new();
        let test = |a: u32, b: u32| !(a + b).is_multiple_of(3);
        for frame in 0..40 {
            halves.iter_mut().for_each(|half| half.step(&space, HOSTS[case % 3], frame));
            let [one, other] = [halves[0].set(case % 4 == 1), halves[1].set(case % 4 == 2)];
            let sets = [one, other, if case % 4 == 3 { still.view().into() } else { (&walls).into() }];
            let only: Option<Only<'_>> = (frame % 7 == 5).then_some(&test);
            beside.pairs(Input::among(&sets, &table).space(space), only, &[[0, 0], [0, 1], [1, 1], [1, 2]]);
        }
        assert!(beside.finders[0].rebuilds() < 12, "{} rebuilds, case {case}", beside.finders[0].rebuilds());
    }
}

/// The pairs of two sets that meet become many, or none, in the midst of a list that lasts.
#[test]
fn parts_of_a_list_make_room() {
    make_room(false);
}

/// Pairs that touch all the time and have made room are found when one of their bodies strays.
#[test]
fn who_has_made_room_may_stray() {
    make_room(true);
}

/// For as long as a list lasts, the same pairs may make room and come back: their number bounds what is held of them.
#[test]
fn what_makes_room_again_and_again_takes_no_more_memory() {
    const PAIRS: usize = 1_000;
    let y: Vec<f32> = (0..2 * PAIRS).map(|id| (id / 2 * 5) as f32).collect();
    let two_by_two = |apart: f32| -> Vec<f32> { (0..2 * PAIRS).map(|id| (id % 2) as f32 * apart).collect() };
    let (rest, table) = (two_by_two(1.0), ActivationTable::none(2).with(0, 0).with(1, 1));
    let (mut finder, mut held) = (CoherentFinder::new(), 0);
    for frame in 0..300 {
        let x = two_by_two(2.0 + [-0.004, -0.002, 0.002, 0.004, 0.002, -0.002][frame % 6]);
        let sets: [Set<'_, 2>; 2] = [&x, &rest].map(|x| Circles::new(x, &y, 1.0).into());
        let found = finder.find(Input::among(&sets, &table)).expect("sound bodies");
        let touching = if matches!(frame % 6, 2..=4) { 0 } else { PAIRS };
        assert_eq!([[0, 0], [1, 1]].map(|[i, j]| found.pairs_between(i, j).len()), [touching, PAIRS], "frame {frame}");
        if frame == 60 {
            held = finder.bytes();
        }
    }
    assert!(finder.rebuilds() < 4, "{} rebuilds", finder.rebuilds());
    assert_eq!(finder.bytes(), held, "bytes held");
}

fn make_room(some_stray: bool) {
    const LINE: usize = 200;
    let y: Vec<f32> = (0..LINE).map(|at| at as f32 * 1.9).collect();
    let table = ActivationTable::all(3);
    let meetings = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];
    let mut beside = Beside::new();
    let mut counts = Vec::new();
    for frame in 0..120 {
        let turned = (frame / 40) % 2 == 1;
        let moved = if turned { 40 - frame % 40 } else { frame % 40 } as f32;
        let x: Vec<f32> = (0..LINE).map(|at| 2.6 - moved * (0.02 + (at % 7) as f32 * 1e-4)).collect();
        let [mut left, mut right] = [0.0, 4.5].map(|at| vec![at; LINE]);
        if some_stray && frame % 20 > 6 {
            // Both bodies return later.
            left[frame / 20 * 11] += 0.4;
            right[frame % 20 * 9] -= 0.7;
        }
        let sets = [&left, &x, &right].map(|x| Circles::new(x, &y, 1.0).into());
        beside.pairs(Input::among(&sets, &table), None, &meetings);
        let found = beside.finders[0].last();
        counts.push([[0, 1], [1, 2]].map(|[i, j]| found.pairs_between(i, j).len()));
    }
    assert!(counts.iter().any(|&[left, right]| left == 0 && right == LINE));
    assert!(counts.iter().any(|&[left, right]| left == LINE && right == 0));
    assert!(beside.finders[0].rebuilds() < 24, "{} rebuilds", beside.finders[0].rebuilds());
}

/// As with one set, so with two and with many: bodies of each set stray, whichever of two trees is the smaller, and
/// images are those of the second set.
#[test]
fn a_few_may_stray_of_many_sets() {
    let (all, some) = (ActivationTable::all(4), ActivationTable::none(4).with(0, 1).with(1, 1).with(1, 2));
    for case in 0_usize..16 {
        let kinds = [[Kind::Dense, Kind::Uniform, Kind::Dense], [Kind::Uniform, Kind::Dense, Kind::Uniform]][case / 8];
        let mut number = 0;
        let mut drifts = kinds.map(|kind| {
            number += 1;
            Drift::<2>::new(kind, 900 >> number, 0.04)
        });
        let (space, mut random) = (spaces(drifts[0].box_)[case / 2 % 4], Random(case as u64));
        let [mut pairs, mut rows] = [(); 2].map(|()| Beside::new());
        let test = |a: u32, b: u32| !(a + b).is_multiple_of(3);
        for frame in 0..40 {
            drifts.iter_mut().for_each(|drift| drift.step(&space, HOSTS[case % 3], frame));
            if frame % 3 == 2 {
                drifts[frame / 3 % 3].stray(&mut random, frame);
            }
            if frame == 22 {
                let comes = &mut drifts[case % 3];
                comes.come();
                comes.step(&space, HOSTS[case % 3], frame);
            }
            let category: Vec<u32> = (0..drifts[1].radii.len()).map(|id| 1 << (id % 3)).collect();
            let [one, other, third] = [0, 1, 2].map(|number| drifts[number].set((case + number) % 2 == 0));
            // One set has no bodies.
            let mut sets = [one, other, third, Circles::new(&[], &[], &[]).into()];
            if case % 5 == 3 {
                sets[1] = sets[1].layers(Layers::new(&category, 5));
            }
            let only: Option<Only<'_>> = (frame % 7 == 5).then_some(&test);
            let (input, meetings) = match case % 4 {
                0 => (Input::between(sets[0], sets[1]), &[[0, 1]][..]),
                1 => (Input::between(sets[1], sets[0]), &[[0, 1]][..]),
                2 => (Input::among(&sets, &some), &[[0, 1], [1, 1], [1, 2]][..]),
                _ => (Input::among(&sets, &all), &[[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2], [3, 3]][..]),
            };
            pairs.pairs(input.space(space), only, meetings);
            if case % 4 < 2 {
                rows.rows(input.space(space), only, Rows::Full);
            }
        }
        let rebuilds = [&pairs, &rows].map(|beside| beside.finders[0].rebuilds());
        assert!(rebuilds.iter().all(|&rebuilds| rebuilds < 14), "{rebuilds:?} rebuilds, case {case}");
    }
}

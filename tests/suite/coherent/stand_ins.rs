//! Bodies that have stand-ins: in `f64`, where space repeats, beside trees; and layers. Their lists last as long as
//! those of bodies in `f32` in open space.

use jostle::{
    ActivationTable, Circles, CoherentFinder, Input, Layers, LinearTree, PairFinder, Rows, Set, Space, Threads,
};
use jostle_testkit::Kind;
use jostle_testkit::lists::neighbors_known;
use jostle_testkit::pairs::ascending;
use jostle_testkit::random::Random;

use super::beside::{Beside, Only, all_columns};
use super::drift::{Drift, HOSTS, Host, spaces};

#[test]
fn lists_last_in_any_space_and_precision() {
    for (case, kind) in [Kind::Dense, Kind::Uniform, Kind::Clustered].into_iter().cycle().take(12).enumerate() {
        let (double, mut drift) = (case % 2 == 0, Drift::<2>::new(kind, 600, 0.04));
        let space = spaces(drift.box_)[case % 4];
        let mut beside = Beside::new();
        for frame in 0..40 {
            drift.step(&space, HOSTS[case % 3], frame);
            beside.pairs(Input::within(drift.set(double)).space(space), None, &[[0, 0]]);
        }
        let rebuilds = beside.finders[0].rebuilds();
        assert!(rebuilds < 12, "{rebuilds} rebuilds, case {case}");
    }
}

#[test]
fn rows_last_with_all_their_columns() {
    for case in 0..8 {
        let (double, mut drift) = (case % 2 == 0, Drift::<2>::new(Kind::Dense, 500, 0.04));
        let space = spaces(drift.box_)[case / 2];
        let mut beside = Beside::new();
        for frame in 0..40 {
            drift.step(&space, HOSTS[case % 3], frame);
            let kind = if case < 4 { Rows::Full } else { Rows::Half };
            beside.rows(Input::within(drift.set(double)).space(space), None, kind);
        }
        let rebuilds = beside.finders[0].rebuilds();
        assert!(rebuilds < 12, "{rebuilds} rebuilds, case {case}");
    }
}

#[test]
fn in_space_too() {
    for case in 0..8 {
        let (double, mut drift) = (case % 2 == 0, Drift::<3>::new(Kind::Dense, 900, 0.04));
        let space = spaces(drift.box_)[case / 2];
        let [mut finder, mut of_rows] = [(); 2].map(|()| CoherentFinder::new());
        let (mut scratch, [mut lists, mut expected]) = (PairFinder::new(), [(); 2].map(|()| all_columns()));
        let mut random = Random(case as u64);
        for frame in 0..30 {
            drift.step(&space, HOSTS[case % 3], frame);
            if frame % 4 == 2 {
                drift.stray(&mut random, frame);
            }
            let input = Input::within(drift.set(double)).space(space);
            let mut known = [finder.find(input), scratch.find(input)].map(|found| {
                let found = found.expect("sound bodies");
                // Where space is open, pairs have no image shifts.
                let shifts = found.image_shifts().chain(core::iter::repeat([0; 3]));
                found.pairs().iter().copied().zip(shifts).collect::<Vec<_>>()
            });
            known.iter_mut().for_each(|known| known.sort_unstable());
            assert!(known[0] == known[1], "case {case}, frame {frame}");
            of_rows.neighbors(input, Rows::Half, &mut lists).expect("sound bodies");
            scratch.neighbors(input, Rows::Half, &mut expected).expect("sound bodies");
            assert!(lists.neighbors() == expected.neighbors() && lists.offsets() == expected.offsets());
            assert!(lists.distances2_f64() == expected.distances2_f64(), "case {case}, frame {frame}");
            assert!(lists.vectors::<3>() == expected.vectors::<3>(), "case {case}, frame {frame}");
        }
        let rebuilds = [&finder, &of_rows].map(CoherentFinder::rebuilds);
        assert!(rebuilds.iter().all(|&rebuilds| rebuilds < 12), "{rebuilds:?} rebuilds, case {case}");
    }
}

/// A few stray bodies, most of them near the borders of the cell, end no list, in any space and precision.
#[test]
fn a_few_may_stray() {
    for case in 0_usize..16 {
        let kind = [Kind::Dense, Kind::Uniform][case / 8];
        let (double, mut drift, mut random) = (case % 2 == 0, Drift::<2>::new(kind, 900, 0.04), Random(case as u64));
        let space = spaces(drift.box_)[case / 2 % 4];
        let [mut pairs, mut rows] = [(); 2].map(|()| Beside::new());
        let test = |a: u32, b: u32| !(a + b).is_multiple_of(3);
        for frame in 0..40 {
            drift.step(&space, HOSTS[case % 3], frame);
            if frame % 3 == 2 {
                drift.stray(&mut random, frame);
            }
            if frame == 22 {
                drift.come();
                drift.step(&space, HOSTS[case % 3], frame);
            }
            let category: Vec<u32> = (0..drift.radii.len()).map(|id| 1 << (id % 3)).collect();
            let set = drift.set(double);
            let set = if case % 5 == 3 { set.layers(Layers::new(&category, 5)) } else { set };
            let only: Option<Only<'_>> = (frame % 7 == 5).then_some(&test);
            pairs.pairs(Input::within(set).space(space), only, &[[0, 0]]);
            rows.rows(Input::within(set).space(space), only, if case < 8 { Rows::Full } else { Rows::Half });
        }
        let rebuilds = [&pairs, &rows].map(|beside| beside.finders[0].rebuilds());
        assert!(rebuilds.iter().all(|&rebuilds| rebuilds < 14), "{rebuilds:?} rebuilds, case {case}");
    }
}

/// Large bodies are seen at images of small ones, whatever a few of them do.
#[test]
fn sizes_may_differ_a_thousandfold() {
    for case in 0_usize..12 {
        let (double, mut drift, mut random) =
            (case % 2 == 0, Drift::<2>::new(Kind::Dense, 900, 0.02), Random(case as u64));
        for (id, (radius, single)) in drift.radii.iter_mut().zip(&mut drift.single_radii).enumerate() {
            *radius *= [0.001, 0.02, 0.3, 1.0, 1.2, 4.0][(id * 7 + case) % if id % 50 == 0 { 6 } else { 5 }];
            *single = *radius as f32;
        }
        let space = spaces(drift.box_)[1 + case % 3];
        let [mut pairs, mut rows] = [(); 2].map(|()| Beside::new());
        for frame in 0..40 {
            drift.step(&space, HOSTS[case % 3], frame);
            match frame % 8 {
                2 | 5 if case > 3 => drift.stray(&mut random, frame),
                6 if case > 7 => drift.come(),
                7 if case > 7 => drift.go(frame * 7),
                _ => {}
            }
            drift.step(&space, HOSTS[case % 3], frame);
            let set = drift.set(double);
            pairs.pairs(Input::within(set).space(space), None, &[[0, 0]]);
            rows.rows(Input::within(set).space(space), None, if case < 6 { Rows::Full } else { Rows::Half });
        }
        let rebuilds = [&pairs, &rows].map(|beside| beside.finders[0].rebuilds());
        assert!(rebuilds.iter().all(|&rebuilds| rebuilds < 20), "{rebuilds:?} rebuilds, case {case}");
    }
}

/// A few bodies that come or go end no list, even though ghost images have the ids after the last body's.
#[test]
fn a_few_may_come_and_go() {
    for case in 0_usize..8 {
        let mut drifts = [Kind::Dense, Kind::Uniform].map(|kind| Drift::<2>::new(kind, 700, 0.04));
        let space = spaces(drifts[0].box_)[1 + case % 3];
        let [mut pairs, mut rows] = [(); 2].map(|()| Beside::new());
        for frame in 0..40 {
            let drift = &mut drifts[frame / 4 % 2];
            match frame % 4 {
                1 => drift.come(),
                3 => drift.go(frame * 7),
                _ => {}
            }
            drifts.iter_mut().for_each(|drift| drift.step(&space, HOSTS[case % 3], frame));
            let sets = [0, 1].map(|number| drifts[number].set((case + number) % 2 == 0));
            let (input, meetings) = match case / 4 {
                0 => (Input::within(sets[0]), [[0, 0]]),
                _ => (Input::between(sets[0], sets[1]), [[0, 1]]),
            };
            pairs.pairs(input.space(space), None, &meetings);
            rows.rows(input.space(space), None, Rows::Full);
        }
        let rebuilds = [&pairs, &rows].map(|beside| beside.finders[0].rebuilds());
        assert!(rebuilds.iter().all(|&rebuilds| rebuilds < 12), "{rebuilds:?} rebuilds, case {case}");
    }
}

/// Tests so many bodies that candidates name them by rank; and two sets.
#[test]
fn of_many_bodies_and_of_two_sets() {
    let mut drift = Drift::<2>::new(Kind::Dense, 66_000, 0.04);
    let space = spaces(drift.box_)[1];
    let mut beside = Beside::new();
    for frame in 0..5 {
        drift.step(&space, Host::PutsBack, frame);
        beside.pairs(Input::within(drift.set(frame > 0)).space(space), None, &[[0, 0]]);
    }
    let mut halves = [Kind::Dense, Kind::Uniform].map(|kind| Drift::<2>::new(kind, 500, 0.04));
    let mut beside = Beside::new();
    for frame in 0..30 {
        halves.iter_mut().for_each(|half| half.step(&space, Host::LetsGo, frame));
        let input = Input::between(halves[0].set(true), halves[1].set(false));
        beside.pairs(input.space(spaces(halves[0].box_)[3]), None, &[[0, 1]]);
    }
    assert!(beside.finders[0].rebuilds() < 12, "{} rebuilds", beside.finders[0].rebuilds());
}

/// Discs of a crystal all touch their neighbours exactly, or nearly so. All these pairs are in doubt, and stay in
/// doubt. Some discs also change places and stray.
#[test]
fn who_touches_exactly_is_decided() {
    let side = 24;
    let spacing = [1.0, 1.0 + f64::EPSILON, 1.0 - f64::EPSILON, 1.0 + 1e-7];
    for (case, spacing) in spacing.into_iter().cycle().take(8).enumerate() {
        let at = |along: usize| (0..side * side).map(move |id| [id % side, id / side][along] as f64 * spacing);
        let mut columns = [at(0).collect::<Vec<_>>(), at(1).collect()];
        let length = side as f64 * spacing;
        let space = [Space::open(), Space::periodic([Some([0.0, length]); 2])][case / 4];
        let mut beside = Beside::new();
        for frame in 0..24 {
            if frame > 12 && frame % 2 == 0 {
                // A disc next to a border changes places with its neighbour in the next cell, or with another disc.
                let [one, other] = [frame * side, (frame - if frame % 4 == 0 { 0 } else { 12 }) * side + side - 1];
                columns.iter_mut().for_each(|column| column.swap(one, other));
            }
            // All discs move alike, so that pairs that touch go on touching.
            let by = [frame as f64 * 0.01, frame as f64 * 0.003];
            let seen = [0, 1].map(|axis| columns[axis].iter().map(|x| x + by[axis]).collect::<Vec<f64>>());
            let single = seen.each_ref().map(|column| column.iter().map(|&x| x as f32).collect::<Vec<_>>());
            let double = jostle::Circles64::new(&seen[0], &seen[1], 0.5);
            beside.pairs(Input::within(double).space(space), None, &[[0, 0]]);
            let mut of_single = CoherentFinder::new();
            let found = of_single.find(Input::within(Circles::new(&single[0], &single[1], 0.5)).space(space));
            assert!(found.is_ok());
        }
        assert!(beside.finders[0].rebuilds() < 12, "case {case}");
    }
}

/// Layers that stay the same are read when lists are made. Where layers change, lists end. Layers that are there in
/// some frames alone drop some pairs.
#[test]
fn lists_last_while_layers_do() {
    for (case, of) in [Kind::Dense, Kind::Uniform].into_iter().cycle().take(8).enumerate() {
        let mut drift = Drift::<2>::new(of, 500, 0.04);
        let [mut pairs, mut rows] = [(); 2].map(|()| Beside::new());
        let space = spaces(drift.box_)[case / 4];
        for frame in 0..40 {
            drift.step(&space, Host::LetsGo, frame);
            let turned = if case % 4 == 2 { frame / 27 } else { 0 };
            let category: Vec<u32> = (0..500).map(|id| 1 << ((id + turned) % 3)).collect();
            let set = drift.set(case % 2 == 0);
            let is_there = case % 4 != 3 || frame % 9 == 7;
            let set = if is_there { set.layers(Layers::new(&category, 5)) } else { set };
            pairs.pairs(Input::within(set).space(space), None, &[[0, 0]]);
            rows.rows(Input::within(set).space(space), None, Rows::Full);
        }
        let rebuilds = [&pairs, &rows].map(|beside| beside.finders[0].rebuilds());
        assert!(rebuilds.iter().all(|&rebuilds| rebuilds < 14), "{rebuilds:?} rebuilds, case {case}");
    }
}

/// Tests no sets, and sets without bodies, in any space.
#[test]
fn nothing_has_no_pairs_in_any_space() {
    let none = Set::from(Circles::new(&[], &[], &[]));
    for space in spaces([[0.0, 10.0]; 2]) {
        for sets in [&[][..], &[none, none]] {
            let (mut finder, table) = (CoherentFinder::new(), ActivationTable::all(sets.len()));
            for _ in 0..24 {
                let found = finder.find(Input::among(sets, &table).space(space)).expect("sound sets");
                assert!(found.pairs().is_empty());
            }
        }
    }
}

/// Where bodies may meet at several images, are on their way, or are few among many that came sorted, each frame is
/// searched from scratch, and the answers are right.
#[test]
fn others_are_searched_in_each_frame() {
    let mut drift = Drift::<2>::new(Kind::Dense, 60, 0.04);
    let [mut small, mut moving, mut few] = [(); 3].map(|()| CoherentFinder::new());
    let (mut many, lattice) =
        (LinearTree::new(), [7, 40].map(|side| (0..1200).map(|at| (at % side) as f32).collect::<Vec<_>>()));
    many.build(Circles::new(&lattice[0], &lattice[1], 0.5), Threads::Serial).expect("sound bodies");
    let (mut scratch, [mut lists, mut expected]) = (PairFinder::new(), [(); 2].map(|()| all_columns()));
    for frame in 0..8 {
        drift.step(&Space::open(), Host::LetsGo, frame);
        let width = 3.0 * f64::from(drift.single_radii[0]);
        let input = Input::within(drift.set(true)).periodic([Some([0.0, width]); 2]);
        small.neighbors(input, Rows::Full, &mut lists).expect("sound bodies");
        scratch.neighbors(input, Rows::Full, &mut expected).expect("sound bodies");
        assert!(neighbors_known(&lists) == neighbors_known(&expected));
        let [x, y] = &drift.steps;
        let found = moving.find(drift.set(false).moving([x, y])).expect("sound bodies");
        let count = scratch.find(drift.set(false).moving([x, y])).expect("sound bodies").pairs().len();
        assert_eq!(found.pairs().len(), count);
        let among = Input::between(drift.set(false), &many);
        let [found, expected] = [few.find(among), scratch.find(among)].map(|found| found.expect("sound bodies"));
        assert_eq!(ascending(found.pairs()), ascending(expected.pairs()));
    }
    assert_eq!([small.rebuilds(), moving.rebuilds(), few.rebuilds()], [8; 3]);
}

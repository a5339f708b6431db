//! Bodies that others stand in for: in `f64`, where space repeats, beside trees; and layers. Lists last as long as those of bodies in `f32` in
//! open space.

use jostle::{
    ActivationTable, Bodies, Circles, CoherentFinder, Input, Layers, LinearTree, PairFinder, Rows, Set, Space, Threads,
};
use jostle_testkit::random::Random;
use jostle_testkit::{Kind, scene};

use super::{Beside, all_columns, rows_known};

/// Bodies that move straight on.
struct Drift<const D: usize> {
    centers: [Vec<f64>; D],
    radii: Vec<f64>,
    steps: [Vec<f64>; D],
    /// Where they are as the host has them, and the same in `f32`.
    seen: [Vec<f64>; D],
    single: [Vec<f32>; D],
    single_radii: Vec<f32>,
    /// The borders of all.
    box_: [[f64; 2]; D],
}

impl<const D: usize> Drift<D> {
    fn new(kind: Kind, bodies: usize, speed: f64) -> Self {
        let scene = scene::scene::<D>(kind, bodies, 7);
        let wide = |column: &Vec<f32>| column.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>();
        let (centers, radii) = (scene.centers.each_ref().map(wide), wide(&scene.radii));
        let mean = radii.iter().sum::<f64>() / bodies as f64;
        let mut random = Random(bodies as u64);
        let steps = [(); D].map(|()| (0..bodies).map(|_| (random.unit() - 0.5) * speed * mean).collect());
        let box_ = centers.each_ref().map(|column| {
            let (lo, hi) = column.iter().fold((f64::MAX, f64::MIN), |(lo, hi), &x| (lo.min(x), hi.max(x)));
            [lo, hi.max(lo + 8.0 * mean)]
        });
        let (seen, single) = (centers.clone(), scene.centers);
        Self { centers, radii, steps, seen, single, single_radii: scene.radii, box_ }
    }

    /// Moves all on; a host may put back into the cell who has left it, or move some to other images.
    fn step(&mut self, space: &Space<D>, host: Host, frame: usize) {
        for (column, steps) in self.centers.iter_mut().zip(&self.steps) {
            column.iter_mut().zip(steps).for_each(|(x, step)| *x += step);
        }
        self.seen.clone_from(&self.centers);
        for id in 0..self.radii.len() {
            let wraps = space.wraps(self.centers.each_ref().map(|column| column[id])).map(f64::from);
            let vectors = space.vectors();
            for k in (0..D).filter(|&k| space.repeats()[k]) {
                let away = if id % 7 == 3 { ((id + frame / 9) % 4) as f64 - 1.0 } else { 0.0 };
                let moved = match host {
                    Host::LetsGo => 0.0,
                    Host::PutsBack => -wraps[k],
                    Host::MovesSome => away,
                };
                for axis in 0..D {
                    self.seen[axis][id] += moved * vectors[k][axis];
                }
            }
        }
        self.single = self.seen.each_ref().map(|column| column.iter().map(|&x| x as f32).collect());
    }

    /// Some turn, jump near another one, jump by whole cells and a little, or grow.
    fn stray(&mut self, random: &mut Random, frame: usize) {
        let [id, other] = [(); 2].map(|()| (random.unit() * self.radii.len() as f64) as usize % self.radii.len());
        for axis in 0..D {
            let at = &mut self.centers[axis];
            let length = self.box_[axis][1] - self.box_[axis][0];
            match frame % 5 {
                0 | 3 => self.steps[axis][id] *= -1.0,
                1 => at[id] = at[other] + 0.3 * self.radii[other],
                // Faster than half a cell a frame, so that it is another image that is nearest.
                2 => self.steps[axis][id] = (random.unit() - 0.5) * 1.4 * length,
                _ => at[id] = self.box_[axis][frame / 5 % 2] + random.unit() * 0.1 * self.radii[id],
            }
        }
        if frame.is_multiple_of(11) {
            self.radii[id] *= 1.3;
            self.single_radii[id] = self.radii[id] as f32;
        }
    }

    /// One comes, where another one is.
    fn come(&mut self) {
        self.centers.iter_mut().chain(&mut self.steps).for_each(|column| column.push(column[0]));
        self.radii.push(self.radii[0]);
        self.single_radii.push(self.single_radii[0]);
    }

    /// One goes, and the last one is called as it was.
    fn go(&mut self, id: usize) {
        self.centers.iter_mut().chain(&mut self.steps).for_each(|column| _ = column.swap_remove(id));
        self.radii.swap_remove(id);
        self.single_radii.swap_remove(id);
    }

    fn set(&self, double: bool) -> Set<'_, D> {
        if double {
            Bodies::from_slices(self.seen.each_ref().map(Vec::as_slice), self.radii.as_slice()).into()
        } else {
            Bodies::from_slices(self.single.each_ref().map(Vec::as_slice), &self.single_radii).into()
        }
    }
}

/// What a host does to bodies that leave the cell.
#[derive(Debug, Clone, Copy)]
enum Host {
    LetsGo,
    PutsBack,
    MovesSome,
}

/// Open, periodic on all axes or but the last, a lattice.
fn spaces<const D: usize>(box_: [[f64; 2]; D]) -> [Space<D>; 4] {
    let mut partly = box_.map(Some);
    partly[D - 1] = None;
    let mut vectors = [[0.0; D]; D];
    for k in 0..D {
        vectors[k][k] = box_[k][1] - box_[k][0];
        (0..k).for_each(|axis| vectors[k][axis] = 0.3 * (box_[axis][1] - box_[axis][0]));
    }
    let lattice = Space::lattice(vectors, [true; D]).at(box_.map(|[lo, _]| lo));
    [Space::open(), Space::periodic(box_.map(Some)), Space::periodic(partly), lattice]
}

const HOSTS: [Host; 3] = [Host::LetsGo, Host::PutsBack, Host::MovesSome];

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
                // Where space is open pairs have no image.
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

/// A few that stray, most of them near the borders of the cell, end no list, in any space and precision.
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
            let only: Option<super::Only<'_>> = (frame % 7 == 5).then_some(&test);
            pairs.pairs(Input::within(set).space(space), only, &[[0, 0]]);
            rows.rows(Input::within(set).space(space), only, if case < 8 { Rows::Full } else { Rows::Half });
        }
        let rebuilds = [&pairs, &rows].map(|beside| beside.finders[0].rebuilds());
        assert!(rebuilds.iter().all(|&rebuilds| rebuilds < 14), "{rebuilds:?} rebuilds, case {case}");
    }
}

/// As of one set, of two, and of many: of each set some stray, whichever of two trees is the smaller one, and images are those of the second set.
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
            // One has no bodies.
            let mut sets = [one, other, third, Circles::new(&[], &[], &[]).into()];
            if case % 5 == 3 {
                sets[1] = sets[1].layers(Layers::new(&category, 5));
            }
            let only: Option<super::Only<'_>> = (frame % 7 == 5).then_some(&test);
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

/// A few that come or go end no list, wherever images have the names that come next.
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

/// So many that names are those of ranks; and between two sets.
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

/// Discs of a crystal that all touch their neighbours exactly, or hardly do not: all of that is in doubt, and stays so. Of some that change places
/// with others, and stray, as well.
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
                // One next to a border with its neighbour in the next cell, or with another one.
                let [one, other] = [frame * side, (frame - if frame % 4 == 0 { 0 } else { 12 }) * side + side - 1];
                columns.iter_mut().for_each(|column| column.swap(one, other));
            }
            // All at once, so that who touches goes on to.
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

/// Layers that stay the same are looked at when lists are made; where they change lists end, and those that come in some frames alone drop some.
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

/// The lists of each two of many sets last, whatever is among them.
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
            let only: Option<super::Only<'_>> = (frame % 7 == 5).then_some(&test);
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

/// And pairs that touch all the time, which have made room, are found when one of them strays.
#[test]
fn who_has_made_room_may_stray() {
    make_room(true);
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
            // Both again later.
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

/// Of no sets, and of sets without bodies, in any space.
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

/// Where bodies may meet at several images, or move on their way, each frame is searched, and nothing else is wrong.
#[test]
fn others_are_searched_in_each_frame() {
    let mut drift = Drift::<2>::new(Kind::Dense, 60, 0.04);
    let [mut small, mut moving] = [(); 2].map(|()| CoherentFinder::new());
    let (mut scratch, [mut lists, mut expected]) = (PairFinder::new(), [(); 2].map(|()| all_columns()));
    for frame in 0..8 {
        drift.step(&Space::open(), Host::LetsGo, frame);
        let width = 3.0 * f64::from(drift.single_radii[0]);
        let input = Input::within(drift.set(true)).periodic([Some([0.0, width]); 2]);
        small.neighbors(input, Rows::Full, &mut lists).expect("sound bodies");
        scratch.neighbors(input, Rows::Full, &mut expected).expect("sound bodies");
        assert!(rows_known(&lists) == rows_known(&expected));
        let [x, y] = &drift.steps;
        let found = moving.find(drift.set(false).moving([x, y])).expect("sound bodies");
        let count = scratch.find(drift.set(false).moving([x, y])).expect("sound bodies").pairs().len();
        assert_eq!(found.pairs().len(), count);
    }
    assert_eq!([small.rebuilds(), moving.rebuilds()], [8; 2]);
}

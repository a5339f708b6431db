//! Boxes, capsules and circles in one search: with each other, in spaces that repeat, against plain loops.

use jostle::{
    ActivationTable, Bodies, Boxes64, Capsules, Capsules64, Input, InputError, RangeFault, Rows, Set, Space, between,
};
use jostle_testkit::pairs::{ascending, assert_same};
use jostle_testkit::shapes::{BoxKind, BoxScene, Seen, Solid, boxes, solid_images, solid_pairs};

use crate::boxes::rows_of;
use crate::embed::ways::{Way, Ways};

/// Columns of each shape, about as many bodies as asked for, and the same as solids.
struct Mixture<const D: usize> {
    boxes: BoxScene<D>,
    doubles: [[Vec<f64>; D]; 2],
    centers: [Vec<f32>; D],
    radii: Vec<f32>,
}

impl<const D: usize> Mixture<D> {
    fn new(n: usize, origin: f64) -> Self {
        let [boxes, other] = [BoxKind::Uniform, BoxKind::Rods].map(|kind| boxes::<D>(kind, n));
        let double = |columns: &[Vec<f32>; D]| {
            columns.each_ref().map(|column| column.iter().map(|&x| f64::from(x) / 3.0 + origin).collect())
        };
        let doubles = [double(&other.lo), double(&other.hi)];
        let centers = boxes.lo.each_ref().map(|column| column.iter().rev().map(|x| x * 0.9).collect());
        let radii = boxes.hi[0].iter().map(|x| x.fract() * 0.4).collect();
        Self { boxes, doubles, centers, radii }
    }

    /// Circles, boxes in `f32`, boxes in `f64`, capsules in `f32` and in `f64`.
    fn sets(&self) -> [Set<'_, D>; 5] {
        let [lo, hi] = &self.doubles;
        [
            Bodies::from_slices(self.centers.each_ref().map(Vec::as_slice), &self.radii).into(),
            self.boxes.view().into(),
            Boxes64::new(lo.each_ref(), hi.each_ref()).into(),
            Capsules::new(self.boxes.lo.each_ref(), self.centers.each_ref(), 0.05).into(),
            Capsules64::new(lo.each_ref(), hi.each_ref(), 0.125).with_margin(0.0625).into(),
        ]
    }

    fn solids(&self) -> [Vec<Solid<D>>; 5] {
        let at = |columns: &[Vec<f32>; D], id: usize| columns.each_ref().map(|column| f64::from(column[id]));
        let double = |id: usize| self.doubles.each_ref().map(|columns| columns.each_ref().map(|column| column[id]));
        let all = 0..self.radii.len();
        [
            all.clone().map(|id| Solid::Long([at(&self.centers, id); 2], self.radii[id].into())).collect(),
            all.clone().map(|id| Solid::Boxed([at(&self.boxes.lo, id), at(&self.boxes.hi, id)])).collect(),
            all.clone().map(|id| Solid::Boxed(double(id))).collect(),
            all.clone()
                .map(|id| Solid::Long([at(&self.boxes.lo, id), at(&self.centers, id)], 0.05_f32.into()))
                .collect(),
            all.map(|id| Solid::Long(double(id), 0.1875)).collect(),
        ]
    }
}

/// What was found but for pairs that are too close to be told, against what is known.
fn assert_told(name: &str, found: &[[u32; 2]], [sure, close]: &[Vec<[u32; 2]>; 2]) {
    let told: Vec<_> = ascending(found).into_iter().filter(|pair| close.binary_search(pair).is_err()).collect();
    assert_same(name, &told, sure);
}

fn mixtures<const D: usize>() {
    let mut ways = Ways::<D>::all();
    let mixture = Mixture::<D>::new(160, 0.0);
    let (sets, solids, table) = (mixture.sets(), mixture.solids(), ActivationTable::all(5));
    let lists = ways.same("mixture", |way| {
        let found = way.search().find(Input::among(&sets, &table)).expect("sets");
        (0..25).map(|at| found.pairs_between(at / 5, at % 5).to_vec()).collect::<Vec<_>>()
    });
    for (i, j) in (0..5).flat_map(|i| (i..5).map(move |j| (i, j))) {
        let name = format!("sets {i} and {j}");
        let expected = solid_pairs(&solids[i], &(i != j).then(|| solids[j].clone()));
        assert!(expected[0].len() > 5 && expected[1].len() < 5, "{name}: {:?}", expected.map(|pairs| pairs.len()));
        assert_told(&name, &lists[i * 5 + j], &expected);
        if i != j {
            let found =
                ways.by_turns(|way| way.search().find(between(sets[j], sets[i])).expect("sets").pairs().to_vec());
            let turned: Vec<_> = found.into_iter().map(|[b, a]| [a, b]).collect();
            assert_told(&name, &turned, &expected);
        }
    }
    assert_eq!(ways.by_turns(|way| way.search().count(sets[4]).expect("a set")), lists[24].len() as u64);
}

#[test]
fn bodies_of_every_shape_meet_each_other() {
    mixtures::<2>();
    mixtures::<3>();
}

/// The vectors of a space that repeats.
fn vectors_of<const D: usize>(space: Space<D>) -> [Option<[f64; D]>; D] {
    core::array::from_fn(|k| space.repeats()[k].then_some(space.vectors()[k]))
}

/// The pairs of two sets and their shifts, in the order of the list.
fn seen<const D: usize>(way: &mut Way<D>, input: Input<'_, D>) -> Vec<Seen<D>> {
    let found = way.search().find(input).expect("sets");
    found.pairs().iter().copied().zip(found.image_shifts()).collect()
}

/// As [`assert_told`], of pairs at images.
fn assert_seen<const D: usize>(name: &str, found: &[Seen<D>], [sure, close]: &[Vec<Seen<D>>; 2]) {
    let mut told: Vec<_> = found.iter().copied().filter(|pair| close.binary_search(pair).is_err()).collect();
    told.sort_unstable();
    assert!(told == *sure, "{name}, {D}D: {} pairs, not {}", told.len(), sure.len());
}

fn spaces<const D: usize>(n: usize, width: f64, spaces: &[Space<D>], most: i32) {
    let mut ways = Ways::<D>::all();
    // Bodies inside of the cell, and many cells off.
    let mut mixture = Mixture::<D>::new(n, 0.0);
    for id in (0..n).step_by(7) {
        mixture.centers[0][id] += width as f32;
        for corner in &mut mixture.doubles {
            corner[1][id] -= 2.0 * width;
        }
    }
    let (sets, solids, mut across) = (mixture.sets(), mixture.solids(), 0);
    for (number, &space) in spaces.iter().enumerate() {
        for (i, j) in (0..5).flat_map(|i| (i..5).map(move |j| (i, j))).filter(|(i, j)| (i + j + number) % 2 == 0) {
            let name = format!("sets {i} and {j} in {space:?}");
            let expected = solid_images(&solids[i], &(i != j).then(|| solids[j].clone()), &vectors_of(space), &most);
            across += expected[0].iter().filter(|(_, steps)| *steps != [0; D]).count();
            let input = if i == j { Input::within(sets[i]) } else { between(sets[i], sets[j]) }.space(space);
            let found = ways.same(&name, |way| seen(way, input));
            assert_seen(&name, &found, &expected);
            assert_eq!(ways.by_turns(|way| way.search().count(input).expect("sets")), found.len() as u64, "{name}");
            let mut rows: Vec<_> = found.iter().map(|(pair, _)| *pair).collect();
            if i == j {
                rows.extend(found.iter().map(|&([a, b], _)| [b, a]));
            }
            rows.sort_unstable();
            assert_same(&name, &ways.by_turns(|way| rows_of(way, input, Rows::Full)), &rows);
        }
    }
    assert!(across > 100, "{across} pairs across borders");
}

#[test]
fn bodies_of_every_shape_meet_across_the_borders_of_a_cell() {
    // 80 bodies lie in 9 by 9, or in 4.3 by 4.3 by 4.3.
    let flat = [
        Space::periodic([Some([0.0, 9.5]), Some([-1.0, 8.5])]),
        Space::periodic([None, Some([0.0, 8.0])]),
        Space::lattice([[9.0, 0.5], [-2.0, 10.0]], [true, true]).at([0.25, 0.5]),
    ];
    spaces::<2>(80, 9.5, &flat, 4);
    let deep = [
        Space::periodic([Some([0.0, 5.0]), Some([0.0, 5.0]), None]),
        Space::lattice([[5.0, 0.0, 0.0], [1.0, 5.5, 0.0], [0.5, -0.5, 6.0]], [true, false, true]),
    ];
    spaces::<3>(60, 5.0, &deep, 3);
}

#[test]
fn bodies_may_be_longer_than_the_period_and_meet_themselves() {
    let mut ways = Ways::<2>::all();
    let (lo, hi) = ([[0.0, 2.5], [0.0, 5.0]], [[4.5, 3.0], [1.0, 5.25]]);
    let bars = jostle::Boxes::new(lo.each_ref(), hi.each_ref());
    let rods = Capsules::new([&[0.0], &[3.0]], [&[4.0], &[4.0]], 0.5);
    let space = Space::periodic([Some([0.0, 2.0]), None]);
    let found = ways.same("bars", |way| seen(way, Input::within(bars).space(space)));
    let mut steps: Vec<_> = found.iter().filter(|(pair, _)| *pair == [0, 0]).map(|(_, steps)| *steps).collect();
    steps.sort_unstable();
    assert_eq!(steps, [[1, 0], [2, 0]]);
    assert_eq!(found.len(), 2, "the second is shorter than a period");
    let input = between(bars, rods).space(space);
    let solids = vec![Solid::Boxed([[0.0, 0.0], [4.5, 1.0]]), Solid::Boxed([[2.5, 5.0], [3.0, 5.25]])];
    let others = Some(vec![Solid::Long([[0.0, 3.0], [4.0, 4.0]], 0.5)]);
    assert_seen(
        "rods",
        &ways.same("rods", |way| seen(way, input)),
        &solid_images(&solids, &others, &vectors_of(space), &9),
    );
    // Without an end where space does not repeat, but not where it does.
    let endless = [f32::NEG_INFINITY, f32::INFINITY];
    let wall = jostle::Boxes::new([&[0.5], &endless[..1]], [&[1.0], &endless[1..]]);
    let across = ways.same("wall", |way| seen(way, between(wall, bars).space(space)));
    assert_eq!(across.len(), 3 + 1, "{across:?}");
    let turned = Space::periodic([None, Some([0.0, 2.0])]);
    let error = ways.by_turns(|way| way.search().find(Input::within(wall).space(turned)).unwrap_err());
    assert_eq!(error, InputError::Range { count: 1, first: vec![(0, RangeFault::Endless { axis: 1 })] });
    let far = jostle::Boxes::new([&[1e20], &[0.0]], [&[1e20], &[1.0]]);
    let error = ways.by_turns(|way| way.search().find(Input::within(far).space(space)).unwrap_err());
    assert_eq!(error, InputError::Range { count: 1, first: vec![(0, RangeFault::TooManyPeriods { axis: 0 })] });
}

#[test]
fn many_boxes_in_a_cell_are_searched_in_one_order() {
    let mut ways = Ways::<2>::few();
    let scene = boxes::<2>(BoxKind::Rods, 12_000);
    let space = Space::periodic([Some([0.0, 110.0]), Some([10.0, 120.0])]);
    let found = ways.same("rods", |way| seen(way, Input::within(scene.view()).space(space)));
    assert!(found.iter().any(|(_, steps)| *steps != [0; 2]));
}

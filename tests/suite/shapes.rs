//! Boxes, capsules and circles in one search: with each other, in spaces that repeat, against plain loops.

use jostle::{
    ActivationTable, Bodies, Boxes64, Capsules, Capsules64, ContactTracker, Input, InputError, PairFinder,
    PreparedBatch, PreparedSet, RangeFault, Rows, Set, Space, Spheres64, Threads, between, contacts_f64,
};
use jostle_testkit::pairs::{ascending, assert_same};
use jostle_testkit::shapes::{BoxKind, BoxScene, Seen, Solid, boxes, solid_images, solid_pairs};

use crate::boxes::rows_of;
use crate::embed::ways::{Way, Ways};
use crate::rows_of_shapes::check_columns;

/// Columns of each shape, of about as many bodies as asked for. `sets` and `solids` give the same bodies.
pub(crate) struct Mixture<const D: usize> {
    pub(crate) boxes: BoxScene<D>,
    doubles: [[Vec<f64>; D]; 2],
    pub(crate) centers: [Vec<f32>; D],
    radii: Vec<f32>,
}

impl<const D: usize> Mixture<D> {
    pub(crate) fn new(n: usize, origin: f64) -> Self {
        let [boxes, other] = [BoxKind::Uniform, BoxKind::Rods].map(|kind| boxes::<D>(kind, n));
        let double = |columns: &[Vec<f32>; D]| {
            columns.each_ref().map(|column| column.iter().map(|&x| f64::from(x) / 3.0 + origin).collect())
        };
        let doubles = [double(&other.lo), double(&other.hi)];
        let centers = boxes.lo.each_ref().map(|column| column.iter().rev().map(|x| x * 0.9).collect());
        let radii = boxes.hi[0].iter().map(|x| x.fract() * 0.4).collect();
        Self { boxes, doubles, centers, radii }
    }

    /// Returns circles, boxes in `f32`, boxes in `f64`, capsules in `f32` and capsules in `f64`.
    pub(crate) fn sets(&self) -> [Set<'_, D>; 5] {
        let [lo, hi] = &self.doubles;
        [
            Bodies::from_slices(self.centers.each_ref().map(Vec::as_slice), &self.radii).into(),
            self.boxes.view().into(),
            Boxes64::new(lo.each_ref(), hi.each_ref()).into(),
            Capsules::new(self.boxes.lo.each_ref(), self.centers.each_ref(), 0.05).into(),
            Capsules64::new(lo.each_ref(), hi.each_ref(), 0.125).with_margin(0.0625).into(),
        ]
    }

    pub(crate) fn solids(&self) -> [Vec<Solid<D>>; 5] {
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

/// Checks the pairs found against the known pairs, except for pairs that are too close to tell.
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
        if j > 0 {
            let input = if i == j { Input::within(sets[i]) } else { between(sets[i], sets[j]) };
            let found: Vec<_> = lists[i * 5 + j].iter().map(|&pair| (pair, [0; D])).collect();
            check_columns((&mut ways, &name), (input, Space::open()), &found, ([&solids[i], &solids[j]], i == j));
        }
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

/// Returns the vectors of a space that repeats.
pub(crate) fn vectors_of<const D: usize>(space: Space<D>) -> [Option<[f64; D]>; D] {
    core::array::from_fn(|k| space.repeats()[k].then_some(space.vectors()[k]))
}

/// Returns the pairs of two sets with their shifts, in the order of the list.
fn seen<const D: usize>(way: &mut Way<D>, input: Input<'_, D>) -> Vec<Seen<D>> {
    let found = way.search().find(input).expect("sets");
    found.pairs().iter().copied().zip(found.image_shifts()).collect()
}

/// Checks as [`assert_told`], for pairs at images.
fn assert_seen<const D: usize>(name: &str, found: &[Seen<D>], [sure, close]: &[Vec<Seen<D>>; 2]) {
    let mut told: Vec<_> = found.iter().copied().filter(|pair| close.binary_search(pair).is_err()).collect();
    told.sort_unstable();
    assert!(told == *sure, "{name}, {D}D: {} pairs, not {}", told.len(), sure.len());
}

fn spaces<const D: usize>(n: usize, width: f64, spaces: &[Space<D>], most: i32) {
    let mut ways = Ways::<D>::all();
    // Some bodies lie inside the cell, some many cells away.
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
            if j > 0 {
                check_columns((&mut ways, &name), (input, space), &found, ([&solids[i], &solids[j]], i == j));
            }
        }
    }
    assert!(across > 100, "{across} pairs across borders");
}

#[test]
fn bodies_of_every_shape_meet_across_the_borders_of_a_cell() {
    // 80 bodies lie in an area of 9 by 9, or in a volume of 4.3 by 4.3 by 4.3.
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
    // A body may be endless where space does not repeat, but not where it does.
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

fn prepared<const D: usize>(n: usize, space: Space<D>) {
    let mut ways = Ways::<D>::all();
    let mixture = Mixture::<D>::new(n, 3.0);
    let (sets, mut kept) = (mixture.sets(), [(); 5].map(|()| PreparedSet::new()));
    // Each set is built twice, so that remains of another kind would show.
    for turn in [1, 0] {
        for (at, prepared) in kept.iter_mut().enumerate() {
            prepared.build(sets[(at + turn) % 5], space, Threads::Current).expect("a set");
        }
    }
    for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))) {
        let name = format!("{i} and {j} in {space:?}");
        let input = if i == j { Input::within(sets[i]) } else { between(sets[i], sets[j]) }.space(space);
        let mut expected = ways.by_turns(|way| seen(way, input));
        expected.sort_unstable();
        let by_trees = if i == j { Input::within(&kept[i]) } else { between(sets[i], &kept[j]) }.space(space);
        let found = ways.same(&name, |way| {
            let found = seen(way, by_trees);
            let adopted = way.finder.adopted(&by_trees);
            assert_eq!(adopted.last(), Some(&(j != 0 || i == 0)), "{name}: {adopted:?}");
            found
        });
        let mut sorted = found.clone();
        sorted.sort_unstable();
        assert!(sorted == expected, "{name}: other pairs of prepared sets");
        if i != j {
            let both = between(&kept[i], &kept[j]).space(space);
            let mut found = ways.by_turns(|way| seen(way, both));
            found.sort_unstable();
            assert!(found == expected, "{name}: other pairs of two prepared sets");
        }
    }
}

#[test]
fn boxes_and_capsules_may_stay_sorted() {
    prepared::<2>(90, Space::open());
    prepared::<2>(90, Space::periodic([Some([0.0, 9.5]), Some([0.0, 9.0])]));
    prepared::<3>(90, Space::periodic([Some([0.0, 5.0]), None, None]));
    // Bodies far from the prepared ones, and a thousand times as large.
    let (lo, hi) = ([0.25_f32, 0.5], [0.5_f32, 1.0]);
    let small = jostle::Boxes::new([&lo, &lo], [&hi, &hi]);
    let mut walls = PreparedSet::new();
    let far = Boxes64::new([&[1.0, 1e6], &[1.0, 0.0]], [&[1e5, 2e6], &[2.0, 1.0]]);
    let thin = Capsules64::new([&[-1e5], &[0.75]], [&[1e5], &[0.75]], 0.25);
    for double in [false, true] {
        let (low, high) = (lo.map(f64::from), hi.map(f64::from));
        let set: Set<'_, 2> = if double { Boxes64::new([&low, &low], [&high, &high]).into() } else { small.into() };
        walls.build(set, Space::open(), Threads::Serial).expect("boxes");
        let mut finder = PairFinder::new();
        for (other, expected) in [(Set::from(far), vec![[1, 0]]), (thin.into(), vec![[0, 0], [1, 0]])] {
            let input = between(&walls, other);
            assert_eq!(ascending(finder.find(input).expect("sets").pairs()), expected);
            assert_eq!(finder.adopted(&input), [true, false]);
        }
    }
}

/// Returns the bodies of a set at all images, with their shifts.
fn images_of<const D: usize>(solids: &[Solid<D>], space: Space<D>, most: i32) -> Vec<(jostle::Seen<D>, Solid<D>)> {
    let (side, vectors) = (2 * most + 1, vectors_of(space));
    let mut images = Vec::new();
    for image in 0..side.pow(D as u32) {
        let image_shift: [i32; D] = core::array::from_fn(|k| image / side.pow(k as u32) % side - most);
        if (0..D).any(|k| image_shift[k] != 0 && vectors[k].is_none()) {
            continue;
        }
        let part = |axis: usize, k: usize| f64::from(image_shift[k]) * vectors[k].map_or(0.0, |vector| vector[axis]);
        let shift = core::array::from_fn(|axis| (0..D).map(|k| part(axis, k)).sum());
        images.extend((0..).zip(solids).map(|(id, solid)| (jostle::Seen { id, image_shift }, solid.at(shift))));
    }
    images
}

fn questions<const D: usize>(n: usize, space: Space<D>, most: i32) {
    let mixture = Mixture::<D>::new(n, 0.0);
    let (sets, solids) = (mixture.sets(), mixture.solids());
    for at in 1..5 {
        let name = format!("set {at} in {space:?}");
        let mut set = PreparedSet::new();
        set.build(sets[at], space, Threads::Serial).expect("a set");
        let (queries, images) = (set.queries(), images_of(&solids[at], space, most));
        let (mut found, mut reached, mut hits, mut batch) = (Vec::new(), Vec::new(), 0, PreparedBatch::new());
        for number in 0..8 {
            let point: [f64; D] = core::array::from_fn(|axis| 0.37 + f64::from(number * (axis as i32 + 2) % 7) * 0.61);
            let corner = point.map(|x| x + 0.7);
            let region = |solid: Solid<D>| {
                let told = images.iter().map(|(seen, other)| (*seen, solid_pairs(&vec![solid], &Some(vec![*other]))));
                let mut touching: Vec<_> =
                    told.filter(|(_, pairs)| !pairs[0].is_empty()).map(|(seen, _)| seen).collect();
                touching.sort_unstable();
                touching
            };
            queries.point(point, &mut found).expect("a point");
            assert_eq!(found, region(Solid::Boxed([point; 2])), "{name}, point {number}");
            queries.circle(point, 0.6, &mut found).expect("a circle");
            assert_eq!(found, region(Solid::Long([point; 2], 0.6)), "{name}, circle {number}");
            queries.aabb(point, corner, &mut found).expect("a box");
            assert_eq!(found, region(Solid::Boxed([point, corner])), "{name}, box {number}");
            hits += found.len();
            let mut direction: [f64; D] = core::array::from_fn(|axis| f64::from((number + axis as i32 * 3) % 5 - 2));
            if number % 4 == 0 {
                direction[1] = 0.0;
            }
            direction[0] += 0.25;
            let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            let unit = direction.map(|x| x / length);
            queries.ray(point, direction, 4.0, &mut reached).expect("a ray");
            let entered: Vec<_> = images.iter().map(|(seen, solid)| (*seen, solid.entered(point, unit, 4.0))).collect();
            for (seen, (distance, apart)) in &entered {
                let hit = reached.iter().find(|hit| hit.body == *seen);
                // Near the end of the ray, or where it grazes a body, either answer is allowed.
                if apart.abs() > 1e-7 {
                    assert_eq!(hit.is_some(), *apart < 0.0, "{name}, ray {number}: {seen:?} at {distance}, {apart}");
                    assert!(
                        hit.is_none_or(|hit| (hit.distance - distance).abs() < 1e-5),
                        "{name}: {hit:?}, {distance}"
                    );
                }
            }
            assert!(reached.is_sorted());
            assert_eq!(queries.first_hit(point, direction, 4.0).expect("a ray"), reached.first().copied());
            let rays = batch.first_hits(queries, &[(point, direction, 4.0)], Threads::Serial).expect("a ray");
            assert_eq!(rays.found().first(), reached.first().map(|hit| &hit.body));
            queries.nearest(point, 5, f64::INFINITY, &mut reached).expect("a point");
            let mut nearest: Vec<f64> = images.iter().map(|(_, solid)| solid.distance(point)).collect();
            nearest.sort_unstable_by(f64::total_cmp);
            assert_eq!(reached.len(), 5);
            for (seen, expected) in reached.iter().zip(nearest) {
                assert!((seen.distance - expected).abs() < 1e-9, "{name}: {seen:?}, {expected}");
            }
            assert_eq!(queries.nearest_one(point, 9.0).expect("a point").map(|seen| seen.body), Some(reached[0].body));
        }
        assert!(hits > 3, "{name}: {hits}");
    }
}

#[test]
fn prepared_boxes_and_capsules_answer_questions() {
    questions::<2>(60, Space::open(), 0);
    questions::<2>(60, Space::periodic([Some([0.0, 8.5]), None]), 2);
    questions::<2>(50, Space::lattice([[9.0, 0.5], [-2.0, 8.0]], [true, true]), 2);
    questions::<3>(50, Space::periodic([Some([0.0, 4.5]), None, Some([0.0, 4.5])]), 2);
}

#[test]
fn borders_of_boxes_are_closed_and_some_have_no_end() {
    let (tiny, endless) = (1e-200, [f64::NEG_INFINITY, f64::INFINITY]);
    let (left, right) = ([0.0, endless[0]], [tiny, endless[1]]);
    let boxes = Boxes64::new([&left, &[0.0, 2.0]], [&right, &[1.0, 3.0]]);
    let mut set = PreparedSet::<2>::new();
    set.build(boxes, Space::open(), Threads::Serial).expect("boxes");
    let (mut found, queries) = (Vec::new(), set.queries());
    let ids = |found: &Vec<jostle::Seen<2>>| found.iter().map(|seen| seen.id).collect::<Vec<_>>();
    for (point, expected) in
        [([tiny, 1.0], vec![0]), ([2.0 * tiny, 1.0], vec![]), ([-tiny, 1.0], vec![]), ([1e90, 2.0], vec![1])]
    {
        queries.point(point, &mut found).expect("a point");
        assert_eq!(ids(&found), expected, "{point:?}");
    }
    let hit = queries.first_hit([-1e90, 0.0], [0.0, 1.0], 9.0).expect("a ray").expect("a hit");
    assert_eq!((hit.body.id, hit.distance), (1, 2.0));
    let nearest = queries.nearest_one([1e90, 7.0], f64::INFINITY).expect("a point").expect("a box");
    assert_eq!((nearest.body.id, nearest.distance), (1, 4.0));
}

#[test]
fn the_nearest_are_found_however_small_the_bodies_and_however_far_the_point() {
    // In a frame as small as the bodies, the squared distance of the second body is beyond the range of `f64`.
    let (lo, hi) = ([f64::NEG_INFINITY, 2.9e17], [f64::INFINITY, 2.9e17]);
    let boxes = Boxes64::new([&lo, &[-6e-145, 0.0]], [&hi, &[0.0, 1e-200]]);
    let mut set = PreparedSet::<2>::new();
    set.build(boxes, Space::open(), Threads::Serial).expect("boxes");
    let mut nearest = Vec::new();
    set.queries().nearest([-14.75, 1.0], 9, f64::INFINITY, &mut nearest).expect("a point");
    let nearest: Vec<_> = nearest.iter().map(|near| (near.body.id, near.distance)).collect();
    assert_eq!(nearest, [(0, 1.0), (1, 2.9e17)]);
}

fn contacts_of<const D: usize>(space: Space<D>) {
    let mut ways = Ways::<D>::all();
    let mixture = Mixture::<D>::new(90, 0.0);
    let (sets, solids, vectors) = (mixture.sets(), mixture.solids(), vectors_of(space));
    for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))).filter(|&(i, j)| i + j > 0) {
        let input = if i == j { Input::within(sets[i]) } else { between(sets[i], sets[j]) }.space(space);
        let name = format!("{i} and {j} in {space:?}");
        let (found, list) = ways.same(&name, |way| {
            let (threads, mut list) = (way.threads(), Vec::new());
            contacts_f64(way.search().find(input).expect("sets"), input, threads, &mut list).expect("contacts");
            (seen(way, input), list)
        });
        let touch = |a: &Solid<D>, b: Solid<D>| !solid_pairs(&vec![*a], &Some(vec![b]))[0].is_empty();
        for (&([a, b], steps), contact) in found.iter().zip(&list) {
            let part = |axis: usize, k: usize| f64::from(steps[k]) * vectors[k].map_or(0.0, |vector| vector[axis]);
            let (one, other) = (&solids[i][a as usize], &solids[j][b as usize]);
            let pushed = |by: f64| {
                other.at(core::array::from_fn(|axis| {
                    (0..D).map(|k| part(axis, k)).sum::<f64>() + by * contact.normal[axis]
                }))
            };
            let length2: f64 = contact.normal.iter().map(|x| x * x).sum();
            assert!((length2 - 1.0).abs() < 1e-9, "{name}: {contact:?}");
            assert!(!touch(one, pushed(contact.depth + 1e-6)), "{name}: {one:?}, {other:?}, {contact:?}");
            // The whole of a capsule that reaches into a box leaves it.
            let mixed = matches!((one, other), (Solid::Boxed(_), Solid::Long(..)) | (Solid::Long(..), Solid::Boxed(_)));
            let still = mixed || contact.depth < 1e-5 || touch(one, pushed(contact.depth - 1e-6));
            assert!(still, "{name}: {one:?}, {other:?}, {contact:?}");
            let point = Solid::Long([contact.point; 2], 1e-6);
            let lies_in = mixed || touch(one, point) && touch(&pushed(0.0), point);
            assert!(lies_in, "{name}: {one:?}, {other:?}, {contact:?}");
        }
    }
}

#[test]
fn bodies_of_every_shape_part_along_the_normals_of_their_contacts() {
    contacts_of::<2>(Space::open());
    contacts_of::<2>(Space::periodic([Some([0.0, 9.0]), Some([0.0, 9.0])]));
    contacts_of::<3>(Space::open());
    // A tracker goes by ids, whatever the shape of the bodies.
    let (mut finder, mut tracker, mut changes) = (PairFinder::<2>::new(), ContactTracker::default(), Vec::new());
    for x in [0.0, 1.5, 1.75, 3.0] {
        let at = [x];
        let rods = Capsules::new([&at, &[-1.0]], [&at, &[1.0]], 0.25);
        let walls = jostle::Boxes::new([&[1.5], &[0.0]], [&[2.0], &[0.5]]);
        let keys: [&[u64]; 2] = [&[7], &[8]];
        let update = tracker.update(finder.find(between(rods, walls)).expect("sets"), keys);
        let update = update.expect("keys");
        changes.push([update.begin().len(), update.persist().len(), update.end().len()]);
    }
    assert_eq!(changes, [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]);
}

#[test]
fn many_boxes_in_a_cell_are_searched_in_one_order() {
    let mut ways = Ways::<2>::few();
    let scene = boxes::<2>(BoxKind::Rods, 12_000);
    let space = Space::periodic([Some([0.0, 110.0]), Some([10.0, 120.0])]);
    let found = ways.same("rods", |way| seen(way, Input::within(scene.view()).space(space)));
    assert!(found.iter().any(|(_, steps)| *steps != [0; 2]));
}

/// Segments in line, whose sides are told by rounding alone: apart they do not cross, and where they overlap, thick ones
/// part across their line.
#[test]
fn capsules_in_line_do_not_cross_by_rounding() {
    let mut finder = PairFinder::<2>::new();
    // A third body far away makes boxes so wide that the others are looked at.
    let (p, q) = ([0.5747233932815963, 0.7607724556938518, 4e6], [-0.32370014089668264, 1.6591959898721307, 4e6]);
    let (py, qy) = ([0.3480846923131067, 0.20214236516753709, 4e6], [1.0528343945706125, -0.5026073370899686, 4e6]);
    let apart = Capsules64::new([&p, &py], [&q, &qy], 0.0);
    assert_eq!(finder.find(apart).expect("three segments").pairs(), [[0_u32; 2]; 0]);
    let (p, q) = ([0.2854752124361415, 0.10334477585657051], [-0.250491683082946, -0.43262211966251707]);
    let (py, qy) = ([0.7565491252900644, 0.5271759176986359], [0.08155790308254851, -0.14781530450887992]);
    let one_another = Capsules64::new([&p, &py], [&q, &qy], 0.05);
    let (found, mut list) = (finder.find(one_another).expect("two capsules"), Vec::new());
    contacts_f64(found, one_another, Threads::Serial, &mut list).expect("a pair");
    assert!((list[0].depth - 0.1).abs() < 1e-12, "{list:?}");
    let along = list[0].normal[0] * (q[0] - p[0]) + list[0].normal[1] * (qy[0] - py[0]);
    assert!(along.abs() < 1e-9, "{list:?}");
}

/// Upright segments and an upright ray beside them.
#[test]
fn rays_miss_the_segments_that_they_pass_in_parallel() {
    let x = [6.0, 3.0, 4.0, 4.0];
    let p = [1.0, 1.0, 1.0, 3.0];
    let q = [1.4724164627534289, 1.0339221688145486, 2.1889251686567297, 3.0193973409193973];
    let (mut set, mut hits) = (PreparedSet::<2>::new(), Vec::new());
    set.build(Capsules64::new([&x, &p], [&x, &q], 0.0), Space::open(), Threads::Serial).expect("four segments");
    for (from, expected) in [([6.0, 0.5], vec![(0.5, 0)]), ([3.5, 1.0], vec![]), ([4.0, 5.0], vec![])] {
        set.queries().ray(from, [0.0, 1.0], f64::INFINITY, &mut hits).expect("a ray");
        let found: Vec<_> = hits.iter().map(|hit| (hit.distance, hit.body.id)).collect();
        assert_eq!(found, expected, "from {from:?}");
    }
}

/// In a cell far more skewed than it is high, the nearest are found without a look at all images within its diagonal.
#[test]
fn the_nearest_are_found_in_a_skewed_cell() {
    let (mut set, cell) = (PreparedSet::<3>::new(), [[1.0, 0.0, 0.0], [20.0, 1.0, 0.0], [0.0, 20.0, 1.0]]);
    let sphere = Spheres64::new(&[10.3], &[10.4], &[0.5], 0.0);
    set.build(sphere, Space::lattice(cell, [true; 3]), Threads::Serial).expect("a sphere");
    let (queries, point) = (set.queries(), [0.9, 0.1, 0.2]);
    let near = queries.nearest_one(point, 1.0).expect("few images").expect("an image");
    assert_eq!(queries.nearest_one(point, f64::INFINITY), Ok(Some(near)));
    let mut nearest = Vec::new();
    queries.nearest(point, 5, f64::INFINITY, &mut nearest).expect("few images");
    assert_eq!((nearest.len(), nearest[0]), (5, near));
}

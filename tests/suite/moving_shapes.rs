//! Boxes, capsules and circles that move, in one search: with each other, in spaces that repeat, against halving.

use jostle::{
    ActivationTable, Boxes, Boxes64, Capsules, Capsules64, Circles, Circles64, ContactError, Input, InputError,
    PairFinder, PreparedSet, RangeFault, Rows, Set, Space, Threads, between, contacts, contacts_f64,
};
use jostle_testkit::pairs::assert_same;
use jostle_testkit::shapes::{Seen, Solid};

use crate::boxes::rows_of;
use crate::embed::ways::{Way, Ways};
use crate::rows_of_shapes::check_columns;
use crate::shapes::{Mixture, vectors_of};

/// How near to touching two bodies may be so that either answer is right.
const CLOSE: f64 = 1e-9;

/// Five sets of bodies of all shapes, four of which move: in `f32`, and in `f64`.
struct Moving<const D: usize> {
    mixture: Mixture<D>,
    singles: [Vec<f32>; D],
    doubles: [Vec<f64>; D],
}

impl<const D: usize> Moving<D> {
    fn new(n: usize, pace: f64) -> Self {
        let mixture = Mixture::new(n, 0.0);
        let step = |id: usize, axis: usize| (((id * 7 + axis * 3) * 29 % 23) as f64 - 11.0) * pace / 8.0;
        let doubles: [Vec<f64>; D] = core::array::from_fn(|axis| (0..n).map(|id| step(id, axis) / 3.0).collect());
        let singles = doubles.each_ref().map(|column| column.iter().rev().map(|&by| by as f32).collect());
        Self { mixture, singles, doubles }
    }

    fn sets(&self) -> [Set<'_, D>; 5] {
        let [round, boxes, boxes64, capsules, capsules64] = self.mixture.sets();
        let (singles, doubles) = (self.singles.each_ref(), self.doubles.each_ref());
        [round.moving(singles), boxes.moving(doubles), boxes64, capsules.moving(doubles), capsules64.moving(singles)]
    }

    /// How far a body of a set moves.
    fn by(&self, set: usize, id: u32) -> [f64; D] {
        match set {
            2 => [0.0; D],
            0 | 4 => self.singles.each_ref().map(|column| column[id as usize].into()),
            _ => self.doubles.each_ref().map(|column| column[id as usize]),
        }
    }

    /// Returns how the second body of a pair moves as seen from the first.
    fn apart(&self, sets: [usize; 2], [a, b]: [u32; 2]) -> [f64; D] {
        let (from, to) = (self.by(sets[0], a), self.by(sets[1], b));
        core::array::from_fn(|axis| to[axis] - from[axis])
    }
}

/// A pair, the image of its second body, and when they touch.
type Hit<const D: usize> = (Seen<D>, f64);

fn hits<const D: usize>(way: &mut Way<D>, input: Input<'_, D>) -> Vec<Hit<D>> {
    let found = way.search().find(input).expect("sets");
    assert_eq!(found.times_of_impact().len(), found.pairs().len(), "a time for each pair");
    let shifts = found.image_shifts().chain(core::iter::repeat([0; D]));
    found.pairs().iter().copied().zip(shifts).zip(found.times_of_impact().iter().copied()).collect()
}

/// Checks what was found between two sets against halving, with `most` of each vector of the space.
fn assert_found<const D: usize>(
    (name, moving, sets): (&str, &Moving<D>, [usize; 2]),
    (space, most): (Space<D>, i32),
    found: &[Hit<D>],
) -> [usize; 2] {
    let (solids, vectors) = (moving.mixture.solids(), vectors_of(space));
    let mut known: Vec<_> = found.to_vec();
    known.sort_unstable_by_key(|hit| hit.0);
    let (side, mut seen, mut late) = (2 * most + 1, 0, 0);
    for image in 0..side.pow(D as u32) {
        let steps: [i32; D] = core::array::from_fn(|k| image / side.pow(k as u32) % side - most);
        if (0..D).any(|k| steps[k] != 0 && vectors[k].is_none()) {
            continue;
        }
        let shift = core::array::from_fn(|axis| {
            (0..D).map(|k| f64::from(steps[k]) * vectors[k].map_or(0.0, |vector| vector[axis])).sum()
        });
        let ahead = steps.iter().rev().find(|&&step| step != 0).is_some_and(|&step| step > 0);
        for (a, one) in solids[sets[0]].iter().enumerate() {
            for (b, other) in solids[sets[1]].iter().enumerate() {
                if sets[0] == sets[1] && (a > b || a == b && !ahead) {
                    continue;
                }
                let (pair, other) = ([a as u32, b as u32], other.at(shift));
                let by = moving.apart(sets, pair);
                let gap = one.least_gap(&other, by);
                let hit = known.binary_search_by_key(&(pair, steps), |hit| hit.0).ok().map(|at| known[at].1);
                assert!(
                    gap.abs() < CLOSE || (gap < 0.0) == hit.is_some(),
                    "{name}: {pair:?} at {steps:?}, {hit:?}, not {gap}: {one:?}, {other:?} by {by:?}"
                );
                let Some(time) = hit else { continue };
                // They just touch then, unless they overlap from the beginning.
                let gap = one.gap(&other.at(by.map(|by| time * by)));
                let fits = gap < CLOSE && (time == 0.0 || gap > -CLOSE);
                assert!(fits && (0.0..=1.0).contains(&time), "{name}: {pair:?} at {time}: {gap}, {one:?}, {other:?}");
                (seen, late) = (seen + 1, late + usize::from(time > 0.0));
            }
        }
    }
    assert_eq!(seen, found.len(), "{name}: at images where they cannot be");
    [seen, late]
}

fn mixtures<const D: usize>(pace: f64) {
    let mut ways = Ways::<D>::all();
    let moving = Moving::<D>::new(30, pace);
    let (sets, table) = (moving.sets(), ActivationTable::all(5));
    let lists = ways.same("mixture", |way| {
        let found = way.search().find(Input::among(&sets, &table)).expect("sets");
        let pairs = (0..25).map(|at| found.pairs_between(at / 5, at % 5).to_vec()).collect::<Vec<_>>();
        (pairs, found.times_of_impact().to_vec())
    });
    let (mut seen, mut late) = (0, 0);
    for (i, j) in (0..5).flat_map(|i| (i..5).map(move |j| (i, j))) {
        if (i, j) == (2, 2) {
            continue;
        }
        let name = format!("sets {i} and {j}");
        let input = if i == j { Input::within(sets[i]) } else { between(sets[i], sets[j]) };
        let found = ways.same(&name, |way| hits(way, input));
        let [all, after] = assert_found((&name, &moving, [i, j]), (Space::open(), 0), &found);
        (seen, late) = (seen + all, late + after);
        let mut pairs: Vec<_> = found.iter().map(|hit| hit.0.0).collect();
        let mut listed = lists.0[i * 5 + j].clone();
        listed.sort_unstable();
        pairs.sort_unstable();
        assert_eq!(listed, pairs, "{name} among all");
        if i != j {
            let turned = ways.by_turns(|way| hits(way, between(sets[j], sets[i])));
            let mut turned: Vec<_> = turned.into_iter().map(|(([b, a], _), _)| [a, b]).collect();
            turned.sort_unstable();
            assert_same(&name, &turned, &pairs);
        }
        assert_same(&name, &ways.by_turns(|way| rows_of(way, input, Rows::Half)), &pairs);
        assert_eq!(ways.by_turns(|way| way.search().count(input).expect("sets")), pairs.len() as u64);
    }
    assert!(late > 100 && seen > late + 50, "{late} of {seen} after the beginning");
}

#[test]
fn bodies_of_every_shape_meet_on_their_way() {
    mixtures::<2>(0.5);
    mixtures::<3>(0.5);
}

#[test]
fn bodies_of_every_shape_meet_on_their_way_across_the_borders_of_a_cell() {
    let spaces = [
        (Space::periodic([Some([0.0, 5.0]), Some([-1.0, 4.0])]), 4),
        (Space::lattice([[6.0, 0.5], [-1.0, 4.0]], [false, true]).at([0.25, 0.5]), 4),
    ];
    let mut ways = Ways::<2>::all();
    let mut moving = Moving::<2>::new(24, 2.0);
    for id in (0..24).step_by(7) {
        moving.mixture.centers[0][id] += 5.0;
    }
    let sets = moving.sets();
    for (number, (space, most)) in spaces.into_iter().enumerate() {
        let mut across = 0;
        for (i, j) in (0..5).flat_map(|i| (i..5).map(move |j| (i, j))).filter(|(i, j)| (i + j + number) % 2 == 1) {
            if (i, j) == (2, 2) {
                continue;
            }
            let name = format!("sets {i} and {j} in {space:?}");
            let input = if i == j { Input::within(sets[i]) } else { between(sets[i], sets[j]) }.space(space);
            let found = ways.same(&name, |way| hits(way, input));
            assert_found((&name, &moving, [i, j]), (space, most), &found);
            across += found.iter().filter(|hit| hit.0.1 != [0; 2]).count();
            if j > 0 {
                let (seen, solids): (Vec<_>, _) = (found.iter().map(|hit| hit.0).collect(), moving.mixture.solids());
                check_columns((&mut ways, &name), (input, space), &seen, ([&solids[i], &solids[j]], i == j));
            }
        }
        assert!(across > 20, "{across} pairs across borders");
    }
}

/// Bodies a millionth as large as they lie apart, so that no frame tells them from each other.
#[test]
fn small_bodies_far_apart_meet_on_their_way() {
    let n = 300;
    let x: Vec<f64> = (0..n).map(|id| f64::from(id / 2) * 1e6 + f64::from(id % 2) * 3e-3).collect();
    let by: Vec<f64> = (0..n).map(|id| if id % 4 == 1 { -2.5e-3 } else { 0.0 }).collect();
    let (zero, one) = (vec![0.0; n as usize], vec![1e-3; n as usize]);
    let far: Vec<_> = x.iter().map(|x| x + 1e-3).collect();
    let mut ways = Ways::<2>::all();
    let boxes = Set::from(Boxes64::new([&x, &zero], [&far, &one])).moving([&by, &zero]);
    let found = ways.same("far apart", |way| hits(way, boxes.into()));
    let expected: Vec<_> = (0..n as u32 / 4).map(|at| [4 * at, 4 * at + 1]).collect();
    let mut pairs: Vec<_> = found.iter().map(|hit| hit.0.0).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, expected);
    assert!(found.iter().all(|hit| (hit.1 - 0.8).abs() < 1e-5), "{found:?}");
}

#[test]
fn a_shot_hits_the_wall_that_it_would_pass_in_one_step() -> Result<(), Box<dyn std::error::Error>> {
    let mut finder = PairFinder::new();
    let walls = Boxes::new([&[4.0, f32::NEG_INFINITY], &[-1.0, 7.0]], [&[4.5, f32::INFINITY], &[1.0, f32::INFINITY]]);
    let shots = Set::from(Circles::new(&[0.0, 0.0, 2.0], &[0.0, 2.0, 0.0], 0.5))
        .moving([&[14.0_f32, 14.0, 0.0], &[0.0, 0.0, 9.0]]);
    let input = between(shots, walls);
    let found = finder.find(input)?;
    assert_eq!((found.pairs(), found.times_of_impact()), ([[2, 1], [0, 0]].as_slice(), [6.5 / 9.0, 0.25].as_slice()));
    let mut list = Vec::new();
    contacts(found, input, Threads::Current, &mut list)?;
    assert_eq!([list[0].normal, list[1].normal], [[0.0, 1.0], [1.0, 0.0]]);
    assert_eq!([list[0].point, list[1].point], [[2.0, 7.0], [4.0, 0.0]]);
    // Two boxes, and a rod that turns no corner.
    let crates = Set::from(Boxes::new([&[0.0, 3.0], &[0.0, 4.0]], [&[1.0, 4.0], &[1.0, 5.0]]));
    let found = finder.find(crates.moving([&[4.0_f32, 0.0], &[4.0, 0.0]]))?;
    assert_eq!((found.pairs(), found.times_of_impact()), ([[0, 1]].as_slice(), [0.75].as_slice()));
    let rods = Set::from(Capsules::new([&[0.0], &[-3.0]], [&[0.0], &[3.0]], 0.25)).moving([&[8.0_f64], &[0.0]]);
    let found = finder.find(between(rods, walls))?;
    assert_eq!((found.pairs(), found.times_of_impact()), ([[0, 0]].as_slice(), [3.75 / 8.0].as_slice()));
    // Circles meet at the times that they meet at where there are no boxes.
    let discs = Set::from(Circles64::new(&[0.1, 7.3], &[0.2, 1.1], 0.7)).moving([&[6.9, -1.0], &[0.3, 0.1]]);
    let alone = finder.find(discs)?.times_of_impact().to_vec();
    let (sets, table) = ([discs, walls.into()], ActivationTable::none(2).with(0, 0));
    assert_eq!((alone.len(), finder.find(Input::among(&sets, &table))?.times_of_impact()), (1, alone.as_slice()));
    Ok(())
}

#[test]
fn contacts_are_those_of_the_moment_of_impact() {
    let moving = Moving::<2>::new(64, 1.0);
    let (sets, solids, mut finder) = (moving.sets(), moving.mixture.solids(), PairFinder::new());
    for (i, j) in (0..5).flat_map(|i| (0..5).map(move |j| (i, j))).filter(|&(i, j)| i != j) {
        let (input, mut list) = (between(sets[i], sets[j]), Vec::new());
        let found = finder.find(input).expect("sets");
        contacts_f64(found, input, Threads::Serial, &mut list).expect("contacts");
        for ((&pair, &time), contact) in found.pairs().iter().zip(found.times_of_impact()).zip(&list) {
            let at = |set: usize, id: u32| solids[set][id as usize].at(moving.by(set, id).map(|by| time * by));
            let (one, other) = (at(i, pair[0]), at(j, pair[1]));
            let pushed = |by: f64| other.at(contact.normal.map(|x| x * by));
            assert!(one.gap(&pushed(contact.depth + 1e-6)) > 0.0, "{one:?}, {other:?}, {contact:?}");
            if time > 0.0 {
                let point = Solid::Long([contact.point; 2], 1e-6);
                let touches = one.gap(&point) < 0.0 && other.gap(&point) < 0.0;
                assert!(touches && contact.depth < CLOSE, "{time}: {one:?}, {other:?}, {contact:?}");
            }
        }
    }
    let (lost, mut list) = (Set::from(Boxes::new([&[0.0], &[0.0]], [&[1.0], &[1.0]])), Vec::new());
    let lost = lost.moving([&[f32::NAN], &[0.0]]);
    let error = contacts(&[[0, 0]], between(lost, lost), Threads::Current, &mut list).expect_err("a step of NaN");
    assert!(matches!(error, ContactError::Bodies(_)), "{error}");
}

#[test]
fn prepared_boxes_meet_bodies_on_their_way() {
    let moving = Moving::<2>::new(64, 0.5);
    let sets = moving.sets();
    for space in [Space::open(), Space::periodic([Some([0.0, 9.5]), None])] {
        let (mut ways, mut prepared) = (Ways::<2>::all(), PreparedSet::new());
        prepared.build(moving.mixture.sets()[2], space, Threads::Serial).expect("boxes");
        for other in [0, 1, 3, 4] {
            let of = |boxes| between(sets[other], boxes).space(space);
            let mut found = ways.same("prepared", |way| hits(way, of(Set::from(&prepared))));
            let mut expected = ways.by_turns(|way| hits(way, of(sets[2])));
            [&mut found, &mut expected].into_iter().for_each(|hits| hits.sort_unstable_by_key(|hit| hit.0));
            assert!(found.len() > 10 && found == expected, "{other} in {space:?}");
            // A prepared set may move as well.
            let by = moving.singles.each_ref();
            let found = ways.by_turns(|way| hits(way, of(Set::from(&prepared).moving(by))));
            let expected = ways.by_turns(|way| hits(way, of(sets[2].moving(by))));
            assert!(found == expected, "{other} in {space:?}, moving");
        }
    }
}

/// A rod and a post that touch by rounding alone, though the boxes around them are apart, beside a set that moves.
#[test]
fn what_touches_at_rest_beside_bodies_that_move_touches_at_time_0() {
    let rod = Capsules64::new([&[-0.001], &[-0.0022500000000000003]], [&[-0.00275], &[-0.0010000000000000002]], 0.001);
    let (post, shot) = (Circles64::new(&[-0.00275], &[0.00075], 0.00075), Circles::new(&[9.0], &[9.0], 1.0));
    let sets = [rod.into(), post.into(), Set::from(shot).moving([&[1.0], &[1.0]])];
    let (table, mut ways) = (ActivationTable::all(3), Ways::<2>::all());
    let input = Input::among(&sets, &table);
    let found = ways.same("at rest", |way| hits(way, input));
    assert_eq!(found.iter().map(|hit| hit.1).collect::<Vec<_>>(), [0.0], "{found:?}");
}

/// Walls and shots without thickness part in both directions at once. From whichever side a shot comes, and at whichever
/// image, the normal leads back to where it came from.
#[test]
fn what_hits_a_flat_wall_parts_on_the_side_that_it_came_from() {
    let (mut finder, mut list) = (PairFinder::new(), Vec::new());
    for (at, side) in (-40..40).flat_map(|at| [(f64::from(at), 1.0), (f64::from(at), -1.0)]) {
        let (x, y, slope) = (at * 0.37, side * 0.7, [at * 0.013, side * -1.9]);
        let flat = Boxes64::new([&[-50.0], &[0.0]], [&[50.0], &[0.0]]);
        let thin = Capsules64::new([&[50.0], &[0.0]], [&[-50.0], &[0.0]], 0.0);
        let [xs, ys, ends] = [[x], [y], [x + 0.25]];
        let shots: [Set<'_, 2>; 3] = [
            Circles64::new(&xs, &ys, 0.0).into(),
            Capsules64::new([&xs, &ys], [&ends, &ys], 0.0).into(),
            Boxes64::new([&xs, &ys], [&ends, &ys]).into(),
        ];
        let by = slope.map(|by| [by]);
        for (wall, shot) in [Set::from(flat), thin.into()].into_iter().flat_map(|wall| shots.map(|shot| (wall, shot))) {
            let shot = shot.moving(by.each_ref());
            for (input, sign) in [(between(wall, shot), side), (between(shot, wall), -side)] {
                for space in [Space::open(), Space::periodic([None, Some([-300.3, 300.4])])] {
                    let input = input.space(space);
                    let found = finder.find(input).expect("a wall and a shot");
                    assert!(matches!(found.times_of_impact(), [time] if (0.3..0.5).contains(time)), "{at}, {side}");
                    contacts_f64(found, input, Threads::Serial, &mut list).expect("a pair");
                    let [x, y] = list[0].normal;
                    assert!(x.abs() < 1e-12 && (y - sign).abs() < 1e-12, "{at}, {side}: {:?}", list[0]);
                    assert!(list[0].depth < 1e-12, "{at}, {side}: {:?}", list[0]);
                }
            }
        }
    }
}

/// Boxes that meet corner to corner part on an axis on which they came nearer.
#[test]
fn boxes_that_meet_at_corners_part_against_their_motion() {
    let (mut finder, mut list) = (PairFinder::new(), Vec::new());
    let first = Boxes64::new([&[0.0], &[0.0]], [&[2.0], &[2.0]]);
    for [x, y] in [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]] {
        // The second box is beside the first until 0.5 and below or above it from 0.5 on.
        let across = if x > 0.0 { [[-1.0], [0.5]] } else { [[1.5], [3.0]] };
        let up = if y > 0.0 { [[-2.5], [-1.5]] } else { [[3.5], [4.5]] };
        let by = [[6.0 * x], [3.0 * y]];
        let second = Set::from(Boxes64::new([&across[0], &up[0]], [&across[1], &up[1]])).moving(by.each_ref());
        for (input, sign) in [(between(first, second), 1.0), (between(second, first), -1.0)] {
            let found = finder.find(input).expect("two boxes");
            assert_eq!(found.times_of_impact(), [0.5]);
            contacts_f64(found, input, Threads::Serial, &mut list).expect("a pair");
            assert_eq!((list[0].depth, list[0].normal), (0.0, [0.0, -y * sign]), "{x}, {y}");
        }
    }
}

/// Only the point of a contact is rounded as coordinates are.
#[test]
fn contacts_with_boxes_are_as_deep_far_from_the_origin() {
    let (mut finder, mut list) = (PairFinder::new(), Vec::new());
    let mut contacts_at = |base: f64| {
        let at = |x: f64| [base + x];
        let (lo, hi) = ([at(-7.0), at(0.0)], [at(-7.0), at(2.0)]);
        let (p, q) = ([at(-12.0), at(3.0)], [at(-7.0), at(-3.0)]);
        let wall: Set<'_, 2> = Boxes64::new(lo.each_ref(), hi.each_ref()).into();
        let rod: Set<'_, 2> = Capsules64::new(p.each_ref(), q.each_ref(), 3.0).into();
        let [left, up] = [at(-10.3125), at(-2.0)];
        let disc = Set::from(Circles64::new(&left, &up, 2.0)).moving([&[1.75], &[0.875]]);
        let mut all = Vec::new();
        for input in [between(wall, rod), between(rod, wall), between(wall, disc), between(disc, wall)] {
            let found = finder.find(input).expect("two bodies");
            contacts_f64(found, input, Threads::Serial, &mut list).expect("pairs");
            all.extend(list.iter().map(|contact| (contact.depth, contact.normal)));
        }
        all
    };
    let near = contacts_at(0.0);
    assert_eq!(near.len(), 4);
    for exponent in [20, 40, 48] {
        assert_eq!(contacts_at(2.0_f64.powi(exponent)), near, "at 2^{exponent}");
    }
}

#[test]
fn steps_that_lead_nowhere_are_refused_by_their_ids() {
    let mut finder = PairFinder::new();
    let (lo, hi) = ([[0.0, f32::NEG_INFINITY], [0.0, 0.0]], [[1.0, f32::INFINITY], [1.0, 1.0]]);
    let boxes = Set::from(Boxes::new(lo.each_ref(), hi.each_ref()));
    let rods = Set::from(Capsules::new([&[0.0; 2]; 2], [&[1.0; 2]; 2], 0.5));
    let range = |id, axis| InputError::Range { count: 1, first: vec![(id, RangeFault::Displacement { axis })] };
    for set in [boxes, rods] {
        for bad in [f64::NAN, f64::INFINITY, 2.0_f64.powi(251)] {
            assert_eq!(finder.find(set.moving([&[0.0, 0.0], &[0.0, bad]])).unwrap_err(), range(1, 1), "{bad}");
        }
        let lengths = InputError::Displacements { bodies: 2, displacements: vec![2, 1] };
        assert_eq!(finder.find(set.moving([[0.0; 2].as_slice(), &[0.0]])).unwrap_err(), lengths);
        assert_eq!(finder.find(set.moving([&[0.0; 2], &[1e70; 2]])).expect("far").pairs(), [[0, 1]]);
    }
}

//! Boxes of every kind, by every instruction set, on any threads, against plain loops; and boxes that are refused.

use jostle::{
    ActivationTable, Boxes, Boxes64, Capsules, Capsules64, Circles, Circles64, Input, InputError, Layers, PairFinder,
    PreparedSet, RadiusField, RangeFault, Reason, Rows, Set, Space, Threads, ViewError, between,
};
use jostle_testkit::box_pairs::by_sweep;
use jostle_testkit::pairs::{Calls, ascending, assert_same, both_ways};
use jostle_testkit::pool;
use jostle_testkit::shapes::{BoxKind, box_pairs, boxes, boxes_across};

use crate::embed::ways::{Way, Ways};

/// Checks all answers of a search against the pairs `expected` (ascending), and returns their order.
pub(crate) fn check<const D: usize>(
    ways: &mut Ways<D>,
    name: &str,
    input: Input<'_, D>,
    expected: &[[u32; 2]],
) -> Vec<[u32; 2]> {
    let sequence = ways.same(name, |way| way.search().find(input).expect(name).pairs().to_vec());
    assert_same(name, &ascending(&sequence), expected);
    assert_eq!(ways.by_turns(|way| way.search().count(input).expect(name)), expected.len() as u64, "{name}");
    let visited = ways.by_turns(|way| {
        let visited = Calls::default();
        way.search().for_each_pair(input, |a, b| visited.push(a, b)).expect(name);
        visited.into_pairs()
    });
    assert_same(name, &ascending(&visited), expected);
    let folded = ways.by_turns(|way| {
        let merge = |mut left: Vec<[u32; 2]>, mut right: Vec<_>| {
            left.append(&mut right);
            left
        };
        way.search().fold(input, Vec::new, |all, a, b| all.push([a, b]), merge).expect(name)
    });
    assert!(folded == sequence, "{name}, {D}D: another order of a fold");
    sequence
}

fn every_kind<const D: usize>() {
    let mut ways = Ways::<D>::all();
    for kind in BoxKind::ALL {
        for n in [0, 1, 2, 17, 700] {
            let scene = boxes::<D>(kind, n);
            check(&mut ways, &format!("{kind:?} of {n}"), scene.view().into(), &box_pairs(&scene));
        }
    }
}

#[test]
fn pairs_of_boxes_are_those_of_plain_loops() {
    every_kind::<2>();
    every_kind::<3>();
}

fn many<const D: usize>() {
    let mut ways = Ways::<D>::few();
    for kind in [BoxKind::Beams, BoxKind::Degenerate] {
        // The scene has more than one segment, and more than one thread takes part.
        let scene = boxes::<D>(kind, 15_000);
        let (name, expected) = (format!("{kind:?}"), by_sweep(scene.view()));
        let sequence = ways.same(&name, |way| way.search().find(scene.view()).expect("boxes").pairs().to_vec());
        assert_same(&name, &ascending(&sequence), &expected);
        for threads in [2, 8] {
            let mut finder = PairFinder::new();
            let again = pool(threads).install(|| finder.find(scene.view()).expect("boxes").pairs().to_vec());
            assert!(again == sequence, "{name}, {D}D: another order on {threads} threads");
        }
    }
}

#[test]
fn many_boxes_are_searched_in_one_order() {
    many::<2>();
    many::<3>();
}

#[test]
fn boxes_may_lie_in_structs_and_in_strided_memory() -> Result<(), Box<dyn std::error::Error>> {
    let scene = boxes::<2>(BoxKind::Uniform, 300);
    let rows: Vec<[f32; 4]> =
        (0..300).map(|id| [scene.lo[0][id], scene.lo[1][id], scene.hi[0][id], scene.hi[1][id]]).collect();
    let strided = Boxes::<2>::from_strided(rows.as_flattened(), 300, 16, [0, 4], [8, 12])?;
    let mut finder = PairFinder::new();
    let expected = finder.find(scene.view())?.pairs().to_vec();
    assert!(finder.find(strided)?.pairs() == expected);
    let rods = |radius| Capsules::<2>::from_strided(rows.as_flattened(), 300, 16, [0, 4], [8, 12], radius);
    let columns = Capsules::new(scene.lo.each_ref(), scene.hi.each_ref(), 0.25);
    let of_columns = PairFinder::new().find(columns)?.pairs().to_vec();
    assert!(PairFinder::new().find(rods(RadiusField::All(0.25))?)?.pairs() == of_columns);
    let with_radii = rods(RadiusField::At(0))?;
    assert_eq!((with_radii.ends(7), with_radii.radius(7)), (columns.ends(7), scene.lo[0][7]));
    let beyond = Capsules::<2>::from_strided(rows.as_flattened(), 300, 16, [0, 4], [8, 13], RadiusField::All(0.25));
    assert!(matches!(beyond, Err(ViewError::Base { offset: 13, .. })));
    struct Wall {
        lo: [f32; 2],
        _name: &'static str,
        hi: [f32; 2],
    }
    let walls: Vec<Wall> =
        rows.iter().map(|row| Wall { lo: [row[0], row[1]], _name: "wall", hi: [row[2], row[3]] }).collect();
    let walls = Boxes::from_columns(jostle::field!(Wall, lo).axes(&walls), jostle::field!(Wall, hi).axes(&walls));
    assert!(finder.find(walls)?.pairs() == expected);
    Ok(())
}

#[test]
fn boxes_that_are_none_are_refused_by_their_ids() {
    let mut finder = PairFinder::<2>::new();
    finder.find(Boxes::new([&[0.0], &[0.0]], [&[1.0], &[1.0]])).expect("a box");
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let (lo, hi) = ([0.0, 5.0, nan, 0.0, inf, -inf], [1.0, 4.0, 9.0, nan, inf, inf]);
    let error = finder.find(Boxes::new([&lo, &[0.0; 6]], [&hi, &[1.0; 6]])).unwrap_err();
    let not_number = Reason::CornerNotNumber { axis: 0 };
    let first = vec![(1, Reason::CornersSwapped { axis: 0 }), (2, not_number), (3, not_number), (4, not_number)];
    assert_eq!(error, InputError::Bodies { count: 4, first });
    assert!(error.to_string().contains("id 1: lower corner above the upper one on axis 0"), "{error}");
    // A margin does not make such a body a box.
    let swapped = Boxes::new([&[1.0], &[0.0]], [&[0.5], &[1.0]]).with_margin(3.0);
    assert!(matches!(finder.find(swapped), Err(InputError::Bodies { count: 1, .. })));
    let in_double = Boxes64::new([&[1.0], &[0.0]], [&[0.5], &[1.0]]).with_margin(3.0);
    assert!(matches!(finder.find(in_double), Err(InputError::Bodies { count: 1, .. })));
    let rods = Capsules::new([&[0.0], &[0.0]], [&[9.0], &[0.0]], 0.5);
    let error = finder.find(Input::between(rods, swapped)).unwrap_err().to_string();
    assert!(error.contains("set 1") && error.contains("lower corner above"), "{error}");
    let short = Boxes::new([[0.0; 2].as_slice(), &[0.0; 2]], [&[1.0; 2], &[1.0; 1]]);
    let lengths = ViewError::Corners { lower: vec![2, 2], upper: vec![2, 1] };
    assert_eq!(finder.find(short).unwrap_err(), InputError::View(lengths));
    let margin = Boxes::new([&[0.0], &[0.0]], [&[1.0], &[1.0]]).with_margin(-1.0);
    assert!(matches!(finder.find(margin), Err(InputError::View(ViewError::Margin { .. }))));
}

/// Tests every line about boxes or capsules of the table in the documentation of `Input`.
#[test]
fn boxes_have_no_tree_and_end_where_space_repeats() {
    let (lo, hi) = ([[0.0, 1.5], [0.0, 0.0]], [[1.0, 3.0], [1.0, 1.0]]);
    let [from, to] = [lo, hi].map(|corners| corners.map(|column| column.map(f64::from)));
    let views: [Set<'_, 2>; 4] = [
        Boxes::new(lo.each_ref(), hi.each_ref()).into(),
        Boxes64::new(from.each_ref(), to.each_ref()).into(),
        Capsules::new(lo.each_ref(), hi.each_ref(), 0.5).into(),
        Capsules64::new(from.each_ref(), to.each_ref(), 0.5).into(),
    ];
    let circles = Circles::new(&[0.0, 9.0], &[0.0; 2], 0.5);
    let mut finder = PairFinder::new();
    for view in views {
        // The caller never gets a tree of boxes.
        finder.find(circles).expect("circles");
        let build = finder.last().tree().build_number();
        finder.find(view).expect("bodies");
        assert_eq!(finder.last().tree().build_number(), build);
        assert_eq!(finder.last().rank_to_id().count(), 2);
    }
    let endless = Boxes::new([&[f32::NEG_INFINITY], &[0.0]], [&[0.0], &[1.0]]);
    let space = Space::periodic([Some([0.0, 9.0]), None]);
    let fault = InputError::Range { count: 1, first: vec![(0, RangeFault::Endless { axis: 0 })] };
    assert_eq!(finder.find(Input::within(endless).space(space)).unwrap_err(), fault);
    assert_eq!(PreparedSet::new().build(endless, space, Threads::Serial).unwrap_err(), fault);
}

/// Returns the rows of a search as pairs, in their order.
pub(crate) fn rows_of<const D: usize>(way: &mut Way<D>, input: Input<'_, D>, rows: Rows) -> Vec<[u32; 2]> {
    let (threads, before) = (way.threads(), way.finder.last().pairs().to_vec());
    let stats = way.finder.on(threads).neighbors(input, rows, &mut way.lists).expect("rows");
    assert_eq!(stats.pairs, way.lists.neighbors().len() as u64);
    assert!(way.finder.last().pairs() == before, "the last list stands");
    let row = |id: usize| way.lists.of(id).iter().map(move |&other| [id as u32, other]);
    (0..way.lists.len()).flat_map(row).collect()
}

fn relations<const D: usize>() {
    let mut ways = Ways::<D>::all();
    for kind in [BoxKind::Uniform, BoxKind::Beams, BoxKind::Degenerate] {
        let name = format!("{kind:?}");
        let (scene, few) = (boxes::<D>(kind, 900), boxes::<D>(BoxKind::Rods, 5));
        let [a, b] = [0, 1].map(|remainder| scene.half(remainder));
        for (a, b) in [(&a, &b), (&few, &scene), (&scene, &few)] {
            check(&mut ways, &name, between(a.view(), b.view()), &boxes_across(a, b));
        }
        let categories: Vec<u32> = (0..900).map(|id| 1 << (id % 3)).collect();
        let layers = Layers::new(categories.as_slice(), 0b011_u32);
        let meets = |id: u32| id % 3 != 2;
        let all = box_pairs(&scene);
        let layered: Vec<_> = all.iter().copied().filter(|&[a, b]| meets(a) && meets(b)).collect();
        check(&mut ways, &name, Set::from(scene.view()).layers(layers).into(), &layered);
        let only = |a: u32, b: u32| (a ^ b) % 4 == 1;
        let kept: Vec<_> = all.iter().copied().filter(|&[a, b]| only(a, b)).collect();
        let found =
            ways.same(&name, |way| way.search().only(&only).find(scene.view()).expect("boxes").pairs().to_vec());
        assert_same(&name, &ascending(&found), &kept);
        let mut grown = scene.clone();
        (0..D).for_each(|axis| {
            grown.lo[axis].iter_mut().for_each(|lo| *lo -= 0.3);
            grown.hi[axis].iter_mut().for_each(|hi| *hi += 0.3);
        });
        check(&mut ways, &name, scene.view().with_margin(0.3).into(), &box_pairs(&grown));
        for (rows, expected) in [(Rows::Half, all.clone()), (Rows::Full, both_ways(&all))] {
            let listed = ways.same(&name, |way| rows_of(way, scene.view().into(), rows));
            assert_same(&name, &listed, &expected);
        }
        let listed = ways.by_turns(|way| rows_of(way, between(a.view(), few.view()), Rows::Full));
        assert_same(&name, &listed, &boxes_across(&a, &few));
        let (sets, table) = ([a.view().into(), b.view().into()], ActivationTable::none(2).with(0, 1).with(1, 1));
        let search = |way: &mut Way<D>| {
            let found = way.search().find(Input::among(&sets, &table)).expect("sets");
            [found.pairs_between(0, 1).to_vec(), found.pairs_between(1, 1).to_vec()]
        };
        let [across, within] = ways.same(&name, search);
        assert_same(&name, &ascending(&across), &boxes_across(&a, &b));
        assert_same(&name, &ascending(&within), &box_pairs(&b));
    }
}

#[test]
fn boxes_meet_between_sets_among_many_by_layers_and_with_a_margin() {
    relations::<2>();
    relations::<3>();
}

#[test]
fn distances_in_f64_are_decided_by_the_numbers_of_the_caller() {
    // Far from the origin, apart by less than an ulp of `f32`, or exactly at the border.
    let (at, ulp) = (1e9, 1.0 / (1 << 20) as f64);
    let mut finder = PairFinder::<2>::new();
    let (lo, hi) = ([at, at + 1.0, at + 1.0 + ulp], [at + 1.0, at + 2.0, at + 2.0]);
    let boxes = Boxes64::new([&lo, &[0.0; 3]], [&hi, &[1.0; 3]]);
    assert_eq!(ascending(finder.find(boxes).expect("boxes").pairs()), [[0, 1], [1, 2]]);
    let (x, radii) = ([at + 4.0; 2], [5.0, 5.0 - ulp]);
    let discs = Circles64::new(&x, &[5.0, 5.0], &radii);
    let unit = Boxes64::new([&lo[..1], &[0.0]], [&hi[..1], &[1.0]]);
    assert_eq!(finder.find(between(unit, discs)).expect("sets").pairs(), [[0, 0]]);
    let whole = Boxes::new([&[f32::NEG_INFINITY], &[f32::NEG_INFINITY]], [&[f32::INFINITY], &[f32::INFINITY]]);
    assert_eq!(finder.find(between(discs, whole)).expect("sets").pairs().len(), 2);
    let rods = Capsules::new([&[0.0, f32::NAN], &[0.0; 2]], [&[1.0; 2], &[1.0; 2]], 1.0);
    let error = finder.find(rods).unwrap_err();
    assert_eq!(error, InputError::Bodies { count: 1, first: vec![(1, Reason::EndNotFinite { axis: 0 })] });
    let error = finder.find(between(rods, Circles::new(&[0.0], &[0.0], -1.0))).unwrap_err();
    assert!(matches!(error.by_set(), (Some(0), InputError::Bodies { count: 1, .. })), "{error}");
}

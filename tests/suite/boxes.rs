//! Boxes, of every kind, by every instruction set, on any threads, against plain loops; and what is refused.

use std::sync::Mutex;

use jostle::{
    Boxes, CoherentFinder, Input, InputError, PairFinder, PreparedSet, Reason, Set, Space, Threads, ViewError,
};
use jostle_testkit::pairs::{ascending, assert_same};
use jostle_testkit::pool;
use jostle_testkit::shapes::{BoxKind, box_pairs, boxes};

use crate::embed::ways::Ways;

/// Checks all answers of a search against the pairs `expected` (ascending); their order.
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
        let visited = Mutex::new(Vec::new());
        let visit = |a, b| visited.lock().expect("a list").push([a, b]);
        way.search().for_each_pair(input, visit).expect(name);
        visited.into_inner().expect("a list")
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
    for kind in [BoxKind::Uniform, BoxKind::Beams, BoxKind::PowerLaw, BoxKind::Degenerate] {
        // More than one segment, and more than one thread takes part.
        let scene = boxes::<D>(kind, 15_000);
        let (name, expected) = (format!("{kind:?}"), box_pairs(&scene));
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
    // A margin does not make a box of it.
    let swapped = Boxes::new([&[1.0], &[0.0]], [&[0.5], &[1.0]]).with_margin(3.0);
    assert!(matches!(finder.find(swapped), Err(InputError::Bodies { count: 1, .. })));
    let short = Boxes::new([[0.0; 2].as_slice(), &[0.0; 2]], [&[1.0; 2], &[1.0; 1]]);
    let lengths = ViewError::Corners { lower: vec![2, 2], upper: vec![2, 1] };
    assert_eq!(finder.find(short).unwrap_err(), InputError::View(lengths));
    let margin = Boxes::new([&[0.0], &[0.0]], [&[1.0], &[1.0]]).with_margin(-1.0);
    assert!(matches!(finder.find(margin), Err(InputError::View(ViewError::Margin { .. }))));
}

#[test]
fn what_is_not_built_for_boxes_is_refused_by_its_name() {
    let scene = boxes::<2>(BoxKind::Uniform, 30);
    let refused = |error: InputError, parts: &str| {
        assert!(error.to_string().contains(parts), "{error}");
        assert!(matches!(error, InputError::Combination { .. }));
    };
    let mut finder = PairFinder::new();
    let moving = Set::from(scene.view()).moving([&[0.0_f32; 30], &[0.0; 30]]);
    refused(finder.find(moving).unwrap_err(), "boxes and displacements");
    refused(CoherentFinder::new().find(scene.view()).unwrap_err(), "boxes and a coherent finder");
    let open = Space::open();
    refused(PreparedSet::new().build(scene.view(), open, Threads::Serial).unwrap_err(), "a prepared set and boxes");
}

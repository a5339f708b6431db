use std::collections::BTreeMap;

use jostle_classics::{Body, LooseTightGrid};
use jostle_core::Aabb;
use proptest::prelude::*;

use crate::grids::{WORLD, bodies, inside, pairs, rectangles, sorted};

/// Operations on the grid. An operation names an element by a number, which is taken modulo the number of elements.
#[derive(Debug, Clone)]
enum Step {
    Insert(Body<2>),
    Remove(usize),
    Move(usize, Body<2>),
    Shrink,
    Query(Aabb<2>),
    Nearest([f32; 2]),
    Pairs,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => bodies().prop_map(Step::Insert),
        3 => any::<usize>().prop_map(Step::Remove),
        6 => (any::<usize>(), bodies()).prop_map(|(which, body)| Step::Move(which, body)),
        1 => Just(Step::Shrink),
        3 => rectangles().prop_map(Step::Query),
        3 => bodies().prop_map(|body| Step::Nearest(body.center)),
        1 => Just(Step::Pairs),
    ];
    prop::collection::vec(step, 1..150)
}

/// The elements in a plain list.
type Model = BTreeMap<u32, Body<2>>;

fn take(grid: &mut LooseTightGrid, model: &mut Model, step: Step) {
    let named = |model: &Model, which: usize| model.keys().nth(which % model.len().max(1)).copied();
    match step {
        Step::Insert(body) => {
            let id = grid.insert(body).expect("a sound body");
            assert_eq!(model.insert(id, body), None);
        }
        Step::Remove(which) => {
            let id = named(model, which).unwrap_or(7);
            assert_eq!(grid.remove(id), model.remove(&id));
            assert_eq!((grid.get(id), grid.remove(id)), (None, None));
        }
        Step::Move(which, body) => {
            let id = named(model, which).unwrap_or(7);
            let before = model.get_mut(&id).map(|old| std::mem::replace(old, body));
            assert_eq!(grid.move_to(id, body), Ok(before));
            assert_eq!(grid.get(id), before.map(|_| body));
        }
        Step::Shrink => grid.shrink(),
        Step::Query(rectangle) => {
            let mut found = Vec::new();
            grid.query(&rectangle, &mut |id| found.push(id));
            assert_eq!(sorted(found), inside(model.iter().map(|(&id, &body)| (id, body)), &rectangle));
        }
        Step::Nearest(point) => assert_eq!(grid.nearest(point), nearest(model, point), "nearest to {point:?}"),
        Step::Pairs => assert_eq!(sorted(pairs(grid)), overlapping(model)),
    }
}

fn nearest(model: &Model, point: [f32; 2]) -> Option<u32> {
    let distance2 = |body: &Body<2>| {
        let [dx, dy] = [0, 1].map(|axis| body.center[axis] - point[axis]);
        dx * dx + dy * dy
    };
    model.iter().min_by(|a, b| distance2(a.1).total_cmp(&distance2(b.1))).map(|(&id, _)| id)
}

fn overlapping(model: &Model) -> Vec<[u32; 2]> {
    let later = |a: u32| model.range(a + 1..);
    let pairs = model
        .iter()
        .flat_map(|(&a, body)| later(a).filter(|(_, other)| body.overlaps(other)).map(move |(&b, _)| [a, b]));
    pairs.collect()
}

fn check(mut grid: LooseTightGrid, steps: Vec<Step>) {
    let mut model = Model::new();
    for step in steps {
        take(&mut grid, &mut model, step);
        assert_eq!(grid.validate(), Ok(()));
        assert_eq!(grid.len(), model.len());
    }
    take(&mut grid, &mut model, Step::Pairs);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_steps_leave_what_a_plain_list_has(steps in steps()) {
        check(LooseTightGrid::new(WORLD, 4.0, 6.0).expect("a sound world"), steps);
    }

    #[test]
    fn giants_come_to_be_by_growth(steps in steps()) {
        check(LooseTightGrid::new(WORLD, 3.0, 1.0).expect("a sound world"), steps);
    }
}

#[test]
fn bodies_outside_the_contract_are_refused_one_by_one() {
    let mut grid = LooseTightGrid::new(WORLD, 4.0, 4.0).expect("a sound world");
    let good = Body { center: [1.0, 2.0], radius: 0.5 };
    assert_eq!((grid.insert(good), grid.insert(good)), (Ok(0), Ok(1)));
    for bad in [Body { radius: -1.0, ..good }, Body { center: [1.0, f32::NAN], ..good }, Body { radius: 1e30, ..good }]
    {
        assert!(grid.insert(bad).is_err_and(|error| error.to_string().contains("id 2")));
        assert!(grid.move_to(1, bad).is_err_and(|error| error.to_string().contains("id 1")));
    }
    assert_eq!((grid.len(), grid.get(1), grid.validate()), (2, Some(good), Ok(())));
}

#[test]
fn no_point_is_too_odd_to_ask_for() {
    let mut grid = LooseTightGrid::new(WORLD, 4.0, 4.0).expect("a sound world");
    assert_eq!(grid.nearest([1.0, 1.0]), None);
    grid.insert(Body { center: [60.0, 40.0], radius: 0.5 }).expect("a sound body");
    assert_eq!(grid.nearest([f32::NAN, 1.0]), None);
    assert_eq!(grid.nearest([f32::NEG_INFINITY, 1.0]), Some(0));
    assert_eq!(grid.nearest([f32::MAX, f32::MAX]), Some(0));
}

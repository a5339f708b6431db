//! The definition of every search, against cases small enough to be known.

use jostle_testkit::algebra::{
    CRYSTALS, Case, Columns, Hit, Neighbor, PlainLayers, PlainMoves, PlainRadii, PlainSet, PlainSpace, Relation,
};

fn circles(x: &[f32], y: &[f32], radius: f32) -> PlainSet<2> {
    PlainSet::new(Columns::Single { centers: [x.to_vec(), y.to_vec()], radii: PlainRadii::All(radius), margin: 0.0 })
}

fn hit<const D: usize>(pair: [u32; 2], shift: [i32; D], time: f64) -> Hit<D> {
    Hit { sets: [0, 0], pair, shift, time }
}

#[test]
fn touching_counts_in_every_family() {
    let set = circles(&[0.0, 1.0, 2.0_f32.next_up()], &[0.0; 3], 0.5);
    let at_rest = Case::within(set.clone(), PlainSpace::Open);
    assert_eq!(at_rest.hits(), [hit([0, 1], [0, 0], 0.0)]);
    let moving = PlainSet { moves: Some(PlainMoves::Single([vec![0.0, 0.0, -1.0], vec![0.0; 3]])), ..set };
    let hits = Case::within(moving, PlainSpace::Open).hits();
    assert_eq!(hits[0], hit([0, 1], [0, 0], 0.0));
    assert!(hits.len() == 2 && hits[1].pair == [1, 2] && hits[1].time > 0.0 && hits[1].time < 1e-6);
}

#[test]
fn what_leaves_on_one_side_comes_in_on_the_other() {
    let axes = PlainSpace::Periodic([Some([0.0, 10.0]), None]);
    let case = Case::within(circles(&[0.5, 9.5, 29.5], &[0.0; 3], 0.5), axes);
    let expected = [hit([0, 1], [-1, 0], 0.0), hit([0, 2], [-3, 0], 0.0), hit([1, 2], [-2, 0], 0.0)];
    assert_eq!(case.hits(), expected);
    let rows = case.rows(&case.hits(), true);
    let back = Neighbor { id: 0, shift: [1, 0], vector: [1.0, 0.0], distance2: 1.0 };
    assert_eq!((rows[1][0], rows[1].len(), case.rows(&case.hits(), false)[2].len()), (back, 2, 0));
}

/// Counts points of a lattice within a distance of one of them, which is not counted.
#[test]
fn a_body_meets_images_of_itself() {
    for (cutoff, neighbours) in [(0.5, 0), (1.0, 6), (1.5, 18), (2.0, 32), (3.0, 122)] {
        let one = Columns::Double {
            centers: [0.3, -7.1, 1e3].map(|x| vec![x]),
            radii: PlainRadii::Cutoff(cutoff),
            margin: 0.0,
        };
        let vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        // The same lattice by vectors that are far from orthogonal.
        let skewed = [[1.0, 0.0, 0.0], [5.0, 1.0, 0.0], [-3.0, 2.0, 1.0]];
        for vectors in [vectors, skewed] {
            let case = Case::within(
                PlainSet::new(one.clone()),
                PlainSpace::Lattice { origin: [0.0; 3], vectors, periodic: [true; 3] },
            );
            assert_eq!(case.hits().len(), neighbours / 2, "{cutoff}");
            assert_eq!(case.rows(&case.hits(), true)[0].len(), neighbours, "{cutoff}");
        }
    }
}

#[test]
fn layers_and_tables_say_who_meets() {
    let layers = PlainLayers { category: vec![1, 1, 2], mask: vec![1, 1, 3], group: vec![0; 3] };
    let set = PlainSet { layers: Some(layers), ..circles(&[0.0; 3], &[0.0; 3], 1.0) };
    let other = circles(&[0.5], &[0.0], 0.0);
    let table = Relation::Among(vec![[0, 0], [0, 1]]);
    let case = Case { sets: vec![set, other], relation: table, space: PlainSpace::Open };
    let found: Vec<_> = case.hits().iter().map(|hit| (hit.sets, hit.pair)).collect();
    assert_eq!(found, [([0, 0], [0, 1]), ([0, 1], [0, 0]), ([0, 1], [1, 0]), ([0, 1], [2, 0])]);
}

#[test]
fn as_another_program_counts() {
    for crystal in CRYSTALS {
        for &(cutoff, neighbours, squares) in crystal.counts {
            let case = crystal.case(cutoff);
            let rows = case.rows(&case.hits(), true);
            let found: Vec<_> = rows.iter().flatten().collect();
            let sum: i64 = found.iter().flat_map(|it| it.shift).map(|steps| i64::from(steps).pow(2)).sum();
            assert_eq!((found.len(), sum), (neighbours, squares), "{} within {cutoff}", crystal.name);
            assert!(found.iter().all(|it| it.distance2 <= cutoff * cutoff));
        }
    }
}

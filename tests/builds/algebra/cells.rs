//! Small cells, whose neighbours another program has counted, and lattices that are refused.

use jostle::{
    Circles64, Input, InputError, LatticeFault, NeighborLists, PairFinder, Rows, Space, Spheres, Spheres64, Threads,
};
use jostle_testkit::algebra::{CRYSTALS, Columns, PlainRadii};

use super::bench::Bench;

/// Crystals of 1 to 8 atoms, with cutoffs of up to 3 cells; also in `f32`, which is precise enough for the counts.
#[test]
fn as_another_program_counts() {
    let (mut bench, mut lists) = (Bench::<3>::new(), NeighborLists::new());
    for crystal in CRYSTALS {
        for &(cutoff, neighbours, _) in crystal.counts {
            let mut case = crystal.case(cutoff);
            for single in [false, true] {
                let name = format!("{} within {cutoff}, f32: {single}", crystal.name);
                if let (true, Columns::Double { centers, .. }) = (single, &case.sets[0].bodies) {
                    let centers = centers.each_ref().map(|column| column.iter().map(|&x| x as f32).collect());
                    case.sets[0].bodies =
                        Columns::Single { centers, radii: PlainRadii::Cutoff(cutoff as f32), margin: 0.0 };
                }
                bench.check(&name, &case);
                PairFinder::new().neighbors(case.ready().input(), Rows::Full, &mut lists).expect(&name);
                assert_eq!(lists.neighbors().len(), neighbours, "{name}");
            }
        }
    }
}

#[test]
fn lattices_that_span_nothing_are_refused_by_name() {
    let [x, y, z] = [[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [0.5, -0.5, 4.0]];
    let cases = [
        ([x, [0.0; 3], z], LatticeFault::ZeroLength { vector: 1 }),
        ([x, z, y], LatticeFault::LeftHanded),
        ([x, y, [3.0, 3.0, 0.0]], LatticeFault::Flat),
        ([x, y, x], LatticeFault::Flat),
        ([x, y, [0.0, f64::NAN, 1.0]], LatticeFault::OutOfRange { vector: 2 }),
        ([[f64::INFINITY, 0.0, 0.0], y, z], LatticeFault::OutOfRange { vector: 0 }),
    ];
    let mut finder = PairFinder::new();
    let single = Spheres::new(&[0.0, 0.5], &[0.0; 2], &[0.0; 2], 0.25);
    let double = Spheres64::new(&[0.0, 0.5], &[0.0; 2], &[0.0; 2], 0.25);
    let last = finder.find(single).expect("two that touch").pairs().to_vec();
    for (vectors, fault) in cases {
        for input in [Input::within(single), Input::within(double), Input::between(single, double)] {
            // A lattice is refused even where it repeats in one direction alone.
            for repeats in [[true; 3], [false, true, false]] {
                let input = input.lattice(vectors, repeats);
                let refused = InputError::Lattice(fault);
                assert_eq!(finder.find(input).map(|found| found.pairs().len()), Err(refused.clone()), "{vectors:?}");
                assert_eq!(finder.count(input), Err(refused.clone()));
                let mut lists = NeighborLists::new();
                assert_eq!(finder.neighbors(input, Rows::Full, &mut lists).err(), Some(refused.clone()));
                assert!(refused.to_string().contains("lattice vector"), "{refused}");
                assert_eq!(finder.last().pairs(), last);
            }
        }
    }
    let flat = Circles64::new(&[0.0], &[0.0], 0.1);
    let mut finder = PairFinder::new();
    let origin = Space::lattice([[1.0, 0.0], [0.0, 1.0]], [true; 2]).at([0.0, f64::NAN]);
    let error = finder.on(Threads::Serial).count(Input::within(flat).space(origin));
    assert_eq!(error, Err(InputError::Lattice(LatticeFault::Origin { axis: 1 })));
    for borders in [[0.0, 0.0], [1.0, 0.0], [0.0, f64::NAN], [f64::NEG_INFINITY, 0.0]] {
        let error = finder.count(Input::within(flat).periodic([None, Some(borders)]));
        assert!(matches!(error, Err(InputError::Parameter { .. })), "{borders:?}: {error:?}");
    }
}

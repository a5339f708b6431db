use jostle_classics::{Ancestors, BroadPhase, CellTree, Cells, DenseCells, LinearOctree, SparseCells};
use jostle_core::{Aabb, Spheres, ViewError};
use jostle_testkit::oracle;

use super::{RULES, found, scenes, sorted, split, tree};

/// Bodies that are asked about one by one.
const FEW: usize = 12;

fn check_few<const D: usize, C: Cells<D>>(depth: u32, ancestors: Ancestors) {
    for (name, world, scene) in scenes::<D>() {
        let [few, many] = split(&scene, |id| id < FEW);
        let mut tree: CellTree<D, C> = tree(world, depth, ancestors);
        tree.update(many.view()).expect(&name);
        let (pairs, tests) = found(|hit| tree.for_each_hit_of(few.view(), hit));
        assert!(tests.expect("good bodies") <= (few.len() * many.len()) as u64, "{name}");
        assert!(pairs.is_sorted_by_key(|pair| pair[0]), "{name}");
        assert!(sorted(pairs) == oracle::across(few.view(), many.view()), "{name}");
    }
}

#[test]
fn hits_of_few_are_those_of_a_loop() {
    for ancestors in RULES {
        check_few::<2, DenseCells<2>>(6, ancestors);
        check_few::<3, SparseCells<3>>(8, ancestors);
    }
}

#[test]
fn few_are_refused_as_many_are_and_counts_stay() {
    let mut tree = LinearOctree::new(Aabb { lo: [0.0; 3], hi: [8.0; 3] }, 3).expect("a world");
    tree.update(Spheres::new(&[1.0, 1.5], &[1.0; 2], &[1.0; 2], 0.5)).expect("good bodies");
    tree.for_each_pair(&mut |_| {});
    let bad = Spheres::new(&[1.0, 2.0], &[1.0; 2], &[1.0; 2], &[0.5, -1.0]);
    let refused = tree.for_each_hit_of(bad, &mut |_| panic!("no hit of bad bodies"));
    assert!(matches!(refused, Err(ViewError::Bodies { count: 1, first }) if first[0].0 == 1));
    let good = Spheres::new(&[1.0], &[1.0], &[1.0], 0.1);
    assert_eq!(tree.for_each_hit_of(good, &mut |_| {}), Ok(2));
    assert_eq!(tree.hit_counts(), [1, 1]);
}

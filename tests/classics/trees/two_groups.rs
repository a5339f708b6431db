use jostle_classics::{Ancestors, BroadPhase, CellTree, Cells, DenseCells, LinearQuadtree, SparseCells};
use jostle_core::{Aabb, Circles, ViewError};
use jostle_testkit::oracle;

use super::{RULES, found, occurrences, scenes, sorted, split, tree};

fn check_between<const D: usize, C: Cells<D>>(depth: u32, ancestors: Ancestors) {
    for (name, world, scene) in scenes::<D>() {
        let [first, second] = split(&scene, |id| id % 3 == 0);
        let mut tree: CellTree<D, C> = tree(world, depth, ancestors);
        tree.update_two(first.view(), second.view()).expect(&name);
        assert_eq!(tree.validate(), Ok(()), "{name}");
        let (pairs, tests) = found(|hit| tree.for_each_pair_between(hit));
        assert!(tests <= (first.len() * second.len()) as u64, "{name}");
        let counts = [
            occurrences(first.len(), pairs.iter().map(|pair| pair[0])),
            occurrences(second.len(), pairs.iter().map(|pair| pair[1])),
        ];
        assert!(tree.hit_counts_of_two() == counts.each_ref().map(Vec::as_slice), "{name}");
        assert!(sorted(pairs.clone()) == oracle::across(first.view(), second.view()), "{name}");
        let (again, _) = found(|hit| tree.for_each_pair_between(hit));
        assert!(again == pairs, "{name}: another order the second time");
    }
}

#[test]
fn pairs_between_groups_are_those_of_a_loop() {
    for ancestors in RULES {
        check_between::<2, DenseCells<2>>(6, ancestors);
        check_between::<3, SparseCells<3>>(8, ancestors);
    }
}

#[test]
fn each_group_has_pairs_of_its_own_only_when_it_is_the_first() {
    let world = Aabb { lo: [0.0; 2], hi: [8.0; 2] };
    let mut tree = LinearQuadtree::new(world, 3).expect("a world");
    let first = Circles::new(&[1.0, 1.5], &[1.0, 1.0], 0.5);
    let second = Circles::new(&[1.2, 1.3, 7.0], &[1.0, 1.0, 7.0], 0.1);
    tree.update_two(first, second).expect("good bodies");
    assert_eq!(found(|hit| tree.for_each_pair(hit)), (vec![[0, 1]], 1));
    assert_eq!(tree.hit_counts_of_two(), [&[1, 1][..], &[0, 0, 0][..]]);
    tree.update(second).expect("good bodies");
    assert!(found(|hit| tree.for_each_pair_between(hit)).0.is_empty());
    assert_eq!(found(|hit| tree.for_each_pair(hit)).0, [[0, 1]]);
}

#[test]
fn either_group_is_refused_before_the_other_is_taken() {
    let world = Aabb { lo: [0.0; 2], hi: [8.0; 2] };
    let mut tree = LinearQuadtree::new(world, 3).expect("a world");
    let (good, bad) = (Circles::new(&[1.0, 2.0], &[1.0, 1.0], 0.6), Circles::new(&[f32::NAN], &[1.0], 0.5));
    tree.update_two(good, good).expect("good bodies");
    let before = found(|hit| tree.for_each_pair_between(hit));
    assert_eq!(before.0.len(), 4);
    for [first, second] in [[good, bad], [bad, good]] {
        assert!(matches!(tree.update_two(first, second), Err(ViewError::Bodies { count: 1, .. })));
        assert_eq!(found(|hit| tree.for_each_pair_between(hit)), before);
    }
}

//! The caller's arrays sorted by rank: every element arrives, references follow, and the pairs stay the same.

use jostle::{LinearTree, PairFinder, Permutation, PermutationError, Threads};
use jostle_testkit::{Kind, Scene, pool, scene, ugly, within};

fn taken<const D: usize>(scene: &Scene<D>) -> Permutation {
    let mut tree = LinearTree::new();
    tree.build(scene.view(), Threads::Serial).expect("a sound scene");
    let mut order = Permutation::new();
    order.take(&tree);
    assert!(tree.ids().eq(order.rank_to_id().iter().copied()));
    order
}

/// Checks sorting in place, by copies, and on three threads, against plain indexing.
fn check<const D: usize>(name: &str, scene: &Scene<D>) {
    let mut order = taken(scene);
    let names: Vec<String> = (0..scene.len()).map(|id| format!("body {id}")).collect();
    let expected: Vec<&String> = order.rank_to_id().iter().map(|&id| &names[id as usize]).collect();
    let mut in_place = names.clone();
    order.sort_by_rank(&mut in_place).expect(name);
    assert!(in_place.iter().eq(expected), "{name}");
    for (rank, &id) in order.rank_to_id().iter().enumerate() {
        assert_eq!(order.id_to_rank()[id as usize], rank as u32, "{name}");
    }

    let pool = pool(3);
    for threads in [Threads::Serial, Threads::Current] {
        let (mut ids, mut buffer) = ((0..scene.len() as u32).collect::<Vec<_>>(), vec![9; 3]);
        within(&pool, || order.sort_by_rank_copy(&mut ids, &mut buffer, threads)).expect(name);
        assert_eq!(ids, order.rank_to_id(), "{name}");
        order.renumber(&mut ids).expect(name);
        assert!(ids.into_iter().eq(0..scene.len() as u32), "{name}: renumbered ids are ranks");
    }
}

#[test]
fn every_element_arrives_in_2d_and_3d() {
    for (name, scene) in ugly::all::<2>() {
        check(name, &scene);
    }
    for (name, scene) in ugly::all::<3>() {
        check(name, &scene);
    }
    for kind in Kind::ALL {
        check(&kind.to_string(), &scene::scene::<2>(kind, 40_000, 1));
    }
}

#[test]
fn sorted_bodies_have_the_same_pairs_renumbered() {
    let mut scene = scene::scene::<2>(Kind::Clustered, 20_000, 1);
    let mut finder = PairFinder::new();
    let found = finder.find(scene.view()).expect("a sound scene");
    let (mut order, mut before) = (Permutation::new(), found.pairs().to_vec());
    order.take(found.tree());
    order.renumber(before.as_flattened_mut()).expect("ids");
    let mut buffer = Vec::new();
    for column in scene.centers.iter_mut().chain([&mut scene.radii]) {
        order.sort_by_rank_copy(column, &mut buffer, Threads::Current).expect("a column");
    }
    let mut after = finder.find(scene.view()).expect("a sound scene").pairs().to_vec();
    before.iter_mut().for_each(|pair| pair.sort_unstable());
    before.sort_unstable();
    after.sort_unstable();
    assert!(before == after);
}

#[test]
fn wrong_lengths_and_strange_ids_are_refused_whole() {
    let mut order = taken(&scene::scene::<2>(Kind::Uniform, 100, 1));
    let mut items: Vec<u32> = (0..99).collect();
    let error = PermutationError::Length { items: 99, bodies: 100 };
    assert_eq!(error.to_string(), "99 elements cannot be sorted by the ranks of 100 bodies");
    assert_eq!(order.sort_by_rank(&mut items), Err(error.clone()));
    assert_eq!(order.sort_by_rank_copy(&mut items, &mut Vec::new(), Threads::Serial), Err(error));
    items.extend([100, 7, u32::MAX]);
    let error = PermutationError::Ids { count: 2, first: vec![99, 101], bodies: 100 };
    assert_eq!(order.renumber(&mut items), Err(error));
    assert!(items[..99].iter().copied().eq(0..99));
}

#[test]
fn memory_is_used_again() {
    let (large, small) = (scene::scene::<2>(Kind::Uniform, 3_000, 1), scene::scene::<2>(Kind::Uniform, 10, 2));
    let (mut tree, mut order) = (LinearTree::new(), Permutation::new());
    assert!(order.is_empty() && order.bytes() == 0);
    order.sort_by_rank(&mut [(); 0]).expect("nothing to sort");
    let mut bytes = Vec::new();
    for scene in [&large, &small, &large] {
        tree.build(scene.view(), Threads::Serial).expect("a sound scene");
        order.take(&tree);
        order.sort_by_rank(&mut vec![0; scene.len()]).expect("an array");
        assert_eq!(order.len(), scene.len());
        bytes.push(order.bytes());
    }
    assert!(bytes.iter().all(|&held| held == bytes[0]), "{bytes:?}");
}

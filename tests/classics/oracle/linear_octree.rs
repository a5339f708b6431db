use jostle_classics::{CellTree, DenseCells, LinearOctree};

#[test]
fn every_depth_of_the_octree() {
    for depth in [0, 2, 8, 10] {
        super::check(|world, _| LinearOctree::new(world, depth).expect("a world"));
    }
}

#[test]
fn an_octree_in_an_array() {
    super::check(|world, _| CellTree::<3, DenseCells<3>>::new(world, 4).expect("a world"));
}

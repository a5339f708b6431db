use jostle_classics::{CellTree, LinearQuadtree, SparseCells};

#[test]
fn every_depth_of_the_quadtree() {
    for depth in [0, 1, 4, 9] {
        super::check(|world, _| LinearQuadtree::new(world, depth).expect("a world"));
    }
}

#[test]
fn a_quadtree_of_all_levels_in_a_map() {
    super::check(|world, _| CellTree::<2, SparseCells<2>>::new(world, 15).expect("a world"));
}

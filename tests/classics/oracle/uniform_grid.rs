use jostle_classics::UniformGrid;
use jostle_core::Aabb;

#[test]
fn cells_so_small_that_many_are_giants() {
    let side = |world: Aabb<2>| (world.hi[0] - world.lo[0]) / 100.0;
    super::check::<2, _>(|world, _| UniformGrid::new(world, side(world)).expect("a sound world"));
}

use jostle_classics::PointGrid;

#[test]
fn all_but_points_are_giants() {
    let side = |world: jostle_core::Aabb<2>| (world.hi[0] - world.lo[0]) / 30.0;
    super::check::<2, _>(|world, _| PointGrid::new(world, side(world), 0.0).expect("a sound world"));
}

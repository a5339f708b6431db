use jostle_classics::GridHierarchy;

#[test]
fn finest_cells_far_smaller_than_bodies() {
    super::check::<2, _>(|world, _| {
        GridHierarchy::new(world, (world.hi[0] - world.lo[0]) / 1500.0).expect("a sound world")
    });
}

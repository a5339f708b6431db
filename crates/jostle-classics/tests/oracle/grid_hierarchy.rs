use jostle_classics::GridHierarchy;

use super::uniform_grid::typical_radius;

#[test]
fn cells_for_the_bodies() {
    super::check::<2, _>(|world, scene| {
        GridHierarchy::for_bodies(world, scene.len(), typical_radius(scene)).expect("a sound world")
    });
}

#[test]
fn finest_cells_far_smaller_than_bodies() {
    super::check::<2, _>(|world, _| {
        GridHierarchy::new(world, (world.hi[0] - world.lo[0]) / 1500.0).expect("a sound world")
    });
}

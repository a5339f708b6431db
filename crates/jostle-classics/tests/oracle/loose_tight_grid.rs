use jostle_classics::LooseTightGrid;

use super::uniform_grid::typical_radius;

#[test]
fn cells_for_the_bodies() {
    super::check::<2, _>(|world, scene| {
        LooseTightGrid::for_bodies(world, scene.len(), typical_radius(scene)).expect("a sound world")
    });
}

#[test]
fn loose_cells_wider_than_tight_ones() {
    super::check::<2, _>(|world, _| {
        let width = world.hi[0] - world.lo[0];
        LooseTightGrid::new(world, width / 20.0, width / 50.0).expect("a sound world")
    });
}

use jostle_classics::LooseTightGrid;

#[test]
fn loose_cells_wider_than_tight_ones() {
    super::check::<2, _>(|world, _| {
        let width = world.hi[0] - world.lo[0];
        LooseTightGrid::new(world, width / 20.0, width / 50.0).expect("a sound world")
    });
}

//! Parameters that no grid can be made of.

use jostle_classics::{
    CircleCoverage, GridHierarchy, LooseTightGrid, PointGrid, RectangleCoverage, SetupError, UniformGrid,
};
use jostle_core::Aabb;

/// Returns what each constructor says of a world and the side of a cell.
fn makings(world: Aabb<2>, side: f32) -> [Result<(), SetupError>; 6] {
    [
        UniformGrid::new(world, side).map(drop),
        LooseTightGrid::new(world, side, side).map(drop),
        PointGrid::new(world, side, 1.0).map(drop),
        GridHierarchy::new(world, side).map(drop),
        CircleCoverage::new(world, side, 4).map(drop),
        RectangleCoverage::new(world, side).map(drop),
    ]
}

#[test]
fn worlds_without_size_are_refused() {
    for (lo, hi) in [(0.0, 0.0), (1.0, -1.0), (f32::NAN, 1.0), (0.0, f32::INFINITY), (f32::MIN, f32::MAX)] {
        let worlds = [Aabb { lo: [lo, 0.0], hi: [hi, 1.0] }, Aabb { lo: [0.0, lo], hi: [1.0, hi] }];
        for (bad, world) in worlds.into_iter().enumerate() {
            for made in makings(world, 1.0) {
                assert!(
                    matches!(made, Err(SetupError::World { axis, .. }) if axis == bad as u8),
                    "{world:?}: {made:?}"
                );
            }
        }
    }
}

#[test]
fn sides_out_of_range_are_refused() {
    let world = Aabb { lo: [0.0; 2], hi: [1.0; 2] };
    for side in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-30, 1e30] {
        for made in makings(world, side) {
            assert!(matches!(made, Err(SetupError::Parameter { .. })), "{side}: {made:?}");
        }
    }
    for made in makings(world, 1e-6) {
        assert!(matches!(made, Err(SetupError::TooManyCells { .. })), "{made:?}");
    }
}

#[test]
fn radii_and_samples_out_of_range_are_refused() {
    let world = Aabb { lo: [0.0; 2], hi: [1.0; 2] };
    for radius in [-1.0, f32::NAN, f32::INFINITY] {
        assert!(PointGrid::new(world, 0.1, radius).is_err());
        assert!(UniformGrid::for_bodies(world, 10, radius).is_err());
        assert!(LooseTightGrid::for_bodies(world, 10, radius).is_err());
        assert!(PointGrid::for_bodies(world, 10, radius).is_err());
        assert!(GridHierarchy::for_bodies(world, 10, radius).is_err());
    }
    assert!(CircleCoverage::new(world, 0.1, 0).is_err() && CircleCoverage::new(world, 0.1, 17).is_err());
}

/// Defaults suit any sound world, however thin, wide or small.
#[test]
fn defaults_are_always_accepted() {
    let far = (1_u64 << 61) as f32;
    for (lo, hi) in
        [([0.0; 2], [1e-30, 1.0]), ([-far; 2], [far; 2]), ([-1.0, 0.0], [1.0, 1e15]), ([0.0; 2], [1e-40; 2])]
    {
        let world = Aabb { lo, hi };
        for (n, radius) in [(0, 0.0), (1000, 1e18), (50, 1e-40), (100_000, 0.01)] {
            assert!(UniformGrid::for_bodies(world, n, radius).is_ok(), "{world:?} {n} {radius}");
            assert!(LooseTightGrid::for_bodies(world, n, radius).is_ok(), "{world:?} {n} {radius}");
            assert!(PointGrid::for_bodies(world, n, radius).is_ok(), "{world:?} {n} {radius}");
            assert!(GridHierarchy::for_bodies(world, n, radius).is_ok(), "{world:?} {n} {radius}");
        }
    }
}

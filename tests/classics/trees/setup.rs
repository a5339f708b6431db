use jostle_classics::{LinearOctree, LinearQuadtree, SetupError};
use jostle_core::Aabb;

#[test]
fn worlds_without_a_finite_size_are_refused() {
    let cases =
        [[0.0, 0.0], [1.0, -1.0], [f32::NAN, 1.0], [0.0, f32::INFINITY], [f32::NEG_INFINITY, 0.0], [-3e38, 3e38]];
    for [lo, hi] in cases {
        let error = LinearQuadtree::new(Aabb { lo: [0.0, lo], hi: [1.0, hi] }, 4).expect_err("a bad world");
        assert!(matches!(error, SetupError::World { axis: 1, .. }), "{error}");
        assert!(LinearOctree::for_bodies(Aabb { lo: [lo; 3], hi: [hi; 3] }, 100).is_err());
    }
}

#[test]
fn depths_beyond_the_limits_are_refused() {
    let quadtree = |depth| LinearQuadtree::new(Aabb { lo: [0.0; 2], hi: [1.0; 2] }, depth).map(|_| ());
    let octree = |depth| LinearOctree::new(Aabb { lo: [0.0; 3], hi: [1.0; 3] }, depth).map(|_| ());
    assert_eq!((quadtree(12), octree(10)), (Ok(()), Ok(())));
    for depth in [13, 15, 16, 31, 32, 64, u32::MAX] {
        assert_eq!(quadtree(depth), Err(SetupError::Depth { depth, most: 12 }));
        assert_eq!(octree(depth), Err(SetupError::Depth { depth, most: 10 }));
    }
}

#[test]
fn depths_follow_the_number_of_bodies() {
    let depths = [0, 4, 5, 16, 17, 10_000, 100_000, usize::MAX].map(LinearQuadtree::depth_for);
    assert_eq!(depths, [0, 0, 1, 1, 2, 6, 8, 12]);
    assert_eq!([0, 5, 33, 100_000, usize::MAX].map(LinearOctree::depth_for), [0, 1, 2, 5, 10]);
}

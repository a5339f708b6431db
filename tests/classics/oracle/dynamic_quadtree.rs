use jostle_classics::{DynamicQuadtree, Limits};

#[test]
fn other_limits() {
    let limits = Limits { max_elements: 2, max_depth: 5 };
    super::check::<2, _>(|world, _| DynamicQuadtree::with_limits(world, limits).expect("a world"));
}

use jostle_classics::{Limits, LooseQuadtree};

#[test]
fn other_limits() {
    let limits = Limits { max_elements: 2, max_depth: 5 };
    super::check::<2, _>(|world, _| LooseQuadtree::with_limits(world, limits).expect("a world"));
}

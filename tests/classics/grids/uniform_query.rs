use jostle_classics::{BroadPhase, UniformGrid};
use proptest::prelude::*;

use crate::grids::{WORLD, bodies, inside, rectangles, scene, sorted};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_query_gives_each_body_once(
        bodies in prop::collection::vec(bodies(), 0..60),
        rectangles in prop::collection::vec(rectangles(), 1..10),
        side in 0.5_f32..30.0,
    ) {
        let mut grid = UniformGrid::new(WORLD, side).expect("a sound world");
        grid.update(scene(&bodies).view()).expect("sound bodies");
        for rectangle in rectangles {
            let mut found = Vec::new();
            grid.query(&rectangle, &mut |id| found.push(id));
            prop_assert_eq!(sorted(found), inside((0..).zip(bodies.iter().copied()), &rectangle));
        }
    }
}

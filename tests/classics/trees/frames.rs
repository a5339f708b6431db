//! Frame after frame of bodies that come, go and move, on trees that are kept.

use jostle_classics::{Ancestors, BroadPhase, LinearOctree, LinearQuadtree};
use jostle_core::Aabb;
use jostle_testkit::{Scene, oracle};
use proptest::prelude::*;

use super::{RULES, found, occurrences, sorted};

/// Draws coordinates on a coarse grid, so that they meet borders of cells, in a world of 8, and some outside it.
fn body<const D: usize>() -> impl Strategy<Value = ([f32; D], f32)> {
    let coordinate = prop_oneof![8 => (0_u8..=64).prop_map(|i| f32::from(i) / 8.0), 1 => -20.0_f32..30.0];
    let center = proptest::collection::vec(coordinate, D).prop_map(|v| core::array::from_fn(|axis| v[axis]));
    (center, prop_oneof![6 => Just(0.125_f32), 2 => 0.0_f32..1.0, 1 => 1.0_f32..9.0])
}

fn frames<const D: usize>() -> impl Strategy<Value = Vec<(Scene<D>, bool)>> {
    let scene = proptest::collection::vec(body::<D>(), 0..60).prop_map(|bodies| bodies.into_iter().collect());
    proptest::collection::vec((scene, any::<bool>()), 1..8)
}

fn rule() -> impl Strategy<Value = Ancestors> {
    proptest::sample::select(&RULES[..])
}

const fn world<const D: usize>() -> Aabb<D> {
    Aabb { lo: [0.0; D], hi: [8.0; D] }
}

proptest! {
    #[test]
    fn quadtrees_keep_up(frames in frames::<2>(), depth in 0_u32..8, rule in rule()) {
        let mut tree = LinearQuadtree::new(world(), depth).expect("a world").with_ancestors(rule);
        for (scene, is_searched) in frames {
            tree.update(scene.view()).expect("good bodies");
            prop_assert_eq!(tree.validate(), Ok(()));
            prop_assert!(tree.hit_counts().iter().all(|&count| count == 0) && tree.hit_counts().len() == scene.len());
            if is_searched {
                let (pairs, _) = found(|hit| tree.for_each_pair(hit));
                prop_assert_eq!(tree.hit_counts(), occurrences(scene.len(), pairs.iter().flatten().copied()));
                prop_assert_eq!(sorted(pairs), oracle::pairs(scene.view()));
            }
        }
    }

    #[test]
    fn octrees_keep_up(frames in frames::<3>(), depth in 0_u32..=10, rule in rule()) {
        let mut kept = LinearOctree::new(world(), depth).expect("a world").with_ancestors(rule);
        for (scene, is_searched) in frames {
            kept.update(scene.view()).expect("good bodies");
            prop_assert_eq!(kept.validate(), Ok(()));
            if is_searched {
                let mut new = LinearOctree::new(world(), depth).expect("a world").with_ancestors(rule);
                new.update(scene.view()).expect("good bodies");
                // Earlier frames leave no trace: the same pairs in the same order, by the same tests.
                prop_assert_eq!(found(|hit| kept.for_each_pair(hit)), found(|hit| new.for_each_pair(hit)));
                prop_assert_eq!(kept.validate(), Ok(()));
                prop_assert_eq!(sorted(found(|hit| kept.for_each_pair(hit)).0), oracle::pairs(scene.view()));
            }
        }
    }
}

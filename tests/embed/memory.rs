//! What a finder holds: little, where there is little, so that a server may keep one for each of many rooms.

use jostle::PairFinder;
use jostle_testkit::{Kind, scene};

/// Bytes that a finder of 200 bodies may hold beside their pairs.
const SMALL: usize = 40_000;

fn frames<const D: usize>(kind: Kind) {
    let mut finder = PairFinder::<D>::new();
    for frame in 0..5 {
        let scene = scene::scene::<D>(kind, 200, frame);
        let stats = *finder.find(scene.view()).expect("a sound scene").stats();
        let beside = stats.bytes - stats.list_bytes;
        assert!(beside <= SMALL, "{kind}, {D}D: {beside} bytes beside the list");
        assert!(stats.bytes <= SMALL || stats.pairs > 500, "{kind}, {D}D: {} bytes with the list", stats.bytes);
    }
}

#[test]
fn a_finder_of_few_bodies_is_small() {
    for kind in Kind::ALL {
        frames::<2>(kind);
        frames::<3>(kind);
    }
}

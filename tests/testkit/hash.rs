//! The hash of a sequence.

use jostle_testkit::hash::sequence;

#[test]
fn known_values_and_order() {
    assert_eq!(sequence(&[]), 0xcbf2_9ce4_8422_2325);
    // FNV-1a of eight zero bytes.
    assert_eq!(sequence(&[[0, 0]]), 0xa8c7_f832_281a_39c5);
    assert_ne!(sequence(&[[0, 1], [2, 3]]), sequence(&[[2, 3], [0, 1]]));
}

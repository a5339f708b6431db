//! Long lists of pairs are sorted by the kit's own sort.

use jostle_testkit::pairs::ascending;
use jostle_testkit::random::Random;

#[test]
fn pairs_are_put_in_ascending_order() {
    let mut random = Random(5);
    for (pairs, ids) in [(0, 1.0), (1, 9.0), (2047, 1e9), (2048, 4e9), (3000, 1.0), (5000, 40.0), (50_000, 4e9)] {
        let pairs: Vec<_> = (0..pairs).map(|_| [(); 2].map(|()| (random.unit() * ids) as u32)).collect();
        let mut expected = pairs.clone();
        expected.sort_unstable();
        assert!(ascending(&pairs) == expected, "{} of {ids}", pairs.len());
    }
}

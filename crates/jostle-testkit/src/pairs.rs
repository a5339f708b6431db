//! Lists of pairs, sorted and compared: compiled with this crate, since tests are compiled without optimization.

/// The same pairs in ascending order.
#[must_use]
pub fn ascending(pairs: &[[u32; 2]]) -> Vec<[u32; 2]> {
    let mut pairs = pairs.to_vec();
    pairs.sort_unstable();
    pairs
}

/// Each pair from both sides, in ascending order.
#[must_use]
pub fn both_ways(pairs: &[[u32; 2]]) -> Vec<[u32; 2]> {
    let both: Vec<_> = pairs.iter().flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
    ascending(&both)
}

/// Compares two ascending lists.
///
/// # Panics
/// When they differ, with the first difference, since thousands of pairs cannot be read.
pub fn assert_same(name: &str, found: &[[u32; 2]], expected: &[[u32; 2]]) {
    if found == expected {
        return;
    }
    let at = found.iter().zip(expected).position(|(f, e)| f != e).unwrap_or(found.len().min(expected.len()));
    let counts = (found.len(), expected.len());
    panic!("{name}: (found, expected) {counts:?}; the first to differ {:?}, {:?}", found.get(at), expected.get(at));
}

//! A hash of a pair sequence that is the same on every platform, for golden tests.

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a over the little-endian bytes of the sequence: two sequences that differ in order differ in hash.
#[must_use]
pub fn sequence(pairs: &[[u32; 2]]) -> u64 {
    let bytes = pairs.iter().flatten().flat_map(|id| id.to_le_bytes());
    bytes.fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
}

#[cfg(test)]
mod tests {
    use super::sequence;

    #[test]
    fn known_values_and_order() {
        assert_eq!(sequence(&[]), 0xcbf2_9ce4_8422_2325);
        // FNV-1a of eight zero bytes.
        assert_eq!(sequence(&[[0, 0]]), 0xa8c7_f832_281a_39c5);
        assert_ne!(sequence(&[[0, 1], [2, 3]]), sequence(&[[2, 3], [0, 1]]));
    }
}

//! A hash of a pair sequence that is the same on every platform, for golden tests.

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// FNV-1a over the little-endian bytes of the sequence: two sequences that differ in order differ in hash.
#[must_use]
pub fn sequence(pairs: &[[u32; 2]]) -> u64 {
    let bytes = pairs.iter().flatten().flat_map(|id| id.to_le_bytes());
    bytes.fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
}

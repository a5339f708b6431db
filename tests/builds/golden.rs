//! The sequence of pairs, held against a table: it may differ on no platform, with no instruction set, in no build.
//!
//! A change of the table is a change of what users see, and is named in the changelog.

use jostle::PairFinder;
use jostle_testkit::{Kind, hash, scene};

/// Scene, n, and the hash of the sequence in 2D and 3D. The seed of each scene is its n.
#[rustfmt::skip]
const GOLDEN: [(Kind, usize, u64, u64); 8] = [
    (Kind::Uniform, 10_000, 0xb5f76bb80c71d7b8, 0x8f00c083faf43573),
    (Kind::Clustered, 10_000, 0x059dccff5ffd7a87, 0xb421271c8b4a661b),
    (Kind::PowerLaw, 10_000, 0x434bcf621dd427b1, 0x1eb93891a96fa93d),
    (Kind::Dense, 10_000, 0x583bc9cf389f177c, 0x88683d143773a0ec),
    (Kind::Uniform, 50_000, 0xccb2646141563369, 0xf9e2515f630ada4b),
    (Kind::Clustered, 50_000, 0x85ce508fb0d0400f, 0x9521d64f5a49fedb),
    (Kind::PowerLaw, 50_000, 0x0ab45b81afdd06bf, 0x9ce1e9b06150dce8),
    (Kind::Dense, 50_000, 0x5025a3fee91ed9df, 0xf05fae167af662e6),
];

fn sequence_hash<const D: usize>(kind: Kind, n: usize) -> u64 {
    let scene = scene::scene::<D>(kind, n, n as u64);
    hash::sequence(PairFinder::new().find(scene.view()).expect("a scene within the contract").pairs())
}

#[test]
fn sequences_are_those_of_the_table() {
    let found = GOLDEN.map(|(kind, n, ..)| (kind, n, sequence_hash::<2>(kind, n), sequence_hash::<3>(kind, n)));
    if found != GOLDEN {
        let rows =
            found.map(|(kind, n, plane, space)| format!("    (Kind::{kind:?}, {n}, {plane:#018x}, {space:#018x}),\n"));
        panic!("the sequence of pairs has changed; the table is now\n{}", rows.concat());
    }
}

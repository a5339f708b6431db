//! The sequence of pairs, against a table. It may differ on no platform, with no instruction set, and in no build.
//!
//! A change of the table changes what users see, and is named in the changelog.

use jostle::PairFinder;
use jostle_testkit::{Kind, hash, scene};

/// Scene, n, and the hash of the sequence in 2D and 3D. The seed of each scene is its n.
#[rustfmt::skip]
const GOLDEN: [(Kind, usize, u64, u64); 8] = [
    (Kind::Uniform, 10_000, 0xb5f76bb80c71d7b8, 0xec216f59e3b59ed7),
    (Kind::Clustered, 10_000, 0x059dccff5ffd7a87, 0xcda30b57706edd2f),
    (Kind::PowerLaw, 10_000, 0x434bcf621dd427b1, 0x8d26808ae98a7bed),
    (Kind::Dense, 10_000, 0x583bc9cf389f177c, 0x62248f60ae6861e4),
    (Kind::Uniform, 50_000, 0xccb2646141563369, 0x5f0d091863436363),
    (Kind::Clustered, 50_000, 0x85ce508fb0d0400f, 0x56a3f3be7d367cab),
    (Kind::PowerLaw, 50_000, 0x0ab45b81afdd06bf, 0x3848dab747c840c0),
    (Kind::Dense, 50_000, 0x5025a3fee91ed9df, 0x4ed091fd955b716e),
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

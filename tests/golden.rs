//! The sequence of pairs, held against a table: it may differ on no platform, with no instruction set, in no build.
//!
//! A change of the table is a change of what users see, and is named in the changelog.

use jostle::PairFinder;
use jostle_testkit::{Kind, hash, scene};

/// Scene, n, and the hash of the sequence in 2D and 3D. The seed of each scene is its n.
#[rustfmt::skip]
const GOLDEN: [(Kind, usize, u64, u64); 8] = [
    (Kind::Uniform, 10_000, 0x7c4b8f6cb3e759e0, 0x1135f9b9c1a3705b),
    (Kind::Clustered, 10_000, 0x6c0005afd35549f3, 0xaf36abe5443cf57b),
    (Kind::PowerLaw, 10_000, 0x61124ff5a839128d, 0x3615ed62c0a7b011),
    (Kind::Dense, 10_000, 0xe0f7703732f2ca60, 0x1f78190b9e984164),
    (Kind::Uniform, 50_000, 0xaf6ec300467438d1, 0xe53a3bda8f5403ff),
    (Kind::Clustered, 50_000, 0xe88a54e20a2abc8b, 0x09bc2271e7138933),
    (Kind::PowerLaw, 50_000, 0xe465c8dcc8d25f37, 0xa357407b5e5cce04),
    (Kind::Dense, 50_000, 0x7f069510d46067a7, 0x1e14fc109e27438e),
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

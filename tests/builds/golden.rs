//! The sequence of pairs, held against a table: it may differ on no platform, with no instruction set, in no build.
//!
//! A change of the table is a change of what users see, and is named in the changelog.

use jostle::PairFinder;
use jostle_testkit::{Kind, hash, scene};

/// Scene, n, and the hash of the sequence in 2D and 3D. The seed of each scene is its n.
#[rustfmt::skip]
const GOLDEN: [(Kind, usize, u64, u64); 8] = [
    (Kind::Uniform, 10_000, 0x4b060b3423f93384, 0xbed4bb62c6e3b033),
    (Kind::Clustered, 10_000, 0x64e39a36892b9a3b, 0x88dda662f548b57b),
    (Kind::PowerLaw, 10_000, 0x13304f3c6f80e081, 0x749615383a411d09),
    (Kind::Dense, 10_000, 0x64bc217895c30984, 0x05d3a2fcd7cce96c),
    (Kind::Uniform, 50_000, 0x0e57cad51eebb435, 0xe86d8dadb718252b),
    (Kind::Clustered, 50_000, 0x68986cf0c2cb08af, 0x571bd73ddde672d3),
    (Kind::PowerLaw, 50_000, 0x61426a43110f8f6b, 0x2d782fb3cb4f949c),
    (Kind::Dense, 50_000, 0xa56f4c38dcc72f3b, 0x1e67497e7b341fbe),
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

//! The sequence of pairs, held against a table: it may differ on no platform, with no instruction set, in no build.
//!
//! A change of the table is a change of what users see, and is named in the changelog.

use jostle::PairFinder;
use jostle_testkit::{Kind, hash, scene};

/// Scene, n, and the hash of the sequence in 2D and 3D. The seed of each scene is its n.
#[rustfmt::skip]
const GOLDEN: [(Kind, usize, u64, u64); 8] = [
    (Kind::Uniform, 10_000, 0x6fde599c17790c18, 0x9307dd5be9343bc7),
    (Kind::Clustered, 10_000, 0x80accb06df69421f, 0x0f379fa96655363f),
    (Kind::PowerLaw, 10_000, 0x0b1a4de0be7b81fd, 0x4f253e4d67ac5109),
    (Kind::Dense, 10_000, 0x2fe61b65d37b0758, 0x3904d7fb13420e1c),
    (Kind::Uniform, 50_000, 0x6b0686c938b1b6f1, 0x912df60de7f93fe3),
    (Kind::Clustered, 50_000, 0xe707d5728affa3bb, 0x593b4b130af970db),
    (Kind::PowerLaw, 50_000, 0x3d510f1a076e7147, 0xedbe0247c4703744),
    (Kind::Dense, 50_000, 0xc32f786da7e81abf, 0x6cc923b2f3f4f1f6),
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

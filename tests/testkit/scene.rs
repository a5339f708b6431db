//! The four scenes.

use jostle_testkit::scene::{Kind, scene, world};
use jostle_testkit::{hash, oracle, sweep};

fn pairs_per_body<const D: usize>(kind: Kind, n: usize) -> f64 {
    sweep::pairs(scene::<D>(kind, n, 1).view()).len() as f64 / n as f64
}

#[test]
#[ignore = "prints the figures quoted in the documentation of the kinds"]
fn print_pairs_per_body() {
    for kind in Kind::ALL.into_iter().chain([Kind::Fluid]) {
        for n in [1_000, 10_000, 100_000, 1_000_000] {
            println!("{kind} {n}: {:.3} {:.3}", pairs_per_body::<2>(kind, n), pairs_per_body::<3>(kind, n));
        }
    }
}

#[test]
fn pairs_stay_in_proportion_to_bodies() {
    for kind in Kind::ALL {
        let (few, many) = match kind {
            Kind::Uniform => (0.5, 1.2),
            Kind::Clustered => (0.9, 1.7),
            Kind::PowerLaw => (0.15, 0.4),
            _ => (5.4, 6.1),
        };
        for n in [10_000, 30_000] {
            for pairs in [pairs_per_body::<2>(kind, n), pairs_per_body::<3>(kind, n)] {
                assert!((few..many).contains(&pairs), "{kind}, n = {n}: {pairs} pairs a body");
            }
        }
    }
}

#[test]
fn bodies_of_a_fluid_have_many_neighbours_and_places_of_their_own() {
    let (flat, deep) = (pairs_per_body::<2>(Kind::Fluid, 10_000), pairs_per_body::<3>(Kind::Fluid, 10_000));
    assert!((9.0..10.5).contains(&flat) && (16.0..20.5).contains(&deep), "{flat}, {deep}");
    let mut lattice = scene::<3>(Kind::Fluid, 1_000, 1);
    let side = world::<3>(Kind::Fluid, 1_000);
    assert!(lattice.centers.iter().flatten().all(|x| (0.0..side).contains(x)));
    assert_ne!(lattice, scene::<3>(Kind::Fluid, 1_000, 2));
    lattice.radii.fill(0.1);
    assert_eq!(oracle::pairs(lattice.view()), [[0; 2]; 0]);
    assert_eq!("fluid".parse(), Ok(Kind::Fluid));
}

#[test]
fn centres_lie_in_the_world_and_seeds_matter() {
    for kind in Kind::ALL {
        for n in [0, 1, 10, 5_000] {
            let side = world::<3>(kind, n);
            let bodies = scene::<3>(kind, n, 7);
            assert_eq!(bodies.len(), n);
            assert!(bodies.centers.iter().flatten().all(|x| (0.0..side).contains(x)), "{kind}");
            assert_eq!(bodies, scene(kind, n, 7));
            assert!(n == 0 || bodies != scene(kind, n, 8), "{kind}");
        }
    }
}

/// Scenes are the same on any platform. A change here changes every golden hash and every figure ever published.
#[test]
fn scenes_stay_what_they_are() {
    fn hash<const D: usize>(kind: Kind) -> u64 {
        hash::sequence(&sweep::pairs(scene::<D>(kind, 10_000, 10_000).view()))
    }
    let hashes = Kind::ALL.map(|kind| [hash::<2>(kind), hash::<3>(kind)]);
    let expected = [
        [0x6fde_599c_1779_0c18, 0x9307_dd5b_e934_3bc7],
        [0x80ac_cb06_df69_421f, 0x0f37_9fa9_6655_363f],
        [0x0b1a_4de0_be7b_81fd, 0x4f25_3e4d_67ac_5109],
        [0x2fe6_1b65_d37b_0758, 0x3904_d7fb_1342_0e1c],
    ];
    assert_eq!(hashes, expected, "{hashes:#x?}");
}

#[test]
fn power_law_spans_three_decades() {
    let radii = scene::<2>(Kind::PowerLaw, 100_000, 1).radii;
    let (low, high) = radii.iter().fold((f32::MAX, 0.0_f32), |(low, high), &r| (low.min(r), high.max(r)));
    assert!((0.01..0.0101).contains(&low) && (9.0..=10.0).contains(&high), "{low} to {high}");
}

#[test]
fn a_few_bodies_may_overlap() {
    assert!(!oracle::pairs(scene::<2>(Kind::Dense, 10, 1).view()).is_empty());
}

#[test]
fn names_round_trip() {
    for kind in Kind::ALL {
        assert_eq!(kind.to_string().parse(), Ok(kind));
    }
    assert!("tidy".parse::<Kind>().is_err());
}

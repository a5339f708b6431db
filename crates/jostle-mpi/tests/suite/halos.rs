//! Which bodies are ghosts on which ranks, and what travels between owners and ghosts.

use jostle::{Circles, Circles64, Space};
use jostle_mpi::{
    Decomposition, DistributedFinder, DistributedInput, DistributedRows, Share, ThreadRanks, Transport, Weights,
};
use jostle_testkit::scene::scene;
use jostle_testkit::{Kind, Scene};

use crate::kit::{Deal, part};

#[test]
fn forward_and_back() {
    let scene = scene::<3>(Kind::Dense, 1200, 1);
    // Each body adds its number to all other bodies that it touches: directly, and by way of ghosts.
    let mut expected = vec![0_u64; scene.len()];
    for [a, b] in jostle_testkit::oracle::pairs(scene.view()) {
        expected[a as usize] += u64::from(b) + 1;
        expected[b as usize] += u64::from(a) + 1;
    }
    let sums = ThreadRanks::run(5, |ranks| {
        let (own, ids) = part(&scene, Deal::Runs, ranks);
        let mut finder = DistributedFinder::serial();
        let found = finder.find_in_place(ranks, Share::from(own.view()).ids(&ids)).expect("sound bodies");
        let (halo, values): (_, Vec<u64>) = (found.halo(0), ids.iter().map(|id| id + 1).collect());
        let mut ghosts = Vec::new();
        halo.forward(ranks, &values, &mut ghosts);
        assert!(ghosts.iter().zip(halo.ids()).all(|(value, id)| *value == id + 1));
        for (owner, range) in halo.owners() {
            assert!(owner != ranks.rank() && range.clone().all(|ghost| halo.owner(ghost) == owner));
        }
        let (mut sums, mut of_ghosts) = (vec![0_u64; ids.len()], vec![0_u64; halo.len()]);
        for &[a, b] in found.local().pairs() {
            sums[a as usize] += values[b as usize];
            sums[b as usize] += values[a as usize];
        }
        for &[a, ghost] in found.remote(0) {
            sums[a as usize] += ghosts[ghost as usize];
            of_ghosts[ghost as usize] += values[a as usize];
        }
        halo.reverse_add(ranks, &of_ghosts, &mut sums);
        ids.into_iter().zip(sums).collect::<Vec<_>>()
    });
    for (id, sum) in sums.concat() {
        assert_eq!(sum, expected[id as usize], "body {id}");
    }
}

#[test]
fn values_without_a_byte_travel_too() {
    let lengths = ThreadRanks::run(2, |ranks| {
        let mut x = vec![ranks.rank() as f32, 9.0 - ranks.rank() as f32];
        let share = Share::from(Circles::new(&x, &[0.0; 2], 0.6));
        let mut finder = DistributedFinder::serial();
        let found = finder.find_in_place(ranks, share).expect("sound bodies");
        let (mut ghosts, mut backs) = (Vec::new(), 0);
        found.halo(0).forward(ranks, &[(); 2], &mut ghosts);
        found.halo(0).reverse(ranks, &ghosts, &mut [(); 2], |(), ()| backs += 1);
        assert_eq!((ghosts.len(), backs), (found.halo(0).len(), found.halo(0).sends().map(|(_, at)| at.len()).sum()));
        let decomposition = Decomposition::new(ranks, share, Weights::Count).expect("sound bodies");
        let migration = decomposition.migration(ranks, share).expect("sound bodies");
        let mut nothing = vec![(); 2];
        migration.lead(ranks, &mut [&mut nothing, &mut x]);
        assert_eq!((nothing.len(), x.len()), (migration.len(), migration.len()));
        [ghosts.len(), x.len()]
    });
    assert_eq!([0, 1].map(|what| lengths.iter().map(|lengths| lengths[what]).sum::<usize>()), [2, 4]);
}

/// A giant over all dust is a ghost on every other rank, and no dust is sent to the giant's rank.
#[test]
fn a_giant_makes_no_ghosts_of_dust() {
    let n = 4000;
    let mut scene: Scene<2> = (0..n).map(|i| ([(i % 64) as f32, (i / 64) as f32], 0.1)).collect();
    scene.centers.iter_mut().for_each(|column| column.push(32.0));
    scene.radii.push(1000.0);
    let ghosts = ThreadRanks::run(4, |ranks| {
        let (own, ids) = part(&scene, Deal::Round, ranks);
        let mut finder = DistributedFinder::serial();
        let found = finder.find(ranks, Share::from(own.view()).ids(&ids)).expect("sound bodies");
        let stats = *found.stats();
        assert!(stats.bodies.abs_diff(n / 4) < n / 40, "{} bodies on rank {}", stats.bodies, ranks.rank());
        stats.ghosts
    });
    assert!(ghosts.iter().all(|&ghosts| ghosts <= 100), "{ghosts:?}");
    assert_eq!(ghosts.iter().filter(|&&ghosts| ghosts == 0).count(), 1, "the giant is known to all others: {ghosts:?}");
}

/// Shares are even whatever the bodies: outliers, clusters, all bodies at one point; and by weights.
#[test]
fn shares_are_even() {
    let mut outliers = scene::<2>(Kind::Uniform, 4000, 2);
    (outliers.centers[0][7], outliers.centers[1][99]) = (1e18, -1e18);
    let one_point: Scene<2> = (0..4000).map(|_| ([3.0, 4.0], 0.0)).collect();
    let two_clusters: Scene<2> =
        (0..4000).map(|i| ([if i % 2 == 0 { 0.0 } else { 1e17 } + (i * 37 % 4000) as f32; 2], 0.5)).collect();
    let scenes = [scene(Kind::Uniform, 4000, 2), scene(Kind::Clustered, 4000, 2), outliers, one_point, two_clusters];
    for (number, scene) in scenes.iter().enumerate() {
        for ranks in [2, 5, 8] {
            ThreadRanks::run(ranks, |ranks| {
                let (own, ids) = part(scene, Deal::ALL[number % 4], ranks);
                let share = Share::from(own.view()).ids(&ids);
                let decomposition = Decomposition::new(ranks, share, Weights::Count).expect("sound bodies");
                let owned = decomposition.migration(ranks, share).expect("sound bodies").len();
                let imbalance = Decomposition::<2>::imbalance(ranks, owned as f64);
                assert!(imbalance < 1.05, "scene {number}: {imbalance} of {} ranks", ranks.size());
            });
        }
    }
    // Bodies to the right cost nine times as much.
    let counts = ThreadRanks::run(2, |ranks| {
        let x: Vec<f32> = (0..2000).map(|i| (i * 2 + ranks.rank()) as f32).collect();
        let share = Share::from(Circles::new(&x, &x, 0.5));
        let weights: Vec<f64> = x.iter().map(|&x| if x < 2000.0 { 1.0 } else { 9.0 }).collect();
        let decomposition = Decomposition::new(ranks, share, Weights::Each(&weights)).expect("sound bodies");
        decomposition.migration(ranks, share).expect("sound bodies").len()
    });
    // Half of the weight of 2000 + 9 * 2000 lies right of the middle: 10000 / 9 bodies.
    assert!(counts[1].abs_diff(1111) < 60, "{counts:?}");
}

fn grown_between<'a>(a: &'a [f32], b: &'a [f32]) -> DistributedInput<'a, 2> {
    DistributedInput::between(grown(a, &[0.0][..a.len()]), grown(b, &[0.0][..b.len()]))
}

fn grown<'a>(x: &'a [f32], y: &'a [f32]) -> Share<'a, 2> {
    Circles::new(x, y, 0.5).with_margin(0.25).into()
}

#[test]
fn lists_with_a_margin_hold_until_a_body_has_used_it_up() {
    ThreadRanks::run(3, |ranks| {
        let mut x: Vec<f32> = (0..50).map(|i| i as f32 + 50.0 * ranks.rank() as f32).collect();
        let y = vec![0.0; 50];
        let mut finder = DistributedFinder::serial();
        let mut rows = DistributedRows::new();
        finder.neighbors(ranks, grown(&x, &y), &mut rows).expect("sound bodies");
        assert!(finder.still_valid(ranks, grown(&x, &y)));
        if ranks.rank() == 1 {
            x[7] += 0.2;
        }
        assert!(finder.still_valid(ranks, grown(&x, &y)));
        if ranks.rank() == 1 {
            x[7] += 0.2;
        }
        // Two ranks have not moved any body.
        assert!(!finder.still_valid(ranks, grown(&x, &y)));
    });
}

#[test]
fn lists_of_two_sets_hold_until_margins_are_used_up_on_any_ranks() {
    // Ranks with bodies of one set alone, and ranks with bodies of both. The other set begins far away.
    for alone in [true, false] {
        for (by, holds) in [([0.2, 0.2], true), ([0.4, 0.0], true), ([0.0, 0.4], true), ([0.4, 0.4], false)] {
            let valid = ThreadRanks::run(2, |ranks| {
                let at = ranks.rank() as usize;
                let bodies = |set: usize| {
                    let here = !alone || set == at;
                    if here { vec![100.0 * set as f32 + 10.0 * at as f32] } else { Vec::new() }
                };
                let (mut a, mut b) = (bodies(0), bodies(1));
                let mut finder = DistributedFinder::serial();
                finder.find_in_place(ranks, grown_between(&a, &b)).expect("sound bodies");
                // A body of the first set moves on rank 0, one of the second on rank 1.
                if at == 0 {
                    a[0] += by[0]
                } else {
                    b[0] -= by[1]
                }
                finder.still_valid(ranks, grown_between(&a, &b))
            });
            assert_eq!(valid, [holds; 2], "alone {alone}, moved by {by:?}");
        }
    }
}

/// A search may fail after each rank has searched its own bodies: here, own bodies meet few images, but ghosts
/// too many.
#[test]
fn no_lists_hold_after_a_search_that_has_failed_late() {
    let space = Space::periodic([Some([0.0, 4.0]); 2]);
    let wide = |x| Share::from(Circles::new(x, x, 1500.0).with_margin(0.25));
    let valid = ThreadRanks::run(2, |ranks| {
        let bodies: [&[f32]; 2] = if ranks.rank() == 0 { [&[1.0], &[]] } else { [&[], &[1.0]] };
        let [a, b] = bodies;
        let mut finder = DistributedFinder::serial();
        finder.find_in_place(ranks, grown_between(a, b)).expect("sound bodies");
        let input = DistributedInput::between(wide(a), wide(b)).space(space);
        let error = finder.find_in_place(ranks, input.clone()).expect_err("is refused");
        assert!(error.to_string().contains("images of the cell"), "{error}");
        finder.still_valid(ranks, input)
    });
    assert_eq!(valid, [false; 2]);
}

/// What is shared evenly: bodies, where none of them weighs anything.
#[test]
fn bodies_without_weight_are_shared_evenly_and_endless_weights_refused() {
    let x: Vec<f64> = (0..300).map(f64::from).collect();
    let share = Share::from(Circles64::new(&x, &x, 0.5));
    for weights in [Weights::Each(&[0.0; 300]), Weights::Each(&[5e-324; 300]), Weights::Rank(0.0)] {
        let owned = ThreadRanks::run(3, |ranks| {
            let decomposition = Decomposition::new(ranks, share, weights).expect("sound bodies");
            decomposition.migration(ranks, share).expect("sound bodies").len()
        });
        assert!(owned.iter().all(|owned| owned.abs_diff(300) < 20), "{owned:?}");
    }
    // Weight of ranks without bodies weighs on no body; weights too small to be made up of units are none.
    let heavy_without_bodies = |least: f64| {
        ThreadRanks::run(3, |ranks| {
            let x: Vec<f64> = (0..if ranks.rank() == 1 { 900 } else { 0 }).map(f64::from).collect();
            let share = Share::from(Circles64::new(&x, &x, 0.5));
            let weights = Weights::Rank(if x.is_empty() { 1.0 } else { least });
            let decomposition = Decomposition::new(ranks, share, weights).expect("sound bodies");
            decomposition.migration(ranks, share).expect("sound bodies").len()
        })
    };
    for owned in [heavy_without_bodies(0.0), heavy_without_bodies(1e-300), heavy_without_bodies(5e-324)] {
        assert!(owned.iter().all(|owned| owned.abs_diff(300) < 20), "{owned:?}");
    }
    let errors = ThreadRanks::run(3, |ranks| {
        let weights = [if ranks.rank() == 1 { 1e308 } else { 1.0 }; 300];
        Decomposition::new(ranks, share, Weights::Each(&weights)).expect_err("is refused").to_string()
    });
    assert!(errors.iter().all(|text| text.starts_with("rank 1: the sum of the weights")), "{errors:?}");
}

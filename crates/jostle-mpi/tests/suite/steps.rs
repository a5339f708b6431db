//! Many steps with migration: the contacts of each step are those of one process.

use jostle::{PairFinder, Threads};
use jostle_mpi::{Decomposition, DistributedFinder, Share, ThreadRanks, Weights};
use jostle_testkit::scene::{scene, world};
use jostle_testkit::{Kind, Scene};

use crate::kit::{Deal, part};

const STEPS: usize = 200;
const BODIES: usize = 800;

/// Returns the velocity of a body, by its number.
fn speed(id: u64) -> [f32; 2] {
    let turned = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    [(turned >> 40 & 0xff) as f32 / 256.0 - 0.5, (turned >> 20 & 0xff) as f32 / 256.0 - 0.5]
}

/// Moves bodies by one step. Bodies that leave the world come in at the other side.
fn step(scene: &mut Scene<2>, velocity: [&[f32]; 2], side: f32) {
    for (column, velocity) in scene.centers.iter_mut().zip(velocity) {
        for (x, v) in column.iter_mut().zip(velocity) {
            *x = (*x + v).rem_euclid(side);
        }
    }
}

fn speeds(ids: &[u64]) -> [Vec<f32>; 2] {
    [0, 1].map(|axis| ids.iter().map(|&id| speed(id)[axis]).collect())
}

#[test]
fn two_hundred_steps() {
    let (start, side) = (scene::<2>(Kind::Uniform, BODIES, 12), world::<2>(Kind::Uniform, BODIES));
    let mut alone = start.clone();
    let velocity = speeds(&(0..BODIES as u64).collect::<Vec<_>>());
    let mut finder = PairFinder::new();
    let expected: Vec<u64> = (0..STEPS)
        .map(|_| {
            step(&mut alone, velocity.each_ref().map(Vec::as_slice), side);
            finder.on(Threads::Serial).count(alone.view()).expect("sound bodies")
        })
        .collect();
    let counts = ThreadRanks::run(3, |ranks| {
        let (mut own, mut ids) = part(&start, Deal::Round, ranks);
        let mut velocity = speeds(&ids);
        let mut finder = DistributedFinder::serial();
        let share = Share::from(own.view()).ids(&ids);
        let mut decomposition = Decomposition::new(ranks, share, Weights::Count).expect("sound bodies");
        let run = |number| {
            step(&mut own, velocity.each_ref().map(Vec::as_slice), side);
            if number % 10 == 0 {
                let share = Share::from(own.view()).ids(&ids);
                decomposition.rebalance(ranks, share, ids.len() as f64, 1.1).expect("sound bodies");
                let migration = decomposition.migration(ranks, share).expect("sound bodies");
                let ([x, y], [u, v]) = (&mut own.centers, &mut velocity);
                migration.lead(ranks, &mut [x, y, &mut own.radii, u, v, &mut ids]);
            }
            let share = Share::from(own.view()).ids(&ids);
            finder.find_in_place(ranks, share).expect("sound bodies").len() as u64
        };
        let counts: Vec<u64> = (0..STEPS).map(run).collect();
        assert!(ids.iter().enumerate().all(|(at, &id)| velocity.each_ref().map(|v| v[at]) == speed(id)));
        counts
    });
    for (number, &expected) in expected.iter().enumerate() {
        assert_eq!(counts.iter().map(|counts| counts[number]).sum::<u64>(), expected, "step {number}");
    }
}

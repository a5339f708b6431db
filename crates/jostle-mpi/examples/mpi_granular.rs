//! Discs that push each other apart in a periodic box, on many ranks.
//!
//! `mpirun -n 2 target/release/examples/mpi_granular [bodies] [steps]` under MPI (built with `--features mpi`), two threads of
//! one process without. Prints a table of stages, means over all steps of the slowest rank.

mod common;

use std::env;
use std::time::{Duration, Instant};

use jostle_mpi::{Decomposition, DistributedError, DistributedFinder, DistributedInput, Share, Transport, Weights};

use common::{over_ranks, slowest, uniform};

/// A step, and how hard discs push.
const STEP: f32 = 0.02;
const STIFFNESS: f32 = 20.0;

/// Steps from one migration to the next: bodies stay where they are meanwhile, however far they go.
const MIGRATE: usize = 20;

/// The discs of a rank.
struct Discs {
    x: Vec<f32>,
    y: Vec<f32>,
    radius: Vec<f32>,
    velocity: Vec<[f32; 2]>,
    id: Vec<u64>,
}

impl Discs {
    fn share(&self) -> Share<'_, 2> {
        Share::from(jostle::Circles::new(&self.x, &self.y, &self.radius)).ids(&self.id)
    }

    /// Leads all columns to their owners.
    fn migrate(&mut self, ranks: &impl Transport, decomposition: &Decomposition<2>) -> Result<usize, DistributedError> {
        let migration = decomposition.migration(ranks, self.share())?;
        migration.lead(ranks, &mut [&mut self.x, &mut self.y, &mut self.radius, &mut self.velocity, &mut self.id]);
        Ok(migration.leaving(ranks.rank()))
    }
}

/// By how much the first of two discs is pushed, and the second the other way.
fn push([ax, ay, ar]: [f32; 3], [bx, by, br]: [f32; 3], shift: [f32; 2]) -> [f32; 2] {
    let (dx, dy) = (ax - (bx + shift[0]), ay - (by + shift[1]));
    let distance = (dx * dx + dy * dy).sqrt().max(1e-6);
    let force = STIFFNESS * (ar + br - distance).max(0.0) / distance;
    [force * dx, force * dy]
}

fn add(to: &mut [f32; 2], force: [f32; 2]) {
    to[0] += force[0];
    to[1] += force[1];
}

fn run(ranks: &impl Transport, bodies: usize, steps: usize) -> Result<(), DistributedError> {
    let (part, side) = uniform::<2>(ranks, bodies);
    let first = ranks.scan(part.len() as u64);
    let [x, y] = part.centers;
    let id = (first..).take(x.len()).collect();
    let mut discs = Discs { velocity: vec![[0.0; 2]; x.len()], x, y, radius: part.radii, id };
    let mut decomposition = Decomposition::new(ranks, discs.share(), Weights::Count)?;
    let borders = [Some([0.0, side]); 2];

    let mut finder = DistributedFinder::serial();
    let (mut all, mut ghosts, mut forces) = (Vec::new(), Vec::new(), Vec::new());
    let (mut forcing, mut moving, mut led) = (Duration::ZERO, Duration::ZERO, 0);
    let started = Instant::now();
    for step in 0..steps {
        if step % MIGRATE == 0 {
            let begun = Instant::now();
            decomposition.rebalance(ranks, discs.share(), discs.id.len() as f64, 1.1)?;
            led += discs.migrate(ranks, &decomposition)?;
            moving += begun.elapsed();
        }
        let found = finder.find_in_place(ranks, DistributedInput::within(discs.share()).periodic(borders))?;
        all.push(*found.stats());

        let begun = Instant::now();
        let disc = |at: usize| [discs.x[at], discs.y[at], discs.radius[at]];
        let own: Vec<[f32; 3]> = (0..discs.id.len()).map(disc).collect();
        found.halo(0).forward(ranks, &own, &mut ghosts);
        forces.clear();
        forces.resize(own.len(), [0.0; 2]);
        let mut of_ghosts = vec![[0.0; 2]; ghosts.len()];
        let moved = |shift: [i32; 2]| shift.map(|k| k as f32 * side);
        for (&[a, b], shift) in found.local().pairs().iter().zip(found.local().image_shifts()) {
            let force = push(own[a as usize], own[b as usize], moved(shift));
            add(&mut forces[a as usize], force);
            add(&mut forces[b as usize], force.map(|f| -f));
        }
        for (&[a, ghost], &shift) in found.remote(0).iter().zip(found.remote_shifts(0)) {
            let force = push(own[a as usize], ghosts[ghost as usize], moved(shift));
            add(&mut forces[a as usize], force);
            add(&mut of_ghosts[ghost as usize], force.map(|f| -f));
        }
        found.halo(0).reverse(ranks, &of_ghosts, &mut forces, add);
        for at in 0..own.len() {
            let velocity = &mut discs.velocity[at];
            add(velocity, forces[at].map(|f| f * STEP));
            discs.x[at] = (discs.x[at] + velocity[0] * STEP).rem_euclid(side);
            discs.y[at] = (discs.y[at] + velocity[1] * STEP).rem_euclid(side);
        }
        forcing += begun.elapsed();
    }
    let per_step = |time: Duration| time.as_secs_f64() * 1e3 / steps.max(1) as f64;
    let mut times = [per_step(moving), per_step(forcing), per_step(started.elapsed())];
    ranks.max(&mut times);
    let stages = slowest(ranks, &all);
    let last = all.last().copied().unwrap_or_default();
    let counts = [discs.id.len() as u64, last.ghosts as u64, last.bytes, last.pairs, led as u64];
    let [bodies_of, ghosts, bytes, pairs, led] = counts.map(|value| over_ranks(ranks, value));
    // Forces cancel, those that were sent back included.
    let momentum = discs.velocity.iter().fold([0.0_f64; 2], |[x, y], v| [x + f64::from(v[0]), y + f64::from(v[1])]);
    let momenta = ranks.all_gather(bytemuck::cast_slice(&momentum)).concat();
    let drift = momenta
        .chunks_exact(16)
        .map(bytemuck::pod_read_unaligned::<[f64; 2]>)
        .fold([0.0; 2], |[x, y], v| [x + v[0], y + v[1]]);
    if ranks.rank() > 0 {
        return Ok(());
    }
    println!("{bodies} discs, {steps} steps, {} ranks; ms a step, of the slowest rank:\n", ranks.size());
    println!("| migrate | survey | halo | local | remote | forces | all |\n|---:|---:|---:|---:|---:|---:|---:|");
    let [_, _, survey, halo, local, remote, _] = stages;
    let [migrate, forces, whole] = times;
    println!("| {migrate:.2} | {survey:.2} | {halo:.2} | {local:.2} | {remote:.2} | {forces:.2} | {whole:.2} |\n");
    println!(
        "ghosts a body {:.5}, bytes sent a body {:.3}, imbalance {:.3}",
        ghosts[1] / bodies_of[1],
        bytes[1] / bodies_of[1],
        bodies_of[0] / bodies_of[1]
    );
    println!(
        "{:.0} contacts at the end; {:.0} bodies a rank have changed owners; momentum {:.4} {:.4}",
        pairs[1] * f64::from(ranks.size()),
        led[1],
        drift[0],
        drift[1]
    );
    Ok(())
}

fn main() -> Result<(), DistributedError> {
    let mut numbers = env::args().skip(1).map_while(|text| text.parse().ok());
    let (bodies, steps) = (numbers.next().unwrap_or(1_000_000), numbers.next().unwrap_or(100));
    #[cfg(feature = "mpi")]
    {
        let universe = mpi::initialize().expect("MPI begins once");
        run(&jostle_mpi::MpiRanks::new(&universe.world()), bodies, steps)
    }
    #[cfg(not(feature = "mpi"))]
    jostle_mpi::ThreadRanks::run(2, |ranks| run(ranks, bodies, steps)).into_iter().collect()
}

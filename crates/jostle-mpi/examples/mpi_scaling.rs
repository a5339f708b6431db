//! How long a search takes on these ranks, one thread each, and what it sends.
//!
//! `mpirun -n 2 target/release/examples/mpi_scaling [bodies] [searches]` under MPI (built with `--features mpi`), two threads of
//! one process without.

mod common;

use std::num::ParseIntError;
use std::time::Instant;

use jostle_mpi::{Decomposition, DistributedFinder, Share, Transport, Weights};

use common::{arguments, over_ranks, slowest, uniform};

/// Bodies that lie with their owners are searched so many times.
fn measure<const D: usize>(ranks: &impl Transport, bodies: usize, searches: usize) {
    let (mut own, _) = uniform::<D>(ranks, bodies);
    let started = Instant::now();
    let decomposition = Decomposition::new(ranks, Share::from(own.view()), Weights::Count).expect("sound bodies");
    let decomposed = started.elapsed();
    let migration = decomposition.migration(ranks, Share::from(own.view())).expect("sound bodies");
    let leaving = migration.leaving(ranks.rank()) as u64;
    let mut fields: Vec<&mut dyn jostle_mpi::Field> = own.centers.iter_mut().map(|column| column as _).collect();
    fields.push(&mut own.radii);
    migration.lead(ranks, &mut fields);
    let migrated = started.elapsed() - decomposed;

    let mut finder = DistributedFinder::serial();
    let mut all = Vec::new();
    let mut best = f64::INFINITY;
    for _ in 0..searches {
        ranks.barrier();
        let started = Instant::now();
        all.push(*finder.find_in_place(ranks, Share::from(own.view())).expect("sound bodies").stats());
        ranks.barrier();
        best = best.min(started.elapsed().as_secs_f64() * 1e3);
    }
    let last = all.last().copied().unwrap_or_default();
    let stages = slowest(ranks, &all);
    let counts = [own.len() as u64, last.ghosts as u64, last.neighbors as u64, last.bytes, last.pairs, leaving];
    let [bodies_of, ghosts, neighbors, bytes, pairs, left] = counts.map(|value| over_ranks(ranks, value));
    if ranks.rank() > 0 {
        return;
    }
    println!("{bodies} bodies in {D}D on {} ranks: best of {searches} searches {best:.1} ms", ranks.size());
    println!(
        "  decompose {:.0} ms, migrate {:.0} ms once, {:.0} bodies a rank led elsewhere",
        decomposed.as_secs_f64() * 1e3,
        migrated.as_secs_f64() * 1e3,
        left[1]
    );
    println!(
        "  mean of each stage, ms: survey {:.2}  halo {:.2}  local {:.2}  remote {:.2}",
        stages[2], stages[3], stages[4], stages[5]
    );
    println!(
        "  a rank, greatest and mean: bodies {:.0} {:.0}  ghosts {:.0} {:.0}  neighbours {:.0} {:.1}  bytes sent {:.0} {:.0}",
        bodies_of[0], bodies_of[1], ghosts[0], ghosts[1], neighbors[0], neighbors[1], bytes[0], bytes[1]
    );
    println!(
        "  ghosts a body {:.5}, bytes a body {:.4}, imbalance {:.4}, pairs {:.0}",
        ghosts[1] / bodies_of[1],
        bytes[1] / bodies_of[1],
        bodies_of[0] / bodies_of[1],
        pairs[1] * f64::from(ranks.size())
    );
}

fn main() -> Result<(), ParseIntError> {
    let [bodies, searches] = arguments([100_000, 5])?;
    #[cfg(feature = "mpi")]
    {
        let universe = mpi::initialize().expect("MPI begins once");
        measure::<2>(&jostle_mpi::MpiRanks::new(&universe.world()), bodies, searches);
    }
    #[cfg(not(feature = "mpi"))]
    jostle_mpi::ThreadRanks::run(2, |ranks| measure::<2>(ranks, bodies, searches));
    Ok(())
}

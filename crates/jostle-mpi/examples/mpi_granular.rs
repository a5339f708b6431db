//! Discs that push each other apart in a periodic box, on many ranks.
//!
//! `mpirun -n 2 target/release/examples/mpi_granular [bodies] [steps]` under MPI (built with `--features mpi`), two threads of
//! one process without. Prints a table of stages, means over all steps of the slowest rank.
//!
//! Discs are searched with a margin, so that candidates and ghosts serve several steps: until a disc of any rank has used its
//! margin up, which all ranks decide together. Meanwhile ghosts are brought to where their owners have them.

mod common;

use std::error::Error;
use std::time::{Duration, Instant};

use jostle_mpi::{
    Decomposition, DistributedError, DistributedFinder, DistributedFound, DistributedInput, Halo, Share, Transport,
    Weights,
};

use common::{arguments, over_ranks, slowest, uniform};

/// A step, how hard discs push, and what slows them: they come to rest, as grains do.
const STEP: f32 = 0.02;
const STIFFNESS: f32 = 5.0;
const DRAG: f32 = 5.0;

/// How far a disc may go before candidates are sought anew.
const MARGIN: f32 = 0.1;

/// Steps from one migration to the next at least: bodies stay with their ranks meanwhile, however far they go.
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
        Share::from(jostle::Circles::new(&self.x, &self.y, &self.radius).with_margin(MARGIN)).ids(&self.id)
    }

    /// Back into the box; between searches discs go where they go, so that image shifts hold.
    fn wrap(&mut self, side: f32) {
        self.x.iter_mut().chain(&mut self.y).for_each(|x| *x = x.rem_euclid(side));
    }

    fn advance(&mut self, forces: &[[f32; 2]]) {
        for (at, force) in forces.iter().enumerate() {
            let velocity = &mut self.velocity[at];
            *velocity = velocity.map(|v| v * (1.0 - DRAG * STEP));
            add(velocity, force.map(|f| f * STEP));
            self.x[at] += velocity[0] * STEP;
            self.y[at] += velocity[1] * STEP;
        }
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

/// What serves several steps: the ghosts, and the pairs of discs that may touch meanwhile, with what the second one is moved by.
#[derive(Default)]
struct Kept {
    halo: Halo,
    local: Vec<([u32; 2], [f32; 2])>,
    remote: Vec<([u32; 2], [f32; 2])>,
}

impl Kept {
    fn keep(&mut self, found: &DistributedFound<'_, 2>, side: f32) {
        let moved = |shift: [i32; 2]| shift.map(|k| k as f32 * side);
        let own = found.local();
        self.local.clear();
        self.local.extend(own.pairs().iter().copied().zip(own.image_shifts().map(moved)));
        self.remote.clear();
        self.remote.extend(found.remote(0).iter().copied().zip(found.remote_shifts(0).iter().copied().map(moved)));
        self.halo.clone_from(found.halo(0));
    }
}

/// How discs push each other.
#[derive(Default)]
struct Forces {
    own: Vec<[f32; 2]>,
    of_ghosts: Vec<[f32; 2]>,
    discs: Vec<[f32; 3]>,
    ghosts: Vec<[f32; 3]>,
    contacts: u64,
}

impl Forces {
    fn of(&mut self, ranks: &impl Transport, discs: &Discs, kept: &Kept) {
        self.discs.clear();
        self.discs.extend((0..discs.id.len()).map(|at| [discs.x[at], discs.y[at], discs.radius[at]]));
        kept.halo.forward(ranks, &self.discs, &mut self.ghosts);
        for (forces, count) in [(&mut self.own, self.discs.len()), (&mut self.of_ghosts, self.ghosts.len())] {
            forces.clear();
            forces.resize(count, [0.0; 2]);
        }
        self.contacts = 0;
        for &([a, b], moved) in &kept.local {
            let force = push(self.discs[a as usize], self.discs[b as usize], moved);
            self.contacts += u64::from(force != [0.0; 2]);
            add(&mut self.own[a as usize], force);
            add(&mut self.own[b as usize], force.map(|f| -f));
        }
        for &([a, ghost], moved) in &kept.remote {
            let force = push(self.discs[a as usize], self.ghosts[ghost as usize], moved);
            self.contacts += u64::from(force != [0.0; 2]);
            add(&mut self.own[a as usize], force);
            add(&mut self.of_ghosts[ghost as usize], force.map(|f| -f));
        }
        kept.halo.reverse(ranks, &self.of_ghosts, &mut self.own, add);
    }
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
    let (mut all, mut kept, mut forces) = (Vec::new(), Kept::default(), Forces::default());
    let (mut forcing, mut moving, mut led) = (Duration::ZERO, Duration::ZERO, 0);
    let mut since_migration = MIGRATE;
    let started = Instant::now();
    for step in 0..steps {
        let input = DistributedInput::within(discs.share()).periodic(borders);
        if step == 0 || !finder.still_valid(ranks, input) {
            if since_migration >= MIGRATE {
                let begun = Instant::now();
                discs.wrap(side);
                decomposition.rebalance(ranks, discs.share(), discs.id.len() as f64, 1.1)?;
                led += discs.migrate(ranks, &decomposition)?;
                moving += begun.elapsed();
                since_migration = 0;
            }
            let input = DistributedInput::within(discs.share()).periodic(borders);
            let found = finder.find_in_place(ranks, input)?;
            all.push(*found.stats());
            kept.keep(&found, side);
        }
        since_migration += 1;
        let begun = Instant::now();
        forces.of(ranks, &discs, &kept);
        discs.advance(&forces.own);
        forcing += begun.elapsed();
    }
    let per_step = |time: Duration| time.as_secs_f64() * 1e3 / steps.max(1) as f64;
    let searches = all.len();
    let mut times = [per_step(moving), per_step(forcing), per_step(started.elapsed())];
    ranks.max(&mut times);
    let stages = slowest(ranks, &all).map(|time| time * searches as f64 / steps.max(1) as f64);
    let last = all.last().copied().unwrap_or_default();
    let counts = [discs.id.len() as u64, last.ghosts as u64, last.bytes, forces.contacts, led as u64];
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
        "halo and candidates made {searches} times, valid for {:.1} steps each; {:.0} contacts at the end; {:.0} bodies a rank have changed owners; momentum {:.4} {:.4}",
        steps as f64 / searches.max(1) as f64,
        pairs[1] * f64::from(ranks.size()),
        led[1],
        drift[0],
        drift[1]
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let [bodies, steps] = arguments([1_000_000, 100])?;
    #[cfg(feature = "mpi")]
    {
        let universe = mpi::initialize().expect("MPI begins once");
        run(&jostle_mpi::MpiRanks::new(&universe.world()), bodies, steps)?;
    }
    #[cfg(not(feature = "mpi"))]
    for done in jostle_mpi::ThreadRanks::run(2, |ranks| run(ranks, bodies, steps)) {
        done?;
    }
    Ok(())
}

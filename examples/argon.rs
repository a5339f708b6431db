//! Liquid argon: molecular dynamics with the potential of Lennard and Jones in a periodic box, in f64. Neighbour lists
//! reach a skin beyond the cutoff (Verlet lists). They are kept until an atom has moved through half of the skin.
//!
//! Checked against known results: over 1,000 steps the energy stays within 1e-4 of itself, and most neighbours are 1.09
//! sigma away (Rahman, Physical Review 136, A405, 1964: 3.7 angstroms, where sigma is 3.4).
//!
//! `cargo run --release --example argon [atoms] [steps]`

mod harness;

use std::error::Error;
use std::f64::consts::PI;

use harness::{Clock, Random, arguments};
use jostle::{Input, InputError, NeighborLists, PairFinder, RadiusField, Rows, Space, Spheres64};
use rayon::prelude::*;

// Units are sigma (3.4 angstroms), epsilon (120 kelvins) and the mass of an atom; the unit of time is then 2.16 ps.

/// Atoms in a unit of volume: 1.374 grams in a cubic centimetre.
const DENSITY: f64 = 0.814;

/// Temperature in units of epsilon: 94.4 kelvins.
const TEMPERATURE: f64 = 0.787;

/// Length of a step in units of time: 8.6 femtoseconds.
const STEP: f64 = 0.004;

/// Atoms farther apart than this do not act on each other.
const CUTOFF: f64 = 2.5;

/// How far the lists reach beyond the cutoff.
const SKIN: f64 = 0.3;

/// Steps in which the lattice melts and comes to rest, and the number of later steps from which on the peak is checked.
const MELTING: usize = 500;
const HEATED_EVERY: usize = 10;
const ENOUGH: usize = 1_000;

/// Steps from one count of distances to the next.
const COUNTED_EVERY: usize = 50;

/// How far the radial distribution reaches, and its number of bins.
const REACH: f64 = 3.0;
const BINS: usize = 150;

/// The bound on the relative change of the energy, and the known place of the first peak with its tolerance.
const DRIFT: f64 = 1e-4;
const PEAK: f64 = 1.09;
const PEAK_WITHIN: f64 = 0.03;

struct Argon {
    side: f64,
    position: Vec<[f64; 3]>,
    velocity: Vec<[f64; 3]>,
    force: Vec<[f64; 3]>,
    potential: f64,
}

/// Neighbour lists that are kept as long as they are valid.
struct Neighbors {
    finder: PairFinder<3>,
    lists: NeighborLists,
    searches: usize,
}

/// Returns the potential of two atoms at this squared distance, and their force divided by the distance. A term linear
/// in the distance brings both to zero at the cutoff: a force that ended in a step there would not conserve energy.
fn lennard_jones(distance2: f64) -> (f64, f64) {
    let plain = |distance2: f64| {
        let sixth = distance2.powi(3).recip();
        (4.0 * sixth * (sixth - 1.0), 24.0 * sixth * (2.0 * sixth - 1.0) / distance2)
    };
    let ((potential, force), (end, force_at_end)) = (plain(distance2), plain(CUTOFF * CUTOFF));
    let (distance, slope) = (distance2.sqrt(), force_at_end * CUTOFF);
    (potential - end + slope * (distance - CUTOFF), force - slope / distance)
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Argon {
    /// Places about `atoms` atoms on a face-centred cubic lattice.
    fn new(atoms: usize) -> Self {
        let (cells, edge) = ((atoms as f64 / 4.0).cbrt().round().max(4.0) as usize, (4.0 / DENSITY).cbrt());
        let atom = |i: usize| {
            let cell = [i / 4 % cells, i / 4 / cells % cells, i / 4 / cells / cells];
            let within = [[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]][i % 4];
            std::array::from_fn(|axis| (cell[axis] as f64 + within[axis]) * edge)
        };
        let position: Vec<_> = (0..4 * cells.pow(3)).map(atom).collect();
        let mut random = Random::new(1);
        let mut velocity: Vec<_> =
            position.iter().map(|_| [(); 3].map(|()| f64::from(random.between(-1.0, 1.0)))).collect();
        for axis in 0..3 {
            let mean = velocity.iter().map(|v: &[f64; 3]| v[axis]).sum::<f64>() / position.len() as f64;
            velocity.iter_mut().for_each(|v| v[axis] -= mean);
        }
        Self { side: cells as f64 * edge, force: vec![[0.0; 3]; position.len()], position, velocity, potential: 0.0 }
    }

    /// Returns the atoms in their box, as the input of a search for pairs closer than `distance`. Atoms may leave the
    /// box: the lists say which image of a neighbour is near, and this image stays valid as long as the lists are kept.
    fn closer_than(&self, distance: f64, skin: f64) -> Result<Input<'_, 3>, InputError> {
        let atoms = Spheres64::from_structs(&self.position, [0, 8, 16], RadiusField::All(0.0))?;
        let space = Space::periodic([Some([0.0, self.side]); 3]);
        Ok(Input::within(atoms.within(distance).with_margin(skin / 2.0)).space(space))
    }

    /// Makes a step of velocity Verlet.
    fn step(&mut self, neighbors: &mut Neighbors, clock: &mut Clock) -> Result<(), InputError> {
        self.kick();
        for (x, v) in self.position.iter_mut().zip(&self.velocity) {
            (0..3).for_each(|axis| x[axis] += STEP * v[axis]);
        }
        clock.own();
        neighbors.refresh(self)?;
        clock.jostle();
        self.attract(&neighbors.lists);
        self.kick();
        Ok(())
    }

    /// Advances the velocities by half a step.
    fn kick(&mut self) {
        for (v, f) in self.velocity.iter_mut().zip(&self.force) {
            (0..3).for_each(|axis| v[axis] += STEP / 2.0 * f[axis]);
        }
    }

    /// Computes the forces on all atoms, and the total potential.
    fn attract(&mut self, lists: &NeighborLists) {
        let (force, potential): (Vec<_>, Vec<_>) =
            (0..lists.len()).into_par_iter().map(|i| self.attraction(i, lists)).unzip();
        self.force = force;
        self.potential = potential.iter().sum::<f64>() / 2.0;
    }

    /// Returns the force on atom `i` by its neighbours, and its potential.
    fn attraction(&self, i: usize, lists: &NeighborLists) -> ([f64; 3], f64) {
        let (mut force, mut potential) = ([0.0; 3], 0.0);
        for (&j, shift) in lists.of(i).iter().zip(lists.image_shifts_of::<3>(i)) {
            let (a, b) = (self.position[i], self.position[j as usize]);
            let apart: [f64; 3] = std::array::from_fn(|axis| b[axis] - a[axis] + f64::from(shift[axis]) * self.side);
            let distance2 = dot(apart, apart);
            if distance2 < CUTOFF * CUTOFF {
                let (energy, push) = lennard_jones(distance2);
                potential += energy;
                (0..3).for_each(|axis| force[axis] -= push * apart[axis]);
            }
        }
        (force, potential)
    }

    fn kinetic(&self) -> f64 {
        self.velocity.iter().map(|&v| dot(v, v) / 2.0).sum()
    }

    fn energy(&self) -> f64 {
        self.kinetic() + self.potential
    }

    fn temperature(&self) -> f64 {
        self.kinetic() / (1.5 * self.position.len() as f64)
    }

    /// Scales the velocities to a temperature.
    fn heat_to(&mut self, temperature: f64) {
        let factor = (temperature / self.temperature()).sqrt();
        self.velocity.as_flattened_mut().iter_mut().for_each(|v| *v *= factor);
    }
}

impl Neighbors {
    /// Makes the lists anew once they may lack a pair.
    fn refresh(&mut self, argon: &Argon) -> Result<(), InputError> {
        if !self.finder.still_valid(argon.closer_than(CUTOFF, 0.0)?) {
            self.finder.neighbors(argon.closer_than(CUTOFF, SKIN)?, Rows::Full, &mut self.lists)?;
            self.searches += 1;
        }
        Ok(())
    }
}

/// How many atoms there are at each distance from another atom, relative to a gas without forces.
#[derive(Default)]
struct RadialDistribution {
    counts: Vec<u64>,
    atoms: u64,
    finder: PairFinder<3>,
    lists: NeighborLists,
}

impl RadialDistribution {
    fn count(&mut self, argon: &Argon) -> Result<(), InputError> {
        self.finder.neighbors(argon.closer_than(REACH, 0.0)?, Rows::Half, &mut self.lists)?;
        for distance2 in self.lists.distances2() {
            let bin = (f64::from(*distance2).sqrt() / REACH * BINS as f64) as usize;
            self.counts[bin.min(BINS - 1)] += 2;
        }
        self.atoms += argon.position.len() as u64;
        Ok(())
    }

    /// Returns the middle of each bin, and the density there relative to the mean density.
    fn bins(&self) -> impl Iterator<Item = (f64, f64)> {
        let border = |bin: usize| bin as f64 * REACH / BINS as f64;
        self.counts.iter().enumerate().map(move |(bin, &count)| {
            let shell = 4.0 / 3.0 * PI * (border(bin + 1).powi(3) - border(bin).powi(3));
            (border(bin) / 2.0 + border(bin + 1) / 2.0, count as f64 / (self.atoms as f64 * DENSITY * shell))
        })
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let [atoms, steps] = arguments([2_048, ENOUGH])?;
    let mut argon = Argon::new(atoms);
    let mut neighbors =
        Neighbors { finder: PairFinder::new(), lists: NeighborLists::new().and_image_shifts(), searches: 0 };
    let mut clock = Clock::start();

    neighbors.refresh(&argon)?;
    argon.attract(&neighbors.lists);
    let melting = MELTING.min(steps / 2);
    for step in 0..melting {
        if step % HEATED_EVERY == 0 {
            argon.heat_to(TEMPERATURE);
        }
        argon.step(&mut neighbors, &mut clock)?;
    }
    argon.heat_to(TEMPERATURE);

    let (energy, mut drift) = (argon.energy(), 0.0_f64);
    let mut radial =
        RadialDistribution { counts: vec![0; BINS], lists: NeighborLists::with_distances(), ..Default::default() };
    for step in 0..steps {
        argon.step(&mut neighbors, &mut clock)?;
        drift = drift.max((argon.energy() / energy - 1.0).abs());
        if step % COUNTED_EVERY == 0 {
            radial.count(&argon)?;
        }
    }

    println!("{} atoms, {melting} steps to melt and {steps} more, {clock}", argon.position.len());
    println!(
        "{} searches: each served {:.1} steps",
        neighbors.searches,
        (melting + steps) as f64 / neighbors.searches as f64
    );
    println!("temperature {:.3}, energy {:.4} an atom", argon.temperature(), energy / argon.position.len() as f64);
    println!("the energy has changed by {drift:.1e} of itself at most; {DRIFT:e} is let pass");
    println!("radial distribution:");
    for (distance, density) in radial.bins().skip(BINS / 4).step_by(3) {
        println!("{distance:5.2} {density:5.2} {}", "#".repeat((20.0 * density).round() as usize));
    }
    let (peak, height) = radial.bins().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
    println!("its first peak is at {peak:.2} sigma, {height:.2} high; {PEAK} is known of argon");
    assert!(drift < DRIFT, "energy is not kept");
    assert!(steps < ENOUGH || (peak - PEAK).abs() < PEAK_WITHIN, "this is no liquid argon");
    Ok(())
}

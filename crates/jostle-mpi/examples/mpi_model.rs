//! What many more ranks than there are machines would send: ranks are threads of this process, and what is counted is what MPI
//! would carry. No time means anything.
//!
//! `mpi_model count RANKS BODIES_A_RANK 2|3` prints a line of comma-separated values, `mpi_model plot FILE` draws such lines as SVG.
//!
//! The scene is a function of its cells, a body's place one of its number: so each rank makes those bodies that it owns, and
//! nothing is led anywhere. The curve is cut as it always is, by samples, here of a fraction of the bodies where there are
//! many. All bodies are held at once, by one process: 8 bytes each in 2D, 12 in 3D.

mod chart;
mod common;

use std::{env, fs};

use jostle::Bodies;
use jostle_mpi::{Decomposition, DistributedFinder, Share, ThreadRanks, Transport, Weights};
use jostle_testkit::Kind;
use jostle_testkit::scene::world;
use jostle_testkit::sorting::mix;

use common::{over_ranks, uniform};

/// Radius of all bodies: the mean of the uniform scene, whose world this is.
const RADIUS: f32 = 0.75;

/// So many bodies, of all ranks together, are sampled to cut the curve.
const SAMPLED: usize = 16_000_000;

/// A cell has so many bodies at least, and at most 2^D times as many.
const LEAST_A_CELL: usize = 16;

/// The part of a cell's side that its bodies lie in, so that its far corner is a cell of the curve of its own.
const FILLED: f32 = 0.99;

/// Bodies by cells of a grid of the world.
struct Cells {
    /// Cells along a side: 2^levels.
    levels: u32,
    a_cell: usize,
    size: f32,
}

impl Cells {
    fn of<const D: usize>(bodies: usize) -> (Self, f32) {
        let levels = (bodies / LEAST_A_CELL).max(1).ilog2() / D as u32;
        let a_cell = (bodies as f64 / 2_f64.powi((levels * D as u32) as i32)).round() as usize;
        let side = world::<D>(Kind::Uniform, a_cell << (levels * D as u32));
        (Self { levels, a_cell, size: side / (1_u64 << levels) as f32 }, side)
    }

    /// Calls `visit` with each body of a rank, in the order of the curve from cell to cell.
    fn each<const D: usize>(&self, decomposition: &Decomposition<D>, rank: u32, visit: &mut impl FnMut([f32; D])) {
        self.within(decomposition, rank, [0; D], self.levels, visit);
    }

    /// The bodies of the square of 2^level cells a side that begins at a cell. Codes are monotone on each axis, so that the owners of
    /// two corners bound those of all bodies in it.
    fn within<const D: usize>(
        &self,
        decomposition: &Decomposition<D>,
        rank: u32,
        first: [u32; D],
        level: u32,
        visit: &mut impl FnMut([f32; D]),
    ) {
        let owner = |cells: f32, id| decomposition.owner(first.map(|k| (k as f32 + cells) * self.size), id);
        let owners = owner(0.0, 0)..=owner((1 << level) as f32 - (1.0 - FILLED), u64::MAX);
        if !owners.contains(&rank) {
            return;
        }
        if level > 0 {
            for child in 0..1_u32 << D {
                let half = 1 << (level - 1);
                let begin = core::array::from_fn(|axis| first[axis] + half * (child >> axis & 1));
                self.within(decomposition, rank, begin, level - 1, visit);
            }
            return;
        }
        let cell = first.iter().fold(0, |cell, &k| cell << self.levels | k as usize);
        for number in cell * self.a_cell..(cell + 1) * self.a_cell {
            let center = core::array::from_fn(|axis| {
                let fraction = (mix(number * D + axis) >> 40) as f32 / (1 << 24) as f32 * FILLED;
                (first[axis] as f32 + fraction) * self.size
            });
            if owners.start() == owners.end() || decomposition.owner(center, number as u64) == rank {
                visit(center);
            }
        }
    }
}

/// Prints a line of what a search would send.
fn count<const D: usize>(ranks: &ThreadRanks, a_rank: usize) {
    let size = ranks.size() as usize;
    let (sample, sampled_side) = uniform::<D>(ranks, (a_rank * size).min(SAMPLED));
    let (cells, side) = Cells::of::<D>(a_rank * size);
    // The curve is over all of the world, so that its cells are made of these cells.
    let corners = [0.0, sampled_side];
    let corners = if ranks.rank() == 0 { &corners[..] } else { &[] };
    let scale = |column: Vec<f32>| column.iter().chain(corners).map(|x| x / sampled_side * side).collect::<Vec<f32>>();
    let scaled = sample.centers.map(scale);
    let share = Share::from(Bodies::from_slices(scaled.each_ref().map(Vec::as_slice), RADIUS));
    let decomposition = Decomposition::new(ranks, share, Weights::Count).expect("sound bodies");
    drop(scaled);

    let mut bodies = 0;
    cells.each(&decomposition, ranks.rank(), &mut |_: [f32; D]| bodies += 1);
    let mut centers: [Vec<f32>; D] = core::array::from_fn(|_| Vec::with_capacity(bodies));
    cells.each(&decomposition, ranks.rank(), &mut |center: [f32; D]| {
        centers.iter_mut().zip(center).for_each(|(column, x)| column.push(x));
    });
    let share = Share::from(Bodies::from_slices(centers.each_ref().map(Vec::as_slice), RADIUS));
    let stats = DistributedFinder::serial().foretell(ranks, share).expect("sound bodies");

    let counted = [stats.bodies as u64, stats.ghosts as u64, stats.neighbors as u64, stats.bytes];
    let [bodies, ghosts, neighbors, bytes] = counted.map(|value| over_ranks(ranks, value));
    if ranks.rank() == 0 {
        println!(
            "{D},{size},{:.0},{:.0},{:.0},{:.1},{:.0},{:.0},{:.0},{:.3}",
            bodies[1],
            ghosts[1],
            ghosts[0],
            neighbors[1],
            neighbors[0],
            bytes[1],
            bytes[0],
            bodies[0] / bodies[1]
        );
    }
}

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["count", ranks, bodies, dimensions @ ("2" | "3")] => {
            let bodies = bodies.parse()?;
            ThreadRanks::run(ranks.parse()?, |ranks| match dimensions {
                "3" => count::<3>(ranks, bodies),
                _ => count::<2>(ranks, bodies),
            });
        }
        ["plot", file] => print!("{}", chart::of_lines(&fs::read_to_string(file)?)),
        _ => eprintln!("mpi_model count RANKS BODIES_A_RANK 2|3, or mpi_model plot FILE"),
    }
    Ok(())
}

//! What the command line accepts.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args as Group, Parser, Subcommand, ValueEnum, value_parser};
use jostle_classics::{System, SystemInSpace};
use jostle_testkit::Kind;

use crate::picture::Window;

/// Every overlapping pair of circles or spheres.
///
/// Two bodies overlap when the squared distance of their centres is at most the squared sum of their radii, in 32-bit
/// floating point; touching counts. The pairs and their order depend on the input alone, not on the threads.
///
/// Exit code: 0, 1 when `verify` finds a difference, 2 when the command line or the input cannot be used.
#[derive(Debug, Parser)]
#[command(name = "jostle", version)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Pairs(PairsArgs),
    Simulate(SimulateArgs),
    Verify(VerifyArgs),
}

/// Find the overlapping pairs of a file
///
/// Prints how many there are, which body has most contacts, the time of each stage and the memory used; writes the
/// pairs and a picture on request.
#[derive(Debug, Group)]
pub(crate) struct PairsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Write the pairs to this file: .csv (header a,b), .npy (u32, n x 2) or .parquet (u32 columns a, b)
    ///
    /// Ids count the bodies of the file from 0, and a < b. `-` writes CSV to standard output and moves the figures to
    /// standard error. The input, a read-only file, and one that holds something else than pairs are never replaced.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Search this many times, as for the frames of a simulation, and print the median times
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = value_parser!(u32).range(1..))]
    pub(crate) frames: u32,
    /// Draw the bodies to this file (.png, or `-`): free ones green, overlapping ones red, spheres from above
    #[arg(long, value_name = "OUT")]
    pub(crate) png: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
    /// Draw only this part of the world
    #[arg(long, value_name = "X0,Y0,X1,Y1", allow_hyphen_values = true, requires = "png")]
    pub(crate) window: Option<Window>,
    #[command(flatten)]
    pub(crate) replace: ReplaceArgs,
}

/// Simulate agents that bounce off each other and off the walls
///
/// Physical: circles of uniform density exchange momentum along the line of centres without loss, so momentum is
/// conserved between agents, and energy where they meet in pairs. Not physical: agents overlap for a frame before they
/// are pushed apart, and one that touches several at once shares its response among them, which loses energy; there is
/// no spin and no friction.
#[derive(Debug, Group)]
pub(crate) struct SimulateArgs {
    /// Number of agents
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = value_parser!(u32).range(1..u32::MAX.into()))]
    pub(crate) agents: u32,
    /// Number of steps
    #[arg(long, value_name = "F", default_value_t = 300, value_parser = value_parser!(u32).range(1..))]
    pub(crate) frames: u32,
    /// How the agents are spread at the start: uniform, clustered, powerlaw or dense
    #[arg(long, value_name = "KIND", default_value_t = Kind::Uniform)]
    pub(crate) scene: Kind,
    /// Circles (2) or spheres (3)
    #[arg(long, value_name = "2|3", default_value_t = 2, value_parser = value_parser!(u8).range(2..=3))]
    pub(crate) dim: u8,
    /// Another seed is another scene
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// What finds who touches: ourselves, or an older system, one thread of it
    ///
    /// The agents move in the same way whatever it is: only the time of `find` differs, and what --cells draws.
    #[arg(long, value_name = "NAME", default_value = JOSTLE, value_parser = PossibleValuesParser::new(engines()))]
    pub(crate) engine: String,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Draw the last frame to this file (.png, or `-`): free agents green, touching ones red, spheres from above
    #[arg(long, value_name = "OUT")]
    pub(crate) png: Option<PathBuf>,
    /// Draw every frame to this animation (.gif, or `-`)
    #[arg(long, value_name = "OUT")]
    pub(crate) gif: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
    /// Draw in place of the agents what two groups of them cover of each pixel of a coarse bitmap
    ///
    /// Agents of even ids are one group, drawn green, those of odd ids the other, drawn red on top: what a coverage bitmap
    /// sees, by which a game asks whether something was hit at all.
    #[arg(long, conflicts_with = "cells")]
    pub(crate) coverage: bool,
    #[command(flatten)]
    pub(crate) replace: ReplaceArgs,
}

/// Check the pairs of a file against another method
///
/// The pairs must be the same as those of a double loop or of a sweep along one axis, each with a < b and once, and in
/// the same order with one thread as with many.
#[derive(Debug, Group)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Check the pairs of this CSV file (columns a, b) in place of those that jostle finds
    #[arg(long, value_name = "CSV")]
    pub(crate) pairs: Option<PathBuf>,
    /// What to compare with
    #[arg(long, value_enum, default_value_t = Method::Auto)]
    pub(crate) against: Method,
}

/// How `verify` finds the pairs again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// `brute` up to 200,000 bodies, `sweep` beyond
    Auto,
    /// Every body against every other
    Brute,
    /// Sort along one axis, then sweep
    Sweep,
}

/// Which file to read, and how.
#[derive(Debug, Default, Group)]
pub struct InputArgs {
    /// The bodies: .csv or .parquet with columns x, y[, z], r, or .npy (n x 3 or n x 4 floats in that order)
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// One radius for all bodies; the file is then read for centres only
    #[arg(long, value_name = "R", value_parser = radius, allow_hyphen_values = true)]
    pub radius: Option<f32>,
    /// Circles (2) or spheres (3) [default: spheres when the file has a z]
    #[arg(long, value_name = "2|3", value_parser = value_parser!(u8).range(2..=3))]
    pub dim: Option<u8>,
    /// The names of the columns to read as x, y[, z], r, in that order (without r when --radius is given)
    #[arg(long, value_name = "X,Y[,Z],R", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,
}

/// What outputs may replace.
#[derive(Debug, Group)]
pub(crate) struct ReplaceArgs {
    /// Replace existing files whatever they hold [default: only those of the kind that is written]
    #[arg(long)]
    pub(crate) force: bool,
}

/// How many threads work.
#[derive(Debug, Group)]
pub(crate) struct ThreadArgs {
    /// Number of threads [default: all that the machine has]
    #[arg(long, value_name = "T", value_parser = value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

/// What pictures look like.
#[derive(Debug, Group)]
pub(crate) struct PictureArgs {
    /// Longer side of a picture in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1000, value_parser = value_parser!(u32).range(16..=16_384))]
    pub(crate) size: u32,
    /// Draw the boxes of the tree's leaves as well: 16 bodies each, neighbours on the Morton curve; of another engine,
    /// its leaves or cells
    #[arg(long)]
    pub(crate) cells: bool,
}

/// The name of our own engine, among those of [`System`] and [`SystemInSpace`].
pub(crate) const JOSTLE: &str = "jostle";

/// Our own engine, and the systems of the plane and of space, each name once.
fn engines() -> Vec<&'static str> {
    let in_space = SystemInSpace::ALL.map(SystemInSpace::name);
    let mut names: Vec<_> = [JOSTLE].into_iter().chain(System::ALL.map(System::name)).collect();
    names.extend(in_space.into_iter().filter(|name| name.parse::<System>().is_err()));
    names
}

fn radius(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(radius) if (0.0..=f32::MAX).contains(&radius) => Ok(radius),
        Ok(_) => Err("a radius is finite and not negative".to_owned()),
        Err(_) => Err("not a number".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Args;

    #[test]
    fn the_definitions_agree_with_each_other() {
        Args::command().debug_assert();
    }
}

//! What the command line accepts.

mod simulate;

use std::path::PathBuf;

use clap::{ArgGroup, Args as Group, Parser, Subcommand, ValueEnum, value_parser};

pub(crate) use simulate::{JOSTLE, Part, SimulateArgs};

use crate::picture::Window;

/// Every overlapping pair of circles or spheres, or of boxes.
///
/// Two bodies overlap when the squared distance of their centres is at most the squared sum of their radii, in 32-bit
/// floating point where that holds all values of the input, else in 64-bit; touching counts. Boxes, whose sides lie along
/// the axes, overlap when they do on each axis. The pairs and their order depend on the input alone, not on the threads.
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
#[command(group(ArgGroup::new("pictures").arg("png")))]
pub(crate) struct PairsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) threads: ThreadArgs,
    /// Write the pairs to this file: .csv (header a,b), .npy (u32, n x 2) or .parquet (u32 columns a, b)
    ///
    /// Ids count the bodies of the file from 0, and a < b. `-` writes CSV to standard output and moves the figures to
    /// standard error. The input and a read-only file are never replaced, one that holds something else only with --force.
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Count the pairs without a list: for more of them than memory holds
    #[arg(long, conflicts_with_all = ["output", "png", "window", "max_pairs"])]
    pub(crate) count: bool,
    #[command(flatten)]
    pub(crate) limit: LimitArgs,
    /// Search this many times, as for the frames of a simulation, and print the median times
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = value_parser!(u32).range(1..))]
    pub(crate) frames: u32,
    /// Draw the bodies to this file (.png, or `-`): free ones blue, overlapping ones orange, spheres from above
    #[arg(long, value_name = "OUT")]
    pub(crate) png: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) picture: PictureArgs,
    /// Draw only this part of the world; of spheres also X0,Y0,Z0,X1,Y1,Z1
    #[arg(long, value_name = "X0,Y0,X1,Y1", allow_hyphen_values = true, requires = "png")]
    pub(crate) window: Option<Window>,
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
    /// Check the pairs of this file in place of those that jostle finds: columns a and b, or an array of n x 2
    #[arg(long, value_name = "FILE")]
    pub(crate) pairs: Option<PathBuf>,
    /// What to compare with
    #[arg(long, value_enum, default_value_t = Method::Auto)]
    pub(crate) against: Method,
    #[command(flatten)]
    pub(crate) limit: LimitArgs,
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
    /// The bodies: text (.csv, .tsv, .txt) or .parquet with columns x, y[, z], r, or .npy (n x 3 or n x 4 in that order);
    /// boxes by columns xmin, ymin[, zmin], xmax, ymax[, zmax]
    ///
    /// Fields of text stand between commas, semicolons, tabs or blanks. Any of these may be packed, its name ending in .gz.
    /// `-` reads standard input, and tells by its beginning what it is.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// One radius for all bodies; the file is then read for centres only
    #[arg(long, value_name = "R", value_parser = radius, allow_hyphen_values = true)]
    pub radius: Option<f64>,
    /// Axes of the bodies: circles (2) or spheres (3) [default: 3 when the file has a z, or zmin; asked for where that is not
    /// clear]
    #[arg(long, value_name = "2|3", value_parser = value_parser!(u8).range(2..=3))]
    pub dim: Option<u8>,
    /// The columns to read as x, y[, z], r, in that order (without r when --radius is given): names, or positions from 1
    ///
    /// Of boxes, lower corners first, then upper ones: as in xmin,ymin,xmax,ymax.
    #[arg(long, value_name = "X,Y[,Z],R", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,
    /// The bodies are boxes [default: told by columns called xmin and the like; arrays have no names]
    #[arg(long, conflicts_with = "radius")]
    pub boxes: bool,
    /// Whether text begins with a line of names [default: yes, unless --columns gives positions and numbers stand there]
    #[arg(long, value_name = "yes|no", value_parser = yes_or_no)]
    pub header: Option<bool>,
    /// The precision in which bodies are searched, and overlap or do not
    #[arg(long, value_enum, default_value_t = Precision::Auto)]
    pub precision: Precision,
}

/// The precision of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Precision {
    /// `f32` when that holds every value of the file as it is, else `f64`
    #[default]
    Auto,
    /// 32-bit floats: values are rounded
    F32,
    /// 64-bit floats
    F64,
}

/// How long a list may become.
#[derive(Debug, Group)]
pub(crate) struct LimitArgs {
    /// Refuse more pairs than this before a list is made [default: as many as free memory holds]
    #[arg(long, value_name = "N")]
    pub(crate) max_pairs: Option<u64>,
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

/// What pictures look like. The group `pictures` holds the options that ask for one.
#[derive(Debug, Group)]
pub(crate) struct PictureArgs {
    /// Longer side of what is seen of the world in pixels [default: 1000, of an animation 480]
    #[arg(long, value_name = "PIXELS", requires = "pictures", value_parser = value_parser!(u32).range(16..=16_384))]
    size: Option<u32>,
    /// Draw the boxes of the tree's leaves as well: 16 bodies each, neighbours in space; of another engine,
    /// its leaves or cells
    #[arg(long, requires = "pictures")]
    pub(crate) cells: bool,
}

impl PictureArgs {
    /// Longer side of a still picture in pixels.
    pub(crate) fn still_size(&self) -> u32 {
        self.size.unwrap_or(1000)
    }

    /// Longer side of an animation in pixels.
    pub(crate) fn film_size(&self) -> u32 {
        self.size.unwrap_or(480)
    }
}

fn radius(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(radius) if (0.0..=f64::MAX).contains(&radius) => Ok(radius),
        Ok(_) => Err("a radius is finite and not negative".to_owned()),
        Err(_) => Err("not a number".to_owned()),
    }
}

/// Reads an answer.
///
/// # Errors
/// When it is neither yes nor no.
pub fn yes_or_no(text: &str) -> Result<bool, String> {
    match text.to_lowercase().as_str() {
        "yes" | "y" | "true" | "t" | "on" | "1" => Ok(true),
        "no" | "n" | "false" | "f" | "off" | "0" => Ok(false),
        _ => Err("say yes or no".to_owned()),
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

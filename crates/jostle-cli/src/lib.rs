//! The parts of the `jostle` program: the overlapping pairs of a file of circles or spheres, a simulation of bouncing
//! agents, and a verifier that finds the same pairs in another way. It is a library so that its readers can be tested
//! alone.

mod args;
mod limit;
mod memory;
mod names;
mod npy;
mod pairs;
mod picture;
mod read;
mod report;
mod simulate;
mod threads;
mod verify;
mod write;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};
pub use crate::args::{InputArgs, Precision};
pub use crate::read::{Table, read};

/// Exit code for input that cannot be used. Clap uses the same for a command line that cannot be used.
const UNUSABLE: u8 = 2;

/// Runs the program: does what the command line says, and reports an error on standard error.
#[must_use]
pub fn run() -> ExitCode {
    let outcome = match Args::parse().command {
        Command::Pairs(args) => pairs::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Verify(args) => verify::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(UNUSABLE)
    })
}

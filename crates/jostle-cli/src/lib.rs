//! What the `jostle` program is made of: the overlapping pairs of a file of circles or spheres, a simulation of bouncing
//! agents, and a verifier that finds the same pairs in another way. A library so that its readers can be tested alone.

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

/// Exit code for input that cannot be used, as clap's own for a command line that cannot.
const UNUSABLE: u8 = 2;

/// Runs the program: does what the command line says, and tells on standard error what cannot be done.
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

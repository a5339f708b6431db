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
mod shown;
mod simulate;
mod threads;
mod verify;
mod write;

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};
pub use crate::args::{InputArgs, Precision, yes_or_no};
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
        complain(format_args!("error: {}", told(&error)));
        ExitCode::from(UNUSABLE)
    })
}

/// Prints a line on standard error. That nobody reads it, or that it cannot be written, changes no exit code.
pub fn complain(line: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// An error and its causes in one line. An error that only repeats its cause, as those of other crates do, is left out.
#[must_use]
pub fn told(error: &anyhow::Error) -> String {
    let causes: Vec<_> = error.chain().map(ToString::to_string).collect();
    let repeats = |at: usize| {
        let rest = causes.get(at + 1).and_then(|cause| causes[at].strip_suffix(cause.as_str()));
        matches!(rest, Some("" | "External: "))
    };
    let told: Vec<_> = (0..causes.len()).filter(|&at| !repeats(at)).map(|at| causes[at].as_str()).collect();
    told.join(": ")
}

#[cfg(test)]
mod tests {
    use std::io;

    use anyhow::Error;
    use parquet::errors::ParquetError;

    use super::told;

    #[test]
    fn each_cause_is_told_once() {
        let cause = || io::Error::other("no room");
        assert_eq!(told(&Error::new(cause()).context("cannot write")), "cannot write: no room");
        assert_eq!(told(&Error::new(gif::EncodingError::from(cause())).context("out.gif")), "out.gif: no room");
        assert_eq!(told(&Error::new(ParquetError::External(Box::new(cause()))).context("out")), "out: no room");
        assert_eq!(told(&Error::new(ParquetError::General("odd".to_owned()))), "Parquet error: odd");
    }
}

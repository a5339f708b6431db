//! Times Jostle stage by stage and against its rivals. Every answer is checked before it is timed.
//!
//! Rows of a table run in turn, round after round, inside one process for each number of threads, so that all meet the
//! same state of the machine; what is printed is the median of the rounds, with the tenth and ninetieth percentile.

mod clock;
mod contest;
mod drift;
mod frames;
mod input;
mod machine;
mod numbers;
mod output;
mod plot;
mod race;
mod rivals;
mod scaling;
mod sheet;
mod sort;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::clock::Clock;
use crate::input::Order;
use crate::numbers::Threads;
use crate::output::Output;
use crate::race::Plan;

/// Times Jostle and its rivals. Every answer is checked before it is timed.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

/// What all sub-commands understand.
#[derive(Debug, clap::Args)]
struct Common {
    /// Folder for the tables and plots.
    #[arg(long, global = true, default_value = "target/jostle-bench")]
    out: PathBuf,
    /// Rounds of each row, at least; slow rows get fewer.
    #[arg(long, global = true, default_value_t = 15)]
    rounds: u32,
    /// Numbers of threads, such as 1,2,all, where "all" is that of the cores. By default one and all; for scaling those
    /// between as well, or powers of two of more than 8.
    #[arg(long, global = true)]
    threads: Option<Threads>,
    /// Order of the ids: shuffled in space, or along the Morton curve.
    #[arg(long, global = true, default_value = "shuffled")]
    order: Order,
    /// Clock of rows on one thread; on several it is always that on the wall.
    #[arg(long, global = true, default_value = "wall")]
    clock: Clock,
    /// Seed of the scenes.
    #[arg(long, global = true, default_value_t = 1)]
    seed: u64,
    /// Sizes of 10M as well, where the sub-command has sizes of its own.
    #[arg(long, global = true)]
    huge: bool,
}

impl Common {
    fn plan(&self) -> Plan {
        Plan { rounds: self.rounds, ..Plan::default() }
    }

    /// Numbers of threads, ascending: those asked for, or else one and all.
    fn threads(&self) -> Vec<usize> {
        self.threads.as_ref().map_or_else(|| Threads::new(vec![1, numbers::all()]), Threads::clone).0
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The radix sort against other sorts, on records of (u64 code, u32 id).
    Sort(sort::Args),
    /// All pairs of a scene from scratch, against other libraries and hand-written grids.
    Rivals(contest::Args),
    /// Ourselves over numbers of bodies and of threads, stage by stage, and what recordings say of more threads.
    Scaling(scaling::Args),
    /// Bodies that drift from frame to frame: from scratch, and by updating what the last frame left.
    Frames(frames::Args),
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args = Args::parse();
    let output = Output::new(&args.common.out)?;
    println!("{}", machine::Machine::here());
    match args.command {
        Command::Sort(sort) => sort::run(&sort, &args.common, &output),
        Command::Rivals(rivals) => contest::run(&rivals, &args.common, &output),
        Command::Scaling(scaling) => scaling::run(&scaling, &args.common, &output),
        Command::Frames(frames) => frames::run(&frames, &args.common, &output),
    }
}

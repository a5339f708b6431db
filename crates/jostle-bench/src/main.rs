//! Times Jostle stage by stage and against its rivals. Every answer is checked before it is timed.
//!
//! Rows of a table run in turn, round after round, inside one process for each number of threads, so that all meet the
//! same state of the machine; what is printed is the median of the rounds, with the tenth and ninetieth percentile.

mod apart;
mod boxes;
mod classics;
mod clock;
mod compare;
mod drift;
mod features;
mod frames;
mod guests;
mod hostile;
mod input;
mod lists;
mod machine;
mod numbers;
mod output;
mod pivot;
mod plot;
mod race;
mod report;
mod rivals;
mod scaling;
mod sort;
mod table;

use std::error::Error;
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
    task: Task,
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
    /// Adds to the tables that the folder has, in place of their rows of the same scene, size and so on: to measure in parts,
    /// all at one commit.
    #[arg(long, global = true)]
    merge: bool,
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
enum Task {
    #[command(flatten)]
    Measure(Command),
    /// Spins until killed: the other process that `guests` starts.
    #[command(hide = true)]
    Hog(guests::hog::Args),
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The radix sort against other sorts, on records of (u64 code, u32 id).
    Sort(sort::Args),
    /// All pairs of a scene from scratch, against other libraries and hand-written grids.
    Rivals(compare::Args),
    /// Neighbour lists, half and full and with distances, against a hand-written grid for lists.
    Lists(lists::Args),
    /// Ourselves over numbers of bodies and of threads, stage by stage, and what recordings say of more threads.
    Scaling(scaling::Args),
    /// Bodies that drift from frame to frame: from scratch, and by updating what the last frame left.
    Frames(frames::Args),
    /// Ourselves on scenes that bring others down; with --huge, on 10M bodies as well.
    Hostile(hostile::Args),
    /// Times boxes against those who search boxes by nature.
    Boxes(boxes::Args),
    /// What a simulation asks for beside pairs: neighbour lists, f64, filters, few among many; each beside `find`.
    #[command(alias = "beside")]
    Features(features::Args),
    /// Ourselves in pools shared with others: more threads than cores, other finders, tasks and processes, visitors that
    /// sleep. Each row has a bar; --check fails when one is missed.
    Guests(guests::Args),
    /// The systems that our users come from: trees and grids of `jostle-classics`, and from what number of bodies each pays.
    Classics(classics::Args),
    /// The record of this machine and the figures of README, from the results of the other sub-commands. Those that are
    /// missing are run with their defaults; other settings take a run of their own, whose results are then used.
    Report(report::Args),
}

fn main() -> Result<(), Box<dyn Error>> {
    let words = std::env::args().skip(1).collect::<Vec<_>>();
    run(Args::parse(), command(&words))
}

/// Runs a sub-command; `command` is kept with its results.
fn run(args: Args, command: String) -> Result<(), Box<dyn Error>> {
    let common = &args.common;
    let measure = match args.task {
        Task::Measure(measure) => measure,
        Task::Hog(hog) => return Ok(guests::hog::run(&hog)?),
    };
    let output = Output::new(&common.out, command)?.merging(common.merge);
    println!("{}", machine::Machine::here());
    if let Some(apart) = apart::nanoseconds() {
        println!("A line of memory takes {apart:.0} ns from one core to another.");
    }
    match measure {
        Command::Sort(sort) => sort::run(&sort, common, &output),
        Command::Rivals(rivals) => compare::run(&rivals, common, &output),
        Command::Lists(lists) => lists::run(&lists, common, &output),
        Command::Scaling(scaling) => scaling::run(&scaling, common, &output),
        Command::Frames(frames) => frames::run(&frames, common, &output),
        Command::Hostile(hostile) => hostile::run(&hostile, common, &output),
        Command::Boxes(boxes) => boxes::run(&boxes, common, &output),
        Command::Features(features) => features::run(&features, common, &output),
        Command::Guests(guests) => guests::run(&guests, common, &output),
        Command::Classics(classics) => classics::run(&classics, common, &output),
        Command::Report(report) => report::run(&report, common),
    }
}

/// Returns the words of a command line as they are kept with its results: without the folder of the results.
fn command(words: &[String]) -> String {
    let mut words = words.iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if word == "--out" {
            words.next();
        } else if !word.starts_with("--out=") {
            kept.push(word.as_str());
        }
    }
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{Args, command};
    use clap::CommandFactory;

    #[test]
    fn options_do_not_clash() {
        Args::command().debug_assert();
    }

    #[test]
    fn the_folder_of_results_is_not_kept() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(command(&words("rivals --out x --dim 3 --out=y")), "rivals --dim 3");
    }
}

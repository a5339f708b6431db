//! The `jostle-view` program: discs that bounce, or the bodies of files, in a browser.

mod bodies;
mod files;
mod film;
mod pace;
mod search;
mod show;
mod world;

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use clap::{Parser, value_parser};
use film::Film;
use jostle_testkit::Kind;
use jostle_view::Viewer;
use search::{JOSTLE, engines};
use show::Show;

/// Watch circles that bounce, or those of a file, the tree over them and their pairs, in a browser.
#[derive(Debug, Parser)]
#[command(name = "jostle-view", version)]
struct Args {
    #[command(flatten)]
    files: film::FileArgs,
    /// Number of circles
    #[arg(long, conflicts_with = "file", value_name = "N", default_value_t = 20_000)]
    #[arg(value_parser = value_parser!(u32).range(1..=4_000_000))]
    agents: u32,
    /// How they are spread at the start: uniform, clustered, powerlaw, dense or fluid
    #[arg(long, conflicts_with = "file", value_name = "KIND", default_value_t = Kind::Uniform)]
    scene: Kind,
    /// Frames a second that are aimed at; 0: as many as can be had [default: 60, of a film 10]
    #[arg(long, value_name = "F", value_parser = rate)]
    rate: Option<f32>,
    /// What searches: the engine, or one of the older systems
    #[arg(long, conflicts_with = "file", value_name = "NAME", default_value = JOSTLE)]
    #[arg(value_parser = PossibleValuesParser::new(engines()))]
    engine: String,
    /// How many threads the engine uses [default: one for each core]
    #[arg(long, conflicts_with = "file", value_name = "N", value_parser = value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// The address to listen at [default: port 7878 of this machine alone]
    ///
    /// At an address that other machines can reach, as 0.0.0.0:7878, whoever looks must know the token that is part of the
    /// address printed. What is sent is not encrypted.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7878", hide_default_value = true)]
    listen: SocketAddr,
}

fn rate(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(rate) if (0.0..=1e6).contains(&rate) => Ok(rate),
        _ => Err("frames a second are a number from 0 to a million".to_owned()),
    }
}

/// Exit code for input that cannot be used. Clap uses the same for a command line that cannot be used.
const UNUSABLE: u8 = 2;

/// While nothing moves, the loop answers questions once in this time.
pub(crate) const PAUSE: Duration = Duration::from_millis(10);

fn main() -> ExitCode {
    let Err(error) = run() else { return ExitCode::SUCCESS };
    jostle_cli::complain(format_args!("error: {}", jostle_cli::told(&error)));
    ExitCode::from(UNUSABLE)
}

/// What shows itself until it fails.
type Loop = Box<dyn FnMut(&mut Viewer) -> Result<()>>;

fn run() -> Result<()> {
    let args = Args::parse();
    // What cannot be shown is refused before the address of a page is printed.
    let mut run: Loop = match Film::open(args.files, args.rate)? {
        Some(mut film) => Box::new(move |viewer| film.run(viewer)),
        None => {
            let mut show = Show::new(args.scene, args.agents, args.rate, &args.engine, args.threads)?;
            Box::new(move |viewer| show.run(viewer))
        }
    };
    let mut viewer = Viewer::start(args.listen).with_context(|| format!("cannot listen at {}", args.listen))?;
    // A reader that has gone away is no error: the page is served all the same.
    match writeln!(io::stdout(), "{}", viewer.url()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        told => told.context("cannot print the address")?,
    }
    run(&mut viewer)
}

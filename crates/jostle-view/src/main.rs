//! The `jostle-view` program: discs that bounce, or the circles of a file, in a browser.

mod file;
mod world;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::{Parser, value_parser};
use jostle::PairFinder;
use jostle_testkit::Kind;
use jostle_view::{Command, Controls, Viewer};
use world::World;

/// Watch circles that bounce, or those of a file, the tree over them and their pairs, in a browser.
#[derive(Debug, Parser)]
#[command(name = "jostle-view", version)]
struct Args {
    #[command(flatten)]
    file: file::FileArgs,
    /// Number of circles
    #[arg(long, conflicts_with = "file", value_name = "N", default_value_t = 20_000)]
    #[arg(value_parser = value_parser!(u32).range(1..=4_000_000))]
    agents: u32,
    /// How they are spread at the start: uniform, clustered, powerlaw, dense or fluid
    #[arg(long, conflicts_with = "file", value_name = "KIND", default_value_t = Kind::Uniform)]
    scene: Kind,
    /// Frames a second that the simulation aims at; 0: as many as can be had
    #[arg(long, conflicts_with = "file", value_name = "F", default_value_t = 60.0, value_parser = rate)]
    rate: f32,
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

/// Exit code for input that cannot be used, as clap's own for a command line that cannot.
const UNUSABLE: u8 = 2;

/// While nothing moves, questions are answered so often.
pub(crate) const PAUSE: Duration = Duration::from_millis(10);

/// A simulation that lags behind by more than this does not catch up.
const LAG: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    let Err(error) = run() else { return ExitCode::SUCCESS };
    eprintln!("error: {error:#}");
    ExitCode::from(UNUSABLE)
}

fn run() -> Result<()> {
    let args = Args::parse();
    let bodies = args.file.read()?;
    let mut viewer = Viewer::start(args.listen).with_context(|| format!("cannot listen at {}", args.listen))?;
    if let Some(bodies) = bodies {
        return bodies.show(&mut viewer);
    }
    println!("{}", viewer.url());
    let mut finder = PairFinder::new();
    let mut show = Show::new(&args, &mut finder)?;
    loop {
        while let Some(command) = viewer.command() {
            show.obey(command, &mut finder)?;
        }
        viewer.set_controls(&show.controls);
        if show.controls.paused && !show.step_once {
            viewer.still(show.world.view(), &finder.last());
            thread::sleep(PAUSE);
            show.due = Instant::now();
            continue;
        }
        show.step_once = false;
        let start = Instant::now();
        // What is shown, and asked about while nothing moves, is the world as it was searched.
        show.world.collide(finder.last().pairs());
        show.world.drift(show.controls.gravity);
        let found = finder.find(show.world.view())?;
        viewer.set_rest(start.elapsed().saturating_sub(found.stats().time.total()));
        viewer.frame(show.world.view(), &found);
        show.wait();
    }
}

/// The simulation, and what its controls say.
struct Show {
    world: World,
    kind: Kind,
    controls: Controls,
    step_once: bool,
    /// When the next frame is to begin.
    due: Instant,
}

impl Show {
    fn new(args: &Args, finder: &mut PairFinder<2>) -> Result<Self> {
        let controls = Controls {
            paused: false,
            rate: args.rate,
            gravity: 0.0,
            scene: args.scene.to_string(),
            scenes: Kind::ALL.into_iter().chain([Kind::Fluid]).map(|kind| kind.to_string()).collect(),
            agents: args.agents,
        };
        let world = World::new(args.scene, args.agents, finder)?;
        Ok(Self { world, kind: args.scene, controls, step_once: false, due: Instant::now() })
    }

    fn obey(&mut self, command: Command, finder: &mut PairFinder<2>) -> Result<()> {
        match command {
            Command::Pause => self.controls.paused = true,
            Command::Run => self.controls.paused = false,
            Command::Step => (self.controls.paused, self.step_once) = (true, true),
            Command::Rate(rate) => self.controls.rate = rate.min(1e6),
            Command::Gravity(gravity) => self.controls.gravity = gravity.clamp(-1.0, 1.0),
            Command::Restart => self.restart(finder)?,
            Command::Scene(name) => {
                // The page offers the names of scenes; another is no scene.
                if let Ok(kind) = name.parse() {
                    (self.kind, self.controls.scene) = (kind, name);
                    self.restart(finder)?;
                }
            }
            Command::Agents(agents) => {
                self.controls.agents = agents;
                self.restart(finder)?;
            }
            Command::Giant { center, radius } => {
                self.world.add(center, radius);
                // So that tree and pairs are of all bodies while nothing moves.
                finder.find(self.world.view())?;
            }
            _ => {}
        }
        Ok(())
    }

    fn restart(&mut self, finder: &mut PairFinder<2>) -> Result<()> {
        self.world = World::new(self.kind, self.controls.agents, finder)?;
        Ok(())
    }

    /// Waits until the next frame is due.
    fn wait(&mut self) {
        let now = Instant::now();
        if self.controls.rate <= 0.0 {
            self.due = now;
            return;
        }
        // The slowest is a frame an hour.
        self.due += Duration::from_secs_f32((1.0 / self.controls.rate).min(3600.0));
        if self.due + LAG < now {
            self.due = now;
        }
        // Not longer than commands can wait.
        while let Some(left) = self.due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            thread::sleep(left.min(PAUSE));
            if left > LAG {
                break;
            }
        }
    }
}

//! `jostle simulate`: agents that move and bounce, with figures, a picture and an animation.

mod agents;
mod contacts;
mod search;
mod solve;
mod view;
mod world;

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use indicatif::{HumanCount, ProgressBar, ProgressFinish, ProgressStyle};
use jostle::{Aabb, Bodies};
use jostle_classics::BroadPhase;

use crate::args::SimulateArgs;
use crate::limit;
use crate::names;
use crate::picture::{self, Film, Window};
use crate::read::{self, Table};
use crate::report::{Millis, Report, counted, noun, percentile};
use crate::shown::Number;
use crate::threads::Workers;
use crate::write::{self, Output};
use agents::Agents;
use search::Search;
use view::View;
use world::World;

pub(crate) fn run(args: &SimulateArgs) -> Result<ExitCode> {
    let png = args.png.as_deref().map(|path| Output::png("--png", path)).transpose()?;
    let gif = args.gif.as_deref().map(|path| Output::gif("--gif", path)).transpose()?;
    let inputs: Vec<_> = args.from.as_deref().into_iter().collect();
    write::check(&inputs, &[&png, &gif].into_iter().flatten().collect::<Vec<_>>(), args.replace.force)?;
    let table = args.input().map(|input| read::read_moving(&input)).transpose()?;
    if let (Some(table), Some(file)) = (&table, &args.from) {
        ensure!(!table.is_of_boxes(), "{}: holds boxes; agents are circles or spheres", names::name(file));
    }
    let pictures = Pictures { png, gif };
    match table.as_ref().map_or(args.dim.unwrap_or(2).into(), Table::dim) {
        2 => simulate(args, table.as_ref(), &pictures, search::in_plane),
        _ => simulate(args, table.as_ref(), &pictures, search::in_space),
    }?;
    Ok(ExitCode::SUCCESS)
}

/// Where pictures go.
struct Pictures {
    png: Option<Output>,
    gif: Option<Output>,
}

fn simulate<const D: usize>(
    args: &SimulateArgs,
    table: Option<&Table>,
    pictures: &Pictures,
    classic: impl Fn(&SimulateArgs, Aabb<D>, Bodies<'_, D>) -> Result<Option<Box<dyn BroadPhase<D>>>>,
) -> Result<()> {
    let mut report = Report::beside(&[&pictures.png, &pictures.gif].into_iter().flatten().collect::<Vec<_>>());
    let workers = Workers::new(&args.threads)?;
    let agents = match (table, &args.from) {
        (Some(table), Some(file)) => {
            let random = format!("random, seed {}", args.seed);
            let velocities = if table.velocities().is_empty() { &random } else { "columns of the file" };
            let rounded = table.inexact().map_or_else(String::new, |first| format!(", which round {first}"));
            let read = format_args!("{}: {}, as 32-bit floats{rounded}", names::name(file), table.describe());
            report.row("input", read)?;
            report.row("velocities", velocities)?;
            workers.install(|| Agents::of_table(table, file, args.seed, args.speed))?
        }
        _ => {
            limit::check_agents(args.agents, world::BYTES_AN_AGENT)?;
            let count = counted(args.agents.into(), noun(D));
            report.row("scene", format_args!("{}, {count}, seed {}", args.scene, args.seed))?;
            Agents::of_scene(args.scene, args.agents as usize, args.seed, args.speed)
        }
    };
    let still = pictures.png.as_ref().map(|png| anyhow::Ok((png, View::still(args, agents.walls())?))).transpose()?;
    let search = Search::new(classic(args, agents.walls(), agents.view()?)?);
    let mut world = World::new(agents, search);
    report.row("world", view::whole(world.agents.walls()))?;
    report.row("engine", &args.engine)?;
    report.row("threads", workers.count())?;
    let energy = workers.install(|| world.agents.energy());
    let times = workers.install(|| film(args, pictures.gif.as_ref(), &mut world, &workers))?;
    times.print(&mut report)?;
    let (depth, part) = workers.install(|| world.observe(&workers))?;
    let end = world.agents.energy();
    report.row("kinetic energy", format_args!("{:.6} at the start, {:.6} at the end", Number(energy), Number(end)))?;
    let part = if part.is_finite() {
        format!(", {:.1} % of the smaller radius", Number((100.0 * part).into()))
    } else {
        String::new()
    };
    report.row("deepest overlap", format_args!("{:.6} at the end{part}", Number(depth.into())))?;
    report.row("state", format_args!("{:016x}, the same for any number of threads", world.agents.hash()))?;
    if let Some((png, still)) = still {
        let last = &mut world;
        picture::write_png(png, &workers.install(move || still.draw(last))?)?;
    }
    Ok(())
}

/// Runs all frames, and films them on request.
fn film<const D: usize>(
    args: &SimulateArgs,
    gif: Option<&Output>,
    world: &mut World<D>,
    workers: &Workers,
) -> Result<Times> {
    thread::scope(|scope| {
        let mut times = Times::default();
        let film = gif.map(|gif| {
            let view = View::film(args, &world.agents)?;
            world.observe(workers)?;
            times.window = Some(view.window());
            anyhow::Ok((Film::start(scope, gif, view.draw(world)?)?, view))
        });
        let film = film.transpose()?;
        let bar = progress(args.frames);
        for frame in 1..=args.frames {
            let start = Instant::now();
            times.finds.push(world.step(workers)?);
            times.steps.push(start.elapsed());
            bar.inc(1);
            if let Some((film, view)) = film.as_ref().filter(|_| frame % args.every() == 0) {
                let start = Instant::now();
                film.push(view.draw(world)?);
                times.pictures.push(start.elapsed());
            }
        }
        film.map_or(Ok(()), |(film, _)| film.finish())?;
        Ok(times)
    })
}

/// Makes a bar on standard error. It shows nothing if standard error is no terminal, and leaves nothing behind.
fn progress(frames: u32) -> ProgressBar {
    let style = ProgressStyle::with_template("simulating {bar:40} {human_pos} of {human_len} frames, {eta}");
    let bar = ProgressBar::new(frames.into()).with_finish(ProgressFinish::AndClear);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// How long each frame took.
#[derive(Default)]
struct Times {
    finds: Vec<Duration>,
    steps: Vec<Duration>,
    /// Time for drawing and for waiting for the encoder, for all pictures but the one of the start.
    pictures: Vec<Duration>,
    /// The part of the world that the pictures show.
    window: Option<Window>,
}

impl Times {
    fn print(self, report: &mut Report) -> Result<()> {
        report.row("frames", HumanCount(self.steps.len() as u64))?;
        if let Some(window) = self.window {
            let count = counted(self.pictures.len() as u64 + 1, "pictures");
            report.row("animation", format_args!("{count}, --window {window}"))?;
        }
        for (name, times) in [("find", self.finds), ("step", self.steps), ("picture", self.pictures)] {
            if !times.is_empty() {
                let (median, late) = (percentile(times.clone(), 50), percentile(times, 95));
                let (median, late) = (Millis(median), Millis(late));
                report.row(name, format_args!("{median} a frame, 95th percentile {late}"))?;
            }
        }
        Ok(())
    }
}

//! `jostle simulate`: agents that move and bounce, with figures, a picture and an animation.

mod agents;
mod contacts;
mod search;
mod solve;
mod world;

use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{HumanCount, ProgressBar, ProgressFinish, ProgressStyle};
use jostle::{Aabb, Bodies};
use jostle_classics::BroadPhase;

use crate::args::SimulateArgs;
use crate::picture::{self, Film, Image, Viewport, Window};
use crate::report::{Millis, Report, noun, percentile};
use crate::threads::Workers;
use crate::write::{self, Output};
use agents::Agents;
use search::Search;
use world::World;

pub(crate) fn run(args: &SimulateArgs) -> Result<ExitCode> {
    match args.dim {
        2 => simulate(args, search::in_plane),
        _ => simulate(args, search::in_space),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn simulate<const D: usize>(
    args: &SimulateArgs,
    classic: impl Fn(&SimulateArgs, Aabb<D>, Bodies<'_, D>) -> Result<Option<Box<dyn BroadPhase<D>>>>,
) -> Result<()> {
    let png = args.png.as_deref().map(|path| Output::png("--png", path)).transpose()?;
    let gif = args.gif.as_deref().map(|path| Output::gif("--gif", path)).transpose()?;
    let outputs: Vec<_> = [&png, &gif].into_iter().flatten().collect();
    write::check(&[], &outputs, args.replace.force)?;
    let mut report = Report::beside(&outputs);
    let workers = Workers::new(&args.threads)?;
    let agents = Agents::new(args.scene, args.agents as usize, args.seed);
    let walls = Aabb { lo: [0.0; D], hi: [agents.side(); D] };
    let search = Search::new(classic(args, walls, agents.view()?)?);
    let mut world = World::new(agents, search);
    let agents = HumanCount(args.agents.into());
    report.row("scene", format_args!("{}, {agents} {}, seed {}", args.scene, noun(D), args.seed))?;
    report.row("engine", &args.engine)?;
    report.row("threads", workers.count())?;
    let energy = workers.install(|| world.agents.energy());
    let times = workers.install(|| film(args, gif.as_ref(), &mut world, &workers))?;
    times.print(&mut report)?;
    let (depth, part) = workers.install(|| world.observe(&workers))?;
    report.row("kinetic energy", format_args!("{energy:.6} at the start, {:.6} at the end", world.agents.energy()))?;
    report
        .row("deepest overlap", format_args!("{depth:.6} at the end, {:.1} % of the smaller radius", 100.0 * part))?;
    report.row("state", format_args!("{:016x}, the same for any number of threads", world.agents.hash()))?;
    if let Some(png) = &png {
        picture::write_png(png, &workers.install(|| draw(args, &mut world))?)?;
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
        let viewport = viewport(args, world);
        let film = gif.map(|gif| Film::start(scope, gif, viewport)).transpose()?;
        let mut times = Times::default();
        if let Some(film) = &film {
            world.observe(workers)?;
            times.picture(film, || draw(args, world))?;
        }
        let bar = progress(args.frames);
        for frame in 1..=args.frames {
            let start = Instant::now();
            times.finds.push(world.step(workers)?);
            times.steps.push(start.elapsed());
            bar.inc(1);
            if let Some(film) = film.as_ref().filter(|_| frame % args.every() == 0) {
                times.picture(film, || draw(args, world))?;
            }
        }
        film.map_or(Ok(()), Film::finish)?;
        Ok(times)
    })
}

/// A bar on standard error. It shows nothing where that is no terminal, and leaves nothing behind.
fn progress(frames: u32) -> ProgressBar {
    let style = ProgressStyle::with_template("simulating {bar:40} {human_pos} of {human_len} frames, {eta}");
    let bar = ProgressBar::new(frames.into()).with_finish(ProgressFinish::AndClear);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn viewport<const D: usize>(args: &SimulateArgs, world: &World<D>) -> Viewport {
    Viewport::new(window(world), args.picture.size)
}

fn window<const D: usize>(world: &World<D>) -> Window {
    Window { low: [0.0; 2], high: [world.agents.side().into(); 2] }
}

fn draw<const D: usize>(args: &SimulateArgs, world: &mut World<D>) -> Result<Image> {
    if args.coverage {
        return picture::draw_coverage::<D>(world.agents.view()?, window(world), viewport(args, world));
    }
    let cells = if args.picture.cells { world.cells()? } else { Vec::new() };
    let touching = |id| world.contacts.count(id) > 0;
    Ok(picture::draw::<D>(world.agents.view()?, touching, &cells, viewport(args, world)))
}

/// How long each frame took.
#[derive(Default)]
struct Times {
    finds: Vec<Duration>,
    steps: Vec<Duration>,
    /// Drawing, and waiting for the encoder.
    pictures: Vec<Duration>,
}

impl Times {
    fn picture(&mut self, film: &Film<'_>, draw: impl FnOnce() -> Result<Image>) -> Result<()> {
        let start = Instant::now();
        film.push(draw()?);
        self.pictures.push(start.elapsed());
        Ok(())
    }

    fn print(self, report: &mut Report) -> Result<()> {
        report.row("frames", HumanCount(self.steps.len() as u64))?;
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

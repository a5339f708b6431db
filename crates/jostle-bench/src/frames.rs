//! A moving simulation: a search each frame, from scratch or by updating what the last frame left.

use std::hint::black_box;
use std::time::Duration;

use jostle_testkit::Kind;

use crate::Common;
use crate::clock::Clock;
use crate::compare::{OURS, checked, expected, note, wants};
use crate::drift::{Ring, STEP};
use crate::input::{self, Kinds};
use crate::machine::version;
use crate::numbers::{self, Sizes};
use crate::output::Output;
use crate::plot::Chart;
use crate::race::{Case, Plan, Timing, race};
use crate::rivals::{self, Rival};
use crate::table::{Cell, Table};

/// Options of this sub-command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Numbers of bodies; 10M as well by --huge.
    #[arg(long, default_value = "10k,100k,1m")]
    n: Sizes,
    /// Scenes.
    #[arg(long, default_value = "all")]
    scene: Kinds,
    /// Number of axes: 2, 3.
    #[arg(long, default_value = "2", value_parser = clap::value_parser!(u8).range(2..=3))]
    dim: u8,
    /// Only rivals whose names contain one of these words, beside ourselves.
    #[arg(long, value_delimiter = ',', default_value = "grid,broccoli,rstar,parry,obvhs,Box2D")]
    only: Vec<String>,
}

/// Frames of a scene.
const FRAMES: usize = 8;

/// The name of frames whose bodies move little and keep their ids.
const COHERENT: &str = "coherent";

/// The name of the same frames when ids mean nothing from one frame to the next.
const UNRELATED: &str = "unrelated";

/// Columns of the table.
const COLUMNS: [&str; 19] = [
    "dim",
    "scene",
    "n",
    "order",
    "threads",
    "clock",
    "pairs",
    "rival",
    "frames",
    "version",
    "ms a frame",
    "p10",
    "p90",
    "rounds",
    "runs",
    "ns a body",
    "times ours",
    "coherent / unrelated",
    "note",
];

/// What is timed.
pub(crate) const LEGEND: &str = "\
Milliseconds a frame; the pairs of each frame exact, and checked in a lap that is not timed.
coherent: each body moves by at most 1% of its radius, to and fro over 8 frames, and keeps its id.
unrelated: the same frames, the ids of each permuted anew.
updated: the tree of the last frame is kept and fitted to the new one. Bodies come back, so that it never grows old.
";

/// A rival with its frames.
struct Row<'a, const D: usize> {
    rival: Box<dyn Rival<D>>,
    /// [`COHERENT`] or [`UNRELATED`].
    frames: &'static str,
    ring: &'a Ring<D>,
    step: usize,
}

impl<'a, const D: usize> Row<'a, D> {
    /// Checks one lap, up to the first search that exceeds the plan's patience. Returns how long the last search took.
    fn check(&mut self, clock: Clock, plan: &Plan) -> Duration {
        let frames = self.ring.frames();
        self.rival.prepare(&frames[0].scene);
        let mut took = Duration::ZERO;
        for frame in frames {
            took = checked(self.rival.as_mut(), &frame.scene, &frame.expected, clock);
            self.step += 1;
            if took > plan.patience {
                break;
            }
        }
        took
    }

    fn case(&mut self, clock: Clock, first: Duration) -> Case<'_> {
        let measure = move |runs| {
            let start = clock.start();
            for _ in 0..runs {
                black_box(self.rival.find(&self.ring.at(self.step).scene));
                self.step += 1;
            }
            start.elapsed()
        };
        Case { first, measure: Box::new(measure) }
    }
}

/// Runs the sub-command.
pub(crate) fn run(args: &Args, common: &Common, output: &Output) -> Result<(), Box<dyn std::error::Error>> {
    println!("{LEGEND}");
    let mut table = Table::new(COLUMNS);
    if args.dim == 2 {
        fill(&mut table, args, common, || (rivals::in_2d(), rivals::updated_in_2d()))?;
    } else {
        fill(&mut table, args, common, || (rivals::in_3d(), rivals::updated_in_3d()))?;
    }
    let name = format!("frames-{}d", args.dim);
    for threads in common.threads() {
        for &kind in &args.scene.0 {
            output.chart(&format!("{name}-{kind}-{threads}"), &chart(&table, kind, threads))?;
        }
    }
    output.table(&name, &table)
}

/// Rivals that search from scratch, and those that update.
type Both<const D: usize> = (Vec<Box<dyn Rival<D>>>, Vec<Box<dyn Rival<D>>>);

fn fill<const D: usize>(
    table: &mut Table,
    args: &Args,
    common: &Common,
    rivals: impl Fn() -> Both<D>,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut sizes = args.n.0.clone();
    sizes.extend(common.huge.then_some(10_000_000));
    let pools = numbers::pools(&common.threads())?;
    for &n in &sizes {
        for &kind in &args.scene.0 {
            let scene = input::scene::<D>(kind, n, common.seed, common.order);
            let coherent = Ring::coherent(&scene, FRAMES, STEP, common.seed, |scene| expected(scene, kind, rivals().0));
            let unrelated = coherent.unrelated(common.seed);
            for pool in &pools {
                let first = table.len();
                let rows = rows(args, kind, n, &coherent, &unrelated, rivals());
                let threads = pool.current_num_threads();
                pool.install(|| time(table, kind, threads, rows, common));
                println!("{}", table.text_from(first));
            }
        }
    }
    Ok(())
}

/// Returns rows of Jostle on both kinds of frames, and of the wanted rivals on coherent frames.
fn rows<'a, const D: usize>(
    args: &Args,
    kind: Kind,
    n: usize,
    coherent: &'a Ring<D>,
    unrelated: &'a Ring<D>,
    (scratch, updated): Both<D>,
) -> Vec<Row<'a, D>> {
    let row = |rival, frames, ring| Row { rival, frames, ring, step: 0 };
    let all = scratch.into_iter().chain(updated);
    let able = all.filter(|rival| wants(&args.only, rival.name()) && !rival.hopeless(kind, n) && !rival.keeps_bodies());
    let mut rows: Vec<_> = able.map(|rival| row(rival, COHERENT, coherent)).collect();
    rows.insert(1, row(rivals::ourselves(), UNRELATED, unrelated));
    rows
}

/// Checks and times all rows in the current pool.
fn time<const D: usize>(table: &mut Table, kind: Kind, threads: usize, mut rows: Vec<Row<'_, D>>, common: &Common) {
    let (clock, plan) = (common.clock.of_threads(threads), common.plan());
    let firsts: Vec<_> = rows.iter_mut().map(|row| row.check(clock, &plan)).collect();
    let mut cases: Vec<_> = rows.iter_mut().zip(firsts).map(|(row, first)| row.case(clock, first)).collect();
    let timings = race(&mut cases, &plan);
    drop(cases);
    let ours = |frames| {
        let mut rows = rows.iter().zip(&timings);
        rows.find(|(row, _)| row.rival.name() == OURS && row.frames == frames)
            .map_or(f64::NAN, |(_, timing)| timing.median)
    };
    let (coherent, unrelated) = (ours(COHERENT), ours(UNRELATED));
    for (row, timing) in rows.iter().zip(&timings) {
        let ratio = (row.rival.name() == OURS && row.frames == COHERENT).then_some(coherent / unrelated);
        table.push(line(kind, threads, row, timing, common, [Some(timing.median / coherent), ratio]));
    }
}

fn line<const D: usize>(
    kind: Kind,
    threads: usize,
    row: &Row<'_, D>,
    timing: &Timing,
    common: &Common,
    ratios: [Option<f64>; 2],
) -> Vec<Cell> {
    let frame = &row.ring.frames()[0];
    let n = frame.scene.len();
    vec![
        D.into(),
        kind.to_string().into(),
        n.into(),
        common.order.to_string().into(),
        threads.into(),
        common.clock.of_threads(threads).name().into(),
        frame.expected.len().into(),
        row.rival.name().into(),
        row.frames.into(),
        version(row.rival.package()).into(),
        timing.median.into(),
        timing.p10.into(),
        timing.p90.into(),
        timing.rounds.into(),
        timing.runs.into(),
        (timing.median * 1e6 / n as f64).into(),
        ratios[0].into(),
        ratios[1].into(),
        note(Some(*timing), common).into(),
    ]
}

/// Nanoseconds a body over the number of bodies.
fn chart(table: &Table, kind: Kind, threads: usize) -> Chart {
    let title = format!("Drifting bodies, {kind} scene, threads: {threads}");
    let mut chart = Chart::new(title, "bodies", "nanoseconds a body and frame");
    let here = [&kind.to_string().into(), &threads.into()];
    for [scene, count, rival, frames, n, time] in
        table.select(["scene", "threads", "rival", "frames", "n", "ns a body"])
    {
        if let (true, Cell::Text(rival), Cell::Text(frames), Cell::Count(n), Cell::Number(time)) =
            ([scene, count] == here, rival, frames, n, time)
        {
            let name = if frames == COHERENT { rival.clone() } else { format!("{rival} {frames}") };
            chart.add(&name, *n as f64, *time);
        }
    }
    chart
}

//! Jostle over numbers of bodies and of threads: measured, and predicted from recordings of the tasks.

mod amdahl;
mod charts;
pub(crate) mod independent;
mod predicted;

use std::thread::sleep;
use std::time::Duration;

use jostle::{Found, PairFinder, StageTimes, Threads};
use jostle_testkit::{Kind, Scene};
use rayon::ThreadPool;

pub(crate) use self::charts::over_threads as speed_up;
use self::predicted::{Answer, Predicted, WORKERS, answers_table, predict, push_answer, push_regions, regions_table};
use crate::Common;
use crate::clock::Clock;
use crate::compare::expected;
use crate::input::{self, Kinds};
use crate::numbers::{self, Sizes};
use crate::output::Output;
use crate::race::{Case, Timing, milliseconds, race};
use crate::rivals::{self, Rival};
use crate::table::{Cell, Table};

/// Options of this sub-command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Numbers of bodies; 10M as well by --huge.
    #[arg(long, default_value = "1k,2k,5k,10k,20k,50k,100k,200k,500k,1m")]
    n: Sizes,
    /// Scenes.
    #[arg(long, default_value = "all")]
    scene: Kinds,
    /// Number of axes: 2, 3.
    #[arg(long, default_value = "2", value_parser = clap::value_parser!(u8).range(2..=3))]
    dim: u8,
    /// Searches from within the pool, one after the other, as frames of a simulation that runs there; nothing is recorded then. Else they are
    /// called for from outside, where the engine keeps to one thread for longer.
    #[arg(long)]
    inside: bool,
    /// Milliseconds that the calling thread sleeps before each search, as between frames; nothing is recorded then. Threads have to be woken, and
    /// caches are colder.
    #[arg(long, default_value_t = 0)]
    pause: u64,
}

impl Args {
    fn called(&self) -> Called {
        Called { inside: self.inside, pause: Duration::from_millis(self.pause) }
    }
}

/// How searches are called for.
#[derive(Debug, Clone, Copy)]
struct Called {
    inside: bool,
    pause: Duration,
}

impl Called {
    /// Whether searches follow one another without a pause, called from outside the pool.
    fn is_plain(self) -> bool {
        !self.inside && self.pause.is_zero()
    }
}

/// Columns of the table before those of the stages.
const COLUMNS: [&str; 12] =
    ["dim", "scene", "n", "order", "threads", "clock", "pairs", "ms", "p10", "p90", "rounds", "runs"];

/// Columns after the stages; those of the workers are the last.
const MORE_COLUMNS: [&str; 8] = [
    "ns a body",
    "Mpairs/s",
    "bytes a body",
    "speed-up",
    "efficiency",
    "independent",
    "serial fitted",
    "serial recorded",
];

/// What the columns mean.
pub(crate) const LEGEND: &str = "\
Times in ms, medians; of the stages too. Speed-up and efficiency: against one thread.
bytes a body: what the finder holds after a search beside the list of pairs.
independent: the speed-up of loops that share nothing, at the same time: what the machine itself gives.
serial fitted: the share s of Amdahl's t(p) = t1 (s + (1 - s)/p), least squares over the threads measured.
serial recorded: the share of a search, recorded task by task on one thread, between its regions of tasks.
N workers: speed-up that the recorded tasks allow on so many equal cores, hand-over and memory costing nothing.
Recorded are full rows too, contacts, two thirds of which the last frame had, their pairs being there, and a coherent frame that is kept:
bodies move by up to 1% of their radii, one in 4,096 turns in each frame.
Nothing is recorded where n is so small that the engine keeps to one thread.
";

/// Runs the sub-command.
pub(crate) fn run(args: &Args, common: &Common, output: &Output) -> Result<(), Box<dyn std::error::Error>> {
    println!("{LEGEND}");
    let all = || numbers::Threads::up_to(numbers::all());
    let threads = common.threads.clone().unwrap_or_else(all).0;
    let mut tables = Tables::new();
    if args.dim == 2 {
        tables.fill(args, common, &threads, rivals::in_2d)?;
    } else {
        tables.fill(args, common, &threads, rivals::in_3d)?;
    }
    let name = format!("scaling-{}d", args.dim);
    let called = args.called();
    if !called.is_plain() {
        let [inside, paused] = [(called.inside, "-inside"), (!called.pause.is_zero(), "-paused")]
            .map(|(is_so, name)| if is_so { name } else { "" });
        return output.table(&format!("{name}{inside}{paused}"), &tables.table);
    }
    for &kind in &args.scene.0 {
        output.chart(&format!("{name}-{kind}"), &charts::over_bodies(&tables.table, kind))?;
    }
    output.chart(&format!("{name}-speed-up"), &speed_up(&tables.table))?;
    output.table(&format!("{name}-answers"), &tables.answers)?;
    output.table(&format!("{name}-regions"), &tables.regions)?;
    output.table(&name, &tables.table)
}

struct Tables {
    table: Table,
    answers: Table,
    regions: Table,
}

impl Tables {
    fn new() -> Self {
        let workers = WORKERS.map(|workers| format!("{workers} workers"));
        let stages = StageTimes::default().named().map(|stage| stage.0);
        let columns = COLUMNS.into_iter().chain(stages).chain(MORE_COLUMNS).map(str::to_owned);
        Self { table: Table::new(columns.chain(workers)), answers: answers_table(), regions: regions_table() }
    }

    fn fill<const D: usize>(
        &mut self,
        args: &Args,
        common: &Common,
        threads: &[usize],
        rivals: impl Fn() -> Vec<Box<dyn Rival<D>>>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let mut sizes = args.n.0.clone();
        sizes.extend(common.huge.then_some(10_000_000));
        let (pools, called) = (numbers::pools(threads)?, args.called());
        for &kind in &args.scene.0 {
            let mut last = None;
            for &n in &sizes {
                let scene = input::scene::<D>(kind, n, common.seed, common.order);
                let expected = expected(&scene, kind, rivals());
                let first = self.table.len();
                let rows = measure(&scene, &expected, (&pools, called), common);
                let predicted = Answer::ALL.map(|answer| called.is_plain().then(|| predict(&scene, answer)).flatten());
                push(&mut self.table, kind, &scene, &rows, predicted[0].as_ref(), common);
                println!("{}", self.table.text_from(first));
                let first = self.answers.len();
                for (answer, predicted) in Answer::ALL.into_iter().zip(&predicted) {
                    if let Some(predicted) = predicted {
                        push_answer(&mut self.answers, D, (kind, n), answer, predicted);
                    }
                }
                println!("{}", self.answers.text_from(first));
                last = predicted.iter().all(Option::is_some).then_some((n, predicted)).or(last);
            }
            if let Some((n, predicted)) = last {
                let first = self.regions.len();
                for (answer, predicted) in Answer::ALL.into_iter().zip(predicted.iter().flatten()) {
                    push_regions(&mut self.regions, D, (kind, n), answer, &predicted.recording);
                }
                println!("Regions of one recorded search, times in ms\n{}", self.regions.text_from(first));
            }
        }
        Ok(())
    }
}

/// An engine of its own for a number of threads.
struct Row<'p, const D: usize> {
    finder: PairFinder<D>,
    pool: &'p ThreadPool,
    called: Called,
    clock: Clock,
    independent: f64,
    stages: Vec<StageTimes>,
}

impl<const D: usize> Row<'_, D> {
    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn find(&mut self, scene: &Scene<D>) -> Found<'_, D> {
        let threads = if self.threads() == 1 { Threads::Serial } else { Threads::Pool(self.pool) };
        self.finder.on(threads).find(scene.view()).expect("scenes keep to the contract")
    }

    /// Searches once, checks the pairs, and returns how long the search took.
    ///
    /// # Panics
    /// When the pairs are not those expected.
    fn check(&mut self, scene: &Scene<D>, expected: &[[u32; 2]]) -> Duration {
        let start = self.clock.start();
        let mut found = self.find(scene).pairs().to_vec();
        let first = start.elapsed();
        found.sort_unstable();
        assert!(found == expected, "{} threads find other pairs among {} bodies", self.threads(), scene.len());
        first
    }

    fn case<'a>(&'a mut self, scene: &'a Scene<D>, first: Duration) -> Case<'a> {
        let (pool, Called { inside, pause }) = (self.pool, self.called);
        let mut measure = move |runs| {
            let mut search = |runs| {
                let start = self.clock.start();
                for _ in 0..runs {
                    let stages = self.find(scene).stats().time;
                    self.stages.push(stages);
                }
                start.elapsed()
            };
            if pause.is_zero() {
                return search(runs);
            }
            let after_a_pause = |_| {
                sleep(pause);
                search(1)
            };
            (0..runs).map(after_a_pause).sum()
        };
        let measure = move |runs| if inside { pool.install(|| measure(runs)) } else { measure(runs) };
        Case { first, measure: Box::new(measure) }
    }
}

/// Checks and times an engine for each pool, in turn, and returns all engines with their times.
fn measure<'p, const D: usize>(
    scene: &Scene<D>,
    expected: &[[u32; 2]],
    (pools, called): (&'p [ThreadPool], Called),
    common: &Common,
) -> Vec<(Row<'p, D>, Timing)> {
    let row = |pool: &'p ThreadPool| {
        let clock = common.clock.of_threads(pool.current_num_threads());
        let independent = independent::speed_up(pool);
        Row { finder: PairFinder::new(), pool, called, clock, independent, stages: Vec::new() }
    };
    let mut rows: Vec<_> = pools.iter().map(row).collect();
    let firsts: Vec<_> = rows.iter_mut().map(|row| row.check(scene, expected)).collect();
    let mut cases: Vec<_> = rows.iter_mut().zip(firsts).map(|(row, first)| row.case(scene, first)).collect();
    let timings = race(&mut cases, &common.plan());
    drop(cases);
    rows.into_iter().zip(timings).collect()
}

/// Adds a line for each engine.
fn push<const D: usize>(
    table: &mut Table,
    kind: Kind,
    scene: &Scene<D>,
    rows: &[(Row<'_, D>, Timing)],
    predicted: Option<&Predicted>,
    common: &Common,
) {
    let n = scene.len() as f64;
    let times: Vec<_> = rows.iter().map(|(row, timing)| (row.threads(), timing.median)).collect();
    let alone = times.iter().find(|row| row.0 == 1).map(|row| row.1);
    let fitted = amdahl::serial_share(&times);
    for (row, timing) in rows {
        let stats = row.finder.last().stats();
        let beside_list = (stats.bytes - stats.list_bytes) as f64;
        let speed_up = alone.map(|alone| alone / timing.median);
        let mut cells: Vec<Cell> = vec![
            D.into(),
            kind.to_string().into(),
            scene.len().into(),
            common.order.to_string().into(),
            row.threads().into(),
            row.clock.name().into(),
            (stats.pairs as usize).into(),
            timing.median.into(),
            timing.p10.into(),
            timing.p90.into(),
            timing.rounds.into(),
            timing.runs.into(),
        ];
        cells.extend(stages(&row.stages));
        cells.extend([
            (timing.median * 1e6 / n).into(),
            (stats.pairs as f64 / timing.median / 1e3).into(),
            (beside_list / n).into(),
            speed_up.into(),
            speed_up.map(|speed_up| speed_up / row.threads() as f64).into(),
            row.independent.into(),
            fitted.into(),
            predicted.map(|predicted| predicted.serial_share).into(),
        ]);
        cells.extend((0..WORKERS.len()).map(|w| Cell::from(predicted.map(|predicted| predicted.speed_ups[w]))));
        table.push(cells);
    }
}

/// The median of each stage, in milliseconds.
fn stages(times: &[StageTimes]) -> impl Iterator<Item = Cell> {
    (0..StageTimes::default().named().len()).map(|stage| {
        let samples = times.iter().map(|times| milliseconds(times.named()[stage].1)).collect();
        Timing::of(samples, 1).median.into()
    })
}

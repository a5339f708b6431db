//! All rivals on all scenes, from scratch for each search.

use std::hint::black_box;
use std::time::Duration;

use jostle_testkit::{Kind, Scene, sweep};

use crate::Common;
use crate::clock::Clock;
use crate::input::{self, Kinds};
use crate::machine::version;
use crate::numbers::{self, Sizes};
use crate::output::Output;
use crate::pivot::by_scene;
use crate::plot::Chart;
use crate::race::{Case, Timing, race};
use crate::rivals::{self, Rival};
use crate::table::{Cell, Table};

/// Options of this sub-command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Numbers of bodies.
    #[arg(long, default_value = "1k,10k,100k,1m")]
    pub(crate) n: Sizes,
    /// Scenes.
    #[arg(long, default_value = "all")]
    pub(crate) scene: Kinds,
    /// Number of axes: 2, 3.
    #[arg(long, default_value = "2", value_parser = clap::value_parser!(u8).range(2..=3))]
    pub(crate) dim: u8,
    /// Only rivals whose names contain one of these words, beside ourselves: such as grid,broccoli.
    #[arg(long, value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}

/// Whether a rival is asked for.
pub(crate) fn wants(only: &[String], name: &str) -> bool {
    only.is_empty() || name == OURS || only.iter().any(|word| name.contains(word.as_str()))
}

/// Our name in the tables.
pub(crate) const OURS: &str = "jostle";

/// Returns the most bodies for which a sweep makes the expected pairs. With more the sweep takes too long, and the
/// judges must agree.
const fn sweep_max(axes: usize) -> usize {
    if axes == 2 { 2_000_000 } else { 200_000 }
}

/// Two rivals that run on any scene, share no code, and are not ourselves.
const JUDGES: [&str; 2] = ["grid hierarchy by hand", "rstar"];

/// Columns of the table.
const COLUMNS: [&str; 17] = [
    "dim",
    "scene",
    "n",
    "order",
    "threads",
    "clock",
    "pairs",
    "rival",
    "version",
    "ms",
    "p10",
    "p90",
    "rounds",
    "runs",
    "ns a body",
    "times ours",
    "note",
];

/// One scene and the pairs that are expected.
struct Task<'a, const D: usize> {
    kind: Kind,
    scene: &'a Scene<D>,
    expected: &'a [[u32; 2]],
    threads: usize,
}

/// Runs the sub-command.
pub(crate) fn run(args: &Args, common: &Common, output: &Output) -> Result<(), Box<dyn std::error::Error>> {
    let table = table(args, common, output)?;
    output.table(&format!("rivals-{}d", args.dim), &table)
}

/// The table, printed as it grows, with its charts.
pub(crate) fn table(args: &Args, common: &Common, output: &Output) -> Result<Table, Box<dyn std::error::Error>> {
    println!("Each search from scratch, pairs exact and checked. Ids: {}. Times in ms.\n", common.order);
    let mut table = Table::new(COLUMNS);
    if args.dim == 2 {
        fill(&mut table, args, common, rivals::in_2d)?;
    } else {
        fill(&mut table, args, common, rivals::in_3d)?;
    }
    for threads in common.threads() {
        let summary = by_scene(&table, ["rival"], "ms", &threads.into());
        println!("Milliseconds, threads: {threads}\n{}", summary.text_from(0));
        for &kind in &args.scene.0 {
            let name = format!("rivals-{}d-{kind}-{threads}", args.dim);
            output.chart(&name, &chart(&table, kind, &threads.into()))?;
        }
    }
    Ok(table)
}

fn fill<const D: usize>(
    table: &mut Table,
    args: &Args,
    common: &Common,
    rivals: impl Fn() -> Vec<Box<dyn Rival<D>>>,
) -> Result<(), Box<dyn std::error::Error>> {
    let pools = numbers::pools(&common.threads())?;
    for &n in &args.n.0 {
        for &kind in &args.scene.0 {
            let scene = input::scene::<D>(kind, n, common.seed, common.order);
            let expected = expected(&scene, kind, rivals());
            for pool in &pools {
                let first = table.len();
                let task = Task { kind, scene: &scene, expected: &expected, threads: pool.current_num_threads() };
                let wanted = rivals().into_iter().filter(|rival| wants(&args.only, rival.name())).collect();
                pool.install(|| compare(table, &task, wanted, common));
                println!("{}", table.text_from(first));
            }
        }
    }
    Ok(())
}

/// The pairs of a scene, ascending.
pub(crate) fn expected<const D: usize>(scene: &Scene<D>, kind: Kind, rivals: Vec<Box<dyn Rival<D>>>) -> Vec<[u32; 2]> {
    if scene.len() <= sweep_max(D) {
        return sweep::pairs(scene.view());
    }
    judged(scene, kind, rivals)
}

/// The pairs that the judges find, ascending.
fn judged<const D: usize>(scene: &Scene<D>, kind: Kind, rivals: Vec<Box<dyn Rival<D>>>) -> Vec<[u32; 2]> {
    let judges = rivals.into_iter().filter(|rival| JUDGES.contains(&rival.name()));
    let found = judges.map(|mut rival| {
        let mut pairs = rival.find(scene).to_vec();
        pairs.sort_unstable();
        pairs
    });
    let found: Vec<_> = found.collect();
    assert!(found.len() == JUDGES.len() && found[0] == found[1], "{kind}, {} bodies: judges disagree", scene.len());
    found.into_iter().next().unwrap_or_default()
}

/// Checks and times all rivals on one scene, in the current pool.
fn compare<const D: usize>(table: &mut Table, task: &Task<'_, D>, mut rivals: Vec<Box<dyn Rival<D>>>, common: &Common) {
    let (scene, n) = (task.scene, task.scene.len());
    let clock = common.clock.of_threads(task.threads);
    let runs = |rival: &dyn Rival<D>| !rival.hopeless(task.kind, n);
    let mut cases: Vec<Case<'_>> = Vec::new();
    for rival in rivals.iter_mut().filter(|rival| runs(rival.as_ref())) {
        rival.prepare(scene);
        let first = checked(rival.as_mut(), scene, task.expected, clock);
        cases.push(Case { first, measure: Box::new(move |runs| timed(rival.as_mut(), scene, clock, runs)) });
    }
    let mut timings = race(&mut cases, &common.plan()).into_iter();
    drop(cases);
    let mut ours = f64::NAN;
    for rival in &rivals {
        let timing = runs(rival.as_ref()).then(|| timings.next()).flatten();
        if rival.name() == OURS {
            ours = timing.map_or(f64::NAN, |timing| timing.median);
        }
        table.push(row(task, rival.as_ref(), timing, common, ours));
    }
}

/// Runs a rival once, checks its pairs, and returns how long the search took.
///
/// # Panics
/// When its pairs are not those expected.
pub(crate) fn checked<const D: usize>(
    rival: &mut dyn Rival<D>,
    scene: &Scene<D>,
    expected: &[[u32; 2]],
    clock: Clock,
) -> Duration {
    let start = clock.start();
    let mut found = rival.find(scene).to_vec();
    let first = start.elapsed();
    found.sort_unstable();
    let (name, n) = (rival.name(), scene.len());
    assert!(
        found == expected,
        "{name} finds {} pairs among {n} bodies, not the {} expected",
        found.len(),
        expected.len()
    );
    first
}

fn timed<const D: usize>(rival: &mut dyn Rival<D>, scene: &Scene<D>, clock: Clock, runs: u32) -> Duration {
    let start = clock.start();
    for _ in 0..runs {
        black_box(rival.find(scene));
    }
    start.elapsed()
}

fn row<const D: usize>(
    task: &Task<'_, D>,
    rival: &dyn Rival<D>,
    timing: Option<Timing>,
    common: &Common,
    ours: f64,
) -> Vec<Cell> {
    let n = task.scene.len();
    let value = |of: fn(&Timing) -> f64| timing.as_ref().map(of);
    vec![
        D.into(),
        task.kind.to_string().into(),
        n.into(),
        common.order.to_string().into(),
        task.threads.into(),
        common.clock.of_threads(task.threads).name().into(),
        task.expected.len().into(),
        rival.name().into(),
        version(rival.package()).into(),
        value(|timing| timing.median).into(),
        value(|timing| timing.p10).into(),
        value(|timing| timing.p90).into(),
        timing.map(|timing| timing.rounds).into(),
        timing.map(|timing| timing.runs).into(),
        timing.map(|timing| timing.median * 1e6 / n as f64).into(),
        timing.map(|timing| timing.median / ours).into(),
        note(timing, common).into(),
    ]
}

/// Returns the remark that a reader of a row needs.
pub(crate) fn note(timing: Option<Timing>, common: &Common) -> &'static str {
    match timing {
        None => "not run: would take minutes",
        Some(timing) if timing.rounds == 1 => "its first run only",
        Some(timing) if timing.rounds < common.rounds => "fewer rounds: slow",
        Some(_) => "",
    }
}

/// Nanoseconds a body over the number of bodies.
pub(crate) fn chart(table: &Table, kind: Kind, threads: &Cell) -> Chart {
    let title = format!("All pairs, {kind} scene, threads: {}", threads.shown());
    let mut chart = Chart::new(title, "bodies", "nanoseconds a body");
    let here = [&kind.to_string().into(), threads];
    for [scene, count, rival, n, time] in table.select(["scene", "threads", "rival", "n", "ns a body"]) {
        if let (true, Cell::Text(name), Cell::Count(n), Cell::Number(time)) = ([scene, count] == here, rival, n, time) {
            chart.add(name, *n as f64, *time);
        }
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::judged;
    use crate::rivals::{in_2d, in_3d};
    use jostle_testkit::{Kind, oracle, scene};

    #[test]
    fn judges_find_what_the_oracle_finds() {
        for kind in Kind::ALL {
            let (flat, deep) = (scene::scene::<2>(kind, 500, 3), scene::scene::<3>(kind, 500, 3));
            assert_eq!(judged(&flat, kind, in_2d()), oracle::pairs(flat.view()));
            assert_eq!(judged(&deep, kind, in_3d()), oracle::pairs(deep.view()));
        }
    }
}

//! The systems that our users come from, beside Jostle: time, tests, bytes, and from what number of bodies on each of
//! them pays.

mod agents;
mod bitmaps;
pub(crate) mod chart;
mod derived;
mod row;
pub(crate) mod short;

use jostle::PairFinder;
use jostle_classics::System;
use jostle_core::Aabb;
use jostle_testkit::{Kind, Scene, scene};
use rayon::{ThreadPool, ThreadPoolBuilder};

use self::row::{Row, Way};
use crate::Common;
use crate::drift::Ring;
use crate::input::{self, Kinds};
use crate::numbers::{self, Sizes};
use crate::output::Output;
use crate::pivot::distinct;
use crate::race::{Case, Timing, race};
use crate::table::{Cell, Table};

/// Options of this sub-command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Numbers of bodies.
    #[arg(long, default_value = "10,20,50,100,200,500,1k,2k,5k,10k,15k,100k")]
    n: Sizes,
    /// Scenes.
    #[arg(long, default_value = "all")]
    scene: Kinds,
    /// Numbers of agents that bounce about in a dynamic quadtree, a loose quadtree, and a loose and tight grid.
    #[arg(long, default_value = "100k,250k,500k")]
    agents: Sizes,
}

/// Frames of a scene.
const FRAMES: usize = 4;

/// The part of its radius that a body moves in a frame, at most; as fast as the agents of `jostle simulate`.
const STEP: f64 = 0.15;

/// Beyond this number of bodies, brute force takes seconds.
const BRUTE_MAX: usize = 15_000;

/// Note of a row that was not run.
const HOPELESS: &str = "not run: would take seconds a frame";

/// Columns of the table.
const COLUMNS: [&str; 17] = [
    "scene",
    "n",
    "order",
    "pairs",
    "system",
    "threads",
    "clock",
    "ms",
    "p10",
    "p90",
    "rounds",
    "runs",
    "update ms",
    "find ms",
    "tests",
    "bytes",
    "note",
];

/// What the columns mean.
pub(crate) const LEGEND: &str = "\
Circles, every body moving from frame to frame by up to 15 % of its radius; pairs of each frame exact, and checked.
ms: a frame, update and find with the list of all pairs; each of the two includes the reading of a clock, some 25 ns.
tests: pairs of bodies looked at, be it by their boxes or as circles. bytes: those held beside the list of pairs.
Each system is set up by its own defaults for the world, the number of bodies and their mean radius.
";

/// Runs the sub-command.
pub(crate) fn run(args: &Args, common: &Common, output: &Output) -> Result<(), Box<dyn std::error::Error>> {
    println!("{LEGEND}");
    let pool = ThreadPoolBuilder::new().num_threads(numbers::all()).build()?;
    let mut table = Table::new(COLUMNS);
    for &kind in &args.scene.0 {
        for &n in &args.n.0 {
            let first = table.len();
            time(&mut table, kind, n, &pool, common)?;
            println!("{}", table.text_from(first));
        }
        println!("Milliseconds a frame, {kind}\n{}", short::over_bodies(&table, kind, "ms").text_from(0));
        output.chart(&format!("classics-{kind}"), &chart::frames(&table, kind))?;
    }
    let bitmaps = bitmaps::table(&args.n.0, &args.scene.0, common);
    let (pays, growth) = (derived::pays(&table, &bitmaps), derived::growth(&table));
    println!("{}\n{}", derived::PAYS, pays.text_from(0));
    println!("{}\n{}", derived::GROWTH, growth.text_from(0));
    let agents = agents::table(&args.agents.0, &pool, common)?;
    let parts = [("pays", &pays), ("growth", &growth), ("bitmaps", &bitmaps), ("agents", &agents)];
    for (part, table) in parts {
        output.table(&format!("classics-{part}"), table)?;
    }
    output.table("classics", &table)
}

/// What the columns of a part of the results mean.
pub(crate) fn legend(part: &str) -> &'static str {
    match part {
        "pays" => derived::PAYS,
        "growth" => derived::GROWTH,
        "agents" => agents::LEGEND,
        _ => bitmaps::LEGEND,
    }
}

/// The scenes of the table.
pub(crate) fn kinds(table: &Table) -> Vec<Kind> {
    distinct(table, "scene").into_iter().filter_map(|scene| scene.shown().parse().ok()).collect()
}

/// Checks and times all systems on one scene.
fn time(
    table: &mut Table,
    kind: Kind,
    n: usize,
    pool: &ThreadPool,
    common: &Common,
) -> Result<(), Box<dyn std::error::Error>> {
    let scene = input::scene::<2>(kind, n, common.seed, common.order);
    let ring = Ring::coherent(&scene, FRAMES, STEP, common.seed, ours);
    let mut rows = rows(kind, &ring, pool, common)?;
    let mut cases: Vec<Case<'_>> = rows.iter_mut().filter(|row| !row.is_hopeless()).map(Row::case).collect();
    let mut timings = race(&mut cases, &common.plan()).into_iter();
    drop(cases);
    for row in &rows {
        let timing = if row.is_hopeless() { None } else { timings.next() };
        let value = |of: fn(&Timing) -> f64| timing.as_ref().map(of);
        let phases = timing.and_then(|timing| row.phases(timing.runs));
        table.push(vec![
            kind.to_string().into(),
            n.into(),
            common.order.to_string().into(),
            ring.frames()[0].expected.len().into(),
            row.name().into(),
            row.threads().into(),
            row.clock().name().into(),
            value(|timing| timing.median).into(),
            value(|timing| timing.p10).into(),
            value(|timing| timing.p90).into(),
            timing.map(|timing| timing.rounds).into(),
            timing.map(|timing| timing.runs).into(),
            phases.map(|[update, _]| update).into(),
            phases.map(|[_, find]| find).into(),
            timing.map_or(Cell::Missing, |_| Cell::Count(row.tests())),
            timing.map(|_| row.bytes()).into(),
            if timing.is_some() { "" } else { HOPELESS }.into(),
        ]);
    }
    Ok(())
}

/// Returns Jostle on one thread and on all threads, then every system.
fn rows<'a>(
    kind: Kind,
    ring: &'a Ring<2>,
    pool: &'a ThreadPool,
    common: &Common,
) -> Result<Vec<Row<'a>>, Box<dyn std::error::Error>> {
    let first = &ring.frames()[0].scene;
    let world = Aabb { lo: [0.0; 2], hi: [scene::world::<2>(kind, first.len()); 2] };
    let mut rows: Vec<_> =
        row::engines(pool).into_iter().map(|way| Row::new(row::OURS, way, ring, common.clock)).collect();
    for system in System::ALL {
        let way = Way::Classic(system.in_world(world, first.view())?);
        let mut row = Row::new(system.name(), way, ring, common.clock);
        row.skip(system == System::BruteForce && first.len() > BRUTE_MAX);
        rows.push(row);
    }
    Ok(rows)
}

/// The pairs that we find, ascending.
fn ours(scene: &Scene<2>) -> Vec<[u32; 2]> {
    let mut finder = PairFinder::new();
    let mut pairs = finder.find(scene.view()).expect("scenes keep to the contract").pairs().to_vec();
    pairs.sort_unstable();
    pairs
}

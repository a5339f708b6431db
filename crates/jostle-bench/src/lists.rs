//! Neighbour lists, against a grid written for them.

use std::hint::black_box;

use jostle::{NeighborLists, PairFinder, Rows};
use jostle_testkit::{Kind, Scene};

use crate::Common;
use crate::clock::Clock;
use crate::compare::{OURS, expected, note};
use crate::input::{self, Kinds};
use crate::numbers::{self, Sizes};
use crate::output::Output;
use crate::race::{Case, Timing, race};
use crate::rivals::grid::lists::{GridLists, Wanted};
use crate::rivals::{self, Rival, squared_distance};
use crate::table::{Cell, Table};

/// Options of this sub-command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Numbers of bodies.
    #[arg(long, default_value = "1k,10k,100k,1m")]
    n: Sizes,
    /// Scenes.
    #[arg(long, default_value = "uniform,dense,fluid")]
    scene: Kinds,
    /// Number of axes: 2, 3.
    #[arg(long, default_value = "3", value_parser = clap::value_parser!(u8).range(2..=3))]
    dim: u8,
}

/// The answers that are asked for, by name.
const ANSWERS: [(&str, Wanted); 3] = [
    ("half", Wanted { half: true, distances: false }),
    ("full", Wanted { half: false, distances: false }),
    ("full with distances", Wanted { half: false, distances: true }),
];

/// The name of the grid.
const GRID: &str = "grid for lists by hand";

/// Columns of the table.
const COLUMNS: [&str; 17] = [
    "dim",
    "scene",
    "n",
    "order",
    "threads",
    "clock",
    "answer",
    "neighbors",
    "rival",
    "ms",
    "p10",
    "p90",
    "rounds",
    "runs",
    "ns a body",
    "times ours",
    "note",
];

/// What is timed.
pub(crate) const LEGEND: &str = "\
Milliseconds; neighbour lists as compressed sparse rows by id, each from scratch, memory kept. half: neighbours of greater id alone.
Rows of the grid are in the order of its cells, ours ascending. Each list is checked before it is timed.
";

/// A way to fill neighbour lists.
trait Filler<const D: usize>: Send {
    fn name(&self) -> &'static str;

    fn fill(&mut self, scene: &Scene<D>, wanted: Wanted);

    /// Offsets, neighbours and squared distances.
    fn rows(&self) -> (&[usize], &[u32], &[f32]);
}

/// Jostle itself.
struct Ours<const D: usize> {
    finder: PairFinder<D>,
    lists: NeighborLists,
}

impl<const D: usize> Filler<D> for Ours<D> {
    fn name(&self) -> &'static str {
        OURS
    }

    fn fill(&mut self, scene: &Scene<D>, wanted: Wanted) {
        let rows = if wanted.half { Rows::Half } else { Rows::Full };
        self.finder.neighbors(scene.view(), rows, &mut self.lists).expect("scenes keep to the contract");
    }

    fn rows(&self) -> (&[usize], &[u32], &[f32]) {
        (self.lists.offsets(), self.lists.neighbors(), self.lists.distances2())
    }
}

impl<const D: usize> Filler<D> for GridLists<D> {
    fn name(&self) -> &'static str {
        GRID
    }

    fn fill(&mut self, scene: &Scene<D>, wanted: Wanted) {
        GridLists::fill(self, scene, wanted);
    }

    fn rows(&self) -> (&[usize], &[u32], &[f32]) {
        (&self.offsets, &self.neighbors, &self.distances2)
    }
}

fn fillers<const D: usize>(wanted: Wanted) -> [Box<dyn Filler<D>>; 2] {
    let lists = if wanted.distances { NeighborLists::with_distances() } else { NeighborLists::new() };
    [Box::new(Ours { finder: PairFinder::new(), lists }), Box::<GridLists<D>>::default()]
}

/// Runs the sub-command.
pub(crate) fn run(args: &Args, common: &Common, output: &Output) -> Result<(), Box<dyn std::error::Error>> {
    println!("{LEGEND}");
    let mut table = Table::new(COLUMNS);
    if args.dim == 2 {
        fill_table(&mut table, args, common, rivals::in_2d)?;
    } else {
        fill_table(&mut table, args, common, rivals::in_3d)?;
    }
    output.table(&format!("lists-{}d", args.dim), &table)
}

fn fill_table<const D: usize>(
    table: &mut Table,
    args: &Args,
    common: &Common,
    judges: impl Fn() -> Vec<Box<dyn Rival<D>>>,
) -> Result<(), Box<dyn std::error::Error>> {
    let pools = numbers::pools(&common.threads())?;
    for &n in &args.n.0 {
        for &kind in &args.scene.0 {
            let scene = input::scene::<D>(kind, n, common.seed, common.order);
            let pairs = expected(&scene, kind, judges());
            for (answer, wanted) in ANSWERS {
                for pool in &pools {
                    let (first, threads) = (table.len(), pool.current_num_threads());
                    let timed =
                        pool.install(|| compare(&scene, &pairs, wanted, common.clock.of_threads(threads), common));
                    push(table, (kind, &scene, answer, threads), &timed, common);
                    println!("{}", table.text_from(first));
                }
            }
        }
    }
    Ok(())
}

/// Checks and times all fillers in the current pool. Returns the name, the number of neighbours and the time of each.
fn compare<const D: usize>(
    scene: &Scene<D>,
    pairs: &[[u32; 2]],
    wanted: Wanted,
    clock: Clock,
    common: &Common,
) -> Vec<(&'static str, usize, Timing)> {
    let mut fillers = fillers::<D>(wanted);
    let mut cases = Vec::new();
    let mut named = Vec::new();
    for filler in &mut fillers {
        let start = clock.start();
        filler.fill(scene, wanted);
        let first = start.elapsed();
        check(filler.as_ref(), scene, pairs, wanted);
        named.push((filler.name(), filler.rows().1.len()));
        let measure = move |runs| {
            let start = clock.start();
            for _ in 0..runs {
                filler.fill(scene, wanted);
                black_box(filler.rows());
            }
            start.elapsed()
        };
        cases.push(Case { first, measure: Box::new(measure) });
    }
    let timings = race(&mut cases, &common.plan());
    named.into_iter().zip(timings).map(|((name, neighbors), timing)| (name, neighbors, timing)).collect()
}

/// # Panics
/// When the rows are not those of `pairs`, which are ascending.
fn check<const D: usize>(filler: &dyn Filler<D>, scene: &Scene<D>, pairs: &[[u32; 2]], wanted: Wanted) {
    let ((offsets, neighbors, distances2), name) = (filler.rows(), filler.name());
    assert_eq!((offsets.len(), offsets[0]), (scene.len() + 1, 0), "{name}");
    let all = pairs.len() * if wanted.half { 1 } else { 2 };
    assert!(neighbors.len() == all, "{name} lists {} neighbours, not {all}", neighbors.len());
    let mut listed = Vec::with_capacity(pairs.len());
    for id in 0..scene.len() {
        let mut row = neighbors[offsets[id]..offsets[id + 1]].to_vec();
        row.sort_unstable();
        assert!(row.is_sorted_by(|a, b| a < b), "{name}: the row of {id} repeats a neighbour");
        listed.extend(row.into_iter().filter(|&other| id < other as usize).map(|other| [id as u32, other]));
    }
    assert!(listed == pairs, "{name} lists other neighbours of greater id");
    if !wanted.half {
        let rows = (0..scene.len())
            .flat_map(|id| neighbors[offsets[id]..offsets[id + 1]].iter().map(move |&b| [b, id as u32]));
        let mut lesser: Vec<_> = rows.filter(|[a, b]| a < b).collect();
        lesser.sort_unstable();
        assert!(lesser == pairs, "{name} lists other neighbours of lesser id");
    }
    if wanted.distances {
        for id in 0..scene.len() {
            for at in offsets[id]..offsets[id + 1] {
                let expected = squared_distance(scene, id as u32, neighbors[at]);
                assert!(distances2[at] == expected, "{name}: another distance of {id} and {}", neighbors[at]);
            }
        }
    }
}

fn push<const D: usize>(
    table: &mut Table,
    (kind, scene, answer, threads): (Kind, &Scene<D>, &str, usize),
    timed: &[(&'static str, usize, Timing)],
    common: &Common,
) {
    let ours = timed.iter().find(|row| row.0 == OURS).map_or(f64::NAN, |row| row.2.median);
    for &(name, neighbors, timing) in timed {
        let Timing { median, p10, p90, rounds, runs, .. } = timing;
        let mut row: Vec<Cell> =
            vec![D.into(), kind.to_string().into(), scene.len().into(), common.order.to_string().into()];
        row.extend([threads.into(), common.clock.of_threads(threads).name().into(), answer.into()]);
        row.extend([neighbors.into(), name.into(), median.into(), p10.into(), p90.into(), rounds.into(), runs.into()]);
        row.extend([(median * 1e6 / scene.len() as f64).into(), (median / ours).into()]);
        row.push(note(Some(timing), common).into());
        table.push(row);
    }
}

#[cfg(test)]
mod tests {
    use super::{ANSWERS, check, fillers};
    use jostle_testkit::{Kind, Scene, oracle, pool, scene, ugly};

    fn all_fill_all<const D: usize>() {
        let scenes = Kind::ALL.into_iter().chain([Kind::Fluid]).map(|kind| scene::scene::<D>(kind, 1_500, 5));
        let scenes: Vec<Scene<D>> = scenes.chain(ugly::all::<D>().into_iter().map(|(_, scene)| scene)).collect();
        for (threads, (_, wanted)) in [1, 3].into_iter().flat_map(|threads| ANSWERS.map(|answer| (threads, answer))) {
            let mut fillers = fillers::<D>(wanted);
            pool(threads).install(|| {
                for scene in &scenes {
                    let pairs = oracle::pairs(scene.view());
                    for filler in &mut fillers {
                        filler.fill(scene, wanted);
                        check(filler.as_ref(), scene, &pairs, wanted);
                    }
                }
            });
        }
    }

    #[test]
    fn all_fill_all_lists() {
        all_fill_all::<2>();
        all_fill_all::<3>();
    }
}

//! What a simulation asks for besides the pairs of one view. Each row is compared with `find` of the same bodies.

use std::hint::black_box;

use jostle::{Circles64, Input, Layers, LinearTree, NeighborLists, PairFinder, Rows, Set, Threads, between};
use jostle_testkit::{Kind, Scene, scene};

use crate::Common;
use crate::compare::{expected, note};
use crate::input::{self, Kinds};
use crate::numbers::{self, Sizes};
use crate::output::Output;
use crate::race::{Case, Timing, race};
use crate::rivals;
use crate::table::{Cell, Table};

/// Options of this sub-command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Numbers of bodies.
    #[arg(long, default_value = "10k,100k,1m")]
    n: Sizes,
    /// Scenes.
    #[arg(long, default_value = "all")]
    scene: Kinds,
}

/// Added to radii, of which the least is 0.5.
const MARGIN: f32 = 0.05;

/// How far from the origin bodies in `f64` are.
const FAR: f64 = 1e9;

/// Bodies of a tree for each body that is sought in it.
const SPARSE: usize = 100;

/// The search that all others are compared with.
const FIND: &str = "find";

/// Columns of the table.
const COLUMNS: [&str; 14] = [
    "scene",
    "n",
    "order",
    "threads",
    "clock",
    "what",
    "found",
    "ms",
    "p10",
    "p90",
    "rounds",
    "runs",
    "times find",
    "note",
];

/// What is timed.
pub(crate) const LEGEND: &str = "\
Milliseconds; circles, each search from scratch, memory kept. How many pairs or neighbours each finds is checked against two grids.
few in a tree: a hundredth as many other circles, sought in a tree of these that was built before. few alone: a search
among themselves. still valid: whether a list with a margin still holds.
";

/// Circles, and the answers that are expected of them.
struct Inputs {
    scene: Scene<2>,
    few: Scene<2>,
    tree: LinearTree<2>,
    centers64: [Vec<f64>; 2],
    radii64: Vec<f64>,
    categories: Vec<u32>,
    /// Pairs with the margin, ascending. All other pairs are among them.
    near: Vec<[u32; 2]>,
    few_in_tree: usize,
    few_alone: usize,
}

/// Category bits that each body meets, of the four there are.
const MEETS: u32 = 0b111;

impl Inputs {
    fn new(kind: Kind, n: usize, common: &Common) -> Self {
        let scene: Scene<2> = input::scene(kind, n, common.seed, common.order);
        let few = spread(scene::scene(kind, (n / SPARSE).max(1), common.seed + 1), kind, n);
        let mut tree = LinearTree::new();
        tree.build(scene.view(), Threads::Serial).expect("scenes keep to the contract");
        let grown = Scene { radii: scene.radii.iter().map(|r| r + MARGIN).collect(), ..scene.clone() };
        let body = |scene: &Scene<2>, id| (scene.view().center(id), scene.radii[id]);
        let both = (0..n).map(|id| body(&scene, id)).chain((0..few.len()).map(|id| body(&few, id))).collect();
        let with_few = expected(&both, kind, rivals::in_2d()).into_iter().filter(|&[_, b]| b as usize >= n);
        let (in_tree, alone): (Vec<_>, Vec<_>) = with_few.partition(|&[a, _]| (a as usize) < n);
        let doubled = |values: &Vec<f32>| values.iter().map(|&x| f64::from(x) + FAR).collect();
        Self {
            centers64: scene.centers.each_ref().map(doubled),
            radii64: scene.radii.iter().map(|&r| r.into()).collect(),
            categories: (0..n).map(|id| 1 << (id % 4)).collect(),
            near: expected(&grown, kind, rivals::in_2d()),
            few_in_tree: in_tree.len(),
            few_alone: alone.len(),
            scene,
            few,
            tree,
        }
    }

    fn circles64(&self) -> Circles64<'_> {
        let [x, y] = &self.centers64;
        Circles64::new(x, y, &self.radii64)
    }

    /// Counts the near pairs that pass a test of ids.
    fn count(&self, test: impl Fn(usize, usize) -> bool) -> usize {
        self.near.iter().filter(|&&[a, b]| test(a as usize, b as usize)).count()
    }

    fn overlap(&self, a: usize, b: usize) -> bool {
        let ([ax, ay], [bx, by]) = (self.scene.view().center(a), self.scene.view().center(b));
        let (dx, dy, s) = (bx - ax, by - ay, self.scene.radii[a] + self.scene.radii[b]);
        dx * dx + dy * dy <= s * s
    }

    fn overlap64(&self, a: usize, b: usize) -> bool {
        let [x, y] = &self.centers64;
        let (dx, dy, s) = (x[b] - x[a], y[b] - y[a], self.radii64[a] + self.radii64[b]);
        dx * dx + dy * dy <= s * s
    }

    fn meet(&self, a: usize, b: usize) -> bool {
        self.categories[a] & MEETS != 0 && self.categories[b] & MEETS != 0
    }

    /// Returns all rows. The others are compared with the first.
    fn rows(&self) -> Vec<Row<'_>> {
        let view = self.scene.view();
        let pairs = self.count(|a, b| self.overlap(a, b));
        let mut rows = vec![
            Row::find(FIND, pairs, view),
            Row::find("f64", self.count(|a, b| self.overlap64(a, b)), self.circles64()),
            Row::find("margin", self.near.len(), view.with_margin(MARGIN)),
            Row::find(
                "layers",
                self.count(|a, b| self.overlap(a, b) && self.meet(a, b)),
                Set::from(view).layers(Layers::new(&self.categories, MEETS)),
            ),
            Row::find("few in a tree", self.few_in_tree, between(self.few.view(), &self.tree)),
            Row::find("few alone", self.few_alone, self.few.view()),
        ];
        let mut finder = PairFinder::new();
        let odd = |a: u32, b: u32| (a ^ b) & 1 == 1;
        rows.push(Row::new(
            "a test of the caller's",
            self.count(|a, b| self.overlap(a, b) && (a ^ b) & 1 == 1),
            move || finder.only(&odd).find(view).expect(SOUND).pairs().len(),
        ));
        for (what, kind, mut lists, found) in [
            ("full lists", Rows::Full, NeighborLists::new(), 2 * pairs),
            ("half lists", Rows::Half, NeighborLists::new(), pairs),
            ("full lists with distances", Rows::Full, NeighborLists::with_distances(), 2 * pairs),
        ] {
            let mut finder = PairFinder::new();
            rows.push(Row::new(what, found, move || {
                finder.neighbors(view, kind, &mut lists).expect(SOUND);
                lists.neighbors().len()
            }));
        }
        let mut finder = PairFinder::new();
        finder.find(view.with_margin(MARGIN)).expect(SOUND);
        rows.push(Row::new("still valid", 1, move || usize::from(finder.still_valid(view))));
        rows
    }
}

const SOUND: &str = "scenes keep to the contract";

/// Circles of a scene, spread over the world of `n` of them.
fn spread(few: Scene<2>, kind: Kind, n: usize) -> Scene<2> {
    let factor = scene::world::<2>(kind, n) / scene::world::<2>(kind, few.len());
    Scene { centers: few.centers.map(|column| column.into_iter().map(|x| x * factor).collect()), ..few }
}

/// A call that is timed. It returns how many pairs or neighbours it has found.
struct Row<'a> {
    what: &'static str,
    found: usize,
    run: Box<dyn FnMut() -> usize + Send + 'a>,
}

impl<'a> Row<'a> {
    fn new(what: &'static str, found: usize, run: impl FnMut() -> usize + Send + 'a) -> Self {
        Self { what, found, run: Box::new(run) }
    }

    fn find(what: &'static str, found: usize, among: impl Into<Input<'a, 2>>) -> Self {
        let (mut finder, among) = (PairFinder::new(), among.into());
        Self::new(what, found, move || finder.find(among).expect(SOUND).pairs().len())
    }
}

/// Runs the sub-command.
pub(crate) fn run(args: &Args, common: &Common, output: &Output) -> Result<(), Box<dyn std::error::Error>> {
    println!("{LEGEND}");
    let mut table = Table::new(COLUMNS);
    let pools = numbers::pools(&common.threads())?;
    for &n in &args.n.0 {
        for &kind in &args.scene.0 {
            let inputs = Inputs::new(kind, n, common);
            for pool in &pools {
                let first = table.len();
                pool.install(|| time(&mut table, kind, pool.current_num_threads(), &inputs, common));
                println!("{}", table.text_from(first));
            }
        }
    }
    output.table("features-2d", &table)
}

/// Checks and times all rows in the current pool.
///
/// # Panics
/// When a row finds another number than expected.
fn time(table: &mut Table, kind: Kind, threads: usize, inputs: &Inputs, common: &Common) {
    let clock = common.clock.of_threads(threads);
    let rows = inputs.rows();
    let names: Vec<_> = rows.iter().map(|row| (row.what, row.found)).collect();
    let cases = rows.into_iter().map(|Row { what, found, mut run }| {
        assert_eq!(run(), found, "{what}, {kind}, {} circles", inputs.scene.len());
        let start = clock.start();
        black_box(run());
        let first = start.elapsed();
        let measure = move |runs| {
            let start = clock.start();
            for _ in 0..runs {
                black_box(run());
            }
            start.elapsed()
        };
        Case { first, measure: Box::new(measure) }
    });
    let mut cases: Vec<_> = cases.collect();
    let timings = race(&mut cases, &common.plan());
    let find = timings[0].median;
    for ((what, found), timing) in names.into_iter().zip(timings) {
        let mut line: Vec<Cell> = vec![
            kind.to_string().into(),
            inputs.scene.len().into(),
            common.order.to_string().into(),
            threads.into(),
            clock.name().into(),
            what.into(),
            found.into(),
        ];
        let Timing { median, p10, p90, rounds, runs, .. } = timing;
        line.extend([median.into(), p10.into(), p90.into(), rounds.into(), runs.into(), (median / find).into()]);
        line.push(note(Some(timing), common).into());
        table.push(line);
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    #[test]
    fn all_rows_find_what_they_should() {
        let folder = std::env::temp_dir().join(format!("jostle-bench-features-{}", std::process::id()));
        let out = folder.to_str().unwrap();
        let words = "jostle-bench features --n 500,9k --scene all --rounds 1 --threads 1,2 --out".split(' ');
        let args = crate::Args::try_parse_from(words.chain([out])).unwrap();
        crate::run(args, String::new()).unwrap();
        assert!(folder.join("features-2d.csv").is_file());
        std::fs::remove_dir_all(folder).unwrap();
    }
}

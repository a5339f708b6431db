//! Boxes against libraries that search boxes by nature, and against grids written for boxes by hand. Every answer is
//! checked.

mod grids;
#[cfg(feature = "libraries")]
mod libraries;
#[cfg(not(feature = "libraries"))]
mod libraries {
    pub(super) fn rivals() -> Vec<Box<dyn super::Rival>> {
        Vec::new()
    }
}
mod sweep;

use std::hint::black_box;

use jostle::{Boxes, PairFinder, Threads};
use jostle_testkit::shapes::{BoxKind, BoxScene, boxes};

use crate::Common;
use crate::compare::wants;
use crate::numbers::{self, Sizes};
use crate::output::Output;
use crate::race::{Case, race};
use crate::table::Table;

/// Options of this sub-command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Numbers of boxes.
    #[arg(long, default_value = "10k,100k,1m")]
    n: Sizes,
    /// Only these scenes, such as uniform,beams.
    #[arg(long, value_delimiter = ',')]
    scene: Vec<String>,
    /// Only rivals whose names contain one of these words, beside ourselves.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

/// Columns of the table.
const COLUMNS: [&str; 10] =
    ["scene", "n", "threads", "pairs", "rival", "ms", "p10", "p90", "times ours", "bytes a box"];

/// A way to find all overlapping pairs of boxes in the plane.
trait Rival: Send {
    /// Its name in tables.
    fn name(&self) -> &'static str;

    /// Whether a search of such a scene would take minutes.
    fn hopeless(&self, kind: BoxKind, n: usize) -> bool {
        let _ = (kind, n);
        false
    }

    /// Every overlapping pair once, the lesser id first, in any order.
    fn find(&mut self, scene: &BoxScene<2>) -> &[[u32; 2]];
}

/// Jostle itself.
#[derive(Default)]
struct Ours(PairFinder<2>);

impl Rival for Ours {
    fn name(&self) -> &'static str {
        "jostle"
    }

    fn find(&mut self, scene: &BoxScene<2>) -> &[[u32; 2]] {
        let view: Boxes<'_, 2> = scene.view();
        self.0.on(Threads::Current).find(view).expect("scenes keep to the contract").pairs()
    }
}

fn rivals() -> Vec<Box<dyn Rival>> {
    let mut rivals: Vec<Box<dyn Rival>> =
        vec![Box::new(Ours::default()), Box::new(grids::ByCenter::default()), Box::new(grids::ByCell::default())];
    rivals.extend(libraries::rivals());
    rivals.push(Box::new(sweep::Sweep::default()));
    rivals
}

/// Makes uniform boxes three times as wide, so that each has about a dozen neighbours.
fn dense(n: usize) -> BoxScene<2> {
    let mut scene = boxes(BoxKind::Uniform, n);
    for axis in 0..2 {
        let (lo, hi) = (&scene.lo[axis], &mut scene.hi[axis]);
        lo.iter().zip(hi).for_each(|(lo, hi)| *hi += 2.0 * (*hi - lo));
    }
    scene
}

/// Runs the sub-command.
pub(crate) fn run(args: &Args, common: &Common, output: &Output) -> Result<(), Box<dyn std::error::Error>> {
    println!("Boxes in the plane, each search from scratch, pairs exact and checked. Times in ms.\n");
    let mut table = Table::new(COLUMNS);
    let pools = numbers::pools(&common.threads())?;
    for &n in &args.n.0 {
        let kinds = [BoxKind::Uniform, BoxKind::Clustered, BoxKind::PowerLaw, BoxKind::Beams, BoxKind::Rods];
        let kinds = kinds.map(|kind| (format!("{kind:?}").to_lowercase(), kind));
        for (name, kind) in kinds.into_iter().chain([("dense".to_owned(), BoxKind::Uniform)]) {
            if !args.scene.is_empty() && !args.scene.contains(&name) {
                continue;
            }
            let scene = if name == "dense" { dense(n) } else { boxes(kind, n) };
            let first = table.len();
            for pool in &pools {
                pool.install(|| time(&mut table, (&name, kind), &scene, (&args.only, common)));
            }
            println!("{}", table.text_from(first));
        }
    }
    output.table("boxes-2d", &table)
}

/// Returns the bytes that a finder holds for each box, besides the list of pairs, after two searches.
fn bytes_a_box(scene: &BoxScene<2>) -> f64 {
    let mut finder = PairFinder::new();
    for _ in 0..2 {
        finder.on(Threads::Current).find(scene.view()).expect("scenes keep to the contract");
    }
    let stats = finder.last().stats();
    (stats.bytes - stats.list_bytes) as f64 / scene.len() as f64
}

/// Checks and times all rivals in turn.
///
/// # Panics
/// When the pairs of one rival are not those of the others.
fn time(table: &mut Table, (name, kind): (&str, BoxKind), scene: &BoxScene<2>, (only, common): (&[String], &Common)) {
    let n = scene.len();
    let wanted = |rival: &dyn Rival| wants(only, rival.name()) && !rival.hopeless(kind, n);
    let mut rivals: Vec<_> = rivals().into_iter().filter(|rival| wanted(rival.as_ref())).collect();
    let names: Vec<_> = rivals.iter().map(|rival| rival.name()).collect();
    let mut expected: Option<Vec<[u32; 2]>> = None;
    for rival in &mut rivals {
        let mut pairs = rival.find(scene).to_vec();
        pairs.sort_unstable();
        let expected = expected.get_or_insert_with(|| pairs.clone());
        assert!(pairs == *expected, "{name}: {} has other pairs than {}", rival.name(), names[0]);
    }
    let mut cases: Vec<_> = rivals
        .iter_mut()
        .map(|rival| {
            Case::of(move || {
                black_box(rival.find(scene).len());
            })
        })
        .collect();
    let timings = race(&mut cases, &common.plan());
    for (rival, timing) in names.iter().zip(&timings) {
        table.push(vec![
            name.into(),
            numbers::name(n).as_str().into(),
            rayon::current_num_threads().into(),
            expected.as_ref().map_or(0, Vec::len).into(),
            (*rival).into(),
            timing.median.into(),
            timing.p10.into(),
            timing.p90.into(),
            (timing.median / timings[0].median).into(),
            if *rival == names[0] { bytes_a_box(scene).into() } else { "".into() },
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::{BoxKind, boxes, dense, rivals};
    use jostle_testkit::shapes::box_pairs;
    use rayon::ThreadPoolBuilder;

    #[test]
    fn all_find_the_same_on_any_threads() {
        for threads in [1, 3] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            for (kind, scene) in [(BoxKind::Uniform, dense(500)), (BoxKind::Beams, boxes(BoxKind::Beams, 3_000))] {
                let expected = box_pairs(&scene);
                for mut rival in rivals().into_iter().filter(|rival| !rival.hopeless(kind, scene.len())) {
                    let mut pairs = pool.install(|| rival.find(&scene).to_vec());
                    pairs.sort_unstable();
                    assert!(pairs == expected, "{} in {kind:?} on {threads} threads", rival.name());
                }
            }
        }
    }
}

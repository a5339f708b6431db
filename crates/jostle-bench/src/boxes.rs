//! Boxes against those who search boxes by nature, and grids written for them by hand: on one thread, every answer checked.

mod grids;
mod libraries;

use std::hint::black_box;

use jostle::{Boxes, PairFinder, Threads};
use jostle_testkit::shapes::{BoxKind, BoxScene, boxes};

use crate::Common;
use crate::numbers::{self, Sizes};
use crate::output::Output;
use crate::race::{Case, race};
use crate::table::Table;

/// Options of this sub-command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Numbers of boxes.
    #[arg(long, default_value = "10k,100k")]
    n: Sizes,
}

/// Columns of the table.
const COLUMNS: [&str; 8] = ["scene", "n", "pairs", "rival", "ms", "p10", "p90", "times ours"];

/// A way to find all overlapping pairs of boxes in the plane.
trait Rival: Send {
    /// Its name in tables.
    fn name(&self) -> &'static str;

    /// Whether a search of such a scene would take minutes.
    fn hopeless(&self, kind: BoxKind) -> bool {
        let _ = kind;
        false
    }

    /// Every overlapping pair once, the lesser id first, in any order.
    fn find(&mut self, scene: &BoxScene<2>) -> &[[u32; 2]];
}

/// Ourselves.
#[derive(Default)]
struct Ours(PairFinder<2>);

impl Rival for Ours {
    fn name(&self) -> &'static str {
        "jostle"
    }

    fn find(&mut self, scene: &BoxScene<2>) -> &[[u32; 2]] {
        let view: Boxes<'_, 2> = scene.view();
        self.0.on(Threads::Serial).find(view).expect("scenes keep to the contract").pairs()
    }
}

fn rivals() -> Vec<Box<dyn Rival>> {
    vec![
        Box::new(Ours::default()),
        Box::new(grids::ByCenter::default()),
        Box::new(grids::ByCell::default()),
        Box::new(libraries::Broccoli::default()),
        Box::new(libraries::RStar::default()),
        Box::new(libraries::Parry::default()),
    ]
}

/// Even boxes, three times as wide: a dozen neighbours each.
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
    println!("Boxes in the plane, each search from scratch on one thread, pairs exact and checked. Times in ms.\n");
    let mut table = Table::new(COLUMNS);
    for &n in &args.n.0 {
        let kinds = [BoxKind::Uniform, BoxKind::Clustered, BoxKind::PowerLaw, BoxKind::Beams, BoxKind::Rods];
        let scenes = kinds.map(|kind| (format!("{kind:?}").to_lowercase(), kind, boxes(kind, n)));
        let dense = ("dense".to_owned(), BoxKind::Uniform, dense(n));
        for (name, kind, scene) in scenes.into_iter().chain([dense]) {
            let first = table.len();
            time(&mut table, (&name, kind), &scene, common);
            println!("{}", table.text_from(first));
        }
        println!("{:.0} bytes a box are held, beside the list of pairs.\n", bytes_a_box(n));
    }
    output.table("boxes-2d", &table)
}

/// Bytes that a finder holds for each of so many even boxes, beside the list of their pairs, after two searches.
fn bytes_a_box(n: usize) -> f64 {
    let (scene, mut finder) = (boxes::<2>(BoxKind::Uniform, n), PairFinder::new());
    for _ in 0..2 {
        finder.on(Threads::Serial).find(scene.view()).expect("scenes keep to the contract");
    }
    let stats = finder.last().stats();
    (stats.bytes - stats.list_bytes) as f64 / n as f64
}

/// Checks and times all rivals in turn.
///
/// # Panics
/// When the pairs of one are not those of the others.
fn time(table: &mut Table, (name, kind): (&str, BoxKind), scene: &BoxScene<2>, common: &Common) {
    let mut rivals: Vec<_> = rivals().into_iter().filter(|rival| !rival.hopeless(kind)).collect();
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
            numbers::name(scene.len()).as_str().into(),
            expected.as_ref().map_or(0, Vec::len).into(),
            (*rival).into(),
            timing.median.into(),
            timing.p10.into(),
            timing.p90.into(),
            (timing.median / timings[0].median).into(),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::{BoxKind, boxes, dense, rivals};
    use jostle_testkit::shapes::box_pairs;

    #[test]
    fn all_find_the_same() {
        for (kind, scene) in [(BoxKind::Uniform, dense(500)), (BoxKind::Beams, boxes(BoxKind::Beams, 600))] {
            let expected = box_pairs(&scene);
            for mut rival in rivals().into_iter().filter(|rival| !rival.hopeless(kind)) {
                let mut pairs = rival.find(&scene).to_vec();
                pairs.sort_unstable();
                assert!(pairs == expected, "{} in {kind:?}", rival.name());
            }
        }
    }
}

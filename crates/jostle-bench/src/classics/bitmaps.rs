//! Which bodies of two groups were hit at all: coverage of pixels beside the loop over all pairs of the two groups, and
//! how often coverage errs.

use std::hint::black_box;

use jostle::Circles;
use jostle_classics::{CircleCoverage, Hits, Misjudged, RectangleCoverage, SetupError};
use jostle_core::Aabb;
use jostle_testkit::{Kind, Scene, scene};

use super::{BRUTE_MAX, HOPELESS};
use crate::Common;
use crate::clock::Clock;
use crate::input;
use crate::race::{Case, race};
use crate::table::{Cell, Table};

/// Pixels in the mean radius: circles of 3 to 9 pixels are what bitmaps are meant for.
const PIXELS: f32 = 6.0;

/// Samples on a side of a pixel of a rim.
const SAMPLES: u32 = 4;

/// What the table says.
pub(crate) const LEGEND: &str = "\
The two halves of a scene as groups: who was hit by the other group at all? Six pixels in the mean radius, rims sampled
4 x 4; rectangles are the boxes of the circles. Times in ms, one thread. false hits, misses: against the exact answer.
";

/// Columns of the table.
const COLUMNS: [&str; 13] = [
    "scene",
    "n",
    "shape",
    "clock",
    "bitmaps ms",
    "brute force ms",
    "objects",
    "hit",
    "false hits",
    "misses",
    "bytes",
    "rounds",
    "note",
];

/// Times all scenes.
pub(super) fn table(sizes: &[usize], kinds: &[Kind], common: &Common) -> Table {
    let mut table = Table::new(COLUMNS);
    for &kind in kinds {
        for &n in sizes {
            let scene = input::scene::<2>(kind, n, common.seed, common.order);
            circles(&mut table, kind, &scene, common);
            rectangles(&mut table, kind, &scene, common);
        }
    }
    println!("{LEGEND}\n{}", table.text_from(0));
    table
}

/// Returns the world of a scene, and the side of a pixel.
fn screen(kind: Kind, scene: &Scene<2>) -> (Aabb<2>, f32) {
    let mean = scene.radii.iter().sum::<f32>() / scene.len().max(1) as f32;
    (Aabb { lo: [0.0; 2], hi: [scene::world::<2>(kind, scene.len()); 2] }, mean / PIXELS)
}

fn circles(table: &mut Table, kind: Kind, scene: &Scene<2>, common: &Common) {
    let halves = |column: &'_ Vec<f32>| {
        let (a, b) = column.split_at(scene.len() / 2);
        [a.to_vec(), b.to_vec()]
    };
    let ([x, y], radii) = (scene.centers.each_ref().map(halves), halves(&scene.radii));
    let [a, b] = [0, 1].map(|group| Circles::new(&x[group], &y[group], &radii[group]));
    let (seen, pixel) = screen(kind, scene);
    let bitmaps = CircleCoverage::new(seen, pixel, SAMPLES).map(|mut coverage| {
        move || {
            let said = coverage.find(a, b).expect(SOUND).clone();
            (said, coverage.bytes())
        }
    });
    push(table, kind, scene.len(), "circles", common, || Hits::of_circles(a, b).expect(SOUND), bitmaps);
}

fn rectangles(table: &mut Table, kind: Kind, scene: &Scene<2>, common: &Common) {
    let boxed = |id: usize| {
        let (center, radius) = (scene.view().center(id), scene.radii[id]);
        Aabb { lo: center.map(|x| x - radius), hi: center.map(|x| x + radius) }
    };
    let boxes: Vec<Aabb<2>> = (0..scene.len()).map(boxed).collect();
    let (a, b) = boxes.split_at(scene.len() / 2);
    let (seen, pixel) = screen(kind, scene);
    let bitmaps = RectangleCoverage::new(seen, pixel).map(|mut coverage| {
        move || {
            let said = coverage.find(a, b).expect(SOUND).clone();
            (said, coverage.bytes())
        }
    });
    push(table, kind, scene.len(), "rectangles", common, || Hits::of_rectangles(a, b).expect(SOUND), bitmaps);
}

const SOUND: &str = "scenes keep to the contract";

/// Times both ways in turn, and compares their answers. The bitmaps also return the bytes that they hold.
fn push(
    table: &mut Table,
    kind: Kind,
    n: usize,
    shape: &str,
    common: &Common,
    exact: impl Fn() -> Hits + Sync,
    bitmaps: Result<impl FnMut() -> (Hits, usize) + Send, SetupError>,
) {
    let start = [kind.to_string().into(), n.into(), shape.into(), common.clock.name().into()];
    let mut bitmaps = match bitmaps {
        Ok(bitmaps) if n <= BRUTE_MAX => bitmaps,
        Ok(_) => return table.push(missing(start, HOPELESS)),
        Err(_) => return table.push(missing(start, "not run: too many pixels")),
    };
    let (said, bytes) = bitmaps();
    let Misjudged { objects, hit, false_hits, misses, .. } = said.misjudged(&exact());
    let mut cases = [case(&mut bitmaps, common.clock), case(&exact, common.clock)];
    let timings = race(&mut cases, &common.plan());
    let end: [Cell; 9] = [
        timings[0].median.into(),
        timings[1].median.into(),
        objects.into(),
        hit.into(),
        false_hits.into(),
        misses.into(),
        bytes.into(),
        timings.iter().map(|timing| timing.rounds).min().into(),
        "".into(),
    ];
    table.push(start.into_iter().chain(end).collect());
}

/// A row that was not run, and why.
fn missing(start: [Cell; 4], why: &str) -> Vec<Cell> {
    let rest = COLUMNS.len() - start.len() - 1;
    start.into_iter().chain((0..rest).map(|_| Cell::Missing)).chain([why.into()]).collect()
}

fn case<'a, T>(mut run: impl FnMut() -> T + Send + 'a, clock: Clock) -> Case<'a> {
    let mut measure = move |runs| {
        let start = clock.start();
        for _ in 0..runs {
            black_box(run());
        }
        start.elapsed()
    };
    Case { first: measure(1), measure: Box::new(measure) }
}

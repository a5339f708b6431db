//! Jostle on scenes that bring other searches down, beside a uniform scene: there is no cliff.

use std::f64::consts::{PI, TAU};
use std::hint::black_box;

use jostle::{PairFinder, Threads};
use jostle_testkit::{Kind, Scene};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::Common;
use crate::clock::Clock;
use crate::compare::expected;
use crate::input;
use crate::numbers::{self, Sizes};
use crate::output::Output;
use crate::race::{Case, race};
use crate::rivals;
use crate::table::Table;

/// Options of this sub-command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Numbers of bodies.
    #[arg(long, default_value = "100k")]
    n: Sizes,
}

/// Part of the area that bodies cover, as in the uniform scene.
const COVERED: f64 = 0.3;

/// Columns of the table.
const COLUMNS: [&str; 9] = ["n", "threads", "pairs", "scene", "ms", "p10", "p90", "ns a body", "times uniform"];

/// What is timed.
pub(crate) const LEGEND: &str =
    "Circles, each search from scratch on one thread, pairs exact and checked. Times in ms.\n";

/// Runs the sub-command.
pub(crate) fn run(args: &Args, common: &Common, output: &Output) -> Result<(), Box<dyn std::error::Error>> {
    println!("{LEGEND}");
    let mut table = Table::new(COLUMNS);
    for &n in &args.n.0 {
        let first = table.len();
        time(&mut table, &scenes(n, common), common);
        println!("{}", table.text_from(first));
    }
    if common.huge {
        let first = table.len();
        let even = |n| input::scene(Kind::Uniform, n, common.seed, common.order);
        let name = |n| format!("uniform, {}", numbers::name(n));
        let scenes = [100_000, 1_000_000, 10_000_000].map(|n| (name(n), even(n)));
        time(&mut table, &scenes, common);
        println!("{}", table.text_from(first));
    }
    output.table("hostile-2d", &table)
}

/// Returns the uniform scene, and hostile scenes.
fn scenes(n: usize, common: &Common) -> Vec<(String, Scene<2>)> {
    let mut rng = Pcg64Mcg::seed_from_u64(common.seed);
    let even: Scene<2> = input::scene(Kind::Uniform, n, common.seed, common.order);
    let mut outlier = even.clone();
    outlier.centers.iter_mut().for_each(|column| column[n / 2] = 1e18);
    let scenes = [
        ("uniform", even),
        ("radii of 1 to 10,000, power law", giants(n, &mut rng)),
        ("half in clusters a million times denser", clusters(n, &mut rng)),
        ("an outlier at 1e18", outlier),
        ("one ulp apart, radius 0", ulps(n, &mut rng)),
    ];
    scenes.map(|(name, scene)| (name.to_owned(), scene)).into()
}

/// Makes radii over four decades, by the law of the power-law scene.
fn giants(n: usize, rng: &mut impl Rng) -> Scene<2> {
    const TAIL: f64 = 16.0 / 13.0;
    let radii: Vec<f64> =
        (0..n).map(|_| (1.0 - rng.random::<f64>() * (1.0 - 1e4_f64.powf(-TAIL))).powf(-1.0 / TAIL)).collect();
    let side = (radii.iter().map(|r| PI * r * r).sum::<f64>() / COVERED).sqrt();
    radii.into_iter().map(|r| (point(rng, side), r as f32)).collect()
}

/// Puts half of the bodies in clusters of 500, a million times denser than the other half.
fn clusters(n: usize, rng: &mut impl Rng) -> Scene<2> {
    let (members, side) = (500.0, 1e6);
    let reach = side * (members / (PI * n as f64 / 2.0) / 1e6).sqrt();
    let radius = (COVERED / members).sqrt() * reach;
    let mut middle = [0.0_f32; 2];
    let bodies = (0..n).map(|i| {
        if i % 2 == 0 {
            return (point(rng, side), radius as f32);
        }
        if i / 2 % members as usize == 0 {
            middle = point(rng, side);
        }
        let (angle, far) = (TAU * rng.random::<f64>(), reach * rng.random::<f64>().sqrt());
        let center = [f64::from(middle[0]) + far * angle.cos(), f64::from(middle[1]) + far * angle.sin()];
        (center.map(|x| x as f32), radius as f32)
    });
    let bodies: Vec<_> = bodies.collect();
    shuffled(bodies, rng)
}

/// Makes a square lattice of neighbouring floats, with no two bodies at one point.
fn ulps(n: usize, rng: &mut impl Rng) -> Scene<2> {
    let row = (n as f64).sqrt().ceil() as usize;
    let at = |i: usize| f32::from_bits(1.0_f32.to_bits() + i as u32);
    let bodies = (0..n).map(|i| ([at(i % row), at(i / row)], 0.0)).collect();
    shuffled(bodies, rng)
}

fn point(rng: &mut impl Rng, side: f64) -> [f32; 2] {
    [(); 2].map(|()| (rng.random::<f64>() * side) as f32)
}

fn shuffled(mut bodies: Vec<([f32; 2], f32)>, rng: &mut impl Rng) -> Scene<2> {
    use rand::seq::SliceRandom;
    bodies.shuffle(rng);
    bodies.into_iter().collect()
}

/// Checks and times all scenes in turn.
fn time(table: &mut Table, scenes: &[(String, Scene<2>)], common: &Common) {
    let mut finders: Vec<PairFinder<2>> = scenes.iter().map(|_| PairFinder::new()).collect();
    let rows = finders.iter_mut().zip(scenes).map(|(finder, (name, scene))| case(finder, name, scene, common.clock));
    let (mut cases, pairs): (Vec<_>, Vec<usize>) = rows.unzip();
    let timings = race(&mut cases, &common.plan());
    let cost = |row: usize| timings[row].median * 1e6 / scenes[row].1.len() as f64;
    for (row, ((name, scene), timing)) in scenes.iter().zip(&timings).enumerate() {
        table.push(vec![
            scene.len().into(),
            1_usize.into(),
            pairs[row].into(),
            name.as_str().into(),
            timing.median.into(),
            timing.p10.into(),
            timing.p90.into(),
            cost(row).into(),
            (cost(row) / cost(0)).into(),
        ]);
    }
}

/// Makes a row whose pairs are checked, and returns it with their number.
///
/// # Panics
/// When the pairs are not those expected.
fn case<'a>(finder: &'a mut PairFinder<2>, name: &str, scene: &'a Scene<2>, clock: Clock) -> (Case<'a>, usize) {
    let expected = expected(scene, Kind::Uniform, rivals::in_2d());
    let start = clock.start();
    let found = finder.on(Threads::Serial).find(scene.view()).expect("scenes keep to the contract");
    let first = start.elapsed();
    let mut pairs = found.pairs().to_vec();
    pairs.sort_unstable();
    assert!(pairs == expected, "{name}: other pairs than expected");
    let measure = move |runs| {
        let start = clock.start();
        for _ in 0..runs {
            let found = finder.on(Threads::Serial).find(scene.view());
            black_box(found.map(|found| found.pairs().len())).expect("scenes keep to the contract");
        }
        start.elapsed()
    };
    (Case { first, measure: Box::new(measure) }, expected.len())
}

#[cfg(test)]
mod tests {
    use super::{clusters, giants, ulps};
    use jostle_testkit::sweep;
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;

    #[test]
    fn scenes_are_what_they_are_called() {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        let giants = giants(4_000, &mut rng);
        assert!(giants.radii.iter().all(|r| (1.0..=1.0001e4).contains(r)));
        let clusters = clusters(4_000, &mut rng);
        assert_eq!(clusters.len(), 4_000);
        assert!(sweep::pairs(clusters.view()).len() > 400, "those in clusters overlap");
        assert!(sweep::pairs(ulps(4_000, &mut rng).view()).is_empty());
    }
}

//! Bodies that keep to their course, each at a speed of its own, are left untested until they are to touch. The finder
//! knows that moment in any unit of length and far from the origin, and notices when bodies leave their course.

use jostle::{Bodies, Input, NeighborLists, PairFinder, Rows};
use jostle_testkit::pairs::ascending;
use jostle_testkit::random::Random;
use jostle_testkit::{Kind, Scene, scene};

use super::beside::Beside;

/// How bodies leave their course.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leaving {
    /// All bodies keep to it.
    Never,
    /// All bodies turn now and then.
    All,
    /// A few bodies turn now and then.
    Few,
    /// Each body changes its velocity a little in each frame, or less.
    Little,
    Less,
    /// Frames are of unequal length.
    Uneven,
    /// Some bodies jump now and then, by less than a radius.
    Jump,
}

const LEAVING: [Leaving; 7] =
    [Leaving::Never, Leaving::All, Leaving::Few, Leaving::Little, Leaving::Less, Leaving::Uneven, Leaving::Jump];

/// Bodies on their way, in a unit of length and from an origin of their own.
struct Way<const D: usize> {
    random: Random,
    centers: [Vec<f64>; D],
    steps: [Vec<f64>; D],
    scene: Scene<D>,
    unit: f64,
    origin: f64,
}

impl<const D: usize> Way<D> {
    fn new(mut scene: Scene<D>, [unit, origin]: [f64; 2]) -> Self {
        let mut random = Random(11);
        let steps = [(); D].map(|()| (0..scene.len()).map(|_| random.unit() - 0.5).collect());
        let centers = scene.centers.each_ref().map(|column| column.iter().copied().map(f64::from).collect());
        scene.radii.iter_mut().for_each(|radius| *radius = (f64::from(*radius) * unit) as f32);
        Self { random, centers, steps, scene, unit, origin }
    }

    fn step(&mut self, frame: usize, leaving: Leaving) {
        let Self { random, centers, steps, scene, unit, origin } = self;
        let mut pace = 0.04;
        let mut turn = |bodies| steps.iter_mut().for_each(|steps| steps.iter_mut().take(bodies).for_each(|x| *x = -*x));
        match leaving {
            Leaving::All if frame % 17 == 16 => turn(usize::MAX),
            Leaving::Few if frame % 17 == 16 => turn(3),
            Leaving::Little | Leaving::Less => {
                let most = if leaving == Leaving::Less { 0.015 } else { 0.05 };
                steps.iter_mut().flatten().for_each(|step| *step += most * (random.unit() - 0.5));
            }
            Leaving::Uneven => pace *= 0.5 + random.unit(),
            Leaving::Jump if frame % 13 == 12 => {
                let reach = random.unit();
                centers.iter_mut().for_each(|column| column.iter_mut().take(90).for_each(|x| *x += reach));
            }
            _ => {}
        }
        for axis in 0..D {
            let columns = centers[axis].iter_mut().zip(&steps[axis]).zip(&mut scene.centers[axis]);
            columns.for_each(|((x, step), slot)| {
                *x += step * pace;
                *slot = (*x * *unit + *origin) as f32;
            });
        }
    }
}

fn frames<const D: usize>(of: (Kind, usize), [unit, origin]: [f64; 2], rows: bool) {
    for leaving in LEAVING {
        let rebuilds = follow::<D>(of, [unit, origin], (leaving, 60), rows);
        assert!((2..45).contains(&rebuilds), "{D}D {}, {leaving:?}: {rebuilds} rebuilds", of.0);
    }
}

/// Follows bodies for some frames, and returns how often candidates were listed anew.
fn follow<const D: usize>(
    (kind, bodies): (Kind, usize),
    [unit, origin]: [f64; 2],
    (leaving, frames): (Leaving, usize),
    rows: bool,
) -> u64 {
    let mut way = Way::<D>::new(scene::scene(kind, bodies, 3), [unit, origin]);
    let mut beside = Beside::<D>::new();
    for frame in 0..frames {
        way.step(frame, leaving);
        let case = format!("{D}D {kind}, {unit}, {leaving:?}, frame {frame}");
        if rows {
            assert_rows(&mut beside, &way.scene, &case);
        } else {
            let expected = ascending(beside.scratch.find(way.scene.view()).expect("sound bodies").pairs());
            beside.assert_one_sequence(&way.scene, None, &expected, &case);
        }
    }
    beside.finders[0].rebuilds()
}

fn assert_rows<const D: usize>(beside: &mut Beside<D>, scene: &Scene<D>, case: &str) {
    let mut expected = NeighborLists::new();
    beside.scratch.neighbors(scene.view(), Rows::Full, &mut expected).expect("sound bodies");
    let mut finders = core::mem::take(&mut beside.finders);
    for (number, finder) in finders.iter_mut().enumerate() {
        let mut lists = NeighborLists::new();
        let finder = finder.on(beside.threads(number));
        finder.neighbors(scene.view(), Rows::Full, &mut lists).expect("sound bodies");
        assert!(lists.neighbors() == expected.neighbors() && lists.offsets() == expected.offsets(), "{case}");
    }
    beside.finders = finders;
}

#[test]
fn bodies_may_keep_to_their_course_or_leave_it() {
    for unit in [1e-12, 1.0, 1e9] {
        frames::<2>((Kind::Dense, 700), [unit, 0.0], false);
        frames::<3>((Kind::Uniform, 700), [unit, 0.0], false);
    }
    frames::<2>((Kind::Uniform, 700), [1.0, 0.0], true);
    frames::<3>((Kind::Dense, 700), [1.0, 0.0], true);
    // Here rounding moves coordinates by as much as bodies move in a frame.
    frames::<2>((Kind::Dense, 3_000), [1.0, 3e4], false);
}

/// So many bodies that candidates name them by rank: while candidates are sorted or, where bodies stray far, in each
/// frame.
#[test]
fn bodies_that_no_cache_holds_may_leave_their_course() {
    for (leaving, frames) in [(Leaving::Never, 5), (Leaving::Less, 20)] {
        let rebuilds = follow::<2>((Kind::Dense, 70_000), [1.0, 0.0], (leaving, frames), false);
        assert!((2..10).contains(&rebuilds), "{leaving:?}: {rebuilds} rebuilds");
    }
}

/// Returns the first bodies of a scene, and the other bodies.
fn parts<const D: usize>(scene: &Scene<D>, first: usize) -> [Bodies<'_, D>; 2] {
    let [one, other] = [0..first, first..scene.len()].map(|range| {
        let centers = scene.centers.each_ref().map(|column| &column[range.clone()]);
        Bodies::from_slices(centers, &scene.radii[range.clone()])
    });
    [one, other]
}

#[test]
fn two_sets_may_keep_to_their_course() {
    for first in [0, 300, 700] {
        let mut way = Way::<2>::new(scene::scene(Kind::Dense, 700, 3), [1.0, 0.0]);
        let (mut beside, mut scratch) = (Beside::<2>::new(), PairFinder::new());
        let (mut lists, mut expected) = (NeighborLists::new(), NeighborLists::new());
        for frame in 0..40 {
            way.step(frame, Leaving::Never);
            let sets = parts(&way.scene, first);
            let input = Input::between(sets[0], sets[1]);
            let want = ascending(scratch.find(input).expect("sound bodies").pairs());
            let [one, others @ ..] = &mut beside.finders;
            let found = one.find(input).expect("sound bodies");
            assert_eq!(ascending(found.pairs()), want, "{first}, frame {frame}");
            scratch.neighbors(input, Rows::Full, &mut expected).expect("sound bodies");
            others[0].neighbors(input, Rows::Full, &mut lists).expect("sound bodies");
            assert!(lists.neighbors() == expected.neighbors(), "{first}, frame {frame}");
        }
        assert!(beside.finders[0].rebuilds() < 20 && beside.finders[1].rebuilds() < 20);
    }
}

/// A crowd disperses and gathers again: in each frame far more pairs end than begin, and later far more begin than end.
#[test]
fn crowds_disperse_and_gather() {
    let start: Scene<2> = scene::scene(Kind::Dense, 6_000, 5);
    let middle = start.centers.each_ref().map(|column| column.iter().sum::<f32>() / column.len() as f32);
    let (mut beside, mut scene, mut lens) = (Beside::<2>::new(), start.clone(), Vec::new());
    for frame in 0..60_u8 {
        let wider = 1.0 + 0.0004 * f32::from(frame.min(59 - frame));
        for (axis, column) in scene.centers.iter_mut().enumerate() {
            column
                .iter_mut()
                .zip(&start.centers[axis])
                .for_each(|(x, from)| *x = middle[axis] + (from - middle[axis]) * wider);
        }
        let expected = ascending(beside.scratch.find(scene.view()).expect("sound bodies").pairs());
        beside.assert_one_sequence(&scene, None, &expected, &format!("frame {frame}"));
        lens.push(expected.len());
    }
    assert!(lens[29] < lens[0] - lens[0] / 50 && lens[59] == lens[0], "{lens:?}");
    assert!(beside.finders.iter().all(|finder| finder.rebuilds() < 20), "{:?}", beside.finders);
}

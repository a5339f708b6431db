//! Coherent frames whose lists are made of bodies where they are expected to be: the same pairs and rows, whatever
//! bodies then do.

use std::f32::consts::TAU;

use jostle::{Circles, CoherentFinder, NeighborLists, PairFinder, Rows, Threads};
use jostle_testkit::pairs::{ascending, assert_same};
use jostle_testkit::random::Random;
use jostle_testkit::{Kind, Scene, pool, scene};

/// How far each body moves in a frame.
const SPEED: f32 = 0.008;

/// A crowd, and how far each body moves in a frame.
struct Crowd {
    now: Scene<2>,
    steps: [Vec<f32>; 2],
}

impl Crowd {
    fn new(bodies: usize, speed: f32) -> Self {
        let (mut random, now) = (Random(5), scene::scene(Kind::Dense, bodies, 3));
        let ways: Vec<f32> = (0..bodies).map(|_| random.unit() as f32 * TAU).collect();
        let steps = [f32::cos, f32::sin].map(|of: fn(f32) -> f32| ways.iter().map(|&way| of(way) * speed).collect());
        Self { now, steps }
    }

    /// Turns the step of each body by an angle, every second body the other way round.
    fn turn(&mut self, angle: f32) {
        let [along, across] = &mut self.steps;
        for (id, (x, y)) in along.iter_mut().zip(across).enumerate() {
            let (sin, cos) = if id % 2 == 0 { angle } else { -angle }.sin_cos();
            (*x, *y) = (*x * cos - *y * sin, *x * sin + *y * cos);
        }
    }

    fn step(&mut self) {
        for (column, steps) in self.now.centers.iter_mut().zip(&self.steps) {
            column.iter_mut().zip(steps).for_each(|(x, step)| *x += step);
        }
    }
}

/// Two finders of pairs, on one thread and on three, and a finder of rows, beside searches from scratch.
#[derive(Default)]
struct Beside {
    pairs: [CoherentFinder<2>; 2],
    rows: CoherentFinder<2>,
    scratch: PairFinder<2>,
    lists: [NeighborLists; 2],
}

impl Beside {
    fn frame(&mut self, circles: Circles<'_>, what: &str) {
        let Self { pairs: [one, many], rows, scratch, lists: [of_rows, expected] } = self;
        let pairs = one.on(Threads::Serial).find(circles).expect("sound bodies").pairs();
        assert_same(what, &ascending(pairs), &ascending(scratch.find(circles).expect("sound bodies").pairs()));
        assert!(many.on(Threads::Pool(&pool(3))).find(circles).expect("sound bodies").pairs() == pairs, "{what}");
        rows.neighbors(circles, Rows::Full, of_rows).expect("sound bodies");
        scratch.neighbors(circles, Rows::Full, expected).expect("sound bodies");
        assert!(of_rows.offsets() == expected.offsets() && of_rows.neighbors() == expected.neighbors(), "{what}");
    }
}

/// Runs frames of a crowd that moves straight on, except for what `disturb` does to it before a frame. Returns how
/// often the crowd was searched from scratch.
fn frames(count: usize, disturb: impl Fn(usize, &mut Crowd)) -> u64 {
    let (mut crowd, mut beside) = (Crowd::new(700, SPEED), Beside::default());
    for frame in 0..count {
        disturb(frame, &mut crowd);
        crowd.step();
        beside.frame(crowd.now.view(), &format!("frame {frame}"));
    }
    beside.pairs[0].rebuilds()
}

#[test]
fn lists_of_bodies_that_move_on_as_they_did_last_longer() {
    let straight = frames(400, |_, _| ());
    // In each frame one body leaves its expected way.
    let turning = frames(400, |frame, crowd| {
        crowd.steps.iter_mut().for_each(|steps| steps[frame] = -steps[frame]);
    });
    assert!(5 * straight < 4 * turning, "{straight} lists of those, {turning} of those that turn");
}

#[test]
fn lists_of_bodies_that_turn_evenly_last_longer() {
    let (mut crowd, mut beside) = (Crowd::new(700, SPEED), Beside::default());
    // In margins, how far bodies have come in the frames of the last lists.
    let (mut came, mut lists) = (0.0, 0);
    for frame in 0..600 {
        let before = beside.pairs[0].rebuilds();
        crowd.turn(0.06);
        crowd.step();
        beside.frame(crowd.now.view(), &format!("frame {frame}"));
        if frame >= 200 {
            came += f64::from(SPEED) / beside.pairs[0].margin();
            lists += beside.pairs[0].rebuilds() - before;
        }
    }
    assert!(came > 1.5 * lists as f64, "{came} margins in {lists} lists");
}

/// Bodies swing, each at a speed of its own, as bodies do that push each other away. A few are far faster than all are
/// on average.
#[test]
fn lists_of_bodies_that_swing_have_margins_for_each() {
    let (mut crowd, mut beside) = (Crowd::new(700, SPEED), Beside::default());
    let speeds: Vec<f32> =
        (0..700_u16).map(|id| if id % 50 == 0 { 4.0 } else { 0.2 + f32::from(id % 7) / 6.0 }).collect();
    let steps = crowd.steps.clone();
    let (mut candidates, mut pairs) = (0, 0);
    for frame in 0..600_u16 {
        for (now, steps) in crowd.steps.iter_mut().zip(&steps) {
            for (id, slot) in now.iter_mut().enumerate() {
                *slot = steps[id] * speeds[id] * (f32::from(frame) * 0.06 + id as f32).cos();
            }
        }
        crowd.step();
        beside.frame(crowd.now.view(), &format!("frame {frame}"));
        if frame >= 200 {
            let found = beside.pairs[0].last();
            (candidates, pairs) = (candidates + found.stats().circle_tests, pairs + found.pairs().len() as u64);
        }
    }
    let lists = beside.pairs[0].rebuilds();
    assert!(lists < 45 && 2 * candidates < 3 * pairs, "{lists} lists, {candidates} candidates for {pairs} pairs");
}

#[test]
fn pairs_are_those_of_each_frame_whatever_bodies_do() {
    frames(90, |frame, crowd| match frame % 30 {
        // All turn around, one jumps, one grows, all stop.
        7 => crowd.steps.iter_mut().flatten().for_each(|step| *step = -*step),
        13 => crowd.now.centers[0].swap(frame, frame + 1),
        17 => crowd.now.radii[frame] += 0.02,
        22 => crowd.steps.iter_mut().flatten().for_each(|step| *step *= 0.01),
        26 => crowd.steps.iter_mut().flatten().for_each(|step| *step *= 120.0),
        _ => {}
    });
}

#[test]
fn bodies_may_be_expected_where_none_can_be() {
    // The farthest that a coordinate and a radius may reach.
    let (reach, radius) = ((1_u64 << 60) as f32, (1_u64 << 45) as f32);
    for stop in 20..30_u8 {
        let mut beside = Beside::default();
        for frame in 0..40_u8 {
            let way = f32::from(stop.saturating_sub(frame)) * 0.25 * radius;
            let four = [reach - 2.2 * radius - way, reach - 5.0 * radius, 0.0, radius];
            // Lists of four bodies alone do not pay.
            let others = || (2..100_u8).map(|number| 1.9 * f32::from(number) * radius);
            let x: Vec<f32> = four.into_iter().chain(others()).collect();
            let y: Vec<f32> = [0.0, 0.0, 0.0, f32::from(frame) * 0.05 * radius].into_iter().chain(others()).collect();
            beside.frame(Circles::new(&x, &y, radius), &format!("stop at {stop}, frame {frame}"));
        }
        assert!(beside.pairs[0].rebuilds() < 20);
    }
}

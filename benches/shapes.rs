//! Boxes, capsules, circles and spheres within a set and between two, by turns in one process on one thread. The bodies of
//! each set lie anywhere, one in each unit of area or volume; capsules lead along the diagonals of the boxes. Prints the
//! lower quartile of each row, a body of one set, and how many pairs a body has.

use std::time::Instant;

use jostle::{Bodies, BoxView, CapsuleView, Input, PairFinder, Set, Threads};
use jostle_testkit::random::Random;

/// Bodies of each set, and rounds, in each of which everything is timed once.
const SIZE: (usize, usize) = (10_000, 100);

/// Sides of boxes, radii of capsules, and radii of circles and spheres.
const SIDE: f64 = 0.6;
const CAPSULE: f64 = 0.2;
const ROUND: f64 = 0.35;

/// Lower corners and upper corners of boxes, in both precisions, and how wide the scene is.
struct Corners<const D: usize> {
    double: [[Vec<f64>; D]; 2],
    single: [[Vec<f32>; D]; 2],
    /// How far bodies move: on each axis as far as they are wide, at most.
    moves: [Vec<f64>; D],
    width: f64,
}

impl<const D: usize> Corners<D> {
    fn new(bodies: usize) -> Self {
        let (mut random, width) = (Random(1), (bodies as f64).powf(1.0 / D as f64));
        let lo = [(); D].map(|()| (0..bodies).map(|_| width * random.unit()).collect::<Vec<_>>());
        let hi = lo.each_ref().map(|column| column.iter().map(|x| x + SIDE).collect());
        let double = [lo, hi];
        let single =
            double.each_ref().map(|corner| corner.each_ref().map(|x| x.iter().map(|&x| x as f32).collect::<Vec<_>>()));
        let moves = [(); D].map(|()| (0..bodies).map(|_| SIDE * (2.0 * random.unit() - 1.0)).collect());
        Self { double, single, moves, width }
    }

    /// All that is timed.
    fn rows<'a>(&'a self) -> [Row<'a, D>; 12] {
        let ([lo, hi], [lo64, hi64]) = (&self.single, &self.double);
        let boxes = BoxView::new(lo.each_ref(), hi.each_ref());
        let capsules = CapsuleView::new(lo.each_ref(), hi.each_ref(), CAPSULE as f32);
        let round = Bodies::<D>::from_slices(lo.each_ref().map(Vec::as_slice), ROUND as f32);
        let capsules64 = CapsuleView::new(lo64.each_ref(), hi64.each_ref(), CAPSULE);
        let moving = |set: Set<'a, D>| set.moving(self.moves.each_ref());
        [
            Row::new("boxes f32", boxes),
            Row::new("boxes f64", BoxView::new(lo64.each_ref(), hi64.each_ref())),
            Row::new("capsules f32", capsules),
            Row::new("capsules f64", capsules64),
            Row::new("capsules f32, periodic", Input::within(capsules).periodic([Some([0.0, self.width]); D])),
            Row::new("capsules, boxes", Input::between(capsules, boxes)),
            Row::new("round, boxes", Input::between(round, boxes)),
            Row::new("round, capsules", Input::between(round, capsules)),
            Row::new("boxes f32, moving", moving(boxes.into())),
            Row::new("capsules f32, moving", moving(capsules.into())),
            Row::new("round moving, boxes", Input::between(moving(round.into()), boxes)),
            Row::new("round, moving", moving(round.into())),
        ]
    }
}

struct Row<'a, const D: usize> {
    name: &'a str,
    input: Input<'a, D>,
    finder: PairFinder<D>,
    times: Vec<f64>,
}

impl<'a, const D: usize> Row<'a, D> {
    fn new(name: &'a str, input: impl Into<Input<'a, D>>) -> Self {
        Self { name, input: input.into(), finder: PairFinder::new(), times: Vec::new() }
    }
}

fn time<const D: usize>((bodies, rounds): (usize, usize)) {
    let corners = Corners::<D>::new(bodies);
    let mut rows = corners.rows();
    for _ in 0..rounds {
        for Row { input, finder, times, .. } in &mut rows {
            let started = Instant::now();
            finder.on(Threads::Serial).find(*input).expect("sound bodies");
            times.push(started.elapsed().as_secs_f64() * 1e9 / bodies as f64);
        }
    }
    for Row { name, finder, times, .. } in &mut rows {
        times.sort_by(f64::total_cmp);
        let pairs = finder.last().pairs().len() as f64 / bodies as f64;
        println!("{D}D {name:24} {:7.1} ns a body, {pairs:5.2} pairs", times[times.len() / 4]);
    }
}

fn main() {
    // Everything once, and little of it, unless `cargo bench` runs this.
    let size = if std::env::args().any(|word| word == "--bench") { SIZE } else { (100, 1) };
    time::<2>(size);
    time::<3>(size);
}

//! Frames of bodies that move little, by a [`CoherentFinder`] and from scratch. The two take turns in one process,
//! sixteen frames in succession each. So each finds in the caches what its last frame has left there, as in a program
//! that makes all of its frames by one of the two. Each body moves straight on, in all directions, all at one speed, or
//! at the speeds of a gas with that speed as their root mean square. For each scene it prints what a frame costs,
//! rebuilds included, relative to a search from scratch; what kept frames and rebuilds cost alone; and how many frames
//! a list lasts.
//!
//! `cargo bench -p jostle-benches --bench coherent -- [2d|3d] [rows] [gas|flow|walls|turnover|turning|springs] [periodic|oblique] [double] [layers] [parts|many] [moving] [SCENE...] [N...] [SPEED%...] [THREADSt]`

use std::ops::Range;
use std::time::Instant;

use jostle::{ActivationTable, Bodies, CoherentFinder, Input, Layers, NeighborLists, PairFinder, Rows, Set, Space};
use jostle_testkit::pairs::ascending;
use jostle_testkit::random::Random;
use jostle_testkit::{Kind, Scene, scene};
use rayon::prelude::*;

/// Frames are searched until they have taken so many milliseconds and made more than so many lists, but at most so many
/// frames.
const MILLISECONDS: f64 = 2_500.0;
const LISTS: usize = 5;
const FRAMES: usize = 400;

/// Successive frames by one of the two. The last one is checked.
const ROW: usize = 16;

/// With `flow`, all bodies move along the first axis, and this part of their speed in all directions. So they stay as
/// dense as they were.
const APART: f64 = 1.0 / 16.0;

/// With `oblique`, bodies come in farther on by this part of the box.
const FARTHER_ON: f64 = 0.25;

/// With `turning`, the greatest and the least angle in radians by which a body turns in a frame, to either side.
const TURN: [f64; 2] = [0.15, 0.05];

/// With `springs`, bodies that overlap push each other away by so much of how far they do, in each frame: two bodies
/// alone would swing once in 150 frames. Walls push them back likewise.
const STIFFNESS: f64 = 0.03 * 0.03;

/// With `springs`, bodies come to rest with each other for so many frames before the first that counts.
const BEFORE: usize = 100;

/// What the command line asks for.
#[derive(Default)]
struct Asked {
    dims: Vec<usize>,
    rows: bool,
    gas: bool,
    flow: bool,
    /// Bodies turn back at the borders of the box that they stood in, so that they stay as dense as they were.
    walls: bool,
    /// One body in 4,096, but at least one, goes in each frame, and comes back elsewhere.
    turnover: bool,
    /// Bodies go round, in the plane of the first two axes.
    turning: bool,
    /// Bodies that overlap push each other away, between walls, and keep their speed on average.
    springs: bool,
    /// Space repeats with the box that bodies stood in. Bodies that leave it come in at the other side.
    periodic: bool,
    /// As `periodic`, but a body that leaves at one side along an axis comes in farther on along the axis before.
    oblique: bool,
    /// Bodies are in `f64`.
    double: bool,
    /// Bodies are of two kinds. Bodies of one kind do not meet.
    layers: bool,
    /// Half of the bodies meet the other half.
    parts: bool,
    /// The two halves of the bodies are given as many sets: each meets itself, and both meet each other.
    many: bool,
    /// Bodies are searched as they move to the next frame.
    moving: bool,
    kinds: Vec<Kind>,
    sizes: Vec<usize>,
    /// Speeds, in hundredths of the mean radius a frame.
    speeds: Vec<f64>,
    threads: usize,
    milliseconds: f64,
}

impl Asked {
    fn new() -> Self {
        let mut asked = Self { threads: 1, ..Self::default() };
        for word in std::env::args().skip(1) {
            match word.as_str() {
                "--bench" => asked.milliseconds = MILLISECONDS,
                "rows" => asked.rows = true,
                "gas" => asked.gas = true,
                "flow" => asked.flow = true,
                "walls" => asked.walls = true,
                "turnover" => asked.turnover = true,
                "turning" => asked.turning = true,
                "springs" => asked.springs = true,
                "periodic" => asked.periodic = true,
                "oblique" => (asked.periodic, asked.oblique) = (true, true),
                "double" => asked.double = true,
                "layers" => asked.layers = true,
                "parts" => asked.parts = true,
                "many" => asked.many = true,
                "moving" => asked.moving = true,
                _ => asked.take(&word),
            }
        }
        let is_timed = asked.milliseconds > 0.0;
        or_else(&mut asked.dims, &[2, 3]);
        or_else(&mut asked.kinds, &Kind::ALL);
        or_else(&mut asked.sizes, if is_timed { &[10_000, 100_000] } else { &[500] });
        or_else(&mut asked.speeds, if is_timed { &[1.0, 3.0, 30.0] } else { &[3.0] });
        asked
    }

    /// Takes a scene or a number.
    fn take(&mut self, word: &str) {
        let number = |end: &str| word.strip_suffix(end).and_then(|digits| digits.parse::<f64>().ok());
        if let Some(threads) = number("t") {
            self.threads = threads as usize;
        } else if let Some(speed) = number("%") {
            self.speeds.push(speed);
        } else if let Some(dim) = number("d") {
            self.dims.push(dim as usize);
        } else if let Some(n) = number("k").map(|n| n * 1e3).or(number("m").map(|n| n * 1e6)).or(number("")) {
            self.sizes.push(n as usize);
        } else {
            self.kinds.push(word.parse().expect("a scene"));
        }
    }
}

fn or_else<T: Copy>(list: &mut Vec<T>, others: &[T]) {
    if list.is_empty() {
        list.extend(others);
    }
}

/// Bodies on their way.
struct Way<const D: usize> {
    start: Scene<D>,
    /// The step of each body in a frame.
    steps: [Vec<f64>; D],
    now: Scene<D>,
    /// The centres in `f64`, if `double` is asked for, and the radii.
    double: Option<([Vec<f64>; D], Vec<f64>)>,
    /// The borders of each axis, if bodies turn back there.
    walls: Option<[[f64; 2]; D]>,
    /// The borders of each axis, if space repeats.
    period: Option<[[f64; 2]; D]>,
    /// How much farther on along each axis a body comes in that leaves along the next one.
    farther_on: [f64; D],
    /// The category of each body and the categories that it meets, if bodies are of two kinds.
    layers: Option<[Vec<u32>; 2]>,
    parts: bool,
    many: bool,
    moving: bool,
    /// The table by which all sets meet.
    table: ActivationTable,
    /// How many bodies go in each frame. Bodies with the least ids go first.
    turnover: usize,
    /// The angle by which each body turns in a frame, if bodies do.
    turns: Option<Vec<f64>>,
    /// What pushes bodies, if springs do.
    springs: Option<Springs<D>>,
}

/// Bodies with springs between them.
struct Springs<const D: usize> {
    finder: PairFinder<D>,
    speed: f64,
    borders: [[f64; 2]; D],
    centers: [Vec<f64>; D],
    steps: [Vec<f64>; D],
    /// The last frames, each at its number modulo `ROW`, and how many there have been.
    frames: [[Vec<f32>; D]; ROW],
    done: usize,
}

impl<const D: usize> Springs<D> {
    fn new(scene: &Scene<D>, steps: [Vec<f64>; D], borders: [[f64; 2]; D], speed: f64) -> Self {
        let centers = scene.centers.each_ref().map(|column| column.iter().map(|&x| x.into()).collect());
        let frames = std::array::from_fn(|_| scene.centers.clone());
        let mut springs = Self { finder: PairFinder::new(), speed, borders, centers, steps, frames, done: 0 };
        (0..BEFORE).for_each(|_| springs.step(&scene.radii));
        springs.done = 0;
        springs
    }

    fn step(&mut self, radii: &[f32]) {
        let Self { finder, speed, borders, centers, steps, frames, done } = self;
        let now = &mut frames[*done % ROW];
        for (now, centers) in now.iter_mut().zip(&*centers) {
            now.iter_mut().zip(centers).for_each(|(slot, &x)| *slot = x as f32);
        }
        let bodies = Bodies::from_slices(now.each_ref().map(Vec::as_slice), radii);
        let found = finder.find(bodies).expect("a sound scene");
        for pair in found.pairs() {
            let [a, b] = pair.map(|id| id as usize);
            let apart: [f64; D] = std::array::from_fn(|axis| centers[axis][b] - centers[axis][a]);
            let distance = apart.iter().map(|x| x * x).sum::<f64>().sqrt();
            let push = STIFFNESS * (f64::from(radii[a]) + f64::from(radii[b]) - distance) / distance.max(1e-6) / 2.0;
            for (steps, x) in steps.iter_mut().zip(apart) {
                steps[a] -= push * x;
                steps[b] += push * x;
            }
        }
        let square = steps.iter().flatten().map(|step| step * step).sum::<f64>() / radii.len() as f64;
        let slower = 0.9 + 0.1 * *speed / square.sqrt();
        for ((steps, centers), [lo, hi]) in steps.iter_mut().zip(centers).zip(borders) {
            for (step, x) in steps.iter_mut().zip(centers) {
                *step = slower * *step + STIFFNESS * (x.clamp(*lo, *hi) - *x);
                *x += *step;
            }
        }
        *done += 1;
    }
}

impl<const D: usize> Way<D> {
    fn new(
        start: Scene<D>,
        speed: f64,
        Asked {
            gas,
            flow,
            walls,
            turnover,
            turning,
            springs,
            periodic,
            oblique,
            double,
            layers,
            parts,
            many,
            moving,
            ..
        }: &Asked,
    ) -> Self {
        let mean = start.radii.iter().map(|&radius| f64::from(radius)).sum::<f64>() / start.len() as f64;
        let (mut random, mut steps) = (Random(7), [const { Vec::new() }; D]);
        for _ in 0..start.len() {
            let (step, length) = loop {
                let step = [(); D].map(|()| 2.0 * random.unit() - 1.0);
                let length = step.iter().map(|x| x * x).sum::<f64>().sqrt();
                if length > 0.01 && length <= 1.0 {
                    break (step, length);
                }
            };
            // A sum of twelve random numbers is as good as normal.
            let mut normal = || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
            let mut square = |_| normal().powi(2) / D as f64;
            let times = if *gas { (0..D).map(&mut square).sum::<f64>().sqrt() } else { 1.0 };
            let share = if *flow { APART } else { 1.0 };
            steps.iter_mut().zip(step).for_each(|(column, x)| column.push(x / length * times * share * speed * mean));
            if *flow {
                *steps[0].last_mut().expect("a body's step") += speed * mean;
            }
        }
        let borders = |axis: usize| {
            let column = || start.centers[axis].iter().map(|&x| f64::from(x));
            [column().fold(f64::INFINITY, f64::min), column().fold(f64::NEG_INFINITY, f64::max)]
        };
        let borders = std::array::from_fn(borders);
        let (walls, period) = (walls.then_some(borders), periodic.then_some(borders));
        let length = |axis: usize| {
            if *oblique && axis + 1 < D { FARTHER_ON * (borders[axis][1] - borders[axis][0]) } else { 0.0 }
        };
        let farther_on = std::array::from_fn(length);
        let double = double.then(|| {
            let wide = |column: &Vec<f32>| column.iter().map(|&x| x.into()).collect::<Vec<f64>>();
            (start.centers.each_ref().map(wide), wide(&start.radii))
        });
        let turnover = if *turnover { (start.len() / 4_096).max(1) } else { 0 };
        let kind = |other: usize| (0..start.len()).map(|id| 1 << ((id + other) % 2)).collect::<Vec<u32>>();
        let layers = layers.then(|| [0, 1].map(kind));
        let (parts, many, moving, table) = (*parts, *many, *moving, ActivationTable::all(2));
        let mut turn =
            |_| (TURN[1] + (TURN[0] - TURN[1]) * random.unit()) * if random.unit() < 0.5 { -1.0 } else { 1.0 };
        let turns = turning.then(|| (0..start.len()).map(&mut turn).collect());
        let springs = springs.then(|| Springs::new(&start, steps.clone(), borders, speed * mean));
        let now = start.clone();
        Self {
            layers,
            parts,
            many,
            moving,
            table,
            now,
            double,
            start,
            steps,
            walls,
            period,
            farther_on,
            turnover,
            turns,
            springs,
        }
    }

    /// Returns the bodies of these ids as a set.
    fn set(&self, ids: Range<usize>) -> Set<'_, D> {
        let set: Set<'_, D> = match &self.double {
            Some((centers, radii)) => {
                Bodies::from_slices(centers.each_ref().map(|column| &column[ids.clone()]), &radii[ids.clone()]).into()
            }
            None => {
                let Scene { centers, radii } = &self.now;
                Bodies::from_slices(centers.each_ref().map(|column| &column[ids.clone()]), &radii[ids.clone()]).into()
            }
        };
        let set = if self.moving { set.moving(self.steps.each_ref().map(|column| &column[ids.clone()])) } else { set };
        match &self.layers {
            Some([category, mask]) => set.layers(Layers::new(&category[ids.clone()], &mask[ids])),
            None => set,
        }
    }

    /// Returns the input of a search. `sets` holds the two sets if many sets are asked for.
    fn input<'a>(&'a self, sets: &'a mut Vec<Set<'a, D>>) -> Input<'a, D> {
        let (half, all) = (self.start.len() / 2, self.start.len());
        let input = if self.parts {
            Input::between(self.set(0..half), self.set(half..all))
        } else if self.many {
            sets.extend([self.set(0..half), self.set(half..all)]);
            Input::among(sets, &self.table)
        } else {
            Input::within(self.set(0..all))
        };
        let Some(period) = self.period else { return input };
        let mut vectors = [[0.0; D]; D];
        for axis in 0..D {
            vectors[axis][axis] = period[axis][1] - period[axis][0];
            if axis > 0 {
                vectors[axis][axis - 1] = self.farther_on[axis - 1];
            }
        }
        input.space(Space::lattice(vectors, [true; D]).at(period.map(|[lo, _]| lo)))
    }

    /// Moves all bodies by all threads, as a simulation does. If one thread moved them, all others would have to wait
    /// for its core.
    fn go_to(&mut self, frame: usize) {
        if let Some(springs) = &mut self.springs {
            while springs.done <= frame {
                springs.step(&self.start.radii);
            }
            for (axis, column) in springs.frames[frame % ROW].iter().enumerate() {
                if let Some((centers, _)) = &mut self.double {
                    centers[axis].iter_mut().zip(column).for_each(|(slot, &x)| *slot = x.into());
                } else {
                    self.now.centers[axis].copy_from_slice(column);
                }
            }
            return;
        }
        let Self { start, steps, now, double, walls, period, farther_on, turnover, turns, .. } = self;
        // Where a body goes along an axis, wherever space repeats.
        let ahead = |axis: usize, id: usize| {
            let (from, step, of) = (&start.centers[axis], steps[axis][id], *turnover);
            // A body that has come back moves on from where another body began.
            let come = if id < of * frame { Some(1 + id / of) } else { None };
            let from = come.map_or(from[id], |_| from[(id + from.len() / 2) % from.len()]);
            let frames = (frame - come.unwrap_or(0)) as f64;
            // The other axis of the plane in which bodies turn, and to which side.
            let (across, side) = [(&steps[1], 1.0), (&steps[0], -1.0)][axis.min(1)];
            let way = turns.as_ref().filter(|_| axis < 2).map_or(frames * step, |turns| {
                let (sin, cos) = (turns[id] * frames).sin_cos();
                (step * sin + side * across[id] * (cos - 1.0)) / turns[id]
            });
            let ahead = f64::from(from) + way;
            walls.map_or(ahead, |walls| between(walls[axis], ahead))
        };
        let at = |axis: usize, id: usize| {
            let Some(period) = *period else { return ahead(axis, id) };
            // How often the body has left along the next axis.
            let left = (axis + 1..D).rev().fold(0.0, |left: f64, next| {
                let [lo, hi] = period[next];
                ((ahead(next, id) - left * farther_on[next] - lo) / (hi - lo)).floor()
            });
            within(period[axis], ahead(axis, id) - left * farther_on[axis])
        };
        for axis in 0..D {
            if let Some((centers, _)) = double {
                centers[axis].par_iter_mut().enumerate().for_each(|(id, x)| *x = at(axis, id));
            } else {
                now.centers[axis].par_iter_mut().enumerate().for_each(|(id, x)| *x = at(axis, id) as f32);
            }
        }
    }
}

/// Returns where a point arrives that turns back at both borders.
fn between([lo, hi]: [f64; 2], ahead: f64) -> f64 {
    let there_and_back = (ahead - lo).rem_euclid(2.0 * (hi - lo));
    lo + there_and_back.min(2.0 * (hi - lo) - there_and_back)
}

/// Returns where a point arrives where space repeats.
fn within([lo, hi]: [f64; 2], ahead: f64) -> f64 {
    lo + (ahead - lo).rem_euclid(hi - lo)
}

/// Seconds of one frame.
#[derive(Default)]
struct Frame {
    coherent: f64,
    scratch: f64,
    is_new: bool,
}

/// Both ways to the same answer.
struct Both<const D: usize> {
    rows: bool,
    coherent: CoherentFinder<D>,
    scratch: PairFinder<D>,
    lists: [NeighborLists; 2],
}

impl<const D: usize> Both<D> {
    fn time(&mut self, input: Input<'_, D>, coherent: bool) -> f64 {
        let (started, [of_coherent, of_scratch]) = (Instant::now(), &mut self.lists);
        match (coherent, self.rows) {
            (true, false) => drop(self.coherent.find(input).expect("a sound scene")),
            (false, false) => drop(self.scratch.find(input).expect("a sound scene")),
            (true, true) => drop(self.coherent.neighbors(input, Rows::Full, of_coherent).expect("a sound scene")),
            (false, true) => drop(self.scratch.neighbors(input, Rows::Full, of_scratch).expect("a sound scene")),
        }
        started.elapsed().as_secs_f64()
    }

    /// Searches `ROW` successive frames from number `first` on, each by both ways.
    fn row(&mut self, first: usize, way: &mut Way<D>, frames: &mut Vec<Frame>) {
        frames.resize_with(first + ROW, Frame::default);
        let coherent_first = (first / ROW).is_multiple_of(2);
        for coherent in [coherent_first, !coherent_first] {
            for number in first..first + ROW {
                way.go_to(number);
                let before = self.coherent.rebuilds();
                let (took, frame) = (self.time(way.input(&mut Vec::new()), coherent), &mut frames[number]);
                if coherent {
                    (frame.coherent, frame.is_new) = (took, self.coherent.rebuilds() > before);
                } else {
                    frame.scratch = took;
                }
            }
        }
        self.check();
    }

    fn check(&self) {
        if self.rows {
            let [a, b] = &self.lists;
            assert!(a.offsets() == b.offsets() && a.neighbors() == b.neighbors(), "the same rows");
        } else {
            let [a, b] = [self.coherent.last(), self.scratch.last()];
            assert!(ascending(a.pairs()) == ascending(b.pairs()), "the same pairs");
        }
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn run<const D: usize>(asked: &Asked, kind: Kind, n: usize, speed: f64) {
    let mut way = Way::new(scene::scene::<D>(kind, n, 1), speed / 100.0, asked);
    let mut both = Both {
        rows: asked.rows,
        coherent: CoherentFinder::new(),
        scratch: PairFinder::new(),
        lists: [NeighborLists::new(), NeighborLists::new()],
    };
    // The first frames tell how fast bodies move.
    let (mut frames, mut lists, mut spent) = (Vec::new(), 0, 0.0);
    while frames.len() < FRAMES && (lists <= LISTS || spent < asked.milliseconds) {
        let first = frames.len();
        both.row(first, &mut way, &mut frames);
        for frame in &frames[first..] {
            lists += usize::from(frame.is_new);
            spent += (frame.coherent + frame.scratch) * 1e3;
        }
    }
    // Only whole lists count: from one rebuild to the next. The first of more than two is left out, since it takes
    // memory. Single searches from scratch together count as one list.
    let mut starts: Vec<_> = (3..frames.len()).filter(|&at| frames[at].is_new).collect();
    if starts.len() > 3 {
        starts.remove(0);
    }
    let (Some(&first), Some(&last)) = (starts.first(), starts.last()) else { return };
    let (frames, count) = (&frames[first..last.max(first + 1)], starts.len().saturating_sub(1).max(1));
    let scratch = median(frames.iter().map(|frame| frame.scratch));
    let of =
        |is_new| median(frames.iter().filter(|frame| frame.is_new == is_new).map(|frame| frame.coherent)) / scratch;
    let by_list = frames.chunk_by(|_, next| !next.is_new);
    let sums = by_list.map(|list| {
        let sum = |time: fn(&Frame) -> f64| list.iter().map(time).sum::<f64>();
        sum(|frame| frame.coherent) / sum(|frame| frame.scratch)
    });
    println!(
        "{D}D {:10} {n:>8} {speed:5}% {:8.2} ns a body from scratch; a frame {:5.3} of it: kept {:5.3}, anew {:5.2}, lists of {:5.1} frames",
        kind.to_string(),
        scratch * 1e9 / n as f64,
        median(sums),
        of(false),
        of(true),
        frames.len() as f64 / count as f64,
    );
}

fn main() {
    let asked = Asked::new();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(asked.threads).build().expect("threads");
    pool.install(|| {
        for &dim in &asked.dims {
            for &kind in &asked.kinds {
                for (&n, &speed) in asked.sizes.iter().flat_map(|n| asked.speeds.iter().map(move |speed| (n, speed))) {
                    if dim == 2 { run::<2>(&asked, kind, n, speed) } else { run::<3>(&asked, kind, n, speed) }
                }
            }
        }
    });
}

//! What a simulation gains by sorting its own arrays along the curve now and then. The same 100,000 bouncing circles
//! run twice, once in random order, once sorted by rank every few frames: `cargo run --release --example sorted_arrays
//! [circles]`.

use std::error::Error;
use std::time::{Duration, Instant};

use jostle::{Circles, ContactTracker, PairFinder, Permutation, Threads};

const FRAMES: usize = 60;

/// Frames between two sorts: a body moves some radii in this time, so that most bodies keep their neighbours.
const SORT_EVERY: usize = 20;

/// Side of the world for each circle: circles cover a fraction of 0.3.
const SIDE: f32 = 2.5;

/// Columns as a simulation has them, all indexed by id.
#[derive(Clone)]
struct World {
    side: f32,
    x: Vec<f32>,
    y: Vec<f32>,
    radius: Vec<f32>,
    vx: Vec<f32>,
    vy: Vec<f32>,
    /// A number that stays with a circle wherever it stands.
    keys: Vec<u64>,
}

/// Time spent in each part of a frame.
#[derive(Default)]
struct Times {
    find: Duration,
    track: Duration,
    resolve: Duration,
    sort: Duration,
}

/// A small generator of numbers from 0 to 1, so that the example needs no other crate.
fn random(state: &mut u64) -> f32 {
    *state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
    (*state >> 40) as f32 / (1_u64 << 24) as f32
}

impl World {
    fn new(circles: usize) -> Self {
        let (mut state, side) = (1, SIDE * (circles as f32).sqrt());
        let mut column = |low: f32, high: f32| (0..circles).map(|_| low + (high - low) * random(&mut state)).collect();
        Self {
            side,
            x: column(0.0, side),
            y: column(0.0, side),
            radius: column(0.5, 1.0),
            vx: column(-0.1, 0.1),
            vy: column(-0.1, 0.1),
            keys: (0..circles as u64).collect(),
        }
    }

    fn circles(&self) -> Circles<'_> {
        Circles::new(&self.x, &self.y, &self.radius)
    }

    /// Exchanges the speeds of two circles that approach each other, along the line between them; all have the same
    /// mass.
    fn resolve(&mut self, pairs: &[[u32; 2]]) {
        for [a, b] in pairs.iter().map(|pair| pair.map(|id| id as usize)) {
            let (dx, dy) = (self.x[b] - self.x[a], self.y[b] - self.y[a]);
            let approach = (self.vx[b] - self.vx[a]) * dx + (self.vy[b] - self.vy[a]) * dy;
            let distance2 = dx * dx + dy * dy;
            if approach < 0.0 && distance2 > 0.0 {
                let (px, py) = (dx * approach / distance2, dy * approach / distance2);
                self.vx[a] += px;
                self.vy[a] += py;
                self.vx[b] -= px;
                self.vy[b] -= py;
            }
        }
    }

    fn advance(&mut self) {
        let side = self.side;
        for (x, v) in [(&mut self.x, &mut self.vx), (&mut self.y, &mut self.vy)] {
            for (x, v) in x.iter_mut().zip(v) {
                *x += *v;
                if *x < 0.0 || *x > side {
                    *v = -*v;
                    *x = x.clamp(0.0, side);
                }
            }
        }
    }

    fn sort(&mut self, order: &Permutation, floats: &mut Vec<f32>, keys: &mut Vec<u64>) -> Result<(), Box<dyn Error>> {
        for column in [&mut self.x, &mut self.y, &mut self.radius, &mut self.vx, &mut self.vy] {
            order.sort_by_rank_copy(column, floats, Threads::Current)?;
        }
        order.sort_by_rank_copy(&mut self.keys, keys, Threads::Current)?;
        Ok(())
    }
}

/// A world with all that it keeps from frame to frame.
struct Simulation {
    world: World,
    finder: PairFinder<2>,
    tracker: ContactTracker,
    order: Permutation,
    floats: Vec<f32>,
    keys: Vec<u64>,
    times: Times,
    began: usize,
    ended: usize,
}

impl Simulation {
    fn new(world: World) -> Self {
        Self {
            world,
            finder: PairFinder::new(),
            tracker: ContactTracker::new(),
            order: Permutation::new(),
            floats: Vec::new(),
            keys: Vec::new(),
            times: Times::default(),
            began: 0,
            ended: 0,
        }
    }

    fn frame(&mut self, sort: bool) -> Result<(), Box<dyn Error>> {
        let start = Instant::now();
        let found = self.finder.find(self.world.circles())?;
        let searched = Instant::now();
        // Sorted or not, a contact is known by the keys of its circles.
        let changes = self.tracker.update(found.pairs(), &self.world.keys)?;
        self.began += changes.begin().len();
        self.ended += changes.end().len();
        let tracked = Instant::now();
        self.world.resolve(found.pairs());
        let resolved = Instant::now();
        if sort {
            self.order.take(found.tree());
            self.world.sort(&self.order, &mut self.floats, &mut self.keys)?;
        }
        self.times.find += searched - start;
        self.times.track += tracked - searched;
        self.times.resolve += resolved - tracked;
        self.times.sort += resolved.elapsed();
        self.world.advance();
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let circles = std::env::args().nth(1).map_or(Ok(100_000), |n| n.parse())?;
    let world = World::new(circles);
    let (mut random, mut sorted) = (Simulation::new(world.clone()), Simulation::new(world));
    // The two worlds take turns, so that whatever else the machine does disturbs both alike.
    for frame in 0..FRAMES {
        random.frame(false)?;
        sorted.frame(frame % SORT_EVERY == 0)?;
    }
    println!("{circles} circles, {FRAMES} frames; milliseconds a frame:");
    println!("{:22}{:>14}{:>14}{:>8}", "", "random order", "sorted", "ratio");
    let row = |name: &str, random: Duration, sorted: Duration| {
        let [a, b] = [random, sorted].map(|time| time.as_secs_f64() * 1e3 / FRAMES as f64);
        println!("{name:22}{a:14.3}{b:14.3}{:8.2}", a / b);
    };
    row("find", random.times.find, sorted.times.find);
    row("begin, persist, end", random.times.track, sorted.times.track);
    row("resolve contacts", random.times.resolve, sorted.times.resolve);
    println!("{:22}{:>14}{:14.3}", "sort", "", sorted.times.sort.as_secs_f64() * 1e3 / FRAMES as f64);
    let all = |times: &Times| times.find + times.track + times.resolve + times.sort;
    row("all", all(&random.times), all(&sorted.times));
    // The sorted world resolves contacts in another order, so that the two worlds drift apart by rounding.
    for (name, Simulation { began, ended, .. }) in [("random order", &random), ("sorted", &sorted)] {
        println!("{name}: {began} contacts began and {ended} ended");
    }
    Ok(())
}

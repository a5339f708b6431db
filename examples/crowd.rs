//! Two crowds walk through each other, between posts. Arrays of structs are read in place, the tree of the posts, which
//! never move, is built once, and the threads are the host's own.
//!
//! `cargo run --release --example crowd [walkers] [frames]`

mod harness;

use std::error::Error;
use std::thread;

use harness::{Clock, Random, arguments};
use jostle::{ActivationTable, Circles, Column, Input, LinearTree, PairFinder, Set, Spawner, Threads, field};

/// Height of the corridor in metres, and its length for each walker.
const HEIGHT: f32 = 200.0;
const LENGTH_A_WALKER: f32 = 0.005;

/// How far a walker wants to go in a frame, in metres.
const STEP: f32 = 0.05;

/// Radius of the posts. The walls are rows of posts side by side.
const POST: f32 = 0.5;

/// Area of the corridor for each post in it, in square metres.
const AREA_A_POST: f32 = 100.0;

/// A walker as the host keeps it; jostle reads two of the fields.
#[derive(Clone, Copy)]
struct Walker {
    position: [f32; 2],
    /// The direction that the walker wants to go: 1 to the right, -1 to the left.
    direction: f32,
    radius: f32,
    /// How far other walkers and posts push the walker in this frame.
    push: [f32; 2],
}

/// The host's threads. `Crew` starts new threads for each task; an engine would pass tasks to threads that it has.
struct Crew {
    threads: usize,
}

impl Spawner for Crew {
    fn workers(&self) -> usize {
        self.threads
    }

    fn run(&self, tasks: usize, task: &(dyn Fn(usize) + Sync)) {
        thread::scope(|scope| {
            for number in 1..tasks {
                scope.spawn(move || task(number));
            }
            task(0);
        });
    }
}

struct Corridor {
    length: f32,
    posts: Vec<[f32; 2]>,
    walkers: Vec<Walker>,
}

impl Corridor {
    fn new(walkers: usize) -> Self {
        let length = (LENGTH_A_WALKER * walkers as f32).max(10.0);
        let mut random = Random::new(1);
        let mut posts = Vec::new();
        for i in 0..(length / POST) as usize {
            posts.extend([[i as f32 * POST, -POST], [i as f32 * POST, HEIGHT + POST]]);
        }
        for _ in 0..(length * HEIGHT / AREA_A_POST) as usize {
            posts.push([random.between(0.0, length), random.between(0.0, HEIGHT)]);
        }
        let walker = |number| Walker {
            position: [random.between(0.0, length), random.between(0.0, HEIGHT)],
            direction: if number % 2 == 0 { 1.0 } else { -1.0 },
            radius: random.between(0.2, 0.3),
            push: [0.0; 2],
        };
        Self { length, posts, walkers: (0..walkers as u32).map(walker).collect() }
    }

    fn circles(&self) -> Circles<'_> {
        let radius = field!(Walker, radius).of(&self.walkers);
        Circles::from_columns(field!(Walker, position).axes(&self.walkers), radius)
    }

    /// Moves two overlapping walkers apart, each by half of the overlap.
    fn push_apart(&mut self, a: usize, b: usize) {
        let (one, other) = (&self.walkers[a], &self.walkers[b]);
        let push = push(one.position, other.position, one.radius + other.radius);
        for axis in 0..2 {
            self.walkers[a].push[axis] -= push[axis] / 2.0;
            self.walkers[b].push[axis] += push[axis] / 2.0;
        }
    }

    /// Moves a walker off a post.
    fn push_off(&mut self, walker: usize, post: usize) {
        let walker = &mut self.walkers[walker];
        let push = push(self.posts[post], walker.position, POST + walker.radius);
        for axis in 0..2 {
            walker.push[axis] += push[axis];
        }
    }

    /// Moves every walker by a step; a walker that has come to one end begins at the other. Returns the mean progress,
    /// as a part of what the walkers want.
    fn walk(&mut self) -> f32 {
        let mut progress = 0.0;
        for walker in &mut self.walkers {
            let step = STEP * walker.direction + walker.push[0];
            progress += step * walker.direction / STEP;
            let x = (walker.position[0] + step).rem_euclid(self.length);
            walker.position = [x, walker.position[1] + walker.push[1]];
            walker.push = [0.0; 2];
        }
        progress / self.walkers.len().max(1) as f32
    }
}

/// Returns the way that the circle at `to` has to move to be `reach` from the circle at `from`.
fn push(from: [f32; 2], to: [f32; 2], reach: f32) -> [f32; 2] {
    let [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    let distance = (dx * dx + dy * dy).sqrt();
    let depth = reach - distance;
    if distance > 0.0 { [dx * depth / distance, dy * depth / distance] } else { [0.0, depth] }
}

fn main() -> Result<(), Box<dyn Error>> {
    let [walkers, frames] = arguments([60_000, 400])?;
    let mut corridor = Corridor::new(walkers);
    let mut posts = LinearTree::new();
    posts.build(Circles::from_columns(Column::axes(&corridor.posts), POST), Threads::Serial)?;

    // Walkers (set 0) meet walkers and posts (set 1). Posts do not meet posts.
    let meetings = ActivationTable::none(2).with(0, 0).with(0, 1);
    let crew = Crew { threads: thread::available_parallelism()?.get() };
    let mut finder = PairFinder::new();
    let (mut progress, mut pairs) = (0.0, [0; 2]);

    let mut clock = Clock::start();
    for _ in 0..frames {
        let sets = [Set::from(corridor.circles()), Set::from(&posts)];
        let found = finder.on(Threads::Host(&crew)).find(Input::among(&sets, &meetings))?;
        clock.jostle();
        let (among_walkers, with_posts) = (found.pairs_between(0, 0), found.pairs_between(0, 1));
        for &[a, b] in among_walkers {
            corridor.push_apart(a as usize, b as usize);
        }
        for &[walker, post] in with_posts {
            corridor.push_off(walker as usize, post as usize);
        }
        pairs = [pairs[0] + among_walkers.len(), pairs[1] + with_posts.len()];
        progress = corridor.walk();
        clock.own();
    }

    println!("{walkers} walkers, {frames} frames, {clock}");
    let [among_walkers, with_posts] = pairs.map(|pairs| pairs / frames.max(1));
    println!("{among_walkers} pairs of walkers a frame, and {with_posts} of a walker and a post");
    let lost = corridor.walkers.iter().filter(|walker| !(-POST..=HEIGHT + POST).contains(&walker.position[1])).count();
    println!("they get on at {:.0} % of the speed they want; {lost} went through a wall", 100.0 * progress);
    Ok(())
}

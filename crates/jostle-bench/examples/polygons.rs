//! Convex polygons that drift and turn: their boxes are searched by Jostle, and what is found is tested exactly by parry2d, within
//! the search, by all of its threads.
//!
//! `cargo run --release -p jostle-bench --example polygons [polygons] [frames]`: here, since nobody who builds or tests Jostle
//! is to build parry.

use std::error::Error;
use std::time::{Duration, Instant};

use jostle::{Boxes, PairFinder};
use parry2d::math::{Pose, Vector};
use parry2d::query::intersection_test;
use parry2d::shape::ConvexPolygon;

/// Longer half axis of the ellipses that corners lie on, at most.
const LONGEST: f32 = 2.0;

/// Area of the world for each polygon.
const ROOM: f32 = 4.0;

/// Polygons of which the first frame is held against a double loop.
const CHECKED: usize = 1_000;

/// The finaliser of SplitMix64: numbers from 0 to 1, the same in every run.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1_u64 << 24) as f32
    }
}

/// The polygons, and the columns of their boxes.
struct World {
    shapes: Vec<ConvexPolygon>,
    places: Vec<Pose>,
    velocities: Vec<(Vector, f32)>,
    lo: [Vec<f32>; 2],
    hi: [Vec<f32>; 2],
}

impl World {
    fn new(polygons: usize) -> Self {
        let (mut random, side) = (Random(1), (polygons as f32 * ROOM).sqrt());
        let shapes = (0..polygons).map(|_| shape(&mut random)).collect();
        let place = |random: &mut Random| Vector::new(random.unit() * side, random.unit() * side);
        let places = (0..polygons).map(|_| Pose::new(place(&mut random), random.unit() * 6.3)).collect();
        let velocity = |x: f32| (x - 0.5) * 0.2;
        let mut velocities = Vec::new();
        for _ in 0..polygons {
            let [x, y, turn] = [(); 3].map(|()| velocity(random.unit()));
            velocities.push((Vector::new(x, y), turn));
        }
        let columns = || [vec![0.0; polygons], vec![0.0; polygons]];
        Self { shapes, places, velocities, lo: columns(), hi: columns() }
    }

    fn step(&mut self) {
        for (place, &(velocity, turn)) in self.places.iter_mut().zip(&self.velocities) {
            *place = Pose::new(place.translation + velocity, place.rotation.angle() + turn);
        }
    }

    /// The boxes of all polygons where they are.
    fn bound(&mut self) {
        for (id, (shape, place)) in self.shapes.iter().zip(&self.places).enumerate() {
            let aabb = shape.aabb(place);
            for axis in 0..2 {
                (self.lo[axis][id], self.hi[axis][id]) = (aabb.mins[axis], aabb.maxs[axis]);
            }
        }
    }

    /// Whether two polygons share a point.
    fn touch(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        intersection_test(&self.places[a], &self.shapes[a], &self.places[b], &self.shapes[b])
            .is_ok_and(|test| test.intersecting)
    }
}

/// Three to eight corners on an ellipse.
fn shape(random: &mut Random) -> ConvexPolygon {
    loop {
        let corners = 3 + (random.unit() * 6.0) as usize;
        let axes = [(); 2].map(|()| (0.2 + 0.8 * random.unit()) * LONGEST / 2.0);
        let angle = |i: usize, part: f32| (i as f32 + part) / corners as f32 * std::f32::consts::TAU;
        let corner = |i| {
            let angle = angle(i, 0.8 * random.unit());
            Vector::new(axes[0] * angle.cos(), axes[1] * angle.sin())
        };
        if let Some(shape) = ConvexPolygon::from_convex_hull(&(0..corners).map(corner).collect::<Vec<_>>()) {
            return shape;
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<usize>());
    let polygons = numbers.next().transpose()?.unwrap_or(50_000);
    let frames = numbers.next().transpose()?.unwrap_or(100);
    let (mut world, mut finder) = (World::new(polygons), PairFinder::new());
    let (mut boxed, mut met, mut searching, mut bounding) = (0, 0, Duration::ZERO, Duration::ZERO);
    for frame in 0..frames {
        world.step();
        let start = Instant::now();
        world.bound();
        bounding += start.elapsed();
        let start = Instant::now();
        let boxes = Boxes::new(world.lo.each_ref(), world.hi.each_ref());
        let found = finder.only(&|a, b| world.touch(a, b)).find(boxes)?;
        searching += start.elapsed();
        met += found.pairs().len();
        if frame == 0 {
            let few = polygons.min(CHECKED) as u32;
            let mut told: Vec<_> = found.pairs().iter().copied().filter(|[_, b]| *b < few).collect();
            told.sort_unstable();
            let all = (0..few).flat_map(|a| (a + 1..few).map(move |b| [a, b]));
            let expected: Vec<_> = all.filter(|&[a, b]| world.touch(a, b)).collect();
            assert!(told == expected, "{} pairs of the first polygons, not {}", told.len(), expected.len());
            boxed = PairFinder::new().count(boxes)?;
        }
    }
    let ms = |time: Duration| time.as_secs_f64() * 1e3 / frames.max(1) as f64;
    println!(
        "{polygons} polygons, {frames} frames: {} pairs a frame touch, of some {boxed} whose boxes do; {:.2} ms a frame to search and \
         test, {:.2} to take their boxes",
        met / frames.max(1),
        ms(searching),
        ms(bounding),
    );
    Ok(())
}

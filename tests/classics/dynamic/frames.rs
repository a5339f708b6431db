//! Bodies that move and bounce for many frames.

use jostle_classics::{BroadPhase, DynamicQuadtree, Limits, LooseQuadtree};
use jostle_testkit::{Kind, Scene, oracle, scene};

use crate::dynamic::list::sorted;
use crate::dynamic::tree::Tree;

/// A simulation of bodies that bounce off the walls of their world.
struct Bounce {
    scene: Scene<2>,
    velocities: [Vec<f32>; 2],
    side: f32,
}

impl Bounce {
    /// Starts with speeds of up to a quarter of a radius a frame.
    fn new(n: usize) -> Self {
        let side = scene::world::<2>(Kind::Uniform, n);
        let directions = scene::scene::<2>(Kind::Uniform, n, 99).centers;
        let velocities = directions.map(|axis| axis.iter().map(|x| (x / side - 0.5) * 0.5).collect());
        Self { scene: scene::scene(Kind::Uniform, n, 1), velocities, side }
    }

    fn step(&mut self) {
        for (positions, velocities) in self.scene.centers.iter_mut().zip(&mut self.velocities) {
            for (x, v) in positions.iter_mut().zip(velocities) {
                *x += *v;
                if *x < 0.0 || *x > self.side {
                    *v = -*v;
                }
            }
        }
    }

    fn tree<T: Tree>(&self) -> T {
        let world = jostle_core::Aabb { lo: [0.0; 2], hi: [self.side; 2] };
        T::make(world, Limits::default()).expect("a world")
    }
}

/// Frames until memory has settled, a quarter of a minute at 60 a second; and frames in all: memory must stay as it is
/// for another half minute.
const SETTLED: usize = 900;
const END: usize = 2700;

/// Memory does not grow once a simulation has settled. Pairs are those of the oracle, in the order of a tree made on
/// the spot.
fn runs<T: Tree>() {
    let mut world = Bounce::new(2000);
    let mut tree = world.tree::<T>();
    let mut bytes = 0;
    for frame in 0..END {
        tree.update(world.scene.view()).expect("good bodies");
        let pairs = tree.pairs();
        if frame == SETTLED {
            bytes = tree.bytes();
        } else if frame > SETTLED {
            assert_eq!(tree.bytes(), bytes, "frame {frame}");
        }
        if frame % 150 == 0 {
            tree.validate().expect("sound");
            let mut fresh = world.tree::<T>();
            fresh.update(world.scene.view()).expect("good bodies");
            assert!(pairs == fresh.pairs(), "order of frame {frame}");
            assert!(sorted(pairs) == oracle::pairs(world.scene.view()), "pairs of frame {frame}");
        }
        world.step();
    }
}

#[test]
fn dynamic_quadtree_runs() {
    runs::<DynamicQuadtree>();
}

#[test]
fn loose_quadtree_runs() {
    runs::<LooseQuadtree>();
}

/// The authors of the dynamic quadtree report this memory.
#[test]
fn a_hundred_thousand_take_less_than_four_and_a_half_megabytes() {
    for (n, most) in [(20_000, 3_000_000), (100_000, 4_500_000)] {
        let mut world = Bounce::new(n);
        let mut tree = world.tree::<DynamicQuadtree>();
        for _ in 0..12 {
            tree.update(world.scene.view()).expect("good bodies");
            (0..4).for_each(|_| world.step());
        }
        tree.pairs();
        assert!(tree.bytes() < most, "{n}: {} bytes", tree.bytes());
    }
}

/// Bodies come and go between frames, and the tree is changed by hand as well.
fn takes_what_comes<T: Tree>() {
    let mut tree = Bounce::new(500).tree::<T>();
    for (frame, n) in [300, 500, 20, 0, 499, 500, 7].into_iter().enumerate() {
        let scene = scene::scene::<2>(Kind::Dense, n, frame as u64);
        tree.update(scene.view()).expect("good bodies");
        tree.validate().expect("sound");
        assert_eq!(sorted(tree.pairs()), oracle::pairs(scene.view()), "frame {frame}");
        if frame % 2 == 0 {
            let body = jostle_classics::Body { center: [1.0, 1.0], radius: 1.0 };
            tree.insert(n as u32 + 1, body).expect("a good body");
        }
    }
}

#[test]
fn dynamic_quadtree_takes_what_comes() {
    takes_what_comes::<DynamicQuadtree>();
}

#[test]
fn loose_quadtree_takes_what_comes() {
    takes_what_comes::<LooseQuadtree>();
}

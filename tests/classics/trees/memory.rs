use jostle_classics::{BroadPhase, CellTree, DenseCells, LinearOctree, LinearQuadtree};
use jostle_core::{Aabb, Spheres};
use jostle_testkit::{Kind, scene};

/// 20 bytes for each cell of an octree of 8 levels, which the write-up found too much.
const DENSE_OCTREE_BYTES: usize = 20 * 19_173_961;

fn cube<const D: usize>(side: f32) -> Aabb<D> {
    Aabb { lo: [0.0; D], hi: [side; D] }
}

#[test]
fn an_octree_of_eight_levels_takes_a_hundredth_of_its_array() {
    let n = 20_000;
    let mut tree = LinearOctree::new(cube(scene::world::<3>(Kind::Uniform, n)), 8).expect("a world");
    tree.update(scene::scene::<3>(Kind::Uniform, n, 1).view()).expect("good bodies");
    assert!(tree.bytes() * 100 < DENSE_OCTREE_BYTES, "{} bytes", tree.bytes());
    let dense = CellTree::<3, DenseCells<3>>::new(cube(1.0), 7).expect("a world");
    assert_eq!(dense.bytes(), 12 * 2_396_745);
}

/// Checks that nothing grows after the first seconds.
#[test]
fn memory_stays_as_bodies_move() {
    let n = 5_000;
    let mut quadtree = LinearQuadtree::for_bodies(cube(scene::world::<2>(Kind::PowerLaw, n)), n).expect("a world");
    let mut octree = LinearOctree::for_bodies(cube(scene::world::<3>(Kind::PowerLaw, n)), n).expect("a world");
    let mut bytes = Vec::new();
    for seed in 0..40 {
        quadtree.update(scene::scene::<2>(Kind::PowerLaw, n, seed).view()).expect("good bodies");
        quadtree.for_each_pair(&mut |_| {});
        octree.update(scene::scene::<3>(Kind::PowerLaw, n, seed).view()).expect("good bodies");
        octree.for_each_pair(&mut |_| {});
        bytes.push([quadtree.bytes(), octree.bytes()]);
    }
    assert!(bytes[20..].iter().all(|&later| later == bytes[20]), "{bytes:?}");
}

/// A small body that crosses a world of two million cells leaves no cell behind, whether pairs are searched for or not.
#[test]
fn cells_that_are_left_are_dropped() {
    for is_searched in [true, false] {
        let mut tree = LinearOctree::new(cube(1.0), 10).expect("a world");
        for step in 0..4_000_u16 {
            let x = f32::from(step) / 4_000.0;
            tree.update(Spheres::new(&[x], &[1.0 - x], &[x * x], 1e-5)).expect("a good body");
            if is_searched {
                tree.for_each_pair(&mut |_| {});
            }
        }
        assert!(tree.bytes() < 3_000, "{} bytes", tree.bytes());
    }
}

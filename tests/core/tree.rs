//! The tree alone: its invariants on every scene, its order on small ones, and how tight its leaves are.

use jostle_core::tree::LEAF;
use jostle_core::{Aabb, Circles, Isa, LinearTree, Spheres, Threads, ViewError, Workers};
use jostle_testkit::tree::{assert_holds, same_trees, validate};
use jostle_testkit::{Kind, Scene, scene, ugly};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use rayon::ThreadPool;

/// A tree for the calling thread, and one for each instruction set and pool. Scene after scene is built in all of them.
struct Trees<const D: usize> {
    serial: LinearTree<D>,
    others: Vec<(Isa, ThreadPool, LinearTree<D>)>,
}

impl<const D: usize> Trees<D> {
    fn new() -> Self {
        let other = |isa, threads| {
            let mut tree = LinearTree::new();
            tree.set_isa(isa);
            (isa, jostle_testkit::pool(threads), tree)
        };
        let others = Isa::available().zip([3, 2, 8]).chain([(Isa::detect(), 1)]);
        Self { serial: LinearTree::new(), others: others.map(|(isa, threads)| other(isa, threads)).collect() }
    }

    /// Builds all trees of `scene`, checks the invariants of one, and checks that the others are the same.
    fn check(&mut self, name: &str, scene: &Scene<D>) -> &LinearTree<D> {
        self.check_with_images(name, scene, scene.len())
    }

    /// As [`Trees::check`], where the bodies from one on are ghost images.
    fn check_with_images(&mut self, name: &str, scene: &Scene<D>, images_from: usize) -> &LinearTree<D> {
        let view = scene.view().with_images_from(images_from);
        self.serial.build_on(view, Workers::Serial).expect(name);
        assert_eq!(validate(&self.serial), Ok(()), "{name}, {D}D");
        assert_holds(&self.serial, scene, name);
        for (isa, pool, tree) in &mut self.others {
            pool.install(|| tree.build_on(view, Workers::Rayon)).expect(name);
            let threads = pool.current_num_threads();
            assert!(same_trees(tree, &self.serial), "{name}, {D}D: another tree by {isa} on {threads} threads");
        }
        &self.serial
    }
}

fn ugly_scenes<const D: usize>() {
    let mut trees = Trees::<D>::new();
    for (name, scene) in ugly::all().into_iter().chain(ugly::large()) {
        trees.check(name, &scene);
    }
}

#[test]
fn ugly_scenes_in_2d() {
    ugly_scenes::<2>();
}

#[test]
fn ugly_scenes_in_3d() {
    ugly_scenes::<3>();
}

fn ghost_images_stand_behind<const D: usize>() {
    let mut trees = Trees::<D>::new();
    for (name, scene) in ugly::all().into_iter().chain(ugly::large()).filter(|(_, scene)| scene.len() > 1) {
        let n = scene.len();
        for images_from in [1, n / 2, n - 1] {
            let tree = trees.check_with_images(name, &scene, images_from);
            let ids: Vec<u32> = tree.ids().collect();
            let is_image = |id: &u32| *id as usize >= images_from;
            assert!(ids.is_sorted_by_key(is_image), "{name}: images from {images_from} on");
            let holds_more = |leaf: usize| !ids[tree.leaf(leaf)].iter().all(is_image);
            assert_eq!(tree.leaves_before_images(), (0..tree.leaves()).filter(|&leaf| holds_more(leaf)).count());
        }
    }
}

#[test]
fn ghost_images_stand_behind_in_2d() {
    ghost_images_stand_behind::<2>();
}

#[test]
fn ghost_images_stand_behind_in_3d() {
    ghost_images_stand_behind::<3>();
}

fn scenes_of_every_kind<const D: usize>() {
    let mut trees = Trees::<D>::new();
    for kind in Kind::ALL {
        for n in [0, 1, 2, 15, 16, 17, 1_000, 16_383, 16_384, 16_385, 100_000] {
            let tree = trees.check(&format!("{kind}, n = {n}"), &scene::scene(kind, n, n as u64 + 2));
            let fullest = n.div_ceil(LEAF);
            assert!((fullest..=2 * fullest).contains(&tree.leaves()), "{kind}, n = {n}: {} leaves", tree.leaves());
        }
    }
}

#[test]
fn scenes_of_every_kind_in_2d() {
    scenes_of_every_kind::<2>();
}

#[test]
fn scenes_of_every_kind_in_3d() {
    scenes_of_every_kind::<3>();
}

fn built<const D: usize>(scene: &Scene<D>) -> LinearTree<D> {
    let mut tree = LinearTree::new();
    tree.build_on(scene.view(), Workers::Serial).expect("a scene within the contract");
    assert_eq!(validate(&tree), Ok(()));
    tree
}

#[test]
fn golden_order_of_a_lattice() {
    let x = core::array::from_fn::<f32, 16, _>(|id| (id % 4) as f32);
    let y = core::array::from_fn::<f32, 16, _>(|id| (id / 4) as f32);
    let mut tree = LinearTree::<2>::new();
    tree.build_on(Circles::new(&x, &y, 0.25), Workers::Serial).expect("a lattice");
    assert_eq!(tree.ids().collect::<Vec<_>>(), (0..16).collect::<Vec<_>>(), "one strip, from row to row");
    assert_eq!(tree.leaf_starts(), [0, 16]);
    assert_eq!(tree.bounds(), Aabb { lo: [0.0; 2], hi: [3.0; 2] });
    let leaf = tree.levels()[0].aabb(0);
    let whole = Aabb { lo: [-0.25; 2], hi: [3.25; 2] };
    assert!(leaf.holds(&whole) && leaf.widest() < whole.widest() + 1e-5, "{leaf:?}");

    let corner = |axis: u32| core::array::from_fn::<f32, 8, _>(|id| ((7 - id) >> axis & 1) as f32);
    let mut tree = LinearTree::<3>::new();
    tree.build_on(Spheres::new(&corner(0), &corner(1), &corner(2), 0.1), Workers::Serial).expect("a cube");
    assert_eq!(tree.ids().collect::<Vec<_>>(), [4, 5, 6, 7, 0, 1, 2, 3], "one strip, from layer to layer");
}

#[test]
fn golden_leaves() {
    let line = |xs: &[f32]| built::<2>(&xs.iter().map(|&x| ([x, 0.0], 0.1)).collect());
    let even: Vec<_> = (0..40).map(|i| i as f32).collect();
    assert_eq!(line(&even).leaf_starts(), [0, 16, 32, 40]);
    assert_eq!(line(&[]).leaf_starts(), [0]);
    assert_eq!(line(&[]).bounds(), Aabb::EMPTY);
    assert_eq!(line(&[5.0]).leaf_starts(), [0, 1]);
    assert_eq!(line(&[5.0; 16]).leaf_starts(), [0, 16]);
    assert_eq!(line(&[5.0; 35]).leaf_starts(), [0, 16, 32, 35]);
    assert!(line(&[5.0; 35]).ids().eq(0..35));
    // One body far from the other fifteen stands alone.
    let apart: Vec<_> = (0..16).map(|i| if i == 3 { 1e6 } else { i as f32 }).collect();
    assert_eq!(line(&apart).leaf_starts(), [0, 15, 16]);
    assert_eq!(line(&apart).ids().last(), Some(3));
}

/// So many bodies that segments are filled in turn, whatever the number of workers.
#[test]
fn more_than_caches_hold() {
    Trees::<2>::new().check("clustered", &scene::scene(Kind::Clustered, 300_000, 2));
    Trees::<3>::new().check("uniform", &scene::scene(Kind::Uniform, 300_000, 2));
}

/// A range of 16 ranks across the gap would make one leaf as wide as the world.
fn two_tight_clusters<const D: usize>() {
    for gap in [50.0, 1e4, 1e12] {
        let cluster = |start: f32| (0..8).map(move |i| ([start + (i % 4) as f32 * 0.5; D], 0.1));
        let tree = built::<D>(&cluster(0.0).chain(cluster(gap)).collect());
        assert_eq!(tree.leaf_starts(), [0, 8, 16], "gap of {gap}");
        let widest = tree.levels()[0].aabb(0).widest();
        assert!(widest < 2.0, "gap of {gap}: a leaf of {widest}");
    }
}

#[test]
fn two_tight_clusters_are_two_leaves() {
    two_tight_clusters::<2>();
    two_tight_clusters::<3>();
}

/// Returns the number of leaves narrower than `most`, and the sum of their widths on all axes.
fn leaf_widths<const D: usize>(tree: &LinearTree<D>, most: f32) -> (usize, f64) {
    let boxes = (0..tree.leaves()).map(|leaf| tree.levels()[0].aabb(leaf)).filter(|aabb| aabb.widest() < most);
    let widths: Vec<_> = boxes.map(|aabb| (0..D).map(|k| f64::from(aabb.hi[k] - aabb.lo[k])).sum::<f64>()).collect();
    (widths.len(), widths.iter().sum())
}

/// The grid over the whole box puts all bodies but the outlier in one cell; a finer grid takes over there.
fn an_outlier_costs_nothing<const D: usize>() {
    let side = scene::world::<D>(Kind::Uniform, 50_000);
    let mut crowd = scene::scene::<D>(Kind::Uniform, 50_000, 5);
    for column in crowd.centers.iter_mut().chain([&mut crowd.radii]) {
        column.iter_mut().for_each(|x| *x /= side);
    }
    let alone = built(&crowd);
    for far in [1e6, 1e18, -1e18] {
        let mut disturbed = crowd.clone();
        for column in &mut disturbed.centers {
            column.push(far);
        }
        disturbed.radii.push(0.1);
        let tree = built(&disturbed);
        let others = tree.ids().filter(|&id| id != 50_000);
        if far.abs() > 1e9 {
            assert!(others.eq(alone.ids()), "{D}D: another order beside an outlier at {far}");
        }
        let ((leaves, widths), (leaves_alone, widths_alone)) = (leaf_widths(&tree, 2.0), leaf_widths(&alone, 2.0));
        assert!(leaves.abs_diff(leaves_alone) <= leaves_alone / 20, "{D}D, {far}: {leaves} leaves, not {leaves_alone}");
        assert!(widths <= widths_alone * 1.05, "{D}D, {far}: leaves {widths} wide, not {widths_alone}");
        assert!(tree.leaves() <= leaves + 1, "{D}D, {far}: one leaf is the outlier's");
    }
}

#[test]
fn an_outlier_costs_nothing_in_2d() {
    an_outlier_costs_nothing::<2>();
}

#[test]
fn an_outlier_costs_nothing_in_3d() {
    an_outlier_costs_nothing::<3>();
}

/// Each nested cluster, far too small for the grid of the clusters around it, gets leaves that fit it.
fn clusters_within_clusters<const D: usize>() {
    const DEPTHS: i32 = 6;
    for bodies in [1_000, 20_000] {
        let nest = (0..DEPTHS).flat_map(|depth| {
            let width = 0.5_f32.powi(12 * depth);
            let flat = scene::scene::<D>(Kind::Uniform, bodies, depth as u64 + 1);
            let side = scene::world::<D>(Kind::Uniform, bodies);
            (0..bodies).map(move |id| (flat.view().center(id).map(|x| x / side * width), 0.0)).collect::<Vec<_>>()
        });
        let tree = built::<D>(&nest.collect());
        let widths: Vec<_> = (0..tree.leaves()).map(|leaf| tree.levels()[0].aabb(leaf).widest()).collect();
        for depth in 0..DEPTHS {
            let width = 0.5_f32.powi(12 * depth);
            // A leaf of sixteen bodies is as wide as sixteen bodies of its cluster, apart from a few leaves.
            let expected = width * (16.0 / bodies as f32).powf(1.0 / D as f32);
            let fitting = widths.iter().filter(|&&w| w < 4.0 * expected).count();
            let deeper = (DEPTHS - depth) as usize * bodies / LEAF;
            assert!(fitting >= deeper * 9 / 10, "{D}D, depth {depth}: {fitting} leaves fit, of {deeper}");
        }
    }
}

#[test]
fn clusters_within_clusters_in_2d() {
    clusters_within_clusters::<2>();
}

#[test]
fn clusters_within_clusters_in_3d() {
    clusters_within_clusters::<3>();
}

#[test]
fn no_two_builds_have_the_same_number() {
    let numbers_of_a_thread = || {
        let mut tree = LinearTree::<2>::new();
        let mut build = || {
            tree.build(Circles::new(&[1.0], &[2.0], 3.0), Threads::Serial).unwrap();
            tree.build_number()
        };
        (0..2_500).map(|_| build()).collect::<Vec<_>>()
    };
    let mut numbers = std::thread::scope(|scope| {
        let threads = [(); 3].map(|()| scope.spawn(numbers_of_a_thread));
        threads.map(|thread| thread.join().unwrap()).concat()
    });
    numbers.sort_unstable();
    assert!(numbers[0] > 0 && numbers.is_sorted_by(|a, b| a < b), "a number was given twice");
}

/// Returns the half perimeter, or the sum of the three sides, of the average leaf, over that of a square or cube that
/// holds sixteen points of a uniform scene.
fn excess_of_leaves<const D: usize>(n: usize) -> f64 {
    let scene = scene::scene::<D>(Kind::Uniform, n, 3);
    let points: Scene<D> = (0..n).map(|id| (scene.view().center(id), 0.0)).collect();
    let (leaves, widths) = leaf_widths(&built(&points), f32::INFINITY);
    let side =
        (f64::from(scene::world::<D>(Kind::Uniform, n)).powi(D as i32) * LEAF as f64 / n as f64).powf(1.0 / D as f64);
    widths / leaves as f64 / (side * D as f64)
}

#[test]
fn leaves_are_nearly_square() {
    for n in [1_000, 5_000, 30_000, 100_000] {
        let (plane, space) = (excess_of_leaves::<2>(n), excess_of_leaves::<3>(n));
        assert!(plane < 1.15 && space < 1.15, "{n} bodies: {plane} and {space} of a square");
    }
}

#[test]
fn leaves_of_a_plane_in_space_are_nearly_square() {
    for n in [1_000, 30_000] {
        let plane = scene::scene::<2>(Kind::Uniform, n, 3);
        let side = f64::from(scene::world::<2>(Kind::Uniform, n)) * (LEAF as f64 / n as f64).sqrt();
        for flat in 0..3 {
            let point = |id| {
                let [a, b] = plane.view().center(id);
                let mut point = [a, b, 7.0];
                point.swap(flat, 2);
                (point, 0.0)
            };
            let (leaves, widths) = leaf_widths(&built(&(0..n).map(point).collect::<Scene<3>>()), f32::INFINITY);
            let excess = widths / leaves as f64 / (2.0 * side);
            assert!(excess < 1.15, "{n} bodies in a plane across axis {flat}: {excess} of a square");
        }
    }
}

/// Draws points at any scale, in groups, some of them repeated many times.
fn bodies() -> impl Strategy<Value = Vec<([f32; 3], f32)>> {
    let coordinate = || prop_oneof![-1.0_f32..1.0, (-4_i32..4).prop_map(|x| x as f32 * 0.25), Just(-0.0)];
    let group = (
        [coordinate(), coordinate(), coordinate()],
        (0..100_i32, prop_oneof![3 => Just(0.0_f32), 1 => Just(1.0), 1 => Just(1e6)]),
        vec(([coordinate(), coordinate(), coordinate()], 0.0_f32..1.0), 1..40),
        1..30_usize,
    );
    let group = group.prop_map(|(middle, (scale, place), points, times)| {
        let scale = 0.5_f32.powi(scale);
        let body = |&(point, radius): &([f32; 3], f32)| {
            (core::array::from_fn(|k| place * middle[k] + scale * point[k]), scale * radius)
        };
        points.iter().map(body).collect::<Vec<_>>().repeat(times)
    });
    vec(group, 0..8).prop_map(|groups| groups.concat())
}

fn is_sound<const D: usize>(bodies: &[([f32; 3], f32)]) {
    let scene: Scene<D> = bodies.iter().map(|&(p, radius)| (core::array::from_fn(|axis| p[axis]), radius)).collect();
    let serial = built(&scene);
    let mut parallel = LinearTree::new();
    parallel.build_on(scene.view(), Workers::Rayon).expect("bodies within the contract");
    assert!(same_trees(&parallel, &serial), "{D}D: another tree in parallel");
    assert_holds(&serial, &scene, "any bodies");
}

/// Keeps failures beside this file, to be tried first from then on.
fn config() -> ProptestConfig {
    let beside = FileFailurePersistence::WithSource("regressions");
    ProptestConfig { cases: 300, failure_persistence: Some(Box::new(beside)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_bodies_make_a_sound_tree(bodies in bodies()) {
        is_sound::<2>(&bodies);
        is_sound::<3>(&bodies);
    }
}

#[test]
fn more_leaves_than_places_can_number_are_refused() {
    const MOST: usize = 1 << 10;
    let x: Vec<f32> = (0..20 * MOST).map(|id| id as f32).collect();
    let (all, few) = (Circles::new(&x, &x, 1.0), Circles::new(&x[..100], &x[..100], 1.0));
    let mut tree = LinearTree::new();
    tree.limit_leaves(MOST);
    for _ in 0..2 {
        tree.build(few, Threads::Serial).expect("few bodies");
        assert_eq!((tree.len(), tree.validate()), (100, Ok(())));
        let refused = tree.build(all, Threads::Serial).expect_err("too many leaves");
        assert!(matches!(refused, ViewError::TooSparse { bodies, leaves } if bodies == x.len() && leaves > MOST));
        assert_eq!((tree.len(), tree.validate(), tree.levels().len()), (0, Ok(()), 0));
    }
}

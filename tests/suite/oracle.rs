//! Every scene, ugly or not, against the double loop: the same set of pairs, and one sequence on any threads.

use core::mem::offset_of;

use bytemuck_derive::NoUninit;
use jostle::{Bodies, Circles, PairFinder, RadiusField, Spheres, Threads};
use jostle_testkit::pairs::{ascending, assert_same};
use jostle_testkit::{Kind, Scene, oracle, pool, scene, sweep, ugly};
use rayon::ThreadPool;

/// A finder and a pool for each number of threads. All are used for scene after scene.
struct Finders<const D: usize>(Vec<(ThreadPool, PairFinder<D>)>);

impl<const D: usize> Finders<D> {
    fn new() -> Self {
        Self([1, 2, 3, 8].map(|threads| (pool(threads), PairFinder::new())).into())
    }

    /// Checks that all finders find `expected` (ascending), in one and the same order.
    fn check(&mut self, name: &str, view: Bodies<'_, D>, expected: &[[u32; 2]]) {
        let mut serial = PairFinder::new();
        let found = serial.on(Threads::Serial).find(view).expect(name);
        assert_eq!(found.stats().pairs, expected.len() as u64, "{name}");
        assert_permutation(found.rank_to_id(), view.len(), name);
        let sequence = found.pairs();
        assert_same(name, &ascending(sequence), expected);
        for (pool, finder) in &mut self.0 {
            let threads = pool.current_num_threads();
            let found = finder.on(Threads::Pool(pool)).find(view).expect(name);
            assert!(found.pairs() == sequence, "{name}: another order on {threads} threads");
            pool.install(|| {
                let found = finder.find(view).expect(name);
                assert!(found.pairs() == sequence, "{name}: another order within a pool of {threads}");
            });
        }
    }

    fn check_scene(&mut self, name: &str, scene: &Scene<D>) {
        self.check(name, scene.view(), &oracle::pairs(scene.view()));
    }
}

fn assert_permutation(rank_to_id: impl Iterator<Item = u32>, n: usize, name: &str) {
    let mut ids: Vec<_> = rank_to_id.collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..n as u32), "{name}: rank_to_id is no permutation");
}

fn ugly_scenes<const D: usize>() {
    let mut finders = Finders::<D>::new();
    for (name, scene) in ugly::all() {
        finders.check_scene(&format!("{name}, {D}D"), &scene);
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

fn scenes_of_every_kind<const D: usize>() {
    let mut finders = Finders::<D>::new();
    for kind in Kind::ALL {
        for n in [700, 3_000, 20_000] {
            let scene = scene::scene(kind, n, n as u64 + 1);
            let expected = sweep::pairs(scene.view());
            finders.check(&format!("{kind}, n = {n}, {D}D"), scene.view(), &expected);
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

fn every_size_to_300<const D: usize>() {
    let mut finders = Finders::<D>::new();
    for n in 0..300 {
        for kind in [Kind::Uniform, Kind::Dense] {
            finders.check_scene(&format!("{kind}, n = {n}, {D}D"), &scene::scene(kind, n, 300 + n as u64));
        }
    }
}

#[test]
fn every_size_to_300_in_2d() {
    every_size_to_300::<2>();
}

#[test]
fn every_size_to_300_in_3d() {
    every_size_to_300::<3>();
}

#[test]
fn one_finder_serves_growing_and_shrinking_scenes() {
    let mut finders = Finders::<2>::new();
    for n in [0, 5_000, 10, 0, 1, 9_000, 4_096, 17] {
        for kind in [Kind::Dense, Kind::Uniform] {
            finders.check_scene(&format!("{kind}, n = {n}"), &scene::scene(kind, n, 1));
        }
    }
}

#[derive(Clone, Copy, NoUninit)]
#[repr(C)]
struct Agent {
    team: u32,
    velocity: [f32; 3],
    position: [f32; 3],
    radius: f32,
    health: i32,
}

fn agents<const D: usize>(scene: &Scene<D>) -> Vec<Agent> {
    let agent = |id: usize| {
        let mut position = [f32::NAN; 3];
        position[..D].copy_from_slice(&scene.view().center(id));
        Agent { team: !0, velocity: [f32::INFINITY; 3], position, radius: scene.radii[id], health: -1 }
    };
    (0..scene.len()).map(agent).collect()
}

fn structs_equal_slices<const D: usize>() {
    let mut finders = Finders::<D>::new();
    for (n, radius) in [(0, None), (1, None), (100, None), (5_000, None), (5_000, Some(0.75)), (5_000, Some(0.0))] {
        let scene = scene::scene::<D>(Kind::Dense, n, 9);
        let agents = agents(&scene);
        let centers = core::array::from_fn(|axis| offset_of!(Agent, position) + 4 * axis);
        let field = radius.map_or(RadiusField::At(offset_of!(Agent, radius)), RadiusField::All);
        let structs = Bodies::from_structs(&agents, centers, field).expect("a layout of f32 fields");
        let radii = radius.map_or_else(|| scene.radii.clone(), |radius| vec![radius; n]);
        let slices = Bodies::from_slices(scene.centers.each_ref().map(Vec::as_slice), &radii);
        let expected = oracle::pairs(slices);
        finders.check("structs", structs, &expected);
        finders.check("slices", slices, &expected);
        let (mut one, mut other) = (PairFinder::new(), PairFinder::new());
        let (one, other) = (one.find(structs).expect("structs"), other.find(slices).expect("slices"));
        assert!(one.pairs() == other.pairs(), "another order from structs, n = {n}, radius {radius:?}");
        assert!(one.rank_to_id().eq(other.rank_to_id()));
    }
}

/// Bodies in bytes without a struct, aligned or not, in rows or in columns, have the same pairs as in slices, in `f32`
/// and `f64`.
fn strided_equal_slices<const D: usize>() {
    macro_rules! check {
        ($scalar:ty, $n:expr) => {
            let scene = scene::scene::<D>(Kind::Dense, $n, 9);
            let columns = scene.centers.iter().chain([&scene.radii]);
            let columns: Vec<Vec<$scalar>> = columns.map(|it| it.iter().map(|&x| x.into()).collect()).collect();
            let slices =
                Bodies::<D, $scalar>::from_slices(core::array::from_fn(|axis| &columns[axis][..]), &columns[D]);
            let (mut one, mut other) = (PairFinder::new(), PairFinder::new());
            let expected = one.find(slices).expect("slices").pairs();
            let size = size_of::<$scalar>();
            // The first byte, the stride from body to body, and that from scalar to scalar. Bytes between scalars are
            // no numbers.
            let rows = [(0, 8 * size, size), (1, 4 * size, size), (3, 6 * size + 1, size + 1)];
            for (first, stride, apart) in rows.into_iter().chain([0, 1].map(|first| (first, size, $n * size))) {
                let mut bytes = vec![255_u8; first + $n * stride + D * apart];
                for (at, column) in columns.iter().enumerate() {
                    for (id, scalar) in column.iter().enumerate() {
                        bytes[first + id * stride + at * apart..][..size].copy_from_slice(&scalar.to_ne_bytes());
                    }
                }
                let at = |axis| first + axis * apart;
                let radius = RadiusField::At(at(D));
                let strided = Bodies::<D, $scalar>::from_strided(&bytes, $n, stride, core::array::from_fn(at), radius);
                let found = other.find(strided.expect("a layout")).expect("strided");
                assert!(found.pairs() == expected, "of {size} bytes, {stride} apart, from {first} on: other pairs");
            }
        };
    }
    check!(f32, 5_000);
    check!(f64, 5_000);
}

#[test]
fn structs_equal_slices_in_2d() {
    structs_equal_slices::<2>();
}

#[test]
fn structs_equal_slices_in_3d() {
    structs_equal_slices::<3>();
}

#[test]
fn strided_equal_slices_in_2d_and_3d() {
    strided_equal_slices::<2>();
    strided_equal_slices::<3>();
}

#[test]
fn circles_and_spheres_by_their_own_constructors() {
    let scene = scene::scene::<3>(Kind::Dense, 1_000, 1);
    let [x, y, z] = &scene.centers;
    let mut finder = PairFinder::new();
    let spheres = finder.find(Spheres::new(x, y, z, &scene.radii)).expect("spheres").pairs().to_vec();
    assert!(spheres == finder.find(scene.view()).expect("spheres").pairs());
    let circles = Circles::new(x, y, 0.5);
    let mut finder = PairFinder::new();
    let pairs = finder.find(circles).expect("circles").pairs();
    assert_same("circles", &ascending(pairs), &oracle::pairs(circles));
}

//! Every system against the double loop, on every scene, ugly or not, frame after frame.

mod cells;
mod dynamic_quadtree;
mod grid_hierarchy;
mod linear_octree;
mod linear_quadtree;
mod loose_quadtree;
mod loose_tight_grid;
mod point_grid;
mod systems;
mod uniform_grid;

use std::any::Any;
use std::sync::LazyLock;

use jostle_classics::BroadPhase;
use jostle_core::{Aabb, Bodies, ViewError};
use jostle_testkit::pairs::ascending;
use jostle_testkit::{Kind, Scene, oracle, scene, ugly};

/// A scene, and the pairs of the double loop, which every system is checked against.
struct Known<const D: usize> {
    name: String,
    scene: Scene<D>,
    pairs: Vec<[u32; 2]>,
}

impl<const D: usize> Known<D> {
    fn new(name: String, scene: Scene<D>) -> Self {
        let pairs = oracle::pairs(scene.view());
        Self { name, scene, pairs }
    }
}

/// All scenes: for each kind and size three frames of one world, with that world; then the ugly scenes.
struct AllKnown<const D: usize> {
    worlds: Vec<(Aabb<D>, [Known<D>; 3])>,
    ugly: Vec<Known<D>>,
}

impl<const D: usize> AllKnown<D> {
    fn new() -> Self {
        let frames = |(kind, n): (Kind, usize)| {
            let world = Aabb { lo: [0.0; D], hi: [scene::world::<D>(kind, n); D] };
            let frame = |name, n, seed| Known::new(name, scene::scene(kind, n, seed));
            let first = frame(format!("{kind}, n = {n}"), n, 1);
            let again = frame(format!("{kind}, n = {n}, again"), n, 2);
            (world, [first, again, frame(format!("{kind}, half of {n}"), n / 2, 3)])
        };
        let kinds = Kind::ALL.into_iter().flat_map(|kind| [1, 2, 50, 2_000].map(|n| (kind, n)));
        let ugly = ugly::all().into_iter().map(|(name, scene)| Known::new(name.to_owned(), scene));
        Self { worlds: kinds.map(frames).collect(), ugly: ugly.collect() }
    }

    /// Returns all scenes, made once for all tests.
    fn get() -> &'static Self {
        static PLANE: LazyLock<AllKnown<2>> = LazyLock::new(AllKnown::new);
        static SPACE: LazyLock<AllKnown<3>> = LazyLock::new(AllKnown::new);
        let all: &dyn Any = if D == 2 { &*PLANE } else { &*SPACE };
        all.downcast_ref().expect("bodies have two axes or three")
    }
}

type Make<'a, const D: usize> = &'a dyn Fn(Aabb<D>, &Scene<D>) -> Box<dyn BroadPhase<D>>;

/// Checks one system on every scene. The system is made anew for the world that `scene::world` gives, or, for ugly
/// scenes, for the unit square or cube, outside which most bodies lie; it searches the other frames of a world without
/// being made anew.
fn check<const D: usize, S: BroadPhase<D> + 'static>(make: impl Fn(Aabb<D>, &Scene<D>) -> S) {
    let make: Make<'_, D> = &|world, scene| Box::new(make(world, scene));
    let all = AllKnown::<D>::get();
    for (world, frames) in &all.worlds {
        let mut system = make(*world, &frames[0].scene);
        frames.iter().for_each(|frame| check_frame(&mut system, frame));
    }
    let unit = Aabb { lo: [0.0; D], hi: [1.0; D] };
    for known in &all.ugly {
        check_frame(&mut make(unit, &known.scene), known);
    }
    refuses_bad_input(make);
}

fn pairs<const D: usize>(system: &mut dyn BroadPhase<D>) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    system.for_each_pair(&mut |pair| pairs.push(pair));
    pairs
}

fn check_frame<const D: usize>(system: &mut dyn BroadPhase<D>, Known { name, scene, pairs: expected }: &Known<D>) {
    system.update(scene.view()).expect(name);
    let found = pairs(system);
    assert!(pairs(system) == found, "{name}: another order the second time");
    let sorted = ascending(&found);
    let differ = sorted.iter().zip(expected).find(|(found, expected)| found != expected);
    assert!(sorted == *expected, "{name}: {} pairs, not {}; {differ:?}", sorted.len(), expected.len());
}

/// Checks that bad input is refused with the engine's error, and that the last bodies stay.
fn refuses_bad_input<const D: usize>(make: Make<'_, D>) {
    let good = scene::scene::<D>(Kind::Dense, 100, 4);
    let mut bad = good.clone();
    bad.centers[D - 1][7] = f32::NAN;
    bad.radii[9] = -1.0;
    let mut system = make(Aabb { lo: [0.0; D], hi: [scene::world::<D>(Kind::Dense, 100); D] }, &good);
    system.update(good.view()).expect("good bodies");
    let before = pairs(&mut system);
    assert_eq!(system.update(bad.view()), oracle::check(bad.view()));
    let columns = good.centers.each_ref().map(Vec::as_slice);
    let short = Bodies::from_slices(columns, &good.radii[1..]);
    assert!(matches!(system.update(short), Err(ViewError::Lengths { .. })));
    assert!(!before.is_empty() && pairs(&mut system) == before);
}

//! Grids that move only bodies that have moved, over many frames.

use jostle_classics::{Body, BroadPhase, GridHierarchy, LooseTightGrid};
use jostle_core::Circles;
use jostle_testkit::scene::{Kind, scene, world};
use jostle_testkit::{Scene, oracle};
use proptest::prelude::*;

use crate::grids::{WORLD, bodies, pairs, sorted};

fn loose_tight() -> LooseTightGrid {
    LooseTightGrid::new(WORLD, 4.0, 6.0).expect("a sound world")
}

fn hierarchy() -> GridHierarchy {
    GridHierarchy::new(WORLD, 0.25).expect("a sound world")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Whatever came before, a frame has the pairs of a grid that has seen no other frame, in the same order.
    #[test]
    fn history_leaves_no_trace(frames in prop::collection::vec(prop::collection::vec(bodies(), 0..60), 1..8)) {
        let (mut loose, mut levels) = (loose_tight(), hierarchy());
        for frame in &frames {
            let scene = crate::grids::scene(frame);
            loose.update(scene.view()).expect("sound bodies");
            levels.update(scene.view()).expect("sound bodies");
            prop_assert_eq!(loose.validate(), Ok(()));
            prop_assert_eq!(levels.validate(), Ok(()));
            prop_assert_eq!(pairs(&mut loose), afresh(loose_tight(), &scene));
            prop_assert_eq!(pairs(&mut levels), afresh(hierarchy(), &scene));
            prop_assert_eq!(sorted(pairs(&mut levels)), oracle::pairs(scene.view()));
        }
    }

    /// Elements inserted one by one make way for those of a frame, and the other way round.
    #[test]
    fn frames_and_single_steps_mix(singles in prop::collection::vec(bodies(), 1..40), n in 0_usize..40) {
        let mut grid = loose_tight();
        singles.iter().for_each(|&body| { grid.insert(body).expect("a sound body"); });
        grid.remove(singles.len() as u32 / 2);
        let frame: Vec<Body<2>> = singles.iter().rev().copied().cycle().take(n).collect();
        grid.update(crate::grids::scene(&frame).view()).expect("sound bodies");
        prop_assert_eq!(grid.validate(), Ok(()));
        prop_assert_eq!(grid.len(), n);
        prop_assert_eq!(grid.insert(singles[0]), Ok(n as u32));
        prop_assert_eq!(grid.validate(), Ok(()));
    }
}

fn afresh(mut system: impl BroadPhase<2>, scene: &Scene<2>) -> Vec<[u32; 2]> {
    system.update(scene.view()).expect("sound bodies");
    pairs(&mut system)
}

/// Moves bodies by up to `step` on each axis, back and forth.
fn moved(scene: &Scene<2>, frame: usize, step: f32) -> Scene<2> {
    let shift = |id: usize, axis: usize| ((id * 7 + axis * 3 + frame * 5) % 11) as f32 / 10.0 * step;
    let center = |id: usize| [0, 1].map(|axis| scene.centers[axis][id] + shift(id, axis));
    (0..scene.len()).map(|id| (center(id), scene.radii[id])).collect()
}

/// Checks that the bytes held do not grow once bodies have moved about for a while.
fn settles(mut system: impl BroadPhase<2>, scene: &Scene<2>) {
    let mut frame = |i| {
        system.update(moved(scene, i, 1.0).view()).expect("sound bodies");
        system.for_each_pair(&mut |_| ());
        system.bytes()
    };
    let settled = (0..11).map(&mut frame).max();
    assert_eq!((11..33).map(frame).max(), settled);
}

#[test]
fn memory_settles() {
    let (kind, n) = (Kind::Uniform, 5_000);
    let (bodies, hi) = (scene::<2>(kind, n, 1), [world::<2>(kind, n); 2]);
    let world = jostle_core::Aabb { lo: [0.0; 2], hi };
    settles(LooseTightGrid::for_bodies(world, n, 0.75).expect("a sound world"), &bodies);
    settles(GridHierarchy::for_bodies(world, n, 0.75).expect("a sound world"), &bodies);
}

/// Rows exist where there are bodies, and nowhere else.
#[test]
fn empty_rows_are_given_back() {
    let mut grid = hierarchy();
    let xs: Vec<f32> = (0..100).map(|i| i as f32 * 0.6).collect();
    let row = |y: f32| vec![y; 100];
    grid.update(Circles::new(&xs, &row(1.0), 0.01)).expect("sound bodies");
    let (rows, bytes) = (grid.rows(), grid.bytes());
    assert!((8..100).contains(&rows), "{rows} rows");
    for y in [17.0, 33.0, 47.0] {
        grid.update(Circles::new(&xs, &row(y), 0.01)).expect("sound bodies");
        assert_eq!(grid.validate(), Ok(()));
        // Bodies that move make their new rows before all of the old rows are empty.
        assert!(grid.rows() == rows && grid.bytes() <= bytes * 4, "{} rows", grid.rows());
    }
    grid.update(Circles::new(&[], &[], 0.01)).expect("no bodies");
    assert_eq!(grid.rows(), 0);
}

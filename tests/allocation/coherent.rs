//! Once a finder of coherent frames has rebuilt its list a few times, its frames allocate nothing, rebuilds included.

use core::array::from_fn;

use jostle::{CoherentFinder, Input, NeighborLists, Rows, Threads};
use jostle_testkit::{Kind, Scene, scene};

use crate::counting::allocations;

/// Bodies move to and fro in so many frames.
const PERIOD: usize = 63;

/// Moves each body of a scene to and fro, by up to `reach`, and in one frame by at most a tenth of `reach`.
fn moved<const D: usize>(scene: &Scene<D>, now: &mut Scene<D>, frame: usize, reach: f32) {
    let along: [f32; 16] = from_fn(|id| ((frame + id) as f32 * 0.1).sin() * reach);
    for (axis, column) in scene.centers.iter().enumerate() {
        let slots = now.centers[axis].iter_mut().zip(column).enumerate();
        slots.for_each(|(id, (slot, x))| *slot = x + along[(id + axis * 5) % 16]);
    }
}

/// All threads search so many bodies. With fewer, a finder may try all threads only later, and take the memory for it
/// then.
const BODIES: usize = 30_000;

/// Checks pairs in open space, pairs in repeating space, and rows.
pub(crate) fn later_frames_allocate_nothing<const D: usize>(threads: Threads<'_>) {
    let scene = scene::scene::<D>(Kind::Uniform, BODIES, 1);
    let reach = 0.15 * scene.radii[0];
    let mut now = scene.clone();
    for kind in 0..3 {
        let (mut finder, mut lists) = (CoherentFinder::new(), NeighborLists::with_distances());
        for frame in 0..2 * PERIOD {
            moved(&scene, &mut now, frame, reach);
            let before = allocations();
            let finder_now = finder.on(threads);
            match kind {
                0 => finder_now.find(now.view()).map(|_| ()),
                1 => finder_now.find(Input::within(now.view()).periodic([Some([0.0, 1e4]); D])).map(|_| ()),
                _ => finder_now.neighbors(now.view(), Rows::Full, &mut lists).map(|_| ()),
            }
            .expect("a scene within the contract");
            let allocations = allocations() - before;
            assert!(
                frame < PERIOD || allocations == 0,
                "{allocations} in frame {frame} of kind {kind}, {D}D, {threads:?}"
            );
        }
        assert!((4..PERIOD as u64).contains(&finder.rebuilds()), "{} rebuilds", finder.rebuilds());
    }
}

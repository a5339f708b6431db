//! The rivals. Each has a file of its own behind one small trait, and takes its fastest documented way to exact pairs.

mod brute;
mod engine;
pub(crate) mod grid;
pub(crate) mod hits;
mod levels;
#[cfg(feature = "libraries")]
pub(crate) mod libraries;
#[cfg(not(feature = "libraries"))]
#[path = "rivals/no_libraries.rs"]
mod libraries;
mod outward;
mod records;
mod sweep;

use jostle_testkit::{Kind, Scene};
pub(crate) use libraries::{updated_in_2d, updated_in_3d};

/// A way to find all overlapping pairs.
///
/// For a rival that searches from scratch, everything that must be done anew when bodies have moved belongs to
/// [`Rival::find`], and so is timed. Memory is kept from search to search where the library allows it.
pub(crate) trait Rival<const D: usize>: Send {
    /// Its name in tables.
    fn name(&self) -> &'static str;

    /// The package whose version stands beside the name.
    fn package(&self) -> &'static str {
        ""
    }

    /// Whether a search of such a scene would take minutes.
    fn hopeless(&self, kind: Kind, n: usize) -> bool {
        let _ = (kind, n);
        false
    }

    /// Makes the rival ready for a scene. Not timed.
    fn prepare(&mut self, scene: &Scene<D>) {
        let _ = scene;
    }

    /// Whether the rival searches the bodies that it was prepared for, and so cannot be given other bodies in each
    /// frame.
    fn keeps_bodies(&self) -> bool {
        false
    }

    /// Every overlapping pair once, the lesser id first, in any order.
    fn find(&mut self, scene: &Scene<D>) -> &[[u32; 2]];
}

/// Returns all rivals in the plane, Jostle first.
pub(crate) fn in_2d() -> Vec<Box<dyn Rival<2>>> {
    by_hand().into_iter().chain(libraries::in_2d()).collect()
}

/// Returns all rivals in space, Jostle first.
pub(crate) fn in_3d() -> Vec<Box<dyn Rival<3>>> {
    by_hand().into_iter().chain(libraries::in_3d()).collect()
}

/// Returns Jostle itself as a rival.
pub(crate) fn ourselves<const D: usize>() -> Box<dyn Rival<D>> {
    Box::new(engine::Engine::<D>::default())
}

/// Jostle, and what is written by hand here.
fn by_hand<const D: usize>() -> Vec<Box<dyn Rival<D>>> {
    vec![
        ourselves(),
        Box::new(brute::Brute::default()),
        Box::new(sweep::Sweep::<D>::default()),
        Box::new(grid::UniformGrid::<D>::default()),
        Box::new(levels::Levels::<D>::default()),
        Box::new(records::RecordsByHand::<D>::default()),
        Box::new(records::RecordLevels::<D>::default()),
    ]
}

/// The exact predicate: `dx*dx + dy*dy (+ dz*dz) <= s*s`, in `f32`, left to right.
#[inline(always)]
fn touches<const D: usize>(p: [f32; D], p_radius: f32, q: [f32; D], q_radius: f32) -> bool {
    let mut distance2 = 0.0;
    for axis in 0..D {
        let d = q[axis] - p[axis];
        distance2 = if axis == 0 { d * d } else { distance2 + d * d };
    }
    let s = p_radius + q_radius;
    distance2 <= s * s
}

/// The left side of the predicate, from the first body to the second.
pub(crate) fn squared_distance<const D: usize>(scene: &Scene<D>, a: u32, b: u32) -> f32 {
    let [p, q] = [a, b].map(|id| center(scene, id as usize));
    let square = |axis: usize| (q[axis] - p[axis]) * (q[axis] - p[axis]);
    (1..D).fold(square(0), |sum, axis| sum + square(axis))
}

/// The centre of a body.
#[inline(always)]
fn center<const D: usize>(scene: &Scene<D>, id: usize) -> [f32; D] {
    scene.centers.each_ref().map(|x| x[id])
}

#[cfg(test)]
mod tests {
    use super::{Rival, in_2d, in_3d, updated_in_2d, updated_in_3d};
    use crate::drift::{Ring, STEP};
    use jostle_testkit::{Kind, Scene, oracle, scene, ugly};
    use rayon::ThreadPoolBuilder;

    fn check<const D: usize>(rivals: &mut [Box<dyn Rival<D>>], name: &str, scene: &Scene<D>, threads: usize) {
        let expected = oracle::pairs(scene.view());
        for rival in rivals {
            rival.prepare(scene);
            for again in 0..2 {
                let mut found = rival.find(scene).to_vec();
                found.sort_unstable();
                let rival = rival.name();
                assert!(
                    found == expected,
                    "{rival} on {threads} threads, {name}, run {again}: {} pairs, not {}",
                    found.len(),
                    expected.len()
                );
            }
        }
    }

    fn all_find_all<const D: usize>(rivals: impl Fn() -> Vec<Box<dyn Rival<D>>> + Sync) {
        for threads in [1, 3] {
            ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
                let mut rivals = rivals();
                for kind in Kind::ALL {
                    let scene = scene::scene::<D>(kind, 2_000, 5);
                    check(&mut rivals, &kind.to_string(), &scene, threads);
                }
                let exact = ["lattice that touches exactly", "lattice of spacing 0.1", "couples built to touch"];
                for (name, scene) in ugly::all::<D>().into_iter().filter(|(name, _)| exact.contains(name)) {
                    check(&mut rivals, name, &scene, threads);
                }
            });
        }
    }

    fn those_by_hand_stand_all<const D: usize>(rivals: Vec<Box<dyn Rival<D>>>) {
        let mut rivals: Vec<_> = rivals.into_iter().filter(|rival| rival.package().is_empty()).collect();
        for (name, scene) in ugly::all::<D>() {
            check(&mut rivals, name, &scene, 1);
        }
    }

    fn those_updated_follow<const D: usize>(rivals: impl Fn() -> Vec<Box<dyn Rival<D>>> + Sync) {
        for (threads, kind) in [1, 3].into_iter().flat_map(|threads| Kind::ALL.map(|kind| (threads, kind))) {
            let scene = scene::scene::<D>(kind, 1_000, 6);
            let ring = Ring::coherent(&scene, 4, STEP, 7, |scene| oracle::pairs(scene.view()));
            ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
                for mut rival in rivals() {
                    for frame in (0..9).map(|step| ring.at(step)) {
                        let mut found = rival.find(&frame.scene).to_vec();
                        found.sort_unstable();
                        assert!(found == frame.expected, "{} on {threads} threads, {kind}", rival.name());
                    }
                }
            });
        }
    }

    #[test]
    fn those_updated_follow_bodies_that_drift() {
        those_updated_follow(updated_in_2d);
        those_updated_follow(updated_in_3d);
    }

    #[test]
    fn those_by_hand_stand_all_ugly_scenes() {
        ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(|| {
            those_by_hand_stand_all(in_2d());
            those_by_hand_stand_all(in_3d());
        });
    }

    #[test]
    fn all_find_all_in_2d() {
        all_find_all(in_2d);
    }

    #[test]
    fn all_find_all_in_3d() {
        all_find_all(in_3d);
    }
}

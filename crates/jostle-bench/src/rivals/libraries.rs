//! Rivals that are libraries, each by its fastest documented way to exact pairs.

pub(crate) mod box2d;
mod broadphase;
mod broccoli;
mod geo_index;
mod kiddo;
pub(crate) mod obvhs;
mod parry;
mod rstar;
mod zelll;

use jostle_testkit::Scene;

use super::outward::interval;
use super::{Rival, touches};

/// Returns those in the plane.
pub(crate) fn in_2d() -> Vec<Box<dyn Rival<2>>> {
    let mut rivals = in_any();
    rivals.extend([
        Box::new(broccoli::Broccoli::default()) as Box<dyn Rival<2>>,
        Box::new(box2d::Box2d::default()),
        Box::new(parry::Parry2::default()),
        Box::new(geo_index::GeoIndex::default()),
        Box::new(broadphase::Broadphase2::default()),
    ]);
    rivals
}

/// Returns those in space.
pub(crate) fn in_3d() -> Vec<Box<dyn Rival<3>>> {
    let mut rivals = in_any();
    rivals.extend([
        Box::new(parry::Parry3::default()) as Box<dyn Rival<3>>,
        Box::new(broadphase::Broadphase3::default()),
    ]);
    rivals
}

/// Those in the plane that keep what they built from frame to frame, and fit it to bodies that have moved.
pub(crate) fn updated_in_2d() -> Vec<Box<dyn Rival<2>>> {
    vec![
        Box::new(box2d::Box2dUpdated::default()),
        Box::new(parry::Parry2Updated::default()),
        Box::new(obvhs::ObvhsUpdated::<2>::default()),
    ]
}

/// Those in space that keep what they built from frame to frame, and fit it to bodies that have moved.
pub(crate) fn updated_in_3d() -> Vec<Box<dyn Rival<3>>> {
    vec![Box::new(parry::Parry3Updated::default()), Box::new(obvhs::ObvhsUpdated::<3>::default())]
}

fn in_any<const D: usize>() -> Vec<Box<dyn Rival<D>>> {
    vec![
        Box::new(rstar::RStar::default()),
        Box::new(kiddo::Kiddo::<D>::default()),
        Box::new(zelll::Zelll::<D>::default()),
        Box::new(obvhs::Obvhs::<D>::default()),
    ]
}

/// Returns whether two bodies of a scene overlap: the exact predicate, for pairs that a library's boxes let through.
#[inline(always)]
fn overlap<const D: usize>(scene: &Scene<D>, a: u32, b: u32) -> bool {
    let (a, b) = (a as usize, b as usize);
    touches(
        scene.centers.each_ref().map(|x| x[a]),
        scene.radii[a],
        scene.centers.each_ref().map(|x| x[b]),
        scene.radii[b],
    )
}

/// The least and greatest corner of the box of a body.
#[inline(always)]
pub(crate) fn corners<const D: usize>(center: [f32; D], radius: f32) -> ([f32; D], [f32; D]) {
    let intervals = center.map(|x| interval(x, radius));
    (intervals.map(|interval| interval.0), intervals.map(|interval| interval.1))
}

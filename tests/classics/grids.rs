//! What the grids do besides finding all pairs, and the bitmaps.

mod circle_coverage;
mod frames;
mod loose_tight_model;
mod point_grid_parts;
mod rectangle_coverage;
mod refusals;
mod uniform_query;

use jostle_classics::{Body, BroadPhase};
use jostle_core::Aabb;
use jostle_testkit::Scene;
use proptest::prelude::*;

/// A world in which about half of the bodies of [`bodies`] lie.
const WORLD: Aabb<2> = Aabb { lo: [0.0; 2], hi: [64.0, 48.0] };

/// Draws bodies in and about the world: some on a lattice, so that distances are equal; a few giants; a few far away.
fn bodies() -> impl Strategy<Value = Body<2>> {
    let near = (-20.0_f32..90.0, -20.0_f32..70.0, 0.0_f32..3.0);
    let lattice = (-4_i8..20, -4_i8..16, 0_u8..3);
    let lattice = lattice.prop_map(|(x, y, r)| (f32::from(x) * 4.0, f32::from(y) * 4.0, f32::from(r)));
    let giant = (-20.0_f32..90.0, -20.0_f32..70.0, 10.0_f32..200.0);
    let far = prop_oneof![Just((1e18, -1e18, 0.5)), Just((-1e18, 5.0, 1e17)), Just((0.0, 0.0, 1e-40))];
    let any = prop_oneof![10 => near, 5 => lattice, 1 => giant, 1 => far];
    any.prop_map(|(x, y, radius)| Body { center: [x, y], radius })
}

/// Draws rectangles in and about the world, small and large, and some that hold nothing.
fn rectangles() -> impl Strategy<Value = Aabb<2>> {
    let side = || prop_oneof![Just(0.0_f32), 0.0_f32..20.0, 0.0_f32..200.0, Just(-1.0)];
    let rectangle = |(x, y, width, height)| Aabb { lo: [x, y], hi: [x + width, y + height] };
    (-30.0_f32..90.0, -30.0_f32..70.0, side(), side()).prop_map(rectangle)
}

fn scene(bodies: &[Body<2>]) -> Scene<2> {
    bodies.iter().map(|body| (body.center, body.radius)).collect()
}

/// Returns the ids of the bodies whose box meets a rectangle; none if the rectangle is empty.
fn inside(bodies: impl IntoIterator<Item = (u32, Body<2>)>, rectangle: &Aabb<2>) -> Vec<u32> {
    let meeting =
        bodies.into_iter().filter(|(_, body)| body.aabb().overlaps(rectangle) && rectangle.overlaps(rectangle));
    meeting.map(|(id, _)| id).collect()
}

fn pairs(system: &mut impl BroadPhase<2>) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    system.for_each_pair(&mut |pair| pairs.push(pair));
    pairs
}

fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort_unstable();
    items
}

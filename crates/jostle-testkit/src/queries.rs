//! The definition of every answer to a query: plain loops over all bodies.

use jostle_core::Aabb;
use jostle_core::axes::{Axes, from_axes};
use jostle_pairs::{Circle, Ray, Reached};

use crate::Scene;
use crate::axes::compiled_here;
use crate::oracle::overlaps;

/// Returns the ids of the bodies that a point is in, ascending.
///
/// # Panics
/// When `D` is neither 2 nor 3.
#[must_use]
pub fn point<const D: usize>(scene: &Scene<D>, point: [f32; D]) -> Vec<u32> {
    circle(scene, &Circle::new(point, 0.0))
}

/// Returns the `count` bodies whose centres lie nearest to a point and within a distance of it: by distance, then id.
///
/// # Panics
/// When `D` is neither 2 nor 3.
#[must_use]
pub fn nearest<const D: usize>(scene: &Scene<D>, point: [f32; D], count: usize, within: f32) -> Vec<Reached> {
    first_within(scene, &point, &within, &count)
}

compiled_here! {
    /// Returns the ids of the bodies that overlap a circle or sphere, ascending.
    ///
    /// # Panics
    /// When `D` is neither 2 nor 3.
    #[must_use]
    pub fn circle<const D: usize>(scene: &Scene<D>, asked: &Circle<D>) -> Vec<u32> {
        accepted(scene, |center, radius| overlaps(asked.center, asked.radius, center, radius))
    }

    /// Returns the ids of the bodies that touch a box, ascending.
    ///
    /// # Panics
    /// When `D` is neither 2 nor 3.
    #[must_use]
    pub fn aabb<const D: usize>(scene: &Scene<D>, asked: &Aabb<D>) -> Vec<u32> {
        accepted(scene, |center, radius| {
            let mut distance2 = 0.0;
            for axis in 0..D {
                let d = (asked.lo[axis] - center[axis]).max(0.0).max(center[axis] - asked.hi[axis]);
                distance2 += d * d;
            }
            distance2 <= radius * radius
        })
    }

    /// Returns the bodies that a ray hits, by distance, then id.
    ///
    /// # Panics
    /// When `D` is neither 2 nor 3.
    #[must_use]
    pub fn ray<const D: usize>(scene: &Scene<D>, asked: &Ray<D>) -> Vec<Reached> {
        let hit = |(id, (center, radius))| Some(Reached { id, distance: distance(asked, center, radius)? });
        let mut hits: Vec<_> = bodies(scene).filter_map(hit).collect();
        sort(&mut hits);
        hits
    }

    /// Returns the first of the bodies whose centres lie within a distance of a point: by distance, then id.
    fn first_within<const D: usize>(scene: &Scene<D>, point: &[f32; D], within: &f32, most: &usize) -> Vec<Reached> {
        let distance2 = |center: [f32; D]| {
            (0..D).map(|axis| center[axis] - point[axis]).map(|d| d * d).reduce(|sum, d2| sum + d2).unwrap_or(0.0)
        };
        // Squared distances are sorted: they have the same order, but where roots are equal.
        let mut nearest: Vec<_> =
            bodies(scene).map(|(id, (center, _))| Reached { id, distance: distance2(center) }).collect();
        nearest.retain(|body| body.distance <= within * within);
        if *most < nearest.len() {
            nearest.select_nth_unstable_by(*most, order);
            nearest.truncate(*most);
        }
        sort(&mut nearest);
        nearest.iter_mut().for_each(|body| body.distance = body.distance.sqrt());
        nearest
    }
}

/// Orders by distance, then id.
fn order(a: &Reached, b: &Reached) -> core::cmp::Ordering {
    a.distance.total_cmp(&b.distance).then(a.id.cmp(&b.id))
}

fn sort(reached: &mut [Reached]) {
    reached.sort_unstable_by(order);
}

fn bodies<const D: usize>(scene: &Scene<D>) -> impl Iterator<Item = (u32, ([f32; D], f32))> {
    let body = |id: usize| (from_axes(|axis| scene.centers[axis][id]), scene.radii[id]);
    (0..scene.len()).map(move |id| (id as u32, body(id)))
}

/// Returns the ids of the bodies whose centre and radius a predicate accepts.
fn accepted<const D: usize>(scene: &Scene<D>, accepts: impl Fn([f32; D], f32) -> bool) -> Vec<u32> {
    bodies(scene).filter(|&(_, (center, radius))| accepts(center, radius)).map(|(id, _)| id).collect()
}

/// Returns the product of two vectors, summed from left to right.
fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    (1..D).fold(a[0] * b[0], |sum, axis| sum + a[axis] * b[axis])
}

fn distance<const D: usize>(asked: &Ray<D>, center: [f32; D], radius: f32) -> Option<f32> {
    let (origin, direction) = (asked.origin.axes(f64::from), asked.direction.axes(f64::from));
    let (center, radius) = (center.axes(f64::from), f64::from(radius));
    let m: [f64; D] = from_axes(|axis| center[axis] - origin[axis]);
    let along = dot(m, direction) / dot(direction, direction);
    let w: [f64; D] = from_axes(|axis| m[axis] - along * direction[axis]);
    let distance = if dot(m, m) <= radius * radius {
        0.0
    } else if along >= 0.0 && dot(w, w) <= radius * radius {
        let entry = along * dot(direction, direction).sqrt() - (radius * radius - dot(w, w)).sqrt();
        entry.max(0.0) as f32
    } else {
        return None;
    };
    (distance <= asked.reach).then_some(distance)
}

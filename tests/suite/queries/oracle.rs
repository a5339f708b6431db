//! The definition of every answer: plain loops over all bodies.

use jostle::{Aabb, Bodies, Circle, Ray, Reached};
use jostle_testkit::oracle::overlaps;

/// The bodies that a predicate on centre and radius accepts.
fn accepted<const D: usize>(view: Bodies<'_, D>, accepts: impl Fn([f32; D], f32) -> bool) -> Vec<u32> {
    (0..view.len()).filter(|&id| accepts(view.center(id), view.radius(id))).map(|id| id as u32).collect()
}

pub(crate) fn circle<const D: usize>(view: Bodies<'_, D>, asked: Circle<D>) -> Vec<u32> {
    accepted(view, |center, radius| overlaps(asked.center, asked.radius, center, radius))
}

pub(crate) fn point<const D: usize>(view: Bodies<'_, D>, point: [f32; D]) -> Vec<u32> {
    circle(view, Circle::new(point, 0.0))
}

pub(crate) fn aabb<const D: usize>(view: Bodies<'_, D>, asked: Aabb<D>) -> Vec<u32> {
    accepted(view, |center, radius| {
        let mut distance2 = 0.0;
        for axis in 0..D {
            let d = (asked.lo[axis] - center[axis]).max(0.0).max(center[axis] - asked.hi[axis]);
            distance2 += d * d;
        }
        distance2 <= radius * radius
    })
}

/// The product of two vectors, from left to right.
fn dot<const D: usize>(a: [f64; D], b: [f64; D]) -> f64 {
    (1..D).fold(a[0] * b[0], |sum, axis| sum + a[axis] * b[axis])
}

pub(crate) fn distance<const D: usize>(asked: Ray<D>, center: [f32; D], radius: f32) -> Option<f32> {
    let (origin, direction) = (asked.origin.map(f64::from), asked.direction.map(f64::from));
    let (center, radius) = (center.map(f64::from), f64::from(radius));
    let m: [f64; D] = core::array::from_fn(|axis| center[axis] - origin[axis]);
    let along = dot(m, direction) / dot(direction, direction);
    let w: [f64; D] = core::array::from_fn(|axis| m[axis] - along * direction[axis]);
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

pub(crate) fn ray<const D: usize>(view: Bodies<'_, D>, asked: Ray<D>) -> Vec<Reached> {
    let hit = |id: usize| {
        let distance = distance(asked, view.center(id), view.radius(id))?;
        Some(Reached { id: id as u32, distance })
    };
    let mut hits: Vec<_> = (0..view.len()).filter_map(hit).collect();
    hits.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.id.cmp(&b.id)));
    hits
}

pub(crate) fn nearest<const D: usize>(view: Bodies<'_, D>, point: [f32; D], count: usize, within: f32) -> Vec<Reached> {
    let distance2 = |id: usize| {
        let center = view.center(id);
        (0..D).map(|axis| center[axis] - point[axis]).map(|d| d * d).reduce(|sum, d2| sum + d2).unwrap_or(0.0)
    };
    let mut nearest: Vec<_> = (0..view.len()).map(|id| (distance2(id), id as u32)).collect();
    nearest.retain(|&(distance2, _)| distance2 <= within * within);
    nearest.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    nearest.truncate(count);
    nearest.into_iter().map(|(distance2, id)| Reached { id, distance: distance2.sqrt() }).collect()
}

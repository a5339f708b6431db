//! The definition of the answer: which inputs are refused, and a double loop over all bodies.

use core::any::Any;

use jostle_core::error::NAMED_OFFENDERS;
use jostle_core::{Aabb, Bodies, Reason, ViewError};

use crate::Scene;
use crate::axes::{Gathered, compiled_here, gathered};
use crate::pairs::of_tasks;

pub use crate::real::Real;

/// The largest |coordinate| + radius that is accepted, 2^60.
pub const LIMIT: f32 = (1_u64 << 60) as f32;

/// Items that a double loop tests without a branch.
const AT_ONCE: usize = 32;

/// Returns whether two bodies overlap: squared distance of centres at most the squared sum of radii, in the precision
/// of the bodies, left to right, multiply and add rounded separately. Touching counts.
#[inline]
#[must_use]
pub fn overlaps<const D: usize, T: Real>(p: [T; D], p_radius: T, q: [T; D], q_radius: T) -> bool {
    let s = p_radius + q_radius;
    distance2(p, q) <= s * s
}

/// Returns the square of the distance of two centres, as the predicate has it.
#[inline]
#[must_use]
pub fn distance2<const D: usize, T: Real>(p: [T; D], q: [T; D]) -> T {
    let dx = q[0] - p[0];
    let mut distance2 = dx * dx;
    for axis in 1..D {
        let d = q[axis] - p[axis];
        distance2 = distance2 + d * d;
    }
    distance2
}

/// Returns every overlapping pair `[a, b]`, `a < b`, in ascending order. O(n^2).
///
/// # Panics
/// When `D` is neither 2 nor 3.
#[must_use]
pub fn pairs<const D: usize, T: Real>(view: Bodies<'_, D, T>) -> Vec<[u32; 2]> {
    loops(&(gathered(view), None::<Gathered<D, T>>))
}

/// Returns every overlapping pair `[a, b]` of a body of the first view and a body of the second, in ascending order.
/// O(n m).
///
/// # Panics
/// When `D` is neither 2 nor 3.
#[must_use]
pub fn across<const D: usize, T: Real>(a: Bodies<'_, D, T>, b: Bodies<'_, D, T>) -> Vec<[u32; 2]> {
    loops(&(gathered(a), Some(gathered(b))))
}

/// Finds pairs of bodies of any type: compiled with this crate.
fn loops(bodies: &dyn Any) -> Vec<[u32; 2]> {
    let all = [double_loop::<2, f32>, double_loop::<3, f32>, double_loop::<2, f64>, double_loop::<3, f64>];
    all.into_iter().find_map(|double_loop| double_loop(bodies)).expect("bodies have 2 or 3 axes")
}

/// Returns the pairs of bodies with each other or, if others are given, with those; `None` if bodies are of another
/// type.
fn double_loop<const D: usize, T: Real>(bodies: &dyn Any) -> Option<Vec<[u32; 2]>> {
    let (bodies, others) = bodies.downcast_ref::<(Gathered<D, T>, Option<Gathered<D, T>>)>()?;
    let mut pairs = Vec::new();
    for (a, &(p, p_radius)) in bodies.iter().enumerate() {
        let (first, others) = others.as_ref().map_or((a + 1, bodies), |others| (0, others));
        for (b, &(q, q_radius)) in others.iter().enumerate().skip(first) {
            if overlaps(p, p_radius, q, q_radius) {
                pairs.push([a as u32, b as u32]);
            }
        }
    }
    Some(pairs)
}

/// As [`pairs`], with the rows of the loop shared out among the threads of the current rayon pool.
///
/// # Panics
/// When `D` is neither 2 nor 3.
#[must_use]
pub fn pairs_in_parallel<const D: usize>(view: Bodies<'_, D, impl Real>) -> Vec<[u32; 2]> {
    all_rows(&gathered(view))
}

/// Finds pairs of bodies of any type: compiled with this crate.
fn all_rows(bodies: &dyn Any) -> Vec<[u32; 2]> {
    let all = [rows::<2, f32>, rows::<3, f32>, rows::<2, f64>, rows::<3, f64>];
    all.into_iter().find_map(|rows| rows(bodies)).expect("bodies have 2 or 3 axes")
}

fn rows<const D: usize, T: Real>(bodies: &dyn Any) -> Option<Vec<[u32; 2]>> {
    let bodies = bodies.downcast_ref::<Gathered<D, T>>()?;
    let row = |a: usize| {
        let (p, p_radius) = bodies[a];
        later_hits(bodies, a, |&(q, q_radius)| overlaps(p, p_radius, q, q_radius))
    };
    Some(of_tasks(bodies.len(), &row))
}

/// Returns the pairs `[a, b]` of item a and the items after it that hit, in ascending order. Several items are tested
/// without a branch between them, and most of the time none of them hits.
pub(crate) fn later_hits<I>(items: &[I], a: usize, hits: impl Fn(&I) -> bool) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    for (first, some) in (a + 1..).step_by(AT_ONCE).zip(items[a + 1..].chunks(AT_ONCE)) {
        if some.iter().fold(false, |any, item| any | hits(item)) {
            let found = (first..).zip(some).filter(|&(_, item)| hits(item));
            pairs.extend(found.map(|(b, _)| [a as u32, b as u32]));
        }
    }
    pairs
}

/// Returns the error that a view must be refused with, if any.
///
/// # Errors
/// [`ViewError::Lengths`], [`ViewError::TooMany`], or [`ViewError::Bodies`] with the first offenders in order of id.
pub fn check<const D: usize>(view: Bodies<'_, D>) -> Result<(), ViewError> {
    view.check_shape()?;
    let faulty = |id: usize| Some((id as u32, fault(view.center(id), view.radius(id))?));
    let mut offenders: Vec<_> = (0..view.len()).filter_map(faulty).collect();
    let count = offenders.len();
    offenders.truncate(NAMED_OFFENDERS);
    if count == 0 { Ok(()) } else { Err(ViewError::Bodies { count, first: offenders }) }
}

compiled_here! {
    /// Returns the box of all centres of a scene, or the error that the scene must be refused with. O(n).
    ///
    /// # Errors
    /// As [`check`].
    ///
    /// # Panics
    /// When `D` is neither 2 nor 3.
    pub fn bounds<const D: usize>(scene: &Scene<D>) -> Result<Aabb<D>, ViewError> {
        check(scene.view())?;
        Ok((0..scene.len()).fold(Aabb::EMPTY, |all, id| all.with_point(scene.view().center(id))))
    }
}

/// Returns the first fault of a body: centre, then radius, then both together.
fn fault<const D: usize>(center: [f32; D], radius: f32) -> Option<Reason> {
    let axis_where = |fails: &dyn Fn(f32) -> bool| center.iter().position(|&x| fails(x)).map(|axis| axis as u8);
    if let Some(axis) = axis_where(&|x| !x.is_finite()) {
        Some(Reason::CenterNotFinite { axis })
    } else if !radius.is_finite() {
        Some(Reason::RadiusNotFinite)
    } else if radius < 0.0 {
        Some(Reason::RadiusNegative)
    } else {
        axis_where(&|x| x.abs() + radius > LIMIT).map(|axis| Reason::TooFar { axis })
    }
}

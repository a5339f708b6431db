//! Queries, their contracts, and their answers.

use core::cmp::Ordering;

use jostle_core::Aabb;
use jostle_core::limits::REACH;

use super::error::{QueryError, QueryReason};

/// A circle (D = 2) or sphere (D = 3) to ask with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circle<const D: usize> {
    /// Its centre.
    pub center: [f32; D],
    /// Its radius.
    pub radius: f32,
}

impl<const D: usize> Circle<D> {
    /// The circle about a centre.
    #[must_use]
    pub fn new(center: [f32; D], radius: f32) -> Self {
        Self { center, radius }
    }
}

/// A ray, or a segment when its reach is finite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray<const D: usize> {
    /// Where it begins.
    pub origin: [f32; D],
    /// Where it goes: any vector but zero, of any length.
    pub direction: [f32; D],
    /// The greatest distance from the origin at which a hit counts, in units of the world, not of the direction;
    /// infinite for a ray without end.
    pub reach: f32,
}

impl<const D: usize> Ray<D> {
    /// The ray without end.
    #[must_use]
    pub fn new(origin: [f32; D], direction: [f32; D]) -> Self {
        Self { origin, direction, reach: f32::INFINITY }
    }

    /// The same ray, ended at this distance from its origin.
    #[must_use]
    pub fn within(self, reach: f32) -> Self {
        Self { reach, ..self }
    }
}

/// A body that a query has reached, and how far away. Ordered by distance, then id.
#[derive(Debug, Clone, Copy)]
pub struct Reached {
    /// The id of the body.
    pub id: u32,
    /// How far it is.
    pub distance: f32,
}

impl PartialEq for Reached {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Reached {}

impl PartialOrd for Reached {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Reached {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.distance.total_cmp(&other.distance).then(self.id.cmp(&other.id))
    }
}

/// A part of a query that may be outside the contract.
pub(super) trait Checked {
    /// Its first fault.
    fn fault(&self) -> Option<QueryReason>;

    /// Refuses it when it has a fault.
    fn check(&self) -> Result<(), QueryError> {
        self.fault().map_or(Ok(()), |reason| Err(QueryError::Query(reason)))
    }
}

/// The first axis on which a coordinate fails.
fn axis_where<const D: usize>(point: &[f32; D], fails: impl Fn(f32) -> bool) -> Option<u8> {
    for axis in 0..D {
        if fails(point[axis]) {
            return Some(axis as u8);
        }
    }
    None
}

/// A point; of a circle or a ray, its centre or origin.
impl<const D: usize> Checked for [f32; D] {
    fn fault(&self) -> Option<QueryReason> {
        let not_finite = axis_where(self, |x| !x.is_finite()).map(|axis| QueryReason::CoordinateNotFinite { axis });
        not_finite.or_else(|| axis_where(self, |x| x.abs() > REACH).map(|axis| QueryReason::TooFar { axis }))
    }
}

impl<const D: usize> Checked for Circle<D> {
    fn fault(&self) -> Option<QueryReason> {
        if let Some(axis) = axis_where(&self.center, |x| !x.is_finite()) {
            Some(QueryReason::CoordinateNotFinite { axis })
        } else if !self.radius.is_finite() {
            Some(QueryReason::RadiusNotFinite)
        } else if self.radius < 0.0 {
            Some(QueryReason::RadiusNegative)
        } else {
            axis_where(&self.center, |x| x.abs() + self.radius > REACH).map(|axis| QueryReason::TooFar { axis })
        }
    }
}

impl<const D: usize> Checked for Aabb<D> {
    fn fault(&self) -> Option<QueryReason> {
        let lo_above_hi = || (0..D).position(|axis| self.lo[axis] > self.hi[axis]);
        let borders = self.lo.fault().or_else(|| self.hi.fault());
        borders.or_else(|| lo_above_hi().map(|axis| QueryReason::LoAboveHi { axis: axis as u8 }))
    }
}

impl<const D: usize> Checked for Ray<D> {
    fn fault(&self) -> Option<QueryReason> {
        if let Some(reason) = self.origin.fault() {
            Some(reason)
        } else if let Some(axis) = axis_where(&self.direction, |x| !x.is_finite()) {
            Some(QueryReason::DirectionNotFinite { axis })
        } else if self.direction == [0.0; D] {
            Some(QueryReason::DirectionZero)
        } else {
            distance_fault(self.reach)
        }
    }
}

/// Refuses a greatest distance with a fault.
pub(super) fn check_distance(distance: f32) -> Result<(), QueryError> {
    distance_fault(distance).map_or(Ok(()), |reason| Err(QueryError::Query(reason)))
}

/// The fault of a greatest distance, which may be infinite.
fn distance_fault(distance: f32) -> Option<QueryReason> {
    (distance.is_nan() || distance < 0.0).then_some(QueryReason::NoDistance)
}

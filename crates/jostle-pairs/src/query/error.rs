//! What is wrong with a query, and with which of many.

use jostle_core::error::{Offenders, offenders};

use crate::input::error::MAX_IMAGES;

/// Why queries were refused. Nothing was searched: lists are as they were, and so is the last result of a batch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// A single query, or what all queries of a batch share, is outside the contract.
    #[error("query refused: {0}")]
    Query(QueryReason),
    /// Queries of a batch are outside the contract.
    #[error("{}", Offenders { words: ["query", "queries", "query"], count: *count, first })]
    Queries {
        /// How many queries are at fault.
        count: usize,
        /// The first 16 of them by index, each with its (first) fault.
        first: Vec<(usize, QueryReason)>,
    },
}

/// What is wrong with one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueryReason {
    /// A coordinate of the point, centre, origin or border is NaN or infinite.
    #[error("coordinate not finite on axis {axis}")]
    CoordinateNotFinite {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// The radius is NaN or infinite.
    #[error("radius not finite")]
    RadiusNotFinite,
    /// The radius is below zero.
    #[error("radius negative")]
    RadiusNegative,
    /// |coordinate|, or |coordinate| + radius, is above 2^60, where squares of distances would overflow.
    #[error("|coordinate| (and radius, if any) above 2^60 on axis {axis}: no body is there")]
    TooFar {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// The lower border of the box is above the upper one.
    #[error("lower border above the upper one on axis {axis}: exchange them")]
    LoAboveHi {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// The direction of the ray is NaN or infinite.
    #[error("direction not finite on axis {axis}")]
    DirectionNotFinite {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// The direction of the ray is zero on every axis.
    #[error("direction zero")]
    DirectionZero,
    /// |coordinate|, or |coordinate| + radius, of a question in `f64` is above 2^500.
    #[error("|coordinate| (and radius, if any) above 2^500 on axis {axis}: no body is there")]
    TooFar64 {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// It lies more cells away than can be counted.
    #[error("more than 2^29 cells away along vector {vector}: move it into the cell")]
    TooManyPeriods {
        /// The number of the vector.
        vector: u8,
    },
    /// It looks at too many images of the cell.
    #[error(
        "more than {} images of the cell to look at: ask for less at a time, or take several cells as one",
        MAX_IMAGES
    )]
    TooManyImages,
    /// A ray without end, in a space that repeats.
    #[error("a ray without end meets endless images in a space that repeats: give it a finite reach")]
    EndlessRay,
    /// The greatest distance is NaN or below zero.
    #[error("greatest distance negative or not a number: infinity is for any distance")]
    NoDistance,
}

/// Refuses a batch that holds a query with a fault.
pub(super) fn check_all(queries: usize, fault: impl Fn(usize) -> Option<QueryReason>) -> Result<(), QueryError> {
    offenders(queries, &fault).map_or(Ok(()), |(count, first)| Err(QueryError::Queries { count, first }))
}

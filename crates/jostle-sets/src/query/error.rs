//! What is wrong with a query, and with which queries of a batch.

use core::fmt;

use jostle_core::error::{Offenders, offenders};

use crate::input::error::{MAX_IMAGES, STAND_INS};

/// Why queries were refused. Nothing was searched: lists are as they were, and so is the last result of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryError {
    /// A single query, or what all queries of a batch share, is outside the contract.
    Query(QueryReason),
    /// Queries of a batch are outside the contract.
    Queries {
        /// How many queries are at fault.
        count: usize,
        /// The first 16 of them by index, each with its (first) fault.
        first: Vec<(usize, QueryReason)>,
    },
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Query(inner) => write!(f, "query refused: {inner}"),
            Self::Queries { count, first } => {
                Offenders { words: ["query", "queries", "query"], count: *count, first }.fmt(f)
            }
        }
    }
}

impl core::error::Error for QueryError {}

/// What is wrong with one query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueryReason {
    /// A coordinate of the point, centre, origin or border is NaN or infinite.
    CoordinateNotFinite {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// The radius is NaN or infinite.
    RadiusNotFinite,
    /// The radius is below zero.
    RadiusNegative,
    /// |coordinate|, or |coordinate| + radius, is above 2^60, where squares of distances would overflow.
    TooFar {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// The lower border of the box is above the upper one.
    LoAboveHi {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// The direction of the ray is NaN or infinite.
    DirectionNotFinite {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// The direction of the ray is zero on every axis.
    DirectionZero,
    /// |coordinate|, or |coordinate| + radius, of a question in `f64` is above 2^500.
    TooFar64 {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// The question lies more cells away than can be counted.
    TooManyPeriods {
        /// The number of the vector.
        vector: u8,
    },
    /// The question looks at too many images of the cell.
    TooManyImages,
    /// A ray without end, in a space that repeats.
    EndlessRay,
    /// The greatest distance is NaN or below zero.
    NoDistance,
    /// The tree is that of a search in `f64`, of moving bodies or of coherent frames: it holds stand-ins, at other places.
    StandIns,
}

impl fmt::Display for QueryReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CoordinateNotFinite { axis } => write!(f, "coordinate not finite on axis {axis}"),
            Self::RadiusNotFinite => f.write_str("radius not finite"),
            Self::RadiusNegative => f.write_str("radius negative"),
            Self::TooFar { axis } => {
                write!(f, "|coordinate| (and radius, if any) above 2^60 on axis {axis}: no body is there")
            }
            Self::LoAboveHi { axis } => write!(f, "lower border above the upper one on axis {axis}: exchange them"),
            Self::DirectionNotFinite { axis } => write!(f, "direction not finite on axis {axis}"),
            Self::DirectionZero => f.write_str("direction zero"),
            Self::TooFar64 { axis } => {
                write!(f, "|coordinate| (and radius, if any) above 2^500 on axis {axis}: no body is there")
            }
            Self::TooManyPeriods { vector } => {
                write!(f, "more than 2^29 cells away along vector {vector}: move it into the cell")
            }
            Self::TooManyImages => write!(
                f,
                "more than {} images of the cell to look at: ask for less at a time, or take several cells as one",
                MAX_IMAGES
            ),
            Self::EndlessRay => {
                f.write_str("a ray without end meets endless images in a space that repeats: give it a finite reach")
            }
            Self::StandIns => f.write_str(STAND_INS),
            Self::NoDistance => f.write_str("greatest distance negative or not a number: infinity is for any distance"),
        }
    }
}

impl core::error::Error for QueryReason {}

/// Refuses a batch that holds a query with a fault.
pub(super) fn check_all(queries: usize, fault: impl Fn(usize) -> Option<QueryReason>) -> Result<(), QueryError> {
    offenders(queries, &fault).map_or(Ok(()), |(count, first)| Err(QueryError::Queries { count, first }))
}

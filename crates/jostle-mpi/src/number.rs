//! The two precisions that bodies come in.

use jostle::{Bodies, Displacements, Reason, Scalar, Set};

/// `f32` or `f64`: the precision in which the engine searches and messages hold values.
pub trait Number: Scalar {
    /// The largest |coordinate| + radius that the engine takes: 2^60 in `f32` and 2^500 in `f64`. The value for `f32`
    /// is the largest sum that `f32` rounds to no more than 2^60.
    const REACH: f64;

    /// How far a coordinate may be off once it has been moved into a cell, relative to all numbers that it is computed
    /// from.
    const MOVED: f64;

    /// The fault of a body that reaches beyond [`Number::REACH`] along an axis.
    fn too_far(axis: u8) -> Reason;

    /// Displacements of a set of a search.
    fn displacements<const D: usize>(columns: [&[Self]; D]) -> Displacements<'_, D>;

    /// The bodies as a set of a search.
    fn set<const D: usize>(bodies: Bodies<'_, D, Self>) -> Set<'_, D>;
}

impl Number for f32 {
    const REACH: f64 = ((1_u64 << 60) + (1 << 36)) as f64;
    const MOVED: f64 = 1.0 / (1 << 21) as f64;

    fn too_far(axis: u8) -> Reason {
        Reason::TooFar { axis }
    }

    fn displacements<const D: usize>(columns: [&[Self]; D]) -> Displacements<'_, D> {
        columns.into()
    }

    fn set<const D: usize>(bodies: Bodies<'_, D, Self>) -> Set<'_, D> {
        bodies.into()
    }
}

impl Number for f64 {
    const REACH: f64 = Self::from_bits((1023 + 500) << 52);
    const MOVED: f64 = 1.0 / (1_u64 << 48) as f64;

    fn too_far(axis: u8) -> Reason {
        Reason::TooFar64 { axis }
    }

    fn displacements<const D: usize>(columns: [&[Self]; D]) -> Displacements<'_, D> {
        columns.into()
    }

    fn set<const D: usize>(bodies: Bodies<'_, D, Self>) -> Set<'_, D> {
        bodies.into()
    }
}

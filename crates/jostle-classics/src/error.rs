//! The errors of setting up a system.

/// Why a system was not made.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// A world that is empty, or has no finite size.
    #[error("the world from {lo} to {hi} along {} has no finite size above zero", name(*axis))]
    World {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
        /// Where the world begins.
        lo: f32,
        /// Where the world ends.
        hi: f32,
    },
    /// More levels than there is room for.
    #[error("a depth of {depth}: at most {most} levels below the root fit")]
    Depth {
        /// The number of levels below the root that was asked for.
        depth: u32,
        /// The most that fit.
        most: u32,
    },
    /// Limits by which empty leaves would be split.
    #[error("a leaf must hold at least one element before it is split")]
    EmptyLeaves,
    /// A parameter out of its range.
    #[error("{name} is {value}: it must be {wanted}")]
    Parameter {
        /// The name of the parameter.
        name: &'static str,
        /// The value that was given.
        value: f64,
        /// The values that are accepted.
        wanted: &'static str,
    },
    /// A grid with more cells than it may have, on one side or in all.
    #[error("{columns} x {rows} cells are too many: at most {most} in all, and 65,536 a side")]
    TooManyCells {
        /// The number of columns.
        columns: f64,
        /// The number of rows.
        rows: f64,
        /// The most cells in all.
        most: usize,
    },
}

impl SetupError {
    /// Checks that the world from `lo` to `hi` has a finite size above zero on each axis.
    pub(crate) fn check_world<const D: usize>(world: &jostle_core::Aabb<D>) -> Result<(), Self> {
        let sound = |axis: &usize| world.lo[*axis] < world.hi[*axis] && (world.hi[*axis] - world.lo[*axis]).is_finite();
        match (0..D).find(|axis| !sound(axis)) {
            Some(axis) => Err(Self::World { axis: axis as u8, lo: world.lo[axis], hi: world.hi[axis] }),
            None => Ok(()),
        }
    }
}

fn name(axis: u8) -> &'static str {
    ["x", "y", "z"].get(usize::from(axis)).copied().unwrap_or("an axis")
}

//! What is wrong with the input of a search, and with which bodies.

use jostle_core::error::{Offenders, offenders};
use jostle_core::{Reason, ViewError};

/// Images of a cell that a search looks at, at most.
pub(crate) const MAX_IMAGES: usize = 1 << 20;

/// Why a search was refused. Nothing was computed, and the last result still stands.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// Bodies with values outside the contract.
    #[error("{}", Offenders::bodies(*count, first))]
    Bodies {
        /// How many bodies are at fault.
        count: usize,
        /// The first 16 of them by id, each with its (first) fault.
        first: Vec<(u32, Reason)>,
    },
    /// A view that is refused as a whole: its columns, its layout in memory, its margin or the number of its bodies.
    #[error(transparent)]
    View(ViewError),
    /// Bodies that are sound, but that the space or the step does not allow where they are.
    #[error("{}", Offenders::bodies(*count, first))]
    Range {
        /// How many bodies are at fault.
        count: usize,
        /// The first 16 of them by id, each with its (first) fault.
        first: Vec<(u32, RangeFault)>,
    },
    /// Layers that do not name each body once.
    #[error(
        "layers differ in length from their {bodies} bodies: categories {categories}, masks {masks}, groups {groups}; \
         each needs one value for every body, or a number for all"
    )]
    Layers {
        /// The number of bodies.
        bodies: usize,
        /// The number of categories.
        categories: usize,
        /// The number of masks.
        masks: usize,
        /// The number of groups.
        groups: usize,
    },
    /// A lattice that does not span space.
    #[error("{0}")]
    Lattice(LatticeFault),
    /// Bodies that reach so far that more images of the cell have to be looked at than can be.
    #[error(
        "bodies that reach {reach} in all meet {images} images of the cell, more than {max}: take several cells as one, \
         or give the bodies or their margin a shorter reach",
        max = MAX_IMAGES
    )]
    Images {
        /// How many images there would be.
        images: f64,
        /// The greatest sum of two radii, margins included.
        reach: f64,
    },
    /// Parts of a search that do not go together.
    #[error("{parts} cannot be combined: {reason}")]
    Combination {
        /// Which they are.
        parts: &'static str,
        /// Why, and what to do instead.
        reason: &'static str,
    },
    /// Displacements that do not name each body once.
    #[error(
        "{bodies} bodies, but displacements of lengths {displacements:?}; each axis needs one for every body, 0 for \
         those at rest"
    )]
    Displacements {
        /// The number of bodies.
        bodies: usize,
        /// The number of displacements on each axis.
        displacements: Vec<usize>,
    },
    /// An activation table that is not of as many sets as there are.
    #[error(
        "{sets} sets, but a table of {table}; make it by `ActivationTable::none({sets})` or \
         `ActivationTable::all({sets})`"
    )]
    Sets {
        /// The number of sets given.
        sets: usize,
        /// The number of sets of the table.
        table: usize,
    },
    /// A parameter of the search that is out of its range.
    #[error("{name} is {value}: {wanted}")]
    Parameter {
        /// What it is called.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What it has to be.
        wanted: &'static str,
    },
}

impl From<ViewError> for InputError {
    fn from(refused: ViewError) -> Self {
        match refused {
            ViewError::Bodies { count, first } => Self::Bodies { count, first },
            other => Self::View(other),
        }
    }
}

impl InputError {
    /// The error that names those bodies of `0..bodies` which have a fault, or nothing when none has. O(n).
    pub(crate) fn of_range(bodies: usize, fault: impl Fn(usize) -> Option<RangeFault>) -> Result<(), Self> {
        offenders(bodies, &fault).map_or(Ok(()), |(count, first)| Err(Self::Range { count, first }))
    }
}

/// Why the space or the step does not allow a body where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RangeFault {
    /// A coordinate lies more than 2^29 periods away.
    #[error("more than 2^29 periods away on axis {axis}: move it back into the box now and then")]
    TooManyPeriods {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// A box reaches to infinity where space repeats.
    #[error("reaches to infinity on axis {axis}, in a space that repeats there: give it an end")]
    Endless {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// A displacement is NaN or infinite, or leads beyond 2^250 from the origin.
    #[error(
        "displacement not finite, or beyond 2^250 from the origin, on axis {axis}: choose a larger unit or a shorter \
         step"
    )]
    Displacement {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
}

/// What is wrong with a lattice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LatticeFault {
    /// A vector of length zero.
    #[error(
        "lattice vector {vector} has length zero: where space does not repeat, give any vector that lies across the others"
    )]
    ZeroLength {
        /// 0 for the first.
        vector: u8,
    },
    /// A vector that is not finite, or whose length is not between 2^-300 and 2^300.
    #[error("lattice vector {vector} is not finite, or its length not between 2^-300 and 2^300: choose another unit")]
    OutOfRange {
        /// 0 for the first.
        vector: u8,
    },
    /// An origin that is not finite, or beyond 2^300.
    #[error("the origin of the lattice is not finite, or beyond 2^300, on axis {axis}")]
    Origin {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// Vectors in one line or plane.
    #[error("the lattice vectors lie in one line or plane: each has to lead out of that of the others")]
    Flat,
    /// Vectors in the order of a left hand.
    #[error("the lattice vectors are left-handed: swap two of them, or turn one round")]
    LeftHanded,
}

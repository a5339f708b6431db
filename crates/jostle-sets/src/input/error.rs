//! What is wrong with the input of a search, and with which bodies.

use core::fmt;

use jostle_core::error::{Offenders, offenders};
use jostle_core::{Reason, ViewError};

/// Images of a cell that a search looks at, at most.
pub(crate) const MAX_IMAGES: usize = 1 << 20;

/// Why a tree of stand-ins is refused.
pub(crate) const STAND_INS: &str = "the tree is that of a search in `f64`, of moving bodies or of coherent frames, \
                                    whose stand-ins are at other places: build a `PreparedSet` or a `LinearTree` of \
                                    the bodies";

/// Why a search was refused. Nothing was computed, and the last result still stands, but for
/// [`InputError::TooManyPairs`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputError {
    /// Bodies with values outside the contract.
    Bodies {
        /// How many bodies are at fault.
        count: usize,
        /// The first 16 of them by id, each with its (first) fault.
        first: Vec<(u32, Reason)>,
    },
    /// A view that is refused as a whole: its columns, its layout in memory, its margin or the number of its bodies.
    View(ViewError),
    /// Sound bodies at places that the space or the step does not allow.
    Range {
        /// How many bodies are at fault.
        count: usize,
        /// The first 16 of them by id, each with its (first) fault.
        first: Vec<(u32, RangeFault)>,
    },
    /// Layers that do not have one value for each body.
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
    /// One of several sets is refused: the first, if several are.
    InSet {
        /// The number of the set, from 0.
        set: usize,
        /// Why it is refused.
        fault: Box<InputError>,
    },
    /// A lattice that does not span space.
    Lattice(LatticeFault),
    /// Bodies that reach so far that the search would have to look at too many images of the cell.
    Images {
        /// How many images there would be.
        images: f64,
        /// The greatest sum of two radii, margins included.
        reach: f64,
    },
    /// Parts of a search that do not go together.
    Combination {
        /// The parts.
        parts: &'static str,
        /// Why they do not, and what to do instead.
        reason: &'static str,
    },
    /// Displacements that do not have one value for each body.
    Displacements {
        /// The number of bodies.
        bodies: usize,
        /// The number of displacements on each axis.
        displacements: Vec<usize>,
    },
    /// An activation table of another number of sets than the input has.
    Sets {
        /// The number of sets given.
        sets: usize,
        /// The number of sets of the table.
        table: usize,
    },
    /// A parameter of the search that is out of its range.
    Parameter {
        /// The name of the parameter.
        name: &'static str,
        /// The value given.
        value: f64,
        /// What the value has to be.
        wanted: &'static str,
    },
    /// More pairs, or neighbours in all rows together, than the finder may list or memory holds. They were counted. A
    /// finder that was asked for pairs lists none then; neighbour lists stay as they were, except that those of a
    /// coherent finder may be empty.
    TooManyPairs {
        /// How many there are.
        pairs: u64,
        /// How many the finder may list; none where memory did not suffice.
        max: Option<u64>,
    },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bodies { count, first } => Offenders::bodies(*count, first).fmt(f),
            Self::View(inner) => inner.fmt(f),
            Self::Range { count, first } => Offenders::bodies(*count, first).fmt(f),
            Self::Layers { bodies, categories, masks, groups } => write!(
                f,
                "layers differ in length from their {bodies} bodies: categories {categories}, masks {masks}, groups \
                 {groups}; each needs one value for every body, or a number for all"
            ),
            Self::InSet { set, fault } => write!(f, "set {set}: {fault}"),
            Self::Lattice(inner) => inner.fmt(f),
            Self::Images { images, reach } => write!(
                f,
                "bodies that reach {reach} in all meet {images:e} images of the cell, more than {max}: take several \
                 cells as one, give the bodies or their margin a shorter reach, or choose vectors of a less flat cell",
                max = MAX_IMAGES
            ),
            Self::Combination { parts, reason } => write!(f, "{parts} cannot be combined: {reason}"),
            Self::Displacements { bodies, displacements } => write!(
                f,
                "{bodies} bodies, but displacements of lengths {displacements:?}; each axis needs one for every body, \
                 0 for those at rest"
            ),
            Self::Sets { sets, table } => write!(
                f,
                "{sets} sets, but a table of {table}; make it by `ActivationTable::none({sets})` or \
                 `ActivationTable::all({sets})`"
            ),
            // Very large and very small values get an exponent.
            Self::Parameter { name, value, wanted } => write!(f, "{name} is {value:?}: {wanted}"),
            Self::TooManyPairs { pairs, max: Some(max) } => write!(
                f,
                "{pairs} pairs or neighbours, more than the {max} that `set_max_pairs` allows: count or visit them, or \
                 allow more"
            ),
            Self::TooManyPairs { pairs, max: None } => {
                write!(f, "no memory for a list of {pairs} pairs or neighbours: count or visit them")
            }
        }
    }
}

impl core::error::Error for InputError {}

impl From<ViewError> for InputError {
    fn from(refused: ViewError) -> Self {
        match refused {
            ViewError::Bodies { count, first } => Self::Bodies { count, first },
            other => Self::View(other),
        }
    }
}

impl InputError {
    /// The number of the set that is refused, if the input has several sets, and why it is refused: another error than
    /// [`InputError::InSet`].
    #[must_use]
    pub fn by_set(&self) -> (Option<usize>, &Self) {
        if let Self::InSet { set, fault } = self { (Some(*set), fault) } else { (None, self) }
    }

    /// Says that the error is one of set `set` of `sets`.
    pub(crate) fn in_set(self, set: usize, sets: usize) -> Self {
        if sets > 1 { Self::InSet { set, fault: self.into() } } else { self }
    }

    /// Returns the error that names the bodies of `0..bodies` with a fault, or `Ok` when none has one. O(n).
    pub(crate) fn of_range(bodies: usize, fault: impl Fn(usize) -> Option<RangeFault>) -> Result<(), Self> {
        offenders(bodies, &fault).map_or(Ok(()), |(count, first)| Err(Self::Range { count, first }))
    }
}

/// Why the space or the step does not allow the place of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RangeFault {
    /// A coordinate lies more than 2^29 periods away.
    TooManyPeriods {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// A box reaches to infinity where space repeats.
    Endless {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// A displacement is NaN or infinite, or leads beyond 2^250 from the origin.
    Displacement {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
}

impl fmt::Display for RangeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyPeriods { axis } => {
                write!(f, "more than 2^29 periods away on axis {axis}: move it back into the box now and then")
            }
            Self::Endless { axis } => {
                write!(f, "reaches to infinity on axis {axis}, in a space that repeats there: give it an end")
            }
            Self::Displacement { axis } => write!(
                f,
                "displacement not finite, or beyond 2^250 from the origin, on axis {axis}: choose a larger unit or a \
                 shorter step"
            ),
        }
    }
}

impl core::error::Error for RangeFault {}

/// What is wrong with a lattice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LatticeFault {
    /// A vector of length zero.
    ZeroLength {
        /// 0 for the first.
        vector: u8,
    },
    /// A vector that is not finite, or whose length is not between 2^-300 and 2^300.
    OutOfRange {
        /// 0 for the first.
        vector: u8,
    },
    /// An origin that is not finite, or beyond 2^300.
    Origin {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// Vectors in one line or plane.
    Flat,
    /// Vectors in the order of a left hand.
    LeftHanded,
}

impl fmt::Display for LatticeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ZeroLength { vector } => write!(
                f,
                "lattice vector {vector} has length zero: where space does not repeat, give any vector that lies \
                 across the others"
            ),
            Self::OutOfRange { vector } => write!(
                f,
                "lattice vector {vector} is not finite, or its length not between 2^-300 and 2^300: choose another unit"
            ),
            Self::Origin { axis } => {
                write!(f, "the origin of the lattice is not finite, or beyond 2^300, on axis {axis}")
            }
            Self::Flat => {
                f.write_str("the lattice vectors lie in one line or plane: each has to lead out of that of the others")
            }
            Self::LeftHanded => f.write_str("the lattice vectors are left-handed: swap two of them, or turn one round"),
        }
    }
}

impl core::error::Error for LatticeFault {}

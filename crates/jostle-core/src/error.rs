//! What is wrong with an input, and with which bodies.

use core::fmt;

/// How many offending bodies an [`InputError::Bodies`] names.
pub const NAMED_OFFENDERS: usize = 16;

/// Images of a cell that a search looks at, at most.
pub const MAX_IMAGES: usize = 1 << 20;

/// Why a view of bodies was refused. Nothing was computed, and the last result still stands.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The columns of the view differ in length.
    #[error(
        "slices differ in length: centres {centers:?}, radii {radii}; each needs one value for every body, unless a \
         number is the radius of all"
    )]
    Lengths {
        /// The number of values on each axis.
        centers: Vec<usize>,
        /// The number of radii.
        radii: usize,
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
    /// More bodies than ids can name.
    #[error(
        "{bodies} bodies are too many: at most {} fit in a set; search several sets, each within itself and between \
         each two",
        crate::input::MAX_BODIES
    )]
    TooMany {
        /// The number of bodies given.
        bodies: usize,
    },
    /// More leaves than places can be numbered, by bodies of which many stand alone.
    #[error(
        "{bodies} bodies make {leaves} leaves, more than {max}, since many stand alone; search several sets, each \
         within itself and between each two",
        max = crate::tree::LEAVES_MAX
    )]
    TooSparse {
        /// The number of bodies given.
        bodies: usize,
        /// The number of leaves that they make.
        leaves: usize,
    },
    /// A struct without room for an `f32`, or `f64`, at the offset given.
    #[error(
        "no scalar of {scalar} bytes lies at byte {offset} of a struct of {size} bytes; `core::mem::offset_of!` gives \
         the offset of a field, and `field!` with `Bodies::from_columns` reads structs of any layout"
    )]
    Layout {
        /// The size of the scalar in bytes.
        scalar: usize,
        /// The byte offset of the field.
        offset: usize,
        /// The size of the struct in bytes.
        size: usize,
    },
    /// A stride shorter than the scalars that it leads from one to the next, so that these overlap.
    #[error(
        "a stride of {stride} bytes lets scalars of {scalar} bytes overlap; it is the distance from one body to the \
         next in bytes, not in values; a value that all share is written once for each, or, as a radius, given as a \
         number"
    )]
    Stride {
        /// The stride in bytes.
        stride: usize,
        /// The size of the scalar in bytes.
        scalar: usize,
    },
    /// Strided columns that end behind their base slice.
    #[error(
        "{count} scalars of {scalar} bytes from byte {offset} on, {stride} bytes apart, end at byte {end}, but the \
         base slice is of {base} bytes; stride and offset are in bytes, the count in bodies",
        end = end_of(*count, *stride, *offset, *scalar)
    )]
    Base {
        /// The number of bodies.
        count: usize,
        /// The stride in bytes.
        stride: usize,
        /// The byte offset of the first scalar.
        offset: usize,
        /// The size of the scalar in bytes.
        scalar: usize,
        /// The size of the base slice in bytes.
        base: usize,
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
    /// Bodies with values outside the contract.
    #[error("{}", Offenders { count: *count, first })]
    Bodies {
        /// How many bodies are at fault.
        count: usize,
        /// The first [`NAMED_OFFENDERS`] of them by id, each with its (first) fault.
        first: Vec<(u32, Reason)>,
    },
}

impl InputError {
    /// Checks a length: finite, and not below zero.
    ///
    /// # Errors
    /// [`InputError::Parameter`] with this name.
    pub fn check_length(name: &'static str, value: f64) -> Result<(), Self> {
        if value.is_finite() && value >= 0.0 {
            return Ok(());
        }
        Err(Self::Parameter { name, value, wanted: "it must be finite and not negative" })
    }

    /// The error that names those bodies of `0..bodies` which have a fault, or nothing when none has. O(n).
    ///
    /// # Errors
    /// [`InputError::Bodies`].
    pub fn of_bodies(bodies: usize, fault: impl Fn(usize) -> Option<Reason>) -> Result<(), Self> {
        let faults = (0..bodies).filter_map(|id| Some((id as u32, fault(id)?)));
        let (mut count, mut first) = (0, Vec::new());
        for offender in faults {
            count += 1;
            if first.len() < NAMED_OFFENDERS {
                first.push(offender);
            }
        }
        if count == 0 { Ok(()) } else { Err(Self::Bodies { count, first }) }
    }
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

/// What is wrong with one body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// A coordinate is NaN or infinite.
    #[error("centre not finite on axis {axis}")]
    CenterNotFinite {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// The radius is NaN or infinite.
    #[error("radius not finite")]
    RadiusNotFinite,
    /// The radius is below zero.
    #[error("radius negative")]
    RadiusNegative,
    /// |coordinate| + radius is above 2^60, where squares of distances would overflow.
    #[error(
        "|coordinate| + radius above 2^60 on axis {axis}: choose a larger unit, or search in f64 (`Circles64`, \
         `Spheres64`)"
    )]
    TooFar {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// |coordinate| + radius is above 2^500 in `f64`, where squares of distances would overflow.
    #[error("|coordinate| + radius above 2^500 on axis {axis}: choose a larger unit")]
    TooFar64 {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// A coordinate lies more than 2^29 periods away.
    #[error("more than 2^29 periods away on axis {axis}: move it back into the box now and then")]
    TooManyPeriods {
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

/// Where the last of so many scalars ends, in bytes. It may be beyond what a `usize` holds.
fn end_of(count: usize, stride: usize, offset: usize, scalar: usize) -> u128 {
    let [count, stride, offset, scalar] = [count, stride, offset, scalar].map(|number| number as u128);
    // Fits: (2^64 - 2)(2^64 - 1) + 2^64 + 7 is below 2^128.
    count.saturating_sub(1) * stride + offset + scalar
}

struct Offenders<'a> {
    count: usize,
    first: &'a [(u32, Reason)],
}

impl fmt::Display for Offenders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.count == 1 { "body" } else { "bodies" };
        write!(f, "{} {plural} refused: ", self.count)?;
        for (i, (id, reason)) in self.first.iter().enumerate() {
            write!(f, "{}id {id}: {reason}", if i == 0 { "" } else { "; " })?;
        }
        if self.count > self.first.len() { write!(f, "; ...") } else { Ok(()) }
    }
}

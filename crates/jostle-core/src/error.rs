//! Errors: what is wrong with a view of bodies, and which bodies are at fault.

use core::fmt;

/// The most offenders that an error names.
pub const NAMED_OFFENDERS: usize = 16;

/// Why a view of bodies was refused. Nothing was computed, and the last result still stands; only
/// [`ViewError::TooSparse`] is found out late, and leaves an empty tree.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ViewError {
    /// The columns of the view differ in length.
    Lengths {
        /// The number of values on each axis.
        centers: Vec<usize>,
        /// The number of radii.
        radii: usize,
    },
    /// The columns of a view of boxes differ in length.
    Corners {
        /// The number of values of the lower corners on each axis.
        lower: Vec<usize>,
        /// The number of values of the upper corners on each axis.
        upper: Vec<usize>,
    },
    /// The columns of a view of capsules differ in length.
    Ends {
        /// The number of values of the first ends on each axis.
        from: Vec<usize>,
        /// The number of values of the second ends on each axis.
        to: Vec<usize>,
        /// The number of radii.
        radii: usize,
    },
    /// More bodies than ids can name.
    TooMany {
        /// The number of bodies given.
        bodies: usize,
    },
    /// More leaves than 32 bits can number places for, because many bodies stand alone.
    TooSparse {
        /// The number of bodies given.
        bodies: usize,
        /// The number of leaves that they make.
        leaves: usize,
    },
    /// A struct without room for an `f32`, or `f64`, at the offset given.
    Layout {
        /// The size of the scalar in bytes.
        scalar: usize,
        /// The byte offset of the field.
        offset: usize,
        /// The size of the struct in bytes.
        size: usize,
    },
    /// A stride shorter than the scalar, so that successive scalars overlap.
    Stride {
        /// The stride in bytes.
        stride: usize,
        /// The size of the scalar in bytes.
        scalar: usize,
    },
    /// Strided columns that reach past the end of their base slice.
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
    /// A margin that is not finite, or below zero.
    Margin {
        /// The margin given.
        margin: f64,
    },
    /// Bodies with values outside the contract.
    Bodies {
        /// How many bodies are at fault.
        count: usize,
        /// The first [`NAMED_OFFENDERS`] of them by id, each with its (first) fault.
        first: Vec<(u32, Reason)>,
    },
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lengths { centers, radii } => write!(
                f,
                "slices differ in length: centres {centers:?}, radii {radii}; each needs one value for every body, \
                 unless a number is the radius of all"
            ),
            Self::Corners { lower, upper } => write!(
                f,
                "slices differ in length: lower corners {lower:?}, upper corners {upper:?}; each needs one value for \
                 every box"
            ),
            Self::Ends { from, to, radii } => write!(
                f,
                "slices differ in length: first ends {from:?}, second ends {to:?}, radii {radii}; each needs one value \
                 for every capsule, unless a number is the radius of all"
            ),
            Self::TooMany { bodies } => write!(
                f,
                "{bodies} bodies are too many: at most {} fit in a set; search several sets, each within itself and \
                 between each two",
                crate::limits::MAX_BODIES
            ),
            Self::TooSparse { bodies, leaves } => write!(
                f,
                "{bodies} bodies make {leaves} leaves, more than {max}, since many stand alone; search several sets, \
                 each within itself and between each two",
                max = crate::limits::LEAVES_MAX
            ),
            Self::Layout { scalar, offset, size } => write!(
                f,
                "no scalar of {scalar} bytes lies at byte {offset} of a struct of {size} bytes; \
                 `core::mem::offset_of!` gives the offset of a field, and `field!` with `Bodies::from_columns` reads \
                 structs of any layout"
            ),
            Self::Stride { stride, scalar } => write!(
                f,
                "a stride of {stride} bytes lets scalars of {scalar} bytes overlap; it is the distance from one body \
                 to the next in bytes, not in values; a value that all share is written once for each, or, as a \
                 radius, given as a number"
            ),
            Self::Base { count, stride, offset, scalar, base } => write!(
                f,
                "{count} scalars of {scalar} bytes from byte {offset} on, {stride} bytes apart, end at byte {end}, but \
                 the base slice is of {base} bytes; stride and offset are in bytes, the count in bodies",
                end = end_of(*count, *stride, *offset, *scalar)
            ),
            Self::Margin { margin } => write!(f, "the margin is {margin}: it must be finite and not negative"),
            Self::Bodies { count, first } => Offenders::bodies(*count, first).fmt(f),
        }
    }
}

impl core::error::Error for ViewError {}

impl ViewError {
    /// Returns an error that names the bodies of `0..bodies` with a fault, or `Ok` when no body has one. O(n).
    ///
    /// # Errors
    /// [`ViewError::Bodies`].
    pub fn of_bodies(bodies: usize, fault: impl Fn(usize) -> Option<Reason>) -> Result<(), Self> {
        offenders(bodies, &fault).map_or(Ok(()), |(count, first)| Err(Self::Bodies { count, first }))
    }
}

/// What is wrong with one body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A coordinate is NaN or infinite.
    CenterNotFinite {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// The radius is NaN or infinite.
    RadiusNotFinite,
    /// The radius is below zero.
    RadiusNegative,
    /// |coordinate| + radius is above 2^60, where squares of distances would overflow.
    TooFar {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// A corner of a box is NaN, a lower corner is plus infinity, or an upper corner is minus infinity.
    CornerNotNumber {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// An end of a capsule is NaN or infinite.
    EndNotFinite {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// The lower corner of a box lies above the upper one.
    CornersSwapped {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
    /// |coordinate| + radius is above 2^500 in `f64`, where squares of distances would overflow.
    TooFar64 {
        /// 0 for x, 1 for y, 2 for z.
        axis: u8,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CenterNotFinite { axis } => write!(f, "centre not finite on axis {axis}"),
            Self::RadiusNotFinite => f.write_str("radius not finite"),
            Self::RadiusNegative => f.write_str("radius negative"),
            Self::TooFar { axis } => write!(
                f,
                "|coordinate| + radius above 2^60 on axis {axis}: choose a larger unit, or search in f64 (`Circles64`, \
                 `Spheres64`)"
            ),
            Self::CornerNotNumber { axis } => {
                write!(f, "corners on axis {axis} are no numbers that a box can lie between")
            }
            Self::EndNotFinite { axis } => write!(f, "end not finite on axis {axis}"),
            Self::CornersSwapped { axis } => write!(f, "lower corner above the upper one on axis {axis}"),
            Self::TooFar64 { axis } => {
                write!(f, "|coordinate| + radius above 2^500 on axis {axis}: choose a larger unit")
            }
        }
    }
}

impl core::error::Error for Reason {}

/// Returns the byte at which the last of `count` scalars ends. It may exceed what a `usize` holds.
fn end_of(count: usize, stride: usize, offset: usize, scalar: usize) -> u128 {
    let [count, stride, offset, scalar] = [count, stride, offset, scalar].map(|number| number as u128);
    // Fits: (2^64 - 2)(2^64 - 1) + 2^64 + 7 is below 2^128.
    count.saturating_sub(1) * stride + offset + scalar
}

/// A message that counts offenders and names the first of them.
#[doc(hidden)]
#[derive(Debug)]
pub struct Offenders<'a, I, R> {
    /// The singular, the plural, and the label before each index.
    pub words: [&'static str; 3],
    /// The number of offenders.
    pub count: usize,
    /// The first offenders, each with its fault.
    pub first: &'a [(I, R)],
}

impl<'a, R> Offenders<'a, u32, R> {
    /// Returns the message for bodies, which are named by id.
    #[must_use]
    pub fn bodies(count: usize, first: &'a [(u32, R)]) -> Self {
        Self { words: ["body", "bodies", "id"], count, first }
    }
}

impl<I: fmt::Display, R: fmt::Display> fmt::Display for Offenders<'_, I, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [one, several, label] = self.words;
        write!(f, "{} {} refused: ", self.count, if self.count == 1 { one } else { several })?;
        for (i, (index, reason)) in self.first.iter().enumerate() {
            write!(f, "{}{label} {index}: {reason}", if i == 0 { "" } else { "; " })?;
        }
        if self.count > self.first.len() { write!(f, "; ...") } else { Ok(()) }
    }
}

/// Returns how many of `0..n` have a fault, and the first [`NAMED_OFFENDERS`] of them; `None` when nothing has one.
/// O(n).
#[doc(hidden)]
pub fn offenders<I: TryFrom<usize>, R>(n: usize, fault: &dyn Fn(usize) -> Option<R>) -> Option<(usize, Vec<(I, R)>)> {
    let mut faults = (0..n).filter_map(|i| Some((I::try_from(i).ok()?, fault(i)?)));
    let first: Vec<_> = faults.by_ref().take(NAMED_OFFENDERS).collect();
    (!first.is_empty()).then(|| (first.len() + faults.count(), first))
}

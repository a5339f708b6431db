//! Down the levels of a tree: what may overlap a box.

pub mod candidates;
pub mod descent;

/// Circles walk alone where the target tree has more than so many bodies for each body of the query tree. Measured on
/// even scenes: 64.
pub const SPARSE: usize = 64;

/// A circle that walks alone costs as much as so many that are searched together. Measured: 9 in a tree of a million.
pub const WALK: usize = 8;

/// How much a box moved by an offset is enlarged, relative to the offset: 2^-20.
///
/// At an offset, differences of coordinates are rounded by up to half an ulp of the offset, however small they are.
/// Rounding the borders of the moved box again costs an eighth of the margin that every box has (see
/// `jostle_core::aabb`). At most half of that margin was spent before.
pub const OFFSET_MARGIN: f32 = 1.0 / 1_048_576.0;

//! Down the levels of a tree: what may overlap a box.

pub(crate) mod candidates;
pub(crate) mod descent;

/// Bodies of the target tree for each of the group's from which on circles walk alone. Measured on even scenes: 64.
pub(crate) const SPARSE: usize = 64;

/// A circle that walks alone costs as much as so many that are searched together. Measured: 9 in a tree of a million.
pub(crate) const WALK: usize = 8;

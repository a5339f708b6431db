//! Down the levels of a tree: what may overlap a box.

pub(crate) mod candidates;
pub(crate) mod descent;

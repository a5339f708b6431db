//! Pairs from end to end: what a search is planned as.

pub(crate) mod listed;
pub(crate) mod plan;
pub(crate) mod prepare;

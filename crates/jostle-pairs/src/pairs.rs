//! Pairs from end to end: what a search is planned as.

pub(crate) mod engine;
pub(crate) mod listed;
pub(crate) mod ordered;
pub(crate) mod plan;
pub(crate) mod ranks;
pub(crate) mod ready;
pub(crate) mod reduction;
pub(crate) mod shifts;
pub(crate) mod stats;

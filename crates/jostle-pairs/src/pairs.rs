//! Pairs from end to end: a search is planned as joins, which are run into one list.

pub(crate) mod engine;
pub(crate) mod listed;
pub(crate) mod ordered;
pub(crate) mod plan;
pub(crate) mod ranks;
pub(crate) mod ready;
pub(crate) mod reduction;
pub(crate) mod shifts;
pub(crate) mod stats;

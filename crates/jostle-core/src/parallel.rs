//! Who runs the tasks of a stage, and what tasks share: one slice, scratch memory, where the output of each begins.

pub mod disjoint;
mod fill;
pub mod host;
pub mod lookback;
pub mod recording;
pub mod scratch;
mod team;
pub mod threads;
pub mod workers;

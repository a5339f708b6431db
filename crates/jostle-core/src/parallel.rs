//! The threads that run the tasks of a stage, and what tasks share: one slice, scratch memory, where the output of each
//! begins.

mod bell;
mod callers;
pub mod cores;
pub mod disjoint;
mod fill;
pub(crate) mod groups;
mod handover;
pub mod host;
pub mod lookback;
pub mod recording;
pub mod scratch;
mod sync;
pub mod task;
pub(crate) mod tasks;
mod team;
pub mod threads;
pub mod workers;

//! Every overlapping pair of circles or spheres, by a parallel SIMD self-join of a sorted linear tree.
//!
//! The files are the second half of the pipeline that `jostle-core` begins: `lanes` (sixteen floats at a time), `hits`
//! (what is found, and who takes it), `ordered` (the pairs of blocks in one list), `join` (the self-join), `kernel` (its bodies for each
//! instruction set), `finder` (the stages driven from end to end), `query` (questions to a built tree).

mod finder;
mod hits;
mod join;
mod kernel;
mod lanes;
mod ordered;
mod query;
mod stats;

pub use finder::{Found, PairFinder, SERIAL_BELOW, SERIAL_BELOW_FROM_OUTSIDE, Search, Threads};
pub use query::{Answers, Circle, Queries, QueryBatch, QueryError, QueryReason, Ray, Reached};
pub use stats::{StageTimes, Stats};

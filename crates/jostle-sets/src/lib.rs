//! Sets of circles, spheres, boxes or capsules as callers give them, prepared for searches, and questions to them.
//!
//! The folders are the middle of the pipeline that `jostle-core` begins and `jostle-pairs` ends; each uses only those before it:
//! - `simd`: sixteen floats at a time, by each instruction set; `shape`: tests of sixteen; `traverse`: the way down a tree.
//! - `input`: sets, relation and space, as the caller gives them.
//! - `proxy`: `f32` bodies that lose no pair, and the exact decision in `f64`.
//! - `prepare`: an input as trees, and which of them meet at which image.
//! - `query`: asks a built tree, or a set that has been prepared.
//!
//! `compiled` has the macro by which the heavy functions are compiled with these crates, not with each crate that calls them.

#[doc(hidden)]
pub mod compiled;
#[doc(hidden)]
pub mod input;
#[doc(hidden)]
pub mod prepare;
#[doc(hidden)]
pub mod proxy;
mod query;
#[doc(hidden)]
pub mod shape;
#[doc(hidden)]
pub mod simd;
#[doc(hidden)]
pub mod traverse;

pub use input::error::{InputError, LatticeFault, RangeFault};
pub use input::layers::{Layers, Values};
pub use input::{ActivationTable, Displacements, Input, Set, Space, between};
pub use jostle_core::Threads;
pub use proxy::prepared::PreparedSet;
pub use query::{
    Answers, Circle, PreparedAnswers, PreparedBatch, PreparedQueries, Queries, QueryBatch, QueryError, QueryReason,
    Ray, Reached, Seen, SeenAt,
};

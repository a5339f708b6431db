//! Sets of circles, spheres, boxes or capsules as callers give them, prepared for searches, and questions to them.
//!
//! The folders are the middle of the pipeline: `jostle-core` begins it, `jostle-pairs` ends it. Each folder uses only
//! the folders before it:
//! - `simd`: sixteen floats at a time, by each instruction set; `shape`: tests of sixteen; `traverse`: the way down a
//!   tree.
//! - `input`: sets, relation and space, as the caller gives them.
//! - `proxy`: `f32` bodies that lose no pair, and the exact decision in `f64`.
//! - `prepare`: turns an input into trees, and lists which of them meet at which image.
//! - `query`: asks a built tree or a prepared set.
//!
//! `compiled` has the macro that compiles heavy functions with the crate that defines them, not with each crate that
//! calls them.

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

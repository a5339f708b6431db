//! Every overlapping pair of circles, spheres, boxes or capsules, by a parallel SIMD join of sorted linear trees.
//!
//! The folders are the last part of the pipeline that `jostle-core` and `jostle-sets` begin. Each folder uses only the
//! folders before it:
//! - `join`: one tree with itself or another, the filters that hits pass, and the sinks that take them.
//! - `pairs`: a prepared input, planned as joins, and run from end to end.
//! - `neighbors`: neighbour lists as compressed sparse rows, and how long they hold.
//! - `finder`: the public `PairFinder`. Beside it, `coherent` keeps candidates from frame to frame.
//!
//! The feature `coherent` is that folder.
//!
//! A test (`tests/testkit/layering.rs`) checks that no two modules import each other.

// What keeps candidates calls on more of what is here than searches do.
#![cfg_attr(not(feature = "coherent"), allow(dead_code, rustdoc::broken_intra_doc_links))]
// So that docs.rs says which feature an item is behind.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "coherent")]
mod coherent;
mod finder;
mod join;
mod neighbors;
mod pairs;

#[cfg(feature = "coherent")]
pub use coherent::{CoherentFinder, search::CoherentSearch};
pub use finder::PairFinder;
pub use finder::found::{Found, Hit};
pub use finder::search::Search;
pub use jostle_core::{SERIAL_BELOW, SERIAL_BELOW_FROM_OUTSIDE, Threads};
pub use jostle_sets::{
    ActivationTable, Answers, Circle, Displacements, Input, InputError, LatticeFault, Layers, PreparedAnswers,
    PreparedBatch, PreparedQueries, PreparedSet, Queries, QueryBatch, QueryError, QueryReason, RangeFault, Ray,
    Reached, Seen, SeenAt, Set, Space, Values, between,
};
pub use neighbors::rows::Rows;
pub use neighbors::skin::Skin;
pub use neighbors::{NeighborColumns, NeighborLists};
pub use pairs::stats::{StageTimes, Stats};

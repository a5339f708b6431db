//! Every overlapping pair of circles, spheres, boxes or capsules, by a parallel SIMD join of sorted linear trees.
//!
//! The folders are the second half of the pipeline that `jostle-core` begins; each uses only those before it:
//! - `simd`: sixteen floats at a time, by each instruction set; `shape`: tests of sixteen; `traverse`: the way down a tree.
//! - `input`: sets, relation and space, as the caller gives them.
//! - `join`: one tree with itself or another, the filters that hits pass, and the sinks that take them.
//! - `proxy`: `f32` bodies that lose no pair, and the exact decision in `f64`.
//! - `pairs`: an input prepared, planned as joins, and run from end to end.
//! - `neighbors`: neighbour lists as compressed sparse rows, and how long they hold.
//! - `finder`: the public `PairFinder`. Beside it, `query` asks a built tree, `coherent` keeps candidates from frame to frame, and
//!   `contacts` tells which contacts begin, persist and end.
//!
//! `compiled` has the macro by which the heavy functions are compiled with this crate, not with each crate that calls them. A
//! test in `jostle-testkit` sees that no modules import each other.

mod coherent;
mod compiled;
mod contacts;
mod finder;
mod input;
mod join;
mod neighbors;
mod pairs;
mod proxy;
mod query;
mod shape;
mod simd;
mod traverse;

pub use coherent::{CoherentFinder, CoherentSearch};
pub use contacts::{
    BadPair, Changes, Contact, ContactError, ContactPairs, ContactTracker, Contacts, Keys, PairFault, RepeatedKey,
    Update, contact, contact_f64, contacts, contacts_between, contacts_f64,
};
pub use finder::PairFinder;
pub use finder::found::{Found, Hit};
pub use finder::search::Search;
pub use input::error::{InputError, LatticeFault, RangeFault};
pub use input::layers::{Layers, Values};
pub use input::{ActivationTable, Displacements, Input, Set, Space, between};
pub use jostle_core::{SERIAL_BELOW, SERIAL_BELOW_FROM_OUTSIDE, Threads};
pub use neighbors::rows::Rows;
pub use neighbors::skin::Skin;
pub use neighbors::{NeighborColumns, NeighborLists};
pub use pairs::stats::{StageTimes, Stats};
pub use proxy::prepared::PreparedSet;
pub use query::{
    Answers, Circle, PreparedAnswers, PreparedBatch, PreparedQueries, Queries, QueryBatch, QueryError, QueryReason,
    Ray, Reached, Seen, SeenAt,
};

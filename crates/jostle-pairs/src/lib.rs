//! Every overlapping pair of circles or spheres, by a parallel SIMD join of sorted linear trees.
//!
//! The folders are the second half of the pipeline that `jostle-core` begins. From below: `simd` (sixteen floats at a time, by each
//! instruction set), `shape` (tests of sixteen), `traverse` (the way down a tree), `join` (one tree with itself or another:
//! its hits, what is kept of them, and where they go), `input` (sets, relation and space, as the caller says), `proxy` (`f32`
//! bodies that lose no pair, and the exact decision), `pairs` (an input prepared, planned as joins, and driven from end to end),
//! `neighbors` (compressed sparse rows, and how long they hold), `finder` (what a caller holds). Beside them, `query` asks a built
//! tree, `prepared` keeps one for many searches, `contacts` tells which pairs begin, persist and end, and `compiled` is what is
//! compiled with this crate, not with others.

mod compiled;
mod contacts;
mod finder;
mod input;
mod join;
mod neighbors;
mod pairs;
mod prepared;
mod proxy;
mod query;
mod shape;
mod simd;
mod traverse;

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
pub use neighbors::NeighborLists;
pub use neighbors::row_join::Rows;
pub use neighbors::skin::Skin;
pub use pairs::stats::{StageTimes, Stats};
pub use prepared::PreparedSet;
pub use query::{
    Answers, Circle, PreparedAnswers, PreparedBatch, PreparedQueries, Queries, QueryBatch, QueryError, QueryReason,
    Ray, Reached, Seen, SeenAt,
};

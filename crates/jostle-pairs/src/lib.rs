//! Every overlapping pair of circles or spheres, by a parallel SIMD join of sorted linear trees.
//!
//! The files are the second half of the pipeline that `jostle-core` begins: `simd` (sixteen floats at a time, by each
//! instruction set), `shape` and `traverse` (tests of sixteen, and the way down a tree), `hits` (what is found, and who takes it),
//! `layers` and `filter` (what is kept of it), `pairing` (two trees, and what is wanted of them), `join` (a tree with
//! itself or another), `ordered` (the pairs of blocks in one list), `compiled` (what is compiled with this crate, not with others),
//! `pairs` and `engine` (joins planned and driven from end to end), `input`, `proxy` and `side` (what is searched), `leaf_rows`, `arena`, `rows`,
//! `row_scratch` and `neighbors` (lists of neighbours), `finder`, `search` and `found` (what a caller holds), `query` (questions to a built tree). Beside them,
//! `contacts` (which pairs begin, persist and end from frame to frame, and their geometry) knows nothing of the search.

mod arena;
mod compiled;
mod contacts;
mod engine;
mod filter;
mod finder;
mod found;
mod halving;
mod hits;
mod input;
mod join;
mod layers;
mod leaf_rows;
mod neighbors;
mod ordered;
mod pairing;
mod pairs;
mod prepared;
mod proxy;
mod query;
mod row_scratch;
mod rows;
mod search;
mod shape;
mod side;
mod simd;
mod skin;
mod stats;
mod traverse;

pub use contacts::{
    BadPair, Changes, Contact, ContactError, ContactTracker, Contacts, Keys, PairFault, RepeatedKey, Update, contact,
    contacts, contacts_between,
};
pub use finder::PairFinder;
pub use found::{Found, Hit};
pub use input::{ActivationTable, Displacements, Input, Set, Space, between};
pub use jostle_core::{SERIAL_BELOW, SERIAL_BELOW_FROM_OUTSIDE, Threads};
pub use layers::{Layers, Values};
pub use neighbors::NeighborLists;
pub use prepared::PreparedSet;
pub use query::{
    Answers, Circle, PreparedQueries, Queries, QueryBatch, QueryError, QueryReason, Ray, Reached, Seen, SeenAt,
};
pub use rows::Rows;
pub use search::Search;
pub use skin::Skin;
pub use stats::{StageTimes, Stats};

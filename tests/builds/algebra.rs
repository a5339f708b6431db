//! Every combination of sets, space, relation and answer against plain loops: the set of pairs against the oracle, their
//! sequence between threads and instruction sets.

mod any;
mod batches;
mod bench;
mod cells;
mod contacts;
mod matrix;
mod questions;
mod refusals;
mod scenes;
mod threads;
mod ugly;
mod wide;

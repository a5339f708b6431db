//! Every combination of sets, space, relation and answer, against plain loops. The oracle checks the set of pairs;
//! threads and instruction sets are compared by their sequence.

mod any;
mod batches;
mod bench;
mod cells;
mod contacts;
mod crowds;
mod matrix;
mod questions;
mod refusals;
mod scenes;
mod threads;
mod ugly;
mod wide;

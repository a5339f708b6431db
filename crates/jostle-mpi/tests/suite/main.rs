//! Ranks as threads: the pairs of any number of ranks are those of one process.

mod kit;
mod pairs;

//! Ranks as threads: what any number of ranks finds is what one process finds.

mod errors;
mod halos;
mod kit;
mod pairs;
mod random;
mod sets;
mod steps;

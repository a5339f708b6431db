//! Ranks as threads: any number of ranks finds what one process finds.

mod errors;
mod halos;
mod kit;
mod pairs;
mod random;
mod sets;
mod steps;

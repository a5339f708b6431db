//! Questions to a built tree, against plain loops: every kind of query on every scene, by every instruction set, one by
//! one and in batches on any threads.

mod asked;
mod batches;
mod check;
mod edges;
mod errors;
mod only;
mod properties;
mod scenes;

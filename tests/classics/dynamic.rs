//! The trees that are kept from frame to frame: random operations against a plain list, and long simulations.

mod frames;
mod list;
mod operations;
mod refusal;
mod tree;

use jostle_core::Aabb;

const WORLD: Aabb<2> = Aabb { lo: [0.0, 0.0], hi: [100.0, 100.0] };

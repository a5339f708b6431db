//! Morton codes, a parallel radix sort, and a sorted linear tree of circles or spheres.
//!
//! The files are the pipeline, each using only those before it: [`input`] and [`error`] (what comes in), [`bounds`]
//! (validation), [`morton`] (codes), [`radix`] (sort), [`tree`] (the linear tree).

pub mod aabb;
pub mod bounds;
pub mod disjoint;
pub mod error;
pub mod host;
pub mod input;
pub mod isa;
pub mod morton;
mod parts;
pub mod permutation;
pub mod prefix;
pub mod radix;
pub mod recording;
pub mod scratch;
pub mod sixteen;
mod team;
pub mod tree;
pub mod workers;

pub use aabb::Aabb;
pub use error::{InputError, Reason};
pub use host::Spawner;
pub use input::{Bodies, Circles, Circles64, Column, Radii, RadiusField, Scalar, Spheres, Spheres64};
pub use isa::Isa;
pub use permutation::{Permutation, PermutationError};
pub use recording::{Recording, Region, record};
pub use tree::{BuildTimes, LinearTree};
pub use workers::Workers;

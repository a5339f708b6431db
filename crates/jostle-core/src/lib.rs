//! Morton codes, a parallel radix sort, and a sorted linear tree of circles, spheres or boxes.
//!
//! The files follow the pipeline, and each uses only those before it: [`error`] and [`input`] (the caller's bodies),
//! [`bounds`] (validation), [`morton`] (codes), [`radix`] (sort), [`tree`] (the linear tree). [`parallel`] runs their
//! tasks.

pub mod aabb;
#[doc(hidden)]
pub mod axes;
pub mod bounds;
#[doc(hidden)]
pub mod clock;
pub mod error;
#[doc(hidden)]
pub mod fours;
pub mod input;
pub mod isa;
#[doc(hidden)]
pub mod limits;
pub mod morton;
#[doc(hidden)]
pub mod pages;
#[doc(hidden)]
pub mod parallel;
pub mod permutation;
#[doc(hidden)]
pub mod prefetch;
pub mod radix;
pub mod sixteen;
pub mod tree;

pub use aabb::Aabb;
pub use error::{Reason, ViewError};
pub use input::{
    Bodies, BoxView, Boxes, Boxes64, CapsuleView, Capsules, Capsules64, Circles, Circles64, Column, Field, Radii,
    RadiusField, Scalar, Spheres, Spheres64,
};
pub use isa::Isa;
pub use parallel::host::Spawner;
pub use parallel::recording::{Recording, Region};
#[doc(hidden)]
pub use parallel::tasks::Tasks;
pub use parallel::threads::{SERIAL_BELOW, SERIAL_BELOW_FROM_OUTSIDE, Threads};
pub use parallel::workers::{Workers, record};
#[doc(hidden)]
pub use parallel::{disjoint, lookback, scratch, task, threads};
pub use permutation::{Permutation, PermutationError};
#[doc(hidden)]
pub use tree::Checked;
pub use tree::{BuildTimes, LinearTree};

//! Morton codes, a parallel radix sort, and a sorted linear tree of circles or spheres.
pub mod error;
pub mod input;

pub use error::{InputError, Reason};
pub use input::{Bodies, Circles, Column, Radii, RadiusField, Spheres};

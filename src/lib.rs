//! Jostle: every overlapping pair of N moving circles or spheres.
pub use jostle_core::{Bodies, Circles, Column, InputError, Radii, RadiusField, Reason, Spheres};
pub use jostle_pairs::{Found, PairFinder, Search, StageTimes, Stats, Threads};

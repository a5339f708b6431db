//! Which objects of two groups were hit: coverage of pixels, added up in a bitmap for each group.
//!
//! In a bullet-hell game, only players against enemies matter, and only whether something was hit. Each object adds to
//! the bitmap of its group the part of each pixel that it covers. Then an object is hit if, in some pixel, its own part
//! and the other group's sum come to the area of the pixel: two things that fill a pixel together cannot miss each
//! other. The time does not depend on how many objects overlap, and is linear in the number of objects. But the answer
//! is an approximation:
//! - *misses*: two objects that overlap by less than the pixels at their rims can tell;
//! - *false hits*: several objects of one group that overlap each other cover, added up, more of a pixel than there is,
//!   and the rims of two objects that pass close by may fill a pixel together.

mod bitmaps;
mod circles;
mod exact;
mod hits;
mod rectangles;

pub use circles::CircleCoverage;
pub use hits::{Hits, Misjudged};
pub use rectangles::RectangleCoverage;

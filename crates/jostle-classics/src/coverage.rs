//! Two groups, and only the question who of each was hit: coverage of pixels, added up in a bitmap for each group.
//!
//! Of a bullet-hell game only players against enemies matters, and only whether something was hit. Each object adds to
//! the bitmap of its group which part of each pixel it covers; then it is hit where what it covers of a pixel and what
//! the other group covers of it come to the area of the pixel, for two things that fill a box do not pass each other
//! by. The time does not depend on how many overlap, and is linear in the number of objects; but it is an
//! approximation:
//! - *misses*: two that overlap by less than the pixels at their rims can tell;
//! - *false hits*: several of one group that overlap each other cover more of a pixel, added up, than there is, and the
//!   rims of two that pass close by may come to a pixel together.

mod bitmaps;
mod circles;
mod exact;
mod hits;
mod rectangles;

pub use circles::CircleCoverage;
pub use hits::{Hits, Misjudged};
pub use rectangles::RectangleCoverage;

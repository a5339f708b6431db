//! The exact answer, by the loop over all pairs of the two groups. The bitmaps are measured against it, in what they
//! find and in time.

use jostle_core::{Aabb, Circles, ViewError};

use super::hits::Hits;
use super::rectangles::check;
use crate::body::Body;
use crate::check::take;

impl Hits {
    /// Finds which circles overlap a circle of the other group, exactly. O(a * b).
    ///
    /// # Errors
    /// The errors of the engine's search; errors of the first group come first.
    pub fn of_circles(a: Circles<'_>, b: Circles<'_>) -> Result<Self, ViewError> {
        let mut groups = [Vec::new(), Vec::new()];
        take(a, &mut groups[0])?;
        take(b, &mut groups[1])?;
        Ok(Self::of_all(&groups[0], &groups[1], Body::overlaps))
    }

    /// Finds which rectangles share a point with a rectangle of the other group, exactly. O(a * b).
    ///
    /// # Errors
    /// As [`RectangleCoverage::find`](super::RectangleCoverage::find).
    pub fn of_rectangles(a: &[Aabb<2>], b: &[Aabb<2>]) -> Result<Self, ViewError> {
        check(a)?;
        check(b)?;
        Ok(Self::of_all(a, b, Aabb::overlaps))
    }

    fn of_all<T>(a: &[T], b: &[T], overlap: impl Fn(&T, &T) -> bool) -> Self {
        let mut hits = Self::default();
        hits.reset([a.len(), b.len()]);
        let [a_hits, b_hits] = hits.groups_mut();
        for (a, a_hit) in a.iter().zip(a_hits) {
            for (b, b_hit) in b.iter().zip(b_hits.iter_mut()) {
                let both = overlap(a, b);
                *a_hit |= both;
                *b_hit |= both;
            }
        }
        hits
    }
}

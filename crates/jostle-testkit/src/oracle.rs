//! The definition of the answer: a double loop over all bodies.

use jostle_core::Bodies;

/// Whether two bodies overlap: squared distance of centres at most the squared sum of radii, in `f32`, left to right,
/// multiply and add rounded separately. Touching counts.
#[inline]
#[must_use]
pub fn overlaps<const D: usize>(p: [f32; D], p_radius: f32, q: [f32; D], q_radius: f32) -> bool {
    let dx = q[0] - p[0];
    let mut distance2 = dx * dx;
    for axis in 1..D {
        let d = q[axis] - p[axis];
        distance2 += d * d;
    }
    let s = p_radius + q_radius;
    distance2 <= s * s
}

/// Every overlapping pair `[a, b]`, `a < b`, in ascending order. O(n^2).
#[must_use]
pub fn pairs<const D: usize>(view: Bodies<'_, D>) -> Vec<[u32; 2]> {
    let bodies: Vec<_> = (0..view.len()).map(|id| (view.center(id), view.radius(id))).collect();
    let mut pairs = Vec::new();
    for (a, &(p, p_radius)) in bodies.iter().enumerate() {
        for (b, &(q, q_radius)) in bodies.iter().enumerate().skip(a + 1) {
            if overlaps(p, p_radius, q, q_radius) {
                pairs.push([a as u32, b as u32]);
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::pairs;
    use jostle_core::{Circles, Spheres};

    #[test]
    fn touching_counts_and_a_gap_of_one_ulp_does_not() {
        let x = [0.0, 1.0, 2.0_f32.next_up()];
        assert_eq!(pairs(Circles::new(&x, &[0.0; 3], 0.5)), [[0, 1]]);
    }

    #[test]
    fn concentric_points_overlap() {
        assert_eq!(pairs(Spheres::new(&[1.0; 3], &[2.0; 3], &[3.0; 3], 0.0)), [[0, 1], [0, 2], [1, 2]]);
    }

    #[test]
    fn differences_whose_squares_vanish_count() {
        let x = [0.0, 2.0_f32.powi(-76)];
        assert_eq!(pairs(Circles::new(&x, &[0.0; 2], 0.0)), [[0, 1]]);
    }
}

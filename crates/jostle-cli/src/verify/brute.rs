//! The double loop of the oracle, its rows shared out among all threads.

use jostle::Bodies;
use jostle_testkit::oracle::{Real, overlaps};
use rayon::prelude::*;

/// Every overlapping pair `[a, b]`, `a < b`, in ascending order. Runs in the current rayon pool. O(n^2).
pub(super) fn pairs<const D: usize>(view: Bodies<'_, D, impl Real>) -> Vec<[u32; 2]> {
    let bodies: Vec<_> = (0..view.len()).map(|id| (view.center(id), view.radius(id))).collect();
    let row = |(a, &(p, p_radius))| {
        let later = bodies.iter().enumerate().skip(a + 1);
        let hits = later.filter(move |&(_, &(q, q_radius))| overlaps(p, p_radius, q, q_radius));
        hits.map(move |(b, _)| [a as u32, b as u32])
    };
    bodies.par_iter().enumerate().flat_map_iter(row).collect()
}

#[cfg(test)]
mod tests {
    use jostle_testkit::{Kind, oracle, scene::scene};

    #[test]
    fn equal_to_the_oracle() {
        let circles = scene::<2>(Kind::Dense, 700, 3);
        assert_eq!(super::pairs(circles.view()), oracle::pairs(circles.view()));
    }
}

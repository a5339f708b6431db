//! Bodies of one radius, displaced from a lattice: no two lie on one another, and none is alone.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::Scene;

/// The radius of all bodies.
const RADIUS: f32 = 1.0;

/// How far a body is displaced on each axis, at most, in spacings of the lattice.
const DISPLACED: f64 = 0.3;

/// Returns the spacing at which a body far from the border touches about 20 others in the plane, 40 in space.
fn spacing(axes: usize) -> f64 {
    if axes == 2 { 0.7927 } else { 0.9427 }
}

/// Returns the number of sites on each axis: the least at which every body has a site.
fn sites(axes: usize, n: usize) -> usize {
    (1..).find(|&sites: &usize| sites.pow(axes as u32) >= n).unwrap_or(1)
}

/// Returns the side of the world.
pub(super) fn world<const D: usize>(n: usize) -> f32 {
    (sites(D, n) as f64 * spacing(D)) as f32
}

/// Draws `n` bodies, at sites in random order; sites left over stay empty.
pub(super) fn drawn<const D: usize>(rng: &mut Pcg64Mcg, n: usize) -> Scene<D> {
    let (sites, side) = (sites(D, n), world::<D>(n));
    let mut order: Vec<usize> = (0..sites.pow(D as u32)).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, rng.random_range(0..=last));
    }
    let body = |site: &usize| {
        let mut site = *site;
        let center = [(); D].map(|()| {
            let at = (site % sites) as f64 + 0.5 + DISPLACED * (2.0 * rng.random::<f64>() - 1.0);
            site /= sites;
            ((at * spacing(D)) as f32).min(side.next_down())
        });
        (center, RADIUS)
    };
    order[..n].iter().map(body).collect()
}

//! Questions to the bodies of a set and all their images, by plain loops.

use jostle_core::axes::{Axes, from_axes};

use super::{Case, space::Lattice};
use crate::axes::compiled_here;

/// A body at an image: its id and its shift.
pub type Image<const D: usize> = (u32, [i32; D]);

impl<const D: usize> Case<D> {
    /// Calls `visit` with each image of the bodies of the first set that may come within `reach` of a point, and with
    /// more. It gives the image, the centre of its body, the vector by which the image is moved, and the radius.
    fn each_image(&self, point: [f64; D], reach: f64, mut visit: impl FnMut(Image<D>, [f64; D], [f64; D], f64)) {
        let (set, lattice) = (&self.sets[0], self.space.lattice());
        for id in 0..set.len() {
            let (center, radius) = (set.center(id), set.radius(id));
            let mut see = |lattice: Option<&Lattice<D>>, shift: [i32; D]| {
                let by = lattice.map_or([0.0; D], |lattice| lattice.combined(shift.axes(i64::from)));
                visit((id as u32, shift), center, by, radius);
            };
            match &lattice {
                None => see(None, [0; D]),
                Some(lattice) => {
                    let apart = from_axes(|axis| center[axis] - point[axis]);
                    lattice.each_shift(apart, reach + radius, |shift| see(Some(lattice), shift));
                }
            }
        }
    }

    /// Returns the images that overlap a circle, in ascending order.
    #[must_use]
    pub fn in_circle(&self, point: [f64; D], radius: f64) -> Vec<Image<D>> {
        in_circle(self, &point, &radius)
    }

    /// Returns the images that touch a box, in ascending order.
    #[must_use]
    pub fn in_box(&self, lo: [f64; D], hi: [f64; D]) -> Vec<Image<D>> {
        in_box(self, &lo, &hi)
    }

    /// Returns the images that a ray hits, with the distance of each: by distance, then image.
    #[must_use]
    pub fn on_ray(&self, origin: [f64; D], direction: [f64; D], reach: f64) -> Vec<(f64, Image<D>)> {
        on_ray(self, &origin, &direction, &reach)
    }

    /// Returns the images whose centres lie nearest to a point, with their distances: by distance, then image.
    #[must_use]
    pub fn nearest_to(&self, point: [f64; D], count: usize, within: f64) -> Vec<(f64, Image<D>)> {
        nearest_to(self, &point, &count, &within)
    }
}

compiled_here! {
    fn in_circle<const D: usize>(case: &Case<D>, point: &[f64; D], radius: &f64) -> Vec<Image<D>> {
        let mut found = Vec::new();
        case.each_image(*point, *radius, |image, center, by, r| {
            let s = *radius + r;
            if squared(apart(center, *point, by)) <= s * s {
                found.push(image);
            }
        });
        found.sort_unstable();
        found
    }

    fn in_box<const D: usize>(case: &Case<D>, lo: &[f64; D], hi: &[f64; D]) -> Vec<Image<D>> {
        let (middle, half) =
            (each(|k| lo[k] / 2.0 + hi[k] / 2.0), squared::<D>(each(|k| hi[k] / 2.0 - lo[k] / 2.0)).sqrt());
        let mut found = Vec::new();
        case.each_image(middle, half, |image, center, by, r| {
            let outside = each(|k| (lo[k] - (center[k] + by[k])).max(0.0).max(center[k] + by[k] - hi[k]));
            if squared::<D>(outside) <= r * r {
                found.push(image);
            }
        });
        found.sort_unstable();
        found
    }

    fn on_ray<const D: usize>(case: &Case<D>, origin: &[f64; D], direction: &[f64; D], reach: &f64) -> Vec<(f64, Image<D>)> {
        let (length2, mut found) = (squared(*direction), Vec::new());
        let length = length2.sqrt();
        let middle = each(|k| origin[k] + direction[k] / length * *reach / 2.0);
        case.each_image(middle, *reach / 2.0, |image, center, by, r| {
            let m = apart(center, *origin, by);
            let mut distance = 0.0;
            if squared(m) > r * r {
                let along = (0..D).map(|k| m[k] * direction[k]).fold(0.0, |sum, x| sum + x) / length2;
                let off = squared(each::<D>(|k| m[k] - along * direction[k]));
                if along < 0.0 || off > r * r {
                    return;
                }
                distance = (along * length - (r * r - off).sqrt()).max(0.0);
            }
            if distance <= *reach {
                found.push((distance, image));
            }
        });
        sort(&mut found);
        found
    }

    fn nearest_to<const D: usize>(case: &Case<D>, point: &[f64; D], count: &usize, within: &f64) -> Vec<(f64, Image<D>)> {
        let mut found = Vec::new();
        case.each_image(*point, *within, |image, center, by, _| {
            let distance2 = squared(apart(center, *point, by));
            if distance2 <= *within * *within {
                found.push((distance2, image));
            }
        });
        sort(&mut found);
        found.truncate(*count);
        found.iter_mut().for_each(|found| found.0 = found.0.sqrt());
        found
    }
}

/// Sorts by distance, then by image.
fn sort<const D: usize>(found: &mut [(f64, Image<D>)]) {
    found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
}

fn each<const D: usize>(of: impl Fn(usize) -> f64) -> [f64; D] {
    from_axes(of)
}

fn apart<const D: usize>(to: [f64; D], from: [f64; D], by: [f64; D]) -> [f64; D] {
    each(|k| (to[k] - from[k]) + by[k])
}

fn squared<const D: usize>(d: [f64; D]) -> f64 {
    d.iter().fold(0.0, |sum, d| sum + d * d)
}

//! Finds the images at which a neighbour in a row touches, where there may be several.
//!
//! The images that may touch are worked out for each two bodies: b is seen within `reach` of a only where its
//! fractional coordinate along each vector differs from that of a by at most c = `reach` over the height of the cell.
//! So the cost of an entry of a row does not grow with the number of images of the search, which the largest bodies
//! decide.

use crate::neighbors::rows::Rows;
use jostle_core::axes::{Axes, Both, from_axes};
use jostle_sets::input::UnitCell;
use jostle_sets::proxy::{Exact, first_touch, squared};

/// The vector from a body to a neighbour, and its square, as the predicate has them.
pub(crate) type Apart<const D: usize> = ([f64; D], f64);

/// Added to c, relative to c and to 1: 2^-16 and 2^-20, far more than the rounding of fractions.
const RELATIVE: f64 = 1.0 / 65_536.0;
const LEAST: f64 = 1.0 / 1_048_576.0;

/// Calls `visit` with each image at which b in the row of a touches: by how many of each vector b is moved there, and
/// how far b is then from a. There are `count` such images, which come in order of their numbers.
pub(crate) fn each_touch<const D: usize>(
    exact: &Exact<'_, D>,
    kind: Rows,
    a: u32,
    b: u32,
    count: usize,
    mut visit: impl FnMut([i32; D], Apart<D>),
) {
    let sets = [0, exact.sets.len() as u32 - 1];
    let Some(cell) = &exact.cell else { return };
    let (two, itself) = (Two::new(exact, cell, sets, [a, b]), sets[1] == 0 && a == b);
    if count == 1 && !itself {
        // The image is the nearest one, unless the cell is skewed.
        let steps = two.nearest_steps();
        if let Some(apart) = two.touch(steps) {
            return visit(steps, apart);
        }
    }
    let mut left = count;
    let ([lo, hi], half) = (two.range(&exact.images.blur), itself && kind == Rows::Half);
    each_image([lo, hi], [!itself, true, !half], |image| {
        let steps = from_axes(|k| image[k] - two.wraps[k]);
        if let Some(apart) = two.touch(steps) {
            visit(steps, apart);
            left -= 1;
        }
        left > 0
    });
    assert_eq!(left, 0, "the rows have more images of body {b} for body {a} than touch");
}

/// Two bodies, as the predicate has them.
struct Two<'a, const D: usize> {
    cell: &'a UnitCell<D>,
    /// Whether the predicate is in `f64`, on bodies as they were given, and not in `f32`, on bodies in the cell.
    decided: bool,
    /// The vector from the first body to the second, and the sum of their radii.
    apart: [f64; D],
    s: f64,
    apart_single: [f32; D],
    s_single: f32,
    /// By how many more cells than the first body the second has been moved to lie in the cell.
    wraps: [i32; D],
    displacements: Option<[[f64; D]; 2]>,
}

impl<'a, const D: usize> Two<'a, D> {
    fn new(exact: &Exact<'_, D>, cell: &'a UnitCell<D>, sets: [u32; 2], [a, b]: [u32; 2]) -> Self {
        let (mut apart, from) = (exact.center(sets[1], b), exact.center(sets[0], a));
        let (mut wraps, of_a) = (exact.wraps_of(sets[1], b), exact.wraps_of(sets[0], a));
        for axis in 0..D {
            apart[axis] -= from[axis];
            wraps[axis] -= of_a[axis];
        }
        let (mut apart_single, mut s_single) = ([0.0; D], 0.0);
        if !exact.decided {
            let ([of_a, of_b], [a, b]) = (sets.both(|set| exact.in_cell(set)), [a, b].both(|id| id as usize));
            let (from, to) = (of_a.center(a), of_b.center(b));
            for axis in 0..D {
                apart_single[axis] = to[axis] - from[axis];
            }
            s_single = of_a.radius(a) + of_b.radius(b);
        }
        let s = exact.radius(sets[0], a) + exact.radius(sets[1], b);
        let moves = || [exact.displacement(sets[0], a), exact.displacement(sets[1], b)];
        let displacements = exact.moves(sets).then(moves);
        Self { cell, decided: exact.decided, apart, s, apart_single, s_single, wraps, displacements }
    }

    /// By how much the fractional coordinates of the two differ along a vector.
    fn fraction(&self, k: usize) -> f64 {
        (0..D).fold(0.0, |sum, axis| sum + self.apart[axis] * self.cell.duals[k][axis])
    }

    /// By how many of each vector the second body is moved to where the fractional coordinates of the two differ least.
    fn nearest_steps(&self) -> [i32; D] {
        let nearest = |k: usize| if self.cell.space.repeats[k] { -self.fraction(k).round() as i32 } else { 0 };
        from_axes(nearest)
    }

    /// The least and the greatest image along each vector at which the two may touch, counted from the cell.
    fn range(&self, blur: &[f64; D]) -> [[i32; D]; 2] {
        let mut reach = self.s.max(self.s_single.into());
        if let Some([from, to]) = self.displacements {
            reach += squared(from_axes::<_, D>(|axis| to[axis] - from[axis])).sqrt();
        }
        let (mut lo, mut hi) = ([0; D], [0; D]);
        for k in (0..D).filter(|&k| self.cell.space.repeats[k]) {
            let c = reach * squared(self.cell.duals[k]).sqrt() * (1.0 + RELATIVE) + blur[k] + LEAST;
            let middle = -self.fraction(k);
            (lo[k], hi[k]) = ((middle - c).ceil() as i32 + self.wraps[k], (middle + c).floor() as i32 + self.wraps[k]);
        }
        [lo, hi]
    }

    /// How far the two are apart, if they touch once the second has been moved by `steps` of each vector.
    #[inline]
    fn touch(&self, mut steps: [i32; D]) -> Option<Apart<D>> {
        if self.decided {
            let (mut apart, shift) = (self.apart, self.cell.shift(steps.axes(f64::from)));
            for axis in 0..D {
                apart[axis] += shift[axis];
            }
            let distance2 = squared(apart);
            let touches = match self.displacements {
                None => distance2 <= self.s * self.s,
                Some(displacements) => first_touch(apart, displacements, self.s).is_some(),
            };
            return touches.then_some((apart, distance2));
        }
        for k in 0..D {
            steps[k] += self.wraps[k];
        }
        let (mut apart, mut distance2, offset) = (self.apart_single, 0.0, self.cell.shift(steps.axes(f64::from)));
        for axis in 0..D {
            apart[axis] += offset[axis] as f32;
            distance2 += apart[axis] * apart[axis];
        }
        (distance2 <= self.s_single * self.s_single).then(|| (apart.axes(f64::from), distance2.into()))
    }
}

/// Calls `visit` with each image of a range, in order of their numbers, until `visit` returns false: first the image of
/// the bodies themselves, then the images whose last step other than 0 is positive, then the opposites of these.
/// `wanted` says which of the three come.
fn each_image<const D: usize>([lo, hi]: [[i32; D]; 2], wanted: [bool; 3], mut visit: impl FnMut([i32; D]) -> bool) {
    let zero = (0..D).all(|k| lo[k] <= 0 && 0 <= hi[k]);
    if wanted[0] && zero && !visit([0; D]) {
        return;
    }
    if wanted[1] && !each_forward(lo, hi, &mut visit) {
        return;
    }
    if wanted[2] {
        each_forward(hi.axes(|step| -step), lo.axes(|step| -step), &mut |image| visit(image.axes(|step| -step)));
    }
}

/// Calls `visit` with each image of a range whose last step other than 0 is positive, until `visit` returns false.
fn each_forward<const D: usize>(mut lo: [i32; D], hi: [i32; D], visit: &mut impl FnMut([i32; D]) -> bool) -> bool {
    lo[D - 1] = lo[D - 1].max(0);
    if (0..D).any(|k| lo[k] > hi[k]) {
        return true;
    }
    let mut step = lo;
    loop {
        let forward = step.iter().rev().find(|&&step| step != 0).is_some_and(|&step| step > 0);
        if forward && !visit(step) {
            return false;
        }
        let Some(k) = (0..D).find(|&k| step[k] < hi[k]) else { return true };
        step[..k].copy_from_slice(&lo[..k]);
        step[k] += 1;
    }
}

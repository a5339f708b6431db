//! The images at which a neighbour in a row touches, where there may be several.

use crate::neighbors::rows::Rows;
use crate::proxy::{Exact, squared};

/// From a body to a neighbour, and the square of that, as the predicate has them.
type Apart<const D: usize> = ([f64; D], f64);

impl<const D: usize> Exact<'_, D> {
    /// Calls `visit` with each image at which b in the row of a touches: by how many of each vector it is moved there, and how
    /// far it is then from a. There are `count` of them, which come in order of the numbers of images.
    pub(crate) fn each_touch(
        &self,
        kind: Rows,
        a: u32,
        b: u32,
        count: usize,
        mut visit: impl FnMut([i32; D], Apart<D>),
    ) {
        let sets = [0, self.sets.len() as u32 - 1];
        let itself = sets[1] == 0 && a == b;
        if count == 1 && !itself {
            // It is the nearest one, unless the cell is skewed: then all are looked at.
            let steps = self.nearest_steps(sets, a, b);
            if let Some(apart) = self.touch_by(sets, steps, a, b) {
                return visit(steps, apart);
            }
        }
        let all = self.images.steps.len();
        let last = if itself && kind == Rows::Half { self.images.half() } else { all };
        let touches = (u32::from(itself)..last as u32).filter_map(|image| {
            let steps = self.steps(sets, image, a, b);
            Some((steps, self.touch_by(sets, steps, a, b)?))
        });
        let mut left = count;
        for (steps, apart) in touches.take(count) {
            visit(steps, apart);
            left -= 1;
        }
        assert_eq!(left, 0, "the rows have more images of body {b} for body {a} than touch");
    }

    /// By how many of each vector b is moved to where its fractional coordinates differ least from those of a.
    fn nearest_steps(&self, sets: [u32; 2], a: u32, b: u32) -> [i32; D] {
        let (mut steps, from, to) = ([0; D], self.center(sets[0], a), self.center(sets[1], b));
        if let Some(cell) = &self.cell {
            for k in (0..D).filter(|&k| cell.space.repeats[k]) {
                let fraction = (0..D).fold(0.0, |sum, axis| sum + (to[axis] - from[axis]) * cell.duals[k][axis]);
                steps[k] = -fraction.round() as i32;
            }
        }
        steps
    }

    /// How far b is from a, if they touch once b has been moved by so many of each vector.
    fn touch_by(&self, sets: [u32; 2], steps: [i32; D], a: u32, b: u32) -> Option<Apart<D>> {
        if self.decided {
            let apart = self.difference_by(sets, steps, a, b);
            return self.is_pair_from(apart, sets, a, b).then(|| (apart, squared(apart)));
        }
        let (mut steps, from, to) = (steps, self.wraps_of(sets[0], a), self.wraps_of(sets[1], b));
        (0..D).for_each(|k| steps[k] += to[k] - from[k]);
        let offset = self.cell.as_ref()?.shift(steps.map(f64::from)).map(|shift| shift as f32);
        let [first, second] = sets.map(|set| self.proxies(set).view());
        let (from, to, mut apart, mut distance2) = (first.center(a as usize), second.center(b as usize), [0.0; D], 0.0);
        for axis in 0..D {
            apart[axis] = (to[axis] - from[axis]) + offset[axis];
            distance2 += apart[axis] * apart[axis];
        }
        let s = first.radius(a as usize) + second.radius(b as usize);
        (distance2 <= s * s).then(|| (apart.map(f64::from), distance2.into()))
    }
}

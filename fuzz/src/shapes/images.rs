//! Spaces that may repeat, from bytes, and the images at which two bodies may touch.

use core::array::from_fn;

use jostle::Space;

use crate::number::Number64;

/// The largest magnitude of lengths and corners as drawn. Lengths are no smaller than one over it.
const LIMIT: f64 = (1_u64 << 40) as f64;

/// The most steps along one vector.
const STEPS: f64 = 100_000.0;

arbitrary! {
    /// A space. It is open where the bytes have come to an end.
    #[derive(Debug)]
    pub(super) struct Around {
        kind: u8,
        repeats: u8,
        origin: [Number64; 3],
        lengths: [Number64; 3],
        slants: [i8; 3],
        /// How many cells the widest body may take; any number, if this is even.
        crowding: u8,
    }
}

/// The interval that a body takes on each axis.
pub(super) type Extent<const D: usize> = [[f64; 2]; D];

impl Around {
    /// Returns the space, of whose cells no body takes too many. The widest bodies are as wide as `widest`.
    pub(super) fn space<const D: usize>(&self, widest: [f64; D], scale: f64) -> Space<D> {
        let drawn = |number: Number64| {
            let value = number.value();
            if value.is_finite() { value.clamp(-LIMIT, LIMIT) } else { 1.0 }
        };
        let least = |axis: usize| {
            if self.crowding.is_multiple_of(2) { 0.0 } else { widest[axis] / f64::from(self.crowding / 2 % 4 + 1) }
        };
        let lengths: [f64; D] =
            from_fn(|axis| (drawn(self.lengths[axis]).abs().max(1.0 / LIMIT) * scale).max(least(axis)));
        let origin: [f64; D] = from_fn(|axis| drawn(self.origin[axis]) * scale);
        let repeats: [bool; D] = from_fn(|axis| self.repeats >> axis & 1 == 0);
        match self.kind % 3 {
            0 => Space::open(),
            1 => Space::periodic(from_fn(|axis| repeats[axis].then(|| [origin[axis], origin[axis] + lengths[axis]]))),
            _ => {
                // The lattice has nothing above the diagonal. So it is right-handed, and the last axis alone tells the
                // steps along the last vector.
                let slant = |k: usize, axis: usize| lengths[axis] * f64::from(self.slants[k + axis - 1]) / 32.0;
                let part = |k: usize, axis: usize| if axis < k { slant(k, axis) } else { 0.0 };
                let vector = |k: usize| from_fn(|axis| if axis == k { lengths[k] } else { part(k, axis) });
                Space::lattice(from_fn(vector), repeats).at(origin)
            }
        }
    }
}

/// Calls `visit` with the steps and the shift of each image at which the second body may touch the first, by the
/// extents of both; and of some more images. Returns false if `left` images are not enough.
pub(super) fn each_image<const D: usize>(
    space: &Space<D>,
    [a, b]: [&Extent<D>; 2],
    left: &mut usize,
    visit: &mut dyn FnMut([i32; D], [f64; D]),
) -> bool {
    let mut walk = Walk { vectors: space.vectors(), repeats: space.repeats(), a, b, steps: [0; D], left, visit };
    walk.below(D)
}

/// Returns the shift of an image: its steps along each vector, summed up from left to right.
pub(super) fn shift_of<const D: usize>(space: &Space<D>, steps: [i32; D]) -> [f64; D] {
    let (vectors, steps) = (space.vectors(), steps.map(f64::from));
    from_fn(|axis| (1..D).fold(steps[0] * vectors[0][axis], |sum, k| sum + steps[k] * vectors[k][axis]))
}

struct Walk<'a, const D: usize> {
    vectors: [[f64; D]; D],
    repeats: [bool; D],
    a: &'a Extent<D>,
    b: &'a Extent<D>,
    steps: [i32; D],
    left: &'a mut usize,
    visit: &'a mut dyn FnMut([i32; D], [f64; D]),
}

impl<const D: usize> Walk<'_, D> {
    /// Visits all steps along the first `axes` vectors. Steps along the other vectors are chosen.
    fn below(&mut self, axes: usize) -> bool {
        let Some(axis) = axes.checked_sub(1) else {
            if *self.left == 0 {
                return false;
            }
            *self.left -= 1;
            let steps = self.steps.map(f64::from);
            let along = |axis: usize, k: usize| steps[k] * self.vectors[k][axis];
            (self.visit)(self.steps, from_fn(|axis| (1..D).fold(along(axis, 0), |sum, k| sum + along(axis, k))));
            return true;
        };
        self.steps[axis] = 0;
        if !self.repeats[axis] {
            return self.below(axis);
        }
        let moved: f64 = (axes..D).map(|k| f64::from(self.steps[k]) * self.vectors[k][axis]).sum();
        let ([lo, hi], [low, high], length) = (self.a[axis], self.b[axis], self.vectors[axis][axis]);
        let (first, last) = (((lo - high - moved) / length).floor(), ((hi - low - moved) / length).ceil());
        // This is false for NaN.
        let few = last - first <= STEPS && first.abs().max(last.abs()) < f64::from(i32::MAX);
        few && (first as i32..=last as i32).all(|step| {
            self.steps[axis] = step;
            self.below(axis)
        })
    }
}

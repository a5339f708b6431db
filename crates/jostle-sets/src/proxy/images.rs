//! The images at which bodies of a cell may touch.
//!
//! Bodies moved into the cell are at most 1 from each other along each vector that repeats, in lengths of it. A body
//! seen k cells on is at least (|k| - 1) h away, where h is the height of the cell over its other vectors. So two
//! bodies can touch where |k| <= 1 + c/h, where c is the greatest sum of two radii. What the predicate rounds is added
//! to c.

use crate::InputError;
use crate::input::error::MAX_IMAGES;
use jostle_core::axes::{Axes, from_axes};

use crate::input::UnitCell;

/// Images by number: first the cell itself, then half of the other images, then their opposites.
#[derive(Debug, Clone)]
pub struct Images<const D: usize> {
    /// How many of each vector lead to the image.
    pub steps: Vec<[i32; D]>,
    /// The same as a vector: `shifts` in the caller's lengths, `offsets` in those of the trees.
    pub(crate) shifts: Vec<[f64; D]>,
    pub offsets: Vec<[f32; D]>,
    /// No two bodies can touch at more than one image.
    pub unique: bool,
    /// How much nearer two bodies may seem along each vector, in lengths of the vector.
    pub blur: [f64; D],
}

impl<const D: usize> Default for Images<D> {
    fn default() -> Self {
        Self { steps: vec![[0; D]], shifts: vec![[0.0; D]], offsets: vec![[0.0; D]], unique: true, blur: [0.0; D] }
    }
}

/// What trees have in place of the caller's lengths.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lengths<const D: usize> {
    /// Lengths times a scale, without what was dropped of each period.
    Scaled(f64, [f64; D]),
    /// Ordinals, so many in each period.
    Ordinals([f32; D]),
}

impl<const D: usize> Lengths<D> {
    /// The offset of an image, given its steps, and these steps as a vector.
    fn offset(&self, step: [i32; D], shift: [f64; D]) -> [f32; D] {
        match *self {
            Self::Scaled(scale, dropped) => {
                from_axes(|axis| ((shift[axis] - f64::from(step[axis]) * dropped[axis]) * scale) as f32)
            }
            Self::Ordinals(in_period) => from_axes(|axis| step[axis] as f32 * in_period[axis]),
        }
    }
}

/// How far bodies reach.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach<const D: usize> {
    /// The greatest sum of two radii.
    pub(crate) sum: f64,
    /// How much nearer two bodies may seem on each axis. For boxes, it includes what two of them reach on the axis.
    pub(crate) blur: [f64; D],
}

/// The images that bodies may meet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImageRange<const D: usize> {
    /// The most cells along each vector, to either side.
    most: [i32; D],
    unique: bool,
    blur: [f64; D],
}

impl<const D: usize> ImageRange<D> {
    /// The images that bodies of such a reach may meet. Too many are refused.
    pub(crate) fn of(cell: &UnitCell<D>, reach: Reach<D>) -> Result<Self, InputError> {
        let (mut range, mut images) = (Self { most: [0; D], unique: true, blur: [0.0; D] }, 1.0_f64);
        for k in (0..D).filter(|&k| cell.space.repeats[k]) {
            let dual = cell.duals[k];
            let inverse_height = dual.iter().map(|x| x * x).sum::<f64>().sqrt();
            let blur: f64 = (0..D).map(|axis| dual[axis].abs() * reach.blur[axis]).sum();
            let cells = reach.sum * inverse_height * (1.0 + 1.0 / 65_536.0) + blur;
            range.unique &= cells < 0.499;
            range.blur[k] = blur;
            let steps = (1.0 + cells).floor();
            images *= 2.0 * steps + 1.0;
            range.most[k] = steps.min(MAX_IMAGES as f64) as i32;
        }
        // NaN is refused as well: `>` alone would take it for few images.
        if images.is_nan() || images > MAX_IMAGES as f64 {
            return Err(InputError::Images { images, reach: reach.blur.into_iter().fold(reach.sum, f64::max) });
        }
        Ok(range)
    }

    /// The most cells along any vector.
    pub(crate) fn farthest(&self) -> usize {
        self.most.iter().fold(0, |farthest, &most| farthest.max(most as usize))
    }
}

impl<const D: usize> Images<D> {
    pub(crate) fn bytes(&self) -> usize {
        self.steps.capacity() * size_of::<[i32; D]>()
            + self.shifts.capacity() * size_of::<[f64; D]>()
            + self.offsets.capacity() * size_of::<[f32; D]>()
    }

    /// The number of images at which pairs within a set are sought, the cell itself included.
    pub(crate) fn half(&self) -> usize {
        self.steps.len().div_ceil(2)
    }

    /// Leaves the one image of open space.
    pub(crate) fn clear(&mut self) {
        self.steps.truncate(1);
        self.shifts.truncate(1);
        self.offsets.truncate(1);
        (self.unique, self.blur) = (true, [0.0; D]);
    }

    /// Lays out all images within a range, if they or their opposites are `wanted` by their offset in trees that have
    /// these `lengths`.
    pub(crate) fn lay_out(
        &mut self,
        cell: &UnitCell<D>,
        range: ImageRange<D>,
        lengths: Lengths<D>,
        wanted: impl Fn([f32; D]) -> bool,
    ) {
        self.clear();
        (self.unique, self.blur) = (range.unique, range.blur);
        self.half_of(cell, range.most, lengths, wanted);
        for image in 1..self.steps.len() {
            self.steps.push(self.steps[image].axes(|step| -step));
            self.shifts.push(self.shifts[image].axes(|shift| -shift));
            self.offsets.push(self.offsets[image].axes(|offset| -offset));
        }
    }

    /// Lays out the images whose last step other than 0 is positive.
    fn half_of(&mut self, cell: &UnitCell<D>, most: [i32; D], lengths: Lengths<D>, wanted: impl Fn([f32; D]) -> bool) {
        let mut step = most.axes(|most| -most);
        loop {
            if step.iter().rev().find(|&&step| step != 0).is_some_and(|&step| step > 0) {
                let shift = cell.shift(step.axes(f64::from));
                let offset = lengths.offset(step, shift);
                if wanted(offset) || wanted(offset.axes(|offset| -offset)) {
                    self.steps.push(step);
                    self.shifts.push(shift);
                    self.offsets.push(offset);
                }
            }
            let Some(k) = (0..D).find(|&k| step[k] < most[k]) else { return };
            for lower in 0..k {
                step[lower] = -most[lower];
            }
            step[k] += 1;
        }
    }
}

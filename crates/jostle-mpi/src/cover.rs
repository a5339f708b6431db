//! Where the bodies of a rank lie, roughly: at most 64 boxes for each class of size. No rank knows more of another
//! rank, and of most ranks it knows one box a class.

use crate::cell::Cell;
use crate::number::Number;
use crate::share::Share;
use crate::span::Span;
use crate::survey::{CLASSES, Copied, Survey, class_of};

/// How often the box of a class is halved: at most 2^6 boxes for each class.
const HALVINGS: u32 = 6;

/// A box that holds bodies of a class, radii included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Covered<const D: usize> {
    pub(crate) class: u8,
    pub(crate) span: Span<D>,
}

/// Cells over a box, more of them along its longer sides.
struct Bins<const D: usize> {
    lo: [f64; D],
    /// Cells for each unit of length; 0 along a side of no length.
    scale: [f64; D],
    counts: [usize; D],
    boxes: Vec<Span<D>>,
}

impl<const D: usize> Bins<D> {
    fn over(span: &Span<D>) -> Self {
        let sides: [f64; D] = core::array::from_fn(|axis| span.hi[axis] - span.lo[axis]);
        let mut counts = [1; D];
        for _ in 0..HALVINGS {
            let cell = |axis: usize| sides[axis] / counts[axis] as f64;
            let longest = (1..D).fold(0, |longest, axis| if cell(axis) > cell(longest) { axis } else { longest });
            counts[longest] *= 2;
        }
        let scale = core::array::from_fn(|axis| {
            let scale = counts[axis] as f64 / sides[axis];
            if scale.is_finite() { scale } else { 0.0 }
        });
        Self { lo: span.lo, scale, counts, boxes: vec![Span::EMPTY; counts.iter().product()] }
    }

    #[inline]
    fn add(&mut self, span: &Span<D>) {
        let mut at = 0;
        for axis in 0..D {
            let middle = f64::midpoint(span.lo[axis], span.hi[axis]);
            let cell = ((middle - self.lo[axis]) * self.scale[axis]) as usize;
            at = at * self.counts[axis] + cell.min(self.counts[axis] - 1);
        }
        self.boxes[at].join(span);
    }
}

/// Returns one box for each class that has bodies.
pub(crate) fn totals<const D: usize, T: Number>(
    share: &Share<'_, D, T>,
    cell: Option<&Cell<D>>,
    survey: &Survey<D>,
    greatest: f64,
) -> Vec<Covered<D>> {
    let mut totals = [Span::EMPTY; CLASSES];
    each_run(share, cell, survey, greatest, |_, _| true, |class, span| totals[class as usize].join(span));
    (0..).zip(totals).filter(|(_, span)| !span.is_empty()).map(|(class, span)| Covered { class, span }).collect()
}

/// Returns at most 64 boxes for each class that has bodies.
pub(crate) fn cover<const D: usize, T: Number>(
    share: &Share<'_, D, T>,
    cell: Option<&Cell<D>>,
    survey: &Survey<D>,
    greatest: f64,
    totals: &[Covered<D>],
) -> Vec<Covered<D>> {
    let mut bins: [Option<Bins<D>>; CLASSES] = [const { None }; CLASSES];
    for Covered { class, span } in totals {
        bins[*class as usize] = Some(Bins::over(span));
    }
    let scales: [[f64; D]; CLASSES] =
        core::array::from_fn(|class| bins[class].as_ref().map_or([f64::INFINITY; D], |bins| bins.scale));
    // Whether a box is about as small as a cell.
    let fits = |class: u8, span: &Span<D>| {
        (0..D).all(|axis| (span.hi[axis] - span.lo[axis]) * scales[class as usize][axis] <= 2.0)
    };
    each_run(share, cell, survey, greatest, fits, |class, span| {
        if let Some(bins) = &mut bins[class as usize] {
            bins.add(span);
        }
    });
    let boxes = |(class, bins): (u8, Option<Bins<D>>)| {
        let spans = bins.into_iter().flat_map(|bins| bins.boxes).filter(|span| !span.is_empty());
        spans.map(move |span| Covered { class, span })
    };
    (0..).zip(bins).flat_map(boxes).collect()
}

/// Calls `visit` with the class and the box of each block that is small enough and whose bodies are of one class, and
/// of each body of all other blocks.
fn each_run<const D: usize, T: Number>(
    share: &Share<'_, D, T>,
    cell: Option<&Cell<D>>,
    survey: &Survey<D>,
    greatest: f64,
    is_small: impl Fn(u8, &Span<D>) -> bool,
    mut visit: impl FnMut(u8, &Span<D>),
) {
    let mut copied = Copied::EMPTY;
    for (number, block) in survey.blocks.iter().enumerate() {
        let class = class_of(block.greatest, greatest);
        if class == class_of(block.least, greatest) && is_small(class, &block.span) {
            visit(class, &block.span);
            continue;
        }
        copied.read_within(share, cell, number);
        copied.each().for_each(|(span, radius)| visit(class_of(radius, greatest), &span));
    }
}

/// Writes boxes as numbers of a message.
pub(crate) fn to_numbers<const D: usize>(covered: &[Covered<D>]) -> Vec<f64> {
    covered.iter().flat_map(|c| [f64::from(c.class)].into_iter().chain(c.span.lo).chain(c.span.hi)).collect()
}

/// Reads boxes that [`to_numbers`] has written.
pub(crate) fn from_numbers<const D: usize>(numbers: &[f64]) -> Vec<Covered<D>> {
    let covered = |values: &[f64]| Covered {
        class: values[0] as u8,
        span: Span { lo: core::array::from_fn(|k| values[1 + k]), hi: core::array::from_fn(|k| values[1 + D + k]) },
    };
    numbers.chunks_exact(1 + 2 * D).map(covered).collect()
}

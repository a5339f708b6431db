//! The first digits of codes, by which bodies are dealt to segments.

use crate::axes::from_axes;
use crate::isa::{Isa, Work};
use crate::morton::Grid;

/// Fills `keys` with `bits` bits of the codes of these centres, from bit `low` on.
pub(super) fn digits_of<const D: usize>(
    isa: Isa,
    grid: Grid<D>,
    centers: [&[f32]; D],
    (low, bits): (u32, u32),
    keys: &mut [u16],
) {
    // Columns that are cut to their length here need no check for each point.
    let points = |n: usize| {
        let centers = centers.map(|column| &column[..n]);
        (0..n).map(move |i| from_axes(|axis| centers[axis][i]))
    };
    isa.run(Keys { grid, points, low, bits, keys });
}

/// Computes some bits of the codes of points; `points(n)` gives all n of them.
struct Keys<'a, P, const D: usize> {
    grid: Grid<D>,
    points: P,
    low: u32,
    bits: u32,
    keys: &'a mut [u16],
}

impl<I: Iterator<Item = [f32; D]>, P: FnOnce(usize) -> I, const D: usize> Work for Keys<'_, P, D> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let points = (self.points)(self.keys.len());
        self.grid.keys(points, self.low, self.bits, self.keys);
    }
}

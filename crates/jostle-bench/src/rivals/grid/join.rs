//! Finds the pairs of bodies in cells, four candidates at a time.

use core::array::from_fn;
use core::ops::Range;

use wide::f32x4;

use super::super::hits::Hits;
use super::{Grid, LANES, lanes};

/// Bodies whose pairs one task finds.
const TASK: usize = 4096;

/// A body with its coordinates in all lanes of a vector.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread<const D: usize> {
    pub(super) center: [f32x4; D],
    pub(super) radius: f32x4,
    pub(super) id: u32,
}

impl<const D: usize> Grid<D> {
    /// Number of tasks of a search.
    pub(crate) fn tasks(&self) -> usize {
        self.len.div_ceil(TASK)
    }

    /// The ranks of a task.
    pub(crate) fn task(&self, task: usize) -> Range<usize> {
        task * TASK..self.len.min((task + 1) * TASK)
    }

    /// The centre and radius of the body at a rank.
    #[inline(always)]
    pub(crate) fn ball(&self, rank: usize) -> ([f32; D], f32) {
        (from_fn(|axis| self.centers[axis][rank]), self.radii[rank])
    }

    /// The body at a rank in all lanes.
    #[inline(always)]
    pub(crate) fn spread(&self, rank: usize) -> Spread<D> {
        Spread {
            center: from_fn(|axis| f32x4::splat(self.centers[axis][rank])),
            radius: f32x4::splat(self.radii[rank]),
            id: self.ids[rank],
        }
    }

    /// The ranks in a cell and the `more` after it: one run.
    #[inline(always)]
    pub(super) fn run(&self, cell: usize, more: usize) -> Range<usize> {
        self.starts[cell] as usize..self.starts[cell + more + 1] as usize
    }

    /// Adds the pairs of some ranks with each other and with later ranks.
    pub(crate) fn join(&self, ranks: Range<usize>, hits: &mut Hits) {
        let first = hits.len();
        for rank in ranks {
            let (body, cell) = (self.spread(rank), self.cell_of[rank] as usize);
            let own = rank + 1..self.starts[cell + 2] as usize;
            self.test(&body, own, hits);
            self.test(&body, self.run(cell + self.strides(1) - 1, 2), hits);
            if D == 3 {
                let layer = cell + self.strides(2);
                for row in [layer - self.strides(1), layer, layer + self.strides(1)] {
                    self.test(&body, self.run(row - 1, 2), hits);
                }
            }
        }
        hits.order_from(first);
    }

    #[inline(always)]
    pub(super) fn strides(&self, axis: usize) -> usize {
        self.cells.strides[axis]
    }

    /// Tests a body against a run of ranks. A run may be empty. Four candidates are tested in any case, since that
    /// costs less than a check.
    #[inline(always)]
    fn test(&self, body: &Spread<D>, run: Range<usize>, hits: &mut Hits) {
        let mut at = run.start;
        let room = hits.room(run.len() + LANES);
        let mut kept = 0;
        loop {
            let mut distance2 = f32x4::ZERO;
            for axis in 0..D {
                let d = f32x4::new(*lanes(&self.centers[axis], at)) - body.center[axis];
                distance2 = if axis == 0 { d * d } else { distance2 + d * d };
            }
            let sum = f32x4::new(*lanes(&self.radii, at)) + body.radius;
            let left = run.end.saturating_sub(at).min(LANES);
            let hit = distance2.simd_le(sum * sum).to_bitmask() & ((1 << left) - 1);
            let ids = lanes(&self.ids, at);
            let out = &mut room[kept..kept + LANES];
            let mut next = 0;
            for (lane, &id) in ids.iter().enumerate() {
                out[next % LANES] = [body.id, id];
                next += (hit >> lane & 1) as usize;
            }
            kept += next;
            at += LANES;
            if at >= run.end {
                break;
            }
        }
        hits.keep(kept);
    }

    /// Tests a larger body that is not in the grid against the bodies of the grid.
    #[inline(always)]
    pub(crate) fn join_larger(&self, center: [f32; D], radius: f32, body: &Spread<D>, hits: &mut Hits) {
        let Some(ranges) = self.cells.within(center, radius) else { return };
        let layers = if D == 2 { 0..1 } else { ranges[D - 1].clone() };
        for layer in layers {
            for row in ranges[1].clone() {
                let row = self.cells.first + layer * self.cells.strides[D - 1] + row * self.strides(1);
                let run = self.starts[row + ranges[0].start] as usize..self.starts[row + ranges[0].end] as usize;
                if !run.is_empty() {
                    self.test(body, run, hits);
                }
            }
        }
    }
}

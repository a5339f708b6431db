//! The two grids that a good engineer writes for boxes by hand. Both keep their memory.

use jostle_testkit::shapes::{BoxKind, BoxScene};

use super::Rival;
use crate::rivals::hits::{Gather, Hits};

/// Cells at most.
const CELLS: f32 = 4_000_000.0;

/// Rows of cells, and cells, that make a task.
const ROWS: usize = 8;
const TASK: usize = 4096;

/// A grid over all lower corners.
#[derive(Debug, Clone, Copy, Default)]
struct Cells {
    lo: [f32; 2],
    scale: [f32; 2],
    counts: [usize; 2],
}

impl Cells {
    /// Returns cells that are at least so wide.
    fn over(scene: &BoxScene<2>, width: [f32; 2]) -> Self {
        let mut cells = Self::default();
        for axis in 0..2 {
            let lo = scene.lo[axis].iter().copied().fold(f32::INFINITY, f32::min);
            let hi = scene.hi[axis].iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let count = ((hi - lo) / width[axis]).clamp(1.0, CELLS.sqrt());
            cells.counts[axis] = count as usize + 1;
            cells.scale[axis] = count / (hi - lo).max(f32::MIN_POSITIVE);
            cells.lo[axis] = lo;
        }
        cells
    }

    #[inline(always)]
    fn on(&self, axis: usize, x: f32) -> usize {
        ((((x - self.lo[axis]) * self.scale[axis]) as i64).max(0) as usize).min(self.counts[axis] - 1)
    }
}

/// Boxes sorted by the cells of their lower corners. Cells are as wide as the widest box, so that a box meets only
/// boxes of its own cell and of the eight cells around it. It looks at half of these cells; the boxes of the other half
/// look at it.
#[derive(Default)]
pub(super) struct ByCenter {
    starts: Vec<u32>,
    cell_of: Vec<u32>,
    boxes: Vec<[f32; 4]>,
    ids: Vec<u32>,
    gather: Gather,
}

impl Rival for ByCenter {
    fn name(&self) -> &'static str {
        "grid by hand, by corners"
    }

    fn hopeless(&self, kind: BoxKind, _: usize) -> bool {
        // Cells are as wide as the longest box: almost a double loop.
        matches!(kind, BoxKind::PowerLaw)
    }

    fn find(&mut self, scene: &BoxScene<2>) -> &[[u32; 2]] {
        let n = scene.len();
        let widest =
            |axis: usize| scene.lo[axis].iter().zip(&scene.hi[axis]).map(|(lo, hi)| hi - lo).fold(0.0, f32::max);
        let cells = Cells::over(scene, [widest(0) * 1.0001, widest(1) * 1.0001]);
        let Self { starts, cell_of, boxes, ids, gather } = self;
        starts.clear();
        starts.resize(cells.counts[0] * cells.counts[1] + 1, 0);
        cell_of.clear();
        cell_of.extend(
            (0..n).map(|id| (cells.on(1, scene.lo[1][id]) * cells.counts[0] + cells.on(0, scene.lo[0][id])) as u32),
        );
        cell_of.iter().for_each(|&cell| starts[cell as usize + 1] += 1);
        (1..starts.len()).for_each(|cell| starts[cell] += starts[cell - 1]);
        boxes.resize(n, [0.0; 4]);
        ids.resize(n, 0);
        for id in 0..n {
            let place = &mut starts[cell_of[id] as usize];
            boxes[*place as usize] = [scene.lo[0][id], scene.lo[1][id], scene.hi[0][id], scene.hi[1][id]];
            ids[*place as usize] = id as u32;
            *place += 1;
        }
        let end = starts.len() - 1;
        starts.copy_within(..end, 1);
        starts[0] = 0;
        let (row, starts, boxes, ids) = (cells.counts[0], &*starts, &*boxes, &*ids);
        gather.run(cells.counts[1].div_ceil(ROWS), |task, hits| {
            for y in task * ROWS..cells.counts[1].min((task + 1) * ROWS) {
                for x in 0..row {
                    let cell = y * row + x;
                    let own = starts[cell] as usize..starts[cell + 1] as usize;
                    // The boxes that follow in this cell, those of the next cell, and those of three cells of the row
                    // above.
                    let next = starts[cell + 1 + usize::from(x + 1 < row)] as usize;
                    let above = (y + 1 < cells.counts[1]).then(|| {
                        let (from, to) = (cell + row - usize::from(x > 0), cell + row + usize::from(x + 1 < row));
                        starts[from] as usize..starts[to + 1] as usize
                    });
                    for at in own {
                        test(boxes, ids, at, at + 1..next, hits);
                        if let Some(above) = above.clone() {
                            test(boxes, ids, at, above, hits);
                        }
                    }
                }
            }
        })
    }
}

/// Tests a box against a range of others. Hits are written without a branch.
#[inline(always)]
fn test(boxes: &[[f32; 4]], ids: &[u32], at: usize, others: core::ops::Range<usize>, hits: &mut Hits) {
    let ([lo_x, lo_y, hi_x, hi_y], id) = (boxes[at], ids[at]);
    let count = others.len();
    let (mut kept, first) = (0, hits.len());
    let room = hits.room(count + 1);
    for (other, &other_id) in boxes[others.clone()].iter().zip(&ids[others]) {
        room[kept] = [id, other_id];
        kept += usize::from((lo_x <= other[2]) & (other[0] <= hi_x) & (lo_y <= other[3]) & (other[1] <= hi_y));
    }
    hits.keep(kept);
    hits.order_from(first);
}

/// Boxes listed in every cell that they overlap. Cells are one and a half times as wide as boxes are on average. A pair
/// counts in the cell that holds the lower corner of the intersection of its boxes.
#[derive(Default)]
pub(super) struct ByCell {
    starts: Vec<u32>,
    boxes: Vec<[f32; 4]>,
    ids: Vec<u32>,
    gather: Gather,
}

impl Rival for ByCell {
    fn name(&self) -> &'static str {
        "grid by hand, by cells"
    }

    fn find(&mut self, scene: &BoxScene<2>) -> &[[u32; 2]] {
        let n = scene.len();
        let mean = |axis: usize| {
            let sum = scene.lo[axis].iter().zip(&scene.hi[axis]).map(|(lo, hi)| f64::from(hi - lo)).sum::<f64>();
            (sum / n as f64 * 1.5) as f32
        };
        let cells = Cells::over(scene, [mean(0), mean(1)]);
        let Self { starts, boxes, ids, gather } = self;
        starts.clear();
        starts.resize(cells.counts[0] * cells.counts[1] + 1, 0);
        let overlapped = |id: usize| {
            let [x, y] = [0, 1].map(|axis| cells.on(axis, scene.lo[axis][id])..cells.on(axis, scene.hi[axis][id]) + 1);
            y.flat_map(move |y| x.clone().map(move |x| y * cells.counts[0] + x))
        };
        (0..n).for_each(|id| overlapped(id).for_each(|cell| starts[cell + 1] += 1));
        (1..starts.len()).for_each(|cell| starts[cell] += starts[cell - 1]);
        let entries = starts[starts.len() - 1] as usize;
        boxes.resize(entries, [0.0; 4]);
        ids.resize(entries, 0);
        for id in 0..n {
            for cell in overlapped(id) {
                let place = starts[cell] as usize;
                boxes[place] = [scene.lo[0][id], scene.lo[1][id], scene.hi[0][id], scene.hi[1][id]];
                ids[place] = id as u32;
                starts[cell] += 1;
            }
        }
        let end = starts.len() - 1;
        starts.copy_within(..end, 1);
        starts[0] = 0;
        let (starts, boxes, ids) = (&*starts, &*boxes, &*ids);
        gather.run(end.div_ceil(TASK), |task, hits| {
            for cell in task * TASK..end.min((task + 1) * TASK) {
                let range = starts[cell] as usize..starts[cell + 1] as usize;
                let (x, y) = (cell % cells.counts[0], cell / cells.counts[0]);
                for at in range.clone() {
                    let [lo_x, lo_y, hi_x, hi_y] = boxes[at];
                    for other in at + 1..range.end {
                        let b = boxes[other];
                        if (lo_x <= b[2]) & (b[0] <= hi_x) & (lo_y <= b[3]) & (b[1] <= hi_y)
                            && cells.on(0, lo_x.max(b[0])) == x
                            && cells.on(1, lo_y.max(b[1])) == y
                        {
                            hits.push(ids[at], ids[other]);
                        }
                    }
                }
            }
        })
    }
}

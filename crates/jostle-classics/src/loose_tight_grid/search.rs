//! Searches: elements in a rectangle, and the element nearest to a point.

use jostle_core::Aabb;

use super::LooseTightGrid;
use super::elements::LooseCell;
use crate::grid::CellRange;

impl LooseTightGrid {
    /// Calls `hit` once with the id of each element whose box (rounded outwards by a few ulp) shares a point with a
    /// rectangle; with none when the rectangle is empty. O(tight cells that the rectangle touches + elements of the
    /// loose cells that it overlaps).
    pub fn query(&self, rectangle: &Aabb<2>, hit: &mut dyn FnMut(u32)) {
        let range_of = |cell: u32| self.tight.map().range(&self.loose[cell as usize].aabb);
        self.tight.for_each_near(rectangle, range_of, |cell| {
            let cell = &self.loose[cell as usize];
            if cell.aabb.overlaps(rectangle) {
                let inside = self.list(cell.head).filter(|element| element.body.aabb().overlaps(rectangle));
                inside.for_each(|element| hit(element.id));
            }
        });
    }

    /// Returns the id of the element whose centre is nearest to a point, by `dx*dx + dy*dy` in `f32`; the lowest id of
    /// several. `None` when there is no element, or the point is not a number. Looks at the loose cells about the
    /// point, ring by ring, until no nearer centre can be farther out. O(cells) at worst.
    #[must_use]
    pub fn nearest(&self, point: [f32; 2]) -> Option<u32> {
        let (all, middle) = (self.loose_map.all(), self.loose_map.cell(point));
        let mut block = CellRange { lo: middle, hi: middle };
        let mut best = Nearest { point, found: None };
        self.look(&mut best, middle);
        while block != all && !best.is_within(self.loose_map.distance_beyond(point, block)) {
            let ring = block.grown(1, all);
            ring.cells_around(block).for_each(|cell| self.look(&mut best, cell));
            block = ring;
        }
        best.found.map(|(_, id)| id)
    }

    fn look(&self, best: &mut Nearest, cell: [u16; 2]) {
        let cell = &self.loose[self.loose_map.index(cell)];
        if best.may_be_in(cell) {
            self.list(cell.head).for_each(|element| best.consider(element.body.center, element.id));
        }
    }
}

/// The nearest centre so far: its squared distance and its id.
struct Nearest {
    point: [f32; 2],
    found: Option<(f32, u32)>,
}

impl Nearest {
    fn consider(&mut self, center: [f32; 2], id: u32) {
        let distance2 = squared([center[0] - self.point[0], center[1] - self.point[1]]);
        if distance2.is_nan() {
            return;
        }
        if self.found.is_none_or(|(least, nearest)| distance2 < least || (distance2 == least && id < nearest)) {
            self.found = Some((distance2, id));
        }
    }

    /// Returns whether the box of a cell comes as near as the nearest centre. Subtraction, product and sum are
    /// monotone, rounding included: no centre in the box has a squared distance below that of the box.
    fn may_be_in(&self, cell: &LooseCell) -> bool {
        let apart = |axis: usize| {
            let x = self.point[axis];
            (cell.aabb.lo[axis] - x).max(x - cell.aabb.hi[axis]).max(0.0)
        };
        self.found.is_none_or(|(least, _)| squared([apart(0), apart(1)]) <= least)
    }

    /// Returns whether no centre at least this far away can be as near as the nearest, whatever `f32` rounds.
    fn is_within(&self, distance: f64) -> bool {
        const ROUNDING: f64 = 1.0 - 1e-6;
        const VANISHING: f64 = 1e-44;
        let squared = distance.max(0.0) * distance * ROUNDING;
        self.found.is_some_and(|(least, _)| squared > f64::from(least) + VANISHING)
    }
}

#[inline]
fn squared([dx, dy]: [f32; 2]) -> f32 {
    dx * dx + dy * dy
}

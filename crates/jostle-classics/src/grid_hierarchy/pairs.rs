//! All pairs, found on the way down.

use super::Resident;
use super::cells::Cell;
use super::level::Level;
use super::sparse::SparseGrids;

/// A body of a cell on the way down.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occupant {
    id: u32,
    resident: Resident,
}

/// Calls `hit` once with every pair. Returns the number of pairs looked at.
pub(super) fn find(
    grids: &SparseGrids,
    residents: &[Resident],
    occupants: &mut Vec<Occupant>,
    hit: &mut dyn FnMut([u32; 2]),
) -> u64 {
    occupants.clear();
    let mut walk = Walk { grids, residents, occupants, hit, looks: 0 };
    for (at, cell) in grids.world_cells() {
        walk.visit(Level::WORLD, at, cell);
    }
    walk.looks
}

struct Walk<'a> {
    grids: &'a SparseGrids,
    residents: &'a [Resident],
    /// The bodies of the cell visited, after the bodies of the cells that enclose it.
    occupants: &'a mut Vec<Occupant>,
    hit: &'a mut dyn FnMut([u32; 2]),
    looks: u64,
}

impl Walk<'_> {
    fn visit(&mut self, level: Level, at: [u16; 2], cell: Cell) {
        let about = self.occupants.len();
        let residents = self.residents;
        let occupant = |id: u32| Occupant { id, resident: residents[id as usize] };
        self.occupants.extend(self.grids.ids(cell).map(occupant));
        // Lists are in the order in which bodies came. The order of pairs must not depend on it.
        self.occupants[about..].sort_unstable_by_key(|occupant| occupant.id);
        for i in about..self.occupants.len() {
            self.meet(level, at, i);
        }
        if level != Level::FINEST {
            let grids = self.grids;
            grids.cells_inside(at, cell).for_each(|(at, cell)| self.visit(level.finer(), at, cell));
        }
        self.occupants.truncate(about);
    }

    /// Looks at one occupant with all before it. Two of them are a pair of this cell if it holds the first of the
    /// finest cells that both touch.
    fn meet(&mut self, level: Level, at: [u16; 2], i: usize) {
        let b = self.occupants[i];
        self.looks += i as u64;
        for a in &self.occupants[..i] {
            let first = a.resident.range.first_shared(b.resident.range);
            if first.is_some_and(|first| level.cell(first) == at) && a.resident.body.overlaps(&b.resident.body) {
                (self.hit)([a.id.min(b.id), a.id.max(b.id)]);
            }
        }
    }
}

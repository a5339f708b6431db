//! The invariants of the three levels, spelled out.

use super::GridHierarchy;
use super::cells::Cell;
use super::level::{Level, home};

/// An invariant of [`GridHierarchy`] that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BrokenGridHierarchy {
    /// A vacant slot is not in its chain exactly once, or a count is wrong.
    #[error("a chain of vacant grids, rows or listings is broken")]
    Vacancies,
    /// A body is in a cell where it does not live, or is not once in each cell where it lives.
    #[error("body {id} is not listed once in each of the cells where it lives, and in no other")]
    Body {
        /// The body.
        id: u32,
    },
    /// Rows or grids in use hold nothing, or no cell leads to them.
    #[error("{used} rows and grids in use, but {reached} that hold something")]
    Empty {
        /// The number in use.
        used: usize,
        /// The number that can be reached and are not empty.
        reached: usize,
    },
}

/// What a walk over all cells counts.
struct Census {
    /// How often each body is listed.
    listings: Vec<u64>,
    rows: usize,
    grids: usize,
}

impl GridHierarchy {
    /// Checks every invariant. Vacant slots are chained. A body is listed once in each cell where it lives, and nowhere
    /// else. Rows and grids in use hold something. O(n + cells in use).
    ///
    /// # Errors
    /// The first invariant found broken.
    pub fn validate(&self) -> Result<(), BrokenGridHierarchy> {
        if !self.grids.is_sound() {
            return Err(BrokenGridHierarchy::Vacancies);
        }
        let mut census = Census { listings: vec![0; self.residents.len()], rows: 0, grids: 0 };
        for (at, cell) in self.grids.world_cells() {
            self.count(&mut census, Level::WORLD, at, cell)?;
        }
        let wanted = self.residents.iter().map(|resident| home(resident.range).1.count());
        if let Some(id) = wanted.zip(&census.listings).position(|(wanted, &listed)| wanted != listed) {
            return Err(BrokenGridHierarchy::Body { id: id as u32 });
        }
        let [grids, rows, _] = self.grids.used();
        let (used, reached) = (grids + rows, census.grids + census.rows);
        if used == reached { Ok(()) } else { Err(BrokenGridHierarchy::Empty { used, reached }) }
    }

    fn count(&self, census: &mut Census, level: Level, at: [u16; 2], cell: Cell) -> Result<(), BrokenGridHierarchy> {
        for id in self.grids.ids(cell) {
            let home = self.residents.get(id as usize).map(|resident| home(resident.range));
            if !home.is_some_and(|(lives_on, cells)| lives_on == level && cells.holds(at)) {
                return Err(BrokenGridHierarchy::Body { id });
            }
            census.listings[id as usize] += 1;
        }
        let mut last_row = None;
        for (at, cell) in self.grids.cells_inside(at, cell) {
            census.grids += usize::from(last_row.is_none());
            census.rows += usize::from(last_row != Some(at[1]));
            last_row = Some(at[1]);
            self.count(census, level.finer(), at, cell)?;
        }
        Ok(())
    }
}

//! The number of a cell among the cells of all levels.

/// The position of a cell in one array of the cells of all levels: cell n of level L is at (2^(D L) - 1)/(2^D - 1) + n,
/// as in [`jostle_core::morton::Cell::linear_index`]. 32 bits hold 15 levels in the plane and 10 in space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CellIndex<const D: usize>(u32);

impl<const D: usize> CellIndex<D> {
    /// The cell that is the whole world.
    pub(crate) const ROOT: Self = Self(0);

    /// The deepest level whose cells all have an index.
    pub(crate) const DEEPEST: u32 = if D == 2 { 15 } else { 10 };

    /// The number of cells on the levels above `level`.
    pub(crate) const fn cells_above(level: u32) -> u64 {
        ((1 << (D as u32 * level)) - 1) / ((1 << D) - 1)
    }

    /// Cell `number` of `level`, which is at most [`CellIndex::DEEPEST`].
    #[inline]
    pub(crate) const fn new(level: u32, number: u32) -> Self {
        Self(Self::cells_above(level) as u32 + number)
    }

    /// Returns the cell one level up, and the number of this cell among its children; `None` for the root.
    #[inline]
    pub(crate) const fn up(self) -> Option<(Self, u32)> {
        match self.0.checked_sub(1) {
            Some(before) => Some((Self(before >> D), before & ((1 << D) - 1))),
            None => None,
        }
    }

    /// Child `k`, below 2^D, of a cell that is not on the deepest level.
    #[inline]
    pub(crate) const fn child(self, k: u32) -> Self {
        Self((self.0 << D) + 1 + k)
    }

    /// The position in an array of all cells.
    #[inline]
    pub(crate) const fn position(self) -> usize {
        self.0 as usize
    }
}

#[cfg(test)]
mod tests {
    use super::CellIndex;
    use jostle_core::morton::Cell;

    fn agrees_with_the_cells_of_the_core<const D: usize>() {
        for index in (0..5_000).chain([100_000, 1_000_000]) {
            let cell = Cell::<D>::from_linear_index(index).expect("a cell");
            let here = CellIndex::<D>::new(cell.level(), cell.number() as u32);
            assert_eq!(here.position() as u64, index);
            let up = here.up().map(|(parent, _)| parent.position() as u64);
            assert_eq!(up, cell.parent().and_then(Cell::linear_index));
            for k in 0..1 << D {
                let child = here.child(k);
                assert_eq!(child.up(), Some((here, k)));
                assert_eq!(Some(child.position() as u64), cell.child(k.into()).and_then(Cell::linear_index));
            }
        }
    }

    #[test]
    fn indices_agree_with_the_cells_of_the_core() {
        agrees_with_the_cells_of_the_core::<2>();
        agrees_with_the_cells_of_the_core::<3>();
    }

    #[test]
    fn the_deepest_levels_just_fit() {
        assert!(CellIndex::<2>::cells_above(CellIndex::<2>::DEEPEST + 1) <= 1 << 32);
        assert!(CellIndex::<3>::cells_above(CellIndex::<3>::DEEPEST + 1) <= 1 << 32);
        let last = CellIndex::<2>::new(15, (1 << 30) - 1);
        assert_eq!(last.position() as u64 + 1, CellIndex::<2>::cells_above(16));
    }

    #[test]
    fn an_octree_of_eight_levels_is_as_large_as_they_say() {
        let cells = (1..=9).map(CellIndex::<3>::cells_above);
        assert!(cells.eq([1, 9, 73, 585, 4_681, 37_449, 299_593, 2_396_745, 19_173_961]));
    }
}

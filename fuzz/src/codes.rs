//! Any points, codes, cells and boxes: codes round trip, cells keep their relations, grids are monotone.

use jostle::Aabb;
use jostle::morton::{Cell, Grid, decode, encode, max_coordinate};

arbitrary! {
    #[derive(Debug)]
    struct Input {
        point: [u32; 3],
        codes: [u64; 2],
        /// Brings the codes near each other.
        near: u8,
        level: u8,
        index: u64,
        corners: [[f32; 3]; 2],
        points: [[f32; 3]; 2],
    }
}

fn check_codes<const D: usize>(input: &Input) {
    let point: [u32; D] = core::array::from_fn(|axis| input.point[axis] & max_coordinate(D));
    assert_eq!(decode::<D>(encode(point)), point);
    let code = input.codes[0] >> if D == 3 { 1 } else { 0 };
    assert_eq!(encode(decode::<D>(code)), code);
}

fn check_cells<const D: usize>(input: &Input) {
    let [a, b] = input.codes.map(|code| code >> if D == 3 { 1 } else { 0 });
    let b = a ^ (b >> (input.near % 64));
    let smallest = Cell::<D>::smallest_holding(a, b);
    assert_eq!(smallest, Cell::smallest_holding(b, a));
    let common = (0..=Cell::<D>::MAX_LEVEL).take_while(|&l| Cell::<D>::of_code(a, l) == Cell::of_code(b, l)).last();
    assert_eq!(Some(smallest.level()), common);
    assert_eq!(Cell::of_code(a, smallest.level()), Some(smallest));
    check_relations(smallest);

    let level = u32::from(input.level);
    let Some(cell) = Cell::<D>::of_code(a, level) else {
        return assert!(level > Cell::<D>::MAX_LEVEL);
    };
    assert_eq!(Cell::new(level, cell.number()), Some(cell));
    check_relations(cell);
    let Some(cell) = Cell::<D>::from_linear_index(input.index) else { return };
    assert_eq!(cell.linear_index(), Some(input.index));
    check_relations(cell);
}

fn check_relations<const D: usize>(cell: Cell<D>) {
    assert_eq!(cell.path().try_fold(Cell::ROOT, Cell::child), Some(cell));
    assert_eq!(cell.parent().is_none(), cell == Cell::ROOT);
    assert_eq!(cell.child(0).is_none(), cell.level() == Cell::<D>::MAX_LEVEL);
    let index = cell.linear_index();
    if let Some(index) = index {
        assert_eq!(Cell::from_linear_index(index), Some(cell));
        assert_eq!(cell.parent().and_then(Cell::linear_index), index.checked_sub(1).map(|i| i >> D));
    }
    for k in 0..1 << D {
        let Some(child) = cell.child(k) else { continue };
        assert_eq!((child.parent(), child.path().last()), (Some(cell), Some(k)));
        if let Some(below) = child.linear_index() {
            assert_eq!(index.map(|i| (i << D) + 1 + k), Some(below));
        }
    }
}

fn check_grid<const D: usize>(input: &Input) {
    let corner = |i: usize| core::array::from_fn(|axis| input.corners[i][axis]);
    let Some(grid) = Grid::<D>::new(&Aabb { lo: corner(0), hi: corner(1) }) else { return };
    let [p, q]: [[f32; D]; 2] = input.points.map(|point| core::array::from_fn(|axis| point[axis]));
    let (there, beyond) = (grid.coordinates(p), grid.coordinates(q));
    assert_eq!((grid.code(p), grid.code(q)), (encode(there), encode(beyond)));
    for axis in 0..D {
        assert!(there[axis] <= max_coordinate(D));
        if p[axis] <= q[axis] {
            assert!(there[axis] <= beyond[axis], "axis {axis}");
        }
    }
    let cell = grid.smallest_cell(p, q);
    assert_eq!(Cell::of_code(grid.code(p), cell.level()), Some(cell));
    assert_eq!(Cell::of_code(grid.code(q), cell.level()), Some(cell));
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| {
        check_codes::<2>(input);
        check_codes::<3>(input);
        check_cells::<2>(input);
        check_cells::<3>(input);
        check_grid::<2>(input);
        check_grid::<3>(input);
    });
}

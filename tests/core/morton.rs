//! Codes, cells and grids alone: worked examples, round trips, extremes.

use jostle_core::Aabb;
use jostle_core::morton::{
    Cell, Grid, bits_per_axis, decode, decode2, decode3, encode, encode2, encode3, max_coordinate,
};
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

const MAX3: u32 = (1 << 21) - 1;

/// The definition: bit b of axis a goes to bit D b + a.
fn interleave<const D: usize>(point: [u32; D]) -> u64 {
    let bits = (0..bits_per_axis(D)).flat_map(|bit| (0..D).map(move |axis| (bit, axis)));
    bits.fold(0, |code, (bit, axis)| code | u64::from(point[axis] >> bit & 1) << (bit * D as u32 + axis as u32))
}

#[test]
fn sizes_of_codes() {
    assert_eq!((bits_per_axis(2), bits_per_axis(3)), (32, 21));
    assert_eq!((max_coordinate(2), max_coordinate(3)), (u32::MAX, MAX3));
    assert_eq!((Cell::<2>::MAX_LEVEL, Cell::<3>::MAX_LEVEL), (32, 21));
}

#[test]
fn golden_codes() {
    let plane = [([0, 0], 0), ([1, 0], 1), ([0, 1], 2), ([3, 5], 0b10_01_11), ([u32::MAX, 0], 0x5555_5555_5555_5555)];
    for (point, code) in plane {
        assert_eq!(encode(point), code, "{point:?}");
    }
    let space = [
        ([1, 0, 0], 1),
        ([0, 1, 0], 2),
        ([0, 0, 1], 4),
        ([5, 3, 4], 339),
        ([MAX3, 0, 0], 0x1249_2492_4924_9249),
        ([MAX3, MAX3, MAX3], (1 << 63) - 1),
    ];
    for (point, code) in space {
        assert_eq!(encode(point), code, "{point:?}");
    }
    assert_eq!(encode2(u32::MAX, u32::MAX), u64::MAX);
    assert_eq!(decode2(0x5555_5555_5555_5555 << 1), [0, u32::MAX]);
}

/// Tests all small points, and every single bit.
#[test]
fn codes_are_what_the_definition_says() {
    for i in 0..64_u32 {
        for j in 0..64 {
            assert_eq!(encode2(i, j), interleave([i, j]));
            assert_eq!(encode3(i, j, i ^ j), interleave([i, j, i ^ j]));
        }
    }
    for bit in 0..32 {
        assert_eq!(decode2(encode2(1 << bit, 0)), [1 << bit, 0]);
        assert_eq!(encode2(0, 1 << bit), 2 << (2 * bit));
    }
    for bit in 0..21 {
        assert_eq!(encode3(1 << bit, 0, 0), 1 << (3 * bit));
        assert_eq!(decode3(4 << (3 * bit)), [0, 0, 1 << bit]);
    }
}

#[test]
fn in_space_only_21_bits_count() {
    assert_eq!(encode3(u32::MAX, 1 << 21, !MAX3), encode3(MAX3, 0, 0));
    assert_eq!(decode3(1 << 63), [0, 0, 0]);
}

#[test]
fn paths_read_off_the_groups_of_bits() {
    let path3 = |level, number| Cell::<3>::new(level, number).expect("a cell").path().collect::<Vec<_>>();
    assert_eq!(path3(3, 375), [5, 6, 7]);
    assert_eq!(path3(3, 339), [5, 2, 3]);
    assert_eq!(path3(4, 375), [0, 5, 6, 7]);
    assert_eq!(path3(0, 0), []);
    let path2 = |level, number| Cell::<2>::new(level, number).expect("a cell").path().collect::<Vec<_>>();
    assert_eq!(path2(3, 30), [1, 3, 2]);
    assert_eq!(path2(32, u64::MAX), [3; 32]);
    assert_eq!(path3(21, (1 << 63) - 1), [7; 21]);
}

#[test]
fn the_octree_in_one_array() {
    let index = |level, number| Cell::<3>::new(level, number).and_then(Cell::linear_index).expect("an index");
    assert_eq!(index(3, 236), 309);
    let mut cell = Cell::<3>::from_linear_index(309).expect("a cell");
    for up in [38, 4, 0] {
        cell = cell.parent().expect("a parent");
        assert_eq!(cell.linear_index(), Some(up));
    }
    assert_eq!((cell, cell.parent()), (Cell::ROOT, None));
    let children = Cell::<3>::from_linear_index(38).and_then(Cell::children::<8>).expect("children");
    assert_eq!(children.map(|child| child.linear_index().expect("an index")), core::array::from_fn(|k| 305 + k as u64));
    // The number of cells on all lower levels together, up to levels 0 to 8.
    let before = [0, 1, 9, 73, 585, 4_681, 37_449, 299_593, 2_396_745, 19_173_961];
    for (level, before) in before.into_iter().enumerate() {
        assert_eq!(index(level as u32, 0), before);
    }
}

#[test]
fn the_quadtree_in_one_array() {
    for (level, before) in [0, 1, 5, 21, 85, 341].into_iter().enumerate() {
        let first = Cell::<2>::new(level as u32, 0).expect("a cell");
        assert_eq!(first.linear_index(), Some(before));
        assert_eq!(first.child(0).and_then(Cell::linear_index), Some(4 * before + 1));
    }
}

/// Tests indices and cells of the deepest levels, where 64 bits end.
#[test]
fn cells_at_the_extremes() {
    let last = |level| Cell::<2>::new(level, u64::MAX.checked_shr(64 - 2 * level).unwrap_or(0)).expect("a cell");
    assert_eq!(last(31).linear_index(), Some((u64::MAX / 3) - 1));
    assert_eq!(Cell::<2>::new(32, 0).and_then(Cell::linear_index), Some(u64::MAX / 3));
    assert_eq!(Cell::<2>::new(32, u64::MAX).and_then(Cell::linear_index), None);
    assert_eq!((last(32).child(0), last(32).children::<4>()), (None, None));
    assert_eq!(last(31).children::<4>().map(|four| four[3]), Some(last(32)));
    assert_eq!(last(32).parent(), Some(last(31)));
    assert_eq!(Cell::<2>::new(33, 0), None);
    assert_eq!(Cell::<2>::new(31, 1 << 62), None);
    assert_eq!(Cell::<2>::new(u32::MAX, 0), None);

    let deepest = Cell::<3>::new(21, (1 << 63) - 1).expect("a cell");
    assert_eq!(deepest.linear_index(), Some((((1_u128 << 66) - 1) / 7 - 1) as u64));
    assert_eq!(deepest.child(0), None);
    assert_eq!(Cell::<3>::new(21, 1 << 63), None);
    assert_eq!(Cell::<3>::new(22, 0), None);
    assert_eq!(Cell::<3>::from_linear_index(u64::MAX), None);
    assert_eq!(Cell::<2>::from_linear_index(u64::MAX).map(Cell::level), Some(32));
    assert_eq!(Cell::<3>::new(1, 7).and_then(|cell| cell.child(8)), None);

    assert_eq!(Cell::<2>::of_code(u64::MAX, 0), Some(Cell::ROOT));
    assert_eq!(Cell::<2>::of_code(u64::MAX, 32), Some(last(32)));
    assert_eq!(Cell::<2>::of_code(u64::MAX, 33), None);
    assert_eq!(Cell::<3>::of_code((1 << 63) - 1, 21), Some(deepest));
    assert_eq!(Cell::<3>::of_code((1 << 63) - 1, 0), Some(Cell::ROOT));
    assert_eq!(Cell::<2>::smallest_holding(u64::MAX, u64::MAX), last(32));
    assert_eq!(Cell::<2>::smallest_holding(u64::MAX, u64::MAX - 1), last(31));
    assert_eq!(Cell::<3>::smallest_holding(0, 1 << 62), Cell::ROOT);
    assert_eq!(Cell::<3>::smallest_holding(0, 7).level(), 20);
}

/// Returns level and number of the smallest cell of a quadtree of `depth` levels, by the coordinates of two corners.
fn smallest_by_coordinates(depth: u32, a: [u32; 2], b: [u32; 2]) -> (u32, u64) {
    let m = (a[0] ^ b[0]) | (a[1] ^ b[1]);
    let bits = u32::BITS - m.leading_zeros();
    (depth - bits, encode(a) >> (2 * bits))
}

/// Returns the same by the codes of a full tree. Cells end at `depth`.
fn smallest_by_codes(depth: u32, a: [u32; 2], b: [u32; 2]) -> (u32, u64) {
    let full = |point: [u32; 2]| encode(point.map(|x| x << (32 - depth)));
    let cell = Cell::<2>::smallest_holding(full(a), full(b));
    if cell.level() <= depth { (cell.level(), cell.number()) } else { (depth, encode(a)) }
}

#[test]
fn unit_squares_of_a_small_quadtree_by_coordinates_and_by_codes() {
    for points in 0..1 << 12 {
        let [x, y, u, v] = core::array::from_fn(|k| points >> (3 * k) & 7);
        assert_eq!(smallest_by_codes(3, [x, y], [u, v]), smallest_by_coordinates(3, [x, y], [u, v]));
    }
}

fn grid<const D: usize>(lo: f32, hi: f32) -> Grid<D> {
    Grid::new(&Aabb { lo: [lo; D], hi: [hi; D] }).expect("a box with an extent")
}

#[test]
fn a_grid_covers_its_box() {
    for side in [1e-27_f32, 1e-3, 1.0, 1000.5, 1e18] {
        let [near, middle] = grid::<2>(0.0, side).coordinates([0.0, side / 2.0]);
        assert!(near == 0 && middle.abs_diff(1 << 31) <= 256, "side {side}: {near} {middle}");
        let far = grid::<2>(0.0, side).coordinates([side; 2]);
        assert_eq!(far.map(|x| x >> 16), [0xffff; 2], "side {side}");
        let [near, middle, far] = grid::<3>(-side, side).coordinates([-side, 0.0, side]);
        assert!(near == 0 && middle.abs_diff(1 << 20) <= 1 && far >= MAX3 - 1, "side {side}: {near} {middle} {far}");
    }
    // Cells are square: the narrow axis uses few of them.
    let flat = Grid::new(&Aabb { lo: [0.0, 0.0], hi: [16.0, 1.0] }).expect("a box with an extent");
    assert_eq!(flat.coordinates([16.0, 1.0])[1] >> 24, 0x0f);
}

#[test]
fn points_outside_the_box_count_as_on_its_border() {
    let plane = grid::<2>(-1.0, 1.0);
    let top = plane.coordinates([1.0, 1.0]);
    for far in [1.0001, 7.0, 1e30, f32::MAX, f32::INFINITY] {
        assert_eq!(plane.coordinates([far, -far]), [top[0], 0], "{far}");
        assert_eq!(plane.coordinates([-far, far]), [0, top[1]], "{far}");
    }
    let space = grid::<3>(-1.0, 1.0);
    let top = space.coordinates([1.0; 3])[0];
    assert_eq!(space.coordinates([9.0, -9.0, 1.0]), [top, 0, top]);
    assert!(space.code([f32::INFINITY; 3]) >> 63 == 0, "a code of 63 bits");
}

#[test]
fn no_grid_tells_coincident_points_apart() {
    assert_eq!(Grid::<2>::new(&Aabb::EMPTY), None);
    assert_eq!(Grid::new(&Aabb { lo: [3.0; 3], hi: [3.0; 3] }), None);
    assert_eq!(Grid::new(&Aabb { lo: [0.0; 2], hi: [f32::from_bits(1); 2] }), None);
    let two = |exponent: i32| 2.0_f32.powi(exponent);
    assert_eq!(Grid::new(&Aabb { lo: [0.0; 2], hi: [two(-101), 0.0] }), None);
    let smallest = Grid::new(&Aabb { lo: [0.0; 2], hi: [two(-100), 0.0] }).expect("a box with an extent");
    assert!(smallest.code([two(-100), 0.0]) > smallest.code([two(-101), 0.0]));
    let widest = Grid::new(&Aabb { lo: [-two(60); 3], hi: [two(60); 3] }).expect("a box with an extent");
    let [near, middle, far] = widest.coordinates([-two(60), 0.0, two(60)]);
    assert!(near == 0 && middle.abs_diff(1 << 20) <= 1 && far >= MAX3 - 1, "{near} {middle} {far}");
}

#[test]
fn rectangles_find_their_smallest_cell() {
    let world = grid::<2>(0.0, 8.0);
    let cell = |lo, hi| {
        let cell = world.smallest_cell(lo, hi);
        (cell.level(), cell.number())
    };
    assert_eq!(cell([0.0, 0.0], [7.9, 7.9]), (0, 0));
    assert_eq!(cell([4.1, 0.1], [7.9, 3.9]), (1, 1));
    assert_eq!(cell([6.1, 2.1], [7.9, 3.9]), (2, encode2(3, 1)));
    assert_eq!(cell([3.9, 0.1], [4.1, 0.2]), (0, 0), "a small one on a high border");
    assert_eq!(cell([-5.0, -5.0], [3.9, 3.9]), (1, 0), "partly outside");
}

/// Keeps failures beside this file, to be tried first from then on.
fn config() -> ProptestConfig {
    let beside = FileFailurePersistence::WithSource("regressions");
    ProptestConfig { failure_persistence: Some(Box::new(beside)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn codes_round_trip_in_2d(point: [u32; 2], code: u64) {
        prop_assert_eq!(encode(point), interleave(point));
        prop_assert_eq!(decode::<2>(encode(point)), point);
        prop_assert_eq!(encode(decode::<2>(code)), code);
        prop_assert_eq!(decode2(code), decode::<2>(code));
    }

    #[test]
    fn codes_round_trip_in_3d(point in [0..=MAX3, 0..=MAX3, 0..=MAX3], code in 0..1_u64 << 63) {
        prop_assert_eq!(encode(point), interleave(point));
        prop_assert_eq!(decode::<3>(encode(point)), point);
        prop_assert_eq!(encode(decode::<3>(code)), code);
        prop_assert_eq!(decode3(code), decode::<3>(code));
    }

    #[test]
    fn coordinates_and_codes_give_the_same_cell(depth in 1..=15_u32, corners: [u16; 4]) {
        let [x, y, u, v] = corners.map(|x| u32::from(x) >> (16 - depth));
        prop_assert_eq!(smallest_by_codes(depth, [x, y], [u, v]), smallest_by_coordinates(depth, [x, y], [u, v]));
    }

    #[test]
    fn the_smallest_cell_holds_both_and_no_child_does(a: u64, b: u64, near in 0..64_u32) {
        let b = a ^ (b >> near);
        let cell = Cell::<2>::smallest_holding(a, b);
        prop_assert_eq!(Cell::of_code(a, cell.level()), Some(cell));
        prop_assert_eq!(Cell::of_code(b, cell.level()), Some(cell));
        let deeper = cell.level() + 1;
        prop_assert!(a == b || Cell::<2>::of_code(a, deeper) != Cell::<2>::of_code(b, deeper));
        let (a, b) = (a >> 1, b >> 1);
        let cell = Cell::<3>::smallest_holding(a, b);
        prop_assert_eq!(Cell::of_code(a, cell.level()), Some(cell));
        prop_assert_eq!(Cell::of_code(b, cell.level()), Some(cell));
        let deeper = cell.level() + 1;
        prop_assert!(a == b || Cell::<3>::of_code(a, deeper) != Cell::<3>::of_code(b, deeper));
    }

    #[test]
    fn cells_round_trip(level in 0..=21_u32, number: u64, index: u64) {
        let number = number & ((1 << (3 * level)) - 1);
        let cell = Cell::<3>::new(level, number).expect("a cell");
        let there = cell.linear_index().expect("an index");
        prop_assert_eq!(Cell::from_linear_index(there), Some(cell));
        prop_assert_eq!(cell.parent().and_then(Cell::linear_index), there.checked_sub(1).map(|i| i >> 3));
        prop_assert_eq!(cell.child(5).and_then(Cell::linear_index), (level < 21).then(|| 8 * there + 6));
        let walked = cell.path().try_fold(Cell::<3>::ROOT, |cell, k| cell.child(k));
        prop_assert_eq!(walked, Some(cell));
        let cell = Cell::<2>::from_linear_index(index).expect("64 bits end within level 32");
        prop_assert_eq!(cell.linear_index(), Some(index));
        prop_assert_eq!(cell.parent().and_then(Cell::linear_index), index.checked_sub(1).map(|i| i >> 2));
    }

    /// Each axis by itself, whatever the box, inside the box and outside.
    #[test]
    fn grids_are_monotone_on_each_axis(
        lo in -1e6_f32..1e6,
        extent in 1e-6_f32..1e6,
        p in -0.2_f32..1.2,
        steps in 0..9_u32,
    ) {
        let hi = lo + extent.max(lo.abs() * 1e-6);
        let (plane, space) = (grid::<2>(lo, hi), grid::<3>(lo, hi));
        let a = lo + p * extent;
        let b = (0..steps).fold(a, |b, _| b.next_up());
        prop_assert!(plane.coordinates([a, a])[0] <= plane.coordinates([b, a])[0]);
        prop_assert!(plane.coordinates([a, a])[1] <= plane.coordinates([a, b])[1]);
        prop_assert!(space.coordinates([a; 3])[2] <= space.coordinates([a, a, b])[2]);
        prop_assert_eq!(plane.coordinates([a, b])[0], plane.coordinates([a, a])[0]);
        prop_assert_eq!(plane.code([a, b]), encode(plane.coordinates([a, b])));
        prop_assert_eq!(space.code([b, a, b]), encode(space.coordinates([b, a, b])));
    }
}

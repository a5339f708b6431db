//! What every body of [`Lanes`] must do, compared lane by lane with plain arrays. The checks are stamped on each body.

use jostle_core::Isa;
use jostle_core::isa::IsaName;

use super::{LANES, LaneWork, Lanes, ROW, run};

/// Runs each check with the instructions of each body that this machine has.
macro_rules! stamp {
    ($($body:ident = $isa:ident),*: $($check:ident = $work:ident),* $(,)?) => {
        stamp!(@bodies [$($body = $isa),*] {$($check = $work),*});
    };
    (@bodies [$($body:ident = $isa:ident),*] $checks:tt) => {
        $(mod $body { stamp!(@checks $isa $checks); })*
    };
    (@checks $isa:ident {$($check:ident = $work:ident),*}) => {
        $(
            #[test]
            fn $check() {
                super::on(super::IsaName::$isa, super::$work);
            }
        )*
    };
}

stamp!(portable = Portable, avx2 = Avx2, avx512 = Avx512:
    values_go_in_and_out = Values,
    rows_are_apart_column_by_column = Apart,
    arithmetic_rounds_as_f32_does = Arithmetic,
    order_knows_nan_and_borders = Comparisons,
    set_lanes_come_first_and_ascend = SetLanes,
    pairs_are_those_of_set_lanes = Pairs,
    values_are_picked_from_a_row = Picked,
    rows_of_all_lengths_are_sorted = SortedRows,
    halves_of_rows_are_merged = MergedRows,
    rows_that_are_marked_are_kept = KeptRows,
);

fn on(name: IsaName, work: impl LaneWork) {
    if let Some(isa) = Isa::named(name) {
        run(isa, work);
    }
}

/// Numbers that look random.
fn random(state: &mut u32) -> u32 {
    *state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    (*state ^ *state >> 15).wrapping_mul(277_803_737)
}

/// Sixteen floats of all kinds and sizes.
fn floats(state: &mut u32) -> [f32; LANES] {
    const SPECIAL: [f32; 10] =
        [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN_POSITIVE, 1e-45];
    core::array::from_fn(|_| match random(state) % 4 {
        0 => SPECIAL[random(state) as usize % SPECIAL.len()],
        1 => f32::from_bits(random(state)),
        _ => random(state) as f32 / 65_536.0 - 32_768.0,
    })
}

fn stored<L: Lanes>(lanes: L) -> [f32; LANES] {
    let mut values = [7.0; LANES];
    lanes.store(&mut values);
    values
}

/// The lanes set in a mask.
fn set(mask: u16) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

fn mask_of(lanes: [bool; LANES]) -> u16 {
    (0..LANES).fold(0, |mask, lane| mask | u16::from(lanes[lane]) << lane)
}

/// Asserts that each lane has the same bits, or NaN in both.
#[track_caller]
fn assert_same(values: [f32; LANES], expected: [f32; LANES]) {
    for lane in 0..LANES {
        let same =
            values[lane].to_bits() == expected[lane].to_bits() || values[lane].is_nan() && expected[lane].is_nan();
        assert!(same, "lane {lane}: {values:?}, not {expected:?}");
    }
}

struct Values;

impl LaneWork for Values {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut state = 1;
        for _ in 0..100 {
            let values = floats(&mut state);
            assert_same(stored(L::load(&values)), values);
            assert_same(stored(L::splat(values[3])), [values[3]; LANES]);
            let mut rotated = values;
            rotated.rotate_left(1);
            assert_same(stored(L::load(&values).rotate()), rotated);
        }
    }
}

struct Apart;

impl LaneWork for Apart {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut state = 9;
        for _ in 0..500 {
            let mut rows = || -> [[f32; 4]; LANES] { bytemuck::cast([0; 4].map(|_: u32| floats(&mut state))) };
            let (a, b, c, d) = (rows(), rows(), rows(), rows());
            let [ac, bd] =
                [(a, c), (b, d)].map(|(first, second)| core::array::from_fn(|row| [first[row], second[row]]));
            let [of_first, of_second] = L::apart_both(ac.each_ref(), bd.each_ref());
            for (a, b, apart) in [(a, b, L::apart(a.each_ref(), b.each_ref())), (a, b, of_first), (c, d, of_second)] {
                for column in 0..4 {
                    let op = if column < 3 { |a: f32, b: f32| a - b } else { |a, b| a + b };
                    assert_same(stored(apart[column]), core::array::from_fn(|row| op(a[row][column], b[row][column])));
                }
            }
        }
    }
}

struct Arithmetic;

impl LaneWork for Arithmetic {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut state = 2;
        for _ in 0..2000 {
            let (a, b) = (floats(&mut state), floats(&mut state));
            let (x, y) = (L::load(&a), L::load(&b));
            let each = |op: fn(f32, f32) -> f32| core::array::from_fn(|lane| op(a[lane], b[lane]));
            assert_same(stored(x.add(y)), each(|a, b| a + b));
            assert_same(stored(x.sub(y)), each(|a, b| a - b));
            assert_same(stored(x.mul(y)), each(|a, b| a * b));
            // Multiply and add apart.
            assert_same(stored(x.mul(y).add(x)), each(|a, b| a * b + a));
            let (least, greatest) = (stored(x.min(y)), stored(x.max(y)));
            for lane in set(mask_of(core::array::from_fn(|lane| !a[lane].is_nan() && !b[lane].is_nan()))) {
                assert_eq!(least[lane], a[lane].min(b[lane]));
                assert_eq!(greatest[lane], a[lane].max(b[lane]));
            }
        }
    }
}

struct Comparisons;

impl LaneWork for Comparisons {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut state = 3;
        for _ in 0..2000 {
            let (a, mut b) = (floats(&mut state), floats(&mut state));
            b[random(&mut state) as usize % LANES] = a[0];
            b[5] = a[5];
            let expected = mask_of(core::array::from_fn(|lane| a[lane] <= b[lane]));
            assert_eq!(L::load(&a).le(L::load(&b)), expected, "{a:?} {b:?}");
            let ids: [u32; LANES] = core::array::from_fn(|_| random(&mut state));
            for id in [ids[7], 0, u32::MAX, 1 << 31, random(&mut state)] {
                assert_eq!(L::greater_ids(&ids, id), mask_of(ids.map(|other| other > id)), "{ids:?} {id}");
                assert_eq!(L::same_ids(&ids, id), mask_of(ids.map(|other| other == id)), "{ids:?} {id}");
            }
        }
    }
}

struct SetLanes;

impl LaneWork for SetLanes {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut state = 4;
        let values: [f32; LANES] = floats(&mut state);
        let ids: [u32; LANES] = core::array::from_fn(|_| random(&mut state));
        let pairs: [[u32; 2]; LANES] = core::array::from_fn(|_| [random(&mut state), random(&mut state)]);
        for mask in 0..=u16::MAX {
            let len = mask.count_ones() as usize;
            let (mut lanes, mut floats, mut own) = ([7; LANES], [7.0; LANES], [7.0; LANES]);
            let (mut some_ids, mut some_pairs) = ([7; LANES], [[7; 2]; LANES]);
            assert_eq!(L::expand(mask, 1000, &mut lanes), len);
            L::compress(&values, mask, &mut floats);
            L::load(&values).compressed(mask, &mut own);
            L::compress_ids(&ids, mask, &mut some_ids);
            L::compress_pairs(&pairs, mask, &mut some_pairs);
            for (at, lane) in set(mask).enumerate() {
                assert_eq!(lanes[at], 1000 + lane as u32);
                assert_eq!(floats[at].to_bits(), values[lane].to_bits());
                assert_eq!(own[at].to_bits(), values[lane].to_bits());
                assert_eq!(some_ids[at], ids[lane]);
                assert_eq!(some_pairs[at], pairs[lane]);
            }
        }
    }
}

struct Picked;

impl LaneWork for Picked {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut state = 7;
        let row: [u32; ROW] = core::array::from_fn(|_| random(&mut state));
        for _ in 0..1000 {
            let places: [u32; LANES] = core::array::from_fn(|_| random(&mut state));
            let mut out = [7; LANES];
            L::pick(&row, &places, &mut out);
            assert_eq!(out, places.map(|place| row[place as usize % ROW]));
        }
    }
}

struct Pairs;

impl LaneWork for Pairs {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut state = 5;
        let lesser_first = |a: u32, b: u32| [a.min(b), a.max(b)];
        for step in 0..4096 {
            // Every odd mask of the first twelve lanes, and some random masks.
            let mask = if step % 2 == 0 { random(&mut state) as u16 } else { step as u16 };
            let ids: [u32; LANES] = core::array::from_fn(|_| random(&mut state));
            let (a, rotation) = (random(&mut state), 1 + step % (LANES / 2));
            let check = |out: [[u32; 2]; LANES], pair: &dyn Fn(usize) -> [u32; 2]| {
                let expected: Vec<_> = set(mask).map(pair).collect();
                assert_eq!(out[..expected.len()], expected[..], "{mask:b}");
            };
            let mut out = [[7; 2]; LANES];
            L::pairs(a, &ids, mask, &mut out);
            check(out, &|lane| lesser_first(a, ids[lane]));
            L::pairs_across(a, &ids, false, mask, &mut out);
            check(out, &|lane| [a, ids[lane]]);
            L::pairs_across(a, &ids, true, mask, &mut out);
            check(out, &|lane| [ids[lane], a]);
            L::pairs_within(&ids, rotation, mask, &mut out);
            check(out, &|lane| lesser_first(ids[lane], ids[(lane + rotation) % LANES]));
        }
    }
}

struct SortedRows;

impl LaneWork for SortedRows {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut state = 6;
        for round in 0..2000 {
            let most = [LANES, 2 * LANES, ROW][round % 3] as u32;
            let mut rows = [[0; ROW + LANES]; LANES];
            rows.as_flattened_mut().iter_mut().for_each(|id| *id = random(&mut state));
            let lens = [0; LANES].map(|_: u32| random(&mut state) % (most + 1));
            let mut expected = rows;
            L::sort_rows(&mut rows, &lens);
            for row in 0..LANES {
                let len = lens[row] as usize;
                expected[row][..len].sort_unstable();
                assert_eq!(rows[row][..len], expected[row][..len], "row {row} of lengths {lens:?}");
            }
        }
    }
}

struct MergedRows;

impl LaneWork for MergedRows {
    type Output = ();

    /// A network that merges all halves of zeros and ones merges everything (Knuth).
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let mut state = 7;
        for round in 0..2 * ((ROW + 1) * (ROW + 1)).div_ceil(LANES) {
            let mut rows = [[0; 2 * ROW]; LANES];
            let mut lens = [2 * ROW as u32; LANES];
            for (row, ids) in rows.iter_mut().enumerate() {
                let both = round / 2 * LANES + row;
                for (half, ones) in ids.as_chunks_mut::<ROW>().0.iter_mut().zip([both, both / (ROW + 1)]) {
                    half[ROW - ones % (ROW + 1)..].fill(1);
                }
                if round % 2 == 1 {
                    // In every second of these rounds, few of eight rows are longer than a half.
                    let is_long = round % 4 == 1 || row % 3 == 0;
                    lens[row] = if is_long { ROW as u32 + random(&mut state) % (ROW as u32 + 1) } else { 0 };
                    ids.iter_mut().for_each(|id| *id = random(&mut state));
                    ids[..ROW].sort_unstable();
                    ids[ROW..ROW.max(lens[row] as usize)].sort_unstable();
                }
            }
            let mut expected = rows;
            L::merge_rows(&mut rows, &lens);
            for row in 0..LANES {
                let len = lens[row] as usize;
                expected[row][..len].sort_unstable();
                assert_eq!(rows[row][..len], expected[row][..len], "row {row} of lengths {lens:?}");
            }
        }
    }
}

struct KeptRows;

impl LaneWork for KeptRows {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        const MARKS: u32 = 0x8001;
        let mut state = 8;
        for round in 0..4096 {
            let (from, to) = [(0, 0), (LANES, 0), (2 * LANES, 7), (LANES, LANES)][round % 4];
            let all: [[u32; 3 * LANES]; 3] = core::array::from_fn(|_| core::array::from_fn(|_| random(&mut state)));
            let marked = random(&mut state) as u16;
            let mut columns = all;
            for lane in 0..LANES {
                let marks = if marked >> lane & 1 == 1 { [1, 1 << 15, MARKS][lane % 3] } else { 0 };
                columns[2][from + lane] = all[2][from + lane] & !MARKS | marks;
            }
            let before = columns;
            let [first, second, last] = &mut columns;
            assert_eq!(L::keep_any([first, second, last], from, to, MARKS), marked.count_ones() as usize);
            for (column, before) in columns.iter().zip(before) {
                assert_eq!(column[..to], before[..to]);
                assert_eq!(column[from + LANES..], before[from + LANES..]);
                for (at, lane) in set(marked).enumerate() {
                    assert_eq!(column[to + at], before[from + lane]);
                }
            }
        }
    }
}

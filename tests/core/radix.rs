//! The sort alone, against the stable sort of the standard library.

use jostle_core::Workers;
use jostle_core::input::MAX_BODIES;
use jostle_core::radix::{LOCAL_MAX, RadixSort};
use jostle_testkit::sorting::{CheckSorts, Sorts, items, mix, sort_items};
use jostle_testkit::{pool, sorting};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// Sizes about those of runs sorted by insertion or by comparison, of buckets, of input sorted in cache, and of input
/// dealt to hundreds of buckets.
const SIZES: [usize; 21] = [
    0, 1, 2, 3, 15, 16, 17, 95, 96, 97, 1023, 1024, 1025, 4095, 16_383, 16_384, 16_385, 33_000, 65_537, 131_072,
    300_000,
];

/// A name, and the code of item i of n.
type Distribution = (&'static str, fn(usize, usize) -> u64);

const DISTRIBUTIONS: [Distribution; 20] = [
    ("random", |i, _| mix(i)),
    ("sorted", |i, n| i as u64 * (u64::MAX / n as u64)),
    ("reversed", |i, n| (n - i) as u64 * (u64::MAX / n as u64)),
    ("sorted, dense", |i, _| i as u64),
    ("all equal", |_, _| 0x0123_4567_89ab_cdef),
    ("few distinct", |i, _| [7, u64::MAX, 0, 7 << 40, 8][(mix(i) % 5) as usize]),
    ("only the low bits differ", |i, _| 0xfeed_0000_0000_0000 | mix(i) >> 48),
    ("only the lowest bit differs", |i, _| 0xfeed_0000_0000_0000 | mix(i) & 1),
    ("only the top bit differs", |i, _| mix(i) & (1 << 63)),
    ("63 bits", |i, _| mix(i) >> 1),
    ("long common prefixes", |i, _| mix(i % 37) << 16 | mix(i) >> 48),
    ("many short runs of long common prefixes", |i, n| mix(i % (n / 20 + 1)) << 8 | mix(i) >> 56),
    ("powers of two", |i, _| 1 << (mix(i) % 64)),
    ("geometric: half of the rest shares each bit", |i, _| {
        let z = mix(i);
        1 << z.trailing_zeros().min(62) | mix(i + 1) & ((1 << z.trailing_zeros().min(62)) - 1)
    }),
    ("equal in the middle bits", |i, _| mix(i) & 0xff00_0000_0000_00ff),
    ("one apart from the rest", |i, n| if i == n / 2 { 0 } else { u64::MAX }),
    ("half equal, half random", |i, _| if mix(i) & 1 == 0 { 1 << 62 } else { mix(i + 1) }),
    ("crowds in a cell of an outlier", |i, n| if i + 1 == n { u64::MAX } else { mix(i) >> 20 }),
    ("pipe organ", |i, n| i.min(n - i) as u64 * (u64::MAX / n as u64)),
    ("saw teeth", |i, _| (i % 1000) as u64 * 0x0010_0000_0000_0001),
];

fn distributions_at(mut sorts: impl CheckSorts, sizes: &[usize]) {
    for &n in sizes {
        for (name, code) in DISTRIBUTIONS {
            sorts.check(name, &(0..n).map(|i| code(i, n)).collect::<Vec<_>>());
        }
    }
}

#[test]
fn items_of_8_bytes() {
    distributions_at(sorting::of_8_bytes(), &SIZES);
}

#[test]
fn items_of_12_bytes() {
    distributions_at(sorting::of_12_bytes(), &[0, 97, 20_000, 131_073]);
}

#[test]
fn items_of_16_bytes() {
    distributions_at(Sorts::<4>::new(), &[1, 96, 40_000]);
}

#[test]
fn items_of_32_bytes() {
    distributions_at(Sorts::<8>::new(), &[2, 1025, 20_000]);
}

/// Crowds of equal codes are about as large as one piece of the sort or two, among other codes.
#[test]
fn crowds_about_the_size_of_a_piece() {
    let mut sorts = sorting::of_8_bytes();
    for crowd in [LOCAL_MAX - 1, LOCAL_MAX, LOCAL_MAX + 1, 2 * LOCAL_MAX, 2 * LOCAL_MAX + 1] {
        for others in [0, 1, 3_000] {
            for shared in [1, 1 << 40, u64::MAX] {
                let codes: Vec<_> =
                    (0..crowd + others).map(|i| if i % 7 == 0 && i / 7 < others { mix(i) } else { shared }).collect();
                sorts.check(&format!("crowd of {crowd} at {shared:#x} and {others} others"), &codes);
            }
        }
    }
}

/// A sort that served a large input serves small ones, and codes that it has served before.
#[test]
fn scratch_of_one_input_does_not_leak_into_the_next() {
    let mut sorts = sorting::of_8_bytes();
    for n in [50_000, 10, 0, 17_000, 1, 50_000, 97] {
        sorts.check("random", &(0..n).map(mix).collect::<Vec<_>>());
        sorts.check("equal", &vec![5; n]);
    }
}

/// Floats, zero-sized items and codes computed from the item.
#[test]
fn other_items() {
    let mut nothing = [(); 1000];
    RadixSort::new().sort_by_code_on(&mut nothing, Workers::Serial, |()| 1);
    let mut floats: Vec<f32> = (0..20_000).map(|i| (mix(i) as u32 >> 1) as f32).collect();
    let mut expected = floats.clone();
    expected.sort_by(f32::total_cmp);
    RadixSort::new().sort_by_code_on(&mut floats, Workers::Rayon, |x| x.to_bits().into());
    assert_eq!(floats, expected);
}

/// Draws codes with a common prefix of any length, in groups that are repeated.
fn codes() -> impl Strategy<Value = Vec<u64>> {
    let group =
        (any::<u64>(), 0..64_u32, vec(any::<u64>(), 1..60), 1..40_usize).prop_map(|(prefix, shift, low, times)| {
            low.iter().map(|low| prefix ^ low >> shift).collect::<Vec<_>>().repeat(times)
        });
    vec(group, 0..8).prop_map(|groups| groups.concat())
}

/// Keeps failures beside this file, to be tried first from then on.
fn config() -> ProptestConfig {
    let beside = FileFailurePersistence::WithSource("regressions");
    ProptestConfig { cases: 200, failure_persistence: Some(Box::new(beside)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn sorts_as_the_standard_library_does(codes in codes()) {
        let mut items = items::<3>(codes.len());
        let mut expected = items.clone();
        expected.sort_by_key(|item| codes[item[0] as usize]);
        sort_items(&mut RadixSort::new(), &mut items, Workers::Rayon, &codes);
        prop_assert!(items == expected);
    }
}

/// Sorts as many items as there may be, so that the ends of blocks no longer fit 32 bits. Takes 17 GB, half of them for
/// digits, and one to three minutes: `cargo test --release --test core radix -- --ignored`.
#[test]
#[ignore = "takes 17 GB"]
fn as_many_items_as_ids_can_name() {
    let ones = 3_000_000_000;
    let mut items = vec![1_u8; MAX_BODIES];
    items[ones..].fill(0);
    let mut sort = RadixSort::new();
    let (pool, mut code): (_, fn(&u8) -> u64) = (pool(2), |&item| item.into());
    pool.install(|| sort.sort_by_code_on(&mut items, Workers::Rayon, code));
    assert_eq!(items.partition_point(|&item| item == 0), MAX_BODIES - ones);
    assert!(items[MAX_BODIES - ones..].iter().all(|&item| item == 1));
    code = |_| 7;
    pool.install(|| sort.sort_by_code_on(&mut items, Workers::Rayon, code));
    assert_eq!(items.partition_point(|&item| item == 0), MAX_BODIES - ones);
    assert!(items[MAX_BODIES - ones..].iter().all(|&item| item == 1));
}

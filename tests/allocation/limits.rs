//! All bodies at one point, whose pairs no host has foreseen: they are counted and refused, and take little memory.

use jostle::{
    ActivationTable, Bodies, Boxes, CoherentFinder, Input, InputError, NeighborLists, PairFinder, PreparedSet, Rows,
    Space, Threads, between,
};
use jostle_testkit::{Kind, scene};

use crate::counting::{begin_peak, live, peak, with_short_memory};

const BODIES: usize = 1_600;

/// All pairs take 10 MB.
const PAIRS: u64 = (BODIES * (BODIES - 1) / 2) as u64;

/// The pairs of two such sets.
const BETWEEN: u64 = (BODIES * BODIES) as u64;

/// What a search takes beside its list, and the list of some pairs.
const LITTLE: usize = 6 << 20;

/// Checks a search that is refused, by a limit of `max` pairs or for want of memory.
fn refused(name: &str, wanted: u64, max: Option<usize>, search: impl FnOnce() -> Option<InputError>) {
    begin_peak();
    let before = live();
    let error = if max.is_some() { search() } else { with_short_memory(LITTLE, search) };
    let (taken, expected) =
        (peak() - before, InputError::TooManyPairs { pairs: wanted, max: max.map(|max| max as u64) });
    assert_eq!(error, Some(expected), "{name}");
    // Lists grow twofold, with the shorter one beside, on each of three threads.
    assert!(taken <= if max.is_some() { LITTLE } else { 12 * LITTLE }, "{name}, {max:?}: {taken} bytes");
}

/// Searches bodies at one point in every way that makes a list.
pub(crate) fn too_many_pairs_take_little_memory<const D: usize>(threads: Threads<'_>) {
    let (at, high) = ([0.0; BODIES], [1.0; BODIES]);
    let point = Bodies::<D>::from_slices([at.as_slice(); D], 0.5);
    let boxes = Boxes::new([at.as_slice(); D], [high.as_slice(); D]);
    let moving = [[0.25_f32; BODIES].as_slice(); D];
    let mut prepared = PreparedSet::new();
    prepared.build(point, Space::open(), threads).expect("bodies");
    let periodic = Input::within(point).periodic([Some([0.0, 9.0]); D]);
    let set = jostle::Set::from(point).moving(moving);
    let sets = [point.into(); 2];
    let table = ActivationTable::none(2).with(0, 0).with(0, 1);
    let (of_sets, in_a_cell) = (Input::among(&sets, &table), Some([0.0, 9.0]));
    let (each_once, each_twice) = (PAIRS + BETWEEN, 2 * (PAIRS + BETWEEN));
    let inputs = [
        ("many sets", of_sets, [each_once, each_twice]),
        ("many sets in a cell", of_sets.periodic([in_a_cell; D]), [each_once, each_twice]),
        ("one set", Input::within(point), [PAIRS, 2 * PAIRS]),
        ("a cell", periodic, [PAIRS, 2 * PAIRS]),
        ("moving bodies", Input::within(set), [PAIRS, 2 * PAIRS]),
        ("boxes", Input::within(boxes), [PAIRS, 2 * PAIRS]),
        ("two sets", between(point, &prepared), [BETWEEN; 2]),
        ("circles and boxes", between(point, boxes), [BETWEEN; 2]),
    ];
    let spread = scene::scene::<D>(Kind::Uniform, BODIES, 1);
    for max in [Some(20_000), None] {
        for (name, input, [pairs, neighbors]) in inputs {
            let (mut finder, mut lists) = (PairFinder::new(), NeighborLists::with_distances());
            finder.set_max_pairs(max.unwrap_or(usize::MAX));
            refused(name, pairs, max, || finder.on(threads).find(input).err());
            assert_eq!((finder.last().pairs().len(), finder.last().stats().pairs), (0, 0), "{name}");
            finder.on(threads).neighbors(spread.view(), Rows::Full, &mut lists).expect("bodies");
            let before = lists.neighbors().to_vec();
            refused(name, neighbors, max, || finder.on(threads).neighbors(input, Rows::Full, &mut lists).err());
            assert_eq!(lists.neighbors(), before, "{name}");
            let found = finder.on(threads).find(spread.view()).expect("bodies").pairs().to_vec();
            assert_eq!(found, PairFinder::new().on(threads).find(spread.view()).expect("bodies").pairs(), "{name}");
        }
        let mut coherent = CoherentFinder::new();
        coherent.set_max_pairs(max.unwrap_or(usize::MAX));
        for round in 0..3 {
            for _ in 0..4 {
                let found = coherent.on(threads).find(spread.view()).expect("bodies").pairs().len();
                assert_eq!(found as u64, PairFinder::new().on(threads).count(spread.view()).expect("bodies"));
            }
            for frame in 0..2 {
                let name = format!("coherent frames, round {round}, frame {frame}");
                refused(&name, PAIRS, max, || coherent.on(threads).find(point).err());
                assert!(coherent.last().pairs().is_empty(), "{name}");
            }
        }
    }
}

/// Searches for rows whose pairs fit into memory, but not what takes the pairs to their rows, or the rows themselves.
pub(crate) fn rows_beyond_memory_are_refused(threads: Threads<'_>) {
    let (at, high) = ([0.0; BODIES], [1.0; BODIES]);
    let (point, boxes) = (Bodies::<2>::from_slices([at.as_slice(); 2], 0.5), Boxes::new([&at; 2], [&high; 2]));
    let moving = jostle::Set::from(point).moving([[0.25_f32; BODIES].as_slice(); 2]);
    let spread = scene::scene::<2>(Kind::Uniform, BODIES, 1);
    let all = NeighborLists::with_distances().and_distances_f64().and_vectors();
    // The pairs take 10 MB, or 16 where they grow twofold; 41 MB take the vectors of all neighbours.
    for (name, input) in [("circles", point.into()), ("moving", Input::within(moving)), ("boxes", boxes.into())] {
        for most in [18 << 20, 24 << 20, 30 << 20] {
            let (mut finder, mut lists) = (PairFinder::new(), all.clone());
            finder.on(threads).neighbors(spread.view(), Rows::Full, &mut lists).expect("bodies");
            let before = lists.neighbors().to_vec();
            let listed = with_short_memory(most, || finder.on(threads).neighbors(input, Rows::Full, &mut lists).err());
            assert_eq!(listed, Some(InputError::TooManyPairs { pairs: 2 * PAIRS, max: None }), "{name}, {most}");
            assert_eq!(lists.neighbors(), before, "{name}, {most}");
            finder.on(threads).neighbors(input, Rows::Full, &mut lists).expect("there is memory again");
            assert_eq!(lists.neighbors().len() as u64, 2 * PAIRS, "{name}, {most}");
        }
    }
}

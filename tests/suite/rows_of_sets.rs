//! Neighbour lists of many sets, beside those of each set and of each two.

use jostle::{
    ActivationTable, Circles, Input, InputError, LinearTree, NeighborLists, PairFinder, PreparedSet, Rows, Set, Space,
    Threads,
};
use jostle_testkit::{Kind, Scene, pool, scene};

/// A scene whose bodies are dealt out to sets of so many.
fn dealt<const N: usize>(kind: Kind, lens: [usize; N]) -> [Scene<2>; N] {
    let all = scene::scene::<2>(kind, lens.iter().sum(), 11);
    let mut first = 0;
    lens.map(|len| {
        let (range, mut one) = (first..first + len, all.clone());
        first += len;
        one.centers = all.centers.each_ref().map(|column| column[range.clone()].to_vec());
        one.radii = all.radii[range].to_vec();
        one
    })
}

fn all_columns() -> NeighborLists {
    NeighborLists::new().and_distances().and_image_shifts().and_vectors()
}

/// Checks the rows of `set` in `other` against those of a search of these two alone.
fn check_two(lists: &NeighborLists, [set, other]: [usize; 2], expected: &NeighborLists, name: &str) {
    for id in 0..expected.len() {
        let (ids, range) = (lists.ids_between(set, other, id).collect::<Vec<_>>(), lists.between(set, other, id));
        assert_eq!(ids, expected.of(id), "{name}: {id} of {set} in {other}");
        assert_eq!(lists.distances2()[range.clone()], *expected.distances2_of(id), "{name}");
        assert_eq!(lists.image_shifts::<2>()[range.clone()], *expected.image_shifts_of::<2>(id), "{name}");
        assert_eq!(lists.vectors::<2>()[range], *expected.vectors_of::<2>(id), "{name}");
    }
}

#[test]
fn rows_of_many_sets_are_those_of_each_two() {
    for (kind, lens) in [(Kind::Dense, [300, 0, 170, 41]), (Kind::PowerLaw, [1, 700, 3, 60])] {
        let scenes = dealt(kind, lens);
        let x = scenes.iter().flat_map(|scene| &scene.centers[0]).copied();
        let (lo, hi) = x.fold((f32::MAX, f32::MIN), |(lo, hi), x| (lo.min(x), hi.max(x)));
        let borders = [Some([lo, hi + 0.01]), None];
        for space in [Space::open(), Space::periodic(borders)] {
            let (mut tree, mut prepared) = (LinearTree::new(), PreparedSet::new());
            tree.build(scenes[2].view(), Threads::Serial).expect("sound bodies");
            prepared.build(scenes[3].view(), space, Threads::Serial).expect("sound bodies");
            let sets: [Set<'_, 2>; 4] =
                [scenes[0].view().into(), scenes[1].view().into(), (&tree).into(), (&prepared).into()];
            for table in [ActivationTable::all(4), ActivationTable::none(4).with(0, 2).with(3, 3).with(1, 0)] {
                let (name, input) =
                    (format!("{kind:?}, {space:?}, {table:?}"), Input::among(&sets, &table).space(space));
                let (mut finder, mut lists, mut two) = (PairFinder::new(), all_columns(), all_columns());
                finder.neighbors(input, Rows::Full, &mut lists).expect("sound bodies");
                let mut half = all_columns();
                finder.neighbors(input, Rows::Half, &mut half).expect("sound bodies");
                let (mut starts, mut end) = (vec![0], 0);
                for len in lens {
                    end += len as u32;
                    starts.push(end);
                }
                assert_eq!((lists.set_starts(), half.set_starts()), (starts.as_slice(), starts.as_slice()), "{name}");
                assert_eq!(lists.neighbors().len(), 2 * half.neighbors().len(), "{name}");
                for [i, j] in (0..16).map(|at| [at / 4, at % 4]) {
                    if !table.meet(i, j) {
                        assert!((0..lens[i]).all(|id| lists.ids_between(i, j, id).len() == 0), "{name}: {i}, {j}");
                        continue;
                    }
                    let of = if i == j { Input::within(sets[i]) } else { Input::between(sets[i], sets[j]) };
                    finder.neighbors(of.space(space), Rows::Full, &mut two).expect("sound bodies");
                    assert!(two.set_starts().is_empty());
                    check_two(&lists, [i, j], &two, &name);
                    if i <= j {
                        finder.neighbors(of.space(space), Rows::Half, &mut two).expect("sound bodies");
                        check_two(&half, [i, j], &two, &name);
                    }
                }
            }
        }
    }
}

/// Large sets, whose rows threads share.
#[test]
fn rows_of_many_sets_are_the_same_on_any_threads() {
    let scenes = dealt(Kind::Clustered, [20_000, 9_000, 100]);
    let sets: [Set<'_, 2>; 3] = scenes.each_ref().map(|scene| scene.view().into());
    let table = ActivationTable::none(3).with(0, 0).with(0, 1).with(1, 2);
    for rows in [Rows::Full, Rows::Half] {
        let of = |threads: Threads<'_>| {
            let (mut finder, mut lists) = (PairFinder::new(), all_columns());
            finder.on(threads).neighbors(Input::among(&sets, &table), rows, &mut lists).expect("sound bodies");
            lists.into_columns()
        };
        let serial = of(Threads::Serial);
        assert!(serial.neighbors.len() > 20_000);
        for threads in 2..4 {
            assert!(of(Threads::Pool(&pool(threads))) == serial, "{rows:?}, {threads} threads");
        }
    }
}

#[test]
fn rows_of_many_sets_keep_to_limits_and_tests() {
    let [few, more] = [[0.0, 1.0], [0.5, 9.0]];
    let sets: [Set<'_, 2>; 2] = [Circles::new(&few, &[0.0; 2], 0.3).into(), Circles::new(&more, &[0.0; 2], 0.3).into()];
    let (table, mut finder, mut lists) = (ActivationTable::all(2), PairFinder::new(), NeighborLists::new());
    let input = Input::among(&sets, &table);
    finder.neighbors(input, Rows::Full, &mut lists).expect("sound bodies");
    assert_eq!((lists.offsets(), lists.neighbors()), (&[0, 1, 2, 4, 4][..], &[2, 2, 0, 1][..]));
    let only_first = |sets: [u32; 2], pair: [u32; 2]| sets == [0, 1] && pair[0] == 0;
    finder.only_of_sets(&only_first).neighbors(input, Rows::Half, &mut lists).expect("sound bodies");
    assert_eq!((lists.offsets(), lists.neighbors()), (&[0, 1, 1, 1, 1][..], &[2][..]));
    finder.set_max_pairs(3);
    let refused = finder.neighbors(input, Rows::Full, &mut lists);
    assert_eq!(refused.err(), Some(InputError::TooManyPairs { pairs: 4, max: Some(3) }));
    assert_eq!(lists.neighbors(), [2], "the lists stay as they were");
    finder.neighbors(input, Rows::Half, &mut lists).expect("two pairs");
    assert_eq!((lists.of(0), lists.of(1), lists.between(0, 1, 1)), (&[2][..], &[2][..], 1..2));
    // No sets at all, and bodies that meet nobody.
    let (none, no_table) = ([], ActivationTable::none(0));
    finder.neighbors(Input::<2>::among(&none, &no_table), Rows::Full, &mut lists).expect("no bodies");
    assert_eq!((lists.len(), lists.set_starts()), (0, &[0][..]));
    finder.neighbors(Input::among(&sets, &ActivationTable::none(2)), Rows::Full, &mut lists).expect("sound bodies");
    assert_eq!((lists.len(), lists.neighbors().len(), lists.set_starts()), (4, 0, &[0, 2, 4][..]));
}

#[test]
#[should_panic(expected = "no set 0: the lists are of 0 sets by a table")]
fn lists_of_one_set_know_no_sets() {
    let mut lists = NeighborLists::new();
    PairFinder::new().neighbors(Circles::new(&[0.0], &[0.0], 1.0), Rows::Full, &mut lists).expect("a sound body");
    let _ = lists.between(0, 0, 0);
}

#[test]
#[should_panic(expected = "no body 1 in set 0, which has 1 bodies")]
fn a_body_of_the_next_set_is_none_of_this() {
    let (sets, mut lists) = ([Circles::new(&[0.0], &[0.0], 1.0).into(); 2], NeighborLists::new());
    let table = ActivationTable::all(2);
    PairFinder::new().neighbors(Input::among(&sets, &table), Rows::Full, &mut lists).expect("sound bodies");
    let _ = lists.between(0, 0, 1);
}

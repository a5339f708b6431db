//! Many sets, and tables of the sets that meet. Each meeting is checked against its own search, and against a plain
//! loop.

use std::sync::Mutex;

use jostle::{
    ActivationTable, Input, InputError, LinearTree, NeighborLists, PairFinder, Rows, Set, Space, Threads, between,
};
use jostle_testkit::{Kind, Scene, oracle, scene};

use crate::embed::layers::{Layering, meet, set};
use crate::embed::oracle::{Pairs, Random, across, ascending, assert_same, bodies, tree_of};
use crate::embed::ways::Ways;

/// The bodies of a set, its tree, and what to search it by.
struct Drawn<const D: usize> {
    scene: Scene<D>,
    tree: LinearTree<D>,
    layering: Option<Layering>,
    as_tree: bool,
}

impl<const D: usize> Drawn<D> {
    fn new(random: &mut Random, n: usize) -> Self {
        let scene = scene::scene(Kind::ALL[random.below(4)], n, random.next());
        let layering = (random.below(3) == 0).then(|| Layering::of(n, random.next()));
        Self { tree: tree_of(scene.view()), scene, layering, as_tree: random.below(2) == 0 }
    }

    fn set(&self) -> Set<'_, D> {
        let layering = self.layering.as_ref();
        if self.as_tree { set(&self.tree, layering) } else { set(self.scene.view(), layering) }
    }
}

fn random_table(random: &mut Random, sets: usize) -> ActivationTable {
    let mut table = ActivationTable::none(sets);
    for _ in 0..if sets == 0 { 0 } else { random.below(2 * sets + 1) } {
        table = table.with(random.below(sets), random.below(sets));
    }
    table
}

/// Returns the pairs of a meeting by a plain loop, ascending.
fn expected<const D: usize>(drawn: &[Drawn<D>], i: usize, j: usize) -> Pairs {
    let [a, b] = [i, j].map(|at| drawn[at].scene.view());
    let pairs = if i == j { oracle::pairs(a) } else { across(a, b) };
    let layerings = [i, j].map(|at| drawn[at].layering.as_ref());
    pairs.into_iter().filter(|&pair| meet(layerings, pair)).collect()
}

/// Checks every meeting of a table, and the meetings that are not in it.
fn check<const D: usize>(ways: &mut Ways<D>, drawn: &[Drawn<D>], table: &ActivationTable, by_loops: bool) {
    let sets: Vec<_> = drawn.iter().map(Drawn::set).collect();
    let all = (0..sets.len()).flat_map(|i| (i..sets.len()).map(move |j| (i, j)));
    let name = format!("{} sets, {table:?}", sets.len());
    let (found, pairs) = ways.same(&name, |way| {
        let found = way.search().find(Input::among(&sets, table)).expect("sound sets");
        let pairs = |(i, j)| (i, j, table.meet(i, j).then(|| found.pairs_between(i, j).to_vec()));
        (all.clone().map(pairs).collect::<Vec<_>>(), found.stats().pairs)
    });
    assert_eq!(pairs, found.iter().flat_map(|meeting| &meeting.2).map(|pairs| pairs.len() as u64).sum::<u64>());
    for (i, j, pairs) in found {
        let Some(pairs) = pairs else { continue };
        let alone = if i == j { sets[i].into() } else { between(sets[i], sets[j]) };
        let alone = ways.by_turns(|way| way.search().find(alone).expect("sound sets").pairs().to_vec());
        assert!(pairs == alone, "{name}, {D}D: other pairs of {i} and {j} than alone");
        if by_loops {
            assert_same(&name, &ascending(&pairs), &expected(drawn, i, j));
        }
    }
}

fn random_sets<const D: usize>() {
    let (mut ways, mut random) = (Ways::<D>::all(), Random(D as u64));
    for turn in 0..40 {
        let count = [0, 1, 2, 3, 5, 8][turn % 6];
        let drawn: Vec<_> = (0..count).map(|_| [0, 1, 17, 300][random.below(4)]).collect();
        let drawn: Vec<_> = drawn.into_iter().map(|n| Drawn::new(&mut random, n)).collect();
        let tables = [ActivationTable::none(count), random_table(&mut random, count), ActivationTable::all(count)];
        for table in &tables[turn % 3..][..1] {
            check(&mut ways, &drawn, table, true);
        }
    }
}

#[test]
fn random_sets_in_2d() {
    random_sets::<2>();
}

#[test]
fn random_sets_in_3d() {
    random_sets::<3>();
}

/// Tests sets that several threads share, with empty sets between them.
fn large<const D: usize>() {
    let (mut ways, mut random) = (Ways::<D>::few(), Random(7));
    for _ in 0..4 {
        let drawn: Vec<_> = [0, 9_000, 1, 20, 6_000, 0, 3_000].map(|n| Drawn::new(&mut random, n)).into();
        for table in [ActivationTable::all(7), random_table(&mut random, 7)] {
            check(&mut ways, &drawn, &table, false);
        }
    }
}

#[test]
fn large_sets_in_2d() {
    large::<2>();
}

#[test]
fn large_sets_in_3d() {
    large::<3>();
}

#[test]
fn a_test_is_asked_about_each_meeting() {
    let mut random = Random(3);
    let drawn: Vec<Drawn<2>> = [300, 40, 200].map(|n| Drawn::new(&mut random, n)).into();
    let sets: Vec<_> = drawn.iter().map(Drawn::set).collect();
    let (table, wanted) = (ActivationTable::all(3), |a: u32, b: u32| (a + 2 * b).is_multiple_of(3));
    let mut finder = PairFinder::new();
    let found = finder.only(&wanted).find(Input::among(&sets, &table)).expect("sound sets");
    for (i, j) in table.iter() {
        let expected: Pairs = expected(&drawn, i, j).into_iter().filter(|&[a, b]| wanted(a, b)).collect();
        assert_same("a test", &ascending(found.pairs_between(i, j)), &expected);
    }
}

#[test]
fn a_test_of_sets_knows_them() {
    let mut random = Random(4);
    let drawn: Vec<Drawn<2>> = [300, 40, 200].map(|n| Drawn::new(&mut random, n)).into();
    let sets: Vec<_> = drawn.iter().map(Drawn::set).collect();
    let table = ActivationTable::none(3).with(0, 0).with(0, 2).with(1, 2).with(2, 2);
    let wanted = |[i, j]: [u32; 2], [a, b]: [u32; 2]| (a + 2 * b + i + 5 * j).is_multiple_of(3);
    let (mut finder, three) = (PairFinder::new(), jostle_testkit::pool(3));
    for space in [Space::open(), Space::periodic([Some([0.0, 30.0]), None])] {
        let input = Input::among(&sets, &table).space(space);
        let all = Mutex::new(Vec::new());
        finder.on(Threads::Serial).for_each_hit(input, |hit| all.lock().expect("one thread").push(hit)).expect("sets");
        let expected: Vec<_> =
            all.into_inner().expect("one thread").into_iter().map(|hit| (hit.sets, hit.pair)).collect();
        let expected: Vec<_> = expected.into_iter().filter(|&(sets, pair)| wanted(sets, pair)).collect();
        for threads in [Threads::Serial, Threads::Pool(&three)] {
            let found = finder.on(threads).only_of_sets(&wanted).find(input).expect("sound sets");
            for (i, j) in table.iter() {
                let of = expected.iter().filter(|(sets, _)| *sets == [i as u32, j as u32]).map(|(_, pair)| *pair);
                assert_eq!(found.pairs_between(i, j), of.collect::<Pairs>(), "{i} and {j}");
            }
            let count = finder.on(threads).only_of_sets(&wanted).count(input).expect("sound sets");
            assert_eq!(count, expected.len() as u64);
            let met = |[i, j]: [u32; 2], _: [u32; 2]| [i, j] == [1, 2];
            let some = finder.on(threads).only(&|_, _| false).only_of_sets(&met).count(input).expect("sound sets");
            let of_two = Input::between(sets[1], sets[2]).space(space);
            assert_eq!(some, finder.on(threads).count(of_two).expect("sound sets"));
            let met = |[i, j]: [u32; 2], [_, b]: [u32; 2]| [i, j] == [0, 1] && b % 2 == 0;
            let mut lists = NeighborLists::new();
            finder.on(threads).only_of_sets(&met).neighbors(of_two, Rows::Full, &mut lists).expect("sound sets");
            let mut filtered = NeighborLists::new();
            finder
                .on(threads)
                .only(&|_, b| b % 2 == 0)
                .neighbors(of_two, Rows::Full, &mut filtered)
                .expect("sound sets");
            assert_eq!(lists.neighbors(), filtered.neighbors());
        }
    }
}

#[test]
fn tables_know_who_meets() {
    let table = ActivationTable::none(4).with(2, 0).with(3, 3).with(0, 2);
    assert!(table.iter().eq([(0, 2), (3, 3)]));
    assert!(table.meet(0, 2) && table.meet(2, 0) && table.meet(3, 3) && !table.meet(0, 0) && !table.meet(9, 9));
    assert_eq!(
        (table.sets(), ActivationTable::all(4).iter().len(), ActivationTable::none(0)),
        (4, 10, ActivationTable::all(0))
    );
    assert_eq!(
        (0..4).fold(ActivationTable::none(4), |table, i| (0..4).fold(table, |it, j| it.with(j, i))),
        ActivationTable::all(4)
    );
    let view = scene::scene::<2>(Kind::Dense, 200, 1);
    let mut finder = PairFinder::new();
    let sets = [view.view().into(); 4];
    // The table is dropped after the search.
    let found = finder.find(Input::among(&sets, &table.clone())).expect("sound sets");
    assert!(!found.pairs_between(0, 2).is_empty() && found.pairs_between(2, 0) == found.pairs_between(0, 2));
    assert!(found.pairs_between(0, 1).is_empty() && found.pairs_between(7, 1).is_empty());
}

#[test]
fn refusals_leave_the_last_result() {
    let good = scene::scene::<2>(Kind::Dense, 300, 1);
    let bad: Scene<2> = bodies(&good).map(|(p, r)| (p, if r > 0.9 { f32::INFINITY } else { r })).collect();
    let (tree, table) = (tree_of(good.view()), ActivationTable::all(3));
    let [good, bad]: [Set<'_, 2>; 2] = [good.view().into(), bad.view().into()];
    let mut finder = PairFinder::new();
    finder.find(Input::among(&[good, (&tree).into(), good], &table)).expect("sound sets");
    let last = finder.last().pairs().to_vec();
    for (at, sets) in [[bad, good, good], [good, bad, good], [good, (&tree).into(), bad]].iter().enumerate() {
        let error = finder.find(Input::among(sets, &table)).map(drop).unwrap_err();
        assert!(matches!(error.by_set(), (Some(set), InputError::Bodies { .. }) if set == at), "{error}");
        assert!(finder.last().pairs() == last);
    }
    for sets in [2, 4, 0] {
        let error = finder.find(Input::among(&[good; 4][..sets], &table)).err();
        assert_eq!(error, Some(InputError::Sets { sets, table: 3 }));
        assert!(finder.last().pairs() == last);
    }
    finder.find(Input::among(&[good, (&tree).into(), good], &table)).expect("sound sets");
    assert!(finder.last().pairs() == last);
}

#[test]
fn many_bodies_of_sets_that_do_not_meet() {
    let scene = scene::scene::<2>(Kind::Uniform, 20_000, 3);
    let (sets, nothing) = ([Set::from(scene.view()); 2], ActivationTable::none(2));
    let pairs = Ways::<2>::few().same("no meeting", |way| {
        let found = way.search().find(Input::among(&sets, &nothing)).expect("sound sets");
        (found.pairs_between(0, 1).len(), found.stats().pairs)
    });
    assert_eq!(pairs, (0, 0));
}

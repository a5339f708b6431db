//! Layers: every form of categories, masks and groups, on one set or both, on views and trees, changed from frame to
//! frame.

use core::array::from_fn;

use jostle::{
    ActivationTable, Circles, CoherentFinder, Input, InputError, Layers, NeighborLists, PairFinder, Rows, Set, Values,
    between, field,
};
use jostle_testkit::lists::Lists;
use jostle_testkit::{Kind, Scene, oracle, scene};

use crate::embed::neighbors::fill;
use crate::embed::oracle::{
    Pairs, Random, across, ascending, assert_same, both_ways, dealt, large_scenes, small_scenes, tree_of,
};
use crate::embed::ways::{Way, Ways};

/// Whether categories, masks and groups are one value for all bodies. Groups may be left out.
#[derive(Debug, Clone, Copy)]
struct Form {
    one_category: bool,
    one_mask: bool,
    one_group: Option<bool>,
}

impl Form {
    const EACH: Self = Self { one_category: false, one_mask: false, one_group: Some(false) };

    fn all() -> impl Iterator<Item = Self> {
        (0..12).map(|form| Self {
            one_category: form % 2 == 1,
            one_mask: form / 2 % 2 == 1,
            one_group: [None, Some(false), Some(true)][form / 4],
        })
    }
}

/// Layers of a set, with all values written out.
pub(crate) struct Layering {
    category: Vec<u32>,
    mask: Vec<u32>,
    group: Vec<i32>,
    form: Form,
}

impl Layering {
    fn random(n: usize, seed: u64, form: Form) -> Self {
        let mut random = Random(seed);
        let mut column = |one: bool, value: &dyn Fn(u64) -> u32| -> Vec<u32> {
            let first = value(random.next());
            (0..n).map(|_| if one { first } else { value(random.next()) }).collect()
        };
        let category =
            column(form.one_category, &|x| if x % 9 == 0 { 0 } else { 1 << (x >> 8 & 3) | (x >> 16 & 1) as u32 });
        let mask = column(form.one_mask, &|x| (x & 15) as u32 | 1 << 31);
        let group = column(form.one_group != Some(false), &|x| (x % 7) as u32);
        let group =
            group.into_iter().map(|group| if form.one_group.is_none() { 0 } else { group as i32 - 3 }).collect();
        Self { category, mask, group, form }
    }

    /// Makes layers of many kinds, with a value for each body in every column.
    pub(crate) fn of(n: usize, seed: u64) -> Self {
        Self::random(n, seed, Form::EACH)
    }

    pub(crate) fn layers(&self) -> Layers<'_> {
        let layers =
            Layers::new(values(&self.category, self.form.one_category), values(&self.mask, self.form.one_mask));
        match self.form.one_group {
            None => layers,
            Some(one) => layers.with_groups(values(&self.group, one)),
        }
    }

    fn row(layering: Option<&Self>, id: u32) -> (u32, u32, i32) {
        let id = id as usize;
        layering.map_or((u32::MAX, u32::MAX, 0), |it| (it.category[id], it.mask[id], it.group[id]))
    }
}

fn values<T: Copy>(list: &[T], one: bool) -> Values<'_, T> {
    match list.first() {
        Some(&first) if one => Values::All(first),
        _ => list.into(),
    }
}

/// The rule of layers, written a second time.
pub(crate) fn meet([a, b]: [Option<&Layering>; 2], [i, j]: [u32; 2]) -> bool {
    let ((category, mask, group), other) = (Layering::row(a, i), Layering::row(b, j));
    if group != 0 && group == other.2 { group > 0 } else { category & other.1 != 0 && other.0 & mask != 0 }
}

fn kept(pairs: &[[u32; 2]], layerings: [Option<&Layering>; 2]) -> Pairs {
    pairs.iter().copied().filter(|&pair| meet(layerings, pair)).collect()
}

fn check<const D: usize>(ways: &mut Ways<D>, name: &str, among: Input<'_, D>, expected: &[[u32; 2]]) {
    let found = ways.same(name, |way| way.search().find(among).expect(name).pairs().to_vec());
    assert_same(name, &ascending(&found), expected);
    let count = ways.by_turns(|way| way.search().count(among).expect(name));
    assert_eq!(count, expected.len() as u64, "{name}");
}

/// Makes a set that may have layers.
pub(crate) fn set<'a, const D: usize>(source: impl Into<Set<'a, D>>, layering: Option<&'a Layering>) -> Set<'a, D> {
    let set = source.into();
    layering.map_or(set, |layering| set.layers(layering.layers()))
}

fn check_within<const D: usize>(ways: &mut Ways<D>, name: &str, scene: &Scene<D>, layering: &Layering) {
    let (tree, expected) = (tree_of(scene.view()), kept(&oracle::pairs(scene.view()), [Some(layering); 2]));
    check(ways, name, set(scene.view(), Some(layering)).into(), &expected);
    check(ways, name, set(&tree, Some(layering)).into(), &expected);
    let rows = Lists::of([scene.view(); 2], &both_ways(&expected));
    let among = set(scene.view(), Some(layering)).into();
    assert!(ways.by_turns(|way| fill(way, among, Rows::Full, name)) == rows, "{name}, {D}D: other rows");
}

/// Checks the two parts of a scene, where the first part has layers, the second, or both.
fn check_between<const D: usize>(ways: &mut Ways<D>, name: &str, scene: &Scene<D>, form: Form) {
    let [a, b] = &dealt(scene);
    let layerings = [a, b].map(|part| Layering::random(part.len(), part.len() as u64, form));
    let (pairs, trees) = (across(a.view(), b.view()), [a, b].map(|part| tree_of(part.view())));
    for which in [[true, false], [false, true], [true, true]] {
        let given: [_; 2] = from_fn(|side| which[side].then_some(&layerings[side]));
        let expected = kept(&pairs, given);
        let views = [set(a.view(), given[0]), set(b.view(), given[1])];
        let trees = [set(&trees[0], given[0]), set(&trees[1], given[1])];
        for [a, b] in [views, trees, [views[0], trees[1]], [trees[0], views[1]]] {
            check(ways, name, between(a, b), &expected);
        }
        let rows = Lists::of([a.view(), b.view()], &expected);
        let among = between(trees[0], views[1]);
        assert!(ways.by_turns(|way| fill(way, among, Rows::Full, name)) == rows, "{name}, {D}D: other rows");
    }
}

fn every_form<const D: usize>() {
    let mut ways = Ways::<D>::all();
    for kind in Kind::ALL {
        let scene = scene::scene::<D>(kind, 400, 1);
        for form in Form::all() {
            let name = format!("{kind}, {form:?}");
            check_within(&mut ways, &name, &scene, &Layering::random(400, 2, form));
            check_between(&mut ways, &name, &scene, form);
        }
    }
}

#[test]
fn every_form_in_2d() {
    every_form::<2>();
}

#[test]
fn every_form_in_3d() {
    every_form::<3>();
}

fn every_scene<const D: usize>() {
    let mut ways = Ways::<D>::all();
    for (name, scene) in small_scenes(500) {
        check_within(&mut ways, &name, &scene, &Layering::of(scene.len(), 3));
        check_between(&mut ways, &name, &scene, Form::EACH);
    }
}

#[test]
fn every_scene_in_2d() {
    every_scene::<2>();
}

#[test]
fn every_scene_in_3d() {
    every_scene::<3>();
}

/// Tests every other scene, in 3D those that 2D leaves out. Several threads find what they find without layers, in that
/// order, less what layers forbid.
fn large<const D: usize>() {
    let mut ways = Ways::<D>::few();
    for (name, scene) in large_scenes().skip(D % 2).step_by(2) {
        let [a, b] = &dealt(&scene);
        let parts = [a, b].map(|part| Layering::of(part.len(), 4));
        let (tree, whole) = (tree_of(b.view()), Layering::of(scene.len(), 4));
        let cases: [(Input<'_, D>, Input<'_, D>, _); 3] = [
            (scene.view().into(), set(scene.view(), Some(&whole)).into(), [Some(&whole); 2]),
            (between(a.view(), b.view()), between(set(a.view(), Some(&parts[0])), b.view()), [Some(&parts[0]), None]),
            (between(a.view(), &tree), between(a.view(), set(&tree, Some(&parts[1]))), [None, Some(&parts[1])]),
        ];
        for (plain, layered, given) in cases {
            let find = |among| move |way: &mut Way<D>| way.search().find(among).expect("sets").pairs().to_vec();
            let expected = kept(&ways.by_turns(find(plain)), given);
            assert!(ways.same(&name, find(layered)) == expected, "{name}, {D}D: other pairs, or another order");
        }
    }
}

#[test]
fn large_scenes_in_2d() {
    large::<2>();
}

#[test]
fn large_scenes_in_3d() {
    large::<3>();
}

#[test]
fn layers_are_looked_at_afresh_in_every_frame() {
    let mut ways = Ways::<2>::all();
    for n in [600, 40, 0, 900] {
        let scene = scene::scene(Kind::Dense, n, 5);
        for seed in 0..4 {
            check_within(&mut ways, &format!("n = {n}, frame {seed}"), &scene, &Layering::of(n, seed));
        }
        check(&mut ways, "none any more", scene.view().into(), &oracle::pairs(scene.view()));
    }
}

#[test]
fn those_that_do_not_meet_are_no_pairs() {
    let (x, category) = ([0.5; 1_000], [1; 1_000]);
    let circles = Set::from(Circles::new(&x, &x, 1.0)).layers(Layers::new(&category, 2));
    let mut ways = Ways::<2>::all();
    check(&mut ways, "strangers", circles.into(), &[]);
    let rows = ways.same("strangers", |way| fill(way, circles.into(), Rows::Full, "strangers"));
    assert!(rows == Lists::of([Circles::new(&x, &x, 1.0); 2], &[]));
    let foes = circles.layers(Layers::ALL.with_groups(-7));
    check(&mut ways, "a group that keeps apart", foes.into(), &[]);
    let friends = circles.layers(Layers::new(0, 0).with_groups(7));
    let stats = PairFinder::new().for_each_pair(friends, |_, _| {}).expect("as many groups as bodies");
    assert_eq!(stats.pairs, 999 * 1_000 / 2);
}

#[test]
fn layers_of_another_length_are_refused() {
    let scene = scene::scene::<2>(Kind::Dense, 20, 6);
    let (whole, tree) = (Layering::of(20, 1), tree_of(scene.view()));
    let (more, less, groups) = (&[1; 21], &[1; 19], &[1; 20]);
    let mut finder = PairFinder::new();
    let expected = finder.find(scene.view()).expect("a sound scene").pairs().to_vec();
    for (layers, [categories, masks, groups]) in [
        (Layers::new(more, 1), [21, 20, 20]),
        (Layers::new(1, less), [20, 19, 20]),
        (Layers::new(1, 1).with_groups(groups), [20, 20, 20]),
        (Layers::new(&[], less).with_groups(&[]), [0, 19, 0]),
    ] {
        let fits = [categories, masks, groups] == [20; 3];
        let error = (!fits).then_some(InputError::Layers { bodies: 20, categories, masks, groups });
        let (good, bad) = (set(scene.view(), Some(&whole)), Set::from(scene.view()).layers(layers));
        let bad_tree = Set::from(&tree).layers(layers);
        for among in [bad.into(), bad_tree.into(), between(good, bad), between(bad_tree, good), between(bad, &tree)] {
            assert_eq!(finder.count(among).as_ref().err().map(|refused| refused.by_set().1), error.as_ref());
            let rows = finder.neighbors(among, Rows::Half, &mut NeighborLists::new());
            assert_eq!(rows.as_ref().err().map(|refused| refused.by_set().1), error.as_ref());
            assert!(fits || finder.find(among).is_err());
        }
        let table = ActivationTable::all(2);
        if let Some(fault) = error {
            let refused = finder.find(Input::among(&[good, bad_tree], &table)).map(drop);
            assert_eq!(refused, Err(InputError::InSet { set: 1, fault: fault.into() }));
        }
        assert!(finder.last().pairs() == expected);
    }
}

/// The layers of a struct of the caller's, with padding.
#[derive(Clone)]
struct Agent {
    alive: bool,
    category: u32,
    group: i32,
    id: u64,
    mask: u32,
}

#[test]
fn layers_may_be_fields_of_structs() {
    let (scene, layering) = (scene::scene::<2>(Kind::Dense, 500, 2), Layering::of(500, 3));
    let mut agents: Vec<Agent> = (0..500)
        .map(|id| Agent {
            alive: id % 2 == 0,
            category: layering.category[id],
            group: layering.group[id],
            id: id as u64,
            mask: layering.mask[id],
        })
        .collect();
    let (mut finder, mut frames) = (PairFinder::new(), CoherentFinder::new());
    for frame in 0..6 {
        let category: Vec<u32> = agents.iter().map(|agent| agent.category).collect();
        let mask: Vec<u32> = agents.iter().map(|agent| agent.mask).collect();
        let group: Vec<i32> = agents.iter().map(|agent| agent.group).collect();
        let apart = Set::from(scene.view()).layers(Layers::new(&category, &mask).with_groups(&group));
        let fields = Layers::new(field!(Agent, category).of(&agents), field!(Agent, mask).of(&agents));
        let fields = Set::from(scene.view()).layers(fields.with_groups(field!(Agent, group).of(&agents)));
        let expected = finder.find(apart).expect("a sound scene").pairs().to_vec();
        assert!(finder.find(fields).expect("a sound scene").pairs() == expected);
        assert!(ascending(frames.find(fields).expect("a sound scene").pairs()) == ascending(&expected), "{frame}");
        if frame == 3 {
            agents.iter_mut().filter(|agent| agent.alive && agent.id > 7).for_each(|agent| agent.mask = 0);
        }
    }
}

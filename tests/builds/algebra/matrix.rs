//! All combinations of sets, space and relation.

use jostle_testkit::algebra::{Case, PlainSpace, Relation};

use super::bench::Bench;
use super::scenes::{Raw, WAYS, Way, scenes, spaces};

/// Returns whether a scene can be given in these ways.
fn fits<const D: usize>(raw: &Raw<D>, ways: &[&Way]) -> bool {
    !raw.double_only || ways.iter().all(|way| way.double)
}

/// Deals the bodies of a scene to sets, each given in a way of its own.
pub(crate) fn case<const D: usize>(raw: &Raw<D>, ways: &[&Way], relation: Relation, space: PlainSpace<D>) -> Case<D> {
    let part = |at: usize| raw.part(|id| id * 7 / 3 % ways.len() == at);
    let sets =
        ways.iter().enumerate().map(|(at, way)| way.in_space(way.set(&part(at), at as u64 + 1), &space)).collect();
    Case { sets, relation, space }
}

/// Tests one set, in every way, scene and space.
fn within<const D: usize>() {
    let mut bench = Bench::<D>::new();
    for raw in scenes::<D>() {
        for (place, space, raw) in spaces(&raw) {
            for way in WAYS.iter().filter(|way| fits(&raw, &[way])) {
                let name = format!("{D}D, {}, {place}, {}", raw.name, way.name);
                bench.check(&name, &case(&raw, &[way], Relation::Within, space));
            }
        }
    }
}

/// Tests two sets in each two ways, in every space, each time with another scene.
fn between<const D: usize>() {
    let (mut bench, scenes, mut turn) = (Bench::<D>::new(), scenes::<D>(), 0);
    for a in WAYS {
        for b in WAYS {
            for place in 0..spaces(&scenes[0]).len() {
                let raw = next(&scenes, &mut turn, &[a, b]);
                let (place, space, raw) = spaces(raw).swap_remove(place);
                let name = format!("{D}D, {}, {place}, {} against {}", raw.name, a.name, b.name);
                bench.check(&name, &case(&raw, &[a, b], Relation::Between, space));
            }
        }
    }
}

/// Tests three sets in three ways, with tables by turns.
fn among<const D: usize>() {
    let (mut bench, scenes, mut turn) = (Bench::<D>::new(), scenes::<D>(), 0);
    let tables =
        [vec![[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]], vec![[0, 2], [1, 1]], vec![[0, 0], [1, 2]], vec![]];
    for (first, a) in WAYS.iter().enumerate() {
        for step in [0, 1, 5] {
            let [b, c] = [1, 2].map(|times| &WAYS[(first + times * step) % WAYS.len()]);
            for place in 0..spaces(&scenes[0]).len() {
                let raw = next(&scenes, &mut turn, &[a, b, c]);
                let (place, space, raw) = spaces(raw).swap_remove(place);
                let table = tables[[0, 0, 1, 2, 3][turn % 5]].clone();
                let name = format!("{D}D, {}, {place}, {}, {} and {} by {table:?}", raw.name, a.name, b.name, c.name);
                bench.check(&name, &case(&raw, &[a, b, c], Relation::Among(table), space));
            }
        }
    }
}

/// Returns the next scene that can be given in these ways.
fn next<'a, const D: usize>(scenes: &'a [Raw<D>], turn: &mut usize, ways: &[&Way]) -> &'a Raw<D> {
    loop {
        *turn += 1;
        let raw = &scenes[*turn % scenes.len()];
        if fits(raw, ways) {
            return raw;
        }
    }
}

#[test]
fn within_one_set_in_2d() {
    within::<2>();
}

#[test]
fn within_one_set_in_3d() {
    within::<3>();
}

#[test]
fn between_two_sets_in_2d() {
    between::<2>();
}

#[test]
fn between_two_sets_in_3d() {
    between::<3>();
}

#[test]
fn among_three_sets_in_2d() {
    among::<2>();
}

#[test]
fn among_three_sets_in_3d() {
    among::<3>();
}

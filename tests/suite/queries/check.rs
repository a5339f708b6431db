//! Asks every query of a list of one scene, by every instruction set, and checks the answers against the oracle.

use jostle::{Isa, LinearTree, Queries, Reached, Threads};
use jostle_testkit::{Scene, queries as oracle};

use crate::queries::asked::Asked;

/// How many of the nearest bodies to ask for, each with a greatest distance.
const NEAREST: [(usize, f32); 6] =
    [(0, f32::INFINITY), (1, f32::INFINITY), (5, f32::INFINITY), (40, 1.0), (usize::MAX, 0.5), (17, 0.0)];

pub(crate) fn tree_of<const D: usize>(scene: &Scene<D>) -> LinearTree<D> {
    let mut tree = LinearTree::new();
    tree.build(scene.view(), Threads::Serial).expect("a scene within the contract");
    tree
}

/// Checks every single query in every form.
pub(crate) fn check<const D: usize>(name: &str, scene: &Scene<D>, asked: &Asked<D>) {
    let tree = tree_of(scene);
    let kernels: Vec<_> = Isa::available().map(|isa| Queries::new(&tree).with_isa(isa)).collect();
    let mut lists = Lists { name, kernels: &kernels, ids: vec![9], reached: Vec::new() };
    for &point in &asked.points {
        let expected = oracle::point(scene, point);
        lists.ids(&expected, |queries, ids| queries.point(point, ids).expect("a point"));
        lists.visits(&expected, |queries, visit| queries.visit_point(point, visit).expect("a point"));
    }
    for &circle in &asked.circles {
        let expected = oracle::circle(scene, &circle);
        lists.ids(&expected, |queries, ids| queries.circle(circle, ids).expect("a circle"));
        lists.visits(&expected, |queries, visit| queries.visit_circle(circle, visit).expect("a circle"));
    }
    for &aabb in &asked.aabbs {
        let expected = oracle::aabb(scene, &aabb);
        lists.ids(&expected, |queries, ids| queries.aabb(aabb, ids).expect("a box"));
        lists.visits(&expected, |queries, visit| queries.visit_aabb(aabb, visit).expect("a box"));
    }
    lists.check_rays(scene, asked);
    lists.check_nearest(scene, asked);
}

/// The lists that receive answers, kept from query to query.
struct Lists<'t, const D: usize> {
    name: &'t str,
    kernels: &'t [Queries<'t, D>],
    ids: Vec<u32>,
    reached: Vec<Reached>,
}

impl<const D: usize> Lists<'_, D> {
    fn ids(&mut self, expected: &[u32], ask: impl Fn(&Queries<'_, D>, &mut Vec<u32>)) {
        for queries in self.kernels {
            ask(queries, &mut self.ids);
            assert_eq!(self.ids, expected, "{}, {D}D, {queries:?}", self.name);
        }
    }

    /// Checks that every kernel visits one sequence, of the expected ids.
    fn visits(&mut self, expected: &[u32], ask: impl Fn(&Queries<'_, D>, &mut dyn FnMut(u32))) {
        let mut first: Option<Vec<u32>> = None;
        for queries in self.kernels {
            self.ids.clear();
            ask(queries, &mut |id| self.ids.push(id));
            let sequence = first.get_or_insert_with(|| self.ids.clone());
            assert_eq!(&self.ids, sequence, "{}, {D}D, {queries:?}", self.name);
        }
        let mut sequence = first.expect("an instruction set");
        sequence.sort_unstable();
        assert_eq!(sequence, expected, "{}, {D}D", self.name);
    }

    fn check_rays(&mut self, scene: &Scene<D>, asked: &Asked<D>) {
        for &ray in &asked.rays {
            let expected = oracle::ray(scene, &ray);
            let mut first: Option<Vec<Reached>> = None;
            for queries in self.kernels {
                let label = || format!("{}, {D}D, {ray:?}", self.name);
                queries.ray(ray, &mut self.reached).expect("a ray");
                assert_eq!(self.reached, expected, "{}", label());
                assert_eq!(queries.first_hit(ray).expect("a ray").as_ref(), expected.first(), "{}", label());
                self.reached.clear();
                queries.visit_ray(ray, |hit| self.reached.push(hit)).expect("a ray");
                let sequence = first.get_or_insert_with(|| self.reached.clone());
                assert_eq!(&self.reached, sequence, "{}", label());
            }
            let mut sequence = first.expect("an instruction set");
            sequence.sort_unstable();
            assert_eq!(sequence, expected, "{}, {D}D, {ray:?}", self.name);
        }
    }

    fn check_nearest(&mut self, scene: &Scene<D>, asked: &Asked<D>) {
        for (turn, &point) in asked.points.iter().enumerate() {
            let (count, times) = NEAREST[turn % NEAREST.len()];
            let fifth = oracle::nearest(scene, point, 5, f32::INFINITY).last().map_or(1.0, |last| last.distance);
            let within = if times < 1.0 { times * fifth * 2.0 } else { times * fifth.max(1e-30) };
            let some = oracle::nearest(scene, point, count.max(1), within);
            let expected = &some[..count.min(some.len())];
            for queries in self.kernels {
                let label = || format!("{}, {D}D, {count} nearest to {point:?} within {within}", self.name);
                queries.nearest(point, count, within, &mut self.reached).expect("a point");
                assert_eq!(self.reached, expected, "{}", label());
                assert_eq!(queries.nearest_one(point, within).expect("a point").as_ref(), some.first(), "{}", label());
            }
        }
    }
}

//! Plain loops and scenes.

use jostle::{Bodies, LinearTree, Threads};
pub(crate) use jostle_testkit::oracle::across;
pub(crate) use jostle_testkit::pairs::{ascending, assert_same, both_ways};
pub(crate) use jostle_testkit::random::Random;
use jostle_testkit::{Kind, Scene, scene, sweep, ugly};

pub(crate) type Pairs = Vec<[u32; 2]>;

/// Returns what [`across`] finds, for large scenes: the pairs of a sweep over the bodies of both.
pub(crate) fn across_large<const D: usize>(a: &Scene<D>, b: &Scene<D>) -> Pairs {
    let first = a.len() as u32;
    let all = sweep::pairs(bodies(a).chain(bodies(b)).collect::<Scene<D>>().view());
    all.into_iter().filter(|&[i, j]| i < first && j >= first).map(|[i, j]| [i, j - first]).collect()
}

pub(crate) fn bodies<const D: usize>(scene: &Scene<D>) -> impl Iterator<Item = ([f32; D], f32)> {
    let body = |id: usize| (scene.centers.each_ref().map(|column| column[id]), scene.radii[id]);
    (0..scene.len()).map(body)
}

pub(crate) fn tree_of<const D: usize>(view: Bodies<'_, D>) -> LinearTree<D> {
    let mut tree = LinearTree::new();
    tree.build(view, Threads::Serial).expect("a scene within the contract");
    tree
}

/// Returns every kind at a size, and every ugly scene.
pub(crate) fn scenes<const D: usize>(n: usize) -> impl Iterator<Item = (String, Scene<D>)> {
    let kinds = Kind::ALL.into_iter().map(move |kind| (format!("{kind}, n = {n}"), scene::scene(kind, n, n as u64)));
    kinds.chain(ugly::all().into_iter().map(|(name, scene)| (name.to_owned(), scene)))
}

/// Returns the last bodies of each of these scenes. Giants are among them.
pub(crate) fn small_scenes<const D: usize>(n: usize) -> impl Iterator<Item = (String, Scene<D>)> {
    scenes(n).map(move |(name, scene)| (name, bodies(&scene).skip(scene.len().saturating_sub(n)).collect()))
}

/// Returns scenes that several threads share.
pub(crate) fn large_scenes<const D: usize>() -> impl Iterator<Item = (String, Scene<D>)> {
    let kinds = Kind::ALL.into_iter().map(|kind| (format!("large {kind}"), scene::scene(kind, 20_000, 3)));
    kinds.chain(ugly::large().into_iter().map(|(name, scene)| (name.to_owned(), scene)))
}

/// Deals the bodies of a scene to two scenes of unequal size.
pub(crate) fn dealt<const D: usize>(scene: &Scene<D>) -> [Scene<D>; 2] {
    let part = |first: bool| bodies(scene).enumerate().filter(move |(id, _)| (id % 5 < 2) == first);
    [true, false].map(|first| part(first).map(|(_, body)| body).collect())
}

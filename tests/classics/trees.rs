//! What the linear quadtree and octree do besides finding all pairs.

mod few;
mod frames;
mod growth;
mod memory;
mod setup;
mod two_groups;

use jostle_classics::{Ancestors, CellTree, Cells};
use jostle_core::Aabb;
use jostle_testkit::{Kind, Scene, scene, ugly};

const RULES: [Ancestors; 2] = [Ancestors::All, Ancestors::Touching];

/// Returns every scene by name, with a world for it: for ugly scenes the unit square or cube, outside which most of
/// them lie.
fn scenes<const D: usize>() -> Vec<(String, Aabb<D>, Scene<D>)> {
    let world = |side: f32| Aabb { lo: [0.0; D], hi: [side; D] };
    let kinds = Kind::ALL.into_iter().flat_map(|kind| [3, 60, 1_500].map(|n| (kind, n)));
    let orderly = kinds.map(|(kind, n)| {
        (format!("{kind}, n = {n}"), world(scene::world::<D>(kind, n)), scene::scene::<D>(kind, n, 1))
    });
    let ugly = ugly::all::<D>().into_iter().map(|(name, scene)| (name.to_owned(), world(1.0), scene));
    orderly.chain(ugly).collect()
}

/// Returns the bodies whose ids are wanted, and the others.
fn split<const D: usize>(scene: &Scene<D>, wanted: impl Fn(usize) -> bool) -> [Scene<D>; 2] {
    let body = |id| (scene.view().center(id), scene.view().radius(id));
    [true, false].map(|side| (0..scene.len()).filter(|&id| wanted(id) == side).map(body).collect())
}

/// Returns the pairs of a search in the order in which they come, and what the search returns.
fn found<T>(search: impl FnOnce(&mut dyn FnMut([u32; 2])) -> T) -> (Vec<[u32; 2]>, T) {
    let mut pairs = Vec::new();
    let tests = search(&mut |pair| pairs.push(pair));
    (pairs, tests)
}

fn sorted(mut pairs: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
    pairs.sort_unstable();
    pairs
}

/// Counts how often each of `n` bodies occurs on a side of pairs.
fn occurrences(n: usize, ids: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut counts = vec![0; n];
    ids.into_iter().for_each(|id| counts[id as usize] += 1);
    counts
}

fn tree<const D: usize, C: Cells<D>>(world: Aabb<D>, depth: u32, ancestors: Ancestors) -> CellTree<D, C> {
    CellTree::new(world, depth).expect("a world").with_ancestors(ancestors)
}

//! The known weakness, told by the number of tests: bodies that straddle borders of large cells.

use jostle_classics::{Ancestors, BroadPhase, CellTree, Cells, DenseCells, SparseCells};
use jostle_core::Aabb;
use jostle_testkit::{Kind, scene};

use super::tree;

fn tests<const D: usize, C: Cells<D>>(n: usize, ancestors: Ancestors) -> u64 {
    let world = Aabb { lo: [0.0; D], hi: [scene::world::<D>(Kind::Uniform, n); D] };
    let mut tree: CellTree<D, C> = tree(world, CellTree::<D, C>::depth_for(n), ancestors);
    tree.update(scene::scene::<D>(Kind::Uniform, n, 1).view()).expect("good bodies");
    tree.for_each_pair(&mut |_| {})
}

/// Returns the exponent e of the power law c n^e through points (n, tests), by least squares of logarithms.
fn exponent(points: &[(usize, u64)]) -> f64 {
    let logs = || points.iter().map(|&(n, tests)| ((n as f64).ln(), (tests as f64).ln()));
    let mean = |f: fn((f64, f64)) -> f64| logs().map(f).sum::<f64>() / points.len() as f64;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let slope = |f: fn(f64, f64) -> f64| logs().map(|(x, y)| f(x - mx, y - my)).sum::<f64>();
    slope(|x, y| x * y) / slope(|x, _| x * x)
}

fn growth<const D: usize, C: Cells<D>>(ns: &[usize], ancestors: Ancestors) -> f64 {
    let points: Vec<_> = ns.iter().map(|&n| (n, tests::<D, C>(n, ancestors))).collect();
    let exponent = exponent(&points);
    println!("{D} axes, {ancestors:?}: {points:?}, n^{exponent:.2}");
    exponent
}

#[test]
fn in_the_plane_tests_grow_as_n_to_the_1_5_unless_ancestors_are_left_behind() {
    let ns = [1_000, 3_000, 10_000, 30_000, 100_000];
    let all = growth::<2, DenseCells<2>>(&ns, Ancestors::All);
    assert!((1.4..1.65).contains(&all), "n^{all}");
    let touching = growth::<2, DenseCells<2>>(&ns, Ancestors::Touching);
    assert!((1.0..1.25).contains(&touching), "n^{touching}");
}

#[test]
fn in_space_tests_grow_as_n_to_the_1_67_or_1_33() {
    let ns = [1_000, 3_000, 10_000, 30_000];
    let all = growth::<3, SparseCells<3>>(&ns, Ancestors::All);
    assert!((1.6..1.8).contains(&all), "n^{all}");
    let touching = growth::<3, SparseCells<3>>(&ns, Ancestors::Touching);
    assert!((1.25..1.5).contains(&touching), "n^{touching}");
}

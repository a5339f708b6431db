use jostle_classics::{Body, BroadPhase, PointGrid};
use jostle_core::{Aabb, Circles};
use jostle_testkit::oracle;
use proptest::prelude::*;

use crate::grids::{WORLD, bodies, pairs, scene, sorted};

fn static_pairs(grid: &PointGrid) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    grid.for_each_static_pair(&mut |pair| pairs.push(pair));
    sorted(pairs)
}

fn all_against_all(moving: &[Body<2>], walls: &[Body<2>]) -> Vec<[u32; 2]> {
    let with =
        |a: usize| (0..walls.len()).filter(move |&b| moving[a].overlaps(&walls[b])).map(move |b| [a as u32, b as u32]);
    (0..moving.len()).flat_map(with).collect()
}

#[test]
fn pairs_of_the_last_of_all_rows_come_once() {
    for hi in [[1.0, 65_536.0], [65_536.0, 1.0]] {
        let mut grid = PointGrid::new(Aabb { lo: [0.0; 2], hi }, 1.0, 1.0).expect("a sound world");
        let [x, y] = hi.map(|hi| [hi - 0.5; 2]);
        grid.update(Circles::new(&x, &y, 0.25)).expect("sound bodies");
        assert_eq!(pairs(&mut grid), [[0, 1]]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_three_parts_are_all(
        moving in prop::collection::vec(bodies(), 0..60),
        walls in prop::collection::vec(bodies(), 0..30),
        largest_common in 0.0_f32..20.0,
    ) {
        let mut grid = PointGrid::new(WORLD, 2.0, largest_common).expect("a sound world");
        grid.update(scene(&moving).view()).expect("sound bodies");
        prop_assert!(static_pairs(&grid).is_empty());
        grid.set_static(scene(&walls).view()).expect("sound bodies");
        prop_assert_eq!(static_pairs(&grid), all_against_all(&moving, &walls));
        prop_assert_eq!(sorted(pairs(&mut grid)), oracle::pairs(scene(&moving).view()));
        let giants = (0..moving.len() as u32).filter(|&id| moving[id as usize].radius > largest_common);
        prop_assert_eq!(sorted(grid.giants().collect()), giants.collect::<Vec<_>>());
    }
}

//! Cells so small that squares of distances vanish in `f32`: bodies touch at many images.

use jostle::{Bodies, Input, Isa, NeighborLists, PairFinder, Rows, Space};

/// Lists the pairs within bodies on a line, by the predicate, at images along the line up to `most` periods away.
fn pairs_of(x: &[f32], radius: f32, period: f32, most: i32) -> Vec<([u32; 2], i32)> {
    let sum2 = (radius + radius) * (radius + radius);
    let mut pairs = Vec::new();
    for (a, &xa) in x.iter().enumerate() {
        for (b, &xb) in x.iter().enumerate().skip(a) {
            for steps in if a == b { 1..=most } else { -most..=most } {
                let apart = (xb - xa) + steps as f32 * period;
                if apart * apart <= sum2 {
                    pairs.push(([a as u32, b as u32], steps));
                }
            }
        }
    }
    pairs
}

#[test]
fn bodies_meet_at_each_image_at_which_squares_vanish() {
    for (x, radius) in [
        (vec![0.0, 5e-24], 1e-25),
        (vec![0.0, 1e-24, 2e-24, 3e-24], 1e-25),
        (vec![0.0, 5e-24], 4e-24),
        (vec![0.0, 3e-24, 4e-24, 9e-24], 0.0),
    ] {
        let y = vec![0.0_f32; x.len()];
        let input = Input::within(Bodies::from_slices([&x, &y], radius));
        let input = input.space(Space::periodic([Some([0.0, 1e-23]), None]));
        let expected = pairs_of(&x, radius, 1e-23, 8);
        for isa in [Isa::detect(), Isa::PORTABLE] {
            let mut finder = PairFinder::<2>::new();
            finder.set_isa(isa);
            let found = finder.find(input).expect("sound bodies");
            let mut pairs: Vec<_> =
                found.pairs().iter().copied().zip(found.image_shifts().map(|[steps, _]| steps)).collect();
            pairs
                .iter_mut()
                .filter(|(pair, steps)| pair[0] == pair[1] && *steps < 0)
                .for_each(|(_, steps)| *steps = -*steps);
            pairs.sort_unstable();
            assert!(pairs == expected, "{x:?} {radius}: {pairs:?}, expected {expected:?}");
            let mut lists = NeighborLists::new().and_image_shifts();
            for (kind, times) in [(Rows::Half, 1), (Rows::Full, 2)] {
                finder.neighbors(input, kind, &mut lists).expect("sound bodies");
                assert_eq!(lists.neighbors().len(), times * expected.len(), "{x:?} {radius}");
                let rows = lists.offsets().windows(2).map(|ends| &lists.neighbors()[ends[0]..ends[1]]);
                assert!(rows.into_iter().all(|row| row.is_sorted()), "{x:?} {radius}: {lists:?}");
            }
        }
    }
}

//! Crowds that drift and breathe, most of whose pairs last from frame to frame. Now and then the caller has a test.

use jostle::{NeighborLists, PairFinder, Rows};
use jostle_testkit::pairs::ascending;
use jostle_testkit::{Kind, Scene, scene};

use super::beside::{Beside, Only};

/// A crowd drifts and breathes, and now and then the caller has a test. Each frame has the pairs of a search from
/// scratch, in one sequence whatever the threads and the instruction set.
fn crowded_frames<const D: usize>(bodies: usize) {
    let start: Scene<D> = scene::scene(Kind::Dense, bodies, 8);
    let (mut scene, mut beside, mut scratch) = (start.clone(), Beside::<D>::new(), PairFinder::new());
    let test = |a: u32, b: u32| !(a + b).is_multiple_of(3);
    for frame in 0..36_u8 {
        for (axis, column) in scene.centers.iter_mut().enumerate() {
            column.iter_mut().zip(axis..).for_each(|(x, id)| *x += ((id % 7) as f32 - 3.0) * 0.002);
        }
        let scale = 1.0 + 0.01 * (f32::from(frame) * 0.5).sin();
        scene.radii.iter_mut().zip(&start.radii).for_each(|(radius, start)| *radius = start * scale);
        let only: Option<Only<'_>> = (frame % 5 == 3).then_some(&test);
        let mut expected = ascending(scratch.find(scene.view()).expect("sound bodies").pairs());
        expected.retain(|&[a, b]| only.is_none_or(|only| only(a, b)));
        let mut finders = core::mem::take(&mut beside.finders);
        if frame % 9 == 4 {
            let mut unsound = scene.clone();
            unsound.centers[0][0] = f32::NAN;
            finders.iter_mut().for_each(|finder| assert!(finder.find(unsound.view()).is_err(), "frame {frame}"));
        }
        beside.finders = finders;
        beside.assert_one_sequence(&scene, only, &expected, &format!("frame {frame}"));
    }
    let rebuilds = beside.finders[0].rebuilds();
    assert!((3..30).contains(&rebuilds), "{rebuilds} rebuilds");
}

#[test]
fn crowded_frames_are_the_same_on_any_threads() {
    crowded_frames::<2>(9_000);
    crowded_frames::<3>(9_000);
}

/// A crowd drifts and breathes, and now and then the caller has a test. Each frame has the rows of a search from
/// scratch, full or of greater ids alone, whatever the threads and the instruction set.
fn crowded_rows<const D: usize>(bodies: usize, kind: Rows) {
    let start: Scene<D> = scene::scene(Kind::Dense, bodies, 8);
    let (mut scene, mut beside, mut scratch) = (start.clone(), Beside::<D>::new(), PairFinder::new());
    let (mut lists, mut expected) =
        ([(); 3].map(|()| NeighborLists::with_distances()), NeighborLists::with_distances());
    let test = |a: u32, b: u32| !(a + b).is_multiple_of(3);
    for frame in 0..12_u8 {
        for (axis, column) in scene.centers.iter_mut().enumerate() {
            column.iter_mut().zip(axis..).for_each(|(x, id)| *x += ((id % 7) as f32 - 3.0) * 0.004);
        }
        let scale = 1.0 + 0.01 * f32::from(frame).sin();
        scene.radii.iter_mut().zip(&start.radii).for_each(|(radius, start)| *radius = start * scale);
        let only: Option<Only<'_>> = (frame % 5 == 3).then_some(&test);
        match only {
            Some(only) => scratch.only(only).neighbors(scene.view(), kind, &mut expected),
            None => scratch.neighbors(scene.view(), kind, &mut expected),
        }
        .expect("sound bodies");
        let mut finders = core::mem::take(&mut beside.finders);
        for (number, lists) in lists.iter_mut().enumerate() {
            let finder = finders[number].on(beside.threads(number));
            match only {
                Some(only) => finder.only(only).neighbors(scene.view(), kind, lists),
                None => finder.neighbors(scene.view(), kind, lists),
            }
            .expect("sound bodies");
            assert!(lists.offsets() == expected.offsets(), "frame {frame}");
            assert!(lists.neighbors() == expected.neighbors(), "frame {frame}");
            assert!(lists.distances2() == expected.distances2(), "frame {frame}");
        }
        beside.finders = finders;
    }
    let rebuilds = beside.finders[0].rebuilds();
    assert!((2..10).contains(&rebuilds), "{rebuilds} rebuilds");
}

#[test]
fn crowded_rows_are_the_same_on_any_threads() {
    crowded_rows::<2>(9_000, Rows::Full);
    crowded_rows::<2>(9_000, Rows::Half);
    crowded_rows::<3>(9_000, Rows::Full);
}

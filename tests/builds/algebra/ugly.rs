//! Scenes of hundreds of bodies, ugly scenes among them: in `f64` where `f32` could not hold them, moving, and in
//! boxes.

use core::array::from_fn;

use jostle::{Boxes64, Circles, Circles64, Input, PairFinder, PreparedSet, Set, Space, Spheres64, Threads};
use jostle_testkit::algebra::{Case, PlainMoves, PlainSet, PlainSpace};
use jostle_testkit::{Kind, Scene, scene, ugly};

use super::bench::Bench;

/// The scene as it is; far from the origin; so large or so small that squares are near the limit; and all in one place.
const PLACES: [(f64, f64); 5] = [(0.0, 1.0), (1e9, 1e-4), (-1e300, 1e287), (0.0, 1e-150), (3.0, 1e-200)];

fn in_f64<const D: usize>() {
    let mut bench = Bench::new();
    let kinds = Kind::ALL.into_iter().map(|kind| (kind.to_string(), scene::scene::<D>(kind, 400, 7)));
    let ugly = ugly::all::<D>().into_iter().map(|(name, scene)| (name.to_owned(), scene));
    for (turn, (name, scene)) in kinds.chain(ugly).enumerate().filter(|(_, (_, scene))| scene.len() <= 1_000) {
        for (at, (origin, scale)) in PLACES.into_iter().enumerate() {
            let set = PlainSet::placed(&scene, origin, scale);
            let fits = (0..set.len()).all(|id| set.center(id).iter().all(|x| x.abs() + set.radius(id) < 1e150));
            // Of large scenes, one place by turns.
            let most = if scale < 1e-160 { 150 } else { 600 };
            if fits && (scene.len() <= most || at < 4 && turn % 4 == at) {
                bench.check(&format!("{name} at {origin}, times {scale}"), &Case::within(set, PlainSpace::Open));
            }
        }
    }
}

/// Returns displacements between -length and length, the same on every machine.
fn moves<const D: usize>(bodies: usize, length: f32) -> PlainMoves<D> {
    let value = |i: usize| (i * 7919 % 2001) as f32 / 1000.0 - 1.0;
    PlainMoves::Single(from_fn(|axis| (0..bodies).map(|id| length * value(id * D + axis)).collect()))
}

fn moving<const D: usize>() {
    let mut bench = Bench::new();
    let mut check = |name: &str, scene: &Scene<D>, length: f32| {
        let set = PlainSet { moves: Some(moves(scene.len(), length)), ..PlainSet::of(scene) };
        bench.check(&format!("{name}, {length}"), &Case::within(set, PlainSpace::Open));
    };
    for kind in Kind::ALL {
        let scene = scene::scene::<D>(kind, 400, 11);
        for length in [0.0, 0.5, 20.0] {
            check(&kind.to_string(), &scene, length);
        }
    }
    for (name, scene) in ugly::all::<D>() {
        let far = scene.centers.iter().flatten().chain(&scene.radii).any(|x| x.abs() > 1e17);
        if scene.len() <= 1_000 && !far {
            check(name, &scene, 1.0);
        }
    }
}

/// Tests every combination of periodic axes, with borders of the scene, and with narrower borders that leave bodies
/// outside.
fn in_boxes<const D: usize>() {
    let mut bench = Bench::new();
    for kind in Kind::ALL {
        let scene = scene::scene::<D>(kind, 400, 3);
        let bounds = jostle::bounds(scene.view(), jostle::Threads::Serial).expect("a scene");
        for axes in 0..1_u32 << D {
            for part in [1.0, 0.6] {
                let borders = from_fn(|axis| {
                    let [lo, hi] = [bounds.lo[axis], bounds.hi[axis]].map(f64::from);
                    (axes >> axis & 1 == 1).then_some([lo, lo + part * (hi - lo)])
                });
                let case = Case::within(PlainSet::of(&scene), PlainSpace::Periodic(borders));
                bench.check(&format!("{kind}, {borders:?}"), &case);
            }
        }
    }
}

/// Returns when two circles touch, as [`Set::moving`] defines it. Their centres are `p` apart and approach by `v`, and
/// the sum of their radii is `s`.
fn touch(p: [f64; 2], v: [f64; 2], s: f64) -> Option<f64> {
    let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
    let c = dot(p, p) - s * s;
    let (pv, root2) = (dot(p, v), dot(p, v) * dot(p, v) - dot(v, v) * c);
    let time = c / (root2.sqrt() - pv);
    if c <= 0.0 { Some(0.0) } else { (pv < 0.0 && root2 >= 0.0 && time <= 1.0).then_some(time) }
}

/// One circle flies past another, far and near, by paths far shorter and far longer than both, where fourth powers of
/// lengths vanish and where they nearly overflow.
#[test]
fn one_flies_past_another() {
    let mut finder = PairFinder::new();
    let mut met = [0, 0];
    for (power, speed) in (-155..=66).step_by(13).flat_map(|power| (-9..=7).map(move |speed| (power, speed))) {
        let s = 10.0_f64.powi(power);
        for apart in [0.0, 0.5, 0.9, 0.999, 1.0 - 1e-6, 1.0 - 1e-15, 1.0, 1.0 + 1e-15, 1.0 + 1e-6, 1.1] {
            for begun in [0.0, 0.4, 0.5, 0.999, 1.0] {
                let path = [s * 1.7 * 10.0_f64.powi(speed), 0.0];
                let p = [-path[0] * begun, s * apart];
                let radii = [s * 0.25, s - s * 0.25];
                let (x, y, by) = ([0.0, p[0]], [0.0, p[1]], [[0.0, path[0]], [0.0; 2]]);
                let set = Set::from(Circles64::new(&x, &y, &radii)).moving(by.each_ref());
                let found = finder.find(set).expect("two circles");
                let expected = touch(p, path, radii[0] + radii[1]);
                assert_eq!(found.times_of_impact(), expected.as_slice(), "{s:e}, {apart}, {begun}, path {:e}", path[0]);
                met[usize::from(expected.is_some())] += 1;
            }
        }
    }
    assert!(met.iter().all(|&met| met > 2_000), "{met:?}");
}

#[test]
fn scenes_in_f64_in_2d() {
    in_f64::<2>();
}

#[test]
fn scenes_in_f64_in_3d() {
    in_f64::<3>();
}

#[test]
fn moving_scenes_in_2d() {
    moving::<2>();
}

#[test]
fn moving_scenes_in_3d() {
    moving::<3>();
}

#[test]
fn boxes_in_2d() {
    in_boxes::<2>();
}

#[test]
fn boxes_in_3d() {
    in_boxes::<3>();
}

#[test]
fn lattices_that_exactly_touch_a_billion_away() {
    const SIDE: usize = 40;
    let (mut bench, step) = (Bench::new(), 2.0_f64.powi(-12));
    for (nudge, name) in [(0.0, "touching"), (2.0_f64.powi(-23), "an ulp apart")] {
        let at = |i: usize| 1e9 + (step + nudge) * i as f64;
        let centers =
            [0, 1].map(|axis| (0..SIDE * SIDE).map(|i| at(if axis == 0 { i % SIDE } else { i / SIDE })).collect());
        let case = Case::within(PlainSet::doubles(centers, vec![step / 2.0; SIDE * SIDE]), PlainSpace::Open);
        bench.check(name, &case);
        assert_eq!(case.hits().is_empty(), nudge != 0.0, "{name}");
    }
}

/// Shifts along one axis take nothing from coordinates of another, in searches and in questions.
#[test]
fn a_long_period_beside_a_short_one() {
    let long = 2.0_f32.powi(58);
    let x = [0.0, 4096.0 * long, 0.5, -2.0 * long, long, 4096.0 * long];
    let y = [0.0, 3.75, 1.75, -5.0, 2.0, 1.0];
    let (bodies, space) =
        (Circles::new(&x, &y, 0.5), Space::periodic([Some([0.0, f64::from(long)]), Some([0.0, 4.0])]));
    let mut finder = PairFinder::new();
    let mut pairs = finder.find(Input::within(bodies).space(space)).expect("few images").pairs().to_vec();
    pairs.sort_unstable();
    assert_eq!(pairs, [[0, 1], [0, 3], [0, 5], [1, 3], [2, 4], [2, 5], [3, 4], [4, 5]]);
    let (mut set, mut found) = (PreparedSet::new(), Vec::new());
    set.build(bodies, space, Threads::Serial).expect("six circles");
    set.queries().circle([0.25, 0.5], 0.5, &mut found).expect("few images");
    assert_eq!(found.iter().map(|seen| seen.id).collect::<Vec<_>>(), [0, 1, 5]);
}

/// A body far along an axis that does not repeat, and outside of the cell on another, is sought at few images, be it at
/// rest or moving.
#[test]
fn a_body_far_along_an_open_axis() {
    let mut x: Vec<f64> = (0..40).map(|id| f64::from(id) * 0.75).collect();
    let (mut y, by) = (vec![0.5; 40], vec![0.0_f64; 40]);
    (x[20], y[20]) = (1e17, -0.25);
    let bodies = Circles64::new(&x, &y, 0.5);
    let mut finder = PairFinder::new();
    for set in [Set::from(bodies), Set::from(bodies).moving([&by, &by])] {
        let found = finder.find(Input::within(set).periodic([None, Some([0.0, 4.0])])).expect("few images");
        assert_eq!(found.pairs().len(), 37);
        assert!(found.stats().circle_tests < 5_000, "{} tests", found.stats().circle_tests);
    }
}

/// A slab whose cell is not straight, above which one body has been lost: no image is sought for it, and the others are
/// told apart, be they spheres or, where few are asked for, boxes.
#[test]
fn a_body_lost_above_an_oblique_slab() {
    let place = |id: usize, axis: usize| ((id * 7919 + axis * 104_729) % 1009) as f64 / 1009.0 * 12.0;
    let space = Space::lattice([[12.0, 0.0, 0.0], [6.0, 10.4, 0.0], [0.0, 0.0, 12.0]], [true, true, false]);
    let (radii, by) = (vec![0.5; 400], vec![0.01; 400]);
    for lost in [1e5, 1e9, 1e17] {
        let mut columns: [Vec<f64>; 3] = from_fn(|axis| (0..400).map(|id| place(id, axis)).collect());
        let near = PairFinder::new()
            .find(Input::within(Spheres64::new(&columns[0], &columns[1], &columns[2], &radii)).space(space))
            .expect("a slab")
            .pairs()
            .to_vec();
        (columns[1][77], columns[2][77]) = (-0.25, lost);
        let [x, y, z] = columns.each_ref();
        let spheres = Spheres64::new(x, y, z, &radii);
        let left = near.iter().filter(|pair| !pair.contains(&77)).count();
        let mut finder = PairFinder::new();
        let found = finder.find(Input::within(spheres).space(space)).expect("few images");
        assert_eq!(found.pairs().len(), left, "{lost}");
        assert!(found.stats().circle_tests < 20_000, "{lost}: {} tests", found.stats().circle_tests);
        let moving = Set::from(spheres).moving([&by, &by, &by]);
        assert_eq!(finder.count(Input::within(moving).space(space)).expect("few images"), left as u64, "{lost}");
        let [lo, hi] =
            [-0.5, 0.5].map(|by| columns.each_ref().map(|column| column.iter().map(|x| x + by).collect::<Vec<_>>()));
        let boxes = Boxes64::new(lo.each_ref(), hi.each_ref());
        assert!(finder.count(Input::within(boxes).space(space)).expect("few images") > left as u64, "{lost}");
    }
}

//! Scenes that break broad phases: degenerate, lopsided, on the edge of rounding and of the range of `f32`.
//!
//! All scenes are within the contract of the input. Scenes of [`all`] are small enough for the oracle. Scenes of
//! [`large`] are large enough for several threads and several pieces of a sort, and have few enough pairs for the
//! sweep.

use jostle_core::axes::{Axes, from_axes};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::axes::compiled_here;
use crate::oracle::LIMIT;
use crate::scene::{Kind, Scene, scene};

compiled_here! {
    /// Every ugly scene with its name, the smallest first.
    ///
    /// # Panics
    /// When `D` is neither 2 nor 3.
    #[must_use]
    pub fn all<const D: usize>() -> Vec<(&'static str, Scene<D>)> {
        small_ones()
    }

    /// Scenes of 17,000 to 23,000 bodies, ugly at a size at which work is shared out.
    ///
    /// # Panics
    /// When `D` is neither 2 nor 3.
    #[must_use]
    pub fn large<const D: usize>() -> Vec<(&'static str, Scene<D>)> {
        large_ones()
    }
}

type Named<const D: usize> = Vec<(&'static str, Scene<D>)>;
type Body<const D: usize> = ([f32; D], f32);

fn small_ones<const D: usize>() -> Named<D> {
    let mut scenes = Vec::new();
    few(&mut scenes);
    coincident(&mut scenes);
    lines(&mut scenes);
    lattices(&mut scenes);
    sizes(&mut scenes);
    rounding(&mut scenes);
    range(&mut scenes);
    densities(&mut scenes);
    counts(&mut scenes);
    scenes
}

fn large_ones<const D: usize>() -> Named<D> {
    let mut scenes = Vec::new();
    large_crowds(&mut scenes);
    large_lattices(&mut scenes);
    large_ranges(&mut scenes);
    scenes
}

/// Returns 2^exponent, subnormal or not, without the mathematics library.
fn power_of_two(exponent: i32) -> f32 {
    let factor = if exponent < 0 { 0.5 } else { 2.0 };
    (0..exponent.unsigned_abs()).fold(1.0, |power, _| power * factor)
}

/// Draws `n` points in the unit square or cube, from a generator of its own.
fn points<const D: usize>(n: usize, seed: u64) -> impl Iterator<Item = [f32; D]> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    (0..n).map(move |_| from_axes(|_| rng.random()))
}

/// The points of a lattice of `side` points an axis, the last axis first.
fn lattice<const D: usize>(side: usize) -> impl Iterator<Item = [usize; D]> + Clone {
    (0..side.pow(D as u32)).map(move |i| from_axes(|axis| i / side.pow(axis as u32) % side))
}

/// A lattice of about 700 points.
fn some_lattice<const D: usize>() -> impl Iterator<Item = [usize; D]> {
    lattice(if D == 2 { 27 } else { 9 })
}

/// Puts bodies in an order that is the same on every run, but no order in space.
fn shuffled<const D: usize>(bodies: impl IntoIterator<Item = Body<D>>) -> Scene<D> {
    let mut bodies = bodies.into_iter();
    shuffle(&mut || bodies.next())
}

/// Compiled once, and not for each iterator that is shuffled.
fn shuffle<const D: usize>(next: &mut dyn FnMut() -> Option<Body<D>>) -> Scene<D> {
    let mut rng = Pcg64Mcg::seed_from_u64(5);
    let mut bodies: Vec<_> = core::iter::from_fn(next).map(|body| (rng.random::<u64>(), body)).collect();
    bodies.sort_by_key(|&(key, _)| key);
    bodies.into_iter().map(|(_, body)| body).collect()
}

fn few<const D: usize>(scenes: &mut Named<D>) {
    let on_x = |x: f32| from_axes(|axis| if axis == 0 { x } else { 0.0 });
    let two = |gap: f32, radius: f32| [(on_x(0.0), radius), (on_x(gap), radius)].into_iter().collect();
    scenes.push(("no body", [].into_iter().collect()));
    scenes.push(("one body", [(on_x(3.0), 1.0)].into_iter().collect()));
    scenes.push(("one body of radius zero at the limit", [(on_x(LIMIT), 0.0)].into_iter().collect()));
    scenes.push(("two that touch", two(1.0, 0.5)));
    scenes.push(("two that miss by one ulp", two(1.0_f32.next_up(), 0.5)));
    scenes.push(("two in one place", two(0.0, 0.5)));
    scenes.push(("two points in one place", two(0.0, 0.0)));
    scenes.push(("two points apart", two(1.0, 0.0)));
}

/// Number of bodies that all meet each other, where the number does not matter: more than sixteen leaves of sixteen
/// hold.
const CROWD: usize = 270;

fn coincident<const D: usize>(scenes: &mut Named<D>) {
    let at = |n: usize, x: f32, radius: f32| (0..n).map(move |_| ([x; D], radius)).collect();
    scenes.push(("all centres equal", at(500, 1.5, 0.25)));
    scenes.push(("all centres equal, radius zero", at(CROWD, 0.1, 0.0)));
    scenes.push(("all at the origin", at(CROWD, 0.0, 1.0)));
    scenes.push(("all at the limit", at(CROWD, -LIMIT, 0.0)));
    let concentric = (0..CROWD).map(|i| ([7.0; D], i as f32));
    scenes.push(("concentric", shuffled(concentric)));
    let zeros = (0..CROWD).map(|i| (from_axes(|axis| if i >> axis & 1 == 0 { 0.0 } else { -0.0 }), -0.0));
    scenes.push(("zeros of both signs, radius minus zero", zeros.collect()));
    let mixed = points(700, 11).enumerate().map(|(i, p)| (if i % 3 == 0 { [0.5; D] } else { p }, 0.01));
    scenes.push(("duplicates among distinct", mixed.collect()));
    let repeated = points(40, 12).flat_map(|p| (0..20).map(move |_| (p, 0.02)));
    scenes.push(("each of 40 places 20 times", shuffled(repeated)));
}

fn lines<const D: usize>(scenes: &mut Named<D>) {
    let names = ["line along x", "line along y", "line along z"];
    for (axis, name) in names.into_iter().enumerate().take(D) {
        let line = (0..1000).map(|i| (from_axes(|k| if k == axis { i as f32 } else { -3.0 }), 0.75));
        scenes.push((name, shuffled(line)));
    }
    let diagonal = |r: f32| shuffled((0..1000).map(move |i| ([i as f32; D], r)));
    scenes.push(("diagonal", diagonal(0.9)));
    scenes.push(("diagonal of points", diagonal(0.0)));
    let ascending = (0..1000).map(|i| ([i as f32 * 0.1; D], 0.09));
    scenes.push(("diagonal in order", ascending.collect()));
}

fn lattices<const D: usize>(scenes: &mut Named<D>) {
    let spaced = |spacing: f32, radius: f32, origin: f32| {
        shuffled(some_lattice::<D>().map(move |p| (p.axes(|i| origin + i as f32 * spacing), radius)))
    };
    scenes.push(("lattice that touches exactly", spaced(1.0, 0.5, 0.0)));
    scenes.push(("lattice about the origin", spaced(1.0, 0.5, -13.0)));
    scenes.push(("lattice of spacing 0.1", spaced(0.1, 0.05, 0.0)));
    scenes.push(("lattice of spacing 1/3, far from the origin", spaced(1.0 / 3.0, 1.0 / 6.0, 1000.1)));
    scenes.push(("lattice a hair apart", spaced(1.0, 0.5_f32.next_down(), 0.0)));
    scenes.push(("lattice that touches diagonally", spaced(3.0, 4.5 / D as f32, 0.0)));
}

fn sizes<const D: usize>(scenes: &mut Named<D>) {
    let dust = |n: usize| points(n, 21).map(|p: [f32; D]| (p, 1e-3));
    scenes.push(("one giant over everything", dust(2000).chain([([0.5; D], 10.0)]).collect()));
    scenes.push(("giant outside its centre box", dust(1000).chain([([-50.0; D], 50.5 * (D as f32).sqrt())]).collect()));
    let giants = points(12, 22).map(|p: [f32; D]| (p, 0.1));
    scenes.push(("radii 1 to 10,000", shuffled(giants.chain(points(1500, 23).map(|p| (p, 1e-5))))));
    let spans = points(800, 24).enumerate().map(|(i, p): (_, [f32; D])| (p, power_of_two(-(i as i32 % 40) - 3)));
    scenes.push(("radii of every power of two", spans.collect()));
    scenes.push(("points, all distinct", shuffled(some_lattice::<D>().map(|p| (p.axes(|i| i as f32 * 0.37), 0.0)))));
    scenes.push(("2,000 points at random", points(2000, 25).map(|p| (p, 0.0)).collect()));
    let zero_in_giant = points(500, 26).map(|p: [f32; D]| (p, 0.0)).chain([([0.5; D], 0.3)]);
    scenes.push(("points and one circle", zero_in_giant.collect()));
}

/// Scenes with hits that tight boxes lose.
fn rounding<const D: usize>(scenes: &mut Named<D>) {
    let ulps_apart = |start: f32, radius: f32| {
        let step = start.next_up() - start;
        shuffled(some_lattice::<D>().map(move |p| (p.axes(|i| start + i as f32 * step), radius)))
    };
    scenes.push(("steps of an ulp near 1e7, radius of an ulp", ulps_apart(1e7, 1.0)));
    scenes.push(("steps of an ulp near 1e7, radius of 1.3 ulps", ulps_apart(1e7, 1.3)));
    scenes.push(("steps of an ulp near 1, radius of half an ulp", ulps_apart(1.0, power_of_two(-24))));
    scenes.push(("points an ulp apart near 1e7", ulps_apart(1e7, 0.0)));
    let near = points(1500, 31).map(|p: [f32; D]| (p.axes(|x| 1e7 + (x * 60.0).floor()), 1.5));
    scenes.push(("at random near 1e7, radius of a few ulps", near.collect()));
    // Each body and its partner are built to touch: the distance is the sum of the radii but for the roundings.
    let couples = points::<D>(800, 32).zip(points::<2>(800, 33)).enumerate().flat_map(|(i, (p, [r, s]))| {
        let partner = from_axes(|axis| if axis == i % D { p[axis] * 1e3 + (r + s) } else { p[axis] * 1e3 });
        [(p.axes(|x| x * 1e3), r), (partner, s)]
    });
    scenes.push(("couples built to touch", shuffled(couples)));
}

/// Scenes at the ends of the range of `f32` and of the contract.
fn range<const D: usize>(scenes: &mut Named<D>) {
    let outlier = points(1000, 41).map(|p: [f32; D]| (p, 0.01)).chain([([1e18; D], 0.01)]);
    scenes.push(("outlier at 1e18", outlier.collect()));
    let tiny = f32::from_bits(1);
    let denormals = points(CROWD, 42).map(|p: [f32; D]| (p.axes(|x| (x * 1000.0).floor() * tiny), 3.0 * tiny));
    scenes.push(("denormal coordinates and radii", denormals.collect()));
    let vanishing = points(CROWD, 43).map(|p: [f32; D]| (p.axes(|x| x * power_of_two(-76)), 0.0));
    scenes.push(("differences whose squares vanish", vanishing.collect()));
    let on_the_verge = points(CROWD, 44).map(|p: [f32; D]| (p.axes(|x| x * power_of_two(-70)), power_of_two(-76)));
    scenes.push(("differences whose squares nearly vanish", on_the_verge.collect()));
    let vanishing_about_one = points(CROWD, 45).enumerate().map(|(i, p): (_, [f32; D])| {
        let shift = if i % 2 == 0 { 0.0 } else { 1.0 };
        (from_axes(|axis| if axis == 0 { shift } else { p[axis] * power_of_two(-75) }), 0.0)
    });
    scenes.push(("two clumps whose squares vanish", vanishing_about_one.collect()));
    let geometric = (0..149).flat_map(|k| [-1.0, 1.0].map(|sign| ([sign * power_of_two(-k); D], 0.0)));
    scenes.push(("geometric sequence of points", shuffled(geometric)));
    let growing = (0..120).map(|k| {
        let x = power_of_two(k - 61);
        ([x; D], x * 0.6)
    });
    scenes.push(("geometric sequence up to 2^58, radii in proportion", shuffled(growing)));
    let corners = lattice::<D>(2).cycle().take(400).enumerate().map(|(i, corner)| {
        let far = power_of_two(59);
        (corner.axes(|side| if side == 0 { -far } else { far }), if i % 7 == 0 { far } else { i as f32 })
    });
    scenes.push(("corners at 2^59, radii up to the limit", corners.collect()));
    let wide = points(600, 46).map(|p: [f32; D]| (p.axes(|x| (x - 0.5) * power_of_two(60)), power_of_two(54)));
    scenes.push(("spread from -2^59 to 2^59", wide.collect()));
}

fn densities<const D: usize>(scenes: &mut Named<D>) {
    // Each ring of the nest holds as many bodies as the last in a hundredth of its width.
    let nest = (0..4).flat_map(|depth| {
        let width = power_of_two(-7 * depth);
        points(300, 51 + depth as u64).map(move |p: [f32; D]| (p.axes(|x| 0.3 + (x - 0.5) * width), width * 0.02))
    });
    scenes.push(("clusters inside clusters", shuffled(nest)));
    let knot = points(600, 61).map(|p: [f32; D]| (p.axes(|x| x * 1e-3), 2e-5));
    let sparse = points(600, 62).map(|p: [f32; D]| (p, 2e-5));
    scenes.push(("a knot a million times denser", shuffled(knot.chain(sparse))));
    let two = points(800, 63).enumerate().map(|(i, p): (_, [f32; D])| (p.axes(|x| x + (i % 2) as f32 * 1e6), 0.05));
    scenes.push(("two clusters far apart", two.collect()));
}

/// Body counts about the sizes of leaves and blocks.
fn counts<const D: usize>(scenes: &mut Named<D>) {
    let names = [
        ("15 bodies", 15),
        ("16 bodies", 16),
        ("17 bodies", 17),
        ("255 bodies", 255),
        ("256 bodies", 256),
        ("257 bodies", 257),
        ("4095 bodies", 4095),
        ("4096 bodies", 4096),
        ("4097 bodies", 4097),
    ];
    for (name, n) in names {
        scenes.push((name, scene(Kind::Dense, n, n as u64)));
    }
}

/// Scenes of many bodies in few places, and much emptiness.
fn large_crowds<const D: usize>(scenes: &mut Named<D>) {
    let piles = points(900, 101).flat_map(|p| (0..20).map(move |_| (p, 1e-4)));
    scenes.push(("900 piles of 20", shuffled(piles)));
    // More bodies than a sort takes in one piece. They are in line and touch no other.
    let column = (0..20_000).map(|i| (from_axes(|axis| if axis == 0 { i as f32 } else { 0.25 }), 0.4));
    scenes.push(("a line of 20,000 that miss", shuffled(column)));
    let nest = (0..6).flat_map(|depth| {
        let width = power_of_two(-7 * depth);
        let n = if depth < 4 { 5_000 } else { 200 };
        let radius = width * if D == 2 { 1e-3 } else { 4e-3 };
        points(n, 102 + depth as u64).map(move |p: [f32; D]| (p.axes(|x| 0.0625 + (x - 0.5) * width), radius))
    });
    scenes.push(("nest of six clusters", shuffled(nest)));
    let giants = points(40, 111).map(|p: [f32; D]| (p, 0.02));
    scenes.push(("giants among 20,000 of a 10,000th", shuffled(giants.chain(points(20_000, 112).map(|p| (p, 2e-6))))));
    let pinned = points(17_000, 113).map(|p: [f32; D]| (p, 1e-3)).chain([([0.5; D], 0.4), ([0.5; D], 2.0)]);
    scenes.push(("two giants over 17,000", pinned.collect()));
}

fn large_lattices<const D: usize>(scenes: &mut Named<D>) {
    let cells = || lattice::<D>(if D == 2 { 150 } else { 28 });
    scenes.push(("large lattice that touches exactly", shuffled(cells().map(|p| (p.axes(|i| i as f32), 0.5)))));
    scenes.push(("large lattice a hair apart", cells().map(|p| (p.axes(|i| i as f32), 0.5_f32.next_down())).collect()));
    let ulps = cells().map(|p| (p.axes(|i| 1e7 + i as f32), if p[0] % 3 == 0 { 0.5 } else { 0.3 }));
    scenes.push(("large lattice of ulps near 1e7", shuffled(ulps)));
}

fn large_ranges<const D: usize>(scenes: &mut Named<D>) {
    let crowd = |seed| points(20_000, seed).map(|p: [f32; D]| (p, if D == 2 { 3e-3 } else { 1e-2 }));
    scenes.push(("outlier at 1e18 and 20,000", crowd(121).chain([([1e18; D], 0.01)]).collect()));
    let apart = crowd(122).enumerate().map(|(i, (p, _))| (p.axes(|x| x + (i % 2) as f32 * 1e6), 0.01));
    scenes.push(("two crowds a million apart", apart.collect()));
    let tiny = f32::from_bits(1);
    let denormals = points(400, 123).map(|p: [f32; D]| (p.axes(|x| (x * 1000.0).floor() * tiny), 3.0 * tiny));
    let ordinary = crowd(124).map(|(p, radius)| (p.axes(|x| x + 1.0), radius));
    scenes.push(("denormals beside 20,000", shuffled(denormals.chain(ordinary))));
    let shells = points(20_000, 125).enumerate().map(|(i, p): (_, [f32; D])| {
        let width = power_of_two(-(i as i32 % 74));
        (p.axes(|x| (x - 0.3) * width), width * if D == 2 { 1e-3 } else { 4e-3 })
    });
    scenes.push(("shells of every power of two", shells.collect()));
}

//! The parts of the matrix: bodies, ways to give a set of them, and spaces around them.

use core::array::from_fn;
use std::f64::consts::PI;

use jostle_testkit::algebra::{Columns, PlainLayers, PlainMoves, PlainRadii, PlainSet, PlainSpace};
use jostle_testkit::random::Random;
use jostle_testkit::{Kind, scene};

/// Borders are multiples of one over this number.
const SNAP: f64 = 64.0;

/// Bodies, and the cell that spaces are made of.
#[derive(Debug, Clone)]
pub(crate) struct Raw<const D: usize> {
    pub(crate) name: &'static str,
    pub(crate) bodies: Vec<([f64; D], f64)>,
    lo: f64,
    width: f64,
    /// How far bodies move, in mean radii.
    pace: f64,
    /// Whether `f32` cannot tell the bodies apart.
    pub(crate) double_only: bool,
}

impl<const D: usize> Raw<D> {
    fn new(name: &'static str, bodies: impl IntoIterator<Item = ([f64; D], f64)>) -> Self {
        let bodies: Vec<_> = bodies.into_iter().collect();
        let (lo, hi) = bodies
            .iter()
            .flat_map(|(center, _)| center)
            .fold((f64::MAX, f64::MIN), |(lo, hi), &x| (lo.min(x), hi.max(x)));
        let reach = bodies.iter().map(|body| 2.0 * body.1).fold(0.0, f64::max);
        let (lo, width) = if bodies.is_empty() { (0.0, 1.0) } else { (lo, (hi - lo).max(1.5 * reach).max(1e-3)) };
        // `f32` can hold the borders, and bodies touch exactly across them.
        let (lo, width) = ((lo * SNAP).floor() / SNAP, (width * SNAP).ceil() / SNAP);
        Self { name, bodies, lo, width, pace: 3.0, double_only: false }
    }

    fn in_cell(self, lo: f64, width: f64) -> Self {
        Self { lo, width, ..self }
    }

    /// Returns the scene in another place and size.
    fn placed(self, name: &'static str, origin: f64, scale: f64) -> Self {
        let place = |x: f64| origin + scale * x;
        let bodies = self.bodies.iter().map(|&(center, radius)| (center.map(place), radius * scale)).collect();
        Self { name, bodies, lo: place(self.lo), width: self.width * scale, double_only: true, ..self }
    }

    /// Returns some of the bodies.
    pub(crate) fn part(&self, is_part: impl Fn(usize) -> bool) -> Self {
        let bodies = self.bodies.iter().enumerate().filter(|&(id, _)| is_part(id));
        Self { bodies: bodies.map(|(_, &body)| body).collect(), ..self.clone() }
    }

    /// Returns the first bodies alone, which move less.
    fn few(&self, count: usize) -> Self {
        Self { pace: 0.4, ..self.part(|id| id < count) }
    }

    pub(crate) fn width(&self) -> f64 {
        self.width
    }

    pub(crate) fn mean_radius(&self) -> f64 {
        self.bodies.iter().map(|body| body.1).sum::<f64>() / self.bodies.len().max(1) as f64
    }
}

fn of_kind<const D: usize>(name: &'static str, kind: Kind, n: usize, seed: u64) -> Raw<D> {
    let scene = scene::scene::<D>(kind, n, seed);
    let body = |id: usize| (scene.view().center(id).map(f64::from), f64::from(scene.radii[id]));
    Raw::new(name, (0..n).map(body))
}

/// Returns the points of a lattice of `side` points an axis.
fn grid<const D: usize>(side: usize) -> impl Iterator<Item = [f64; D]> {
    (0..side.pow(D as u32)).map(move |i| from_fn(|axis| (i / side.pow(axis as u32) % side) as f64))
}

/// Returns small scenes, since the oracle tests every two bodies once for each image.
pub(crate) fn scenes<const D: usize>() -> Vec<Raw<D>> {
    let side = if D == 2 { 5 } else { 3 };
    let uniform = of_kind::<D>("uniform", Kind::Uniform, 40, 1);
    let dense = of_kind::<D>("dense", Kind::Dense, 30, 2);
    let mut random = Random(7);
    let (lo, width) = (uniform.lo, uniform.width);
    let outside: Vec<_> = uniform
        .bodies
        .iter()
        .map(|&(center, radius)| (center.map(|x| x + width * (random.below(601) as f64 - 300.0)), radius))
        .collect();
    let borders = grid::<D>(4).map(|at| (at.map(|i| [0.0, 4.0, 8.0, -1.0_f64.next_up()][i as usize]), 0.75));
    let ulps = (0..30).map(|_| (from_fn(|_| 1e7 + random.below(6) as f64), [0.0, 0.5, 1.0][random.below(3)]));
    let ulps: Vec<_> = ulps.collect();
    vec![
        uniform.clone(),
        of_kind("clustered", Kind::Clustered, 40, 3),
        of_kind("power law", Kind::PowerLaw, 40, 4),
        dense.clone(),
        Raw::new("all equal", (0..9).map(|_| ([1.5; D], 0.25))),
        Raw::new("on a line", (0..30).map(|i| (from_fn(|axis| if axis == 0 { f64::from(i) } else { -3.0 }), 0.5))),
        Raw::new("lattice that touches exactly", grid(side).map(|at| (at, 0.5))).in_cell(0.0, side as f64),
        Raw::new("on the borders", borders).in_cell(0.0, 8.0),
        Raw::new("far outside the cell", outside).in_cell(lo, width),
        Raw::new("steps of an ulp near 1e7", ulps).in_cell(1e7, 6.0),
        dense.placed("at 1e9, a thousandth in size", 1e9, 1e-3),
        uniform.placed("at -1e9, of size 1e-5", -1e9, 1e-5),
        Raw::new("none", []),
        Raw::new("one", [([0.25; D], 0.5)]),
    ]
}

/// How radii are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Radius {
    All,
    Each,
    Cutoff,
}

/// How a set is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) double: bool,
    radius: Radius,
    margin: bool,
    layers: bool,
    /// Displacements, in `f64` or not.
    pub(crate) moves: Option<bool>,
    pub(crate) tree: bool,
    pub(crate) prepared: Prepared,
}

/// Whether a set is sorted beforehand, and for which space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prepared {
    No,
    Here,
    ForOpenSpace,
}

const PLAIN: Way = Way {
    name: "f32",
    double: false,
    radius: Radius::Each,
    margin: false,
    layers: false,
    moves: None,
    tree: false,
    prepared: Prepared::No,
};

/// Every way to give a set that the engine tells apart.
pub(crate) const WAYS: &[Way] = &[
    PLAIN,
    Way { name: "f32, one radius, margin", radius: Radius::All, margin: true, ..PLAIN },
    Way { name: "f32, cutoff, layers", radius: Radius::Cutoff, layers: true, ..PLAIN },
    Way { name: "tree, layers", tree: true, layers: true, ..PLAIN },
    Way { name: "f32 moving", moves: Some(false), ..PLAIN },
    Way { name: "f32 moving by f64, margin, layers", moves: Some(true), margin: true, layers: true, ..PLAIN },
    Way { name: "tree moving", tree: true, moves: Some(false), ..PLAIN },
    Way { name: "f64", double: true, ..PLAIN },
    Way { name: "f64, cutoff", double: true, radius: Radius::Cutoff, ..PLAIN },
    Way {
        name: "f64, one radius, margin, layers",
        double: true,
        radius: Radius::All,
        margin: true,
        layers: true,
        ..PLAIN
    },
    Way { name: "f64 moving by f32", double: true, moves: Some(false), ..PLAIN },
    Way { name: "f64 moving, layers", double: true, moves: Some(true), layers: true, ..PLAIN },
    Way { name: "f32 prepared, layers", prepared: Prepared::Here, layers: true, ..PLAIN },
    Way { name: "f64 prepared", double: true, prepared: Prepared::Here, ..PLAIN },
    Way {
        name: "f64 prepared for open space, margin",
        double: true,
        prepared: Prepared::ForOpenSpace,
        margin: true,
        ..PLAIN
    },
];

impl Way {
    /// Returns the bodies as a set, given in this way.
    pub(crate) fn set<const D: usize>(&self, raw: &Raw<D>, seed: u64) -> PlainSet<D> {
        let (count, mean, mut random) = (raw.bodies.len(), raw.mean_radius(), Random(seed));
        let column = |axis: usize| raw.bodies.iter().map(move |body| body.0[axis]);
        let radii = || raw.bodies.iter().map(|body| body.1);
        let margin = if self.margin { mean / 4.0 } else { 0.0 };
        let bodies = if self.double {
            let radii = match self.radius {
                Radius::All => PlainRadii::All(mean),
                Radius::Each => PlainRadii::Each(radii().collect()),
                Radius::Cutoff => PlainRadii::Cutoff(2.0 * mean),
            };
            Columns::Double { centers: from_fn(|axis| column(axis).collect()), radii, margin }
        } else {
            let radii = match self.radius {
                Radius::All => PlainRadii::All(mean as f32),
                Radius::Each => PlainRadii::Each(radii().map(|r| r as f32).collect()),
                Radius::Cutoff => PlainRadii::Cutoff(2.0 * mean as f32),
            };
            Columns::Single {
                centers: from_fn(|axis| column(axis).map(|x| x as f32).collect()),
                radii,
                margin: margin as f32,
            }
        };
        let mut displacements = |scale: f64| -> Vec<f64> {
            (0..count).map(|_| if random.below(4) == 0 { 0.0 } else { scale * (2.0 * random.unit() - 1.0) }).collect()
        };
        let moves: Option<[Vec<f64>; D]> = self.moves.map(|_| from_fn(|_| displacements(raw.pace * mean)));
        let moves = moves.map(|columns| match self.moves {
            Some(true) => PlainMoves::Double(columns),
            _ => PlainMoves::Single(columns.map(|column| column.into_iter().map(|d| d as f32).collect())),
        });
        let layers = self.layers.then(|| PlainLayers {
            category: (0..count).map(|_| 1 << random.below(3)).collect(),
            mask: (0..count).map(|_| 1 + random.below(7) as u32).collect(),
            group: (0..count).map(|_| random.below(9) as i32 / 3 - 1).collect(),
        });
        let set = PlainSet { moves, layers, ..PlainSet::new(bodies) };
        if self.tree { set.built().expect("bodies within the contract") } else { set }
    }

    /// Returns the set, sorted beforehand for a space if this way asks for it.
    pub(crate) fn in_space<const D: usize>(&self, set: PlainSet<D>, space: &PlainSpace<D>) -> PlainSet<D> {
        let set = match self.prepared {
            Prepared::No => return set,
            Prepared::Here => set.prepared(space.space()),
            Prepared::ForOpenSpace => set.prepared(PlainSpace::Open.space()),
        };
        set.expect("bodies within the contract")
    }
}

/// Returns every kind of space, and the bodies that are searched in it: few where a cell is smaller than the reach of
/// bodies.
pub(crate) fn spaces<const D: usize>(raw: &Raw<D>) -> Vec<(&'static str, PlainSpace<D>, Raw<D>)> {
    let Raw { lo, width, .. } = *raw;
    let vectors = |width: f64| skewed(width);
    let few = raw.few(5);
    let reach = few.bodies.iter().map(|body| 2.0 * body.1).fold(width / 1e3, f64::max);
    let channel = from_fn(|axis| (axis == 0).then_some([lo + width / 2.0, lo + width]));
    // The period is shorter than the reach of bodies, but a few steps of `f32` long where `f32` has no smaller steps.
    let small = if raw.double_only { 0.7 * reach } else { (0.7 * reach).max(lo.abs() / SNAP.powi(3)) };
    let short = if raw.double_only { small } else { (small * SNAP).ceil() / SNAP };
    let slab = from_fn(|k| k + 1 != D);
    vec![
        ("open", PlainSpace::Open, raw.clone()),
        ("box", PlainSpace::Periodic([Some([lo, lo + width]); D]), raw.clone()),
        ("channel", PlainSpace::Periodic(channel), raw.clone()),
        (
            "lattice of 150 degrees",
            PlainSpace::Lattice { origin: [lo; D], vectors: vectors(width), periodic: [true; D] },
            raw.clone(),
        ),
        (
            "slab",
            PlainSpace::Lattice { origin: [lo - width / 3.0; D], vectors: vectors(1.2 * width), periodic: slab },
            raw.clone(),
        ),
        (
            "small cell",
            PlainSpace::Lattice { origin: [lo; D], vectors: vectors(small), periodic: [true; D] },
            few.clone(),
        ),
        ("short period", PlainSpace::Periodic(from_fn(|axis| (axis != 1).then_some([lo, lo + short]))), few.clone()),
    ]
}

/// Returns vectors with angles of 150 and 30 degrees.
fn skewed<const D: usize>(width: f64) -> [[f64; D]; D] {
    let angle = |degrees: f64| [width * (degrees * PI / 180.0).cos(), width * (degrees * PI / 180.0).sin()];
    let mut vectors = [[0.0; D]; D];
    vectors[0][0] = width;
    vectors[1][..2].copy_from_slice(&angle(150.0));
    if let Some(third) = vectors.get_mut(2) {
        let [along, up] = angle(30.0);
        (third[0], third[2]) = (along, up);
    }
    vectors
}

/// Returns so many bodies that several threads share the work.
pub(crate) fn large<const D: usize>() -> Raw<D> {
    of_kind("large", Kind::Uniform, 8_400, 9)
}

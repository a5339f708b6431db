//! The four scenes that everything is tested and timed on. Each is a function of its kind, n and a seed.

use core::fmt;
use core::str::FromStr;

use jostle_core::Bodies;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::axes::compiled_here;

mod fluid;

/// Owned bodies, one vector a column.
#[derive(Debug, Clone, PartialEq)]
pub struct Scene<const D: usize> {
    /// The coordinates of the centres, one vector an axis.
    pub centers: [Vec<f32>; D],
    /// The radii.
    pub radii: Vec<f32>,
}

impl<const D: usize> Scene<D> {
    /// The scene as input of a search.
    #[must_use]
    pub fn view(&self) -> Bodies<'_, D> {
        Bodies::from_slices(self.centers.each_ref().map(Vec::as_slice), &self.radii)
    }

    /// Number of bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.radii.len()
    }

    /// True when there is no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.radii.is_empty()
    }
}

impl<const D: usize> FromIterator<([f32; D], f32)> for Scene<D> {
    fn from_iter<I: IntoIterator<Item = ([f32; D], f32)>>(bodies: I) -> Self {
        let mut bodies = bodies.into_iter();
        Self::of(&mut || bodies.next())
    }
}

impl<const D: usize> Scene<D> {
    /// Compiled once, and not for each iterator.
    fn of(next: &mut dyn FnMut() -> Option<([f32; D], f32)>) -> Self {
        let mut scene = Self { centers: [const { Vec::new() }; D], radii: Vec::new() };
        while let Some((center, radius)) = next() {
            for (column, x) in scene.centers.iter_mut().zip(center) {
                column.push(x);
            }
            scene.radii.push(radius);
        }
        scene
    }
}

/// How the bodies of a scene are spread. Ids are in random order in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Radii 0.5 to 1, a fraction of 0.3 of the world covered (overlaps counted twice).
    ///
    /// Pairs a body at n = 10k, 100k, 1M: 0.589, 0.587, 0.588 in 2D; 1.09, 1.12, 1.13 in 3D.
    Uniform,
    /// Radii 0.5 to 1. Half of the bodies are in Gaussian clusters of about 500 whose widths span a decade. The others
    /// are spread evenly over a world so large that they rarely meet. The heart of the narrowest cluster is some 1,400
    /// (2D) or 14,000 (3D) times denser than the void.
    ///
    /// Pairs a body at n = 10k, 100k, 1M: 0.95, 1.19, 1.26 in 2D; 1.59, 1.40, 1.21 in 3D.
    Clustered,
    /// Radii over three decades, a truncated Pareto distribution of density r^-2.23, a fraction of 0.3 covered, most of
    /// it by giants.
    ///
    /// Pairs a body at n = 10k, 100k, 1M: 0.21, 0.27, 0.32 in 2D; 0.17, 0.24, 0.30 in 3D.
    PowerLaw,
    /// Radii 0.5 to 1, so close that a body has about 12 neighbours.
    ///
    /// Pairs a body at n = 10k, 100k, 1M: 5.88, 5.97, 5.99 in 2D; 5.49, 5.79, 5.90 in 3D.
    Dense,
    /// Bodies as smoothed particles and atoms lie, all of radius 1. Each is displaced at random from a square or cubic
    /// lattice, by up to 0.3 of the lattice's spacing on each axis, so that a body has about 20 (2D) or 40 (3D)
    /// neighbours.
    ///
    /// Pairs a body at n = 10k, 100k, 1M: 9.4, 9.5, 9.6 in 2D; 16.0, 17.4, 18.6 in 3D.
    Fluid,
}

impl Kind {
    /// The four kinds that everything is tested on, in the order of the tables.
    pub const ALL: [Self; 4] = [Self::Uniform, Self::Clustered, Self::PowerLaw, Self::Dense];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Uniform => "uniform",
            Self::Clustered => "clustered",
            Self::PowerLaw => "powerlaw",
            Self::Dense => "dense",
            Self::Fluid => "fluid",
        })
    }
}

/// A name that no [`Kind`] has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no scene is called {0:?}: uniform, clustered, powerlaw, dense, fluid")]
pub struct UnknownKind(pub String);

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        let kind = Self::ALL.into_iter().chain([Self::Fluid]).find(|kind| kind.to_string() == name);
        kind.ok_or_else(|| UnknownKind(name.to_owned()))
    }
}

/// Radii of all kinds but [`Kind::PowerLaw`] are uniform from this to 1.
const SMALLEST: f64 = 0.5;

/// Smallest radius of [`Kind::PowerLaw`]; the largest is 1,000 times as large.
const DUST: f64 = 0.01;

/// Chance that a Pareto radius of tail index 16/13 exceeds 1,000 times the smallest: 1000^(-16/13). The index is near
/// 1.2, and such that its inverse is a sum of powers of 1/2, so that square roots suffice to draw a radius.
const BEYOND_GIANTS: f64 = 2.030_917_620_904_739e-4;

/// Bodies for each cluster; half of them are in it.
const BODIES_A_CLUSTER: usize = 1000;

/// The widest cluster is this many times wider than the narrowest.
const WIDTHS: f64 = 10.0;

/// The numbers that depend on the number of axes.
struct Space {
    /// Volume of the ball of radius 1.
    ball: f64,
    /// Mean of the D-th power of radii uniform from 0.5 to 1.
    power_of_uniform: f64,
    /// Mean of the D-th power of the power-law radii, in units of the smallest to that power.
    power_of_pareto: f64,
    /// Covered fraction at which a body has 12 neighbours: 6 pairs a body over the pairs at a fraction of 1.
    dense: f64,
    /// Covered fraction of the clustered world: clusters rarely reach each other.
    clustered: f64,
    /// Standard deviation of the narrowest cluster, such that bodies in clusters have about 2.5 pairs each.
    narrowest: f64,
}

impl Space {
    const PLANE: Self = Self {
        ball: core::f64::consts::PI,
        power_of_uniform: 7.0 / 12.0,
        power_of_pareto: 323.412_5,
        dense: 3.055,
        clustered: 0.01,
        narrowest: 4.6,
    };
    const SPACE: Self = Self {
        ball: core::f64::consts::PI * 4.0 / 3.0,
        power_of_uniform: 15.0 / 32.0,
        power_of_pareto: 141_309.2,
        dense: 1.579,
        clustered: 0.001,
        narrowest: 2.1,
    };

    fn of(axes: usize) -> Self {
        match axes {
            2 => Self::PLANE,
            3 => Self::SPACE,
            _ => panic!("scenes have 2 or 3 axes, not {axes}"),
        }
    }
}

/// Returns the side of the square or cube `[0, side)^D` that holds the centres of a scene.
///
/// # Panics
/// When `D` is neither 2 nor 3.
#[must_use]
pub fn world<const D: usize>(kind: Kind, n: usize) -> f32 {
    let space = Space::of(D);
    let (covered, power) = match kind {
        Kind::Uniform => (0.3, space.power_of_uniform),
        Kind::Clustered => (space.clustered, space.power_of_uniform),
        Kind::PowerLaw => (0.3, space.power_of_pareto * (0..D).map(|_| DUST).product::<f64>()),
        Kind::Dense => (space.dense, space.power_of_uniform),
        Kind::Fluid => return fluid::world::<D>(n),
    };
    let volume = n.max(1) as f64 * space.ball * power / covered;
    (if D == 2 { volume.sqrt() } else { cube_root(volume) }) as f32
}

/// Finds a cube root by Newton's iteration from above, since `cbrt` differs between platforms.
fn cube_root(v: f64) -> f64 {
    let mut x = v.max(1.0);
    loop {
        let next = x - (x - v / (x * x)) / 3.0;
        if next >= x {
            return x;
        }
        x = next;
    }
}

/// Draws `n` bodies of a kind; the same bits for the same arguments on every platform.
///
/// # Panics
/// When `D` is neither 2 nor 3.
#[must_use]
pub fn scene<const D: usize>(kind: Kind, n: usize, seed: u64) -> Scene<D> {
    drawn_here(&kind, &n, &seed)
}

compiled_here! {
    fn drawn_here<const D: usize>(kind: &Kind, n: &usize, seed: &u64) -> Scene<D> {
        drawn(*kind, *n, *seed)
    }

    /// Returns the same bodies as an array of structs, which no pass reads as slices: centre, NaN where there is no
    /// third axis, radius.
    ///
    /// # Panics
    /// When `D` is neither 2 nor 3.
    #[must_use]
    pub fn interleaved<const D: usize>(scene: &Scene<D>) -> Vec<[f32; 4]> {
        let body = |id: usize| {
            let mut body = [f32::NAN; 4];
            body.iter_mut().zip(&scene.centers).for_each(|(x, column)| *x = column[id]);
            body[3] = scene.radii[id];
            body
        };
        (0..scene.len()).map(body).collect()
    }
}

fn drawn<const D: usize>(kind: Kind, n: usize, seed: u64) -> Scene<D> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    if kind == Kind::Fluid {
        return fluid::drawn(&mut rng, n);
    }
    let side = world::<D>(kind, n);
    let clusters = match kind {
        Kind::Clustered => clusters::<D>(&mut rng, n, side),
        _ => Vec::new(),
    };
    let body = |_| {
        let radius = match kind {
            Kind::PowerLaw => pareto(&mut rng),
            _ => SMALLEST + (1.0 - SMALLEST) * rng.random::<f64>(),
        };
        let center = match kind {
            Kind::Clustered if rng.random() => clusters[rng.random_range(0..clusters.len())].center(&mut rng, side),
            _ => [(); D].map(|()| rng.random::<f64>() * f64::from(side)),
        };
        (center.map(|x| (x as f32).min(side.next_down())), radius as f32)
    };
    (0..n).map(body).collect()
}

/// Draws a radius of density r^-(1 + 16/13) from `DUST` to 1,000 times `DUST`: u^(-13/16), with 13/16 = 1/2 + 1/4 +
/// 1/16.
fn pareto(rng: &mut Pcg64Mcg) -> f64 {
    let u = BEYOND_GIANTS + (1.0 - BEYOND_GIANTS) * rng.random::<f64>();
    let half = u.sqrt();
    let quarter = half.sqrt();
    DUST / (half * quarter * quarter.sqrt().sqrt())
}

struct Cluster<const D: usize> {
    middle: [f64; D],
    width: f64,
}

/// Draws clusters anywhere in the world, with the inverse of their widths uniform.
fn clusters<const D: usize>(rng: &mut Pcg64Mcg, n: usize, side: f32) -> Vec<Cluster<D>> {
    let widest = WIDTHS * Space::of(D).narrowest;
    let cluster = |_| Cluster {
        middle: [(); D].map(|()| rng.random::<f64>() * f64::from(side)),
        width: widest / (1.0 + (WIDTHS - 1.0) * rng.random::<f64>()),
    };
    (0..(n / BODIES_A_CLUSTER).max(1)).map(cluster).collect()
}

impl<const D: usize> Cluster<D> {
    /// Draws a normally distributed point. A point that leaves the world on one side enters on the other.
    fn center(&self, rng: &mut Pcg64Mcg, side: f32) -> [f64; D] {
        self.middle.map(|x| (x + self.width * normal(rng)).rem_euclid(f64::from(side)))
    }
}

/// Draws a nearly normal number of mean 0 and variance 1: the sum of twelve uniform numbers, less 6. It needs no
/// logarithm.
fn normal(rng: &mut Pcg64Mcg) -> f64 {
    (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0
}

//! The systems by name, set up by the defaults that their own documentation gives.

use core::fmt;
use core::str::FromStr;

use jostle_core::limits::REACH;
use jostle_core::{Aabb, Bodies};

use crate::broad_phase::BroadPhase;
use crate::brute::BruteForce;
use crate::cell_tree::Ancestors;
use crate::dynamic_quadtree::DynamicQuadtree;
use crate::error::SetupError;
use crate::grid_hierarchy::GridHierarchy;
use crate::linear_octree::LinearOctree;
use crate::linear_quadtree::LinearQuadtree;
use crate::loose_quadtree::LooseQuadtree;
use crate::loose_tight_grid::LooseTightGrid;
use crate::point_grid::PointGrid;
use crate::uniform_grid::UniformGrid;

/// A system that finds all pairs in the plane, chosen by name.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle_classics::{BroadPhase, System};
/// use jostle::{Aabb, Circles};
///
/// let circles = Circles::new(&[0.5, 1.5, 5.0], &[1.0; 3], 0.5);
/// let world = Aabb { lo: [0.0; 2], hi: [8.0; 2] };
/// for system in System::ALL {
///     let mut pairs = Vec::new();
///     let mut broad_phase = system.in_world(world, circles)?;
///     broad_phase.update(circles)?;
///     broad_phase.for_each_pair(&mut |pair| pairs.push(pair));
///     assert_eq!(pairs, [[0, 1]], "{system}");
/// }
/// assert_eq!("point-grid".parse(), Ok(System::PointGrid));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum System {
    /// [`BruteForce`].
    BruteForce,
    /// [`LinearQuadtree`].
    LinearQuadtree,
    /// [`LinearQuadtree`] with [`Ancestors::Touching`].
    LinearQuadtreeTouching,
    /// [`DynamicQuadtree`].
    DynamicQuadtree,
    /// [`LooseQuadtree`].
    LooseQuadtree,
    /// [`UniformGrid`].
    UniformGrid,
    /// [`LooseTightGrid`].
    LooseTightGrid,
    /// [`PointGrid`].
    PointGrid,
    /// [`GridHierarchy`].
    GridHierarchy,
}

impl System {
    /// Every system, in the order of the tables.
    pub const ALL: [Self; 9] = [
        Self::BruteForce,
        Self::LinearQuadtree,
        Self::LinearQuadtreeTouching,
        Self::DynamicQuadtree,
        Self::LooseQuadtree,
        Self::UniformGrid,
        Self::LooseTightGrid,
        Self::PointGrid,
        Self::GridHierarchy,
    ];

    /// Returns the name of the system, as in tables and on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BruteForce => "brute-force",
            Self::LinearQuadtree => "linear-quadtree",
            Self::LinearQuadtreeTouching => "linear-quadtree-touching",
            Self::DynamicQuadtree => "dynamic-quadtree",
            Self::LooseQuadtree => "loose-quadtree",
            Self::UniformGrid => "uniform-grid",
            Self::LooseTightGrid => "loose-tight-grid",
            Self::PointGrid => "point-grid",
            Self::GridHierarchy => "grid-hierarchy",
        }
    }

    /// Returns the most bodies that the system is of use for. With more, in the densest of the scenes of the tables, a
    /// frame takes a second or two on one core, and soon minutes. A system takes more all the same; programs refuse
    /// them by [`System::check_count`].
    #[must_use]
    pub const fn most_bodies(self) -> usize {
        match self {
            Self::BruteForce => 50_000,
            Self::LinearQuadtree => 200_000,
            Self::LinearQuadtreeTouching | Self::DynamicQuadtree | Self::LooseQuadtree => 1_000_000,
            Self::UniformGrid | Self::LooseTightGrid | Self::PointGrid | Self::GridHierarchy => 2_000_000,
        }
    }

    /// Checks that the system is of use for so many bodies. O(1).
    ///
    /// # Errors
    /// When there are more bodies than [`System::most_bodies`].
    pub fn check_count(self, bodies: usize) -> Result<(), TooManyBodies> {
        check_count(self.name(), self.most_bodies(), bodies)
    }

    /// Makes the system, without bodies as yet, for a world and for bodies of this number and these sizes. The `new` or
    /// `for_bodies` of each system chooses depths and cells; the typical radius is the mean. Radii that a search would
    /// refuse do not count, and are no error here.
    ///
    /// # Errors
    /// [`SetupError`], when the world is empty or has no finite size, or is one that the system has no room for.
    pub fn in_world(self, world: Aabb<2>, bodies: Bodies<'_, 2>) -> Result<Box<dyn BroadPhase<2>>, SetupError> {
        SetupError::check_world(&world)?;
        let (n, radius) = (bodies.len(), mean_radius(bodies));
        Ok(match self {
            Self::BruteForce => Box::new(BruteForce::new()),
            Self::LinearQuadtree => Box::new(LinearQuadtree::for_bodies(world, n)?),
            Self::LinearQuadtreeTouching => {
                Box::new(LinearQuadtree::for_bodies(world, n)?.with_ancestors(Ancestors::Touching))
            }
            Self::DynamicQuadtree => Box::new(DynamicQuadtree::new(world)?),
            Self::LooseQuadtree => Box::new(LooseQuadtree::new(world)?),
            Self::UniformGrid => Box::new(UniformGrid::for_bodies(world, n, radius)?),
            Self::LooseTightGrid => Box::new(LooseTightGrid::for_bodies(world, n, radius)?),
            Self::PointGrid => Box::new(PointGrid::for_bodies(world, n, radius)?),
            Self::GridHierarchy => Box::new(GridHierarchy::for_bodies(world, n, radius)?),
        })
    }
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for System {
    type Err = UnknownSystem;

    fn from_str(name: &str) -> Result<Self, UnknownSystem> {
        of_name(&Self::ALL, name)
    }
}

/// A system that finds all pairs in space, chosen by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SystemInSpace {
    /// [`BruteForce`].
    BruteForce,
    /// [`LinearOctree`].
    LinearOctree,
    /// [`LinearOctree`] with [`Ancestors::Touching`].
    LinearOctreeTouching,
}

impl SystemInSpace {
    /// Every system, in the order of the tables.
    pub const ALL: [Self; 3] = [Self::BruteForce, Self::LinearOctree, Self::LinearOctreeTouching];

    /// Returns the name of the system, as in tables and on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BruteForce => "brute-force",
            Self::LinearOctree => "linear-octree",
            Self::LinearOctreeTouching => "linear-octree-touching",
        }
    }

    /// As [`System::most_bodies`].
    #[must_use]
    pub const fn most_bodies(self) -> usize {
        match self {
            Self::BruteForce => 50_000,
            Self::LinearOctree => 100_000,
            Self::LinearOctreeTouching => 500_000,
        }
    }

    /// As [`System::check_count`].
    ///
    /// # Errors
    /// When there are more bodies than [`SystemInSpace::most_bodies`].
    pub fn check_count(self, bodies: usize) -> Result<(), TooManyBodies> {
        check_count(self.name(), self.most_bodies(), bodies)
    }

    /// As [`System::in_world`].
    ///
    /// # Errors
    /// [`SetupError::World`], when the world is empty or has no finite size.
    pub fn in_world(self, world: Aabb<3>, bodies: Bodies<'_, 3>) -> Result<Box<dyn BroadPhase<3>>, SetupError> {
        SetupError::check_world(&world)?;
        let n = bodies.len();
        Ok(match self {
            Self::BruteForce => Box::new(BruteForce::new()),
            Self::LinearOctree => Box::new(LinearOctree::for_bodies(world, n)?),
            Self::LinearOctreeTouching => {
                Box::new(LinearOctree::for_bodies(world, n)?.with_ancestors(Ancestors::Touching))
            }
        })
    }
}

impl fmt::Display for SystemInSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for SystemInSpace {
    type Err = UnknownSystem;

    fn from_str(name: &str) -> Result<Self, UnknownSystem> {
        of_name(&Self::ALL, name)
    }
}

/// A name that no system has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no system is called {name:?}: {known}")]
pub struct UnknownSystem {
    name: String,
    known: String,
}

/// More bodies than a system is of use for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{system} is for at most {most} bodies, not {bodies}: with more a frame takes seconds, and soon minutes")]
pub struct TooManyBodies {
    system: &'static str,
    most: usize,
    bodies: usize,
}

fn check_count(system: &'static str, most: usize, bodies: usize) -> Result<(), TooManyBodies> {
    if bodies > most { Err(TooManyBodies { system, most, bodies }) } else { Ok(()) }
}

fn of_name<S: Copy + fmt::Display>(all: &[S], name: &str) -> Result<S, UnknownSystem> {
    all.iter().copied().find(|system| system.to_string() == name).ok_or_else(|| {
        let known: Vec<_> = all.iter().map(S::to_string).collect();
        UnknownSystem { name: name.to_owned(), known: known.join(", ") }
    })
}

/// Returns the mean of all radii that a search accepts; 0 when there are none.
fn mean_radius(bodies: Bodies<'_, 2>) -> f32 {
    if bodies.check_shape().is_err() {
        return 0.0;
    }
    let radii = (0..bodies.len()).map(|id| f64::from(bodies.radius(id)));
    let (sum, count) =
        radii.filter(|radius| (0.0..=f64::from(REACH)).contains(radius)).fold((0.0, 0), |(s, n), r| (s + r, n + 1));
    (sum / f64::from(count.max(1))) as f32
}

//! One set of bodies of a search: where they are, how they move, and which of them may meet.

use core::any::Any;
use core::fmt;

use jostle_core::axes::Axes;
use jostle_core::prefetch::prefetch;
use jostle_core::{Bodies, Column, LinearTree, Radii, Scalar};

use super::Space;
use crate::InputError;
use crate::input::error::STAND_INS;
use crate::input::layers::Layers;
use crate::input::shaped::Shaped;

/// A set of bodies of a search, at rest or moving, and which of them may meet.
///
/// A view has circles, spheres, boxes or capsules in `f32` or `f64`; each search sorts it anew. A tree, made by
/// [`LinearTree::build`], serves many searches of `f32` in open space, while its bodies stay where they are. A
/// [`PreparedSet`](crate::PreparedSet) serves many searches in any space, in either precision. Trees and prepared sets
/// are for walls, terrain, or a crowd that several other sets are tested against.
#[derive(Debug, Clone, Copy)]
pub struct Set<'a, const D: usize> {
    #[doc(hidden)]
    pub source: Source<'a, D>,
    #[doc(hidden)]
    pub layers: Option<Layers<'a>>,
    #[doc(hidden)]
    pub moving: Option<Displacements<'a, D>>,
    /// The prepared set and its space, if the bodies have been sorted before.
    #[doc(hidden)]
    pub sorted_before: Option<SortedBefore<'a, D>>,
}

/// The [`PreparedSet`](crate::PreparedSet) behind a set, and the space that it was sorted for. Inputs know no more of
/// it: `proxy`, which stands above `input`, looks inside.
#[derive(Debug, Clone, Copy)]
pub struct SortedBefore<'a, const D: usize> {
    pub(crate) by: &'a (dyn Any + Send + Sync),
    pub(crate) space: &'a Space<D>,
}

/// What a set has its bodies from.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a, const D: usize> {
    View(Bodies<'a, D>),
    Double(Bodies<'a, D, f64>),
    Tree(&'a LinearTree<D>),
    Shaped(Shaped<'a, D>),
}

/// How far each body of a set moves on each axis during the step, by id: slices or columns of `f32` or `f64`, one an
/// axis. All that [`Set::moving`] takes turns into it.
#[derive(Clone, Copy)]
pub struct Displacements<'a, const D: usize>(pub(crate) Moves<'a, D>);

/// See [`Displacements`].
#[derive(Clone, Copy)]
pub(crate) enum Moves<'a, const D: usize> {
    Single([Column<'a, f32>; D]),
    Double([Column<'a, f64>; D]),
}

impl<'a, const D: usize> Set<'a, D> {
    /// Bodies at rest, all of which may meet.
    pub(crate) fn of(source: Source<'a, D>) -> Self {
        Self { source, layers: None, moving: None, sorted_before: None }
    }

    /// Keeps only pairs that these layers allow. Of two sets, one without layers has [`Layers::ALL`].
    #[must_use]
    pub fn layers(self, layers: Layers<'a>) -> Self {
        Self { layers: Some(layers), ..self }
    }

    /// Moves each body along a straight line during the step, from its place by its displacement and without turning.
    /// Bodies of sets without displacements stay where they are. `Found::times_of_impact` has the time of each pair.
    ///
    /// Of two circles or spheres, all in `f64`, let `p` be the difference of centres at the beginning (`xb - xa`, plus
    /// the image shift where space repeats), `v = db - da`, `s = ra + rb` and `c = p.p - s*s`. They touch at time 0
    /// when `p.p <= s*s`. Else, when they come closer (`p.v < 0`) and `(p.v)^2 - v.v * c >= 0`, they touch at time
    /// `c / (sqrt((p.v)^2 - v.v * c) - p.v)` if that is at most 1.
    ///
    /// Two boxes touch as soon as they overlap on all axes; on each axis they begin and cease to overlap at the
    /// quotients of their gaps and `v`. Where another shape takes part, Newton's method finds when the distance of the
    /// cores (a centre, a segment, a box) comes down to the sum of the radii. It begins when the boxes around both
    /// bodies meet, and no step leads beyond the first touch, since the distance is convex. Of bodies that graze each
    /// other, or come to touch just at the end, rounding decides, by some 2^-50 of the lengths of bodies, paths and
    /// shifts. Times of bodies that graze are right to the square root of that.
    ///
    /// Choose a unit in which reaches and paths are well above 1e-77, since their fourth powers vanish below.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
    /// use jostle::{Circles, PairFinder, Set};
    ///
    /// let circles = Circles::new(&[0.0, 10.0], &[0.0, 0.0], 1.0);
    /// let mut finder = PairFinder::new();
    /// // The first flies through the second.
    /// let found = finder.find(Set::from(circles).moving([&[16.0_f32, 0.0], &[0.0, 0.0]]))?;
    /// assert_eq!(found.pairs(), [[0, 1]]);
    /// assert_eq!(found.times_of_impact(), [0.5]);
    /// # Ok::<(), jostle::InputError>(())
    /// ```
    #[must_use]
    pub fn moving(self, displacements: impl Into<Displacements<'a, D>>) -> Self {
        Self { moving: Some(displacements.into()), ..self }
    }

    /// Number of bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.source {
            Source::View(bodies) => bodies.len(),
            Source::Double(bodies) => bodies.len(),
            Source::Tree(tree) => tree.len(),
            Source::Shaped(shaped) => shaped.len(),
        }
    }

    /// True when there is no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the bodies may be elsewhere in another search. Bodies of a tree stay where they are.
    pub(crate) fn is_movable(&self) -> bool {
        !matches!(self.source, Source::Tree(_)) || self.moving.is_some()
    }

    /// How far a body moves, if the set moves.
    #[doc(hidden)]
    #[inline(always)]
    pub fn by(&self, id: usize) -> Option<[f64; D]> {
        self.moving.map(|moving| moving.get(id))
    }

    pub(crate) fn radius(&self, id: usize) -> f64 {
        match self.source {
            Source::View(bodies) => bodies.radius(id).into(),
            Source::Double(bodies) => bodies.radius(id),
            Source::Tree(_) | Source::Shaped(_) => 0.0,
        }
    }

    /// The same set without layers. Bodies that can move have this margin; `others`, if given, take the place of bodies
    /// in `f32`.
    pub(crate) fn grown<'b>(&self, margin: f64, others: Option<Bodies<'b, D>>) -> Set<'b, D>
    where
        'a: 'b,
    {
        let source = match self.source {
            _ if self.sorted_before.is_some() && self.moving.is_none() => self.source,
            Source::View(bodies) => Source::View(others.unwrap_or(bodies.with_margin(margin as f32))),
            Source::Double(bodies) => Source::Double(bodies.with_margin(margin)),
            Source::Tree(_) | Source::Shaped(_) => self.source,
        };
        Set { source, layers: None, ..*self }
    }

    /// Checks all that needs no look at each body, but for layers.
    pub(crate) fn check_shape(&self) -> Result<(), InputError> {
        match self.source {
            Source::View(bodies) => bodies.check_shape()?,
            Source::Double(bodies) => bodies.check_shape()?,
            Source::Tree(tree) if tree.stands_in() => {
                return Err(InputError::Combination { parts: "a search and this tree", reason: STAND_INS });
            }
            Source::Tree(_) => {}
            Source::Shaped(shaped) => shaped.check_shape()?,
        }
        self.moving.map_or(Ok(()), |moving| moving.check(self.len()))
    }

    pub(crate) fn check_layers(&self) -> Result<(), InputError> {
        self.layers.map_or(Ok(()), |layers| layers.check(self.len()))
    }

    /// Whether the bodies have a margin, so that lists of their pairs may be kept for a while.
    pub(crate) fn has_margin(&self) -> bool {
        match self.source {
            Source::View(bodies) => bodies.margin() > 0.0,
            Source::Double(bodies) => bodies.margin() > 0.0,
            Source::Tree(tree) => tree.margin() > 0.0,
            Source::Shaped(shaped) => shaped.margin() > 0.0,
        }
    }

    /// Whether the set has been sorted for this space.
    pub(crate) fn is_sorted_for(&self, space: &Space<D>) -> bool {
        self.moving.is_none() && !self.is_empty() && self.sorted_before.is_some_and(|before| before.space == space)
    }

    /// The number of bodies that a search looks at in any case: none of a tree, nor of a set sorted for its space.
    pub(crate) fn sorted(&self, space: &Space<D>) -> usize {
        match self.source {
            _ if self.is_sorted_for(space) => 0,
            Source::View(_) | Source::Double(_) | Source::Shaped(_) => self.len(),
            Source::Tree(_) => 0,
        }
    }

    /// Prefetches the columns of a view.
    pub(crate) fn prefetch(&self) {
        let Source::View(bodies) = self.source else { return };
        bodies.centers().iter().filter_map(|column| column.as_slice()).for_each(prefetch);
        if let Radii::Each(column) = bodies.radii() {
            column.as_slice().into_iter().for_each(prefetch);
        }
    }

    /// Whether this is a view of bodies in `f32` that have nothing but a place and a radius.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.source, Source::View(_))
            && !self.has_margin()
            && self.moving.is_none()
            && self.layers.is_none()
            && self.sorted_before.is_none()
    }

    /// Whether the pairs of circles or spheres are decided in `f64`.
    pub(crate) fn is_decided(&self) -> bool {
        self.moving.is_some() || matches!(self.source, Source::Double(_))
    }
}

impl<'a, const D: usize> From<Bodies<'a, D>> for Set<'a, D> {
    fn from(bodies: Bodies<'a, D>) -> Self {
        Self::of(Source::View(bodies))
    }
}

impl<'a, const D: usize> From<Bodies<'a, D, f64>> for Set<'a, D> {
    fn from(bodies: Bodies<'a, D, f64>) -> Self {
        Self::of(Source::Double(bodies))
    }
}

impl<'a, const D: usize> From<&'a LinearTree<D>> for Set<'a, D> {
    fn from(tree: &'a LinearTree<D>) -> Self {
        Self::of(Source::Tree(tree))
    }
}

impl<const D: usize> fmt::Debug for Displacements<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Displacements").field(&self.lengths()).finish()
    }
}

impl<const D: usize> Displacements<'_, D> {
    fn lengths(&self) -> [usize; D] {
        match &self.0 {
            Moves::Single(columns) => columns.each_ref().axes(Column::len),
            Moves::Double(columns) => columns.each_ref().axes(Column::len),
        }
    }

    pub(crate) fn check(&self, bodies: usize) -> Result<(), InputError> {
        let lengths = self.lengths();
        if lengths.iter().all(|&len| len == bodies) {
            return Ok(());
        }
        Err(InputError::Displacements { bodies, displacements: lengths.to_vec() })
    }

    /// The displacement of one body.
    #[inline(always)]
    #[doc(hidden)]
    pub fn get(&self, id: usize) -> [f64; D] {
        let mut displacement = [0.0; D];
        match &self.0 {
            Moves::Single(columns) => {
                for axis in 0..D {
                    displacement[axis] = columns[axis].get(id).to_f64();
                }
            }
            Moves::Double(columns) => {
                for axis in 0..D {
                    displacement[axis] = columns[axis].get(id);
                }
            }
        }
        displacement
    }

    /// Reads the displacements of the bodies from number `first` on, on one axis.
    pub(crate) fn read(&self, axis: usize, first: usize, out: &mut [f64]) {
        match &self.0 {
            Moves::Single(columns) => columns[axis].read_in_double(first, out),
            Moves::Double(columns) => columns[axis].copy_into(first, out),
        }
    }
}

impl<'a, const D: usize> From<[Column<'a, f32>; D]> for Displacements<'a, D> {
    fn from(columns: [Column<'a, f32>; D]) -> Self {
        Self(Moves::Single(columns))
    }
}

impl<'a, const D: usize> From<[Column<'a, f64>; D]> for Displacements<'a, D> {
    fn from(columns: [Column<'a, f64>; D]) -> Self {
        Self(Moves::Double(columns))
    }
}

/// Converts slices, vectors and arrays of either precision.
macro_rules! displacements_from {
    ($([$($generics:tt)*] $values:ty),* $(,)?) => {$(
        impl<'a, const D: usize, $($generics)*> From<[$values; D]> for Displacements<'a, D> {
            fn from(columns: [$values; D]) -> Self {
                columns.map(Column::from).into()
            }
        }
    )*};
}

displacements_from!(
    [] &'a [f32],
    [] &'a [f64],
    [] &'a Vec<f32>,
    [] &'a Vec<f64>,
    [const N: usize] &'a [f32; N],
    [const N: usize] &'a [f64; N],
);

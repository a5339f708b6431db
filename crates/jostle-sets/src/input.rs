//! What a search is of: sets of bodies, which of them meet, and the space that they are in.

mod activation;
pub(crate) mod error;
pub mod layers;
mod set;
pub(crate) mod shaped;
mod space;

use core::slice;

use jostle_core::{Bodies, LinearTree};

use crate::InputError;
use crate::compiled::compiled_here;
use crate::traverse::{SPARSE, WALK};

/// Radii of one set that its mean radius is taken over, at most.
const SAMPLE: usize = 4096;

/// Radii of all sets by which giants are told, at most.
const FEW: usize = 128;

/// A giant's radius is over `GIANT` times the largest that remains once the largest one in `GIANTS` are set aside.
const GIANT: f64 = 128.0;
const GIANTS: usize = 16;

pub use activation::ActivationTable;
pub use set::{Displacements, Set, SortedBefore, Source};
pub use shaped::Shaped;
pub use space::{Space, UnitCell};

/// What a search is of: sets, which of them meet, and the space that they are in. Each is chosen by itself.
///
/// Wherever an input is asked for, a view, a tree or a [`Set`] turns into the search within it in open space.
///
/// # What goes together
/// All choices go together, in any mix. The answer is exact, in one order whatever the threads and the instruction set:
///
/// | part | choices |
/// |---|---|
/// | sets | `f32` or `f64`; at rest or moving; a view, a tree or a [`PreparedSet`](crate::PreparedSet); radii, a margin or a cutoff; layers |
/// | shapes | circles and spheres; [`Boxes`](jostle_core::Boxes) and [`Capsules`](jostle_core::Capsules), of any relation, in any space, with each other or with circles, in either precision; at rest or moving; layers, a margin; a view or a [`PreparedSet`](crate::PreparedSet); list, count, visitor, fold; contacts over time and their geometry; neighbour lists with their columns; queries |
/// | space | open; periodic on some axes; a lattice that repeats in some directions; bodies inside the cell or far outside; any reach |
/// | relation | within a set, between two, among many by a table |
/// | answer | list with image shifts and times of impact, count, visitor, fold; neighbour lists, half and full, with their columns; contacts over time (`ContactTracker`) and their geometry (`contacts`, `contacts_f64`) |
/// | queries | of a [`PreparedSet`](crate::PreparedSet), in any space and either precision: point, circle, box, ray, first hit, nearest; as lists, by visitors, in batches |
///
/// A search of boxes in `f32` alone compares their corners. As soon as other shapes or boxes in `f64` take part, or
/// space repeats, every pair is decided in `f64` on the numbers as given. Two boxes are compared by their corners.
/// Other bodies touch if the squared distance of their cores (a centre, a segment, a box) is at most the square of the
/// sum of their radii. That distance is exact but for rounding: a capsule and a body that just touch may do so by one
/// order of the capsule's ends, and not by the other. Where space repeats, the shift of the image is added to every
/// difference of two bodies' numbers, for two boxes `(lo_b - hi_a) + shift <= 0 <= (hi_b - lo_a) + shift`. The middle
/// of a body (`lo/2 + hi/2`, or halves of its ends) says in which cell it lies. A body may be longer than the period:
/// it then meets images of itself. [`Set::moving`] says when bodies touch on their way.
///
/// What a search refuses, and by which error:
///
/// | what | error | why |
/// |---|---|---|
/// | neighbour lists of [`Input::among`], if the sets hold 2^32 bodies or more together | [`InputError::Combination`] | rows number the bodies of all sets by `u32`: ask for the lists of two sets at a time |
/// | boxes without an end where space repeats | [`InputError::Range`] | they would touch at infinitely many images |
/// | a [`LinearTree`] of boxes or capsules, and [`Queries`](crate::Queries) in `f32` to it | none: it does not compile | [`LinearTree::build`] takes circles and spheres; a [`PreparedSet`](crate::PreparedSet) of any shape stays sorted, and answers [questions](crate::PreparedQueries) |
/// | lattice vectors of length zero, in one plane, or left-handed, where any direction repeats | [`InputError::Lattice`] | there is no cell, or shifts would mean something else than elsewhere |
/// | borders that do not ascend | [`InputError::Parameter`] | there is no period |
/// | a margin of the caller's own in a `CoherentFinder` | [`InputError::Combination`] | the finder chooses its own |
/// | the tree of a search in `f64`, of moving bodies or of coherent frames | [`InputError::Combination`] | it holds stand-ins at other places; build a [`PreparedSet`](crate::PreparedSet) or a [`LinearTree`] |
/// | displacements that are not finite, or beyond 2^250 | [`InputError::Range`] | a time of impact could not be computed |
/// | a table of another number of sets | [`InputError::Sets`] | it would not say which of them meet |
/// | more pairs, or neighbours, than the finder may list | [`InputError::TooManyPairs`] | they are counted, and none is cut off silently |
/// | layers or displacements of a set that is being prepared | [`InputError::Combination`] | they belong to a search, not to the set |
/// | more than 2^20 images of the cell within reach | [`InputError::Images`] | the search would take hours; take several cells as one |
/// | a body more than 2^29 cells away | [`InputError::Range`] | shifts are `i32` |
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, Input, LinearTree, PairFinder, Threads};
///
/// let mut walls = LinearTree::new();
/// walls.build(Circles::new(&[0.0, 5.0], &[0.0, 0.0], 1.0), Threads::Current)?;
/// let mut finder = PairFinder::new();
/// let found = finder.find(Input::between(Circles::new(&[4.5], &[0.0], 0.5), &walls))?;
/// assert_eq!(found.pairs(), [[0, 1]]);
/// # Ok::<(), jostle::InputError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Input<'a, const D: usize> {
    #[doc(hidden)]
    pub relation: Relation<'a, D>,
    #[doc(hidden)]
    pub space: Space<D>,
}

/// Which sets there are, and which of them meet.
#[derive(Debug, Clone, Copy)]
pub enum Relation<'a, const D: usize> {
    Within(Set<'a, D>),
    Between([Set<'a, D>; 2]),
    Among(&'a [Set<'a, D>], &'a ActivationTable),
}

impl<'a, const D: usize> Input<'a, D> {
    /// The pairs `[a, b]` of bodies of one set, `a < b`; at images of a space that repeats, `a <= b`.
    #[must_use]
    pub fn within(set: impl Into<Set<'a, D>>) -> Self {
        Self::of(Relation::Within(set.into()))
    }

    /// The pairs `[a, b]` of a body a of the first set and a body b of the second, each by its id in its own set.
    ///
    /// Costs the sorting of views, then about as much as the queries of the smaller set: few bodies against a tree of
    /// many are few queries.
    #[must_use]
    pub fn between(a: impl Into<Set<'a, D>>, b: impl Into<Set<'a, D>>) -> Self {
        Self::of(Relation::Between([a.into(), b.into()]))
    }

    /// The pairs of many sets: the table says which sets meet, and which meet themselves.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
    /// use jostle::{ActivationTable, Circles, Input, PairFinder};
    ///
    /// let bullets = Circles::new(&[0.0, 0.1], &[0.0, 0.0], 0.1);
    /// let ships = Circles::new(&[0.5, 1.5], &[0.0, 0.0], 0.6);
    /// let (sets, table) = ([bullets.into(), ships.into()], ActivationTable::none(2).with(0, 1).with(1, 1));
    /// let mut finder = PairFinder::new();
    /// let found = finder.find(Input::among(&sets, &table))?;
    /// assert_eq!(found.pairs_between(0, 1), [[0, 0], [1, 0]]);
    /// assert_eq!(found.pairs_between(1, 1), [[0, 1]]);
    /// # Ok::<(), jostle::InputError>(())
    /// ```
    #[must_use]
    pub fn among(sets: &'a [Set<'a, D>], table: &'a ActivationTable) -> Self {
        Self::of(Relation::Among(sets, table))
    }

    fn of(relation: Relation<'a, D>) -> Self {
        Self { relation, space: Space::open() }
    }

    /// The same search in this space.
    #[must_use]
    pub fn space(self, space: Space<D>) -> Self {
        Self { space, ..self }
    }

    /// The same search in a space that is periodic on some axes, each by its borders `[lo, hi]`: [`Space::periodic`].
    #[must_use]
    pub fn periodic<T: Into<f64> + Copy>(self, axes: [Option<[T; 2]>; D]) -> Self {
        self.space(Space::periodic(axes))
    }

    /// The same search in a lattice with these vectors, which repeats in these directions: [`Space::lattice`].
    #[must_use]
    pub fn lattice(self, vectors: [[f64; D]; D], repeats: [bool; D]) -> Self {
        self.space(Space::lattice(vectors, repeats))
    }

    #[doc(hidden)]
    pub fn sets(&self) -> &[Set<'a, D>] {
        match &self.relation {
            Relation::Within(set) => slice::from_ref(set),
            Relation::Between(sets) => sets,
            Relation::Among(sets, _) => sets,
        }
    }

    /// The pairs of sets that meet, in ascending order, the lesser set of each first.
    #[doc(hidden)]
    pub fn meetings(&self) -> impl ExactSizeIterator<Item = (usize, usize)> + Clone {
        let (one, table) = match &self.relation {
            Relation::Within(_) => ([(0, 0)].as_slice(), None),
            Relation::Between(_) => ([(0, 1)].as_slice(), None),
            Relation::Among(_, table) => ([].as_slice(), Some(*table)),
        };
        let count = one.len() + table.map_or(0, ActivationTable::len);
        (0..count).map(move |at| table.map_or_else(|| one[at], |table| table.number(at)))
    }

    /// The number of bodies by which a search decides whether several threads are worth calling.
    #[doc(hidden)]
    pub fn weight(&self) -> usize {
        // A search within a set sorts all its bodies, or, if they came sorted, joins them.
        if let Relation::Within(set) = &self.relation {
            return set.len();
        }
        let sets = self.sets();
        let met = self.meetings().filter_map(|(i, j)| {
            let (a, b) = (sets.get(i)?, sets.get(j)?);
            Some(if i == j { a.len() - a.sorted(&self.space) } else { joined(a.len(), b.len()) })
        });
        sets.iter().map(|set| set.sorted(&self.space)).chain(met).sum()
    }

    /// The number of bodies that may have moved since a search. Bodies of a tree stay where they are.
    #[doc(hidden)]
    pub fn movable(&self) -> usize {
        let movable = |set: &Set<'_, D>| if set.is_movable() { set.len() } else { 0 };
        self.sets().iter().map(movable).sum()
    }

    /// Whether a set has a margin, so that lists of the pairs may be kept for a while.
    #[doc(hidden)]
    pub fn has_margin(&self) -> bool {
        self.sets().iter().any(Set::has_margin)
    }

    /// Whether all pairs are decided in `f64`: as soon as a set of circles or spheres is in `f64` or moves, or boxes or
    /// capsules take part, unless all bodies are boxes in `f32` in open space.
    #[doc(hidden)]
    pub fn is_decided(&self) -> bool {
        self.sets().iter().any(Set::is_decided) || self.is_shaped() && !self.is_of_boxes()
    }

    /// Whether a search for pairs needs no more of a finder than one tree and the list of pairs.
    #[doc(hidden)]
    pub fn is_plain(&self) -> bool {
        matches!(&self.relation, Relation::Within(set) if set.is_plain()) && self.space.is_open()
    }

    /// Prefetches the columns of the bodies, if they lie in slices.
    #[doc(hidden)]
    pub fn prefetch(&self) {
        self.sets().iter().for_each(Set::prefetch);
    }

    /// Checks all that needs no look at each body.
    #[doc(hidden)]
    pub fn check_searchable(&self) -> Result<(), InputError> {
        self.check_shape()?;
        check_sets(self.sets(), Set::check_layers)
    }

    /// Returns the mean radius of a sample of the bodies that can move, evenly from first to last. A few giants,
    /// however large, count as a few large bodies.
    #[doc(hidden)]
    pub fn typical_radius(&self) -> f64 {
        let movable = || self.sets().iter().filter(|set| set.is_movable());
        let bodies = movable().map(|set| set.len()).sum::<usize>();
        let (mut few, mut count) = ([0.0; FEW], 0);
        let each = bodies.div_ceil(FEW / 2).max(1);
        let picked = movable().flat_map(|set| (0..set.len()).step_by(each).map(|id| set.radius(id)));
        for (slot, radius) in few.iter_mut().zip(picked) {
            (*slot, count) = (radius, count + 1);
        }
        if count == 0 {
            return 0.0;
        }
        // Takes out the greatest radii, one in sixteen; `most` ends as `GIANT` times the next one.
        let mut most = 0.0;
        for _ in 0..=count / GIANTS {
            let greatest = few[..count].iter_mut().max_by(|a, b| a.total_cmp(b));
            most = greatest.map_or(0.0, |radius| core::mem::replace(radius, f64::NEG_INFINITY) * GIANT);
        }
        let (sum, count) = movable().fold((0.0, 0), |(sum, count), set| {
            let step = set.len().div_ceil(SAMPLE).max(1);
            let radii = (0..set.len()).step_by(step).map(|id| set.radius(id).min(most));
            (sum + radii.sum::<f64>(), count + set.len().div_ceil(step))
        });
        sum / count as f64
    }

    /// Calls `with` with the same search without layers, in which bodies that can move have this margin. Where `others`
    /// has bodies for a set in `f32`, they take the place of its own.
    #[doc(hidden)]
    pub fn grown<'b>(
        &'b self,
        margin: f64,
        others: &dyn Fn(usize) -> Option<Bodies<'b, D>>,
        with: &mut dyn FnMut(&Input<'_, D>) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        let space = self.space;
        match &self.relation {
            Relation::Within(set) => with(&Input { relation: Relation::Within(set.grown(margin, others(0))), space }),
            Relation::Between([a, b]) => {
                let sets = [a.grown(margin, others(0)), b.grown(margin, others(1))];
                with(&Input { relation: Relation::Between(sets), space })
            }
            Relation::Among(sets, table) => {
                let sets = sets.iter().enumerate().map(|(at, set)| set.grown(margin, others(at)));
                with(&Input { relation: Relation::Among(&sets.collect::<Vec<_>>(), table), space })
            }
        }
    }

    /// Checks all that needs no look at each body, but for layers.
    #[doc(hidden)]
    pub fn check_shape(&self) -> Result<(), InputError> {
        check_shape(self)
    }
}

compiled_here! {
    fn check_shape<const D: usize>(input: &Input<'_, D>) -> Result<(), InputError> {
        if let Relation::Among(sets, table) = &input.relation {
            table.check(sets.len())?;
        }
        check_sets(input.sets(), Set::check_shape)?;
        input.space.check()
    }
}

/// Checks each set. The error says which of several sets it is of.
pub fn check_sets<'s, 'a, const D: usize>(
    sets: &'s [Set<'a, D>],
    check: impl Fn(&'s Set<'a, D>) -> Result<(), InputError>,
) -> Result<(), InputError> {
    let checked = |(at, set): (usize, &'s Set<'a, D>)| check(set).map_err(|error| error.in_set(at, sets.len()));
    sets.iter().enumerate().try_for_each(checked)
}

/// The number of bodies of one search whose work equals the join of two trees of `a` and `b` bodies.
fn joined(a: usize, b: usize) -> usize {
    let (few, many) = (a.min(b), a.max(b));
    if few.saturating_mul(SPARSE) < many { few.saturating_mul(WALK) } else { few }
}

/// [`Input::between`].
#[must_use]
pub fn between<'a, const D: usize>(a: impl Into<Set<'a, D>>, b: impl Into<Set<'a, D>>) -> Input<'a, D> {
    Input::between(a, b)
}

impl<'a, const D: usize> From<Set<'a, D>> for Input<'a, D> {
    fn from(set: Set<'a, D>) -> Self {
        Self::within(set)
    }
}

impl<'a, const D: usize> From<Bodies<'a, D>> for Input<'a, D> {
    fn from(bodies: Bodies<'a, D>) -> Self {
        Self::within(bodies)
    }
}

impl<'a, const D: usize> From<Bodies<'a, D, f64>> for Input<'a, D> {
    fn from(bodies: Bodies<'a, D, f64>) -> Self {
        Self::within(bodies)
    }
}

impl<'a, const D: usize> From<&'a LinearTree<D>> for Input<'a, D> {
    fn from(tree: &'a LinearTree<D>) -> Self {
        Self::within(tree)
    }
}

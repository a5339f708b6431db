//! What a search is among: one set of bodies, or two.

use jostle_core::{Bodies, InputError, LinearTree};

use crate::double::Set64;
use crate::layers::Layers;
use crate::pairing::{SPARSE, WALK};
use crate::periodic::Periodic;
use crate::sets::Meetings;
use crate::swept::Swept;

/// Bodies, or a tree that was built of them, and who of them may meet whom.
///
/// A view is sorted anew by each search. A tree, made by [`LinearTree::build`], serves as many searches as its bodies stay
/// where they are: walls, terrain, or a crowd that several others are to be tested against.
#[derive(Debug, Clone, Copy)]
pub struct Set<'a, const D: usize> {
    pub(crate) source: Source<'a, D>,
    pub(crate) layers: Option<Layers<'a>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a, const D: usize> {
    View(Bodies<'a, D>),
    Tree(&'a LinearTree<D>),
}

impl<'a, const D: usize> Set<'a, D> {
    /// Keeps only pairs that these layers let meet; of two sets, one without layers meets all.
    #[must_use]
    pub fn layers(self, layers: Layers<'a>) -> Self {
        Self { layers: Some(layers), ..self }
    }

    /// Number of bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.source {
            Source::View(bodies) => bodies.len(),
            Source::Tree(tree) => tree.len(),
        }
    }

    /// True when there is no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn check_layers(&self) -> Result<(), InputError> {
        self.layers.map_or(Ok(()), |layers| layers.check(self.len()))
    }

    pub(crate) fn check_shape(&self) -> Result<(), InputError> {
        match self.source {
            Source::View(bodies) => bodies.check_shape(),
            Source::Tree(_) => Ok(()),
        }
    }

    /// Whether lists of its pairs may be kept for a while.
    pub(crate) fn has_margin(&self) -> bool {
        match self.source {
            Source::View(bodies) => bodies.margin() > 0.0,
            Source::Tree(tree) => tree.margin() > 0.0,
        }
    }

    /// Bodies that a search has to look at in any case.
    pub(crate) fn sorted(&self) -> usize {
        match self.source {
            Source::View(bodies) => bodies.len(),
            Source::Tree(_) => 0,
        }
    }
}

impl<'a, const D: usize> From<Bodies<'a, D>> for Set<'a, D> {
    fn from(bodies: Bodies<'a, D>) -> Self {
        Self { source: Source::View(bodies), layers: None }
    }
}

impl<'a, const D: usize> From<&'a LinearTree<D>> for Set<'a, D> {
    fn from(tree: &'a LinearTree<D>) -> Self {
        Self { source: Source::Tree(tree), layers: None }
    }
}

/// What a search is among. Nobody needs to name it: views, trees, [`Set`]s, [`Periodic`], [`Swept`] and what [`between`]
/// gives all turn into it.
#[derive(Debug, Clone, Copy)]
pub struct Among<'a, const D: usize>(pub(crate) Sought<'a, D>);

#[derive(Debug, Clone, Copy)]
pub(crate) enum Sought<'a, const D: usize> {
    Within(Set<'a, D>),
    Between(Set<'a, D>, Set<'a, D>),
    Periodic(Periodic<'a, D>),
    Double(Set64<'a, D>),
    Swept(Swept<'a, D>),
}

/// The pairs `[a, b]` of a body a of the first set and a body b of the second, each by its id in its own set.
///
/// Costs what sorting the views costs, then about as much as the smaller set asks for: few bodies against a tree of many
/// are few queries.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, LinearTree, PairFinder, Threads, between};
///
/// let mut walls = LinearTree::new();
/// walls.build(Circles::new(&[0.0, 5.0], &[0.0, 0.0], 1.0), Threads::Current)?;
/// let mut finder = PairFinder::new();
/// let found = finder.find(between(Circles::new(&[4.5], &[0.0], 0.5), &walls))?;
/// assert_eq!(found.pairs(), [[0, 1]]);
/// # Ok::<(), jostle::InputError>(())
/// ```
#[must_use]
pub fn between<'a, const D: usize>(a: impl Into<Set<'a, D>>, b: impl Into<Set<'a, D>>) -> Among<'a, D> {
    Among(Sought::Between(a.into(), b.into()))
}

impl<const D: usize> Among<'_, D> {
    /// Bodies that decide whether several threads are worth calling.
    pub(crate) fn weight(&self) -> usize {
        match &self.0 {
            Sought::Within(set) => set.len(),
            Sought::Between(a, b) => a.sorted() + b.sorted() + joined(a.len(), b.len()),
            Sought::Periodic(periodic) => periodic.bodies.len(),
            Sought::Double(set) => set.bodies.len(),
            Sought::Swept(swept) => swept.bodies.len(),
        }
    }
}

impl<const D: usize> Among<'_, D> {
    /// Bodies that can move: those of trees cannot.
    pub(crate) fn moving(&self) -> usize {
        match &self.0 {
            Sought::Within(set) => set.sorted(),
            Sought::Between(a, b) => a.sorted() + b.sorted(),
            Sought::Periodic(periodic) => periodic.bodies.len(),
            Sought::Double(set) => set.bodies.len(),
            Sought::Swept(swept) => swept.bodies.len(),
        }
    }

    /// Whether lists of the pairs may be kept for a while.
    pub(crate) fn has_margin(&self) -> bool {
        match &self.0 {
            Sought::Within(set) => set.has_margin(),
            Sought::Between(a, b) => a.has_margin() || b.has_margin(),
            Sought::Periodic(periodic) => periodic.bodies.margin() > 0.0,
            Sought::Double(set) => set.bodies.margin() > 0.0,
            Sought::Swept(swept) => swept.bodies.margin() > 0.0,
        }
    }

    /// Checks all that can be checked without a look at each body, but for layers.
    pub(crate) fn check_shape(&self) -> Result<(), InputError> {
        match &self.0 {
            Sought::Within(set) => set.check_shape(),
            Sought::Between(a, b) => a.check_shape().and_then(|()| b.check_shape()),
            Sought::Periodic(periodic) => periodic.check_shape(),
            Sought::Double(set) => set.bodies.check_shape(),
            Sought::Swept(swept) => swept.check_shape(),
        }
    }
}

/// Bodies of one search whose work the join of two trees is worth.
fn joined(a: usize, b: usize) -> usize {
    let (few, many) = (a.min(b), a.max(b));
    if few.saturating_mul(SPARSE) < many { few.saturating_mul(WALK) } else { few }
}

/// As [`Among::weight`], of the meetings of many sets.
pub(crate) fn weight_among<const D: usize>(sets: &[Set<'_, D>], meetings: &Meetings) -> usize {
    let met = meetings.iter().filter_map(|(i, j)| {
        let (a, b) = (sets.get(i)?, sets.get(j)?);
        Some(if i == j { a.len() - a.sorted() } else { joined(a.len(), b.len()) })
    });
    sets.iter().map(Set::sorted).chain(met).sum()
}

impl<'a, const D: usize> From<Set<'a, D>> for Among<'a, D> {
    fn from(set: Set<'a, D>) -> Self {
        Self(Sought::Within(set))
    }
}

impl<'a, const D: usize> From<Bodies<'a, D>> for Among<'a, D> {
    fn from(bodies: Bodies<'a, D>) -> Self {
        Set::from(bodies).into()
    }
}

impl<'a, const D: usize> From<&'a LinearTree<D>> for Among<'a, D> {
    fn from(tree: &'a LinearTree<D>) -> Self {
        Set::from(tree).into()
    }
}

//! What a frame shows of a search, be it the engine's or another system's.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use jostle::{Circles, Found, InputError, LinearTree};
use jostle_classics::BroadPhase;

use crate::view::View;

/// The tree of a search.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tree<'a> {
    Plane(&'a LinearTree<2>),
    Space(&'a LinearTree<3>),
}

/// What a search has found, as [`Viewer::frame`](crate::Viewer::frame) shows it: with the tree of a [`Found`], or with
/// the cells of an [`OlderSystem`].
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    pub(crate) pairs: &'a [[u32; 2]],
    tree: Option<Tree<'a>>,
    heights: Option<&'a [f32]>,
    pub(crate) cells: Option<&'a dyn BroadPhase<2>>,
    pub(crate) tests: u64,
    pub(crate) bytes: usize,
    /// Times of the engine's stages. Another system builds in the third and finds in the fourth.
    pub(crate) times: [Duration; 4],
    /// A number that no other search has.
    pub(crate) number: u64,
}

impl<'a> Shown<'a> {
    /// Makes the bodies spheres, with these third coordinates in the order of the view. The page turns them.
    #[must_use]
    pub fn with_heights(self, z: &'a [f32]) -> Self {
        Self { heights: Some(z), ..self }
    }

    /// Takes this tree, of circles as they are shown: for a search that leaves no such tree, as one in 64 bits.
    #[must_use]
    pub fn with_tree(self, tree: &'a LinearTree<2>) -> Self {
        Self { tree: Some(Tree::Plane(tree)), number: tree.build_number(), ..self }
    }

    /// Takes the tree of a search of boxes as they are shown.
    #[must_use]
    pub fn with_tree_of(self, found: &Found<'a, 2>) -> Self {
        let Self { tree, number, .. } = Self::from(found);
        Self { tree, number, ..self }
    }

    /// The same as [`Shown::with_tree`], for spheres.
    #[must_use]
    pub fn with_tree_in_space(self, tree: &'a LinearTree<3>) -> Self {
        Self { tree: Some(Tree::Space(tree)), number: tree.build_number(), ..self }
    }

    /// The tree of these bodies, if the search has left one.
    pub(crate) fn tree_of(&self, view: View<'_>) -> Option<Tree<'a>> {
        // A tree of bodies of another shape says nothing of these bodies.
        let is_of_boxes = matches!(view, View::Boxes(_));
        self.tree.filter(|tree| match tree {
            Tree::Plane(tree) => {
                tree.len() == view.len() && tree.is_of_boxes() == is_of_boxes && self.heights.is_none()
            }
            Tree::Space(tree) => {
                tree.len() == view.len() && !tree.is_of_boxes() && self.heights.is_some() && !is_of_boxes
            }
        })
    }

    /// The third coordinates of these bodies, if they are spheres.
    pub(crate) fn heights_of(&self, view: View<'_>) -> Option<&'a [f32]> {
        self.heights.filter(|z| z.len() == view.len() && matches!(view, View::Circles(_)))
    }

    fn new<const D: usize>(found: &Found<'a, D>, tree: impl Fn(&'a LinearTree<D>) -> Tree<'a>) -> Self {
        let (stats, own) = (found.stats(), found.tree_of_boxes().unwrap_or(found.tree()));
        Self {
            pairs: found.pairs(),
            tree: Some(tree(own)),
            heights: None,
            cells: None,
            tests: stats.circle_tests,
            bytes: stats.bytes,
            times: stats.time.named().map(|(_, time)| time),
            number: own.build_number(),
        }
    }
}

impl<'a> From<&Found<'a, 2>> for Shown<'a> {
    fn from(found: &Found<'a, 2>) -> Self {
        Self::new(found, Tree::Plane)
    }
}

/// To be shown [with heights](Shown::with_heights).
impl<'a> From<&Found<'a, 3>> for Shown<'a> {
    fn from(found: &Found<'a, 3>) -> Self {
        Self::new(found, Tree::Space)
    }
}

/// The next number of a search by any older system. Trees count their numbers from 1 upwards, these numbers go
/// downwards.
static SEARCHES: AtomicU64 = AtomicU64::new(u64::MAX);

/// One of the systems that users come from, and what it has found last.
#[derive(Debug)]
pub struct OlderSystem {
    system: Box<dyn BroadPhase<2>>,
    pairs: Vec<[u32; 2]>,
    tests: u64,
    times: [Duration; 4],
    number: u64,
}

impl OlderSystem {
    /// A system that has found nothing yet.
    #[must_use]
    pub fn new(system: Box<dyn BroadPhase<2>>) -> Self {
        Self { system, pairs: Vec::new(), tests: 0, times: [Duration::ZERO; 4], number: 0 }
    }

    /// Finds every overlapping pair within a view, in an order of the system's own.
    ///
    /// # Errors
    /// Those of the engine's search, before any work; what was found before stays.
    pub fn find(&mut self, view: Circles<'_>) -> Result<&[[u32; 2]], InputError> {
        let start = Instant::now();
        self.system.update(view)?;
        self.times[2] = start.elapsed();
        let start = Instant::now();
        self.pairs.clear();
        self.tests = self.system.for_each_pair(&mut |pair| self.pairs.push(pair));
        self.times[3] = start.elapsed();
        self.number = SEARCHES.fetch_sub(1, Relaxed);
        Ok(&self.pairs)
    }

    /// The pairs found last.
    #[must_use]
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// How long the last search took.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.times.iter().sum()
    }
}

impl<'a> From<&'a OlderSystem> for Shown<'a> {
    fn from(older: &'a OlderSystem) -> Self {
        Self {
            pairs: &older.pairs,
            tree: None,
            heights: None,
            cells: Some(&*older.system),
            tests: older.tests,
            bytes: older.system.bytes() + older.pairs.capacity() * size_of::<[u32; 2]>(),
            times: older.times,
            number: older.number,
        }
    }
}

//! Results that a search hands out, borrowed from its finder.

use core::fmt;

use jostle_core::LinearTree;

use crate::finder::PairFinder;
use crate::pairs::stats::Stats;

/// A pair that a search has found, with all that is known of it: see [`PairFinder::for_each_hit`] and [`Found::hits`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit<const D: usize> {
    /// The numbers of the sets of the two bodies: 0 and 0 within one set, 0 and 1 between two.
    pub sets: [u32; 2],
    /// The ids of the two bodies; within a set, the lesser id comes first.
    pub pair: [u32; 2],
    /// How many of each cell vector move the second body so that it touches the first: see [`Found::image_shifts`].
    pub image_shift: [i32; D],
    /// When the bodies first touch, from 0 to 1, in a search of moving bodies: see [`Found::times_of_impact`].
    pub time_of_impact: Option<f64>,
}

/// The result of a search, borrowed from its finder.
#[derive(Clone, Copy)]
pub struct Found<'f, const D: usize> {
    pub(crate) finder: &'f PairFinder<D>,
}

impl<const D: usize> fmt::Debug for Found<'_, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Found")
            .field("pairs", &self.pairs().len())
            .field("bodies", &self.tree().len())
            .field("stats", self.stats())
            .finish_non_exhaustive()
    }
}

impl<'f, const D: usize> Found<'f, D> {
    /// Every overlapping pair once, as ids `[a, b]`. Within one set `a < b`, or `a == b` where space repeats and a body
    /// touches an image of itself; between two sets, a is of the first and b of the second. The order of the pairs
    /// depends on the input alone: not on the threads, the instruction set, or the build.
    #[must_use]
    pub fn pairs(&self) -> &'f [[u32; 2]] {
        self.finder.engine.pairs.pairs()
    }

    /// The id of the body at each rank of the tree's order, in which neighbours in space are neighbours. The ids are a
    /// permutation of 0..n, by which a simulation may sort its own arrays now and then. They are of the last search
    /// within a view of circles or spheres.
    #[must_use]
    pub fn rank_to_id(&self) -> impl DoubleEndedIterator<Item = u32> + Clone + use<'f, D> {
        self.tree().ids_without_images()
    }

    /// The tree of the last search within a view of circles or spheres. A search of boxes or capsules leaves this tree
    /// as it was.
    ///
    /// Queries and searches take it if the search was of bodies in `f32` at rest. Where space repeats, bodies stand in
    /// the cell. After a search in `f64` or of moving bodies, and where a [`CoherentFinder`](crate::CoherentFinder) has
    /// listed pairs with a margin, the tree holds stand-ins at other places, which serve for [`Found::rank_to_id`]
    /// alone: queries and searches refuse the tree then. Build a [`PreparedSet`](crate::PreparedSet) for them.
    #[must_use]
    pub fn tree(&self) -> &'f LinearTree<D> {
        self.finder.preparation.own_tree()
    }

    /// The tree of the last search, if that was a search within boxes: for pictures of the tree. Neither queries nor
    /// searches take it.
    #[doc(hidden)]
    #[must_use]
    pub fn tree_of_boxes(&self) -> Option<&'f LinearTree<D>> {
        self.finder.preparation.own_boxes()
    }

    /// The pairs `[a, b]` of sets i and j, a of the lesser of the two and b of the other, whichever is named first, with
    /// `a <= b` where the sets are the same. Empty when the sets do not meet.
    #[must_use]
    pub fn pairs_between(&self, i: usize, j: usize) -> &'f [[u32; 2]] {
        self.finder.listed.range(i, j).map_or(&[], |range| &self.finder.engine.pairs.pairs()[range])
    }

    /// For each pair, how many of each cell vector move the second body so that it touches the first: the difference of
    /// their centres is `xb + (S0 v0 + S1 v1 ..) - xa`. Empty unless the search was in a [`Space`](crate::Space) that
    /// repeats.
    ///
    /// A shift is computed when it is asked for, from the image at which its pair was found: the finder keeps a bit for
    /// each pair.
    #[must_use]
    pub fn image_shifts(&self) -> impl ExactSizeIterator<Item = [i32; D]> + Clone + use<'f, D> {
        self.finder.listed.shifts.iter(self.pairs())
    }

    /// The image shift of one pair, by its number in the list: see [`Found::image_shifts`]. O(log images).
    #[must_use]
    pub fn image_shift(&self, number: usize) -> Option<[i32; D]> {
        self.finder.listed.shifts.get(self.pairs(), number)
    }

    /// True when it was known, by the bounds of all bodies, that no two could touch at several images of the space that
    /// was searched. Then no two pairs differ in their image shifts alone.
    #[must_use]
    pub fn has_single_images(&self) -> bool {
        self.finder.listed.is_unique()
    }

    /// All pairs with what is known of each, in the order of the list: its sets, its image shift and its time of impact.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
    /// use jostle::{Circles, Hit, Input, PairFinder};
    ///
    /// let mut finder = PairFinder::new();
    /// let input = Input::within(Circles::new(&[0.2, 5.0, 9.9], &[0.0; 3], 0.25)).periodic([Some([0.0, 10.0]), None]);
    /// let hits: Vec<Hit<2>> = finder.find(input)?.hits().collect();
    /// assert_eq!(hits, [Hit { sets: [0, 0], pair: [0, 2], image_shift: [-1, 0], time_of_impact: None }]);
    /// # Ok::<(), jostle::InputError>(())
    /// ```
    pub fn hits(&self) -> impl ExactSizeIterator<Item = Hit<D>> + Clone + use<'f, D> {
        let ((meetings, ends), times, mut shifts) = (self.meetings(), self.times_of_impact(), self.image_shifts());
        let mut met = 0;
        self.pairs().iter().enumerate().map(move |(number, &pair)| {
            while ends.get(met).is_some_and(|&end| end <= number) {
                met += 1;
            }
            let (image_shift, time_of_impact) = (shifts.next().unwrap_or([0; D]), times.get(number).copied());
            Hit { sets: meetings[met], pair, image_shift, time_of_impact }
        })
    }

    /// Each two sets that met, ascending, and where their pairs end in the list. The end of the last two is left out.
    #[doc(hidden)]
    #[must_use]
    pub fn meetings(&self) -> (&'f [[u32; 2]], &'f [usize]) {
        self.finder.listed.meetings()
    }

    /// As [`Found::image_shifts`], in a slice; `None` where space does not repeat.
    #[doc(hidden)]
    #[must_use]
    pub fn image_shift_slice(&self) -> Option<&'f [[i32; D]]> {
        let listed = &self.finder.listed;
        listed.has_images().then(|| listed.shifts.slice(self.pairs()))
    }

    /// When the bodies of each pair first touch, from 0 to 1. Empty unless the search was of moving bodies
    /// ([`Set::moving`](crate::Set::moving)).
    #[must_use]
    pub fn times_of_impact(&self) -> &'f [f64] {
        &self.finder.listed.times
    }

    /// Statistics of the search.
    #[must_use]
    pub fn stats(&self) -> &'f Stats {
        self.finder.stats()
    }
}

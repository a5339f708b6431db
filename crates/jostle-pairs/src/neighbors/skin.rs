//! Verlet lists: whether a list that was made with a margin (a *skin*) still holds every pair.
//!
//! A body uses up its margin by moving and by growing (boxes and capsules: see `shapes`). While two bodies have not
//! used up the sum of their margins, their pair was listed if they overlap now. A list of two sets therefore holds
//! while the greatest use in the one set plus the greatest use in the other is at most the sum of the margins: see
//! `changes`.

mod changes;
mod kept;
mod shapes;

use core::fmt;
use std::sync::{Mutex, PoisonError};

use jostle_core::{Threads, Workers, threads::run};
use jostle_sets::compiled::compiled_here;
use jostle_sets::input::{Input, Set, Space};

use crate::InputError;
use changes::{Outcome, Width};
use kept::Kept;

/// The bodies of a Verlet list as they were when the list was made with a margin
/// ([`Bodies::with_margin`](jostle_core::Bodies::with_margin)): says how long the list can be kept. A
/// [`PairFinder`](crate::PairFinder) has a skin of its own; more skins serve several lists from one finder.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, Skin};
///
/// let (x, y) = ([0.0, 2.5], [0.0, 0.0]);
/// let mut skin = Skin::default();
/// skin.keep(Circles::new(&x, &y, 1.0).with_margin(0.5))?;
/// assert!(skin.still_valid(Circles::new(&[0.4, 2.1], &y, 1.0)));
/// assert!(!skin.still_valid(Circles::new(&[0.6, 2.5], &y, 1.0)));
/// # Ok::<(), jostle::InputError>(())
/// ```
#[derive(Clone, Default)]
pub struct Skin<const D: usize> {
    /// Number of sets; more may be there from before.
    count: usize,
    sets: Vec<Kept<D>>,
    /// Which sets meet, in ascending order.
    meetings: Vec<(usize, usize)>,
    space: Space<D>,
    /// Set in a finder of coherent frames, which keeps bodies itself.
    pub(crate) coherent: bool,
    outcomes: Spare,
}

/// Memory for the outcomes of sets. Whoever asks for outcomes takes the memory and puts it back; a clone has its own.
#[derive(Default)]
struct Spare(Mutex<Vec<Outcome>>);

impl Clone for Spare {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Spare {
    fn take(&self) -> Vec<Outcome> {
        core::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn put_back(&self, list: Vec<Outcome>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = list;
    }

    fn bytes(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).capacity() * size_of::<Outcome>()
    }
}

impl<const D: usize> fmt::Debug for Skin<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bodies = self.sets[..self.count].iter().map(Kept::len).sum::<usize>();
        f.debug_struct("Skin").field("sets", &self.count).field("bodies", &bodies).finish_non_exhaustive()
    }
}

impl<const D: usize> Skin<D> {
    /// Keeps these bodies in memory, in place of earlier ones: any bodies that can be searched, with a margin or
    /// without. A tree is not copied. O(n), on the current rayon pool.
    ///
    /// # Errors
    /// Slices that differ in length, a margin or a space that is not valid; the kept bodies stay.
    pub fn keep<'a>(&mut self, input: impl Into<Input<'a, D>>) -> Result<(), InputError> {
        let input = input.into();
        input.check_shape()?;
        run(Threads::Current, input.movable(), |workers| keep(self, &input, workers));
        Ok(())
    }

    /// True while every list of pairs or neighbours made of the kept bodies holds all pairs that there are now.
    ///
    /// That is so while each body has moved by at most its margin, the growth of its radius included. Of a capsule,
    /// that end counts which has moved farther; of a box, that side which has moved outwards the farthest: a box may
    /// move by its margin on each axis. Between two sets, the most that a body of the one and the most that a body of
    /// the other has used up may be as much as both margins together: it is enough to give one of the sets a margin.
    /// (Beside round bodies, what a box has moved beyond its margin counts 1.733 times, as its corners do.) The cost of
    /// rounding, some millionth of a radius, or of the coordinates of boxes, is taken off (in `f32` at least 1.1e-22).
    /// Where a margin is less than that, the bodies are valid only if all are the same as they were, or within what
    /// they were.
    ///
    /// Give the bodies as they were searched: a view as a view, with a margin or without, in the same precision; moving
    /// bodies as moving, where both ends of a path count; in the same [`Space`]. Another kind of search, another number
    /// of bodies or sets, or a tree that was built anew since is never valid. Where space repeats, a body may leave on
    /// one side and come in on the other, but then [`Found::image_shifts`] are no longer those of its pairs; it counts as
    /// moved by a cell if margins reach over half the height of the cell. Layers and tests are not looked at: a list
    /// holds the pairs that passed when it was made.
    ///
    /// O(n), on the current rayon pool; a tree costs nothing.
    ///
    /// [`Found::image_shifts`]: crate::Found::image_shifts
    #[must_use]
    pub fn still_valid<'a>(&self, input: impl Into<Input<'a, D>>) -> bool {
        let input = input.into();
        run(Threads::Current, input.movable(), |workers| is_still_valid(self, &input, workers))
    }

    /// Whether a search has the kept number of sets, meetings and space, whatever its bodies.
    pub(crate) fn is_of(&self, input: &Input<'_, D>) -> bool {
        input.check_shape().is_ok()
            && input.sets().len() == self.count
            && self.count > 0
            && self.space == input.space
            && input.meetings().eq(self.meetings.iter().copied())
    }

    /// Keeps which sets meet and in what space, but no bodies.
    pub(crate) fn keep_relation(&mut self, input: &Input<'_, D>) {
        self.keep_shape(input);
        self.sets.iter_mut().for_each(Kept::forget);
    }

    /// No search is valid until bodies are kept again.
    pub(crate) fn forget(&mut self) {
        self.count = 0;
    }

    fn keep_shape(&mut self, input: &Input<'_, D>) {
        self.count = input.sets().len();
        self.sets.resize_with(self.count.max(self.sets.len()), Kept::default);
        self.meetings.clear();
        self.meetings.extend(input.meetings());
        self.space = input.space;
    }

    pub(crate) fn keep_on(&mut self, input: &Input<'_, D>, workers: Workers<'_>) {
        self.keep_shape(input);
        self.sets.iter_mut().zip(input.sets()).for_each(|(kept, set)| kept.keep(set, workers));
    }

    /// By how much more than its margin a body has moved, at most; of two bodies that meet, the mean counts. A list
    /// holds while the result is not above 0. `None` for other bodies than the kept ones, or for another search.
    pub(crate) fn excess(&self, input: &Input<'_, D>, workers: Workers<'_>) -> Option<f64> {
        if !self.is_of(input) {
            return None;
        }
        let (sets, width) = (input.sets(), self.width(input));
        let compare = |(kept, set): (&Kept<D>, &Set<'_, D>)| kept.compare(set, &width, workers);
        match (self.sets.as_slice(), sets) {
            ([kept, ..], [set]) => {
                let outcome = compare((kept, set));
                outcome.excess_with(outcome)
            }
            ([one, other, ..], [a, b]) if self.meetings == [(0, 1)] => {
                compare((one, a)).excess_with(compare((other, b)))
            }
            _ => {
                let mut outcomes = self.outcomes.take();
                outcomes.clear();
                outcomes.extend(self.sets.iter().zip(sets).map(compare));
                let none = Some(f64::NEG_INFINITY);
                let of_all = outcomes.iter().fold(none, |all, one| all.and(one.excess_with(*one)).and(all));
                let of_meeting = |&(i, j): &(usize, usize)| outcomes[i].excess_with(outcomes[j]);
                let excess = self.meetings.iter().fold(of_all, |all, meeting| Some(all?.max(of_meeting(meeting)?)));
                self.outcomes.put_back(outcomes);
                excess
            }
        }
    }

    fn width(&self, input: &Input<'_, D>) -> Width<D> {
        let widest = self.sets[..self.count].iter().map(Kept::margin).fold(0.0, f64::max);
        let margins = if self.count == 1 { widest } else { 2.0 * widest };
        Width::of(&self.space, input.is_decided(), margins)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.sets.iter().map(Kept::bytes).sum::<usize>()
            + self.sets.capacity() * size_of::<Kept<D>>()
            + self.meetings.capacity() * size_of::<(usize, usize)>()
            + self.outcomes.bytes()
    }
}

compiled_here! {
    fn keep<const D: usize>(skin: &mut Skin<D>, input: &Input<'_, D>, workers: Workers<'_>) {
        skin.keep_on(input, workers);
    }

    /// [`Skin::still_valid`] on some workers.
    pub(crate) fn is_still_valid<const D: usize>(skin: &Skin<D>, input: &Input<'_, D>, workers: Workers<'_>) -> bool {
        skin.excess(input, workers).is_some_and(|excess| excess <= 0.0)
    }

    /// [`PairFinder::spent`](crate::PairFinder::spent) on some workers.
    pub(crate) fn spent<const D: usize>(skin: &Skin<D>, input: &Input<'_, D>, workers: Workers<'_>) -> [f64; 3] {
        if !skin.is_of(input) || skin.count > 2 {
            return Outcome::LOST.spent_with(Outcome::LOST);
        }
        let width = skin.width(input);
        let outcome = |at: usize| skin.sets[at].compare(&input.sets()[at], &width, workers);
        let first = outcome(0);
        first.spent_with(if skin.count == 1 { first } else { outcome(1) })
    }
}

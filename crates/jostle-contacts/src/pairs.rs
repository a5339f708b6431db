//! The pairs that contacts are made of, with their sets and image shifts.

use core::fmt;
use core::ops::Range;

use crate::error::ContactError;
use jostle_pairs::Found;

/// The pairs of a frame: those of a search, with their sets and their image shifts, or a slice of the caller's.
///
/// A [`Found`] and a slice of pairs convert into it.
#[derive(Clone, Copy)]
pub struct ContactPairs<'p> {
    pub(crate) pairs: &'p [[u32; 2]],
    pub(crate) images: Images<'p>,
    /// Whether no two images of a body can touch the same other body, so that shifts tell no contacts apart.
    unique: bool,
    pub(crate) meetings: Option<Meetings<'p>>,
}

/// The image shift of each pair.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Images<'p> {
    /// Flat, `axes` numbers for each pair. Without shifts it is empty, and `axes` is 0.
    pub(crate) shifts: &'p [i32],
    pub(crate) axes: usize,
}

/// The sets of a list's pairs: each part of the list is of one pair of sets.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Meetings<'p> {
    /// The numbers of the two sets of each part, ascending.
    pub(crate) sets: &'p [[u32; 2]],
    /// Where each part ends; the last part ends with the list.
    pub(crate) ends: &'p [usize],
}

impl<'p> Meetings<'p> {
    /// All pairs are within one set.
    pub(crate) const WITHIN: Self = Self { sets: &[[0, 0]], ends: &[] };
    /// All pairs are between two sets.
    pub(crate) const BETWEEN: Self = Self { sets: &[[0, 1]], ends: &[] };

    /// Cuts a range of pairs where the sets change. Yields each part with its two sets.
    pub(crate) fn parts(self, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, [u32; 2])> + use<'p> {
        let (Self { sets, ends }, Range { mut start, end }) = (self, range);
        let mut meeting = ends.partition_point(|&end| end <= start);
        core::iter::from_fn(move || {
            if start >= end {
                return None;
            }
            while ends.get(meeting).is_some_and(|&end| end <= start) {
                meeting += 1;
            }
            let range = start..ends.get(meeting).map_or(end, |&last| last.min(end));
            start = range.end;
            Some((range, sets[meeting]))
        })
    }
}

impl<'p> Images<'p> {
    fn of<const D: usize>(shifts: &'p [[i32; D]]) -> Self {
        Self { shifts: shifts.as_flattened(), axes: D }
    }

    /// Returns the shift of one pair; nothing where there are no shifts.
    #[inline(always)]
    pub(crate) fn get(self, at: usize) -> &'p [i32] {
        &self.shifts[at * self.axes..(at + 1) * self.axes]
    }
}

impl fmt::Debug for ContactPairs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContactPairs")
            .field("pairs", &self.pairs.len())
            .field("image_shifts", &(self.images.axes > 0))
            .field("sets", &self.meetings.map(|meetings| meetings.sets.len()))
            .finish_non_exhaustive()
    }
}

impl<'p> ContactPairs<'p> {
    /// Adds the image shift of each pair, as [`Found::image_shifts`] has it. The shifts then tell apart contacts of the
    /// same two bodies at several images.
    ///
    /// If you move bodies back into the cell between frames, give the shifts of coordinates that were never moved back.
    /// These are `S + n(a) - n(b)`, with `S` the shift of the pair, and `n` the number of cells by which each body has
    /// been moved back.
    #[must_use]
    pub fn with_image_shifts<const D: usize>(self, shifts: &'p [[i32; D]]) -> Self {
        Self { images: Images::of(shifts), unique: false, ..self }
    }

    /// Says that no two bodies touch at several images, as [`Found::has_single_images`] does: keys alone then tell
    /// contacts apart, and shifts only where the other frame needs them.
    #[doc(hidden)]
    #[must_use]
    pub fn with_single_images(self, single: bool) -> Self {
        Self { unique: single, ..self }
    }

    /// Adds the sets of the pairs, which a [`Found`] knows by itself. Pairs of `sets[0]`, the lesser number first, end
    /// at `ends[0]`, pairs of `sets[1]` at `ends[1]`, and pairs of the last two sets with the list, so that there is
    /// one end less than sets.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_contacts::*; pub use jostle_pairs::*; }
    /// use jostle::{ContactPairs, ContactTracker, Keys};
    ///
    /// let (pairs, mut tracker) = ([[0, 1], [0, 0]], ContactTracker::new());
    /// let pairs = ContactPairs::from(&pairs).with_sets(&[[0, 0], [0, 1]], &[1]);
    /// let changes = tracker.update(pairs, Keys::Among(&[&[7, 5], &[9]]))?;
    /// assert_eq!(changes.begin().keys(), [[5, 7], [7, 9]]);
    /// # Ok::<(), jostle::ContactError>(())
    /// ```
    ///
    /// # Panics
    /// When `sets` or `ends` do not ascend, an end goes beyond the list, or their numbers do not fit.
    #[must_use]
    pub fn with_sets(self, sets: &'p [[u32; 2]], ends: &'p [usize]) -> Self {
        let (ordered, len) = (sets.iter().all(|[i, j]| i <= j), self.pairs.len());
        assert!(ordered && sets.is_sorted_by(|a, b| a < b), "sets do not ascend: {sets:?}");
        assert!(ends.is_sorted() && ends.last().is_none_or(|&end| end <= len), "ends of {len} pairs: {ends:?}");
        assert_eq!(ends.len(), sets.len().saturating_sub(1), "there is one end less than sets");
        assert!(!sets.is_empty() || len == 0, "{len} pairs of no sets");
        Self { meetings: Some(Meetings { sets, ends }), ..self }
    }

    /// Returns whether shifts tell contacts apart.
    pub(crate) fn by_image(&self) -> bool {
        self.images.axes > 0 && !self.unique
    }

    pub(crate) fn check_shifts(&self) -> Result<(), ContactError> {
        let Images { shifts, axes } = self.images;
        if shifts.len() == self.pairs.len() * axes {
            return Ok(());
        }
        Err(ContactError::ImageShifts { pairs: self.pairs.len(), image_shifts: shifts.len() / axes.max(1) })
    }

    /// Returns the sets of the pairs, each checked to be one of `sets`. Pairs that do not say their sets get `alone`,
    /// if given.
    pub(crate) fn meetings(&self, alone: Option<Meetings<'p>>, sets: usize) -> Result<Meetings<'p>, ContactError> {
        let meetings = self.meetings.or(alone).ok_or(ContactError::Sets { sets: None, given: sets })?;
        let stranger = |of: &&[u32; 2]| of.iter().any(|&set| set as usize >= sets);
        match meetings.sets.iter().find(stranger) {
            Some(&of) => Err(ContactError::Sets { sets: Some(of), given: sets }),
            None => Ok(meetings),
        }
    }
}

impl<'p> From<&'p [[u32; 2]]> for ContactPairs<'p> {
    fn from(pairs: &'p [[u32; 2]]) -> Self {
        Self { pairs, images: Images::default(), unique: true, meetings: None }
    }
}

impl<'p> From<&'p Vec<[u32; 2]>> for ContactPairs<'p> {
    fn from(pairs: &'p Vec<[u32; 2]>) -> Self {
        pairs.as_slice().into()
    }
}

impl<'p, const N: usize> From<&'p [[u32; 2]; N]> for ContactPairs<'p> {
    fn from(pairs: &'p [[u32; 2]; N]) -> Self {
        pairs.as_slice().into()
    }
}

impl<'p, const D: usize> From<Found<'p, D>> for ContactPairs<'p> {
    fn from(found: Found<'p, D>) -> Self {
        let (sets, ends) = found.meetings();
        let images = found.image_shift_slice().map_or_else(Images::default, Images::of);
        let meetings = Some(Meetings { sets, ends });
        Self { images, unique: found.has_single_images(), meetings, ..found.pairs().into() }
    }
}

//! The pairs that contacts are made of, with what is known of them.

use core::fmt;

use super::error::ContactError;
use super::keys::Keys;
use crate::finder::found::Found;

/// The pairs of a frame: those of a search, with their sets and their image shifts, or a slice of the caller's.
///
/// Made from a [`Found`], or from a slice of pairs, wherever it is asked for.
#[derive(Clone, Copy)]
pub struct ContactPairs<'p> {
    pub(super) pairs: &'p [[u32; 2]],
    pub(super) images: Images<'p>,
    /// No two images of a body can touch the same other one, so that shifts tell nothing apart.
    unique: bool,
    pub(super) meetings: Option<Meetings<'p>>,
}

/// The image shift of each pair.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Images<'p> {
    /// Flat, `axes` numbers for each pair; none where there are no shifts, and then no axes.
    pub(super) shifts: &'p [i32],
    pub(super) axes: usize,
}

/// Of which sets pairs are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meetings<'p> {
    /// The numbers of two sets, ascending.
    pub(super) sets: &'p [[u32; 2]],
    /// Where the pairs of each two sets end; those of the last two end with the list.
    pub(super) ends: &'p [usize],
}

const WITHIN: Meetings<'_> = Meetings { sets: &[[0, 0]], ends: &[] };
const BETWEEN: Meetings<'_> = Meetings { sets: &[[0, 1]], ends: &[] };

impl<'p> Images<'p> {
    fn of<const D: usize>(shifts: &'p [[i32; D]]) -> Self {
        Self { shifts: shifts.as_flattened(), axes: D }
    }

    /// The shift of one pair; nothing where there are none.
    #[inline(always)]
    pub(super) fn get(self, at: usize) -> &'p [i32] {
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
    /// The image shift of each pair, as [`Found::image_shifts`] has it: contacts of the same two bodies at several images are
    /// then told apart by it.
    ///
    /// Who moves bodies back into the cell between frames gives shifts of coordinates that were never moved back: with `n` the
    /// number of cells by which each body has been, those are `S + n(a) - n(b)`.
    #[must_use]
    pub fn with_image_shifts<const D: usize>(self, shifts: &'p [[i32; D]]) -> Self {
        Self { images: Images::of(shifts), unique: false, ..self }
    }

    /// Whether shifts tell contacts apart.
    pub(super) fn by_image(&self) -> bool {
        self.images.axes > 0 && !self.unique
    }

    pub(super) fn check_shifts(&self) -> Result<(), ContactError> {
        let Images { shifts, axes } = self.images;
        if shifts.len() == self.pairs.len() * axes {
            return Ok(());
        }
        Err(ContactError::ImageShifts { pairs: self.pairs.len(), image_shifts: shifts.len() / axes.max(1) })
    }

    /// Of which sets the pairs are, if their keys are these.
    pub(super) fn meetings(&self, keys: Keys<'_>) -> Result<Meetings<'p>, ContactError> {
        let stranger = |sets: &&[u32; 2]| sets.iter().any(|&set| set as usize >= keys.groups());
        match (self.meetings, keys) {
            (Some(meetings), _) => match meetings.sets.iter().find(stranger) {
                Some(&sets) => Err(ContactError::Sets { sets: Some(sets), given: keys.groups() }),
                None => Ok(meetings),
            },
            (None, Keys::Within(_)) => Ok(WITHIN),
            (None, Keys::Between(..)) => Ok(BETWEEN),
            (None, Keys::Among(_)) => Err(ContactError::Sets { sets: None, given: keys.groups() }),
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
        let listed = &found.finder.listed;
        let (sets, ends) = listed.meetings();
        let shifts = found.image_shifts();
        let images = if listed.has_images() { Images::of(shifts) } else { Images::default() };
        let meetings = Some(Meetings { sets, ends });
        Self { images, unique: listed.is_unique(), meetings, ..found.pairs().into() }
    }
}

//! The pairs of a frame with their image shifts, their sets and the keys of their bodies.

use core::ops::Range;

use crate::keys::{GroupKeys, Keys};
use crate::pairs::{Images, Meetings};
use crate::table::mix;
use jostle_core::axes::Both;

/// Pairs that one task looks at.
pub(crate) const PAIRS_A_BLOCK: usize = 1 << 11;

/// The pairs of a frame, and what their contacts are known by.
#[derive(Clone, Copy)]
pub(crate) struct KeyedPairs<'f> {
    pub(crate) pairs: &'f [[u32; 2]],
    pub(crate) images: Images<'f>,
    /// Whether image shifts tell contacts of the same two bodies apart.
    pub(crate) by_image: bool,
    pub(crate) meetings: Meetings<'f>,
    /// Whether keys were given as [`Keys::Among`].
    pub(crate) among: bool,
    pub(crate) keys: KeysOf<'f>,
}

/// The keys of each set.
#[derive(Clone, Copy)]
pub(crate) enum KeysOf<'f> {
    /// The keys of this frame.
    Now(Keys<'f>),
    /// The keys of the last frame.
    Last(&'f [GroupKeys]),
}

impl<'f> KeysOf<'f> {
    /// The number of sets.
    pub(crate) fn sets(self) -> usize {
        match self {
            Self::Now(keys) => keys.groups(),
            Self::Last(sides) => sides.len(),
        }
    }

    /// Returns the keys of one set.
    #[inline]
    pub(crate) fn of(self, set: usize) -> &'f [u64] {
        match self {
            Self::Now(keys) => keys.group(set),
            Self::Last(sides) => sides[set].last(),
        }
    }
}

/// Successive pairs of the same two sets.
#[derive(Clone)]
pub(crate) struct Part<'f> {
    pub(crate) range: Range<usize>,
    pub(crate) sets: [u32; 2],
    keys: [&'f [u64]; 2],
}

impl Part<'_> {
    /// Returns whether both bodies of each pair are of the same set.
    #[inline(always)]
    pub(crate) fn is_within(&self) -> bool {
        self.sets[0] == self.sets[1]
    }

    /// Returns how many ids the first and the second body of a pair may have.
    #[inline(always)]
    pub(crate) fn ids(&self) -> [usize; 2] {
        self.keys.map(<[u64]>::len)
    }

    /// Returns the two keys by which the contact of a pair is known.
    #[inline(always)]
    pub(crate) fn contact(&self, [a, b]: [u32; 2]) -> [u64; 2] {
        let (a, b) = (self.keys[0][a as usize], self.keys[1][b as usize]);
        if self.is_within() { [a.min(b), a.max(b)] } else { [a, b] }
    }
}

impl<'f> KeyedPairs<'f> {
    /// Returns the number of tasks that the pairs are cut into.
    pub(crate) fn blocks(&self) -> usize {
        self.pairs.len().div_ceil(PAIRS_A_BLOCK)
    }

    /// Returns the places of the pairs of one task; none beyond the last task.
    pub(crate) fn block(&self, block: usize) -> Range<usize> {
        let len = self.pairs.len();
        (block * PAIRS_A_BLOCK).min(len)..((block + 1) * PAIRS_A_BLOCK).min(len)
    }

    /// Returns whether a pair is of a body and another image of the same body, which may touch.
    #[cold]
    pub(crate) fn is_image_of_itself(&self, at: usize) -> bool {
        let [a, b] = self.pairs[at];
        a == b && self.by_image && self.images.get(at).iter().any(|&step| step != 0)
    }

    /// Returns the image of a pair; `itself` says that both bodies are the same.
    #[inline(always)]
    pub(crate) fn image(&self, at: usize, itself: bool) -> Image<'f> {
        Image::of_pair(self.images.get(at), itself, false)
    }

    /// Cuts a range of pairs into parts where the sets change.
    pub(crate) fn parts(&self, range: Range<usize>) -> impl Iterator<Item = Part<'f>> + use<'f> {
        let keys = self.keys;
        self.meetings.parts(range).map(move |(range, sets)| Part {
            range,
            sets,
            keys: sets.both(|set| keys.of(set as usize)),
        })
    }
}

/// The image at which the second body of a pair is, seen from the first.
#[derive(Clone, Copy)]
pub(crate) struct Image<'f> {
    shift: &'f [i32],
    /// Whether all steps count with the other sign.
    opposite: bool,
}

impl<'f> Image<'f> {
    /// Returns the image of a pair of bodies; `swapped` says that the two were swapped. A body meets one of its images
    /// and the opposite image alike: of these two, the image whose last step other than 0 is positive stands for both.
    #[inline(always)]
    pub(crate) fn of_pair(shift: &'f [i32], itself: bool, swapped: bool) -> Self {
        let backward = || shift.iter().rev().find(|&&step| step != 0).is_some_and(|&step| step < 0);
        Self { shift, opposite: if itself { backward() } else { swapped } }
    }

    #[inline(always)]
    pub(crate) fn steps(self) -> impl Iterator<Item = i32> + use<'f> {
        self.shift.iter().map(move |&step| if self.opposite { step.wrapping_neg() } else { step })
    }

    /// Whether both are the same image.
    #[inline(always)]
    pub(crate) fn is(self, other: Self) -> bool {
        self.steps().eq(other.steps())
    }

    /// Returns a hash, to be mixed with what else identifies a pair.
    #[inline(always)]
    pub(crate) fn hash(self) -> u64 {
        self.steps().fold(0, |hash, step| mix(hash ^ u64::from(step as u32)).rotate_left(7))
    }
}

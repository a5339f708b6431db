//! The pairs of a frame, what tells them apart, and the keys of their bodies.

use core::ops::Range;

use crate::keys::{GroupKeys, Keys};
use crate::pairs::{Images, Meetings};
use crate::table::mix;
use jostle_core::axes::Both;

/// Pairs that one task looks at.
pub(crate) const PAIRS_A_BLOCK: usize = 1 << 11;

/// See the top of this file.
#[derive(Clone, Copy)]
pub(crate) struct KeyedPairs<'f> {
    pub(crate) pairs: &'f [[u32; 2]],
    pub(crate) images: Images<'f>,
    /// Whether image shifts tell contacts of the same two bodies apart.
    pub(crate) by_image: bool,
    pub(crate) meetings: Meetings<'f>,
    /// Keys were given for many sets.
    pub(crate) among: bool,
    pub(crate) keys: KeysOf<'f>,
}

/// The keys of each set.
#[derive(Clone, Copy)]
pub(crate) enum KeysOf<'f> {
    /// Of this frame.
    Now(Keys<'f>),
    /// Of the last one.
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

    /// Those of one set.
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
    /// Both bodies of a pair are of one set.
    #[inline(always)]
    pub(crate) fn is_within(&self) -> bool {
        self.sets[0] == self.sets[1]
    }

    /// How many ids the first and the second body of a pair may have.
    #[inline(always)]
    pub(crate) fn ids(&self) -> [usize; 2] {
        self.keys.map(<[u64]>::len)
    }

    /// The contact of a pair.
    #[inline(always)]
    pub(crate) fn contact(&self, [a, b]: [u32; 2]) -> [u64; 2] {
        let (a, b) = (self.keys[0][a as usize], self.keys[1][b as usize]);
        if self.is_within() { [a.min(b), a.max(b)] } else { [a, b] }
    }
}

impl<'f> KeyedPairs<'f> {
    /// Number of tasks that the pairs are cut into.
    pub(crate) fn blocks(&self) -> usize {
        self.pairs.len().div_ceil(PAIRS_A_BLOCK)
    }

    /// The pairs of one task; none beyond the last.
    pub(crate) fn block(&self, block: usize) -> Range<usize> {
        let len = self.pairs.len();
        (block * PAIRS_A_BLOCK).min(len)..((block + 1) * PAIRS_A_BLOCK).min(len)
    }

    /// Whether a pair is of a body and another image of it, which may touch.
    #[cold]
    pub(crate) fn is_image_of_itself(&self, at: usize) -> bool {
        let [a, b] = self.pairs[at];
        a == b && self.by_image && self.images.get(at).iter().any(|&step| step != 0)
    }

    /// The image of a pair, of a body and itself or of others.
    #[inline(always)]
    pub(crate) fn image(&self, at: usize, itself: bool) -> Image<'f> {
        Image::of_pair(self.images.get(at), itself, false)
    }

    /// Some pairs, cut where they are of other sets.
    pub(crate) fn parts(&self, range: Range<usize>) -> impl Iterator<Item = Part<'f>> + use<'f> {
        let keys = self.keys;
        self.meetings.parts(range).map(move |(range, sets)| Part {
            range,
            sets,
            keys: sets.both(|set| keys.of(set as usize)),
        })
    }
}

/// At which image the second body of a pair is, from the first.
#[derive(Clone, Copy)]
pub(crate) struct Image<'f> {
    shift: &'f [i32],
    /// All steps count with the other sign.
    opposite: bool,
}

impl<'f> Image<'f> {
    /// That of a pair of bodies, which have been swapped or not. A body meets its image and the opposite one alike: of these,
    /// it is the one whose last step other than 0 is positive.
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

    /// To be mixed with what else is known of a pair.
    #[inline(always)]
    pub(crate) fn hash(self) -> u64 {
        self.steps().fold(0, |hash, step| mix(hash ^ u64::from(step as u32)).rotate_left(7))
    }
}

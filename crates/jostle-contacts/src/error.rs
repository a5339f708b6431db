//! The errors of contacts: what is wrong, and with which pairs, keys or bodies.

use core::fmt;

use jostle_core::ViewError;
use jostle_core::input::MAX_BODIES;

use crate::table::MAX_PAIRS;
use jostle_sets::InputError;

/// Why pairs, their keys, or their bodies were refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ContactError {
    /// Bodies of the input are outside the contract of a search.
    Bodies(InputError),
    /// More pairs than a tracker can number.
    TooManyPairs {
        /// The number of pairs given.
        pairs: usize,
    },
    /// More keys than ids can name.
    TooManyKeys {
        /// The number of keys given.
        keys: usize,
    },
    /// Image shifts that are not one for each pair, or none where space repeats.
    ImageShifts {
        /// The number of pairs.
        pairs: usize,
        /// The number of image shifts.
        image_shifts: usize,
    },
    /// Image shifts where space does not repeat.
    OpenSpace,
    /// Pairs of sets that were not given, or pairs that do not say their sets.
    Sets {
        /// The sets of the first pairs at fault; `None` where the pairs do not say their sets.
        sets: Option<[u32; 2]>,
        /// The number of sets whose keys, or whose bodies, were given.
        given: usize,
    },
    /// Ids with the key of an earlier id of the same group.
    Keys {
        /// The number of the group, from 0.
        group: u32,
        /// How many ids have the key of an earlier one.
        count: usize,
        /// The first 16 of these ids, each with its key.
        first: Vec<RepeatedKey>,
    },
    /// Pairs that name no two bodies, or the same two as an earlier pair.
    Pairs {
        /// How many pairs are at fault.
        count: usize,
        /// The first 16 of these pairs, in the order of the list.
        first: Vec<BadPair>,
    },
}

impl fmt::Display for ContactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bodies(inner) => inner.fmt(f),
            Self::TooManyPairs { pairs } => write!(
                f,
                "{pairs} pairs are too many: at most {MAX_PAIRS} fit; give each of several trackers a part of the \
                 bodies"
            ),
            Self::TooManyKeys { keys } => write!(
                f,
                "{keys} keys are too many: at most {MAX_BODIES} fit; give each of several trackers a part of the bodies"
            ),
            Self::ImageShifts { pairs, image_shifts } => write!(
                f,
                "{image_shifts} image shifts were given for {pairs} pairs: give one for each, by what `find` returned \
                 of this input (a search in open space has none) or by `ContactPairs::with_image_shifts`"
            ),
            Self::OpenSpace => f.write_str(
                "image shifts were given, but the space is open: give the input as it was searched, with its space",
            ),
            Self::Sets { sets, given } => sets_message(*sets, *given).fmt(f),
            Self::Keys { group, count, first } => {
                let keys = if *count == 1 { "key" } else { "keys" };
                write!(f, "{count} repeated {keys} of set {group} refused: {}", Listed { count: *count, first })
            }
            Self::Pairs { count, first } => {
                let pairs = if *count == 1 { "pair" } else { "pairs" };
                write!(f, "{count} {pairs} refused: {}", Listed { count: *count, first })
            }
        }
    }
}

impl core::error::Error for ContactError {}

impl From<InputError> for ContactError {
    fn from(refused: InputError) -> Self {
        Self::Bodies(refused)
    }
}

impl From<ViewError> for ContactError {
    fn from(refused: ViewError) -> Self {
        Self::Bodies(refused.into())
    }
}

/// An id with the key of an earlier id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepeatedKey {
    /// The id.
    pub id: u32,
    /// Its key.
    pub key: u64,
}

impl fmt::Display for RepeatedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, key } = self;
        write!(f, "id {id} has key {key}")
    }
}

impl core::error::Error for RepeatedKey {}

/// A pair at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadPair {
    /// Its place in the list of pairs.
    pub at: usize,
    /// The pair.
    pub pair: [u32; 2],
    /// Its first fault.
    pub fault: PairFault,
}

impl fmt::Display for BadPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, pair, fault } = self;
        write!(f, "pair {at} is {pair:?}: {fault}")
    }
}

impl core::error::Error for BadPair {}

/// What is wrong with one pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PairFault {
    /// An id without a body, or without a key.
    NoSuchId {
        /// The id.
        id: u32,
        /// How many ids there are.
        ids: usize,
    },
    /// Within one group, the first id is not the lesser.
    NotAscending,
    /// The pair is of a body with itself, and not at another image.
    Itself,
    /// An earlier pair is the same.
    Repeated,
}

impl fmt::Display for PairFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchId { id, ids } => write!(f, "id {id} is beyond the last of {ids}"),
            Self::NotAscending => f.write_str("the first id is not the lesser"),
            Self::Itself => f.write_str("a body does not touch itself but at another image"),
            Self::Repeated => f.write_str("repeated"),
        }
    }
}

impl core::error::Error for PairFault {}

impl PairFault {
    /// Returns what is wrong with the ids of a pair, if anything.
    pub(crate) fn of([a, b]: [u32; 2], [ids_of_a, ids_of_b]: [usize; 2]) -> Option<Self> {
        let beyond = |id: u32, ids| (id as usize >= ids).then_some(Self::NoSuchId { id, ids });
        beyond(a, ids_of_a).or_else(|| beyond(b, ids_of_b))
    }
}

fn sets_message(sets: Option<[u32; 2]>, given: usize) -> String {
    match sets {
        Some([i, j]) => format!("there are pairs of sets {i} and {j}, but {given} sets were given"),
        None => {
            format!("of {given} sets, pairs have to say which they are of: give what `find` returned, not its pairs")
        }
    }
}

struct Listed<'a, T> {
    count: usize,
    first: &'a [T],
}

impl<T: fmt::Display> fmt::Display for Listed<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, offender) in self.first.iter().enumerate() {
            write!(f, "{}{offender}", if i == 0 { "" } else { "; " })?;
        }
        if self.count > self.first.len() { write!(f, "; ...") } else { Ok(()) }
    }
}

/// What is wrong with the keys of one group.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KeyFault {
    TooMany,
    Repeated,
}

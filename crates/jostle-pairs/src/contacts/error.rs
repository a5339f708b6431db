//! What is wrong with pairs or keys, and with which of them.

use core::fmt;

use jostle_core::ViewError;
use jostle_core::input::MAX_BODIES;

use super::table::MAX_PAIRS;
use crate::InputError;

/// Why pairs, their keys, or their bodies were refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContactError {
    /// The bodies that the pairs are of are outside the contract of a search.
    #[error(transparent)]
    Bodies(#[from] InputError),
    /// More pairs than a tracker can number.
    #[error("{pairs} pairs are too many: at most {MAX_PAIRS} fit; give each of several trackers a part of the bodies")]
    TooManyPairs {
        /// The number of pairs given.
        pairs: usize,
    },
    /// More keys than ids can name.
    #[error("{keys} keys are too many: at most {MAX_BODIES} fit; give each of several trackers a part of the bodies")]
    TooManyKeys {
        /// The number of keys given.
        keys: usize,
    },
    /// Not one image shift for each pair, or none where space repeats.
    #[error(
        "{image_shifts} image shifts were given for {pairs} pairs: give one for each, by what `find` returned or by \
         `ContactPairs::with_image_shifts`"
    )]
    ImageShifts {
        /// The number of pairs.
        pairs: usize,
        /// The number of image shifts.
        image_shifts: usize,
    },
    /// Image shifts where space does not repeat.
    #[error("image shifts were given, but the space is open: give the input as it was searched, with its space")]
    OpenSpace,
    /// Pairs of sets that are not those given.
    #[error("{}", sets_message(*sets, *given))]
    Sets {
        /// The sets of the first pairs at fault, if it is known of which sets pairs are.
        sets: Option<[u32; 2]>,
        /// The number of sets whose keys, or whose bodies, were given.
        given: usize,
    },
    /// Ids whose key an earlier id of the group has too.
    #[error("{count} repeated keys in group {group} refused: {}", Listed { count: *count, first })]
    Keys {
        /// The number of the group, from 0.
        group: u32,
        /// How many ids have the key of an earlier one.
        count: usize,
        /// The first 16 of them, each with its key.
        first: Vec<RepeatedKey>,
    },
    /// Pairs that name no two bodies, or the same two as an earlier pair.
    #[error("{count} pairs refused: {}", Listed { count: *count, first })]
    Pairs {
        /// How many pairs are at fault.
        count: usize,
        /// The first 16 of them in the order of the list.
        first: Vec<BadPair>,
    },
}

impl From<ViewError> for ContactError {
    fn from(refused: ViewError) -> Self {
        Self::Bodies(refused.into())
    }
}

/// An id whose key an earlier id has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("id {id} has key {key}")]
pub struct RepeatedKey {
    /// The id.
    pub id: u32,
    /// Its key.
    pub key: u64,
}

/// A pair at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("pair {at} is {pair:?}: {fault}")]
pub struct BadPair {
    /// Its place in the list of pairs.
    pub at: usize,
    /// The pair.
    pub pair: [u32; 2],
    /// Its first fault.
    pub fault: PairFault,
}

/// What is wrong with one pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PairFault {
    /// An id that no body has, or no key.
    #[error("id {id} is beyond the last of {ids}")]
    NoSuchId {
        /// The id.
        id: u32,
        /// How many ids there are.
        ids: usize,
    },
    /// Within one group, the first id has to be the lesser.
    #[error("the first id is not the lesser")]
    NotAscending,
    /// A body and itself, at no other image.
    #[error("a body does not touch itself but at another image")]
    Itself,
    /// An earlier pair is the same.
    #[error("repeated")]
    Repeated,
}

impl PairFault {
    /// What is wrong with the ids of a pair, if anything.
    pub(super) fn of([a, b]: [u32; 2], [ids_of_a, ids_of_b]: [usize; 2]) -> Option<Self> {
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

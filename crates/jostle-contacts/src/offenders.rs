//! Names the keys and pairs at fault, once a check has found that there are some.

use core::cmp::Ordering;
use core::ops::Range;

use jostle_core::error::NAMED_OFFENDERS;

use crate::error::{BadPair, ContactError, KeyFault, PairFault, RepeatedKey};
use crate::frame::{KeyedPairs, Part};

impl KeyFault {
    #[cold]
    pub(crate) fn name(self, group: u32, keys: &[u64]) -> ContactError {
        match self {
            Self::TooMany => ContactError::TooManyKeys { keys: keys.len() },
            Self::Repeated => {
                let repeated = repeated(keys.iter().copied().enumerate());
                let named = repeated.iter().take(NAMED_OFFENDERS);
                let first = named.map(|&id| RepeatedKey { id: id as u32, key: keys[id] }).collect();
                ContactError::Keys { group, count: repeated.len(), first }
            }
        }
    }
}

/// Names the pairs of a frame that are at fault. O(m log m).
#[cold]
pub(crate) fn name_pairs(frame: KeyedPairs<'_>) -> ContactError {
    let pairs = frame.pairs;
    let parts = || frame.parts(0..pairs.len()).flat_map(|part| part.range.clone().map(move |at| (part.clone(), at)));
    let fault = |part: &Part<'_>, at: usize| {
        let [a, b] = pairs[at];
        let itself = if a == b && frame.by_image { PairFault::Itself } else { PairFault::NotAscending };
        let descending = (part.is_within() && a >= b && !frame.is_image_of_itself(at)).then_some(itself);
        PairFault::of([a, b], part.ids()).or(descending)
    };
    let known = |part: &Part<'_>, at: usize| {
        let itself = part.is_within() && pairs[at][0] == pairs[at][1];
        (part.sets, pairs[at], frame.image(at, itself).steps().filter(|_| frame.by_image).collect::<Vec<_>>())
    };
    let sound = parts().filter(|(part, at)| fault(part, *at).is_none()).map(|(part, at)| (at, known(&part, at)));
    let mut faults: Vec<_> = repeated(sound).into_iter().map(|at| (at, PairFault::Repeated)).collect();
    faults.extend(parts().filter_map(|(part, at)| Some((at, fault(&part, at)?))));
    let order = sorted(faults.len(), &|a, b| faults[a].0.cmp(&faults[b].0));
    name(pairs, &order.into_iter().map(|at| faults[at]).collect::<Vec<_>>())
}

/// Names the pairs with an id that no body of its set has.
#[cold]
pub(crate) fn name_strangers(
    pairs: &[[u32; 2]],
    parts: impl Iterator<Item = (Range<usize>, [usize; 2])>,
) -> ContactError {
    let fault = |(at, ids)| Some((at, PairFault::of(pairs[at], ids)?));
    name(pairs, &parts.flat_map(|(range, ids)| range.map(move |at| (at, ids))).filter_map(fault).collect::<Vec<_>>())
}

fn name(pairs: &[[u32; 2]], faults: &[(usize, PairFault)]) -> ContactError {
    let named = faults.iter().take(NAMED_OFFENDERS);
    let first = named.map(|&(at, fault)| BadPair { at, pair: pairs[at], fault }).collect();
    ContactError::Pairs { count: faults.len(), first }
}

/// Returns the places, ascending, of items that stand at an earlier place too.
fn repeated<T: Ord>(items: impl Iterator<Item = (usize, T)>) -> Vec<usize> {
    let items: Vec<_> = items.collect();
    let by_item = sorted(items.len(), &|a, b| (&items[a].1, items[a].0).cmp(&(&items[b].1, items[b].0)));
    let pairs = by_item.windows(2).filter(|two| items[two[0]].1 == items[two[1]].1);
    let repeated: Vec<_> = pairs.map(|two| items[two[1]].0).collect();
    sorted(repeated.len(), &|a, b| repeated[a].cmp(&repeated[b])).into_iter().map(|at| repeated[at]).collect()
}

/// Sorts the numbers below `len`. All sorting of this file goes through this function, so that sorting is compiled
/// once.
fn sorted(len: usize, order: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut sorted: Vec<_> = (0..len).collect();
    sorted.sort_unstable_by(|&a, &b| order(a, b));
    sorted
}

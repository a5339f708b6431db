//! The caller's keys, and which id each key had in the last frame.

use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use jostle_core::Workers;
use jostle_core::input::MAX_BODIES;
use jostle_core::scratch::fill_with_headroom;

use crate::error::KeyFault;
use crate::memory::keep;
use crate::pairs::Meetings;
use crate::table::{Entry, NONE, Table};

/// Keys that one task looks at.
const KEYS_A_BLOCK: usize = 1 << 13;

/// The stable key of each id of this frame.
///
/// A slice (one group), an array of two slices (two groups) and a slice of slices (any number of sets) convert into it.
#[derive(Clone, Copy)]
pub enum Keys<'k> {
    /// For pairs within one group, a < b: a contact is known by its lesser key and its greater key.
    Within(&'k [u64]),
    /// For pairs between two groups, a an id of the first and b of the second: a contact is known by the key of a and
    /// the key of b. A key in one group has nothing to do with the same number in the other.
    Between(&'k [u64], &'k [u64]),
    /// The keys of each set of a search among many. A contact is known by the numbers of its two sets, the lesser
    /// first, and the key of the body of each; within a set, the lesser key comes first. Give the pairs as a
    /// [`Found`](jostle_pairs::Found), which says of which sets they are, or [with their
    /// sets](crate::ContactPairs::with_sets).
    Among(&'k [&'k [u64]]),
}

impl fmt::Debug for Keys<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Within(keys) => write!(f, "Within({} keys)", keys.len()),
            Self::Between(a, b) => write!(f, "Between({} keys, {} keys)", a.len(), b.len()),
            Self::Among(sets) => write!(f, "Among({} sets, {} keys)", sets.len(), self.len()),
        }
    }
}

impl<'k> From<&'k [u64]> for Keys<'k> {
    fn from(keys: &'k [u64]) -> Self {
        Self::Within(keys)
    }
}

impl<'k> From<&'k Vec<u64>> for Keys<'k> {
    fn from(keys: &'k Vec<u64>) -> Self {
        Self::Within(keys)
    }
}

impl<'k, const N: usize> From<&'k [u64; N]> for Keys<'k> {
    fn from(keys: &'k [u64; N]) -> Self {
        Self::Within(keys)
    }
}

impl<'k> From<[&'k [u64]; 2]> for Keys<'k> {
    fn from([a, b]: [&'k [u64]; 2]) -> Self {
        Self::Between(a, b)
    }
}

impl<'k> From<&'k [&'k [u64]]> for Keys<'k> {
    fn from(sets: &'k [&'k [u64]]) -> Self {
        Self::Among(sets)
    }
}

impl<'k> Keys<'k> {
    /// The number of groups.
    pub(crate) fn groups(self) -> usize {
        match self {
            Self::Within(_) => 1,
            Self::Between(..) => 2,
            Self::Among(sets) => sets.len(),
        }
    }

    /// Returns the groups of pairs that do not say their sets, if the keys tell them.
    pub(crate) fn alone(self) -> Option<Meetings<'static>> {
        match self {
            Self::Within(_) => Some(Meetings::WITHIN),
            Self::Between(..) => Some(Meetings::BETWEEN),
            Self::Among(_) => None,
        }
    }

    /// The keys of one group.
    pub(crate) fn group(self, group: usize) -> &'k [u64] {
        match (self, group) {
            (Self::Within(keys), _) | (Self::Between(keys, _), 0) | (Self::Between(_, keys), _) => keys,
            (Self::Among(sets), set) => sets[set],
        }
    }

    pub(crate) fn len(self) -> usize {
        (0..self.groups()).map(|group| self.group(group).len()).sum()
    }
}

/// The keys of one group from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct GroupKeys {
    /// The keys of the last frame, by id.
    last: Vec<u64>,
    /// Whether all keys are those of the last frame, in the same order. If so, `last_ids` means nothing.
    same: bool,
    /// For each id of this frame, the id of the same key in the last frame, or [`NONE`].
    last_ids: Vec<u32>,
    /// The keys that do not have the same id in both frames.
    table: Table,
}

/// A copy keeps the last frame, and begins with empty scratch.
impl Clone for GroupKeys {
    fn clone(&self) -> Self {
        Self { last: self.last.clone(), ..Self::default() }
    }
}

impl GroupKeys {
    /// Finds out which id each key had in the last frame.
    ///
    /// An unchanged key, which has the same id in both frames, is not entered in the table, so that a few bodies more
    /// or less cost next to nothing. If there are new keys, each unchanged key is looked up in the table, which is then
    /// small: a new key may repeat it.
    pub(crate) fn compare(&mut self, keys: &[u64], workers: Workers<'_>) -> Result<(), KeyFault> {
        if keys.len() > MAX_BODIES {
            return Err(KeyFault::TooMany);
        }
        let changed = self.changed(keys, workers);
        self.same = changed == 0 && keys.len() == self.last.len();
        if self.same {
            return Ok(());
        }
        let common = keys.len().min(self.last.len());
        self.table.clear(keys.len() + self.last.len() - 2 * (common - changed));
        self.enter_last(keys);
        fill_with_headroom(&mut self.last_ids, keys.len(), NONE);
        let strangers = self.enter_now(keys)?;
        self.fill_unchanged(keys, strangers, workers)
    }

    /// Counts the ids that both frames have and whose key has changed.
    fn changed(&self, keys: &[u64], workers: Workers<'_>) -> usize {
        let common = keys.len().min(self.last.len());
        let changed = AtomicUsize::new(0);
        workers.run("keys", common.div_ceil(KEYS_A_BLOCK), |block| {
            let ids = block * KEYS_A_BLOCK..((block + 1) * KEYS_A_BLOCK).min(common);
            let here = keys[ids.clone()].iter().zip(&self.last[ids]).filter(|(now, last)| now != last).count();
            changed.fetch_add(here, Ordering::Relaxed);
        });
        changed.into_inner()
    }

    fn enter_last(&mut self, keys: &[u64]) {
        for (id, &key) in self.last.iter().enumerate() {
            if keys.get(id) != Some(&key) {
                self.table.entry(key).last = id as u32;
            }
        }
    }

    /// Looks up the changed keys and enters them in the table. Returns whether any of them is a stranger: a key that
    /// the last frame did not have, or that repeats an unchanged key.
    fn enter_now(&mut self, keys: &[u64]) -> Result<bool, KeyFault> {
        let mut strangers = false;
        for (id, &key) in keys.iter().enumerate() {
            if self.last.get(id) == Some(&key) {
                continue;
            }
            let entry: &mut Entry = self.table.entry(key);
            if entry.now != NONE {
                return Err(KeyFault::Repeated);
            }
            entry.now = id as u32;
            self.last_ids[id] = entry.last;
            strangers |= entry.last == NONE;
        }
        Ok(strangers)
    }

    /// Gives unchanged keys their id of the last frame. If there are strangers, refuses an unchanged key that a
    /// stranger repeats.
    fn fill_unchanged(&mut self, keys: &[u64], strangers: bool, workers: Workers<'_>) -> Result<(), KeyFault> {
        let (last, table) = (&self.last, &self.table);
        let repeated = AtomicBool::new(false);
        workers.fill_blocks("unchanged", &mut self.last_ids, KEYS_A_BLOCK, |first, block| {
            for (id, slot) in (first..).zip(block) {
                if last.get(id) == Some(&keys[id]) {
                    *slot = id as u32;
                    if strangers && table.has(keys[id]) {
                        repeated.store(true, Ordering::Relaxed);
                    }
                }
            }
        });
        if repeated.into_inner() { Err(KeyFault::Repeated) } else { Ok(()) }
    }

    /// Returns the id in the last frame of the body that has this id now; `None` for a new body.
    #[inline(always)]
    pub(crate) fn last_id(&self, id: u32) -> Option<u32> {
        if self.same {
            return Some(id);
        }
        Some(self.last_ids[id as usize]).filter(|&last| last != NONE)
    }

    /// The keys of the last frame, by id.
    pub(crate) fn last(&self) -> &[u64] {
        &self.last
    }

    /// Makes these keys the keys of the last frame.
    pub(crate) fn remember(&mut self, keys: &[u64], workers: Workers<'_>) {
        if !self.same {
            keep(&mut self.last, keys, workers);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.last.capacity() * size_of::<u64>() + self.last_ids.capacity() * size_of::<u32>() + self.table.bytes()
    }
}

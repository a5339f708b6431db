//! Compares what a tracker of contacts tells from frame to frame with sets of keys.

use std::collections::{BTreeSet, HashMap};

use jostle_contacts::{Changes, ContactError, ContactTracker, Keys};
use jostle_core::Threads;

/// The keys and the ids of contacts.
pub type List = (Vec<[u64; 2]>, Vec<[u32; 2]>);

/// The contacts that begin, persist and end.
pub type Three = [List; 3];

/// The definition of a tracker's answer, by sets of keys.
#[derive(Debug, Default)]
pub struct Oracle {
    between: bool,
    last: List,
}

impl Oracle {
    fn contact([a, b]: [u32; 2], keys: Keys<'_>) -> [u64; 2] {
        match keys {
            Keys::Within(keys) => {
                let (a, b) = (keys[a as usize], keys[b as usize]);
                [a.min(b), a.max(b)]
            }
            Keys::Between(first, second) => [first[a as usize], second[b as usize]],
            Keys::Among(_) => panic!("among many, see `algebra`"),
        }
    }

    /// Returns what a frame changes.
    ///
    /// # Panics
    /// For keys of more than two sets.
    pub fn update(&mut self, pairs: &[[u32; 2]], keys: Keys<'_>) -> Three {
        let between = matches!(keys, Keys::Between(..));
        let now: List = (pairs.iter().map(|&pair| Self::contact(pair, keys)).collect(), pairs.to_vec());
        let comparable = self.between == between;
        let set = |list: &List| list.0.iter().copied().filter(|_| comparable).collect::<BTreeSet<_>>();
        let (here, there) = (set(&now), set(&self.last));
        let three = [
            choose(&now, |c| !there.contains(c)),
            choose(&now, |c| there.contains(c)),
            choose(&self.last, |c| !here.contains(c)),
        ];
        (self.between, self.last) = (between, now);
        three
    }
}

fn choose((keys, pairs): &List, takes: impl Fn(&[u64; 2]) -> bool) -> List {
    keys.iter().zip(pairs).filter(|(key, _)| takes(key)).unzip()
}

/// Returns what a tracker says of a frame, after a check that its slots and lists fit each other.
///
/// # Errors
/// The errors of the tracker.
///
/// # Panics
/// When a slot is given twice, or a list contradicts another.
pub fn update(
    tracker: &mut ContactTracker,
    threads: Threads<'_>,
    pairs: &[[u32; 2]],
    keys: Keys<'_>,
) -> Result<Three, ContactError> {
    let changes = tracker.on(threads).update(pairs, keys)?;
    let three = [changes.begin(), changes.persist(), changes.end()];
    assert!(three.iter().all(|list| list.len() == list.pairs().len() && list.is_empty() == list.keys().is_empty()));
    let mut given = vec![false; changes.slots()];
    for &slot in three.iter().flat_map(|list| list.slots()) {
        assert!(!core::mem::replace(&mut given[slot as usize], true), "slot {slot} was given twice");
    }
    assert!(changes.pair_slots().len() == pairs.len());
    assert!(changes.pair_slots().iter().all(|&slot| given[slot as usize]));
    assert!(three[0].iter().unzip() == (three[0].keys().to_vec(), three[0].pairs().to_vec()));
    Ok(three.map(|list| (list.keys().to_vec(), list.pairs().to_vec())))
}

/// A spring for each contact, kept in an array by slot and in a map by keys: the sum of what the contact was told in
/// each frame.
#[derive(Debug, Default)]
pub struct Springs {
    by_slot: Vec<u64>,
    by_keys: HashMap<[u64; 2], u64>,
}

impl Springs {
    /// Tells each contact of a frame a number, then compares all springs.
    ///
    /// # Panics
    /// When a slot was not the contact's all along.
    pub fn load(&mut self, changes: Changes<'_>, pairs: &[[u32; 2]], frame: u64) {
        for (keys, &slot) in changes.end().keys().iter().zip(changes.end().slots()) {
            assert_eq!(self.by_keys.remove(keys), Some(self.by_slot[slot as usize]));
        }
        self.by_slot.resize(changes.slots(), 0);
        for (keys, &slot) in changes.begin().keys().iter().zip(changes.begin().slots()) {
            assert_eq!(self.by_keys.insert(*keys, 0), None);
            self.by_slot[slot as usize] = 0;
        }
        for (list, weight) in [(changes.begin(), 1), (changes.persist(), 7)] {
            for (keys, &slot) in list.keys().iter().zip(list.slots()) {
                let told = (keys[0] ^ keys[1].rotate_left(9)).wrapping_mul(frame + weight);
                let (slot, key) = (&mut self.by_slot[slot as usize], self.by_keys.entry(*keys).or_default());
                (*slot, *key) = (slot.wrapping_add(told), key.wrapping_add(told));
            }
        }
        let listed = changes.begin().iter().zip(changes.begin().slots());
        let listed: HashMap<_, _> = listed.chain(changes.persist().iter().zip(changes.persist().slots())).collect();
        let listed: HashMap<[u32; 2], u32> = listed.into_iter().map(|((_, pair), &slot)| (pair, slot)).collect();
        assert!(pairs.iter().zip(changes.pair_slots()).all(|(pair, slot)| listed[pair] == *slot));
        for (keys, &slot) in changes.persist().keys().iter().zip(changes.persist().slots()) {
            assert_eq!(self.by_keys[keys], self.by_slot[slot as usize]);
        }
        assert_eq!(self.by_keys.len(), pairs.len());
    }
}

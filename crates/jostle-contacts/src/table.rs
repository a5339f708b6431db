//! The ids of keys in this frame and the last: a hash table with open addressing and linear probing.

use jostle_core::scratch::fill_with_headroom;

/// The most pairs of a frame. Slots of rows are numbered in 32 bits, and a pair takes up to one and a half. Slots of
/// contacts are numbered in 32 bits too: there are as many as pairs of two frames, and one number is kept free.
pub(crate) const MAX_PAIRS: usize = (1 << 31) - 1;

/// Stands for no id.
pub(crate) const NONE: u32 = u32::MAX;

/// The ids of one key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    key: u64,
    /// The id in this frame, or [`NONE`].
    pub(crate) now: u32,
    /// The id in the last frame, or [`NONE`].
    pub(crate) last: u32,
}

impl Entry {
    const EMPTY: Self = Self { key: 0, now: NONE, last: NONE };

    /// Returns whether nobody has set the entry.
    fn is_empty(&self) -> bool {
        self.now == NONE && self.last == NONE
    }
}

/// Entries by key. The order of the table cannot be read, so that no result depends on it.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// Their number is a power of two, or 0.
    entries: Vec<Entry>,
}

/// Mixes all bits of a key into all others: the finalizer of MurmurHash3 (A. Appleby) with the constants of D.
/// Stafford's "Mix 13", as in SplitMix64.
#[inline(always)]
pub(crate) fn mix(mut key: u64) -> u64 {
    key = (key ^ (key >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    key = (key ^ (key >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    key ^ (key >> 31)
}

impl Table {
    /// Empties the table, with room for `keys` keys: at most two thirds of the entries are ever taken.
    pub(crate) fn clear(&mut self, keys: usize) {
        self.entries.clear();
        fill_with_headroom(&mut self.entries, (keys + keys / 2 + 1).next_power_of_two(), Entry::EMPTY);
    }

    /// Returns the entry of a key, empty if the key has none yet; the caller has to set it.
    #[inline(always)]
    pub(crate) fn entry(&mut self, key: u64) -> &mut Entry {
        let at = self.place(key);
        let entry = &mut self.entries[at];
        entry.key = key;
        entry
    }

    /// Returns whether a key has an entry.
    #[inline(always)]
    pub(crate) fn has(&self, key: u64) -> bool {
        !self.entries[self.place(key)].is_empty()
    }

    /// Returns where the entry of a key is, or would be.
    #[inline(always)]
    fn place(&self, key: u64) -> usize {
        let last = self.entries.len() - 1;
        let mut at = mix(key) as usize & last;
        while self.entries[at].key != key && !self.entries[at].is_empty() {
            at = (at + 1) & last;
        }
        at
    }

    pub(crate) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
    }
}

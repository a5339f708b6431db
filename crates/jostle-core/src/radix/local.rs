//! The order of a cache-resident piece.

use super::LOCAL_MAX;

/// Bits of the code that a piece is sorted by at a time; the other half of the packed word is the item's place.
const KEY_BITS: u32 = 16;

/// Pieces up to this size are left to the standard library's sort.
const COMPARISON_MAX: usize = 96;

/// Runs of equal keys up to this size are sorted by insertion.
const INSERTION_MAX: usize = 16;

/// Sorts a cache-resident piece of at most [`LOCAL_MAX`] items by code, as an order of places.
#[derive(Debug, Default)]
pub(crate) struct LocalOrder {
    codes: Vec<u64>,
    packed: Vec<u32>,
    spare: Vec<u32>,
}

impl LocalOrder {
    /// Makes room for pieces of `items` items.
    pub(crate) fn reserve(&mut self, items: usize) {
        let items = items.min(LOCAL_MAX);
        self.codes.reserve(items.saturating_sub(self.codes.len()));
        self.packed.reserve(items.saturating_sub(self.packed.len()));
        self.spare.reserve(items.saturating_sub(self.spare.len()));
    }

    pub(super) fn bytes(&self) -> usize {
        self.codes.capacity() * size_of::<u64>() + (self.packed.capacity() + self.spare.capacity()) * size_of::<u32>()
    }

    /// Sorts by the codes given: afterwards [`LocalOrder::places`] lists the places in stable order.
    ///
    /// # Panics
    /// When there are more than [`LOCAL_MAX`] codes.
    #[inline(always)]
    pub(crate) fn sort(&mut self, codes: impl ExactSizeIterator<Item = u64>) {
        let items = codes.len();
        assert!(items <= LOCAL_MAX, "a piece of {items} items is too large");
        self.codes.resize(items, 0);
        self.packed.resize(items, 0);
        self.spare.resize(items, 0);
        for (slot, code) in self.codes.iter_mut().zip(codes) {
            *slot = code;
        }
        let Some(&first) = self.codes.first() else { return };
        let differing = self.codes.iter().fold(0, |bits, &code| bits | (code ^ first));
        let top = u64::BITS - differing.leading_zeros();
        let shift = top.saturating_sub(KEY_BITS);
        for (at, (word, &code)) in self.packed.iter_mut().zip(&self.codes).enumerate() {
            *word = ((code >> shift) as u32) << KEY_BITS | at as u32;
        }
        if top > 0 {
            sort_packed(&mut self.packed, &mut self.spare, &self.codes, shift);
        }
    }

    /// Returns, in order of ranks, the places that the items had before the sort.
    #[inline(always)]
    pub(crate) fn places(&self) -> impl ExactSizeIterator<Item = usize> {
        self.packed.iter().map(|&word| place(word))
    }
}

#[inline(always)]
fn place(packed: u32) -> usize {
    (packed & (u32::MAX >> KEY_BITS)) as usize
}

/// Sorts a run of places by code, stable; `packed` holds ascending places, its keys are ignored.
fn sort_places(packed: &mut [u32], spare: &mut [u32], codes: &[u64]) {
    let Some(&first) = packed.first() else { return };
    let first = codes[place(first)];
    let differing = packed.iter().fold(0, |bits, &p| bits | (codes[place(p)] ^ first));
    let top = u64::BITS - differing.leading_zeros();
    if top == 0 {
        return;
    }
    let shift = top.saturating_sub(KEY_BITS);
    for word in packed.iter_mut() {
        let at = place(*word);
        *word = ((codes[at] >> shift) as u32) << KEY_BITS | at as u32;
    }
    sort_packed(packed, spare, codes, shift);
}

/// Sorts packed keys and places, then ties by the `shift` bits of the codes below the keys.
#[inline(always)]
fn sort_packed(packed: &mut [u32], spare: &mut [u32], codes: &[u64], shift: u32) {
    if packed.len() <= COMPARISON_MAX {
        packed.sort_unstable();
    } else {
        sort_by_key_bytes(packed, spare);
    }
    if shift > 0 {
        sort_ties(packed, spare, codes);
    }
}

/// Two counting passes over the two bytes of the key.
#[inline(always)]
fn sort_by_key_bytes(packed: &mut [u32], spare: &mut [u32]) {
    let mut places = [[0_u32; 256]; 2];
    for &word in packed.iter() {
        places[0][(word >> 16 & 0xff) as usize] += 1;
        places[1][(word >> 24) as usize] += 1;
    }
    for digit in &mut places {
        let mut next = 0;
        for place in digit {
            (next, *place) = (next + *place, next);
        }
    }
    for &word in packed.iter() {
        let next = &mut places[0][(word >> 16 & 0xff) as usize];
        spare[*next as usize] = word;
        *next += 1;
    }
    for &word in spare.iter() {
        let next = &mut places[1][(word >> 24) as usize];
        packed[*next as usize] = word;
        *next += 1;
    }
}

/// Sorts each run of equal keys by the bits below the key.
#[inline(always)]
fn sort_ties(packed: &mut [u32], spare: &mut [u32], codes: &[u64]) {
    let same_key = |a: u32, b: u32| (a ^ b) >> KEY_BITS == 0;
    let mut at = 1;
    while at < packed.len() {
        if !same_key(packed[at - 1], packed[at]) {
            at += 1;
            continue;
        }
        let start = at - 1;
        let end = (at..packed.len()).find(|&i| !same_key(packed[start], packed[i])).unwrap_or(packed.len());
        if end - start > INSERTION_MAX {
            sort_places(&mut packed[start..end], &mut spare[start..end], codes);
        } else {
            insertion_sort(&mut packed[start..end], codes);
        }
        at = end + 1;
    }
}

fn insertion_sort(packed: &mut [u32], codes: &[u64]) {
    for i in 1..packed.len() {
        let word = packed[i];
        let code = codes[place(word)];
        let mut at = i;
        while at > 0 && codes[place(packed[at - 1])] > code {
            packed[at] = packed[at - 1];
            at -= 1;
        }
        packed[at] = word;
    }
}

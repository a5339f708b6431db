//! Contacts that were chosen from the pairs of a frame, in their order.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

use jostle_core::Workers;
use jostle_core::scratch::resize_with_headroom;

use super::keys::Frame;

/// Contacts in a fixed order, borrowed from a tracker: two slices of one length, the keys of each and its ids.
#[derive(Clone, Copy)]
pub struct Contacts<'t> {
    list: &'t ContactList,
}

impl fmt::Debug for Contacts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contacts").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<'t> Contacts<'t> {
    /// The two keys of each contact: the lesser first within one group, that of the first group first between two.
    #[must_use]
    pub fn keys(&self) -> &'t [[u64; 2]] {
        &self.list.keys
    }

    /// The pair of ids of each contact, as it was given.
    #[must_use]
    pub fn pairs(&self) -> &'t [[u32; 2]] {
        &self.list.pairs
    }

    /// Number of contacts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.keys.len()
    }

    /// True when there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keys and ids of each contact.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ([u64; 2], [u32; 2])> + use<'t> {
        self.keys().iter().copied().zip(self.pairs().iter().copied())
    }
}

/// The memory of [`Contacts`].
#[derive(Debug, Default)]
pub(crate) struct ContactList {
    keys: Vec<[u64; 2]>,
    pairs: Vec<[u32; 2]>,
    /// Where the contacts of each block of pairs begin, and the end of the last.
    starts: Vec<usize>,
}

/// Which pairs of a frame are chosen: those whose flag is this.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice<'f> {
    pub(crate) flags: &'f [AtomicBool],
    pub(crate) wanted: bool,
}

impl Choice<'_> {
    #[inline(always)]
    fn takes(&self, at: usize) -> bool {
        self.flags[at].load(Ordering::Relaxed) == self.wanted
    }
}

impl ContactList {
    pub(crate) fn view(&self) -> Contacts<'_> {
        Contacts { list: self }
    }

    /// Makes it the list of the chosen pairs of a frame, in their order.
    pub(crate) fn select(&mut self, frame: Frame<'_>, choice: Choice<'_>, workers: Workers<'_>) {
        let len = self.count(frame, choice, workers);
        resize_with_headroom(&mut self.keys, len, [0; 2]);
        resize_with_headroom(&mut self.pairs, len, [0; 2]);
        let lists = (self.keys.as_mut_slice(), self.pairs.as_mut_slice());
        workers.fill_parts("list", &self.starts, lists, |block, keys, pairs| {
            let chosen = frame.block(block).filter(|&at| choice.takes(at));
            for ((at, key), pair) in chosen.zip(keys).zip(pairs) {
                *pair = frame.pairs[at];
                *key = frame.keys.contact(*pair);
            }
        });
    }

    /// Finds out where the contacts of each block begin, and how many there are.
    fn count(&mut self, frame: Frame<'_>, choice: Choice<'_>, workers: Workers<'_>) -> usize {
        resize_with_headroom(&mut self.starts, frame.blocks() + 1, 0);
        workers.fill_blocks("count", &mut self.starts, 1, |block, count| {
            count[0] = frame.block(block).filter(|&at| choice.takes(at)).count();
        });
        let mut all = 0;
        for start in &mut self.starts {
            all += core::mem::replace(start, all);
        }
        all
    }

    pub(crate) fn bytes(&self) -> usize {
        self.keys.capacity() * size_of::<[u64; 2]>()
            + self.pairs.capacity() * size_of::<[u32; 2]>()
            + self.starts.capacity() * size_of::<usize>()
    }
}

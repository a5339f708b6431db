//! A bit for each body: it strays.

use jostle_core::scratch::resize_with_headroom;

/// See the top of this file.
#[derive(Debug, Default)]
pub(in crate::coherent) struct Marks(Vec<u32>);

impl Marks {
    /// Whether nobody does.
    pub(in crate::coherent) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<u32>()
    }

    pub(super) fn set(&mut self, id: u32) {
        let word = id as usize / 32;
        if self.0.len() <= word {
            resize_with_headroom(&mut self.0, word + 1);
        }
        self.0[word] |= 1 << (id % 32);
    }

    #[inline(always)]
    pub(super) fn has(&self, id: u32) -> bool {
        self.0.get(id as usize / 32).is_some_and(|word| word >> (id % 32) & 1 == 1)
    }

    #[inline(always)]
    pub(in crate::coherent) fn has_any(&self, [a, b]: [u32; 2]) -> bool {
        self.has(a) | self.has(b)
    }
}

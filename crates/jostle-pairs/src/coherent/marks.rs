//! A bit for each of some numbers. Of bodies, numbered among those of all sets, it says whether they stray.

use jostle_core::scratch::resize_with_headroom;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<u32>);

/// The marks of two sets.
#[derive(Debug, Clone, Copy)]
pub(super) struct MarksOfTwo<'a> {
    pub(super) marks: &'a Marks,
    /// The number of the first body of each.
    pub(super) firsts: [u32; 2],
}

impl Marks {
    /// Whether none is set.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<u32>()
    }

    pub(super) fn set(&mut self, number: u32) {
        let word = number as usize / 32;
        if self.0.len() <= word {
            resize_with_headroom(&mut self.0, word + 1);
        }
        self.0[word] |= 1 << (number % 32);
    }

    #[inline(always)]
    pub(super) fn has(&self, number: u32) -> bool {
        self.0.get(number as usize / 32).is_some_and(|word| word >> (number % 32) & 1 == 1)
    }
}

impl MarksOfTwo<'_> {
    /// Whether no body strays, of any set.
    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Whether a body of a pair strays, by their ids.
    #[inline(always)]
    pub(super) fn has_any(&self, [a, b]: [u32; 2]) -> bool {
        self.marks.has(self.firsts[0] + a) | self.marks.has(self.firsts[1] + b)
    }
}

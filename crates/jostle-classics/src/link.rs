//! The links of singly linked lists.

/// An index of 32 bits into an array, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link(u32);

impl Link {
    pub(crate) const NONE: Self = Self(u32::MAX);

    #[inline]
    pub(crate) fn to(index: usize) -> Self {
        debug_assert!(index < u32::MAX as usize);
        Self(index as u32)
    }

    #[inline]
    pub(crate) fn index(self) -> Option<usize> {
        (self != Self::NONE).then_some(self.0 as usize)
    }
}

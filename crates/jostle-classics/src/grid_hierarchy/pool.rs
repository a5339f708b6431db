//! Slots that are used again.

use core::ops::{Index, IndexMut};

use crate::grid::Link;

/// Values in slots; those that were given back are used first, the last first.
#[derive(Debug, Clone)]
pub(super) struct Pool<T> {
    slots: Vec<T>,
    free: Vec<Link>,
}

impl<T> Pool<T> {
    pub(super) const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    /// The number of slots in use.
    pub(super) fn used(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<T>() + self.free.capacity() * size_of::<Link>()
    }

    pub(super) fn add(&mut self, value: T) -> Link {
        if let Some(link) = self.free.pop() {
            self[link] = value;
            return link;
        }
        self.slots.push(value);
        Link::to(self.slots.len() - 1)
    }

    /// Gives a slot back. Its value stays until the slot is used again.
    pub(super) fn give_back(&mut self, link: Link) {
        self.free.push(link);
    }

    pub(super) fn get(&self, link: Link) -> Option<&T> {
        link.index().map(|at| &self.slots[at])
    }
}

impl<T> Index<Link> for Pool<T> {
    type Output = T;

    #[inline]
    fn index(&self, link: Link) -> &T {
        &self.slots[link.position()]
    }
}

impl<T> IndexMut<Link> for Pool<T> {
    #[inline]
    fn index_mut(&mut self, link: Link) -> &mut T {
        &mut self.slots[link.position()]
    }
}

//! Slots that keep their index while other slots are filled and emptied: an incremental structure's `malloc`.
//!
//! A vacant slot holds the index of the next vacant slot in place of a value, so that the list of vacant slots costs
//! nothing. The slot that was left last is filled first, while it is still in cache.

use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroU32;
use core::ops::{Index, IndexMut, Range};

/// A full list grows by one part in this many. Doubling would hold up to twice what a simulation needs.
const HEADROOM: usize = 8;

/// A value that can mark its slot as vacant, and then names the next vacant slot.
pub(crate) trait Slot: Copy {
    /// Returns the content of a vacant slot.
    fn vacant(next: Option<SlotIndex<Self>>) -> Self;

    /// Returns whether this is a value that [`Slot::vacant`] gave.
    fn is_vacant(&self) -> bool;

    /// Returns the slot given to [`Slot::vacant`]; of no meaning for an occupied slot.
    fn next_vacant(&self) -> Option<SlotIndex<Self>>;
}

/// The index of a slot in a [`FreeList`] of `T`. An `Option` of it takes four bytes as well.
pub(crate) struct SlotIndex<T> {
    /// The index plus one.
    number: NonZeroU32,
    of: PhantomData<fn() -> T>,
}

impl<T> SlotIndex<T> {
    /// An index that no list is long enough to give out. It marks vacant slots.
    pub(crate) const LAST: Self = Self { number: NonZeroU32::MAX, of: PhantomData };

    /// The index, or `None` where it is beyond what four bytes can name.
    pub(crate) fn new(index: usize) -> Option<Self> {
        let number = u32::try_from(index).ok()?.checked_add(1).and_then(NonZeroU32::new)?;
        Some(Self { number, of: PhantomData })
    }

    /// The indices from one number to another.
    pub(crate) fn range(numbers: Range<usize>) -> impl Iterator<Item = Self> {
        numbers.filter_map(Self::new)
    }

    #[inline]
    pub(crate) fn get(self) -> usize {
        self.number.get() as usize - 1
    }

    /// Returns the same number for another list: a vacant slot keeps its link in a field of another type.
    pub(crate) fn cast<U>(self) -> SlotIndex<U> {
        SlotIndex { number: self.number, of: PhantomData }
    }
}

// Derived implementations would ask the same traits of `T`.
impl<T> Clone for SlotIndex<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SlotIndex<T> {}

impl<T> PartialEq for SlotIndex<T> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<T> Eq for SlotIndex<T> {}

impl<T> fmt::Debug for SlotIndex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.get())
    }
}

/// Values at fixed indices. The index given back last is the next to be given out.
#[derive(Debug, Clone)]
pub(crate) struct FreeList<T: Slot> {
    slots: Vec<T>,
    first_vacant: Option<SlotIndex<T>>,
    len: usize,
}

impl<T: Slot> FreeList<T> {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), first_vacant: None, len: 0 }
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Number of slots, occupied or vacant: every index given out is below it.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Returns whether the values have the ids 0, 1, 2, ... and each is in the slot of that number.
    pub(crate) fn are_in_order(&self, id_of: impl Fn(&T) -> u32) -> bool {
        self.iter().zip(0..).all(|((slot, value), number)| slot == number && id_of(value) as usize == number)
    }

    /// Bytes of memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<T>()
    }

    /// Puts a value, which must not be a vacant one, into the slot left last, or else into a new slot. O(1).
    ///
    /// # Panics
    /// With more than 2^32 - 2 values, like a vector that outgrows its memory.
    pub(crate) fn insert(&mut self, value: T) -> SlotIndex<T> {
        debug_assert!(!value.is_vacant());
        self.len += 1;
        if let Some(index) = self.first_vacant {
            self.first_vacant = self[index].next_vacant();
            self[index] = value;
            return index;
        }
        let index = SlotIndex::new(self.slots.len()).filter(|&index| index != SlotIndex::LAST);
        let index = index.expect("fewer values than indices");
        if self.slots.len() == self.slots.capacity() {
            self.slots.reserve_exact(self.slots.len() / HEADROOM + 1);
        }
        self.slots.push(value);
        index
    }

    /// Takes a value out; `None` when its slot is vacant or does not exist. O(1).
    pub(crate) fn remove(&mut self, index: SlotIndex<T>) -> Option<T> {
        let value = *self.get(index)?;
        self[index] = T::vacant(self.first_vacant);
        self.first_vacant = Some(index);
        self.len -= 1;
        Some(value)
    }

    /// Returns the value of a slot; `None` when the slot is vacant or does not exist.
    pub(crate) fn get(&self, index: SlotIndex<T>) -> Option<&T> {
        self.slots.get(index.get()).filter(|value| !value.is_vacant())
    }

    /// Returns every value with its index, by index.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.slots.iter().enumerate().filter(|(_, value)| !value.is_vacant())
    }

    /// Removes everything, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.truncate(0);
    }

    /// Drops all slots but the first `len`, which must all be occupied. New values come right after them. O(1).
    pub(crate) fn truncate(&mut self, len: usize) {
        self.slots.truncate(len);
        self.len = self.slots.len();
        self.first_vacant = None;
    }

    /// Makes room for `len` values in all, without headroom.
    pub(crate) fn reserve(&mut self, len: usize) {
        self.slots.reserve_exact(len.saturating_sub(self.slots.len()));
    }

    /// Returns whether the chain of vacant slots goes through each of them once, and all other slots are counted.
    /// O(slots).
    pub(crate) fn is_sound(&self) -> bool {
        let vacant = self.slots.iter().filter(|value| value.is_vacant()).count();
        let next = |index: &SlotIndex<T>| self[*index].next_vacant();
        // A chain with a loop has no end: one step more than there are vacant slots is enough to tell.
        let chain = core::iter::successors(self.first_vacant, next).take(vacant + 1);
        let links = chain.map(|index| self[index].is_vacant()).collect::<Vec<_>>();
        links.len() == vacant && links.into_iter().all(|vacant| vacant) && self.len + vacant == self.slots.len()
    }
}

impl<T: Slot> Index<SlotIndex<T>> for FreeList<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: SlotIndex<T>) -> &T {
        &self.slots[index.get()]
    }
}

impl<T: Slot> IndexMut<SlotIndex<T>> for FreeList<T> {
    #[inline]
    fn index_mut(&mut self, index: SlotIndex<T>) -> &mut T {
        &mut self.slots[index.get()]
    }
}

#[cfg(test)]
mod tests {
    use super::{FreeList, Slot, SlotIndex};
    use proptest::prelude::*;

    /// A number, or a link.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Number {
        value: Option<u8>,
        next: Option<SlotIndex<Number>>,
    }

    impl Number {
        fn new(value: u8) -> Self {
            Self { value: Some(value), next: None }
        }
    }

    impl Slot for Number {
        fn vacant(next: Option<SlotIndex<Self>>) -> Self {
            Self { value: None, next }
        }

        fn is_vacant(&self) -> bool {
            self.value.is_none()
        }

        fn next_vacant(&self) -> Option<SlotIndex<Self>> {
            self.next
        }
    }

    #[test]
    fn an_index_takes_four_bytes_or_none() {
        assert_eq!(size_of::<Option<SlotIndex<Number>>>(), 4);
        assert_eq!(SlotIndex::<Number>::new(u32::MAX as usize), None);
        assert_eq!(SlotIndex::<Number>::new(u32::MAX as usize - 1).map(SlotIndex::get), Some(u32::MAX as usize - 1));
    }

    #[test]
    fn the_slot_left_last_is_filled_first() {
        let mut list = FreeList::new();
        let [a, b, c] = [1, 2, 3].map(|value| list.insert(Number::new(value)));
        assert_eq!(list.remove(a), Some(Number::new(1)));
        assert_eq!(list.remove(c), Some(Number::new(3)));
        assert_eq!(list.remove(c), None, "twice");
        assert_eq!((list.insert(Number::new(4)), list.insert(Number::new(5))), (c, a));
        assert_eq!((list[a], list[b], list[c]), (Number::new(5), Number::new(2), Number::new(4)));
    }

    #[test]
    fn memory_grows_in_small_steps_and_stays() {
        let mut list = FreeList::new();
        let full: Vec<_> = (0..1000).map(|_| list.insert(Number::new(0))).collect();
        let bytes = list.bytes();
        assert!(bytes <= (1000 + 1000 / super::HEADROOM) * size_of::<Number>());
        for index in full {
            list.remove(index);
        }
        for _ in 0..1000 {
            list.insert(Number::new(1));
        }
        list.clear();
        assert_eq!((list.len(), list.bytes()), (0, bytes));
    }

    proptest! {
        #[test]
        fn does_what_a_plain_vector_of_options_does(steps in prop::collection::vec((any::<u8>(), 0_usize..40), 0..200)) {
            let mut list = FreeList::new();
            let mut model: Vec<Option<u8>> = Vec::new();
            for (value, at) in steps {
                if value % 2 == 0 {
                    let index = list.insert(Number::new(value)).get();
                    model.resize(model.len().max(index + 1), None);
                    prop_assert_eq!(model[index].replace(value), None);
                } else {
                    let index = SlotIndex::new(at).expect("small");
                    let expected = model.get_mut(at).and_then(Option::take);
                    prop_assert_eq!(list.remove(index).and_then(|number| number.value), expected);
                }
                prop_assert!(list.is_sound());
                prop_assert_eq!(list.len(), model.iter().flatten().count());
                let values: Vec<_> = list.iter().map(|(index, number)| (index, number.value)).collect();
                let expected: Vec<_> = model.iter().enumerate().filter(|(_, v)| v.is_some()).map(|(i, v)| (i, *v)).collect();
                prop_assert_eq!(values, expected);
            }
        }
    }
}

//! Scratch memory that tasks borrow for their run: as many pieces as tasks may run at once, kept from call to call.

use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use bytemuck::Zeroable;
use crossbeam_utils::CachePadded;

use crate::parallel::task::TaskMut;

/// A function that is called with a piece.
type Use<'a, S> = dyn for<'s> TaskMut<&'s mut S> + 'a;

/// A function that is called once, and its result. With closures around the function, its body would be optimized once
/// more for each.
struct Once<F, R>(Option<F>, Option<R>);

impl<'s, S, R, F: FnOnce(&mut S) -> R> TaskMut<&'s mut S> for Once<F, R> {
    fn run(&mut self, piece: &'s mut S) {
        if let Some(work) = self.0.take() {
            self.1 = Some(work(piece));
        }
    }
}

/// A stock of scratch pieces.
pub struct ScratchPool<S> {
    /// The pieces. Each is locked by the one task that has its number. No two share a line of the cache, since tasks
    /// write to their pieces all the time.
    stock: Vec<CachePadded<Mutex<S>>>,
    /// The numbers of pieces that no task has.
    free: Free,
    /// Pieces made because more tasks ran at once than `prepare` was told. A piece may hold what its task has found,
    /// and must not be lost.
    others: Mutex<Vec<S>>,
}

impl<S> fmt::Debug for ScratchPool<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScratchPool").field("pieces", &self.stock.len()).finish()
    }
}

impl<S> Default for ScratchPool<S> {
    fn default() -> Self {
        Self { stock: Vec::new(), free: Free::default(), others: Mutex::default() }
    }
}

impl<S: Default> ScratchPool<S> {
    /// Makes sure that there are at least `pieces` pieces, and calls `ready` with each. A piece with which a task has
    /// panicked is made anew.
    pub fn prepare(&mut self, pieces: usize, mut ready: impl FnMut(&mut S)) {
        self.prepare_all(pieces, &mut ready);
    }

    /// As [`ScratchPool::prepare`], with a trait object, so that this code is compiled once for each type of piece.
    fn prepare_all(&mut self, pieces: usize, ready: &mut Use<'_, S>) {
        self.stock.retain(|piece| !piece.is_poisoned());
        let others = self.others.get_mut().unwrap_or_else(PoisonError::into_inner);
        let room = Free::MOST.saturating_sub(self.stock.len()).min(others.len());
        self.stock.extend(others.drain(..room).map(|piece| CachePadded::new(Mutex::new(piece))));
        let missing = pieces.saturating_sub(self.stock.len());
        self.stock.extend((0..missing).map(|_| CachePadded::default()));
        self.free.set(self.stock.len());
        self.do_to_each(ready);
    }

    /// Returns a piece without a lock, for a caller that has the stock to itself, as a search by one thread does. What
    /// a panic has left in the piece is still there.
    pub fn own(&mut self) -> &mut S {
        if self.stock.is_empty() {
            self.prepare_all(1, &mut |_: &mut S| ());
        }
        self.stock[0].get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `work` with every piece.
    pub fn each(&mut self, mut work: impl FnMut(&mut S)) {
        self.do_to_each(&mut work);
    }

    fn do_to_each(&mut self, work: &mut Use<'_, S>) {
        let stock = self.stock.iter_mut().filter_map(|piece| piece.get_mut().ok());
        stock.chain(self.others.get_mut().into_iter().flatten()).for_each(|piece| work.run(piece));
    }

    /// Runs `work` with a piece of its own: one of the stock, or a new one when all are in use.
    pub fn with<R>(&self, work: impl FnOnce(&mut S) -> R) -> R {
        let mut once = Once(Some(work), None);
        self.lend(&mut once);
        once.1.unwrap_or_else(|| unreachable!("a piece is lent once"))
    }

    /// As [`ScratchPool::with`], with a trait object, so that this code is compiled once for each type of piece.
    fn lend(&self, work: &mut Use<'_, S>) {
        if let Some(number) = self.free.take() {
            work.run(&mut self.stock[number].lock().unwrap_or_else(PoisonError::into_inner));
            self.free.give_back(number);
            return;
        }
        let others = || self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let mut piece = others().pop().unwrap_or_default();
        work.run(&mut piece);
        others().push(piece);
    }

    /// Bytes that all pieces hold, each as measured by `bytes`.
    pub fn bytes(&self, bytes: impl Fn(&S) -> usize) -> usize {
        let in_stock = |piece: &CachePadded<Mutex<S>>| piece.lock().ok().map(|piece| bytes(&piece));
        let stock = self.stock.iter().filter_map(in_stock).map(|bytes| size_of::<CachePadded<Mutex<S>>>() + bytes);
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        stock.sum::<usize>() + others.iter().map(|piece| size_of::<S>() + bytes(piece)).sum::<usize>()
    }
}

/// The free numbers below [`Free::MOST`], one bit each: they cost a search by one thread a few instructions and one
/// line of the cache.
#[derive(Debug, Default)]
struct Free([AtomicU64; 4]);

impl Free {
    const BITS: usize = u64::BITS as usize;

    /// As many numbers as a search calls threads at most.
    const MOST: usize = 4 * Self::BITS;

    /// Makes every number below `count` free, and no other.
    fn set(&mut self, count: usize) {
        for (first, word) in (0..).step_by(Self::BITS).zip(&mut self.0) {
            let count = count.saturating_sub(first).min(Self::BITS);
            *word.get_mut() = u64::MAX.checked_shr((Self::BITS - count) as u32).unwrap_or(0);
        }
    }

    /// Takes the least free number.
    fn take(&self) -> Option<usize> {
        let without_lowest = |bits: u64| (bits != 0).then(|| bits & (bits - 1));
        (0..).step_by(Self::BITS).zip(&self.0).find_map(|(first, word)| {
            let bits = word.fetch_update(Ordering::Acquire, Ordering::Relaxed, without_lowest).ok()?;
            Some(first + bits.trailing_zeros() as usize)
        })
    }

    fn give_back(&self, number: usize) {
        self.0[number / Self::BITS].fetch_or(1 << (number % Self::BITS), Ordering::Release);
    }
}

/// Returns `len`, an eighth of it and 64 more: the next frame of a simulation may need a little more, and should not
/// allocate.
#[must_use]
pub fn with_headroom(len: usize) -> usize {
    len + len / 8 + 64
}

/// Makes sure that a list has room for `len` values in all.
pub fn reserve<T>(list: &mut Vec<T>, len: usize) {
    if list.capacity() < len {
        list.reserve_exact(len - list.len());
    }
}

/// Sets the length of a list, and fills it up with zeros; where memory must grow, it gets headroom.
pub fn resize_with_headroom<T: Zeroable + Copy>(list: &mut Vec<T>, len: usize) {
    if list.capacity() < len && list.is_empty() {
        // These zeros are from the system: the thread that writes first, whichever it is, touches the memory first.
        *list = vec![T::zeroed(); with_headroom(len)];
        list.truncate(len);
        return;
    }
    fill_with_headroom(list, len, T::zeroed());
}

/// Sets the length of a list, and fills it up with copies of a value; where memory must grow, it gets headroom.
pub fn fill_with_headroom<T: Copy>(list: &mut Vec<T>, len: usize, value: T) {
    if list.capacity() < len {
        list.reserve_exact(with_headroom(len) - list.len());
    }
    list.resize(len, value);
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use crossbeam_utils::CachePadded;

    use super::{Free, ScratchPool};

    #[test]
    fn each_free_number_is_taken_once() {
        let mut free = Free::default();
        assert_eq!(free.take(), None);
        for count in [0, 1, 63, 64, 65, 200, Free::MOST, Free::MOST + 9] {
            free.set(count);
            let taken: Vec<_> = std::iter::from_fn(|| free.take()).collect();
            assert!(taken.iter().copied().eq(0..count.min(Free::MOST)), "{count}: {taken:?}");
        }
        free.give_back(70);
        assert_eq!([free.take(), free.take()], [Some(70), None]);
    }

    #[test]
    fn no_piece_is_lost_when_more_are_in_use_than_were_prepared() {
        let mut pool = ScratchPool::<Vec<u8>>::default();
        pool.prepare(2, |_| {});
        let take = |n| pool.with(|piece| piece.push(n));
        pool.with(|first| {
            first.push(0);
            pool.with(|second| {
                second.push(1);
                take(2);
                take(3);
            });
        });
        let sorted = |pool: &mut ScratchPool<Vec<u8>>| {
            let mut all = Vec::new();
            pool.each(|piece| all.append(&mut piece.clone()));
            all.sort_unstable();
            all
        };
        assert_eq!(sorted(&mut pool), [0, 1, 2, 3]);
        let in_stock = 2 * size_of::<CachePadded<Mutex<Vec<u8>>>>();
        assert_eq!(pool.bytes(Vec::len), in_stock + size_of::<Vec<u8>>() + 4);
        pool.prepare(2, |_| {});
        assert_eq!(sorted(&mut pool), [0, 1, 2, 3]);
    }
}

//! Scratch memory that tasks borrow for their run: as many pieces as tasks may run at once, kept from call to call.

use core::fmt;
use std::sync::{Mutex, PoisonError};

use crossbeam::queue::ArrayQueue;

/// A stock of scratch pieces.
pub struct ScratchPool<S> {
    /// Locked by the one task that has its number.
    stock: Vec<Mutex<S>>,
    /// The numbers of pieces that no task has. Numbers, not pieces: so the queue is compiled once.
    free: ArrayQueue<usize>,
    /// Pieces made where more tasks ran at once than had been foretold: a piece may hold what its task has found, and is
    /// not to be lost.
    others: Mutex<Vec<S>>,
}

impl<S> fmt::Debug for ScratchPool<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScratchPool").field("pieces", &self.stock.len()).finish()
    }
}

impl<S> Default for ScratchPool<S> {
    fn default() -> Self {
        Self { stock: Vec::new(), free: ArrayQueue::new(1), others: Mutex::default() }
    }
}

impl<S: Default> ScratchPool<S> {
    /// Makes sure that there are at least `pieces`, each made ready by `ready`. A piece that a task has panicked with is
    /// made anew.
    pub fn prepare(&mut self, pieces: usize, mut ready: impl FnMut(&mut S)) {
        self.stock.retain(|piece| !piece.is_poisoned());
        let others = self.others.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.stock.extend(others.drain(..).map(Mutex::new));
        let missing = pieces.saturating_sub(self.stock.len());
        self.stock.extend((0..missing).map(|_| Mutex::default()));
        set_free(&mut self.free, self.stock.len());
        self.each(&mut ready);
    }

    /// Does something to every piece.
    pub fn each(&mut self, mut work: impl FnMut(&mut S)) {
        let stock = self.stock.iter_mut().filter_map(|piece| piece.get_mut().ok());
        stock.chain(self.others.get_mut().into_iter().flatten()).for_each(&mut work);
    }

    /// Runs `work` with a piece of its own: one of the stock, or a new one when all are in use.
    pub fn with<R>(&self, work: impl FnOnce(&mut S) -> R) -> R {
        if let Some(number) = self.free.pop() {
            let result = work(&mut self.stock[number].lock().unwrap_or_else(PoisonError::into_inner));
            let _ = self.free.push(number);
            return result;
        }
        let others = || self.others.lock().unwrap_or_else(PoisonError::into_inner);
        let mut piece = others().pop().unwrap_or_default();
        let result = work(&mut piece);
        others().push(piece);
        result
    }

    /// Bytes that all pieces hold, each as measured by `bytes`.
    pub fn bytes(&self, bytes: impl Fn(&S) -> usize) -> usize {
        let measure = |piece: &S| size_of::<S>() + bytes(piece);
        let stock = self.stock.iter().filter_map(|piece| piece.lock().ok()).map(|piece| measure(&piece));
        let others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        stock.sum::<usize>() + others.iter().map(measure).sum::<usize>()
    }
}

/// Makes every number below `pieces` free.
fn set_free(free: &mut ArrayQueue<usize>, pieces: usize) {
    if free.capacity() < pieces {
        *free = ArrayQueue::new(pieces);
    }
    while free.pop().is_some() {}
    for number in 0..pieces {
        let _ = free.push(number);
    }
}

/// An eighth more than is needed: the next frame of a simulation may need a little more, and should not allocate.
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

/// Sets the length; where memory must grow for it, then with headroom.
pub fn resize_with_headroom<T: Copy>(list: &mut Vec<T>, len: usize, value: T) {
    if list.capacity() < len && list.is_empty() {
        // Zeros from the system, which whoever writes first touches first, on any thread.
        *list = vec![value; with_headroom(len)];
        list.truncate(len);
        return;
    }
    if list.capacity() < len {
        list.reserve_exact(with_headroom(len) - list.len());
    }
    list.resize(len, value);
}

#[cfg(test)]
mod tests {
    use super::ScratchPool;

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
        assert_eq!(pool.bytes(Vec::len), 3 * size_of::<Vec<u8>>() + 4);
        pool.prepare(2, |_| {});
        assert_eq!(sorted(&mut pool), [0, 1, 2, 3]);
    }
}

//! Scratch memory that tasks borrow for their run: as many pieces as tasks may run at once, kept from call to call.

use core::fmt;
use std::sync::Mutex;

use crossbeam::queue::ArrayQueue;

/// A stock of scratch pieces.
pub struct ScratchPool<S> {
    stock: ArrayQueue<S>,
    /// Pieces that the stock had no room for, where more tasks ran at once than had been foretold: a piece may hold what
    /// its task has found, and is not to be lost.
    others: Mutex<Vec<S>>,
}

impl<S> fmt::Debug for ScratchPool<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScratchPool").field("pieces", &self.stock.len()).finish()
    }
}

impl<S> Default for ScratchPool<S> {
    fn default() -> Self {
        Self { stock: ArrayQueue::new(1), others: Mutex::default() }
    }
}

impl<S: Default> ScratchPool<S> {
    /// Makes sure that there are at least `pieces`, each made ready by `ready`.
    pub fn prepare(&mut self, pieces: usize, ready: impl FnMut(&mut S)) {
        let others = self.others.get_mut().map(core::mem::take).unwrap_or_default();
        let have = self.stock.len() + others.len();
        if self.stock.capacity() < pieces.max(have) {
            let larger = ArrayQueue::new(pieces.max(have));
            for piece in core::iter::from_fn(|| self.stock.pop()) {
                let _ = larger.push(piece);
            }
            self.stock = larger;
        }
        others.into_iter().for_each(|piece| self.put_back(piece));
        for _ in have..pieces {
            let _ = self.stock.push(S::default());
        }
        self.each(ready);
    }

    /// Does something to every piece.
    pub fn each(&mut self, mut work: impl FnMut(&mut S)) {
        for _ in 0..self.stock.len() {
            if let Some(mut piece) = self.stock.pop() {
                work(&mut piece);
                self.put_back(piece);
            }
        }
        self.others.get_mut().into_iter().flatten().for_each(work);
    }

    /// Runs `work` with a piece of its own: one of the stock, or a new one when all are in use.
    pub fn with<R>(&self, work: impl FnOnce(&mut S) -> R) -> R {
        let mut piece = self.stock.pop().unwrap_or_default();
        let result = work(&mut piece);
        self.put_back(piece);
        result
    }

    fn put_back(&self, piece: S) {
        if let (Err(piece), Ok(mut others)) = (self.stock.push(piece), self.others.lock()) {
            others.push(piece);
        }
    }

    /// Bytes that all pieces hold, each as measured by `bytes`.
    pub fn bytes(&self, bytes: impl Fn(&S) -> usize) -> usize {
        let mut sum = 0;
        for _ in 0..self.stock.len() {
            if let Some(piece) = self.stock.pop() {
                sum += size_of::<S>() + bytes(&piece);
                self.put_back(piece);
            }
        }
        let others = self.others.lock();
        sum + others.iter().flat_map(|others| others.iter()).map(|piece| size_of::<S>() + bytes(piece)).sum::<usize>()
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

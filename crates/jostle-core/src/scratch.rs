//! Scratch memory that tasks borrow for their run: as many pieces as tasks may run at once, kept from call to call.

use core::fmt;

use crossbeam::queue::ArrayQueue;

/// A stock of scratch pieces.
pub struct ScratchPool<S> {
    stock: ArrayQueue<S>,
}

impl<S> fmt::Debug for ScratchPool<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScratchPool").field("pieces", &self.stock.len()).finish()
    }
}

impl<S> Default for ScratchPool<S> {
    fn default() -> Self {
        Self { stock: ArrayQueue::new(1) }
    }
}

impl<S: Default> ScratchPool<S> {
    /// Makes sure that there are at least `pieces`, each made ready by `ready`.
    pub fn prepare(&mut self, pieces: usize, ready: impl FnMut(&mut S)) {
        let have = self.stock.len();
        if self.stock.capacity() < pieces {
            let larger = ArrayQueue::new(pieces);
            for piece in core::iter::from_fn(|| self.stock.pop()) {
                let _ = larger.push(piece);
            }
            self.stock = larger;
        }
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
                let _ = self.stock.push(piece);
            }
        }
    }

    /// Runs `work` with a piece of its own: one of the stock, or a new one when all are in use.
    pub fn with<R>(&self, work: impl FnOnce(&mut S) -> R) -> R {
        let mut piece = self.stock.pop().unwrap_or_default();
        let result = work(&mut piece);
        let _ = self.stock.push(piece);
        result
    }

    /// Bytes that all pieces hold, each as measured by `bytes`.
    pub fn bytes(&self, bytes: impl Fn(&S) -> usize) -> usize {
        let mut sum = 0;
        for _ in 0..self.stock.len() {
            if let Some(piece) = self.stock.pop() {
                sum += size_of::<S>() + bytes(&piece);
                let _ = self.stock.push(piece);
            }
        }
        sum
    }
}

/// An eighth more than is needed: the next frame of a simulation may need a little more, and should not allocate.
#[must_use]
pub fn with_headroom(len: usize) -> usize {
    len + len / 8 + 64
}

/// Sets the length; where memory must grow for it, then with headroom.
pub fn resize_with_headroom<T: Copy>(list: &mut Vec<T>, len: usize, value: T) {
    if list.capacity() < len {
        list.reserve_exact(with_headroom(len) - list.len());
    }
    list.resize(len, value);
}

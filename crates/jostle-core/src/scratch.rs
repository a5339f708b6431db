//! Scratch memory that tasks borrow for their run: as many pieces as tasks may run at once, kept from call to call.

use core::fmt;
use core::ops::{Deref, DerefMut};

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
    pub fn prepare(&mut self, pieces: usize, mut ready: impl FnMut(&mut S)) {
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
        for _ in 0..self.stock.len() {
            if let Some(mut piece) = self.stock.pop() {
                ready(&mut piece);
                let _ = self.stock.push(piece);
            }
        }
    }

    /// A piece to use until it is dropped; a new one when all are in use.
    pub fn take(&self) -> Loan<'_, S> {
        Loan { pool: self, piece: self.stock.pop().unwrap_or_default() }
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

/// A scratch piece on loan.
#[derive(Debug)]
pub struct Loan<'p, S: Default> {
    pool: &'p ScratchPool<S>,
    piece: S,
}

impl<S: Default> Deref for Loan<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.piece
    }
}

impl<S: Default> DerefMut for Loan<'_, S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.piece
    }
}

impl<S: Default> Drop for Loan<'_, S> {
    fn drop(&mut self) {
        let _ = self.pool.stock.push(core::mem::take(&mut self.piece));
    }
}

//! Where the blocks of a parallel join put their pairs: chunks of fixed size from one arena, chained block by block.
//!
//! However the pairs of a frame are spread over the blocks, pairs / [`CHUNK`] + blocks chunks suffice, so that an arena
//! of that size never grows for as long as there are no more pairs.

use core::sync::atomic::{AtomicU32, Ordering};

use jostle_core::disjoint::Disjoint;

use crate::hits::Sink;

/// Pairs of a chunk: 2 KiB.
pub(crate) const CHUNK: usize = 256;

/// Memory of the chunks, kept from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    pairs: Vec<[u32; 2]>,
    /// The chunk that follows each in its chain.
    next: Vec<u32>,
}

/// The pairs of one block: a chain of chunks, all full but the last, then what the arena had no room for.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    first: u32,
    in_chunks: usize,
    overflow: Vec<[u32; 2]>,
}

/// An arena open for blocks to write to.
pub(crate) struct OpenArena<'a> {
    pairs: Disjoint<'a, [u32; 2]>,
    next: Disjoint<'a, u32>,
    chunks: u32,
    used: AtomicU32,
}

impl Arena {
    /// Makes room for `pairs` pairs spread over `blocks` blocks in any way.
    pub(crate) fn reserve(&mut self, pairs: usize, blocks: usize) {
        let chunks = pairs / CHUNK + blocks;
        if self.next.len() < chunks {
            let chunks = chunks + chunks / 8;
            self.next.resize(chunks, 0);
            self.pairs.resize(chunks * CHUNK, [0; 2]);
        }
    }

    pub(crate) fn open(&mut self) -> OpenArena<'_> {
        let chunks = self.next.len() as u32;
        OpenArena {
            pairs: Disjoint::new(&mut self.pairs),
            next: Disjoint::new(&mut self.next),
            chunks,
            used: AtomicU32::new(0),
        }
    }

    /// Copies the pairs of a chain to `list`, which is as long.
    pub(crate) fn copy(&self, chain: &Chain, list: &mut [[u32; 2]]) {
        let (in_chunks, overflow) = list.split_at_mut(chain.in_chunks);
        let mut chunk = chain.first as usize;
        for part in in_chunks.chunks_mut(CHUNK) {
            part.copy_from_slice(&self.pairs[chunk * CHUNK..chunk * CHUNK + part.len()]);
            chunk = self.next[chunk] as usize;
        }
        overflow.copy_from_slice(&chain.overflow);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pairs.capacity() * size_of::<[u32; 2]>() + self.next.capacity() * size_of::<u32>()
    }
}

impl Chain {
    /// Number of pairs.
    pub(crate) fn len(&self) -> usize {
        self.in_chunks + self.overflow.len()
    }

    /// Forgets the pairs, and frees what the arena had no room for.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Appends the pairs of one block to its chain.
pub(crate) struct Chunked<'a> {
    arena: &'a OpenArena<'a>,
    chain: &'a mut Chain,
    last: u32,
    /// What is left of the last chunk.
    room: &'a mut [[u32; 2]],
}

impl<'a> Chunked<'a> {
    /// A sink for a chain that is empty.
    pub(crate) fn new(arena: &'a OpenArena<'a>, chain: &'a mut Chain) -> Self {
        Self { arena, chain, last: u32::MAX, room: &mut [] }
    }

    /// Chains another chunk, if there is one.
    #[cold]
    #[allow(unsafe_code, reason = "each chunk is taken by one block")]
    fn take_chunk(&mut self) {
        if self.arena.used.load(Ordering::Relaxed) >= self.arena.chunks {
            return;
        }
        let chunk = self.arena.used.fetch_add(1, Ordering::Relaxed);
        if chunk >= self.arena.chunks {
            return;
        }
        if self.last == u32::MAX {
            self.chain.first = chunk;
        } else {
            // SAFETY: the last chunk is this block's, below the number of chunks, and so is its link.
            unsafe { self.arena.next.write(self.last as usize, chunk) };
        }
        self.last = chunk;
        let start = chunk as usize * CHUNK;
        // SAFETY: the counter gives each chunk to one block, once.
        self.room = unsafe { self.arena.pairs.range(start..start + CHUNK) };
    }
}

impl Sink for Chunked<'_> {
    #[inline(always)]
    fn take(&mut self, mut pairs: &[[u32; 2]]) {
        while !pairs.is_empty() {
            if self.room.is_empty() && self.chain.overflow.is_empty() {
                self.take_chunk();
            }
            let (now, later) = pairs.split_at(pairs.len().min(self.room.len()));
            if now.is_empty() {
                self.chain.overflow.extend_from_slice(later);
                return;
            }
            let (places, room) = core::mem::take(&mut self.room).split_at_mut(now.len());
            places.copy_from_slice(now);
            self.room = room;
            self.chain.in_chunks += now.len();
            pairs = later;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs find their way through chunks, and past the end of an arena that is too small.
    #[test]
    fn chains_keep_order_within_and_beyond_the_arena() {
        for chunks in [0, 1, 3, 100] {
            let mut arena = Arena::default();
            arena.reserve(0, chunks);
            let mut chains = [Chain::default(), Chain::default()];
            let open = arena.open();
            let [left, right] = &mut chains;
            let mut sinks = [Chunked::new(&open, left), Chunked::new(&open, right)];
            for a in (0..2000).step_by(2) {
                sinks[usize::from(a % 3 == 0)].take(&[[a, 0], [a, 1]]);
            }
            for (side, chain) in chains.iter().enumerate() {
                let mut list = vec![[0; 2]; chain.len()];
                arena.copy(chain, &mut list);
                let mine = (0..2000).step_by(2).filter(|a| usize::from(a % 3 == 0) == side);
                let expected: Vec<_> = mine.flat_map(|a| [[a, 0], [a, 1]]).collect();
                assert_eq!(list, expected, "{chunks} chunks, side {side}");
            }
        }
    }
}

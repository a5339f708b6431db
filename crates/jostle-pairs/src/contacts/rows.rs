//! The pairs of a frame, to be searched: a row for each body that is the first of a pair, in compressed form.
//!
//! A row is a small hash table of its own, so that neither a giant with all pairs nor a list of any order makes it slow.
//! One table of all pairs took as long for 60,000 of them, and twice as long for 600,000 of 100,000 or a million bodies.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use jostle_core::Workers;
use jostle_core::scratch::{resize_with_headroom, with_headroom};

use super::keys::{Frame, Keys};
use super::table::{NONE, mix};

/// Pairs that one task looks at.
pub(crate) const PAIRS_A_BLOCK: usize = 1 << 12;

/// Rows or slots that one task clears or scans.
const SLOTS_A_BLOCK: usize = 1 << 14;

/// Slots of rows are numbered in 32 bits, and a pair takes up to one and a half; those of contacts are, and there are as
/// many as pairs of two frames, of which one number is kept free.
pub(crate) const MAX_PAIRS: usize = (1 << 31) - 1;

/// A slot without a pair: no id is so large.
const EMPTY: u64 = u64::MAX;

/// The pairs of a frame. Which slot of its row a pair has depends on the threads; what a search finds does not.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// By id of the first body: its row, numbered by the first pair that asked for it. So rows lie in the order in
    /// which pairs come, neighbours near each other, whatever the ids.
    rows: Vec<AtomicU32>,
    /// Where the slots of each row begin, and the end of the last; before that, pairs in each row.
    starts: Vec<AtomicU32>,
    /// Where the slots of each block of rows begin.
    block_starts: Vec<AtomicU32>,
    /// The second body's id and the place of the pair in the list, in the upper and the lower half.
    slots: Vec<AtomicU64>,
}

impl Clone for Rows {
    fn clone(&self) -> Self {
        let copy = |list: &[AtomicU32]| list.iter().map(|number| AtomicU32::new(number.load(Relaxed))).collect();
        Self {
            rows: copy(&self.rows),
            starts: copy(&self.starts),
            block_starts: Vec::new(),
            slots: self.slots.iter().map(|slot| AtomicU64::new(slot.load(Relaxed))).collect(),
        }
    }
}

impl Rows {
    /// Enters the pairs of a frame; false when any of them is at fault.
    pub(crate) fn build(&mut self, frame: Frame<'_>, workers: Workers<'_>) -> bool {
        self.clear(frame, workers);
        let Frame { pairs, keys } = frame;
        if !in_blocks("count rows", frame, workers, |at| self.count(pairs[at], at as u32, keys, workers)) {
            return false;
        }
        self.lay_out(pairs.len(), workers);
        in_blocks("fill rows", frame, workers, |at| self.enter(pairs[at], at as u32, workers))
    }

    fn clear(&mut self, frame: Frame<'_>, workers: Workers<'_>) {
        let ([ids, _], rows) = (frame.keys.ids(), frame.pairs.len() + 1);
        grow(&mut self.rows, ids);
        grow(&mut self.starts, rows);
        grow(&mut self.block_starts, rows.div_ceil(SLOTS_A_BLOCK));
        workers.fill_blocks("clear rows", &mut self.rows[..ids], SLOTS_A_BLOCK, |_, block| {
            block.fill_with(|| AtomicU32::new(NONE));
        });
        workers.fill_blocks("clear counts", &mut self.starts[..rows], SLOTS_A_BLOCK, |_, block| {
            block.fill_with(|| AtomicU32::new(0));
        });
    }

    /// Counts a pair in its row; false when it is at fault.
    #[inline(always)]
    fn count(&self, pair: [u32; 2], at: u32, keys: Keys<'_>, workers: Workers<'_>) -> bool {
        let [a, b] = pair.map(|id| id as usize);
        let [ids_of_a, ids_of_b] = keys.ids();
        if a >= ids_of_a || b >= ids_of_b || (a >= b && !keys.is_between()) {
            return false;
        }
        let row = self.claim(&self.rows[a], at, workers);
        let count = &self.starts[row as usize];
        if alone(workers) {
            count.store(count.load(Relaxed) + 1, Relaxed);
        } else {
            count.fetch_add(1, Relaxed);
        }
        true
    }

    /// The row of a body: the one it has, or else this.
    #[inline(always)]
    fn claim(&self, row: &AtomicU32, new: u32, workers: Workers<'_>) -> u32 {
        match row.load(Relaxed) {
            NONE if alone(workers) => {
                row.store(new, Relaxed);
                new
            }
            NONE => row.compare_exchange(NONE, new, Relaxed, Relaxed).map_or_else(|first| first, |_| new),
            there => there,
        }
    }

    /// Turns counts into starts, and clears all slots.
    fn lay_out(&mut self, pairs: usize, workers: Workers<'_>) {
        let starts = &mut self.starts[..=pairs];
        let block_starts = &self.block_starts[..starts.len().div_ceil(SLOTS_A_BLOCK)];
        workers.fill_blocks("add rows", starts, SLOTS_A_BLOCK, |first, block| {
            let slots = block.iter_mut().map(|count| slots(*count.get_mut())).sum();
            block_starts[first / SLOTS_A_BLOCK].store(slots, Relaxed);
        });
        let mut all = 0;
        for start in block_starts {
            all += start.swap(all, Relaxed);
        }
        workers.fill_blocks("start rows", starts, SLOTS_A_BLOCK, |first, block| {
            let mut next = block_starts[first / SLOTS_A_BLOCK].load(Relaxed);
            for start in block {
                next += slots(core::mem::replace(start.get_mut(), next));
            }
        });
        grow(&mut self.slots, all as usize);
        workers.fill_blocks("clear slots", &mut self.slots[..all as usize], SLOTS_A_BLOCK, |_, block| {
            block.fill_with(|| AtomicU64::new(EMPTY));
        });
    }

    /// Enters a pair in its row; false when it is there already.
    #[inline(always)]
    fn enter(&self, [a, b]: [u32; 2], at: u32, workers: Workers<'_>) -> bool {
        let pair = u64::from(b) << 32 | u64::from(at);
        let free = |slot: &AtomicU64| match slot.load(Relaxed) {
            EMPTY if alone(workers) => {
                slot.store(pair, Relaxed);
                EMPTY
            }
            EMPTY => slot.compare_exchange(EMPTY, pair, Relaxed, Relaxed).unwrap_or_else(|there| there),
            there => there,
        };
        // A row has a slot for each of its pairs, so that one without a free slot is never met.
        probe(self.row(a), b, free) == Some(EMPTY)
    }

    /// The place in the list of a pair whose first id is below the number of ids.
    #[inline(always)]
    pub(crate) fn find(&self, [a, b]: [u32; 2]) -> Option<usize> {
        let there = probe(self.row(a), b, |slot| slot.load(Relaxed));
        there.filter(|&there| there != EMPTY).map(|there| there as u32 as usize)
    }

    /// The slots of a body's row.
    #[inline(always)]
    fn row(&self, a: u32) -> &[AtomicU64] {
        let row = self.rows[a as usize].load(Relaxed);
        if row == NONE {
            return &[];
        }
        let [start, end] = [row as usize, row as usize + 1].map(|row| self.starts[row].load(Relaxed) as usize);
        &self.slots[start..end]
    }

    pub(crate) fn bytes(&self) -> usize {
        (self.rows.capacity() + self.starts.capacity() + self.block_starts.capacity()) * size_of::<AtomicU32>()
            + self.slots.capacity() * size_of::<AtomicU64>()
    }
}

/// Looks at the slots of a row from that of `b` on, until one is empty or has `b`, and gives what is there; `None` when
/// there is no such slot.
#[inline(always)]
fn probe(row: &[AtomicU64], b: u32, look: impl Fn(&AtomicU64) -> u64) -> Option<u64> {
    // The upper half of a hash, scaled to the length of the row.
    let mut at = (((mix(u64::from(b)) >> 32) * row.len() as u64) >> 32) as usize;
    for _ in 0..row.len() {
        let there = look(&row[at]);
        if there == EMPTY || (there >> 32) as u32 == b {
            return Some(there);
        }
        at = if at + 1 == row.len() { 0 } else { at + 1 };
    }
    None
}

/// Slots of a row of so many pairs: with a third of them free, few are looked at.
#[inline(always)]
fn slots(pairs: u32) -> u32 {
    pairs + pairs / 2
}

/// Whether no other thread writes meanwhile: then atomic operations need not be locked.
#[inline(always)]
fn alone(workers: Workers<'_>) -> bool {
    !matches!(workers, Workers::Rayon | Workers::Host(_))
}

/// Does something with every pair of a frame, until it fails; tells whether it never did.
fn in_blocks(
    name: &'static str,
    frame: Frame<'_>,
    workers: Workers<'_>,
    each: impl Fn(usize) -> bool + Sync + Send,
) -> bool {
    let failed = AtomicBool::new(false);
    workers.run(name, frame.blocks(), |block| {
        if !frame.block(block).all(&each) {
            failed.store(true, Relaxed);
        }
    });
    !failed.into_inner()
}

/// Makes the list at least so long; where memory must grow for it, then with headroom.
pub(crate) fn grow<T: Default>(list: &mut Vec<T>, len: usize) {
    if list.capacity() < len {
        list.reserve_exact(with_headroom(len) - list.len());
    }
    if list.len() < len {
        list.resize_with(len, T::default);
    }
}

/// Makes the list a copy of another.
pub(crate) fn keep<T: Copy + Default + Send + Sync>(list: &mut Vec<T>, from: &[T], workers: Workers<'_>) {
    resize_with_headroom(list, from.len(), T::default());
    workers.fill_blocks("keep", list, SLOTS_A_BLOCK, |first, block| {
        block.copy_from_slice(&from[first..first + block.len()]);
    });
}

//! A table to search the pairs of a frame: a row, in compressed form, for each body that is the first of a pair.
//!
//! Each row is a small hash table, so that neither a giant with all pairs nor any order of the list makes it slow. A
//! single table of all pairs took as long for 60,000 pairs, and twice as long for 600,000 pairs of 100,000 or a million
//! bodies.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use jostle_core::Workers;
use jostle_core::axes::Both;

use crate::frame::{Image, KeyedPairs, Part};
use crate::memory::grow;
use crate::table::{NONE, mix};

/// Rows or slots that one task clears or scans.
const SLOTS_A_BLOCK: usize = 1 << 14;

/// The content of a slot without a pair: no id is so large.
const EMPTY: u64 = u64::MAX;

/// The pairs of a frame. The slot of a pair in its row depends on the threads; the result of a search does not.
#[derive(Debug, Default)]
pub(crate) struct PairTable {
    /// For each set, the base that is added to its ids, so that ids of any two sets differ.
    bases: Vec<u32>,
    /// Whether all pairs are between set 0 and set 1, whose ids then need not differ.
    between: bool,
    /// Whether image shifts are part of the hashes of pairs.
    by_image: bool,
    /// For each id of a first body, its row, numbered by the first pair that claimed it. So rows lie in the order of
    /// the pairs, neighbours near each other, whatever the ids.
    rows: Vec<AtomicU32>,
    /// Where the slots of each row begin, and the end of the last row. Until `lay_out`, the number of pairs in each
    /// row.
    starts: Vec<AtomicU32>,
    /// Where the slots of each block of rows begin.
    block_starts: Vec<AtomicU32>,
    /// The second body's id in the upper half of a slot, and the pair's place in the list in the lower half.
    slots: Vec<AtomicU64>,
}

impl Clone for PairTable {
    fn clone(&self) -> Self {
        let copy = |list: &[AtomicU32]| list.iter().map(|number| AtomicU32::new(number.load(Relaxed))).collect();
        Self {
            bases: self.bases.clone(),
            between: self.between,
            by_image: self.by_image,
            rows: copy(&self.rows),
            starts: copy(&self.starts),
            block_starts: Vec::new(),
            slots: self.slots.iter().map(|slot| AtomicU64::new(slot.load(Relaxed))).collect(),
        }
    }
}

impl PairTable {
    /// Enters the pairs of a frame. Returns false if any of them is at fault.
    pub(crate) fn build(&mut self, frame: KeyedPairs<'_>, workers: Workers<'_>) -> bool {
        self.by_image = frame.by_image;
        self.clear(frame, workers);
        if !in_blocks("count rows", frame, workers, |part| self.count(frame, part, workers)) {
            return false;
        }
        self.lay_out(frame.pairs.len(), workers);
        in_blocks("fill rows", frame, workers, |part| {
            if frame.by_image {
                self.enter::<true>(frame, part, workers)
            } else {
                self.enter::<false>(frame, part, workers)
            }
        })
    }

    fn clear(&mut self, frame: KeyedPairs<'_>, workers: Workers<'_>) {
        let (ids, rows) = (self.lay_out_ids(frame), frame.pairs.len() + 1);
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

    /// Sets the base of each set, and returns how many ids the first body of a pair may have.
    fn lay_out_ids(&mut self, frame: KeyedPairs<'_>) -> usize {
        let mut next = 0;
        let between = frame.meetings.sets == [[0, 1]];
        self.between = between;
        self.bases.clear();
        self.bases.extend((0..frame.keys.sets()).map(|set| {
            let base = next;
            next += if between && set > 0 { 0 } else { frame.keys.of(set).len() };
            if between { 0 } else { base as u32 }
        }));
        next
    }

    /// Counts pairs in their rows. Returns false if a pair is at fault.
    #[inline(always)]
    fn count(&self, frame: KeyedPairs<'_>, part: &Part<'_>, workers: Workers<'_>) -> bool {
        let ([ids_of_a, ids_of_b], within, bases) = (part.ids(), part.is_within(), self.bases_of(part.sets));
        let rows = &self.rows[bases[0] as usize..][..ids_of_a];
        part.range.clone().zip(&frame.pairs[part.range.clone()]).all(|(at, pair)| {
            let [a, b] = pair.both(|id| id as usize);
            if a >= rows.len() || b >= ids_of_b || (within && a >= b && !frame.is_image_of_itself(at)) {
                return false;
            }
            let row = self.claim(&rows[a], at as u32, workers);
            let count = &self.starts[row as usize];
            if workers.is_alone() {
                count.store(count.load(Relaxed) + 1, Relaxed);
            } else {
                count.fetch_add(1, Relaxed);
            }
            true
        })
    }

    /// Returns the row of a body. A body without a row gets the row `new`.
    #[inline(always)]
    fn claim(&self, row: &AtomicU32, new: u32, workers: Workers<'_>) -> u32 {
        match row.load(Relaxed) {
            NONE if workers.is_alone() => {
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

    /// Enters pairs in their rows. Returns false if a pair is there already.
    #[inline(always)]
    fn enter<const BY_IMAGE: bool>(&self, frame: KeyedPairs<'_>, part: &Part<'_>, workers: Workers<'_>) -> bool {
        let bases = self.bases_of(part.sets);
        part.range.clone().zip(&frame.pairs[part.range.clone()]).all(|(at, &[a, b])| {
            let [a, b] = [bases[0] + a, bases[1] + b];
            let pair = u64::from(b) << 32 | at as u64;
            let free = |slot: &AtomicU64| match slot.load(Relaxed) {
                EMPTY if workers.is_alone() => {
                    slot.store(pair, Relaxed);
                    EMPTY
                }
                EMPTY => slot.compare_exchange(EMPTY, pair, Relaxed, Relaxed).unwrap_or_else(|there| there),
                there => there,
            };
            // A row has a slot for each of its pairs, so that there is always a free slot for the next pair.
            let there = if BY_IMAGE {
                let itself = part.is_within() && a == b;
                let image = frame.image(at, itself);
                let same = |other: usize| image.is(frame.image(other, itself));
                probe(self.row(a), b, mix(u64::from(b) ^ image.hash()), free, same)
            } else {
                probe(self.row(a), b, mix(b.into()), free, |_| true)
            };
            there == Some(EMPTY)
        })
    }

    /// Whether there may be pairs of these two sets.
    pub(crate) fn may_hold(&self, sets: [u32; 2]) -> bool {
        !self.between || sets == [0, 1]
    }

    /// Returns the bases of two sets.
    #[inline(always)]
    pub(crate) fn bases_of(&self, sets: [u32; 2]) -> [u32; 2] {
        sets.both(|set| self.bases[set as usize])
    }

    /// Returns the place of a pair in the list. Both ids have their bases added, and must be below the number of ids.
    #[inline(always)]
    pub(crate) fn find(&self, [a, b]: [u32; 2]) -> Option<usize> {
        place(probe(self.row(a), b, mix(b.into()), |slot| slot.load(Relaxed), |_| true))
    }

    /// As [`PairTable::find`], at one image, in a list with shifts. Shifts tell apart the pairs of the list or, if not
    /// these, the pairs of the frame that asks.
    #[inline(always)]
    pub(crate) fn find_image(&self, [a, b]: [u32; 2], image: Image<'_>, same: impl Fn(usize) -> bool) -> Option<usize> {
        let hash = mix(if self.by_image { u64::from(b) ^ image.hash() } else { b.into() });
        place(probe(self.row(a), b, hash, |slot| slot.load(Relaxed), same))
    }

    /// The slots of a body's row.
    #[inline(always)]
    fn row(&self, a: u32) -> &[AtomicU64] {
        let row = self.rows[a as usize].load(Relaxed);
        if row == NONE {
            return &[];
        }
        let [start, end] = [row as usize, row as usize + 1].both(|row| self.starts[row].load(Relaxed) as usize);
        &self.slots[start..end]
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bases.capacity() * size_of::<u32>()
            + (self.rows.capacity() + self.starts.capacity() + self.block_starts.capacity()) * size_of::<AtomicU32>()
            + self.slots.capacity() * size_of::<AtomicU64>()
    }
}

/// Returns the place in the list that a slot holds.
#[inline(always)]
fn place(there: Option<u64>) -> Option<usize> {
    there.filter(|&there| there != EMPTY).map(|there| there as u32 as usize)
}

/// Looks at the slots of a row, from the slot of a hash on, until one is empty or has `b` at the same image. Returns
/// the content of that slot, or `None` if there is no such slot.
#[inline(always)]
fn probe(
    row: &[AtomicU64],
    b: u32,
    hash: u64,
    look: impl Fn(&AtomicU64) -> u64,
    same: impl Fn(usize) -> bool,
) -> Option<u64> {
    // The upper half of the hash, scaled to the length of the row.
    let mut at = (((hash >> 32) * row.len() as u64) >> 32) as usize;
    for _ in 0..row.len() {
        let there = look(&row[at]);
        if there == EMPTY || ((there >> 32) as u32 == b && same(there as u32 as usize)) {
            return Some(there);
        }
        at = if at + 1 == row.len() { 0 } else { at + 1 };
    }
    None
}

/// Returns the number of slots in a row of `pairs` pairs. Up to a third of them stay free, so that few are looked at.
#[inline(always)]
fn slots(pairs: u32) -> u32 {
    pairs + pairs / 2
}

/// Calls `each` with the parts of each block until a call fails. Returns whether no call failed.
fn in_blocks(
    name: &'static str,
    frame: KeyedPairs<'_>,
    workers: Workers<'_>,
    each: impl Fn(&Part<'_>) -> bool + Sync + Send,
) -> bool {
    let failed = AtomicBool::new(false);
    workers.run(name, frame.blocks(), |block| {
        if !frame.parts(frame.block(block)).all(|part| each(&part)) {
            failed.store(true, Relaxed);
        }
    });
    !failed.into_inner()
}

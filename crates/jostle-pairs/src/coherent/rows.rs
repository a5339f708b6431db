//! Rows of candidates, and where each pair of them stands.

use core::ops::Range;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use jostle_core::isa::Work;
use jostle_core::prefetch::prefetch;
use jostle_core::scratch::{resize_with_headroom, with_headroom};
use jostle_core::{Isa, Workers};
use jostle_sets::input::Input;
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::bands::WORD;
use crate::join::hits::PairList;
use crate::neighbors::NeighborLists;
use crate::neighbors::rows::Rows;
use crate::pairs::ranks::Ranks;

/// Rows that one task looks at.
const ROWS: usize = 1 << 11;

/// Candidates whose places are looked for together.
pub(super) const CHANGES: usize = 32;

/// Ids in a line of memory.
const LINE: usize = 16;

/// Rows that are read in another order than theirs are asked for so many ahead, so many lines of each.
const AHEAD: usize = 8;
const LINES: usize = 3;

/// Neighbours that are looked at together.
const AT_ONCE: usize = 2 * LANES;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct CandidateRows {
    pub(super) lists: NeighborLists,
    /// Whether it lasts from frame to frame whether two touch, so that each pair is listed once, and tested when it may have changed.
    lasts: bool,
    /// Whether each pair stands in the rows of both its bodies.
    mirrored: bool,
    /// Of a mirrored pair, that neighbour lists it which has the lesser id: how many in each row have lesser ids than the row.
    lesser: Vec<u32>,
    /// The rank of each body, where pairs are listed by rank.
    ranks: Vec<AtomicU32>,
    /// Where the pairs begin that each task lists.
    starts: Vec<usize>,
}

impl CandidateRows {
    pub(super) fn bytes(&self) -> usize {
        self.lists.bytes()
            + self.lesser.capacity() * size_of::<u32>()
            + self.ranks.capacity() * size_of::<AtomicU32>()
            + self.starts.capacity() * size_of::<usize>()
    }

    /// See the field.
    pub(super) fn lasts(&self) -> bool {
        self.lasts
    }

    /// How many candidates there are.
    pub(super) fn len(&self) -> usize {
        self.lists.neighbors().len()
    }

    /// Takes new rows, of an input of one set or two, and lists their pairs, by ranks if there are any.
    pub(super) fn list<const D: usize>(
        &mut self,
        (input, kind): (&Input<'_, D>, Rows),
        (pairs, ranks): (&mut PairList, &Ranks),
        (isa, workers): (Isa, Workers<'_>),
    ) {
        self.lasts = input.space.is_open() && input.sets().iter().all(|set| set.moving.is_none());
        self.mirrored = kind == Rows::Full && input.sets().len() == 1;
        if !self.lasts {
            pairs.clear();
            return;
        }
        let ids = ranks.ids();
        self.number(ids, workers);
        self.count_lesser(isa, workers);
        let rows = self.lists.len();
        let row = |at: usize| ids.get(at).map_or(at, |&id| id as usize);
        self.count_pairs(row, workers);
        let Self { lists, lesser, ranks, starts, .. } = self;
        let (offsets, neighbors) = (lists.offsets(), lists.neighbors());
        let count = starts.last().copied().unwrap_or_default();
        pairs.set_len(count);
        let out = (pairs.pairs_mut(), &mut vec![(); count][..]);
        let (starts, lesser) = (&*starts, &*lesser);
        workers.fill_parts("candidates", starts, out, |task, out, _| {
            let mut end = 0;
            for at in task * ROWS..((task + 1) * ROWS).min(rows) {
                let id = row(at);
                if let [Some(&near), Some(&far)] = [AHEAD, 2 * AHEAD].map(|ahead| ids.get(at + ahead)) {
                    prefetch(&offsets[far as usize]);
                    let start = offsets[near as usize];
                    neighbors[start..].iter().step_by(LINE).take(LINES).for_each(prefetch);
                }
                let of_row = &neighbors[offsets[id] + lesser[id] as usize..offsets[id + 1]];
                let out = &mut out[end..][..of_row.len()];
                if ids.is_empty() {
                    out.iter_mut().zip(of_row).for_each(|(slot, &neighbor)| *slot = [at as u32, neighbor]);
                } else {
                    let rank = |id: u32| ranks[id as usize].load(Ordering::Relaxed);
                    out.iter_mut().zip(of_row).for_each(|(slot, &neighbor)| *slot = [at as u32, rank(neighbor)]);
                }
                end += of_row.len();
            }
        });
    }

    /// Numbers bodies by rank.
    fn number(&mut self, ids: &[u32], workers: Workers<'_>) {
        if self.ranks.len() < ids.len() {
            self.ranks.resize_with(with_headroom(ids.len()), AtomicU32::default);
        }
        let ranks = &self.ranks;
        workers.run("ranks of candidates", ids.len().div_ceil(ROWS), |task| {
            let of_task = task * ROWS..((task + 1) * ROWS).min(ids.len());
            of_task.for_each(|rank| ranks[ids[rank] as usize].store(rank as u32, Ordering::Relaxed));
        });
    }

    fn count_lesser(&mut self, isa: Isa, workers: Workers<'_>) {
        let Self { lists, lesser, mirrored, .. } = self;
        resize_with_headroom(lesser, lists.len());
        if !*mirrored {
            lesser.fill(0);
            return;
        }
        workers.fill_blocks("lesser", lesser, ROWS, |first, lesser| isa.run(CountLesser { lists, first, lesser }));
    }

    /// Finds out where the pairs of each task begin.
    fn count_pairs(&mut self, row: impl Fn(usize) -> usize + Sync + Send, workers: Workers<'_>) {
        let Self { lists, lesser, starts, .. } = self;
        let (rows, offsets) = (lists.len(), lists.offsets());
        resize_with_headroom(starts, rows.div_ceil(ROWS) + 1);
        starts[0] = 0;
        workers.fill_blocks("pairs of rows", &mut starts[1..], 1, |task, start| {
            let of_task = task * ROWS..((task + 1) * ROWS).min(rows);
            start[0] = of_task.map(&row).map(|id| offsets[id + 1] - offsets[id] - lesser[id] as usize).sum();
        });
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
    }

    /// Flips the bits of up to [`CHANGES`] pairs, in the row of each body that they stand in; whether no other thread does.
    pub(super) fn flip(
        &self,
        pairs: impl Iterator<Item = [u32; 2]>,
        (bits, alone): (&[AtomicU64], bool),
        isa: Isa,
    ) {
        let (offsets, neighbors) = (self.lists.offsets(), self.lists.neighbors());
        let (mut sought, mut len) = ([[0; 2]; 2 * CHANGES], 0);
        for [a, b] in pairs {
            sought[len] = [a, b];
            prefetch(&offsets[a as usize]);
            len += 1;
            if self.mirrored {
                sought[len] = [b, a];
                prefetch(&offsets[b as usize]);
                len += 1;
            }
        }
        run(isa, Flip { offsets, neighbors, sought: &sought[..len], bits, alone });
    }

    /// Calls `visit` with each of some candidates, by its number, the body of its row and the neighbour.
    #[inline(always)]
    pub(super) fn each(&self, range: Range<usize>, mut visit: impl FnMut(usize, [u32; 2])) {
        let (offsets, neighbors) = (self.lists.offsets(), self.lists.neighbors());
        let mut id = offsets.partition_point(|&offset| offset <= range.start).saturating_sub(1);
        let mut at = range.start;
        while at < range.end {
            let end = offsets[id + 1].min(range.end);
            (at..end).zip(&neighbors[at..end]).for_each(|(at, &neighbor)| visit(at, [id as u32, neighbor]));
            (id, at) = (id + 1, end);
        }
    }
}

struct CountLesser<'a> {
    lists: &'a NeighborLists,
    first: usize,
    lesser: &'a mut [u32],
}

impl Work for CountLesser<'_> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        let (offsets, neighbors) = (&self.lists.offsets()[self.first..], self.lists.neighbors());
        for ((id, slot), ends) in (self.first as u32..).zip(self.lesser).zip(offsets.windows(2)) {
            let mut count = 0;
            for &neighbor in &neighbors[ends[0]..ends[1]] {
                count += u32::from(neighbor < id);
            }
            *slot = count;
        }
    }
}

/// Flips the bits of candidates, each named by the body of its row and the neighbour.
struct Flip<'a> {
    offsets: &'a [usize],
    neighbors: &'a [u32],
    sought: &'a [[u32; 2]],
    bits: &'a [AtomicU64],
    alone: bool,
}

impl LaneWork for Flip<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { offsets, neighbors, sought, bits, alone } = self;
        // Rows lie anywhere, and are asked for together.
        for &[row, _] in sought {
            let start = offsets[row as usize];
            for line in [0, LINE, 2 * LINE] {
                prefetch(&neighbors[(start + line).min(neighbors.len() - 1)]);
            }
        }
        for &[row, neighbor] in sought {
            let place = place_of::<L>(neighbor, neighbors, offsets[row as usize]);
            let (word, bit) = (&bits[place / WORD], 1 << (place % WORD));
            if alone {
                word.store(word.load(Ordering::Relaxed) ^ bit, Ordering::Relaxed);
            } else {
                word.fetch_xor(bit, Ordering::Relaxed);
            }
        }
    }
}

/// Where a neighbour stands in an ascending row, which begins at that place and holds it.
#[inline(always)]
fn place_of<L: Lanes>(neighbor: u32, neighbors: &[u32], mut start: usize) -> usize {
    let Some(less) = neighbor.checked_sub(1) else { return start };
    while let Some(some) = neighbors[start..].first_chunk::<AT_ONCE>() {
        let [low, high] = some.as_chunks().0 else { break };
        let not_less = u32::from(L::greater_ids(low, less)) | u32::from(L::greater_ids(high, less)) << LANES;
        if not_less != 0 {
            return start + not_less.trailing_zeros() as usize;
        }
        start += AT_ONCE;
    }
    start + neighbors[start..].iter().take_while(|&&other| other < neighbor).count()
}

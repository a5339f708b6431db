//! Rows of candidates, and where each pair of them stands.

use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use jostle_core::isa::Work;
use jostle_core::prefetch::prefetch;
use jostle_core::scratch::{resize_with_headroom, with_headroom};
use jostle_core::{Isa, Workers};
use jostle_sets::input::Input;
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::packed::are_far;
use crate::join::hits::PairList;
use crate::neighbors::NeighborLists;
use crate::neighbors::rows::Rows;
use crate::pairs::ranks::Ranks;

/// Rows that one task looks at.
const ROWS: usize = 1 << 11;

/// Rows that are read in no order of theirs are asked for so many ahead, in steps.
const AHEAD: [usize; 3] = [3, 10, 20];

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
    /// Where each pair stands among the candidates: in the row of the one body, and, if it is mirrored, in that of the other.
    places: Vec<[u32; 2]>,
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
            + self.places.capacity() * size_of::<[u32; 2]>()
            + self.lesser.capacity() * size_of::<u32>()
            + self.ranks.capacity() * size_of::<AtomicU32>()
            + self.starts.capacity() * size_of::<usize>()
    }

    /// Whether it lasts from frame to frame whether two touch: else no pairs are listed.
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
        let rests = input.space.is_open() && input.sets().iter().all(|set| set.moving.is_none());
        self.lasts = rests && u32::try_from(self.len()).is_ok();
        self.mirrored = kind == Rows::Full && input.sets().len() == 1;
        if !self.lasts {
            pairs.clear();
            return;
        }
        let ids = ranks.ids();
        self.number(ids, workers);
        self.count_lesser(isa, workers);
        self.count_pairs(|at| ids.get(at).map_or(at, |&id| id as usize), workers);
        let Self { lists, places, lesser, ranks, starts, mirrored, .. } = self;
        let count = starts.last().copied().unwrap_or_default();
        pairs.set_len(count);
        resize_with_headroom(places, count);
        let (lists, lesser, ranks) = (&*lists, &*lesser, &*ranks);
        workers.fill_parts("candidates", starts, (pairs.pairs_mut(), places), |task, pairs, places| {
            let rows = task * ROWS..((task + 1) * ROWS).min(lists.len());
            run(isa, ListRows { lists, lesser, rows, ids, ranks, mirrored: *mirrored, pairs, places });
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
        workers.fill_blocks("lesser", lesser, ROWS, |first, lesser| {
            if *mirrored {
                isa.run(CountLesser { lists, first, lesser });
            } else {
                lesser.fill(0);
            }
        });
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

    /// Asks for where a pair stands.
    #[inline(always)]
    pub(super) fn prefetch(&self, pair: usize) {
        prefetch(&self.places[pair]);
    }

    /// Calls `visit` with each place of a pair among the candidates.
    #[inline(always)]
    pub(super) fn each_place(&self, pair: usize, mut visit: impl FnMut(usize)) {
        let [place, mirrored] = self.places[pair];
        visit(place as usize);
        if self.mirrored {
            visit(mirrored as usize);
        }
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

/// Counts the lesser ids in each of some rows.
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

/// Lists the pairs of some rows, and where they stand.
struct ListRows<'a> {
    lists: &'a NeighborLists,
    lesser: &'a [u32],
    rows: Range<usize>,
    /// The body of each row, and the rank of each body, if rows are gone through by rank.
    ids: &'a [u32],
    ranks: &'a [AtomicU32],
    mirrored: bool,
    pairs: &'a mut [[u32; 2]],
    places: &'a mut [[u32; 2]],
}

impl LaneWork for ListRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { lists, lesser, rows, ids, ranks, mirrored, pairs, places } = self;
        let (offsets, neighbors) = (lists.offsets(), lists.neighbors());
        let mut out = pairs.iter_mut().zip(places);
        let are_many = mirrored && are_far(lists.len());
        for at in rows {
            if let [Some(&next), Some(&near), Some(&far)] = AHEAD.map(|ahead| ids.get(at + ahead)) {
                let [next, near, far] = [next, near, far].map(|id| id as usize);
                prefetch(&offsets[far]);
                prefetch(&lesser[far]);
                prefetch_row(neighbors, offsets[near]);
                if are_many {
                    // The rows that this one's pairs stand in as well.
                    let of_row = &neighbors[offsets[next] + lesser[next] as usize..offsets[next + 1]];
                    of_row.iter().for_each(|&neighbor| prefetch_row(neighbors, offsets[neighbor as usize]));
                }
            }
            let id = ids.get(at).map_or(at, |&id| id as usize);
            let of_row = offsets[id] + lesser[id] as usize..offsets[id + 1];
            for (place, &neighbor) in (of_row.start as u32..).zip(&neighbors[of_row]) {
                let Some((pair, places)) = out.next() else { return };
                *places = [place; 2];
                if mirrored {
                    places[1] = place_of::<L>(id as u32, neighbors, offsets[neighbor as usize]) as u32;
                }
                *pair = [at as u32, neighbor];
                if !ids.is_empty() {
                    pair[1] = ranks[neighbor as usize].load(Ordering::Relaxed);
                }
            }
        }
    }
}

/// Asks for the first neighbours of a row.
#[inline(always)]
fn prefetch_row(neighbors: &[u32], start: usize) {
    if let Some(some) = neighbors[start..].first_chunk::<AT_ONCE>() {
        prefetch(some);
        prefetch(&some[AT_ONCE - 1]);
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

//! The rows of bodies that touch, changed where candidates begin to touch, or end.
//!
//! Few candidates do so from frame to frame. Each change is noted with the rows of both its bodies. Then all rows are
//! written anew; the ids between two changes are copied at once.

use core::mem::swap;
use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};

use jostle_core::radix::RadixSort;
use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Isa, Workers};
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::bands::BLOCK;
use crate::coherent::blocks::{Blocks, are_far};
use crate::coherent::marks::MarksOfTwo;
use crate::coherent::names::Names;
use crate::neighbors::NeighborLists;

/// Rows that one task writes.
const ROWS: usize = 1 << 11;

/// Where in a change its row stands. Below stand the id and, last, whether the id is taken away.
const ROW: u32 = u32::BITS + 1;

/// Ids that are copied, or looked at, at once: mostly all of them, since no processor could foresee how many more there
/// are.
const COPIED: usize = 4 * LANES;
const LOOKED_AT: usize = 2 * LANES;

/// The number of the frame that is filled next, of all finders of the program. It tells the rows of a frame from
/// others; nothing else depends on it.
static FRAMES: AtomicU64 = AtomicU64::new(1);

/// Pairs of stray bodies that come, or are taken away, and the stray bodies.
type OfStrays<'a> = (&'a [([u32; 2], bool)], MarksOfTwo<'a>);

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct LiveRows {
    pub(super) blocks: Blocks,
    /// The rows of the last frame, if they are here, with what layers or the caller drop; and memory for the next rows.
    pub(super) rows: NeighborLists,
    spare: NeighborLists,
    place: Place,
    /// Whether rows stay here, because the caller has asked for them in other lists than before.
    stay: bool,
    /// The changes, by row: a body that comes to a row, or is taken away.
    changes: Vec<u64>,
    sort: RadixSort<u64>,
    /// Where the changes of each block begin; then, where the changes begin that each task writes. With the end.
    starts: Vec<usize>,
    /// Where the neighbours begin that each task writes, and the end.
    begins: Vec<usize>,
}

/// Where the rows of the last frame are.
#[derive(Debug, Default)]
enum Place {
    #[default]
    Nowhere,
    Here,
    /// In the caller's lists, which were given this number.
    Lent(u64),
}

impl LiveRows {
    pub(super) fn bytes(&self) -> usize {
        self.blocks.bytes()
            + self.rows.bytes()
            + self.spare.bytes()
            + self.changes.capacity() * size_of::<u64>()
            + self.sort.bytes()
            + (self.starts.capacity() + self.begins.capacity()) * size_of::<usize>()
    }

    /// Whether the caller's lists may hold the rows from frame to frame, so that no copy is needed.
    pub(super) fn may_lend(&self) -> bool {
        !self.stay
    }

    /// Notes that the caller's lists have been filled with all rows of a frame and serve as the copy.
    pub(super) fn lend(&mut self, lists: &mut NeighborLists) {
        let number = FRAMES.fetch_add(1, Ordering::Relaxed);
        lists.set_number(number);
        self.place = Place::Lent(number);
    }

    /// Notes that the rows of a frame are here.
    pub(super) fn keep(&mut self) {
        self.place = Place::Here;
    }

    /// Takes the rows of the last frame out of the caller's lists, if they are there; or copies them, if a test of the
    /// caller's, which may panic, is called before these lists are filled. Returns whether the rows are here now.
    pub(super) fn take_back(
        &mut self,
        (lists, axes): (&mut NeighborLists, usize),
        is_tested: bool,
        workers: Workers<'_>,
    ) -> bool {
        match self.place {
            Place::Nowhere => return false,
            Place::Here => {}
            Place::Lent(number) if lists.number() == number && is_tested => {
                copy_rows(lists, (&mut self.rows, axes), workers);
            }
            Place::Lent(number) if lists.number() == number => self.rows.swap_ids(lists),
            Place::Lent(_) => {
                (self.place, self.stay) = (Place::Nowhere, true);
                return false;
            }
        }
        self.place = Place::Here;
        true
    }

    /// Makes the rows of this frame, so many, from the rows of the last frame and the changes of candidates: in the
    /// caller's lists, or, if none are given, here.
    pub(super) fn change(
        &mut self,
        (lists, count, axes): (Option<&mut NeighborLists>, usize, usize),
        of: (Names<'_>, bool, OfStrays<'_>),
        (isa, workers): (Isa, Workers<'_>),
    ) {
        self.note(of, workers);
        self.rows.add_rows(count);
        let Self { rows, spare, changes, starts, begins, .. } = self;
        let (rows, changes, is_spare) = (&*rows, &*changes, lists.is_none());
        let out = lists.unwrap_or(spare);
        let tasks = rows.len().div_ceil(ROWS);
        resize_with_headroom(starts, tasks + 1);
        for (task, start) in starts.iter_mut().enumerate() {
            *start = changes.partition_point(|&change| row_of(change) < task * ROWS);
        }
        let starts = &*starts;
        let of_task = |task: usize| &changes[starts[task]..starts[task + 1]];
        resize_with_headroom(begins, tasks + 1);
        begins[0] = 0;
        workers.fill_blocks("rows of tasks", &mut begins[1..], 1, |task, ends| {
            let taken = of_task(task).iter().filter(|&&change| is_taken(change)).count();
            let offsets = &rows.offsets()[task * ROWS..=((task + 1) * ROWS).min(rows.len())];
            ends[0] = offsets[offsets.len() - 1] - offsets[0] + of_task(task).len() - 2 * taken;
        });
        for task in 0..tasks {
            begins[task + 1] += begins[task];
        }
        let begins = &*begins;
        workers.fill_blocks("row ends", out.room_for_rows(rows.len()), ROWS, |first, ends| {
            end_rows((&rows.offsets()[first..], first), of_task(first / ROWS), begins[first / ROWS], ends);
        });
        let neighbors = out.room_for_neighbors(begins[tasks], axes);
        let len = neighbors.len();
        workers.fill_parts("rows", begins, (neighbors, &mut vec![(); len]), |task, out, _| {
            let written = task * ROWS..((task + 1) * ROWS).min(rows.len());
            run(isa, Write { rows, written, changes: of_task(task), out });
        });
        // The rows of bodies that have gone are empty.
        out.truncate_rows(count);
        if is_spare {
            swap(&mut self.rows, &mut self.spare);
        }
    }

    /// Notes all changes, by the rows that they are in.
    fn note(&mut self, (names, mirrored, (of_strays, marks)): (Names<'_>, bool, OfStrays<'_>), workers: Workers<'_>) {
        let Self { blocks, changes, sort, starts, .. } = self;
        let blocks = blocks.all();
        // Pairs of stray bodies are no candidates any more, whatever became of them.
        let some_stray = !marks.is_empty();
        let goes_on = |pair: [u32; 2]| !some_stray || !marks.has_any(pair);
        resize_with_headroom(starts, blocks.len() + 1);
        if some_stray {
            workers.fill_blocks("changes", &mut starts[1..], 1, |number, count| {
                let changed = blocks[number].begun().iter().chain(blocks[number].ended());
                count[0] = changed.filter(|&&at| goes_on(names.pair(blocks[number].pair(at.into())))).count();
            });
        } else {
            starts[1..].iter_mut().zip(blocks).for_each(|(slot, block)| *slot = block.changes(0) + block.changes(1));
        }
        starts[0] = 0;
        for number in 0..blocks.len() {
            starts[number + 1] = starts[number] + (starts[number + 1] << u32::from(mirrored));
        }
        let of_candidates = starts[blocks.len()];
        resize_with_headroom(changes, of_candidates + (of_strays.len() << u32::from(mirrored)));
        let mut room = changes[of_candidates..].iter_mut();
        for &([a, b], taken) in of_strays {
            let both = [[a, b], [b, a]];
            for [row, id] in both.into_iter().take(1 + usize::from(mirrored)) {
                if let Some(slot) = room.next() {
                    *slot = change_of(row, id, taken);
                }
            }
        }
        let len = of_candidates;
        workers.fill_parts("changes", starts, (&mut changes[..len], &mut vec![(); len]), |number, out, _| {
            let (block, mut slots) = (&blocks[number], out.iter_mut());
            let mut note = |row: u32, id: u32, taken: bool| {
                if let Some(slot) = slots.next() {
                    *slot = change_of(row, id, taken);
                }
            };
            for (changed, taken) in [(block.begun(), false), (block.ended(), true)] {
                if are_far(blocks) {
                    block.prefetch(changed);
                }
                for &at in changed {
                    let [a, b] = names.pair(block.pair(at.into()));
                    if !goes_on([a, b]) {
                        continue;
                    }
                    note(a, b, taken);
                    if mirrored {
                        note(b, a, taken);
                    }
                }
            }
        });
        sort.sort_by_code_on(changes, workers, |&change| change >> 1);
    }

    /// Fills lists with a copy of the rows that are here.
    pub(super) fn copy(&self, lists: &mut NeighborLists, axes: usize, workers: Workers<'_>) {
        copy_rows(&self.rows, (lists, axes), workers);
    }
}

/// Fills lists with a copy of rows.
fn copy_rows(rows: &NeighborLists, (lists, axes): (&mut NeighborLists, usize), workers: Workers<'_>) {
    let (ends, neighbors) = lists.room_for(rows.len(), rows.neighbors().len(), axes);
    workers.fill_blocks("row ends", ends, BLOCK, |first, ends| {
        ends.copy_from_slice(&rows.offsets()[first + 1..][..ends.len()]);
    });
    workers.fill_blocks("rows", neighbors, BLOCK, |first, some| {
        some.copy_from_slice(&rows.neighbors()[first..][..some.len()]);
    });
}

#[inline(always)]
fn change_of(row: u32, id: u32, taken: bool) -> u64 {
    u64::from(row) << ROW | u64::from(id) << 1 | u64::from(taken)
}

#[inline(always)]
fn row_of(change: u64) -> usize {
    (change >> ROW) as usize
}

#[inline(always)]
fn id_of(change: u64) -> u32 {
    (change >> 1) as u32
}

#[inline(always)]
fn is_taken(change: u64) -> bool {
    change & 1 == 1
}

/// Finds where up to [`ROWS`] rows from number `first` on end, the first of which begins at `begin`. `offsets` says
/// where the rows ended before; `changes` are theirs.
fn end_rows((offsets, first): (&[usize], usize), changes: &[u64], begin: usize, ends: &mut [usize]) {
    let mut more = [0_isize; ROWS];
    for &change in changes {
        more[row_of(change) - first] += if is_taken(change) { -1 } else { 1 };
    }
    let mut end = begin;
    for ((slot, more), of_row) in ends.iter_mut().zip(more).zip(offsets.windows(2)) {
        end = (end + of_row[1] - of_row[0]).wrapping_add_signed(more);
        *slot = end;
    }
}

/// Writes some rows.
struct Write<'a> {
    /// The rows as they were.
    rows: &'a NeighborLists,
    written: Range<usize>,
    changes: &'a [u64],
    out: &'a mut [u32],
}

impl LaneWork for Write<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { rows, written, changes, out } = self;
        let (offsets, neighbors) = (rows.offsets(), rows.neighbors());
        // Up to where ids of the old rows have been copied or left out; and how many ids have been written.
        let (mut from, mut len) = (offsets[written.start], 0);
        for &change in changes {
            let (row, id) = (row_of(change), id_of(change));
            let place = place_of::<L>(id, neighbors, offsets[row].max(from)..offsets[row + 1]);
            len = copied(neighbors, from..place, out, len);
            // No processor could foresee whether the id comes or is taken away. An id that is taken away is written
            // too, and then written over.
            if let Some(slot) = out.get_mut(len) {
                *slot = id;
            }
            let taken = usize::from(is_taken(change));
            (from, len) = (place + taken, len + 1 - taken);
        }
        copied(neighbors, from..offsets[written.end], out, len);
    }
}

/// Copies ids to a place, several at once. The last ones written may be too many; what comes next is written over them.
/// Returns where the ids end.
#[inline(always)]
fn copied(ids: &[u32], from: Range<usize>, out: &mut [u32], place: usize) -> usize {
    let end = place + from.len();
    let (mut at, mut to) = (from.start, place);
    while to < end {
        let (Some(some), Some(room)) = (ids[at..].first_chunk::<COPIED>(), out[to..].first_chunk_mut::<COPIED>())
        else {
            out[to..end].copy_from_slice(&ids[at..from.end]);
            break;
        };
        *room = *some;
        (at, to) = (at + COPIED, to + COPIED);
    }
    end
}

/// Returns where the first of some ascending ids stands that is not less than `id`.
#[inline(always)]
fn place_of<L: Lanes>(id: u32, ids: &[u32], Range { mut start, end }: Range<usize>) -> usize {
    let Some(less) = id.checked_sub(1) else { return start };
    while let Some(some) = ids[start..].first_chunk::<LOOKED_AT>() {
        let [low, high] = some.as_chunks().0 else { break };
        let not_less = u32::from(L::greater_ids(low, less)) | u32::from(L::greater_ids(high, less)) << LANES;
        let place = start + (not_less.trailing_zeros() as usize).min(LOOKED_AT);
        if not_less != 0 || place >= end {
            return place.min(end);
        }
        start = place;
    }
    start + ids[start..end].iter().take_while(|&&other| other < id).count()
}

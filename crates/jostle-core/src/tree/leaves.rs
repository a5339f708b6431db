//! Writes sorted records to leaves: structure of arrays, sixteen places per leaf, and a box.

use core::ops::Range;
use core::ptr;

use super::level::LevelSlots;
use super::raise::{LowLevels, Run};
use super::shape::{Deal, Part, Record, Shape, Source};
use super::sort::{LocalSort, SortSegment, copy_centers, take_over};
use super::{LEAF, Level, LinearTree};
use crate::axes::Axes;
use crate::fours::{Four, at_once, columns};
use crate::isa::{Isa, Work};
use crate::parallel::disjoint::Disjoint;
use crate::parallel::groups::Groups;
use crate::parallel::lookback::Prefix;
use crate::parallel::scratch::{ScratchPool, reserve};
use crate::parallel::tasks::Tasks;
use crate::parallel::workers::Workers;
use crate::prefetch::prefetch_all_to_write;
use crate::radix::Dealer;
use crate::sixteen::Ids;

/// Returns how many leaves `bodies` bodies make in general: few leaves are cut short by a gap, and one in each segment
/// by the segment's end.
pub(super) fn expected_leaves(bodies: usize) -> usize {
    bodies / LEAF + bodies / (8 * LEAF) + LEAF
}

/// How many leaves ahead of the one that is filled memory is asked for, where the tree is not in a core's own cache
/// (`docs/measurements/threads.md`).
const AHEAD: usize = 24;

/// The most bodies of a tree that stays in a core's own cache.
const IN_CACHE: usize = 1 << 17;

impl<const D: usize> LinearTree<D> {
    /// Makes room for `leaves` leaves, and keeps the existing ones.
    pub(super) fn reserve_leaves<S: Shape<D>>(&mut self, part: &mut Part<S, D>, leaves: usize) {
        while self.levels.len() < 2 {
            self.levels.push(Level::default());
        }
        self.levels[0].reserve(leaves);
        self.levels[1].reserve(leaves.div_ceil(LEAF));
        // The first call gets the number of leaves that bodies make in general; later this number may grow from build
        // to build.
        let room = if self.ids.is_empty() { leaves } else { leaves + leaves / 8 + LEAF };
        if part.leaves.len() < leaves {
            reserve(&mut part.leaves, room);
            part.leaves.resize(leaves, S::NONE);
        }
        if self.ids.len() < leaves {
            reserve(&mut self.ids, room);
            reserve(&mut self.leaf_starts, room + 1);
            self.ids.resize(leaves, Ids([0; LEAF]));
            self.leaf_starts.resize(leaves + 1, 0);
        }
    }

    /// Puts the records of each segment in order and fills its leaves. The number of its first leaf is known once all
    /// segments before it are in order. That is soon, so its records are still in cache.
    pub(super) fn fill_leaves<S: Shape<D>>(
        &mut self,
        (part, deal): (&mut Part<S, D>, &mut Deal<S, D>),
        workers: Workers<'_>,
    ) {
        self.reserve_leaves(part, expected_leaves(self.len));
        let (s, len) = (&mut self.scratch, self.len);
        let segments = deal.dealer.segments().len();
        s.first_leaves.reset(segments);
        s.locals.prepare(workers.count(), |local| local.reserve::<D>(self.len, segments, true));
        let room = part.leaves.len().min(self.ids.len());
        s.nodes.reset(room.div_ceil(LEAF));
        let shared = self.shared((part, deal), workers);
        let of_tree = (shared.dealer.tasks(), Some(len));
        workers.run_in_shares("segments", of_tree, |tasks| {
            let work = || shared.locals.with(|local| shared.sort_and_fill(local, tasks, room));
            shared.first_leaves.worker(work);
        });
        let leaves = shared.first_leaves.total();
        if leaves > room {
            self.reserve_leaves(part, leaves);
            self.scratch.nodes.grow(leaves.div_ceil(LEAF));
            let shared = self.shared((part, deal), workers);
            workers.run_in_shares("leaves", of_tree, |tasks| {
                let mut run = shared.run();
                for at in tasks.in_turn().flat_map(|task| shared.dealer.task(task)) {
                    if let Some(leaves) = shared.first_leaves.range_of(at).filter(|leaves| leaves.end > room) {
                        shared.fill(at, leaves, &mut run);
                    }
                }
                shared.end(run);
            });
        }
        self.end_leaves(leaves);
    }

    /// Ends the filling of leaves: notes how many they are, and the box of the last node if that has fewer leaves than
    /// it may have.
    #[allow(unsafe_code, reason = "a box that no task has")]
    pub(super) fn end_leaves(&mut self, leaves: usize) {
        self.leaves = leaves;
        self.leaf_starts[leaves] = self.len as u32;
        self.levels[0].set_len(leaves);
        if !leaves.is_multiple_of(LEAF) {
            // SAFETY: there is room for the nodes of all leaves, and all tasks have ended.
            unsafe { LowLevels::new(&mut self.levels).raise(leaves / LEAF) }
        }
        self.levels[1].set_len(leaves.div_ceil(LEAF));
    }

    fn shared<'a, S: Shape<D>>(
        &'a mut self,
        (part, deal): (&'a mut Part<S, D>, &'a mut Deal<S, D>),
        workers: Workers<'_>,
    ) -> Shared<'a, S, D> {
        let s = &mut self.scratch;
        Shared {
            dealer: &deal.dealer,
            records: Disjoint::new(&mut deal.records),
            are_shared: workers.count() > 1,
            locals: &s.locals,
            first_leaves: &s.first_leaves,
            places: Disjoint::new(&mut s.places),
            marks: Disjoint::new(&mut s.marks),
            bodies: Disjoint::new(&mut part.leaves),
            ids: Disjoint::new(&mut self.ids),
            starts: Disjoint::new(&mut self.leaf_starts),
            levels: LowLevels::new(&mut self.levels),
            nodes: &s.nodes,
            isa: self.isa,
        }
    }
}

/// The state shared by the workers that sort segments and fill leaves.
struct Shared<'a, S: Shape<D>, const D: usize> {
    dealer: &'a Dealer,
    records: Disjoint<'a, S::Record>,
    /// Whether several workers have written the records.
    are_shared: bool,
    locals: &'a ScratchPool<LocalSort>,
    first_leaves: &'a Prefix,
    /// Indexed by rank.
    places: Disjoint<'a, u16>,
    marks: Disjoint<'a, u16>,
    /// Indexed by leaf.
    bodies: Disjoint<'a, S::Sixteen>,
    ids: Disjoint<'a, Ids>,
    starts: Disjoint<'a, u32>,
    levels: LowLevels<'a, D>,
    /// How many leaves of each node have their boxes.
    nodes: &'a Groups,
    isa: Isa,
}

impl<S: Shape<D>, const D: usize> Shared<'_, S, D> {
    /// Does a worker's part, with room for `room` leaves in all: puts segments in order, and fills their leaves as soon
    /// as it is known where these begin.
    fn sort_and_fill(&self, local: &mut LocalSort, tasks: &mut dyn Tasks, room: usize) {
        let mut run = self.run();
        // Fills the waiting segments whose leaves are known, from number `next` on; returns the first that has to wait.
        let mut fill_known = |waiting: &[u32], mut next: usize| {
            while let Some(&at) = waiting.get(next)
                && let Some(leaves) = self.first_leaves.range_of(at as usize)
            {
                if leaves.end <= room {
                    self.fill(at as usize, leaves, &mut run);
                }
                next += 1;
            }
            next
        };
        local.waiting.clear();
        let mut next = 0;
        while let Some((task, _)) = tasks.next_task(false) {
            for at in self.dealer.task(task) {
                self.sort(local, at);
                local.waiting.push(at as u32);
                if tasks.ends_share() {
                    next = fill_known(&local.waiting, next);
                }
            }
        }
        while let Some(&at) = local.waiting.get(next) {
            if self.first_leaves.wait_for(at as usize).is_none() {
                return;
            }
            next = fill_known(&local.waiting, next);
        }
        self.end(run);
    }

    fn run(&self) -> Run<'_, D> {
        Run::new(&self.levels, self.nodes)
    }

    #[allow(unsafe_code, reason = "leaves that were filled")]
    fn end(&self, mut run: Run<'_, D>) {
        // SAFETY: there is room for the nodes of all leaves, and each leaf is filled once.
        unsafe { run.end() }
    }

    /// Lists the places of a segment's records by rank, and marks where its leaves begin.
    #[allow(unsafe_code, reason = "each segment is a range of ranks of its own")]
    fn sort(&self, local: &mut LocalSort, at: usize) {
        let segment = self.dealer.segments()[at];
        // SAFETY: segments are disjoint ranges of ranks, and each is in one task.
        let (places, marks, records) = unsafe {
            let range = segment.range();
            (self.places.range(range.clone()), self.marks.range(range.clone()), self.records.range(range))
        };
        if self.are_shared {
            take_over(records);
        }
        let LocalSort { order, columns, .. } = local;
        let centers = copy_centers(records, columns);
        let count = self.isa.run(SortSegment { order, centers, bounds: None, places, marks });
        self.first_leaves.end(at, count);
    }

    /// Fills the leaves of a segment that is in order, given their numbers.
    #[allow(unsafe_code, reason = "each segment is a range of ranks of its own, and has leaves of its own")]
    fn fill(&self, at: usize, leaves: Range<usize>, run: &mut Run<'_, D>) {
        let segment = self.dealer.segments()[at];
        // SAFETY: segments are disjoint ranges of ranks, and their leaves are disjoint by the scan. Each segment is
        // filled once, after it has been sorted: by the worker that sorted it, or in a region of its own.
        let (records, places, marks, bodies, ids, starts) = unsafe {
            let marks = &self.marks.range(segment.range())[..leaves.len()];
            let (bodies, ids) = (self.bodies.range(leaves.clone()), self.ids.range(leaves.clone()));
            let (records, places) = (self.records.range(segment.range()), self.places.range(segment.range()));
            (records, places, marks, bodies, ids, self.starts.range(leaves.clone()))
        };
        for (start, &mark) in starts.iter_mut().zip(marks) {
            *start = segment.start + u32::from(mark);
        }
        let ahead = if self.places.len() > IN_CACHE { AHEAD } else { 0 };
        self.isa.run(FillLeaves::<S, _, D> { source: &*records, places, marks, bodies, ids, ahead });
        // SAFETY: as above, and there is room for the nodes of all leaves.
        unsafe {
            bound_leaves::<S, D>(self.isa, bodies, &self.levels.leaves, leaves.start);
            run.add(leaves);
        }
    }
}

/// Notes the boxes of successive leaves, of which the first is number `first`.
///
/// # Safety
/// The boxes are within the level, and no other task touches them meanwhile.
#[allow(unsafe_code, reason = "slot writes")]
pub(super) unsafe fn bound_leaves<S: Shape<D>, const D: usize>(
    isa: Isa,
    bodies: &[S::Sixteen],
    boxes: &LevelSlots<'_, D>,
    first: usize,
) {
    isa.run(BoundLeaves::<S, D> { bodies, boxes, first });
}

/// Fills the leaves of a segment.
pub(super) struct FillLeaves<'a, S: Shape<D>, F, const D: usize> {
    pub(super) source: F,
    /// The place of each rank.
    pub(super) places: &'a [u16],
    /// The first rank of each leaf, within the segment.
    pub(super) marks: &'a [u16],
    pub(super) bodies: &'a mut [S::Sixteen],
    pub(super) ids: &'a mut [Ids],
    /// How many leaves ahead memory is asked for; 0 for none.
    pub(super) ahead: usize,
}

impl<S: Shape<D>, F: Source<Record = S::Record>, const D: usize> Work for FillLeaves<'_, S, F, D> {
    type Output = ();

    /// Checks the greatest place of a leaf against the number of bodies, not each place: this saves a tenth of the time
    /// of a small tree.
    #[inline(always)]
    #[allow(unsafe_code, reason = "bodies at places that were checked before")]
    fn run(self) {
        let Self { source, places, marks, bodies, ids, ahead } = self;
        let all = source.len();
        for (leaf, (bodies, ids)) in bodies.iter_mut().zip(ids).enumerate() {
            if ahead > 0 {
                prefetch_all_to_write(ptr::from_ref(bodies).wrapping_add(ahead));
                prefetch_all_to_write(ptr::from_ref(ids).wrapping_add(ahead));
            }
            let start = usize::from(marks[leaf]);
            let end = marks.get(leaf + 1).map_or(places.len(), |&end| usize::from(end));
            let mut fill = |lane: usize, place: u16| {
                // SAFETY: all loops below follow a check of all their places.
                let record = unsafe { source.record(place) };
                for word in 0..words_of::<S, D>() {
                    S::column(bodies, word)[lane] = record.word(word);
                }
                ids.0[lane] = record.id();
            };
            let greatest = |places: &[u16]| usize::from(places.iter().fold(0, |a, &b| if a > b { a } else { b }));
            if let Ok(places) = <&[u16; LEAF]>::try_from(&places[start..end]) {
                assert!(greatest(places) < all, "a place beyond the bodies");
                for (four, places) in places.as_chunks::<4>().0.iter().enumerate() {
                    // SAFETY: all places were checked above.
                    let record = |at: usize| unsafe { source.record(places[at]) };
                    let records = [record(0), record(1), record(2), record(3)];
                    if F::IN_MEMORY {
                        set_four::<S, D>(bodies, ids, 4 * four, &records);
                    } else {
                        set_four_made::<S, D>(bodies, ids, 4 * four, &records);
                    }
                }
            } else {
                assert!(start == end || greatest(&places[start..end]) < all, "a place beyond the bodies");
                places[start..end].iter().enumerate().for_each(|(lane, &place)| fill(lane, place));
                S::fill_up(bodies, end - start);
                ids.0[end - start..].fill(0);
            }
        }
    }
}

/// Returns the number of words of a record without the id.
const fn words_of<S: Shape<D>, const D: usize>() -> usize {
    size_of::<S::Record>() / size_of::<u32>() - 1
}

/// As [`set_four`], for records that do not lie in memory: each of their words is at hand.
#[inline(always)]
fn set_four_made<S: Shape<D>, const D: usize>(
    bodies: &mut S::Sixteen,
    ids: &mut Ids,
    lane: usize,
    [a, b, c, d]: &[S::Record; 4],
) {
    for word in 0..words_of::<S, D>() {
        let column = at_once([a.word(word), b.word(word), c.word(word), d.word(word)]);
        S::column(bodies, word)[lane..lane + 4].copy_from_slice(&column);
    }
    ids.0[lane..lane + 4].copy_from_slice(&[a.id(), b.id(), c.id(), d.id()]);
}

/// Sets four lanes of a leaf, from number `lane` on: the four words of a column are stored at once, not word by word.
#[inline(always)]
fn set_four<S: Shape<D>, const D: usize>(
    bodies: &mut S::Sixteen,
    ids: &mut Ids,
    lane: usize,
    records: &[S::Record; 4],
) {
    let words = size_of::<S::Record>() / size_of::<u32>();
    let (first, last) = (columns(records, 0), columns(records, words - 4));
    for word in 0..words - 1 {
        let column = if word < 4 { first[word] } else { last[word + 4 - words] };
        S::column(bodies, word)[lane..lane + 4].copy_from_slice(&column.axes(f32::from_bits));
    }
    if words == 5 {
        // For one word more than four, loading columns a second time costs more than it saves.
        (0..4).for_each(|at| ids.0[lane + at] = records[at].id());
    } else {
        ids.0[lane..lane + 4].copy_from_slice(&last[3]);
    }
}

/// Leaves whose boxes are found together.
const FOUR: usize = 4;

/// Finds the boxes of successive leaves, of which the first is number `first`; nobody else has these boxes.
struct BoundLeaves<'a, S: Shape<D>, const D: usize> {
    bodies: &'a [S::Sixteen],
    boxes: &'a LevelSlots<'a, D>,
    first: usize,
}

impl<S: Shape<D>, const D: usize> Work for BoundLeaves<'_, S, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    /// Takes four leaves at a time, whose boxes lie side by side in a node. The first and the last step may have fewer;
    /// then they take one of them several times.
    #[inline(always)]
    #[allow(unsafe_code, reason = "boxes that are nobody else's")]
    fn run(self) {
        let Self { bodies, boxes, first } = self;
        let mut done = 0;
        while done < bodies.len() {
            let count = (FOUR - (first + done) % FOUR).min(bodies.len() - done);
            let last = done + count - 1;
            let [a, b, c, d] =
                [&bodies[done], &bodies[(done + 1).min(last)], &bodies[(done + 2).min(last)], &bodies[last]];
            for axis in 0..D {
                let (a, b, c, d) = (S::reach(a, axis), S::reach(b, axis), S::reach(c, axis), S::reach(d, axis));
                let lo = Four::least_of_each([a.0, b.0, c.0, d.0]).outward_lo();
                let hi = Four::greatest_of_each([a.1, b.1, c.1, d.1]).outward_hi();
                // SAFETY: up to the next multiple of four, the boxes lie in one node; the rest is what the caller has
                // promised.
                unsafe { boxes.write_some(first + done, count, axis, lo, hi) }
            }
            done += count;
        }
    }
}

//! Makes the rows of many sets, in open space, of the rows of each set in each that it meets.

use core::mem;
use core::ops::Range;

use jostle_core::disjoint::Disjoint;
use jostle_core::{Isa, Workers};
use jostle_sets::prepare::job::Job;

use crate::InputError;
use crate::join::counts::Tests;
use crate::join::hits::has_memory_for;
use crate::neighbors::rows::Rows;
use crate::neighbors::{NeighborLists, RowEngine, Unfinished};
use crate::pairs::engine::too_many;
use crate::pairs::plan::Plan;

/// Rows that one task puts together.
const ROWS: usize = 1 << 10;

/// The rows of the bodies of one set in another, or in their own.
#[derive(Debug, Default)]
struct Part {
    sets: [u32; 2],
    lists: NeighborLists,
}

/// The rows of sets in others, and the memory of earlier ones.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// In ascending order of sets, as in `sets`; then memory of earlier ones.
    parts: Vec<Part>,
    sets: Vec<[u32; 2]>,
    /// Where the neighbours of each set begin among all.
    starts: Vec<usize>,
}

impl Parts {
    pub(super) fn bytes(&self) -> usize {
        self.parts.iter().map(|part| size_of::<Part>() + part.lists.bytes()).sum::<usize>()
            + self.sets.capacity() * size_of::<[u32; 2]>()
            + self.starts.capacity() * size_of::<usize>()
    }

    /// Returns the parts to be filled for these jobs. Each is of the same sets in each frame, and has room for as many
    /// neighbours as it had.
    fn begin(&mut self, jobs: &[Job], kind: Rows) -> &mut [Part] {
        self.sets.clear();
        for [i, j] in jobs.iter().map(|job| job.sets) {
            let ways = if i != j && kind == Rows::Full { 2 } else { 1 };
            self.sets.extend([[i, j], [j, i]].into_iter().take(ways));
        }
        self.sets.sort_unstable();
        let count = self.parts.len().max(self.sets.len());
        self.parts.resize_with(count, Part::default);
        self.parts.iter_mut().zip(&self.sets).for_each(|(part, &sets)| part.sets = sets);
        &mut self.parts[..self.sets.len()]
    }

    /// Finds where the neighbours of each of so many sets begin.
    fn find_starts(&mut self, sets: usize) {
        self.starts.clear();
        let mut start = 0;
        for set in 0..sets {
            self.starts.push(start);
            start += self.of(set as u32).iter().map(|part| part.lists.neighbors().len()).sum::<usize>();
        }
    }

    /// The rows of the bodies of a set, in each set that it meets, ascending.
    fn of(&self, set: u32) -> &[Part] {
        let filled = &self.parts[..self.sets.len()];
        let [first, end] = [set, set + 1].map(|set| filled.partition_point(|part| part.sets[0] < set));
        &filled[first..end]
    }
}

/// The parts, and the number of the first body of each set, and of all bodies at the end.
#[derive(Clone, Copy)]
struct Merge<'a> {
    parts: &'a Parts,
    starts: &'a [u32],
}

impl Merge<'_> {
    /// The set of a row, and its number there. Of the end of all rows, a set without bodies or the end of the last.
    fn set_of(&self, row: usize) -> (usize, usize) {
        let set = self.starts.partition_point(|&start| start as usize <= row).min(self.starts.len() - 1) - 1;
        (set, row - self.starts[set] as usize)
    }

    /// Where a row begins among all neighbours.
    fn place(&self, row: usize) -> usize {
        let (set, row) = self.set_of(row);
        let before = self.parts.of(set as u32).iter().map(|part| part.lists.offsets()[row]).sum::<usize>();
        self.parts.starts[set] + before
    }

    /// Writes the neighbours of some rows, and where each row ends; the first begins at `start`.
    fn put(&self, rows: Range<usize>, (start, ends): (usize, &mut [usize]), neighbors: &mut [u32]) {
        let (mut at, mut next) = (0, rows.start);
        while next < rows.end {
            let (set, first) = self.set_of(next);
            let of_set = next..rows.end.min(self.starts[set + 1] as usize);
            let parts = self.parts.of(set as u32);
            next = of_set.end;
            for (row, end) in (first..).zip(&mut ends[of_set.start - rows.start..of_set.end - rows.start]) {
                for part in parts {
                    let (from, first) = (part.lists.of(row), self.starts[part.sets[1] as usize]);
                    let to = &mut neighbors[at..at + from.len()];
                    to.iter_mut().zip(from).for_each(|(slot, &id)| *slot = first + id);
                    at += from.len();
                }
                *end = start + at;
            }
        }
    }
}

impl<const D: usize> RowEngine<D> {
    /// Fills the lists of many sets in open space.
    pub(super) fn fill_sets(
        &mut self,
        (isa, max): (Isa, usize),
        plan: Plan<'_, D>,
        kind: Rows,
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) -> Result<Tests, InputError> {
        let mut parts = mem::take(&mut self.parts);
        let filled = self.fill_parts((isa, max), plan, kind, &mut parts, workers);
        let merged = filled.and_then(|tests| {
            if !has_memory_for(lists.more_bytes(tests.pairs as usize, D)) {
                return Err(too_many(tests.pairs, max));
            }
            parts.find_starts(plan.exact.sets.len());
            self.merge(&parts, (plan, tests.pairs as usize), lists, workers);
            Ok(tests)
        });
        self.parts = parts;
        if merged.is_ok() {
            self.measure(plan.exact, lists, (isa, workers));
        }
        merged
    }

    /// Fills the rows of each set in each that it meets. If these are too many, all are counted.
    fn fill_parts(
        &mut self,
        (isa, max): (Isa, usize),
        plan: Plan<'_, D>,
        kind: Rows,
        parts: &mut Parts,
        workers: Workers<'_>,
    ) -> Result<Tests, InputError> {
        let (mut all, mut is_refused) = (Tests::default(), false);
        for Part { sets, lists } in parts.begin(plan.jobs, kind) {
            let kind = if sets[0] == sets[1] { kind } else { Rows::Full };
            let left = max.saturating_sub(usize::try_from(all.pairs).unwrap_or(usize::MAX));
            let of = (plan.rows_between(*sets), plan.ask_callers());
            match self.fill_rows((isa, left), of, kind, (lists, false), workers) {
                Ok(tests) => all = all.plus(tests),
                Err(InputError::TooManyPairs { pairs, .. }) => {
                    is_refused = true;
                    all.pairs += pairs;
                }
                Err(other) => return Err(other),
            }
        }
        if is_refused { Err(too_many(all.pairs, max)) } else { Ok(all) }
    }

    /// Puts all rows of all sets side by side: so many neighbours.
    #[allow(unsafe_code, reason = "each block has rows of its own")]
    fn merge(
        &mut self,
        parts: &Parts,
        (plan, neighbors): (Plan<'_, D>, usize),
        lists: &mut NeighborLists,
        workers: Workers<'_>,
    ) {
        let (rows, merge) = (self.numbers.rows(plan.exact), Merge { parts, starts: self.numbers.starts() });
        let unfinished = Unfinished(lists);
        let (ends, all) = unfinished.0.room_for(rows, neighbors, D);
        let (ends, all) = (Disjoint::new(ends), Disjoint::new(all));
        workers.run("merge rows", rows.div_ceil(ROWS), |block| {
            let range = block * ROWS..((block + 1) * ROWS).min(rows);
            let places = merge.place(range.start)..merge.place(range.end);
            let start = places.start;
            // SAFETY: blocks have no row in common, and places ascend with rows: neither the ends nor the neighbours of
            // two blocks overlap.
            let (ends, neighbors) = unsafe { (ends.range(range.clone()), all.range(places)) };
            merge.put(range, (start, ends), neighbors);
        });
        unfinished.0.note_sets(self.numbers.starts());
        unfinished.finish();
    }
}

//! Neighbour lists as ASE has them: an array for each quantity, one value a neighbour, sorted by the first of each
//! pair.

use std::sync::atomic::{AtomicBool, Ordering};

use engine::{Input, InputError, NeighborColumns, PairFinder, Rows};

use crate::dimensions::MaxPairs;
use crate::freed::Freed;
use crate::lists::{BLOCK, Columns, DISTANCES, SHIFTS, VECTORS, finish};
use crate::space::Cell;
use crate::threads::Threads;

/// The places of columns of int64 in free memory.
pub(crate) const I: usize = 0;
pub(crate) const J: usize = 1;
pub(crate) const WIDE_SHIFTS: usize = 2;

/// The places of columns that are handed out, each in the free memory of its type of number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    pub(crate) distances: usize,
    pub(crate) vectors: usize,
    pub(crate) shifts: usize,
}

/// The places of columns as the search has filled them in.
const FOUND: Places = Places { distances: DISTANCES, vectors: VECTORS, shifts: SHIFTS };

/// The places of columns with the neighbours that were chosen.
const CHOSEN: Places = Places { distances: DISTANCES + 2, vectors: VECTORS + 2, shifts: SHIFTS + 1 };

/// The quantities to return, each by its letter.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Quantities {
    i: bool,
    j: bool,
    distances: bool,
    vectors: bool,
    shifts: bool,
}

impl Quantities {
    /// The bytes of one neighbour: the columns that the search fills in, and those that are made of them.
    fn bytes(self, found: Columns, wide: bool, dimensions: usize) -> usize {
        let points = [self.i, self.j].into_iter().filter(|&asked| asked).count();
        let wide_shifts = if wide && self.shifts { dimensions } else { 0 };
        found.bytes(dimensions) + size_of::<i64>() * (points + wide_shifts)
    }

    /// Returns the quantities of letters of "ijdDS", or the first other letter.
    pub(crate) fn of(letters: &str) -> Result<Self, char> {
        let mut wanted = Self::default();
        for letter in letters.chars() {
            match letter {
                'i' => wanted.i = true,
                'j' => wanted.j = true,
                'd' => wanted.distances = true,
                'D' => wanted.vectors = true,
                'S' => wanted.shifts = true,
                other => return Err(other),
            }
        }
        Ok(wanted)
    }
}

/// Which of the neighbours found are kept. Distances are compared strictly, as ASE does.
pub(crate) enum Kept {
    /// Neighbours nearer than this.
    Below(f64),
    /// Neighbours nearer than the sum of both radii.
    Radii(Vec<f64>),
    /// Neighbours nearer than the cutoff that a table has for both types.
    Types { of: Vec<u32>, cutoffs: Vec<f64>, types: usize },
}

impl Kept {
    /// Whether all neighbours of a search are kept. A search for neighbours within a cutoff finds few that are not
    /// nearer than the cutoff.
    fn keeps_all(&self, lists: &NeighborColumns, threads: &Threads) -> bool {
        let Self::Below(cutoff) = self else { return false };
        let all = AtomicBool::new(true);
        let note = |below: bool| {
            if !below {
                all.store(false, Ordering::Relaxed);
            }
        };
        threads.each(lists.distances2.chunks(BLOCK).collect(), |block: &[f32]| {
            note(block.iter().fold(true, |all, &d| all & (f64::from(d) < *cutoff)));
        });
        threads.each(lists.distances2_f64.chunks(BLOCK).collect(), |block: &[f64]| {
            note(block.iter().fold(true, |all, d| all & (d < cutoff)));
        });
        all.into_inner()
    }

    fn keeps(&self, i: usize, j: usize, distance: f64) -> bool {
        match self {
            Self::Below(cutoff) => distance < *cutoff,
            Self::Radii(radii) => distance < radii[i] + radii[j],
            Self::Types { of, cutoffs, types } => distance < cutoffs[of[i] as usize * types + of[j] as usize],
        }
    }
}

/// What a search for a table is told beside its input.
pub(crate) struct Wanted {
    pub(crate) quantities: Quantities,
    pub(crate) kept: Kept,
    /// Whether each body is a neighbour of itself.
    pub(crate) itself: bool,
    pub(crate) double: bool,
    /// Whether shifts are in int64.
    pub(crate) wide: bool,
}

/// The quantities that were asked for; all others are empty. Vectors and shifts have one number for each dimension.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) i: Vec<i64>,
    pub(crate) j: Vec<i64>,
    pub(crate) single: Vec<f32>,
    pub(crate) double: Vec<f64>,
    pub(crate) vectors: Vec<f64>,
    pub(crate) shifts: Vec<i32>,
    /// The shifts in int64, where these are asked for: then `shifts` is empty.
    pub(crate) wide_shifts: Vec<i64>,
    pub(crate) places: Places,
}

impl Table {
    /// Turns shifts into int64, as ASE has them.
    pub(crate) fn widen_shifts(&mut self, (threads, freed): (&Threads, &Freed)) {
        let narrow = core::mem::take(&mut self.shifts);
        self.wide_shifts = freed.numbers(WIDE_SHIFTS, narrow.len());
        let blocks = self.wide_shifts.chunks_mut(BLOCK).zip(narrow.chunks(BLOCK)).collect();
        threads.each(blocks, |(wide, narrow): (&mut [i64], &[i32])| {
            wide.iter_mut().zip(narrow).for_each(|(wide, &step)| *wide = step.into());
        });
        freed.give(self.places.shifts, narrow);
    }
}

/// Searches, and makes the table.
pub(crate) fn table<const D: usize>(
    finder: &mut PairFinder<D>,
    input: Input<'_, D>,
    cell: Cell<D>,
    (wanted, max_pairs): (&Wanted, MaxPairs),
    (threads, freed): (&Threads, &Freed),
) -> Result<Table, InputError> {
    let Wanted { quantities, kept, itself, double, wide } = wanted;
    let columns = Columns { distances: true, shifts: quantities.shifts, vectors: quantities.vectors, double: *double };
    let mut lists = columns.lists(freed);
    finder.set_max_pairs(max_pairs.of_bytes(quantities.bytes(columns, *wide, D)));
    finder.on(threads.lend()).neighbors(input, Rows::Full, &mut lists)?;
    let lists = finish::<D>(lists, &cell, threads);
    let mut table = if *itself || !kept.keeps_all(&lists, threads) {
        chosen::<D>(lists, wanted, (threads, freed))
    } else {
        all(lists, *quantities, (threads, freed))
    };
    if *wide {
        table.widen_shifts((threads, freed));
    }
    Ok(table)
}

/// Makes a table of all neighbours. Columns that the search has filled in stay where they are.
fn all(lists: NeighborColumns, quantities: Quantities, (threads, freed): (&Threads, &Freed)) -> Table {
    let NeighborColumns { offsets, neighbors, distances2, distances2_f64, image_shifts, vectors, .. } = lists;
    let len = |wanted: bool| if wanted { neighbors.len() } else { 0 };
    let (mut i, mut j) = (freed.numbers(I, len(quantities.i)), freed.numbers(J, len(quantities.j)));
    let blocks = i.chunks_mut(BLOCK).enumerate().collect();
    threads.each(blocks, |(block, i): (usize, &mut [i64])| {
        let start = block * BLOCK;
        let mut row = offsets.partition_point(|&offset| offset <= start) - 1;
        let mut at = 0;
        while at < i.len() {
            let end = (offsets[row + 1] - start).min(i.len());
            i[at..end].fill(row as i64);
            (at, row) = (end, row + 1);
        }
    });
    let blocks = j.chunks_mut(BLOCK).zip(neighbors.chunks(BLOCK)).collect();
    threads.each(blocks, |(j, neighbors): (&mut [i64], &[u32])| {
        j.iter_mut().zip(neighbors).for_each(|(j, &neighbor)| *j = neighbor.into());
    });
    freed.give(0, neighbors);
    let (single, double, shifts) = (distances2, distances2_f64, image_shifts);
    Table { i, j, single, double, vectors, shifts, wide_shifts: Vec::new(), places: FOUND }
}

/// Takes `len` values from the front of a list.
fn split<'a, T>(list: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let all = core::mem::take(list);
    let (first, rest) = all.split_at_mut(len.min(all.len()));
    *list = rest;
    first
}

/// Successive rows of a table.
struct Part<'a, const D: usize> {
    rows: core::ops::Range<usize>,
    i: &'a mut [i64],
    j: &'a mut [i64],
    single: &'a mut [f32],
    double: &'a mut [f64],
    vectors: &'a mut [[f64; D]],
    shifts: &'a mut [[i32; D]],
}

impl<const D: usize> Part<'_, D> {
    /// Writes one neighbour. A quantity that was not asked for has no room, and is left out.
    fn set(&mut self, at: usize, [i, j]: [usize; 2], distance: f64, vector: [f64; D], shift: [i32; D]) {
        fn put<T>(list: &mut [T], at: usize, value: T) {
            if let Some(slot) = list.get_mut(at) {
                *slot = value;
            }
        }
        put(self.i, at, i as i64);
        put(self.j, at, j as i64);
        // This distance is an f32 wherever `single` has room.
        put(self.single, at, distance as f32);
        put(self.double, at, distance);
        put(self.vectors, at, vector);
        put(self.shifts, at, shift);
    }
}

/// Makes a table of the neighbours that are kept, and of the bodies themselves where they are neighbours of themselves.
fn chosen<const D: usize>(lists: NeighborColumns, wanted: &Wanted, (threads, freed): (&Threads, &Freed)) -> Table {
    let Wanted { quantities, kept, itself, double, .. } = wanted;
    let NeighborColumns { offsets, neighbors, distances2, distances2_f64, image_shifts, vectors, .. } = lists;
    let distance = |at: usize| match distances2_f64.get(at) {
        Some(distance) => *distance,
        None => distances2.get(at).map_or(0.0, |&distance| distance.into()),
    };
    let rows = offsets.len() - 1;
    // Calls `take` with the place of each neighbour of a row that is kept, and with `None` for the body itself.
    let each = |row: usize, take: &mut dyn FnMut(Option<usize>)| {
        let mut own = *itself && kept.keeps(row, row, 0.0);
        for at in offsets[row]..offsets[row + 1] {
            let j = neighbors[at] as usize;
            if own && j >= row {
                take(None);
                own = false;
            }
            if kept.keeps(row, j, distance(at)) {
                take(Some(at));
            }
        }
        if own {
            take(None);
        }
    };
    let per_block = (BLOCK * rows / neighbors.len().max(1)).clamp(1, BLOCK);
    let blocks = rows.div_ceil(per_block);
    let rows_of = |block: usize| block * per_block..((block + 1) * per_block).min(rows);
    let mut counts = vec![0; blocks];
    threads.each(counts.iter_mut().enumerate().collect(), |(block, count): (usize, &mut usize)| {
        rows_of(block).for_each(|row| each(row, &mut |_| *count += 1));
    });
    let total: usize = counts.iter().sum();
    let len = |wanted: bool, each: usize| if wanted { total * each } else { 0 };
    let mut table = Table {
        i: freed.numbers(I, len(quantities.i, 1)),
        j: freed.numbers(J, len(quantities.j, 1)),
        single: freed.numbers(CHOSEN.distances, len(quantities.distances && !double, 1)),
        double: freed.numbers(CHOSEN.distances, len(quantities.distances && *double, 1)),
        vectors: freed.numbers(CHOSEN.vectors, len(quantities.vectors, D)),
        shifts: freed.numbers(CHOSEN.shifts, len(quantities.shifts, D)),
        wide_shifts: Vec::new(),
        places: CHOSEN,
    };
    let (mut i, mut j) = (&mut table.i[..], &mut table.j[..]);
    let (mut single, mut double) = (&mut table.single[..], &mut table.double[..]);
    let (mut to_vectors, mut to_shifts) = (table.vectors.as_chunks_mut().0, table.shifts.as_chunks_mut().0);
    let parts = counts.iter().enumerate().map(|(block, &count)| Part {
        rows: rows_of(block),
        i: split(&mut i, count),
        j: split(&mut j, count),
        single: split(&mut single, count),
        double: split(&mut double, count),
        vectors: split(&mut to_vectors, count),
        shifts: split(&mut to_shifts, count),
    });
    let (from_vectors, from_shifts) = (vectors.as_chunks::<D>().0, image_shifts.as_chunks::<D>().0);
    threads.each(parts.collect(), |mut part: Part<'_, D>| {
        let mut to = 0;
        for row in part.rows.clone() {
            each(row, &mut |from| {
                match from {
                    None => part.set(to, [row, row], 0.0, [0.0; D], [0; D]),
                    Some(at) => {
                        let vector = from_vectors.get(at).copied().unwrap_or([0.0; D]);
                        let shift = from_shifts.get(at).copied().unwrap_or([0; D]);
                        part.set(to, [row, neighbors[at] as usize], distance(at), vector, shift);
                    }
                }
                to += 1;
            });
        }
    });
    freed.give(0, neighbors);
    freed.give(FOUND.distances, distances2);
    freed.give(FOUND.distances, distances2_f64);
    freed.give(FOUND.vectors, vectors);
    freed.give(FOUND.shifts, image_shifts);
    table
}

//! Measures distances, image shifts and vectors of all neighbours, in one pass after the rows, by the formulas of the
//! predicate.
//!
//! Where bodies reach less than half the height of the cell, a neighbour is the nearest of its images: its shift is the
//! difference in fractional coordinates, rounded. Otherwise the job that found a neighbour says its image. For boxes
//! and capsules see [`solids`](super::solids).

use core::ops::{Mul, Range};

use jostle_core::axes::{Axes, Both};
use jostle_core::isa::Work;
use jostle_core::scratch::fill_with_headroom;
use jostle_core::{Isa, Scalar, Workers};
use jostle_sets::input::UnitCell;
use jostle_sets::proxy::{Exact, Measured, each_body};

use crate::neighbors::NeighborLists;
use crate::neighbors::extras::Block;
use crate::neighbors::numbers::Numbers;
use crate::neighbors::told::ToldOf;

/// Neighbours that one task looks at.
const BLOCK: usize = 1 << 14;

/// Bodies whose centres one task copies.
const BODIES: usize = 1 << 13;

/// Bodies whose centres are copied, and neighbours whose rows are noted, at once.
const SOME: usize = 256;

/// Neighbours measured side by side.
const EIGHT: usize = 8;

/// 1.5 * 2^52. A number of less than 2^51 that is added to it is rounded to a whole number, ties to even, which then
/// stands in the last bits. That is one addition on any instruction set.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// The numbers that the predicate measures in.
trait Number: Scalar + Mul<Output = Self> {
    /// The nearest number to one in `f64`.
    fn of(x: f64) -> Self;
}

impl Number for f32 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x as f32
    }
}

impl Number for f64 {
    #[inline(always)]
    fn of(x: f64) -> Self {
        x
    }
}

/// The centre of a body as the predicate has it, with all axes side by side, since neighbours are read in no order.
#[derive(Debug, Clone, Copy)]
#[repr(align(8))]
struct Center<T, const D: usize>([T; D]);

/// Centres by number, of the bodies that have rows and of their neighbours, in the precision of the predicate. Those of
/// one set, and where bodies of all sets are numbered, stand in the first list.
#[derive(Debug, Default)]
pub(super) struct Centers<const D: usize> {
    single: [Vec<Center<f32, D>>; 2],
    double: [Vec<Center<f64, D>>; 2],
    /// By how many cells bodies of all sets have been moved to lie in the cell, where these are numbered.
    wraps: Vec<[i32; D]>,
}

impl<const D: usize> Centers<D> {
    pub(super) fn bytes(&self) -> usize {
        let Self { single, double, wraps } = self;
        wraps.capacity() * size_of::<[i32; D]>()
            + single.iter().map(|list| list.capacity() * size_of::<Center<f32, D>>()).sum::<usize>()
            + double.iter().map(|list| list.capacity() * size_of::<Center<f64, D>>()).sum::<usize>()
    }
}

/// Copies the centres of all bodies of a search, each to its number.
fn read<T: Number, const D: usize>(
    lists: &mut [Vec<Center<T, D>>; 2],
    (exact, numbers): (&Exact<'_, D>, &Numbers),
    workers: Workers<'_>,
) {
    if numbers.are_of_all() {
        fill_with_headroom(&mut lists[0], numbers.rows(exact), Center([T::default(); D]));
    }
    for (set, bodies) in (0..).zip(exact.sets) {
        let list = if numbers.are_of_all() {
            &mut lists[0][numbers.first([set; 2])[0] as usize..][..bodies.len()]
        } else {
            fill_with_headroom(&mut lists[set as usize], bodies.len(), Center([T::default(); D]));
            &mut lists[set as usize]
        };
        if let Some(tree) = exact.direct_tree(set) {
            each_body(tree, |id, leaf, lane| {
                list[id as usize] = Center(leaf.centers.axes(|x| T::of(x.0[lane].into())));
            });
            continue;
        }
        let measured = exact.measured(set);
        workers.fill_blocks("centers", list, BODIES, |first, block| read_block(&measured, first, block));
    }
}

/// Copies the centres of some bodies, from number `first` on.
fn read_block<T: Number, const D: usize>(measured: &Measured<'_, D>, first: usize, block: &mut [Center<T, D>]) {
    for (first, some) in (first..).step_by(SOME).zip(block.chunks_mut(SOME)) {
        let mut columns = [[0.0; SOME]; D];
        for axis in 0..D {
            let column = &mut columns[axis][..some.len()];
            match measured {
                Measured::Single(bodies) => bodies.centers()[axis].read_in_double(first, column),
                Measured::Double(bodies) => bodies.centers()[axis].copy_into(first, column),
            }
        }
        for at in 0..some.len() {
            for axis in 0..D {
                some[at].0[axis] = T::of(columns[axis][at]);
            }
        }
    }
}

/// Returns the centres of bodies that have rows, and of their neighbours.
fn seen_by<'a, T, const D: usize>(
    lists: &'a [Vec<Center<T, D>>; 2],
    numbers: &Numbers,
    exact: &Exact<'_, D>,
) -> [&'a [Center<T, D>]; 2] {
    let to = if numbers.are_of_all() { 0 } else { exact.sets.len() - 1 };
    [0, to].both(|set| lists[set].as_slice())
}

/// Returns by how many cells bodies that have rows, and their neighbours, have been moved to lie in the cell; nothing
/// where none has been.
fn wraps_of<'a, const D: usize>(
    exact: &'a Exact<'_, D>,
    numbers: &Numbers,
    all: &'a mut Vec<[i32; D]>,
) -> [&'a [[i32; D]]; 2] {
    let sets = 0..exact.sets.len() as u32;
    if exact.cell.is_none() {
        return [&[]; 2];
    }
    if !numbers.are_of_all() {
        return [0, sets.end - 1].both(|set| exact.wraps(set));
    }
    all.clear();
    if sets.clone().any(|set| !exact.wraps(set).is_empty()) {
        fill_with_headroom(all, numbers.rows(exact), [0; D]);
        for set in sets {
            let wraps = exact.wraps(set);
            all[numbers.first([set; 2])[0] as usize..][..wraps.len()].copy_from_slice(wraps);
        }
    }
    [all; 2]
}

impl NeighborLists {
    /// Sets all wanted columns, of circles and spheres. Where a neighbour may be at several images, `told` says by
    /// which job it was found.
    pub(super) fn measure<const D: usize>(
        &mut self,
        of: (&Exact<'_, D>, Option<ToldOf<'_>>),
        (centers, numbers): (&mut Centers<D>, &Numbers),
        (isa, workers): (Isa, Workers<'_>),
    ) {
        let Centers { single, double, wraps } = centers;
        let wraps = wraps_of(of.0, numbers, wraps);
        if of.0.decided {
            read(double, (of.0, numbers), workers);
            self.measure_round(of, seen_by(double, numbers, of.0), wraps, (isa, workers));
        } else {
            read(single, (of.0, numbers), workers);
            self.measure_round(of, seen_by(single, numbers, of.0), wraps, (isa, workers));
        }
    }

    fn measure_round<T: Number, const D: usize>(
        &mut self,
        (exact, told): (&Exact<'_, D>, Option<ToldOf<'_>>),
        [from, to]: [&[Center<T, D>]; 2],
        wraps: [&[[i32; D]]; 2],
        (isa, workers): (Isa, Workers<'_>),
    ) {
        let cell = exact.cell.as_ref();
        self.measure_blocks(workers, |rows, out| {
            isa.run(MeasureRound { rows, from, to, cell, told, exact, wraps, out });
        });
    }

    #[allow(unsafe_code, reason = "each task writes a block of its own")]
    pub(super) fn measure_blocks<const D: usize>(
        &mut self,
        workers: Workers<'_>,
        each: impl Fn(Neighbors<'_>, Block<'_, D>) + Sync,
    ) {
        let Self { offsets, neighbors, extras, .. } = self;
        let columns = extras.share::<D>();
        workers.run("extras", neighbors.len().div_ceil(BLOCK), |block| {
            let range = block * BLOCK..((block + 1) * BLOCK).min(neighbors.len());
            // SAFETY: blocks do not overlap, and `run` gives each to one task.
            let out = unsafe { columns.block(range.clone()) };
            each(Neighbors { offsets, neighbors, range }, out);
        });
    }
}

/// Some neighbours, of successive rows.
pub(super) struct Neighbors<'a> {
    pub(super) offsets: &'a [usize],
    pub(super) neighbors: &'a [u32],
    pub(super) range: Range<usize>,
}

impl Neighbors<'_> {
    /// The row of the first neighbour.
    #[inline(always)]
    pub(super) fn first_row(&self) -> usize {
        self.offsets.partition_point(|&offset| offset <= self.range.start) - 1
    }

    /// Notes the row of each of up to [`SOME`] neighbours, and returns the row of the last. The first neighbour is of
    /// row `id` or of a later row.
    ///
    /// Writes eight slots at a time, however long a row is. The next row overwrites the surplus, and no branch waits
    /// for a length.
    #[inline(always)]
    fn note(&self, mut id: usize, Range { start, end }: Range<usize>, rows: &mut [u32; SOME + EIGHT]) -> usize {
        let mut at = start;
        loop {
            let row_end = self.offsets[id + 1].min(end);
            loop {
                rows[at - start..][..EIGHT].fill(id as u32);
                at += EIGHT;
                if at >= row_end {
                    break;
                }
            }
            at = row_end;
            if at == end {
                return id;
            }
            id += 1;
        }
    }
}

/// Measures circles and spheres.
struct MeasureRound<'a, T, const D: usize> {
    rows: Neighbors<'a>,
    from: &'a [Center<T, D>],
    to: &'a [Center<T, D>],
    cell: Option<&'a UnitCell<D>>,
    told: Option<ToldOf<'a>>,
    exact: &'a Exact<'a, D>,
    /// By how many cells bodies have been moved to lie in the cell; empty where none has been.
    wraps: [&'a [[i32; D]]; 2],
    out: Block<'a, D>,
}

impl<T: Number, const D: usize> Work for MeasureRound<'_, T, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = size_of::<T>() > size_of::<f32>();

    #[inline(always)]
    fn run(mut self) {
        let Range { start, end } = self.rows.range;
        let distances_alone = self.cell.is_none() && self.out.wants_distances2_alone();
        let (mut rows, mut id) = ([0; SOME + EIGHT], self.rows.first_row());
        for first in (start..end).step_by(SOME) {
            let last = end.min(first + SOME);
            id = self.rows.note(id, first..last, &mut rows);
            if distances_alone {
                self.distances2(&rows, first..last);
                continue;
            }
            for at in (first..last).step_by(EIGHT) {
                self.eight(eight_from(&rows, at - first, EIGHT), at, EIGHT.min(last - at));
            }
        }
    }
}

/// A value for each of eight neighbours.
type Eight<T> = [T; EIGHT];

impl<T: Number, const D: usize> MeasureRound<'_, T, D> {
    /// Measures the distances of the neighbours of bodies of these rows: one by one, since most of the work is to read
    /// the centres.
    #[inline(always)]
    fn distances2(&mut self, rows: &[u32], range: Range<usize>) {
        let start = self.rows.range.start;
        let out = &mut self.out.distances2[range.start - start..range.end - start];
        for ((slot, &row), &neighbor) in out.iter_mut().zip(rows).zip(&self.rows.neighbors[range]) {
            let (from, to) = (&self.from[row as usize].0, &self.to[neighbor as usize].0);
            let mut distance2 = T::default();
            for axis in 0..D {
                let d = to[axis] - from[axis];
                distance2 = distance2 + d * d;
            }
            *slot = distance2.to_f64() as f32;
        }
    }

    /// Measures up to eight neighbours of the bodies of these rows. Lanes behind the last neighbour hold anything,
    /// which the next neighbours overwrite.
    #[inline(always)]
    fn eight(&mut self, rows: Eight<u32>, at: usize, count: usize) {
        let neighbors = eight_from(self.rows.neighbors, at, count);
        let mut apart = [[T::default(); EIGHT]; D];
        for lane in 0..EIGHT {
            let (from, to) = (&self.from[rows[lane] as usize].0, &self.to[neighbors[lane] as usize].0);
            for axis in 0..D {
                apart[axis][lane] = to[axis] - from[axis];
            }
        }
        let mut shifts = [[0; D]; EIGHT];
        if let Some(cell) = self.cell {
            if let Some(told) = self.told {
                let images = eight_from(told.numbers, at, count).map(|number| told.image(number));
                self.see_at_images(cell, (rows, neighbors, images), (&mut shifts, &mut apart));
            } else {
                let steps = seen_nearest(cell, &mut apart);
                for lane in 0..EIGHT {
                    for k in 0..D {
                        shifts[lane][k] = steps[k][lane];
                    }
                }
            }
        }
        let at = at - self.rows.range.start;
        if !self.out.image_shifts.is_empty() {
            if !self.exact.decided {
                self.add_wraps(rows, neighbors, &mut shifts);
            }
            put(self.out.image_shifts, at, count, shifts);
        }
        if !self.out.vectors.is_empty() {
            let mut vectors = [[0.0; D]; EIGHT];
            for lane in 0..EIGHT {
                for axis in 0..D {
                    vectors[lane][axis] = apart[axis][lane].to_f64();
                }
            }
            put(self.out.vectors, at, count, vectors);
        }
        let distance2 = squares(&apart);
        put(self.out.distances2, at, count, distance2.axes(|distance2| distance2.to_f64() as f32));
        put(self.out.distances2_f64, at, count, distance2.axes(T::to_f64));
    }

    /// Moves second bodies, which are `apart` from first ones, to the images at which they were found. Sets `shifts` to
    /// how many of each vector lead there: from bodies as they were given, if these are measured.
    #[inline(always)]
    fn see_at_images(
        &self,
        cell: &UnitCell<D>,
        (rows, neighbors, images): (Eight<u32>, Eight<u32>, Eight<(u32, bool)>),
        (shifts, apart): (&mut Eight<[i32; D]>, &mut [Eight<T>; D]),
    ) {
        let (of, mut along) = (self.exact.images, [[T::default(); EIGHT]; D]);
        for lane in 0..EIGHT {
            let (image, turns) = images[lane];
            let (steps, offset) = (of.steps[image as usize], of.offsets[image as usize]);
            shifts[lane] = if turns { steps.axes(|step| -step) } else { steps };
            for axis in 0..D {
                along[axis][lane] = T::of(if turns { 0.0 - offset[axis] } else { offset[axis] }.into());
            }
        }
        if self.exact.decided {
            self.add_wraps(rows, neighbors, shifts);
            for lane in 0..EIGHT {
                let shift = cell.shift(shifts[lane].axes(f64::from));
                for axis in 0..D {
                    along[axis][lane] = T::of(shift[axis]);
                }
            }
        }
        for axis in 0..D {
            for lane in 0..EIGHT {
                apart[axis][lane] = apart[axis][lane] + along[axis][lane];
            }
        }
    }

    /// Turns steps between bodies in the cell into steps between bodies as they were given.
    #[inline(always)]
    fn add_wraps(&self, rows: Eight<u32>, neighbors: Eight<u32>, shifts: &mut Eight<[i32; D]>) {
        let [of_rows, of_neighbors] = self.wraps;
        if !of_rows.is_empty() {
            for lane in 0..EIGHT {
                let wraps = of_rows[rows[lane] as usize];
                for k in 0..D {
                    shifts[lane][k] += wraps[k];
                }
            }
        }
        if !of_neighbors.is_empty() {
            for lane in 0..EIGHT {
                let wraps = of_neighbors[neighbors[lane] as usize];
                for k in 0..D {
                    shifts[lane][k] -= wraps[k];
                }
            }
        }
    }
}

/// Moves second bodies, which are `apart` from first ones, to their nearest images. Returns by how many of each vector.
#[inline(always)]
fn seen_nearest<T: Number, const D: usize>(cell: &UnitCell<D>, apart: &mut [Eight<T>; D]) -> [Eight<i32>; D] {
    let (mut steps, mut whole) = ([[0; EIGHT]; D], [[0.0; EIGHT]; D]);
    for k in 0..D {
        if !cell.space.repeats[k] {
            continue;
        }
        for lane in 0..EIGHT {
            let mut fraction = 0.0;
            for axis in 0..D {
                fraction += apart[axis][lane].to_f64() * cell.duals[k][axis];
            }
            let rounded = ROUNDING - fraction;
            steps[k][lane] = rounded.to_bits() as i32;
            whole[k][lane] = rounded - ROUNDING;
        }
    }
    for axis in 0..D {
        for lane in 0..EIGHT {
            let mut shift = whole[0][lane] * cell.space.vectors[0][axis];
            for k in 1..D {
                shift += whole[k][lane] * cell.space.vectors[k][axis];
            }
            apart[axis][lane] = apart[axis][lane] + T::of(shift);
        }
    }
    steps
}

/// Squared lengths, as the predicate rounds them.
#[inline(always)]
fn squares<T: Number, const D: usize>(apart: &[Eight<T>; D]) -> Eight<T> {
    let mut distance2 = [T::default(); EIGHT];
    for lane in 0..EIGHT {
        for axis in 0..D {
            distance2[lane] = distance2[lane] + apart[axis][lane] * apart[axis][lane];
        }
    }
    distance2
}

/// Eight numbers from `at` on. Where the list ends before, the first number stands in place of all but `count`.
#[inline(always)]
fn eight_from<T: Copy>(list: &[T], at: usize, count: usize) -> Eight<T> {
    let rest = &list[at..];
    rest.first_chunk().copied().unwrap_or_else(|| {
        let mut few = [rest[0]; EIGHT];
        few[..count].copy_from_slice(&rest[..count]);
        few
    })
}

/// Writes eight values of a column, or `count` at its end; none to a column that was not asked for.
#[inline(always)]
fn put<T: Copy>(column: &mut [T], at: usize, count: usize, values: Eight<T>) {
    if column.is_empty() {
        return;
    }
    let rest = &mut column[at..];
    match rest.first_chunk_mut() {
        Some(slots) => *slots = values,
        None => rest[..count].copy_from_slice(&values[..count]),
    }
}

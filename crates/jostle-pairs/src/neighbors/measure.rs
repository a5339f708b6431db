//! Distances, image shifts and vectors of all neighbours, in one pass after the rows, by the formulas of the predicate.
//!
//! Where bodies reach less than half the height of the cell, a neighbour is the nearest of its images: its shift is the
//! difference in fractional coordinates, rounded. Else a neighbour stands in its row once for each image at which it touches,
//! in order of the images, and the predicate says which ones these are.

use core::ops::Range;

use jostle_core::axes::{Axes, Both};
use jostle_core::isa::Work;
use jostle_core::scratch::fill_with_headroom;
use jostle_core::{Isa, Workers};
use jostle_sets::input::UnitCell;
use jostle_sets::proxy::{Exact, each_body};

use crate::neighbors::NeighborLists;
use crate::neighbors::extras::Block;
use crate::neighbors::rows::Rows;
use crate::neighbors::touches::{Apart, each_touch};

/// Neighbours that one task looks at.
const BLOCK: usize = 1 << 14;

/// Bodies whose centres one task copies.
const BODIES: usize = 1 << 13;

/// Neighbours measured side by side.
const EIGHT: usize = 8;

/// 1.5 * 2^52: a number of less than 2^51 that is added is rounded to a whole one, ties to even, which then stands in the
/// last bits. One addition on any instruction set.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// The centre of a body as the predicate has it, all axes in one line of memory: neighbours are read in no order.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub(super) struct Center<const D: usize>([f64; D]);

/// Centres by id, of one set or of two.
#[derive(Debug, Default)]
pub(super) struct Centers<const D: usize>([Vec<Center<D>>; 2]);

impl<const D: usize> Centers<D> {
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|list| list.capacity() * size_of::<Center<D>>()).sum()
    }

    /// Copies the centres of all bodies of a search.
    fn read(&mut self, exact: &Exact<'_, D>, workers: Workers<'_>) {
        for (set, list) in (0..exact.sets.len() as u32).zip(&mut self.0) {
            fill_with_headroom(list, exact.sets[set as usize].len(), Center([0.0; D]));
            if let Some(tree) = exact.direct_tree(set) {
                each_body(tree, |id, leaf, lane| list[id as usize] = Center(leaf.centers.axes(|x| x.0[lane].into())));
                continue;
            }
            workers.fill_blocks("centers", list, BODIES, |first, block| {
                for at in 0..block.len() {
                    block[at] = Center(exact.predicate_center(set, (first + at) as u32));
                }
            });
        }
    }
}

impl NeighborLists {
    /// Sets all columns that are wanted.
    #[allow(unsafe_code, reason = "each task writes a block of its own")]
    pub(super) fn measure<const D: usize>(
        &mut self,
        exact: &Exact<'_, D>,
        kind: Rows,
        centers: &mut Centers<D>,
        (isa, workers): (Isa, Workers<'_>),
    ) {
        let Self { offsets, neighbors, extras } = self;
        if exact.images.unique {
            centers.read(exact, workers);
        }
        let (columns, other) = (extras.share::<D>(), exact.sets.len() - 1);
        workers.run("extras", neighbors.len().div_ceil(BLOCK), |block| {
            let range = block * BLOCK..((block + 1) * BLOCK).min(neighbors.len());
            // SAFETY: blocks do not overlap, and `run` gives each to one task.
            let out = unsafe { columns.block(range.clone()) };
            let rows = Neighbors { offsets, neighbors, range };
            if !exact.images.unique {
                return at_images(exact, kind, rows, out);
            }
            let [from, to] = [0, other].both(|set| centers.0[set].as_slice());
            let nearest = Nearest { rows, from, to, cell: exact.cell.as_ref(), exact, out };
            match exact.decided {
                true => isa.run(InPrecision::<D, false>(nearest)),
                false => isa.run(InPrecision::<D, true>(nearest)),
            }
        });
    }
}

/// Takes the number of a neighbour within a part, its shift, the way to it and the square of that.
pub(crate) type SetOne<'v, const D: usize> = &'v mut dyn FnMut(usize, [i32; D], Apart<D>);

impl NeighborLists {
    /// Sets all columns that are wanted, by what `each` says of the neighbours of a part.
    ///
    /// # Panics
    /// When `starts` is not ascending or goes beyond the lists.
    #[allow(unsafe_code, reason = "each task writes a part of its own")]
    pub(crate) fn measure_parts<const D: usize>(
        &mut self,
        starts: &[usize],
        workers: Workers<'_>,
        each: impl Fn(usize, SetOne<'_, D>) + Sync,
    ) {
        assert!(starts.is_sorted(), "parts overlap");
        let columns = self.extras.share::<D>();
        workers.run("extras", starts.len().saturating_sub(1), |part| {
            // SAFETY: `starts` is ascending, so that parts do not overlap, and `run` gives each to one task.
            let mut out = unsafe { columns.block(starts[part]..starts[part + 1]) };
            each(part, &mut |at, shift, (apart, distance2)| set_one(&mut out, at, shift, apart, distance2));
        });
    }
}

/// Some neighbours, of successive rows.
struct Neighbors<'a> {
    offsets: &'a [usize],
    neighbors: &'a [u32],
    range: Range<usize>,
}

impl Neighbors<'_> {
    /// The row of the first.
    #[inline(always)]
    fn first_row(&self) -> usize {
        self.offsets.partition_point(|&offset| offset <= self.range.start) - 1
    }
}

/// Neighbours each of which is the nearest of its images.
struct Nearest<'a, const D: usize> {
    rows: Neighbors<'a>,
    from: &'a [Center<D>],
    to: &'a [Center<D>],
    cell: Option<&'a UnitCell<D>>,
    exact: &'a Exact<'a, D>,
    out: Block<'a, D>,
}

/// Whether the predicate is in `f32`.
struct InPrecision<'a, const D: usize, const SINGLE: bool>(Nearest<'a, D>);

impl<const D: usize, const SINGLE: bool> Work for InPrecision<'_, D, SINGLE> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let mut nearest = self.0;
        let Range { start, end } = nearest.rows.range;
        let (mut id, mut at) = (nearest.rows.first_row(), start);
        while at < end {
            while at >= nearest.rows.offsets[id + 1] {
                id += 1;
            }
            let row_end = nearest.rows.offsets[id + 1].min(end);
            while at < row_end {
                let count = EIGHT.min(row_end - at);
                nearest.eight::<SINGLE>(id, at, count);
                at += count;
            }
        }
    }
}

/// A value for each of eight neighbours.
type Eight<T> = [T; EIGHT];

impl<const D: usize> Nearest<'_, D> {
    /// Up to eight neighbours of a body. Lanes behind the last are those of the next row, and are written over by it.
    #[inline(always)]
    fn eight<const SINGLE: bool>(&mut self, id: usize, at: usize, count: usize) {
        let (from, to) = (&self.from[id].0, eight_from(self.rows.neighbors, at, count));
        let mut apart = [[0.0; EIGHT]; D];
        for lane in 0..EIGHT {
            let to = &self.to[to[lane] as usize].0;
            for axis in 0..D {
                apart[axis][lane] =
                    if SINGLE { f64::from(to[axis] as f32 - from[axis] as f32) } else { to[axis] - from[axis] };
            }
        }
        let mut steps = [[0; EIGHT]; D];
        if let Some(cell) = self.cell {
            steps = seen_nearest::<D, SINGLE>(cell, &mut apart);
        }
        let at = at - self.rows.range.start;
        if !self.out.image_shifts.is_empty() {
            let mut shifts = [[0; D]; EIGHT];
            for lane in 0..EIGHT {
                for k in 0..D {
                    shifts[lane][k] = steps[k][lane];
                }
            }
            if SINGLE {
                self.add_wraps(id, to, &mut shifts);
            }
            put(self.out.image_shifts, at, count, shifts);
        }
        if !self.out.vectors.is_empty() {
            let mut vectors = [[0.0; D]; EIGHT];
            for lane in 0..EIGHT {
                for axis in 0..D {
                    vectors[lane][axis] = apart[axis][lane];
                }
            }
            put(self.out.vectors, at, count, vectors);
        }
        let distance2 = squares::<D, SINGLE>(&apart);
        put(self.out.distances2, at, count, distance2.axes(|distance2| distance2 as f32));
        put(self.out.distances2_f64, at, count, distance2);
    }

    /// Turns steps between bodies in the cell into steps between bodies as they were given.
    #[inline(always)]
    fn add_wraps(&self, id: usize, to: Eight<u32>, shifts: &mut Eight<[i32; D]>) {
        let sets = [0, self.exact.sets.len() as u32 - 1];
        if self.exact.is_outside(sets) {
            let from = self.exact.wraps_of(sets[0], id as u32);
            for (shift, to) in shifts.iter_mut().zip(to) {
                let to = self.exact.wraps_of(sets[1], to);
                for k in 0..D {
                    shift[k] += from[k] - to[k];
                }
            }
        }
    }
}

/// Moves bodies that are so far apart to their nearest images, and says by how many of each vector.
#[inline(always)]
fn seen_nearest<const D: usize, const SINGLE: bool>(
    cell: &UnitCell<D>,
    apart: &mut [Eight<f64>; D],
) -> [Eight<i32>; D] {
    let (mut steps, mut whole) = ([[0; EIGHT]; D], [[0.0; EIGHT]; D]);
    for k in 0..D {
        if !cell.space.repeats[k] {
            continue;
        }
        for lane in 0..EIGHT {
            let mut fraction = 0.0;
            for axis in 0..D {
                fraction += apart[axis][lane] * cell.duals[k][axis];
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
            let x = apart[axis][lane];
            apart[axis][lane] = if SINGLE { f64::from(x as f32 + shift as f32) } else { x + shift };
        }
    }
    steps
}

/// Squared lengths, as the predicate rounds them.
#[inline(always)]
fn squares<const D: usize, const SINGLE: bool>(apart: &[Eight<f64>; D]) -> Eight<f64> {
    let mut distance2 = [0.0; EIGHT];
    for lane in 0..EIGHT {
        if SINGLE {
            let mut sum = 0.0;
            for axis in 0..D {
                let x = apart[axis][lane] as f32;
                sum += x * x;
            }
            distance2[lane] = f64::from(sum);
        } else {
            for axis in 0..D {
                distance2[lane] += apart[axis][lane] * apart[axis][lane];
            }
        }
    }
    distance2
}

/// Eight numbers from `at` on; where the list ends before, the first of them in place of all but `count`.
#[inline(always)]
fn eight_from(list: &[u32], at: usize, count: usize) -> Eight<u32> {
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

/// Neighbours that may touch at several images.
fn at_images<const D: usize>(exact: &Exact<'_, D>, kind: Rows, rows: Neighbors<'_>, mut out: Block<'_, D>) {
    let (Range { start, end }, mut id) = (rows.range.clone(), rows.first_row());
    let Neighbors { offsets, neighbors, .. } = rows;
    // The images of a neighbour may begin in the block before.
    let mut at = start;
    while at > offsets[id] && neighbors[at - 1] == neighbors[start] {
        at -= 1;
    }
    while at < end {
        while at >= offsets[id + 1] {
            id += 1;
        }
        let b = neighbors[at];
        let images = neighbors[at..offsets[id + 1]].iter().take_while(|&&neighbor| neighbor == b).count();
        each_touch(exact, kind, id as u32, b, images, |steps, (apart, distance2)| {
            if (start..end).contains(&at) {
                set_one(&mut out, at - start, steps, apart, distance2);
            }
            at += 1;
        });
    }
}

fn set_one<const D: usize>(out: &mut Block<'_, D>, at: usize, steps: [i32; D], apart: [f64; D], distance2: f64) {
    let Block { distances2, distances2_f64, image_shifts, vectors } = out;
    distances2.get_mut(at).into_iter().for_each(|slot| *slot = distance2 as f32);
    distances2_f64.get_mut(at).into_iter().for_each(|slot| *slot = distance2);
    image_shifts.get_mut(at).into_iter().for_each(|slot| *slot = steps);
    vectors.get_mut(at).into_iter().for_each(|slot| *slot = apart);
}

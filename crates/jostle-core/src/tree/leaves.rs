//! Sorted records into leaves: structure of arrays, sixteen places a leaf, and a box.

use core::ops::Range;

use super::level::LevelSlots;
use super::sort::Record;
use super::{GAP_LEVELS, LEAF, Level, LinearTree};
use crate::aabb::{Aabb, GROWTH, outward_hi, outward_lo};
use crate::disjoint::Disjoint;
use crate::isa::Work;
use crate::scratch::resize_with_headroom;
use crate::sixteen::{Floats, Ids};
use crate::workers::Workers;

impl<const D: usize> LinearTree<D> {
    /// Columns, leaf starts, and the boxes of the leaves.
    #[allow(unsafe_code, reason = "each segment has leaves of its own")]
    pub(super) fn collect_leaves(&mut self, workers: Workers) {
        let s = &mut self.scratch;
        let mut leaves = 0;
        for count in &mut s.segment_leaves {
            (leaves, *count) = (leaves + *count, leaves);
        }
        let columns = &mut self.columns;
        for column in &mut columns.centers {
            resize_with_headroom(column, leaves as usize, Floats::splat(0.0));
        }
        resize_with_headroom(&mut columns.radii, leaves as usize, Floats::splat(0.0));
        resize_with_headroom(&mut columns.ids, leaves as usize, Ids([0; LEAF]));
        resize_with_headroom(&mut self.leaf_starts, leaves as usize + 1, 0);
        self.leaf_starts[leaves as usize] = self.len as u32;
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        self.levels[0].resize(leaves as usize);
        let boxes = LevelSlots::new(&mut self.levels[0]);
        let starts = Disjoint::new(&mut self.leaf_starts);
        let centers = columns.centers.each_mut().map(|column| Disjoint::new(column));
        let (radii, ids) = (Disjoint::new(&mut columns.radii), Disjoint::new(&mut columns.ids));
        let (dealer, segment_leaves, isa) = (&s.dealer, &s.segment_leaves, self.isa);
        workers.run("leaves", dealer.tasks(), |task| {
            for at in dealer.task(task) {
                let segment = dealer.segments()[at];
                let begin = segment_leaves[at] as usize;
                let end = segment_leaves.get(at + 1).copied().unwrap_or(leaves) as usize;
                // A segment was sorted from the buffer that it was dealt out to into the other one.
                let sorted = if segment.in_second == segment.equal { &s.second } else { &s.first };
                // SAFETY: leaf numbers of segments are disjoint by the scan.
                let (out, starts) = unsafe {
                    let columns = LeafColumns {
                        centers: centers.each_ref().map(|column| column.range(begin..end)),
                        radii: radii.range(begin..end),
                        ids: ids.range(begin..end),
                    };
                    (columns, starts.range(begin..end))
                };
                for (start, &mark) in starts.iter_mut().zip(&s.marks[segment.range()]) {
                    *start = segment.start + u32::from(mark);
                }
                let write_box = |leaf: usize, aabb: Aabb<D>| {
                    // SAFETY: as above.
                    unsafe { boxes.write(begin + leaf, aabb) }
                };
                isa.run(FillLeaves { sorted: &sorted[..], starts, end: segment.end, out, write_box });
            }
        });
    }
}

/// The columns of some leaves.
struct LeafColumns<'a, const D: usize> {
    centers: [&'a mut [Floats]; D],
    radii: &'a mut [Floats],
    ids: &'a mut [Ids],
}

/// Fills the leaves of a segment.
struct FillLeaves<'a, W, const D: usize> {
    sorted: &'a [Record<D>],
    starts: &'a [u32],
    end: u32,
    out: LeafColumns<'a, D>,
    write_box: W,
}

impl<W: Fn(usize, Aabb<D>), const D: usize> Work for FillLeaves<'_, W, D> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for leaf in 0..self.starts.len() {
            let start = self.starts[leaf] as usize;
            let end = self.starts.get(leaf + 1).map_or(self.end, |&end| end) as usize;
            let aabb = match <&[Record<D>; LEAF]>::try_from(&self.sorted[start..end]) {
                Ok(records) => self.out.fill(leaf, records),
                Err(_) => self.out.fill(leaf, &padded(&self.sorted[start..end])),
            };
            (self.write_box)(leaf, aabb);
        }
    }
}

/// A leaf of fewer than sixteen, filled up with what no comparison accepts.
#[inline(always)]
fn padded<const D: usize>(records: &[Record<D>]) -> [Record<D>; LEAF] {
    let mut all = [Record::PADDING; LEAF];
    all[..records.len()].copy_from_slice(records);
    all
}

impl<const D: usize> LeafColumns<'_, D> {
    /// Fills one leaf, and returns its box.
    #[inline(always)]
    fn fill(&mut self, leaf: usize, records: &[Record<D>; LEAF]) -> Aabb<D> {
        let mut radii = [0.0; LEAF];
        let mut ids = [0; LEAF];
        for i in 0..LEAF {
            radii[i] = records[i].radius;
            ids[i] = records[i].id;
        }
        self.radii[leaf] = Floats(radii);
        self.ids[leaf] = Ids(ids);
        let mut aabb = Aabb::EMPTY;
        for axis in 0..D {
            let mut centers = [0.0; LEAF];
            for i in 0..LEAF {
                centers[i] = records[i].center.0[axis];
            }
            self.centers[axis][leaf] = Floats(centers);
            let (mut lo, mut hi) = ([0.0; LEAF], [0.0; LEAF]);
            for i in 0..LEAF {
                let reach = radii[i] * GROWTH;
                lo[i] = centers[i] - reach;
                hi[i] = centers[i] + reach;
            }
            aabb.lo[axis] = outward_lo(least(lo));
            aabb.hi[axis] = outward_hi(greatest(hi));
        }
        aabb
    }
}

/// The least of sixteen, of which those after the first may be NaN, and then all that follow.
#[inline(always)]
fn least(mut values: [f32; LEAF]) -> f32 {
    let mut half = LEAF / 2;
    while half > 0 {
        for i in 0..half {
            values[i] = if values[i + half] < values[i] { values[i + half] } else { values[i] };
        }
        half /= 2;
    }
    values[0]
}

/// As [`least`], the greatest.
#[inline(always)]
fn greatest(mut values: [f32; LEAF]) -> f32 {
    let mut half = LEAF / 2;
    while half > 0 {
        for i in 0..half {
            values[i] = if values[i + half] > values[i] { values[i + half] } else { values[i] };
        }
        half /= 2;
    }
    values[0]
}

/// Cuts `len` sorted ranks into leaves, marks their starts, and returns how many there are. Codes on both sides of a
/// border are not to be compared.
#[inline(always)]
pub(super) fn cut_leaves<const D: usize>(
    len: usize,
    borders: &[u32],
    marks: &mut [u16],
    code: impl Fn(usize) -> u64,
) -> u32 {
    let mut borders = borders.iter().map(|&b| b as usize).peekable();
    let (mut leaves, mut start) = (0, 0);
    while start < len {
        while borders.next_if(|&border| border <= start).is_some() {}
        let end = (start + LEAF).min(len).min(borders.peek().copied().unwrap_or(usize::MAX));
        marks[leaves] = start as u16;
        leaves += 1;
        start = leaf_end::<D>(start..end, &code);
    }
    leaves as u32
}

/// The end of the leaf that starts with `ranks`: before the widest gap, as long as that is wide.
#[inline(always)]
pub(super) fn leaf_end<const D: usize>(ranks: Range<usize>, code: impl Fn(usize) -> u64) -> usize {
    let (first, last) = (code(ranks.start), code(ranks.end - 1));
    let middle = code(ranks.start + ranks.len() / 2);
    // The middle rank lies in one of the two parts, whose extent is thus at least the lesser of these.
    let within = length(first ^ middle).min(length(middle ^ last));
    if length(first ^ last) <= within + GAP_LEVELS * D as u32 {
        return ranks.end;
    }
    gap::<D>(ranks, code)
}

/// Number of bits up to the highest that is set.
#[inline(always)]
fn length(bits: u64) -> u32 {
    u64::BITS - bits.leading_zeros()
}

/// As [`leaf_end`], looking at every rank: neighbours need not be in order within a cell.
#[cold]
fn gap<const D: usize>(ranks: Range<usize>, code: impl Fn(usize) -> u64) -> usize {
    let extent = |ranks: Range<usize>| {
        let first = code(ranks.start);
        length(ranks.fold(0, |bits, rank| bits | (code(rank) ^ first)))
    };
    let (start, mut end) = (ranks.start, ranks.end);
    while end - start > 1 {
        let top = extent(start..end);
        let upper = |rank: usize| code(rank).checked_shr(top.saturating_sub(1)).unwrap_or(0) & 1;
        let side = upper(start);
        let Some(gap) = (start..end).find(|&rank| upper(rank) != side) else { break };
        if top <= extent(start..gap).max(extent(gap..end)) + GAP_LEVELS * D as u32 {
            break;
        }
        end = gap;
    }
    end
}

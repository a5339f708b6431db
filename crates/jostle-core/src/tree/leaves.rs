//! Sorted ranks into leaves, and the boxes of those.

use core::ops::Range;

use super::level::LevelSlots;
use super::sort::Record;
use super::{GAP_LEVELS, LEAF, Level, LinearTree};
use crate::aabb::{Aabb, GROWTH, outward_hi, outward_lo};
use crate::disjoint::Disjoint;
use crate::radix::LocalOrder;
use crate::scratch::resize_with_headroom;
use crate::workers::Workers;

impl<const D: usize> LinearTree<D> {
    /// Leaf starts from the segments into one list, and the boxes of the leaves.
    #[allow(unsafe_code, reason = "each segment has leaves of its own")]
    pub(super) fn collect_leaves(&mut self, workers: Workers) {
        let s = &mut self.scratch;
        let mut leaves = 0;
        for count in &mut s.segment_leaves {
            (leaves, *count) = (leaves + *count, leaves);
        }
        resize_with_headroom(&mut self.leaf_starts, leaves as usize + 1, 0);
        self.leaf_starts[leaves as usize] = self.len as u32;
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        self.levels[0].resize(leaves as usize);
        let boxes = LevelSlots::new(&mut self.levels[0]);
        let starts = Disjoint::new(&mut self.leaf_starts);
        let (dealer, first, second, segment_leaves) = (&s.dealer, &s.first, &s.second, &s.segment_leaves);
        let (centers, radii) = (&self.centers, &self.radii);
        workers.run("leaves", dealer.tasks(), |task| {
            for at in dealer.task(task) {
                let segment = dealer.segments()[at];
                let begin = segment_leaves[at];
                let end = segment_leaves.get(at + 1).copied().unwrap_or(leaves);
                let records = if segment.in_second { &second[segment.range()] } else { &first[segment.range()] };
                for (k, leaf) in (begin..end).enumerate() {
                    let from = records[k].id;
                    let to = if leaf + 1 < end { records[k + 1].id } else { segment.end };
                    let aabb = leaf_box(centers, radii, from as usize..to as usize);
                    // SAFETY: leaf numbers of segments are disjoint by the scan.
                    unsafe {
                        starts.write(leaf as usize, from);
                        boxes.write(leaf as usize, aabb);
                    }
                }
            }
        });
    }
}

/// Cuts a sorted segment into leaves, leaves their first ranks in the ids of its first records, and returns how many.
#[inline(always)]
pub(super) fn cut_leaves<const D: usize>(local: &LocalOrder, records: &mut [Record<D>], first_rank: u32) -> u32 {
    let mut borders = local.borders().iter().map(|&b| b as usize).peekable();
    let (mut leaves, mut start) = (0, 0);
    while start < local.len() {
        while borders.next_if(|&border| border <= start).is_some() {}
        let end = (start + LEAF).min(local.len()).min(borders.peek().copied().unwrap_or(usize::MAX));
        records[leaves].id = first_rank + start as u32;
        leaves += 1;
        start = leaf_end::<D>(start..end, |rank| local.code(rank));
    }
    leaves as u32
}

/// The end of the leaf that starts with `ranks`: before the widest gap, as long as that is wide.
#[inline(always)]
pub(super) fn leaf_end<const D: usize>(ranks: Range<usize>, code: impl Fn(usize) -> u64) -> usize {
    let differing_bits = |a: usize, b: usize| u64::BITS - (code(a) ^ code(b)).leading_zeros();
    let (start, mut end) = (ranks.start, ranks.end);
    loop {
        let top = differing_bits(start, end - 1);
        let middle = start + (end - start) / 2;
        // The middle rank lies in one of the two parts, whose extent is thus at least the lesser of these.
        let within = differing_bits(start, middle).min(differing_bits(middle, end - 1));
        if top <= within + GAP_LEVELS * D as u32 {
            return end;
        }
        let upper = (code(end - 1) >> (top - 1)) & 1;
        let gap = (start + 1..end).find(|&rank| (code(rank) >> (top - 1)) & 1 == upper).unwrap_or(end);
        let within = differing_bits(start, gap - 1).max(differing_bits(gap, end - 1));
        if top <= within + GAP_LEVELS * D as u32 {
            return end;
        }
        end = gap;
    }
}

/// The box of the circles at `ranks`, rounded outwards. Tried: sixteen masked lanes folded by halves, 1.2 times slower.
fn leaf_box<const D: usize>(centers: &[Vec<f32>; D], radii: &[f32], ranks: Range<usize>) -> Aabb<D> {
    let radii = &radii[ranks.clone()];
    let mut aabb = Aabb::EMPTY;
    for axis in 0..D {
        let (mut lo, mut hi) = (f32::INFINITY, f32::NEG_INFINITY);
        for (&center, &radius) in centers[axis][ranks.clone()].iter().zip(radii) {
            let reach = radius * GROWTH;
            lo = if center - reach < lo { center - reach } else { lo };
            hi = if center + reach > hi { center + reach } else { hi };
        }
        aabb.lo[axis] = outward_lo(lo);
        aabb.hi[axis] = outward_hi(hi);
    }
    aabb
}

//! Boxes in a tree: sorted by their centres, kept by their corners.

use core::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::digits::digits_of;
use super::shape::{Centers, Deal, Part, Record, Shape, Source};
use super::{LEAF, LinearTree};
use crate::aabb::Aabb;
use crate::axes::{Axes, Both, from_axes};
use crate::bounds::BlockBounds;
use crate::error::ViewError;
use crate::fours::Four;
use crate::input::{Boxes, Column};
use crate::isa::{Isa, Work};
use crate::limits::REACH;
use crate::morton::Grid;
use crate::parallel::workers::Workers;
use crate::radix::ByFours;
use crate::sixteen::Boxes16;

/// The [`Shape`] of boxes.
pub(super) struct Boxed;

/// A box on its way to its rank.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(super) struct BoxRecord<const D: usize> {
    lo: [f32; D],
    hi: [f32; D],
    id: u32,
}

impl<const D: usize> Default for BoxRecord<D> {
    fn default() -> Self {
        Self { lo: [0.0; D], hi: [0.0; D], id: 0 }
    }
}

// SAFETY: the fields are words of four bytes, of any bits, with nothing between them.
#[allow(unsafe_code, reason = "a type is said to be plain bytes")]
unsafe impl<const D: usize> Zeroable for BoxRecord<D> {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "a type is said to be plain bytes")]
unsafe impl<const D: usize> Pod for BoxRecord<D> {}

impl<const D: usize> Record<D> for BoxRecord<D> {
    #[inline(always)]
    fn center(&self) -> [f32; D] {
        let mut center = [0.0; D];
        for axis in 0..D {
            center[axis] = middle(self.lo[axis], self.hi[axis]);
        }
        center
    }

    #[inline(always)]
    fn coordinate(&self, axis: usize) -> f32 {
        middle(self.lo[axis], self.hi[axis])
    }

    #[inline(always)]
    fn word(&self, word: usize) -> f32 {
        if word < D { self.lo[word] } else { self.hi[word - D] }
    }

    #[inline(always)]
    fn id(&self) -> u32 {
        self.id
    }
}

/// All boxes in the caller's columns, where these are slices. Few boxes are one segment, for which no records need be
/// made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns<'a, const D: usize> {
    lo: [&'a [f32]; D],
    hi: [&'a [f32]; D],
    margin: f32,
}

impl<'a, const D: usize> Columns<'a, D> {
    /// Borrows the columns; `None` where some column has a stride.
    fn of(boxes: &Boxes<'a, D>) -> Option<Self> {
        let n = boxes.len();
        let mut corners = [[&[][..]; D]; 2];
        for (slice, column) in corners.iter_mut().flatten().zip(boxes.corners().into_iter().flatten()) {
            *slice = &column.as_slice()?[..n];
        }
        let [lo, hi] = corners;
        Some(Self { lo, hi, margin: boxes.margin() })
    }
}

impl<const D: usize> Columns<'_, D> {
    #[inline(always)]
    fn record_of(self, at: usize, id: u32) -> BoxRecord<D> {
        let mut record = BoxRecord { id, ..BoxRecord::default() };
        for axis in 0..D {
            (record.lo[axis], record.hi[axis]) = (self.lo[axis][at] - self.margin, self.hi[axis][at] + self.margin);
        }
        record
    }
}

#[allow(unsafe_code, reason = "a promise that nothing is asked of")]
impl<const D: usize> Source for Columns<'_, D> {
    type Record = BoxRecord<D>;
    const IN_MEMORY: bool = false;

    #[inline(always)]
    fn len(self) -> usize {
        self.lo[0].len()
    }

    #[inline(always)]
    unsafe fn record(self, place: u16) -> BoxRecord<D> {
        self.record_of(usize::from(place), u32::from(place))
    }
}

/// The centre of a box of a leaf.
pub(super) fn center<const D: usize>(boxes: &Boxes16<D>, lane: usize) -> [f32; D] {
    from_axes(|axis| middle(boxes.lo[axis].0[lane], boxes.hi[axis].0[lane]))
}

/// Returns about the middle of two borders, always finite: for a box without end, the middle of the part that circles
/// may lie in.
#[inline(always)]
fn middle(lo: f32, hi: f32) -> f32 {
    let within = |x: f32| {
        let x = if x < -REACH { -REACH } else { x };
        if x > REACH { REACH } else { x }
    };
    (within(lo) + within(hi)) * 0.5
}

/// Boxes that one task looks at.
const BLOCK: usize = 1 << 13;

/// Boxes whose corners are copied at a time, or whose centres are computed, to lie side by side.
const COPIED: usize = 512;

/// The centres of some boxes, side by side.
struct Middles<const D: usize>([[f32; COPIED]; D]);

impl<const D: usize> Middles<D> {
    fn new() -> Self {
        Self([[0.0; COPIED]; D])
    }

    /// Returns the centres of `count` boxes from number `first` on.
    fn read(&mut self, isa: Isa, boxes: &Boxes<'_, D>, first: usize, count: usize) -> [&[f32]; D] {
        let ([lo, hi], margin) = (boxes.corners(), boxes.margin());
        for (axis, centers) in self.0.iter_mut().enumerate() {
            let ids = first..first + count;
            each_piece([&lo[axis], &hi[axis]], ids, |at, [lo, hi]| {
                isa.run(MiddleAxis { lo, hi, margin, centers: &mut centers[at..] });
            });
        }
        self.0.each_ref().each(|column| &column[..count])
    }
}

/// The centres of some boxes on one axis.
struct MiddleAxis<'a> {
    lo: &'a [f32],
    hi: &'a [f32],
    margin: f32,
    centers: &'a mut [f32],
}

impl Work for MiddleAxis<'_> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        for ((center, &lo), &hi) in self.centers.iter_mut().zip(self.lo).zip(self.hi) {
            *center = middle(lo - self.margin, hi + self.margin);
        }
    }
}

/// Calls `visit` with the values of two columns, piece by piece, and the position of each piece within `ids`. Columns
/// whose values lie side by side are one piece.
#[inline]
fn each_piece(columns: [&Column<'_, f32>; 2], ids: Range<usize>, mut visit: impl FnMut(usize, [&[f32]; 2])) {
    if let [Some(lo), Some(hi)] = columns.each(|column| column.as_slice()) {
        return visit(0, [&lo[ids.clone()], &hi[ids]]);
    }
    let mut copied = [[0.0; COPIED]; 2];
    for first in ids.clone().step_by(COPIED) {
        let count = COPIED.min(ids.end - first);
        for (to, column) in copied.iter_mut().zip(columns) {
            column.copy_into(first, &mut to[..count]);
        }
        visit(first - ids.start, copied.each_ref().each(|column| &column[..count]));
    }
}

/// Checks the borders of some boxes on one axis: between which values their centres lie, and whether the borders are
/// sound.
struct CheckAxis<'a> {
    lo: &'a [f32],
    hi: &'a [f32],
    margin: f32,
}

impl Work for CheckAxis<'_> {
    type Output = (f32, f32, bool);
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) -> (f32, f32, bool) {
        let Self { lo, hi, margin } = self;
        let (mut least, mut greatest, mut faults) = ([f32::INFINITY; LEAF], [f32::NEG_INFINITY; LEAF], [0_u32; LEAF]);
        let mut take = |lo: &[f32; LEAF], hi: &[f32; LEAF]| {
            for lane in 0..LEAF {
                let center = middle(lo[lane] - margin, hi[lane] + margin);
                least[lane] = if center < least[lane] { center } else { least[lane] };
                greatest[lane] = if center > greatest[lane] { center } else { greatest[lane] };
                let sound = (lo[lane] <= hi[lane]) & (lo[lane] < f32::INFINITY) & (hi[lane] > f32::NEG_INFINITY);
                faults[lane] |= u32::from(!sound);
            }
        };
        let ((los, lo_rest), (his, hi_rest)) = (lo.as_chunks::<LEAF>(), hi[..lo.len()].as_chunks::<LEAF>());
        los.iter().zip(his).for_each(|(lo, hi)| take(lo, hi));
        if let (Some(&lo), Some(&hi)) = (lo_rest.first(), hi_rest.first()) {
            // Lanes without a box repeat the first box of the rest, which changes nothing.
            let (mut last_lo, mut last_hi) = ([lo; LEAF], [hi; LEAF]);
            last_lo[..lo_rest.len()].copy_from_slice(lo_rest);
            last_hi[..hi_rest.len()].copy_from_slice(hi_rest);
            take(&last_lo, &last_hi);
        }
        let (least, greatest) =
            (least.into_iter().fold(f32::INFINITY, f32::min), greatest.into_iter().fold(f32::NEG_INFINITY, f32::max));
        (least, greatest, faults == [0; LEAF])
    }
}

impl<const D: usize> Shape<D> for Boxed {
    type View<'a> = Boxes<'a, D>;
    type Record = BoxRecord<D>;
    type Columns<'a> = Columns<'a, D>;
    type Sixteen = Boxes16<D>;

    const IS_BOXED: bool = true;

    const NONE: Boxes16<D> = Boxes16::NONE;

    fn part(tree: &mut LinearTree<D>) -> &mut Part<Self, D> {
        &mut tree.boxed
    }

    fn len(view: Boxes<'_, D>) -> usize {
        view.len()
    }

    fn margin(view: Boxes<'_, D>) -> f32 {
        view.margin()
    }

    fn bounds(
        view: Boxes<'_, D>,
        workers: Workers<'_>,
        isa: Isa,
        blocks: &mut Vec<BlockBounds<D>>,
    ) -> Result<Aabb<D>, ViewError> {
        view.check_shape()?;
        blocks.clear();
        blocks.resize(view.len().div_ceil(BLOCK), BlockBounds::EMPTY);
        let ([lo, hi], margin) = (view.corners(), view.margin());
        workers.fill("bounds", blocks, |block| {
            let mut all = BlockBounds::EMPTY;
            for axis in 0..D {
                let ids = block * BLOCK..((block + 1) * BLOCK).min(view.len());
                each_piece([&lo[axis], &hi[axis]], ids, |_, [lo, hi]| {
                    let (least, greatest, sound) = isa.run(CheckAxis { lo, hi, margin });
                    all.bounds.lo[axis] = all.bounds.lo[axis].min(least);
                    all.bounds.hi[axis] = all.bounds.hi[axis].max(greatest);
                    all.sound &= sound;
                });
            }
            all
        });
        if blocks.iter().any(|block| !block.sound) {
            ViewError::of_bodies(view.len(), |id| view.fault(id))?;
        }
        Ok(blocks.iter().fold(Aabb::EMPTY, |all, block| all.union(block.bounds)))
    }

    fn columns(view: Self::View<'_>) -> Option<Self::Columns<'_>> {
        Columns::of(&view)
    }

    /// Computes the centres in the memory of the leaves, which have room for two columns per axis.
    fn centers<'a: 's, 's>(columns: Columns<'a, D>, leaves: &'s mut [Boxes16<D>]) -> Centers<'s, D> {
        let (mut rest, mut all) = (bytemuck::cast_slice_mut(leaves), Centers([&[]; D]));
        for axis in 0..D {
            let (lo, hi) = (columns.lo[axis], columns.hi[axis]);
            let (centers, others) = rest.split_at_mut(lo.len());
            for ((center, lo), hi) in centers.iter_mut().zip(lo).zip(hi) {
                *center = middle(lo - columns.margin, hi + columns.margin);
            }
            (all.0[axis], rest) = (centers, others);
        }
        all
    }

    fn deal(
        view: Boxes<'_, D>,
        workers: Workers<'_>,
        to: &mut Deal<Self, D>,
        bits_and_top: (u32, u32),
        by: Option<(Grid<D>, Isa)>,
    ) {
        let (bits, top) = bits_and_top;
        let digits = |(ids, keys): (Range<usize>, &mut [u16])| {
            let Some((grid, isa)) = by else { return };
            let mut middles = Middles::new();
            for (first, keys) in ids.step_by(COPIED).zip(keys.chunks_mut(COPIED)) {
                digits_of(isa, grid, middles.read(isa, &view, first, keys.len()), (top - bits, bits), keys);
            }
        };
        let margin = view.margin();
        if let Some(columns) = Columns::of(&view) {
            let source = |ids: Range<usize>| {
                // Columns that are cut to one length need no check for each box.
                let (first, len) = (ids.start, ids.len());
                let [lo, hi] =
                    [columns.lo, columns.hi].map(|corners| corners.map(|column| &column[ids.clone()][..len]));
                (0..len).map(move |at| BoxRecord {
                    lo: from_axes(|axis| lo[axis][at] - margin),
                    hi: from_axes(|axis| hi[axis][at] + margin),
                    id: (first + at) as u32,
                })
            };
            return to.dealer.deal_from(
                workers,
                view.len(),
                bits_and_top,
                source,
                &digits,
                (&mut to.records[..], ByFours),
            );
        }
        let source = |ids: Range<usize>| {
            let [mut lo, mut hi] =
                view.corners().both(|columns| columns.map(|column| column.values(ids.start, ids.len())));
            ids.map(move |id| BoxRecord {
                lo: from_axes(|axis| lo[axis].next().unwrap_or_default() - margin),
                hi: from_axes(|axis| hi[axis].next().unwrap_or_default() + margin),
                id: id as u32,
            })
        };
        to.dealer.deal_from(workers, view.len(), bits_and_top, source, &digits, (&mut to.records[..], ByFours));
    }

    #[inline(always)]
    fn column(sixteen: &mut Boxes16<D>, word: usize) -> &mut [f32; LEAF] {
        let Boxes16 { lo, hi } = sixteen;
        &mut if word < D { &mut lo[word] } else { &mut hi[word - D] }.0
    }

    #[inline(always)]
    fn fill_up(sixteen: &mut Boxes16<D>, lane: usize) {
        for axis in 0..D {
            sixteen.lo[axis].0[lane..].fill(f32::NAN);
            sixteen.hi[axis].0[lane..].fill(f32::NAN);
        }
    }

    #[inline(always)]
    fn reach(sixteen: &Boxes16<D>, axis: usize) -> (Four, Four) {
        let (low, high) = (Four::all_of(&sixteen.lo[axis]), Four::all_of(&sixteen.hi[axis]));
        let (mut lo, mut hi) = (Four::splat(f32::INFINITY), Four::splat(f32::NEG_INFINITY));
        for (low, high) in low.into_iter().zip(high) {
            (lo, hi) = (low.lesser(lo), high.greater(hi));
        }
        (lo, hi)
    }
}

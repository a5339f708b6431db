//! Boxes in a tree: sorted by their centres, kept by their corners.

use core::ops::Range;

use super::digits::digits_of;
use super::shape::{Centers, Part, Record, Shape, Source};
use super::{LEAF, LinearTree};
use crate::aabb::{Aabb, outward_hi, outward_lo};
use crate::axes::{Both, from_axes};
use crate::bounds::BlockBounds;
use crate::error::ViewError;
use crate::input::Boxes;
use crate::isa::{Isa, Work};
use crate::limits::REACH;
use crate::morton::Grid;
use crate::parallel::workers::Workers;
use crate::sixteen::Boxes16;

/// See [`Shape`].
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
    fn id(&self) -> u32 {
        self.id
    }
}

/// Boxes that are sorted where they lie: there are none, and no code for them.
#[derive(Debug, Clone, Copy)]
pub(super) enum NoColumns<const D: usize> {}

#[allow(unsafe_code, reason = "a promise that nothing is asked of")]
impl<const D: usize> Source for NoColumns<D> {
    type Record = BoxRecord<D>;

    fn len(self) -> usize {
        match self {}
    }

    unsafe fn record(self, _place: u16) -> BoxRecord<D> {
        match self {}
    }
}

/// The centre of a box of a leaf.
pub(super) fn center<const D: usize>(boxes: &Boxes16<D>, lane: usize) -> [f32; D] {
    core::array::from_fn(|axis| middle(boxes.lo[axis].0[lane], boxes.hi[axis].0[lane]))
}

/// About the middle of two borders, and finite: of a box without end, of the part of it that circles may lie in.
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

/// Boxes whose corners are copied at a time, to be read side by side.
const COPIED: usize = 512;

/// The corners of some boxes, and their centres once their margin has been added, side by side.
struct Copied<const D: usize> {
    lo: [[f32; COPIED]; D],
    hi: [[f32; COPIED]; D],
    centers: [[f32; COPIED]; D],
}

impl<const D: usize> Copied<D> {
    fn new() -> Self {
        let column = [[0.0; COPIED]; D];
        Self { lo: column, hi: column, centers: column }
    }

    fn read(&mut self, boxes: &Boxes<'_, D>, first: usize, count: usize) {
        let ([lo, hi], margin) = (boxes.corners(), boxes.margin());
        for axis in 0..D {
            let (to_lo, to_hi) = (&mut self.lo[axis][..count], &mut self.hi[axis][..count]);
            lo[axis].map_into(first, to_lo, |x| x);
            hi[axis].map_into(first, to_hi, |x| x);
            for ((center, &lo), &hi) in self.centers[axis].iter_mut().zip(&*to_lo).zip(&*to_hi) {
                *center = middle(lo - margin, hi + margin);
            }
        }
    }
}

/// The borders of some boxes, and their centres, on one axis.
struct CheckAxis<'a> {
    lo: &'a [f32],
    hi: &'a [f32],
    centers: &'a [f32],
}

impl Work for CheckAxis<'_> {
    type Output = (f32, f32, bool);

    #[inline(always)]
    fn run(self) -> (f32, f32, bool) {
        let (mut least, mut greatest, mut faults) = ([f32::INFINITY; LEAF], [f32::NEG_INFINITY; LEAF], [0_u32; LEAF]);
        let rows = self.lo.chunks(LEAF).zip(self.hi.chunks(LEAF)).zip(self.centers.chunks(LEAF));
        for ((lo, hi), centers) in rows {
            for (lane, ((&lo, &hi), &center)) in lo.iter().zip(hi).zip(centers).enumerate() {
                least[lane] = if center < least[lane] { center } else { least[lane] };
                greatest[lane] = if center > greatest[lane] { center } else { greatest[lane] };
                faults[lane] |= u32::from(!((lo <= hi) & (lo < f32::INFINITY) & (hi > f32::NEG_INFINITY)));
            }
        }
        let (least, greatest) =
            (least.into_iter().fold(f32::INFINITY, f32::min), greatest.into_iter().fold(f32::NEG_INFINITY, f32::max));
        (least, greatest, faults == [0; LEAF])
    }
}

impl<const D: usize> Shape<D> for Boxed {
    type View<'a> = Boxes<'a, D>;
    type Record = BoxRecord<D>;
    type Columns<'a> = NoColumns<D>;
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
        workers.fill("bounds", blocks, |block| {
            let (mut all, mut copied) = (BlockBounds::EMPTY, Copied::new());
            let end = ((block + 1) * BLOCK).min(view.len());
            for first in (block * BLOCK..end).step_by(COPIED) {
                let count = COPIED.min(end - first);
                copied.read(&view, first, count);
                for axis in 0..D {
                    let Copied { lo, hi, centers } = &copied;
                    let [lo, hi, centers] = [lo, hi, centers].map(|columns| &columns[axis][..count]);
                    let (least, greatest, sound) = isa.run(CheckAxis { lo, hi, centers });
                    all.bounds.lo[axis] = all.bounds.lo[axis].min(least);
                    all.bounds.hi[axis] = all.bounds.hi[axis].max(greatest);
                    all.sound &= sound;
                }
            }
            all
        });
        if blocks.iter().any(|block| !block.sound) {
            ViewError::of_bodies(view.len(), |id| view.fault(id))?;
        }
        Ok(blocks.iter().fold(Aabb::EMPTY, |all, block| all.union(block.bounds)))
    }

    fn columns<'a>(_view: Self::View<'a>) -> Option<(NoColumns<D>, Centers<'a, D>)> {
        None
    }

    fn deal(
        view: Boxes<'_, D>,
        workers: Workers<'_>,
        part: &mut Part<Self, D>,
        bits_and_top: (u32, u32),
        by: Option<(Grid<D>, Isa)>,
    ) {
        let margin = view.margin();
        let source = |ids: Range<usize>| {
            let [mut lo, mut hi] =
                view.corners().both(|columns| columns.map(|column| column.values(ids.start, ids.len())));
            ids.map(move |id| BoxRecord {
                lo: from_axes(|axis| lo[axis].next().unwrap_or_default() - margin),
                hi: from_axes(|axis| hi[axis].next().unwrap_or_default() + margin),
                id: id as u32,
            })
        };
        let (bits, top) = bits_and_top;
        let digits = |ids: Range<usize>, keys: &mut [u16]| {
            let Some((grid, isa)) = by else { return };
            let mut copied = Copied::new();
            for (first, keys) in ids.step_by(COPIED).zip(keys.chunks_mut(COPIED)) {
                copied.read(&view, first, keys.len());
                let centers = copied.centers.each_ref().map(|column| &column[..keys.len()]);
                digits_of(isa, grid, centers, (top - bits, bits), keys);
            }
        };
        part.dealer.deal_from(workers, view.len(), bits_and_top, source, digits, &mut part.first);
    }

    #[inline(always)]
    fn set(sixteen: &mut Boxes16<D>, lane: usize, record: BoxRecord<D>) {
        for axis in 0..D {
            sixteen.lo[axis].0[lane] = record.lo[axis];
            sixteen.hi[axis].0[lane] = record.hi[axis];
        }
    }

    #[inline(always)]
    fn fill_up(sixteen: &mut Boxes16<D>, lane: usize) {
        for axis in 0..D {
            sixteen.lo[axis].0[lane..].fill(f32::INFINITY);
            sixteen.hi[axis].0[lane..].fill(f32::NEG_INFINITY);
        }
    }

    /// Finite, so that places of no box, which begin at infinity, overlap none that has no end.
    #[inline(always)]
    fn aabb(sixteen: &Boxes16<D>) -> Aabb<D> {
        let mut aabb = Aabb::EMPTY;
        for axis in 0..D {
            let (mut lo, mut hi) = ([f32::INFINITY; 4], [f32::NEG_INFINITY; 4]);
            for four in 0..LEAF / 4 {
                for lane in 0..4 {
                    let (low, high) = (sixteen.lo[axis].0[4 * four + lane], sixteen.hi[axis].0[4 * four + lane]);
                    lo[lane] = if low < lo[lane] { low } else { lo[lane] };
                    hi[lane] = if high > hi[lane] { high } else { hi[lane] };
                }
            }
            aabb.lo[axis] = outward_lo(lo.into_iter().fold(f32::INFINITY, f32::min)).max(f32::MIN);
            aabb.hi[axis] = outward_hi(hi.into_iter().fold(f32::NEG_INFINITY, f32::max)).min(f32::MAX);
        }
        aabb
    }
}

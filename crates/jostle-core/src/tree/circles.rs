//! Circles and spheres in a tree.

use core::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::digits::digits_of;
use super::shape::{Centers, Deal, Part, Record, Shape, Source};
use super::{LEAF, LinearTree};
use crate::aabb::{Aabb, GROWTH};
use crate::axes::{Axes, from_axes};
use crate::bounds::{BlockBounds, bounds_into};
use crate::error::ViewError;
use crate::fours::{Four, columns};
use crate::input::{Bodies, Radii};
use crate::isa::Isa;
use crate::morton::Grid;
use crate::parallel::workers::Workers;
use crate::radix::{ByFours, Digits};
use crate::sixteen::Bodies16;

/// The [`Shape`] of circles and spheres.
pub(super) struct Round;

/// A body on its way to its rank.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct RoundRecord<const D: usize> {
    pub(super) center: Center<D>,
    pub(super) radius: f32,
    pub(super) id: u32,
}

// SAFETY: the fields are words of four bytes, of any bits, with nothing between them.
#[allow(unsafe_code, reason = "a type is said to be plain bytes")]
unsafe impl<const D: usize> Zeroable for RoundRecord<D> {}
// SAFETY: as above.
#[allow(unsafe_code, reason = "a type is said to be plain bytes")]
unsafe impl<const D: usize> Pod for RoundRecord<D> {}

impl<const D: usize> Record<D> for RoundRecord<D> {
    #[inline(always)]
    fn center(&self) -> [f32; D] {
        self.center.0
    }

    #[inline(always)]
    fn coordinate(&self, axis: usize) -> f32 {
        self.center.0[axis]
    }

    #[inline(always)]
    fn coordinates(four: &[Self; 4]) -> [[f32; 4]; D] {
        let columns = columns(four, 0);
        from_axes(|axis| columns[axis].axes(f32::from_bits))
    }

    #[inline(always)]
    fn word(&self, word: usize) -> f32 {
        if word < D { self.center.0[word] } else { self.radius }
    }

    #[inline(always)]
    fn id(&self) -> u32 {
        self.id
    }
}

/// An array with a `Default` for every length.
#[derive(Debug, Clone, Copy)]
#[repr(transparent)]
pub(super) struct Center<const D: usize>(pub(super) [f32; D]);

impl<const D: usize> Default for Center<D> {
    fn default() -> Self {
        Self([0.0; D])
    }
}

/// All bodies in the caller's columns, where these are slices. Few bodies are one segment, for which no records need be
/// made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns<'a, const D: usize> {
    centers: Centers<'a, D>,
    /// The radii; any column, where one radius serves all bodies.
    radii: &'a [f32],
    one_radius: Option<f32>,
    margin: f32,
}

impl<'a, const D: usize> Columns<'a, D> {
    /// Borrows the columns; `None` where some column has a stride.
    pub(super) fn of(bodies: &Bodies<'a, D>) -> Option<Self> {
        let n = bodies.len();
        let mut centers = [&[][..]; D];
        for (slice, column) in centers.iter_mut().zip(bodies.centers()) {
            *slice = &column.as_slice()?[..n];
        }
        let (radii, one_radius) = match bodies.radii() {
            Radii::Each(column) => (&column.as_slice()?[..n], None),
            Radii::All(radius) => (centers[0], Some(radius)),
        };
        Some(Self { centers: Centers(centers), radii, one_radius, margin: bodies.margin() })
    }
}

#[allow(unsafe_code, reason = "places that were checked before, sixteen at a time")]
impl<const D: usize> Source for Columns<'_, D> {
    type Record = RoundRecord<D>;
    const IN_MEMORY: bool = false;

    /// All columns have this length.
    #[inline(always)]
    fn len(self) -> usize {
        let Self { centers, radii, .. } = self;
        centers.0.iter().fold(radii.len(), |len, column| len.min(column.len()))
    }

    #[inline(always)]
    unsafe fn record(self, place: u16) -> RoundRecord<D> {
        let at = usize::from(place);
        let mut center = [0.0; D];
        for axis in 0..D {
            // SAFETY: the caller says that the place is below the length of each column.
            center[axis] = unsafe { *self.centers.0[axis].get_unchecked(at) };
        }
        // SAFETY: as above.
        let radius = self.one_radius.unwrap_or(unsafe { *self.radii.get_unchecked(at) }) + self.margin;
        RoundRecord { center: Center(center), radius, id: u32::from(place) }
    }
}

/// First pass: deals records from the caller's columns out to the buffer, by digits of `bits` bits of codes of `top`
/// bits.
fn deal<const D: usize>(
    bodies: Bodies<'_, D>,
    workers: Workers<'_>,
    to: &mut Deal<Round, D>,
    bits_and_top: (u32, u32),
    digits: &Digits<'_>,
) {
    let n = bodies.len();
    let slices = bodies.centers().each(|column| column.as_slice());
    let (radii, all) = match bodies.radii() {
        Radii::Each(column) => (column.as_slice(), 0.0),
        Radii::All(radius) => (Some(&[][..]), radius),
    };
    let margin = bodies.margin();
    match (slices, radii) {
        (slices, Some(radii)) if slices.iter().all(Option::is_some) => {
            let centers = slices.each(Option::unwrap_or_default);
            let source = |ids: Range<usize>| {
                // Columns that are cut to one length need no check for each body, nor, with one radius for all, a
                // branch.
                let (first, len) = (ids.start, ids.len());
                let centers = centers.map(|column| &column[ids.clone()][..len]);
                let (radii, each) = radii.get(ids).map_or((centers[0], false), |radii| (&radii[..len], true));
                (0..len).map(move |i| RoundRecord {
                    center: Center(from_axes(|axis| centers[axis][i])),
                    radius: if each { radii[i] } else { all } + margin,
                    id: (first + i) as u32,
                })
            };
            to.dealer.deal_from(workers, n, bits_and_top, source, digits, (&mut to.records[..], ByFours));
        }
        _ => {
            let source = |ids: Range<usize>| {
                let mut centers = bodies.centers().map(|column| column.values(ids.start, ids.len()));
                let (mut radii, all) = match bodies.radii() {
                    Radii::Each(column) => (Some(column.values(ids.start, ids.len())), 0.0),
                    Radii::All(radius) => (None, radius),
                };
                ids.map(move |id| RoundRecord {
                    center: Center(from_axes(|axis| centers[axis].next().unwrap_or_default())),
                    radius: radii.as_mut().and_then(Iterator::next).unwrap_or(all) + margin,
                    id: id as u32,
                })
            };
            to.dealer.deal_from(workers, n, bits_and_top, source, digits, (&mut to.records[..], ByFours));
        }
    }
}

/// Puts ghost images behind all others: the digits of bodies from number `images_from` on get one more bit. The first
/// body has number `first`.
fn put_behind(images_from: usize, first: usize, keys: &mut [u16], bits: u32) {
    keys.iter_mut().skip(images_from.saturating_sub(first)).for_each(|key| *key |= 1 << bits);
}

/// Points of columns with a stride that are copied at a time, to lie side by side.
const COPIED: usize = 512;

impl<const D: usize> Shape<D> for Round {
    type View<'a> = Bodies<'a, D>;
    type Record = RoundRecord<D>;
    type Columns<'a> = Columns<'a, D>;
    type Sixteen = Bodies16<D>;

    const IS_BOXED: bool = false;

    const NONE: Bodies16<D> = Bodies16::NONE;

    fn part(tree: &mut LinearTree<D>) -> &mut Part<Self, D> {
        &mut tree.round
    }

    fn len(view: Bodies<'_, D>) -> usize {
        view.len()
    }

    fn margin(view: Bodies<'_, D>) -> f32 {
        view.margin()
    }

    fn images_from(view: Bodies<'_, D>) -> u32 {
        view.images_from()
    }

    fn bounds(
        view: Bodies<'_, D>,
        workers: Workers<'_>,
        isa: Isa,
        blocks: &mut Vec<BlockBounds<D>>,
    ) -> Result<Aabb<D>, ViewError> {
        bounds_into(view, workers, isa, blocks)
    }

    fn columns(view: Self::View<'_>) -> Option<Self::Columns<'_>> {
        Columns::of(&view)
    }

    /// The columns hold the centres themselves.
    fn centers<'a: 's, 's>(columns: Columns<'a, D>, _leaves: &'s mut [Bodies16<D>]) -> Centers<'s, D> {
        columns.centers
    }

    fn deal(
        view: Bodies<'_, D>,
        workers: Workers<'_>,
        to: &mut Deal<Self, D>,
        bits_and_top: (u32, u32),
        by: Option<(Grid<D>, Isa)>,
    ) {
        let Some((grid, isa)) = by else {
            return deal(view, workers, to, bits_and_top, &|_: (Range<usize>, &mut [u16])| ());
        };
        let ((bits, top), images_from) = (bits_and_top, view.images_from() as usize);
        let bits_and_top = (bits + u32::from(images_from < view.len()), top);
        let slices = view.centers().each(|column| column.as_slice());
        if slices.iter().all(Option::is_some) {
            let centers = slices.each(Option::unwrap_or_default);
            deal(view, workers, to, bits_and_top, &|(ids, keys): (Range<usize>, &mut [u16])| {
                digits_of(isa, grid, centers.each(|column| &column[ids.clone()]), (top - bits, bits), keys);
                put_behind(images_from, ids.start, keys, bits);
            });
        } else {
            deal(view, workers, to, bits_and_top, &|(ids, keys): (Range<usize>, &mut [u16])| {
                for (first, keys) in ids.step_by(COPIED).zip(keys.chunks_mut(COPIED)) {
                    let mut centers = [[0.0; COPIED]; D];
                    for (column, center) in view.centers().iter().zip(&mut centers) {
                        column.copy_into(first, &mut center[..keys.len()]);
                    }
                    let centers = centers.each_ref().each(|column| &column[..keys.len()]);
                    digits_of(isa, grid, centers, (top - bits, bits), keys);
                    put_behind(images_from, first, keys, bits);
                }
            });
        }
    }

    #[inline(always)]
    fn column(sixteen: &mut Bodies16<D>, word: usize) -> &mut [f32; LEAF] {
        let Bodies16 { centers, radii } = sixteen;
        &mut if word < D { &mut centers[word] } else { radii }.0
    }

    #[inline(always)]
    fn fill_up(sixteen: &mut Bodies16<D>, lane: usize) {
        // Writes all lanes, each with its old or its new value: the compiler makes few instructions of that.
        for at in 0..LEAF {
            for axis in 0..D {
                let center = &mut sixteen.centers[axis].0[at];
                *center = if at < lane { *center } else { f32::NAN };
            }
            let radius = &mut sixteen.radii.0[at];
            *radius = if at < lane { *radius } else { 0.0 };
        }
    }

    #[inline(always)]
    fn reach(sixteen: &Bodies16<D>, axis: usize) -> (Four, Four) {
        let (centers, radii) = (Four::all_of(&sixteen.centers[axis]), Four::all_of(&sixteen.radii));
        let (mut lo, mut hi) = (Four::splat(f32::INFINITY), Four::splat(f32::NEG_INFINITY));
        for (center, radius) in centers.into_iter().zip(radii) {
            let reach = radius.times(Four::splat(GROWTH));
            (lo, hi) = (center.minus(reach).lesser(lo), center.plus(reach).greater(hi));
        }
        (lo, hi)
    }
}

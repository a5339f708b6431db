//! `f32` proxies of periodic, `f64` and moving bodies, and the exact decision in `f64`. The tree holds proxies in place
//! of the bodies; hits that proxies leave in doubt are decided.
//!
//! Bodies in `f32` at rest are *direct*: in a space that repeats, the predicate takes their proxies as the bodies. As
//! soon as one set of a search is in `f64` or moves, all bodies of the search are *decided*: their proxies share one
//! frame (`frame`), without the gaps between bodies that lie far apart (`gaps`). If no frame tells the bodies apart,
//! ordinals take the place of coordinates (`ordinals`).

mod boxed;
mod columns;
mod crowded;
mod ends;
mod exact;
mod frame;
mod gaps;
mod images;
mod impact;
mod in_double;
mod ordinals;
mod piece;
pub mod prepared;
mod scale;
mod segments;
mod sixteen_pairs;
mod solid;
pub mod sorted;
mod stand_ins;
mod survey;

use core::ops::Range;
use std::sync::{Mutex, PoisonError};

use jostle_core::axes::{Axes, from_axes};
use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Aabb, Bodies, Isa, LinearTree, Radii, Reason, Scalar, ViewError, Workers};

use crate::InputError;
use crate::compiled::compiled_here;
use crate::input::{Set, Source, UnitCell};

pub(crate) use boxed::{BoxFrame, Finite};
pub use columns::each_body;
use columns::{BLOCK, Columns, reduce, set_each};
pub(crate) use ends::{AllBodies, Framed};
pub use exact::{Decide, Exact, InCell, Measured, squared};
pub(crate) use frame::Frame;
pub(crate) use gaps::Gaps;
use gaps::SPANS;
pub use images::Images;
pub(crate) use images::{ImageRange, Lengths, Reach};
pub use impact::first_touch;
use in_double::{InDouble, ReadInDouble, read_spans, span, survey_moving};
pub(crate) use ordinals::Ordinals;
pub use solid::{Solid, between};
use sorted::SortedSet;
pub(crate) use survey::Extent;
use survey::Given;

/// A body on one axis: where it begins in the cell, half of its displacement, and how far it reaches from the middle of
/// its path.
type Span = [f64; 3];

/// The proxies of a set, which a finder keeps.
#[derive(Debug)]
pub struct Proxies<const D: usize> {
    /// The bodies of a tree by id, if the set is a tree.
    tree_bodies: Columns<D>,
    columns: Columns<D>,
    extents: Vec<Extent<D>>,
    /// By how many cells each body has been moved. Read only if `outside` is set.
    wraps: Vec<[i32; D]>,
    outside: bool,
    /// Whether the last survey has counted by how many.
    are_counted: bool,
    /// The predicate takes the bodies of the set as they were given; they were not copied.
    as_given: bool,
    /// The instructions of the last survey.
    isa: Isa,
}

impl<const D: usize> Default for Proxies<D> {
    fn default() -> Self {
        Self {
            tree_bodies: Columns::default(),
            columns: Columns::default(),
            extents: Vec::new(),
            wraps: Vec::new(),
            outside: false,
            are_counted: false,
            as_given: false,
            isa: Isa::PORTABLE,
        }
    }
}

/// Runs the same code with the bodies of a set in either precision.
macro_rules! with_given {
    ($proxies:expr, $set:expr, $cell:expr, $decided:expr, |$given:ident| $body:expr) => {
        match $set.source {
            Source::View(bodies) => {
                let $given =
                    Given { bodies, moving: $set.moving, cell: $cell.copied(), decided: $decided, isa: $proxies.isa };
                $body
            }
            Source::Double(bodies) => {
                let $given =
                    Given { bodies, moving: $set.moving, cell: $cell.copied(), decided: $decided, isa: $proxies.isa };
                $body
            }
            Source::Tree(_) | Source::Shaped(_) => {
                let bodies = $proxies.tree_bodies.view();
                let $given =
                    Given { bodies, moving: $set.moving, cell: $cell.copied(), decided: $decided, isa: $proxies.isa };
                $body
            }
        }
    };
}

impl<const D: usize> Proxies<D> {
    pub(crate) fn bytes(&self) -> usize {
        self.tree_bodies.bytes()
            + self.columns.bytes()
            + self.extents.capacity() * size_of::<Extent<D>>()
            + self.wraps.capacity() * size_of::<[i32; D]>()
    }

    /// The bodies as the tree has them, by id.
    pub(crate) fn view(&self) -> Bodies<'_, D> {
        self.columns.view()
    }

    /// How many cells a body has been moved by.
    #[inline]
    pub(crate) fn wraps_of(&self, id: u32) -> [i32; D] {
        if self.outside { self.wraps[id as usize] } else { [0; D] }
    }

    /// Notes that no body has been moved into the cell.
    pub(crate) fn clear(&mut self) {
        self.outside = false;
    }

    /// Notes that the predicate takes the bodies as they are, since none lies outside of the cell.
    pub(crate) fn leave_as_given(&mut self) {
        self.as_given = true;
    }

    pub(crate) fn are_as_given(&self) -> bool {
        self.as_given
    }

    /// Whether some bodies lie outside of the cell, as far as they have been looked at.
    pub(crate) fn are_outside(&self) -> bool {
        self.outside
    }

    /// Notes whether some bodies lie outside of the cell, as an earlier survey has found.
    pub(crate) fn take_over(&mut self, outside: bool) {
        (self.outside, self.are_counted) = (outside, false);
    }

    /// Reads the bodies of a tree by id, with their margins in their radii.
    pub fn read_tree(&mut self, tree: &LinearTree<D>) -> Bodies<'_, D> {
        self.tree_bodies.read(tree);
        self.tree_view()
    }

    /// The bodies of the tree that was read last, by id.
    pub fn tree_view(&self) -> Bodies<'_, D> {
        self.tree_bodies.view()
    }

    /// Returns how far checked bodies extend, if all of them lie in a cell whose walls lie in the axes.
    pub(crate) fn survey_checked(
        &mut self,
        bodies: Bodies<'_, D>,
        bounds: Aabb<D>,
        cell: &UnitCell<D>,
        isa: Isa,
        workers: Workers<'_>,
    ) -> Option<Extent<D>> {
        let borders = from_axes(|axis| [bounds.lo[axis], bounds.hi[axis]].axes(f64::from));
        if bodies.is_empty() || !cell.holds(&borders) {
            return None;
        }
        let given = Given { bodies, moving: None, cell: None, decided: false, isa };
        let survey = |ids| given.survey_radii(ids);
        // Where all radii are the same, one tells.
        let looked_at = if let Radii::All(_) = bodies.radii() { 1 } else { bodies.len() };
        let mut extent = reduce(looked_at, &mut self.extents, Extent::EMPTY, &survey, workers, &Extent::merge);
        for axis in 0..D {
            [extent.lo[axis], extent.hi[axis]] = borders[axis];
        }
        self.outside = false;
        Some(extent)
    }

    /// Surveys all bodies of a set, and refuses bodies that are not sound.
    pub(crate) fn survey(
        &mut self,
        set: &Set<'_, D>,
        cell: Option<&UnitCell<D>>,
        decided: bool,
        isa: Isa,
        workers: Workers<'_>,
    ) -> Result<Extent<D>, InputError> {
        if let Source::Tree(tree) = set.source {
            self.tree_bodies.read(tree);
        }
        (self.isa, self.are_counted) = (isa, false);
        let Self { tree_bodies, extents, wraps, are_counted, .. } = self;
        let proxies = Reborrow { tree_bodies, isa };
        let extent = with_given!(proxies, set, cell, decided, |given| {
            let survey = |ids| match &set.moving {
                None => given.survey(ids),
                Some(moving) => survey_moving(&given, moving, cell, ids),
            };
            let extent = reduce(given.bodies.len(), extents, Extent::EMPTY, &survey, workers, &Extent::merge);
            *are_counted = extent.outside && set.moving.is_none();
            if *are_counted { count_wraps(&given, extent, wraps, workers) } else { extent }
        });
        if !extent.sound {
            with_given!(self, set, cell, decided, |given| {
                ViewError::of_bodies(given.bodies.len(), |id| given.fault(id))?;
                InputError::of_range(given.bodies.len(), |id| given.range_fault(id))?;
            });
        }
        self.outside = extent.outside;
        Ok(extent)
    }

    /// Returns the fault of a circle or sphere of a set by itself, if it has one.
    fn fault(&self, set: &Set<'_, D>, id: usize) -> Option<Reason> {
        with_given!(self, set, None::<&UnitCell<D>>, true, |given| given.fault(id))
    }

    /// Returns what the smaller bodies of a surveyed set typically reach.
    fn typical_radius(&self, set: &Set<'_, D>, cell: Option<&UnitCell<D>>) -> f64 {
        with_given!(self, set, cell, true, |given| given.typical_radius())
    }

    /// A body of a surveyed set, on each axis.
    fn spans(&self, set: &Set<'_, D>, cell: Option<&UnitCell<D>>, id: usize) -> [Span; D] {
        let cell = cell.filter(|_| self.outside);
        with_given!(self, set, cell, true, |given| from_axes(|axis| span(&given, axis, id)))
    }

    /// Calls `visit` with bodies of a surveyed set on one axis, some at a time.
    fn each_span(
        &self,
        set: &Set<'_, D>,
        cell: Option<&UnitCell<D>>,
        axis: usize,
        ids: Range<usize>,
        mut visit: impl FnMut(&[Span]),
    ) {
        let cell = cell.filter(|_| self.outside);
        let wraps = self.are_counted.then_some(self.wraps.as_slice());
        let mut spans = [[0.0; 3]; SPANS];
        for first in ids.clone().step_by(SPANS) {
            let spans = &mut spans[..SPANS.min(ids.end - first)];
            with_given!(self, set, cell, true, |given| read_spans((set, &given, wraps), axis, first, spans));
            visit(spans);
        }
    }

    /// Makes the proxies of a surveyed set: in a frame, or, without one, as the predicate takes them.
    pub(crate) fn fill(
        &mut self,
        set: &Set<'_, D>,
        cell: Option<&UnitCell<D>>,
        frame: Option<(&Frame<D>, Option<&Gaps<D>>)>,
        (isa, workers): (Isa, Workers<'_>),
    ) {
        self.as_given = false;
        let Self { tree_bodies, columns, wraps, outside, are_counted, .. } = self;
        let (proxies, cell) = (Reborrow { tree_bodies, isa }, cell.filter(|_| *outside));
        with_given!(proxies, set, cell, frame.is_some(), |given| {
            if *outside && !*are_counted {
                count_wraps(&given, Extent::EMPTY, wraps, workers);
            }
            let wraps = if *outside { Some(wraps.as_slice()) } else { None };
            match frame {
                Some(frame) => fill_in_frame(columns, (set, &given, wraps), frame, workers),
                None => fill_in_cell(columns, given, wraps, workers),
            }
        });
    }
}

compiled_here! {
    /// Refuses bodies that are not sound, by name.
    pub fn check_bodies<const D: usize>(set: &Set<'_, D>) -> Result<(), InputError> {
        if let Source::Shaped(_) = set.source {
            return SortedSet::<D>::default().survey_solids(set, None, Workers::Serial).map(|_| ());
        }
        Proxies::<D>::default().survey(set, None, true, Isa::detect(), Workers::Serial).map(|_| ())
    }
}

compiled_here! {
    /// Moves direct bodies into the cell as a search does.
    pub fn put_in_cell<const D: usize>(
        in_cell: &mut InCell<D>,
        bodies: Bodies<'_, D>,
        cell: &UnitCell<D>,
        isa: Isa,
        workers: Workers<'_>,
    ) {
        let InCell { centers, wraps } = in_cell;
        let given = Given { bodies, moving: None, cell: Some(*cell), decided: false, isa };
        count_wraps(&given, Extent::EMPTY, wraps, workers);
        for (axis, column) in centers.iter_mut().enumerate() {
            resize_with_headroom(column, bodies.len());
            workers.fill_blocks("in cell", column, BLOCK, |first, out| {
                read_starts(&given, Some(wraps.as_slice()), axis, first, out);
            });
        }
    }
}

/// Counts by how many vectors each body is moved into the cell. Returns the extent of bodies at rest once they have been
/// moved, from their extent where they are.
fn count_wraps<const D: usize, T: Scalar>(
    given: &Given<'_, D, T>,
    where_they_are: Extent<D>,
    wraps: &mut Vec<[i32; D]>,
    workers: Workers<'_>,
) -> Extent<D> {
    resize_with_headroom(wraps, given.bodies.len());
    let moved = Mutex::new(Extent::EMPTY);
    workers.fill_blocks("wraps", wraps, BLOCK, |first, wraps| {
        let of_block = given.move_in(first, wraps);
        let mut moved = moved.lock().unwrap_or_else(PoisonError::into_inner);
        *moved = moved.merge(of_block);
    });
    let Extent { lo, hi, far, outside, sound, .. } = moved.into_inner().unwrap_or_else(PoisonError::into_inner);
    Extent { lo, hi, far, outside, sound: sound & where_they_are.sound, ..where_they_are }
}

/// The part of the proxies that is read while the rest is written.
struct Reborrow<'a, const D: usize> {
    tree_bodies: &'a Columns<D>,
    isa: Isa,
}

/// Reads where the bodies from number `first` on are on an axis, moved into the cell by `wraps`.
fn read_starts<const D: usize>(
    given: &dyn ReadInDouble<D>,
    wraps: Option<&[[i32; D]]>,
    axis: usize,
    first: usize,
    out: &mut [f32],
) {
    let mut x = [0.0; SPANS];
    for (first, out) in (first..).step_by(SPANS).zip(out.chunks_mut(SPANS)) {
        given.starts(wraps, axis, first, &mut x[..out.len()]);
        set_each(0, out, |at| x[at] as f32);
    }
}

fn fill_in_cell<const D: usize, T: Scalar>(
    columns: &mut Columns<D>,
    given: Given<'_, D, T>,
    wraps: Option<&[[i32; D]]>,
    workers: Workers<'_>,
) {
    let bodies = given.bodies;
    columns.fill(
        bodies.len(),
        |axis, first, out| read_starts(&given, wraps, axis, first, out),
        |first, out| bodies.radii().map_into(first, out, |radius| (radius + bodies.margin()).to_f64() as f32),
        workers,
    );
}

fn fill_in_frame<const D: usize>(
    columns: &mut Columns<D>,
    of: InDouble<'_, D>,
    (frame, gaps): (&Frame<D>, Option<&Gaps<D>>),
    workers: Workers<'_>,
) {
    let (set, given, wraps) = of;
    let read_coordinates = |axis: usize, first: usize, out: &mut [f32]| {
        let mut columns = [[0.0; SPANS]; 2];
        let [x, by] = columns.each_mut().map(|column| &mut column[..out.len()]);
        given.starts(wraps, axis, first, x);
        if let Some(moving) = &set.moving {
            moving.read(axis, first, by);
        }
        set_each(0, out, |at| frame.coordinate(frame.origin[axis], x[at], by[at] / 2.0));
    };
    let plain = wraps.is_none() && set.moving.is_none() && gaps.is_none();
    columns.fill(
        set.len(),
        |axis, first, out| {
            if plain {
                return given.centers_in(frame, axis, first, out);
            }
            for (first, out) in (first..).step_by(SPANS).zip(out.chunks_mut(SPANS)) {
                let Some(gaps) = gaps else {
                    read_coordinates(axis, first, out);
                    continue;
                };
                let mut spans = [[0.0; 3]; SPANS];
                let spans = &mut spans[..out.len()];
                read_spans(of, axis, first, spans);
                let origins = gaps.origins(axis, spans);
                set_each(0, out, |at| frame.coordinate(origins[at], spans[at][0], spans[at][1]));
            }
        },
        |first, out| {
            if set.moving.is_none() && !frame.is_adopted() {
                return given.radii_in(frame, first, out);
            }
            for (first, out) in (first..).step_by(SPANS).zip(out.chunks_mut(SPANS)) {
                let (mut columns, mut widest, mut coordinates) = ([[0.0; SPANS]; 3], [0.0; SPANS], [0.0; SPANS]);
                let [radii, by, path2] = columns.each_mut().map(|column| &mut column[..out.len()]);
                given.radii(first, radii);
                for axis in 0..D {
                    if let Some(moving) = &set.moving {
                        moving.read(axis, first, by);
                        path2.iter_mut().zip(&*by).for_each(|(sum, by)| *sum += by * by);
                    }
                    if frame.is_adopted() {
                        read_coordinates(axis, first, &mut coordinates[..out.len()]);
                        widest.iter_mut().zip(coordinates).for_each(|(most, x)| *most = f32::max(*most, x.abs()));
                    }
                }
                set_each(0, out, |at| frame.radius(radii[at] + path2[at].sqrt() / 2.0, widest[at].into()));
            }
        },
        workers,
    );
}

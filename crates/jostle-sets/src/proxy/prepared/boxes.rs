//! Boxes and capsules of a prepared set: copied, and sorted by boxes.

use jostle_core::axes::{Both, slices_mut};
use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Boxes, Boxes64, Capsules, Capsules64, Scalar, Workers};

use super::PreparedSet;
use crate::InputError;
use crate::input::shaped::Shaped;
use crate::input::{Set, Source, Space, UnitCell};
use crate::proxy::boxed::{BoxFrame, Finite};
use crate::proxy::columns::{BLOCK, set_each};
use crate::proxy::solid::Solid;
use crate::proxy::{Extent, squared};

/// What is known of the bodies of a prepared set of boxes or capsules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Boxed<const D: usize> {
    pub(crate) extent: Finite<D>,
    /// The frame of boxes that stand in for bodies. Boxes in `f32` in open space are in the tree as they are.
    pub(crate) frame: Option<BoxFrame<D>>,
}

/// Boxes or capsules as they were given, by id, and their margin. Memory of the other precision is kept.
#[derive(Debug)]
pub(super) struct Copies<const D: usize> {
    kind: Option<Kind>,
    margin: f64,
    single: Numbers<D, f32>,
    double: Numbers<D, f64>,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Boxes,
    Boxes64,
    Capsules,
    Capsules64,
}

/// Corners or ends, and radii.
#[derive(Debug)]
struct Numbers<const D: usize, T> {
    points: [[Vec<T>; D]; 2],
    radii: Vec<T>,
}

impl<const D: usize, T: Scalar> Numbers<D, T> {
    fn new() -> Self {
        Self { points: [const { [const { Vec::new() }; D] }; 2], radii: Vec::new() }
    }

    fn bytes(&self) -> usize {
        self.points.iter().flatten().chain([&self.radii]).map(|column| column.capacity() * size_of::<T>()).sum()
    }

    fn copy(
        &mut self,
        bodies: usize,
        solid: impl Fn(usize) -> Solid<D> + Sync,
        narrow: fn(f64) -> T,
        workers: Workers<'_>,
    ) {
        self.points.iter_mut().flatten().for_each(|column| resize_with_headroom(column, bodies));
        let columns = self.points.each_mut().both(slices_mut);
        workers.fill_columns("copy", columns, BLOCK, |first, [from, to]| {
            for at in 0..from[0].len() {
                let ([p, q], _) = solid(first + at).segment();
                for axis in 0..D {
                    (from[axis][at], to[axis][at]) = (narrow(p[axis]), narrow(q[axis]));
                }
            }
        });
        resize_with_headroom(&mut self.radii, bodies);
        workers.fill_blocks("copy", &mut self.radii, BLOCK, |first, block| {
            set_each(first, block, |id| narrow(solid(id).segment().1));
        });
    }
}

impl<const D: usize> Copies<D> {
    pub(super) fn new() -> Self {
        Self { kind: None, margin: 0.0, single: Numbers::new(), double: Numbers::new() }
    }

    pub(super) fn clear(&mut self) {
        self.kind = None;
    }

    pub(super) fn bytes(&self) -> usize {
        self.single.bytes() + self.double.bytes()
    }

    pub(super) fn is_double(&self) -> bool {
        matches!(self.kind, Some(Kind::Boxes64 | Kind::Capsules64))
    }

    /// The bodies, if they are boxes or capsules.
    pub(super) fn source(&self) -> Option<Source<'_, D>> {
        let (Numbers { points: [lo, hi], radii }, Numbers { points: [lo64, hi64], radii: radii64 }) =
            (&self.single, &self.double);
        let shaped = match self.kind? {
            Kind::Boxes => Shaped::Boxes(Boxes::new(lo.each_ref(), hi.each_ref())),
            Kind::Boxes64 => Shaped::Boxes64(Boxes64::new(lo64.each_ref(), hi64.each_ref())),
            Kind::Capsules => Shaped::Capsules(Capsules::new(lo.each_ref(), hi.each_ref(), radii)),
            Kind::Capsules64 => Shaped::Capsules64(Capsules64::new(lo64.each_ref(), hi64.each_ref(), radii64)),
        };
        Some(Source::Shaped(shaped.with_margin(self.margin)))
    }

    /// Copies a set whose bodies are sound.
    fn copy(&mut self, set: &Set<'_, D>, workers: Workers<'_>) {
        let Source::Shaped(shaped) = &set.source else { return };
        let kind = match shaped {
            Shaped::Boxes(_) => Kind::Boxes,
            Shaped::Boxes64(_) => Kind::Boxes64,
            Shaped::Capsules(_) => Kind::Capsules,
            Shaped::Capsules64(_) => Kind::Capsules64,
        };
        self.margin = shaped.margin();
        let bare = shaped.with_margin(0.0);
        let solid = |id: usize| Solid::shaped(&bare, id);
        match kind {
            // Numbers given in `f32` have been widened, so this is exact.
            Kind::Boxes | Kind::Capsules => self.single.copy(set.len(), solid, |x| x as f32, workers),
            Kind::Boxes64 | Kind::Capsules64 => self.double.copy(set.len(), solid, |x| x, workers),
        }
        self.kind = Some(kind);
    }
}

impl<const D: usize> PreparedSet<D> {
    /// Copies and sorts boxes or capsules.
    pub(super) fn build_boxed(
        &mut self,
        set: &Set<'_, D>,
        space: Space<D>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        let cell = (!space.is_open()).then(|| UnitCell::of(&space));
        self.sorted.boxed = true;
        let extent = self.sorted.survey_solids(set, cell.as_ref(), workers)?;
        self.bodies.shaped.copy(set, workers);
        let own = Set::of(self.bodies.source());
        let direct = cell.is_none() && matches!(own.source, Source::Shaped(Shaped::Boxes(_)));
        let frame = (!direct).then(|| BoxFrame::prepared(extent, cell.as_ref()));
        if let Some(frame) = &frame {
            self.sorted.count_wraps(&own, cell.as_ref(), workers);
            self.sorted.fill_boxes(&own, cell.as_ref(), frame, workers);
            self.sorted.build_boxed(&own, workers)?;
        } else {
            self.sorted.build(&own, None, workers)?;
        }
        let radius = squared(extent.reach).sqrt();
        self.extent =
            Extent { lo: extent.lo, hi: extent.hi, far: [extent.far; D], radius, reach: radius, ..Extent::EMPTY };
        self.frame = None;
        self.boxed = Some(Boxed { extent, frame });
        Ok(())
    }

    /// What is known of the boxes or capsules of a prepared set that can serve a search in this space.
    pub(crate) fn boxed_serving(set: &Set<'_, D>, space: &Space<D>) -> Option<Boxed<D>> {
        Self::serving(set, space)?.boxed
    }

    /// A body of a set of boxes or capsules, as it was given.
    pub(crate) fn solid(&self, id: u32) -> Solid<D> {
        self.sorted.solid(&Set::of(self.bodies.source()), id as usize)
    }
}

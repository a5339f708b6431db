//! The boxes that stand for the bodies of a set: surveyed, which refuses what is not sound, and made.

use core::ops::Range;

use jostle_core::scratch::resize_with_headroom;
use jostle_core::{BoxView, Scalar, ViewError, Workers};

use crate::InputError;
use crate::input::shaped::Shaped;
use crate::input::{Set, Source};
use crate::proxy::boxed::{BoxFrame, Finite, GROWTH};
use crate::proxy::columns::{BLOCK, reduce};
use crate::proxy::solid::Solid;
use crate::proxy::sorted::SortedSet;

impl<const D: usize> SortedSet<D> {
    /// A body of a set as the caller gave it. Those of a tree have been read before.
    #[inline]
    pub(crate) fn solid(&self, set: &Set<'_, D>, id: usize) -> Solid<D> {
        let round = |center: [f64; D], radius: f64| Solid::Round { center, radius };
        match &set.source {
            Source::View(bodies) => round(bodies.center(id).map(f64::from), bodies.radius(id).into()),
            Source::Double(bodies) => round(bodies.center(id), bodies.radius(id)),
            Source::Tree(_) => {
                let bodies = self.proxies.tree_view();
                round(bodies.center(id).map(f64::from), bodies.radius(id).into())
            }
            Source::Shaped(Shaped::Boxes(boxes)) => boxed(boxes, id),
            Source::Shaped(Shaped::Boxes64(boxes)) => boxed(boxes, id),
            Source::Shaped(Shaped::Capsules(capsules)) => Solid::Capsule {
                ends: capsules.ends(id).map(|end| end.map(f64::from)),
                radius: capsules.radius(id).into(),
            },
            Source::Shaped(Shaped::Capsules64(capsules)) => {
                Solid::Capsule { ends: capsules.ends(id), radius: capsules.radius(id) }
            }
        }
    }

    /// Looks at all bodies of a set, and refuses what is not sound.
    pub(crate) fn survey_solids(&mut self, set: &Set<'_, D>, workers: Workers<'_>) -> Result<Finite<D>, InputError> {
        if let Source::Tree(tree) = set.source {
            self.proxies.read_tree(tree);
        }
        let mut columns = core::mem::take(&mut self.columns);
        let fault = |id: usize| match &set.source {
            Source::Shaped(Shaped::Boxes(boxes)) => boxes.fault(id),
            Source::Shaped(Shaped::Boxes64(boxes)) => boxes.fault(id),
            Source::Shaped(Shaped::Capsules(capsules)) => capsules.fault(id),
            Source::Shaped(Shaped::Capsules64(capsules)) => capsules.fault(id),
            Source::View(_) | Source::Double(_) | Source::Tree(_) => self.proxies.fault(set, id),
        };
        let survey = |ids: Range<usize>| {
            let mut all = Finite::NONE;
            for id in ids {
                all.sound &= fault(id).is_none();
                let solid = self.solid(set, id);
                for axis in 0..D {
                    for end in solid.extent(axis, 0.0) {
                        if end.is_finite() {
                            (all.lo[axis], all.hi[axis]) = (all.lo[axis].min(end), all.hi[axis].max(end));
                        }
                    }
                }
            }
            all
        };
        let all = reduce(set.len(), &mut columns.extents, Finite::NONE, survey, workers, Finite::merge);
        let refused = if all.sound { Ok(()) } else { ViewError::of_bodies(set.len(), fault) };
        self.columns = columns;
        Ok(refused.map(|()| all)?)
    }

    /// Makes the boxes that stand for the bodies of a set.
    pub(crate) fn fill_boxes(&mut self, set: &Set<'_, D>, frame: &BoxFrame<D>, workers: Workers<'_>) {
        let mut boxes = core::mem::take(&mut self.columns);
        for (side, columns) in boxes.corners.iter_mut().enumerate() {
            let growth = if side == 0 { -GROWTH } else { GROWTH };
            for (axis, column) in columns.iter_mut().enumerate() {
                resize_with_headroom(column, set.len(), 0.0);
                workers.fill_blocks("boxes", column, BLOCK, |first, block| {
                    for (slot, id) in block.iter_mut().zip(first..) {
                        let end = self.solid(set, id).extent(axis, frame.origin[axis])[side];
                        *slot = (end * frame.scale) as f32 + growth;
                    }
                });
            }
        }
        self.columns = boxes;
    }
}

fn boxed<const D: usize, T: Scalar>(boxes: &BoxView<'_, D, T>, id: usize) -> Solid<D> {
    let (mut lo, mut hi) = ([0.0; D], [0.0; D]);
    for axis in 0..D {
        let [low, high] = boxes.corners();
        lo[axis] = (low[axis].get(id) - boxes.margin()).to_f64();
        hi[axis] = (high[axis].get(id) + boxes.margin()).to_f64();
    }
    Solid::Boxed { lo, hi }
}

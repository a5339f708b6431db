//! A frame as the caller gave it, and as it is followed.

use jostle_sets::input::Input;
use jostle_sets::prepare::Preparation;
use jostle_sets::proxy::Exact;

use crate::coherent::stand_ins::StandIns;

/// See the top of this file.
#[derive(Debug, Clone, Copy)]
pub(super) struct FrameInput<'a, const D: usize> {
    pub(super) input: &'a Input<'a, D>,
    /// The same in `f32` at rest in open space: the input itself, or its stand-ins.
    pub(super) plain: &'a Input<'a, D>,
    pub(super) stand_ins: Option<&'a StandIns<D>>,
    /// The input with copies of bodies in place of trees; pairs are decided by it.
    pub(super) untreed: &'a Input<'a, D>,
}

impl<'a, const D: usize> FrameInput<'a, D> {
    /// Calls `then` with an input in which `stand_ins`, if given, stand in for bodies.
    pub(super) fn with<R>(
        input: &Input<'_, D>,
        stand_ins: Option<&StandIns<D>>,
        then: impl FnOnce(FrameInput<'_, D>) -> R,
    ) -> R {
        let Some(of) = stand_ins else { return then(FrameInput { input, plain: input, stand_ins, untreed: input }) };
        let [mut sets, mut others] = [Vec::new(), Vec::new()];
        let (plain, untreed) = (of.input(input, &mut sets), of.without_trees(input, &mut others));
        then(FrameInput { input, plain: &plain, stand_ins, untreed: &untreed })
    }

    /// Returns what decides by the caller's own numbers.
    pub(super) fn exact(&self, preparation: &'a Preparation<D>) -> Exact<'a, D> {
        self.stand_ins.map_or_else(|| preparation.exact(self.input), |stand_ins| stand_ins.exact(self.untreed))
    }

    /// Returns how far a body may be from where its stand-in says.
    pub(super) fn error(&self) -> f64 {
        self.stand_ins.map_or(0.0, StandIns::error)
    }

    /// Whether no two bodies, with such a margin, meet at more than one image.
    pub(super) fn are_single(&self, margin: f64) -> bool {
        self.stand_ins.is_none_or(|stand_ins| stand_ins.are_single(margin))
    }
}

//! Bodies that are neither circles nor spheres: boxes and capsules.

use jostle_core::{Boxes, Boxes64, Capsules, Capsules64};

use super::{Input, Set, Source};
use crate::InputError;

/// A view of boxes or capsules, in either precision.
#[derive(Debug, Clone, Copy)]
pub enum Shaped<'a, const D: usize> {
    Boxes(Boxes<'a, D>),
    Boxes64(Boxes64<'a, D>),
    Capsules(Capsules<'a, D>),
    Capsules64(Capsules64<'a, D>),
}

impl<const D: usize> Shaped<'_, D> {
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Boxes(boxes) => boxes.len(),
            Self::Boxes64(boxes) => boxes.len(),
            Self::Capsules(capsules) => capsules.len(),
            Self::Capsules64(capsules) => capsules.len(),
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The margin of each body.
    #[must_use]
    pub fn margin(&self) -> f64 {
        match self {
            Self::Boxes(boxes) => boxes.margin().into(),
            Self::Boxes64(boxes) => boxes.margin(),
            Self::Capsules(capsules) => capsules.margin().into(),
            Self::Capsules64(capsules) => capsules.margin(),
        }
    }

    /// The same bodies with another margin, which is one of their precision.
    #[must_use]
    pub(crate) fn with_margin(self, margin: f64) -> Self {
        match self {
            Self::Boxes(boxes) => Self::Boxes(boxes.with_margin(margin as f32)),
            Self::Boxes64(boxes) => Self::Boxes64(boxes.with_margin(margin)),
            Self::Capsules(capsules) => Self::Capsules(capsules.with_margin(margin as f32)),
            Self::Capsules64(capsules) => Self::Capsules64(capsules.with_margin(margin)),
        }
    }

    #[must_use]
    pub fn are_boxes(&self) -> bool {
        matches!(self, Self::Boxes(_) | Self::Boxes64(_))
    }

    /// Whether the bodies are in `f32`.
    #[must_use]
    pub fn is_single(&self) -> bool {
        matches!(self, Self::Boxes(_) | Self::Capsules(_))
    }

    /// Reads, on one axis, the lower corners (side 0) or the upper ones of boxes without a margin, or the first or
    /// second ends of capsules, from number `first` on.
    pub fn read_ends(&self, side: usize, axis: usize, first: usize, out: &mut [f64]) {
        match self {
            Self::Boxes(boxes) => boxes.corners()[side][axis].read_in_double(first, out),
            Self::Boxes64(boxes) => boxes.corners()[side][axis].copy_into(first, out),
            Self::Capsules(capsules) => capsules.columns()[side][axis].read_in_double(first, out),
            Self::Capsules64(capsules) => capsules.columns()[side][axis].copy_into(first, out),
        }
    }

    /// Reads the radii of capsules without a margin, from number `first` on. Boxes have none.
    pub fn read_radii(&self, first: usize, out: &mut [f64]) {
        match self {
            Self::Boxes(_) | Self::Boxes64(_) => {}
            Self::Capsules(capsules) => capsules.radii().read_more_in_double(0.0, first, out),
            Self::Capsules64(capsules) => capsules.radii().copy_into(first, out),
        }
    }

    pub(crate) fn check_shape(&self) -> Result<(), InputError> {
        match self {
            Self::Boxes(boxes) => boxes.check_shape()?,
            Self::Boxes64(boxes) => boxes.check_shape()?,
            Self::Capsules(capsules) => capsules.check_shape()?,
            Self::Capsules64(capsules) => capsules.check_shape()?,
        }
        Ok(())
    }
}

impl<const D: usize> Set<'_, D> {
    /// Whether the bodies are boxes or capsules.
    pub(crate) fn is_shaped(&self) -> bool {
        matches!(self.source, Source::Shaped(_))
    }
}

impl<const D: usize> Input<'_, D> {
    /// Whether some bodies are boxes or capsules. Trees then hold boxes.
    #[doc(hidden)]
    pub fn is_shaped(&self) -> bool {
        self.sets().iter().any(Set::is_shaped)
    }

    /// Whether all bodies are boxes in `f32` at rest in open space. They are searched as they are.
    pub(crate) fn is_of_boxes(&self) -> bool {
        let is_boxed = |set: &Set<'_, D>| matches!(set.source, Source::Shaped(Shaped::Boxes(_)));
        self.space.is_open() && self.sets().iter().all(|set| is_boxed(set) && set.moving.is_none())
    }
}

/// Turns views into sets, and into searches within them.
macro_rules! sets_of {
    ($($view:ident),*) => {$(
        impl<'a, const D: usize> From<$view<'a, D>> for Set<'a, D> {
            fn from(view: $view<'a, D>) -> Self {
                Self::of(Source::Shaped(Shaped::$view(view)))
            }
        }

        impl<'a, const D: usize> From<$view<'a, D>> for Input<'a, D> {
            fn from(view: $view<'a, D>) -> Self {
                Self::within(view)
            }
        }
    )*};
}

sets_of!(Boxes, Boxes64, Capsules, Capsules64);

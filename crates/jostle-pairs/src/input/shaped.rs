//! Bodies that are neither circles nor spheres.

use jostle_core::Boxes;

use super::{Input, Set, Source};
use crate::InputError;

/// Where the bodies of a set are that are neither circles nor spheres.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shaped<'a, const D: usize> {
    Boxes(Boxes<'a, D>),
}

impl<const D: usize> Shaped<'_, D> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Boxes(boxes) => boxes.len(),
        }
    }

    pub(crate) fn check_shape(&self) -> Result<(), InputError> {
        match self {
            Self::Boxes(boxes) => Ok(boxes.check_shape()?),
        }
    }
}

impl<const D: usize> Set<'_, D> {
    /// Whether it is of boxes or other bodies that are not round.
    pub(crate) fn is_shaped(&self) -> bool {
        matches!(self.source, Source::Shaped(_))
    }
}

impl<const D: usize> Input<'_, D> {
    pub(crate) fn is_shaped(&self) -> bool {
        self.sets().iter().any(Set::is_shaped)
    }

    /// Refuses, of bodies that are not round, what is built for circles and spheres alone.
    pub(crate) fn check_round(&self, parts: &'static str, reason: &'static str) -> Result<(), InputError> {
        if self.is_shaped() { Err(InputError::Combination { parts, reason }) } else { Ok(()) }
    }

    /// Refuses what bodies that are not round cannot be searched with.
    pub(super) fn check_shaped(&self) -> Result<(), InputError> {
        let refuse = |parts, reason| Err(InputError::Combination { parts, reason });
        let sets = self.sets();
        if !self.is_shaped() {
            return Ok(());
        }
        if sets.iter().any(|set| set.moving.is_some()) {
            return refuse(
                "boxes and displacements",
                "no time of impact is computed for them; give the box of each whole path, and test what is found",
            );
        }
        if !sets.iter().all(Set::is_shaped) {
            return refuse(
                "boxes and circles in one search",
                "no test of the two is built; give the boxes of the circles",
            );
        }
        if !self.space.is_open() {
            return refuse(
                "boxes and a space that repeats",
                "boxes are searched in open space alone; give those near a border once more beyond the opposite one",
            );
        }
        Ok(())
    }
}

impl<'a, const D: usize> From<Boxes<'a, D>> for Set<'a, D> {
    fn from(boxes: Boxes<'a, D>) -> Self {
        Self::of(Source::Shaped(Shaped::Boxes(boxes)))
    }
}

impl<'a, const D: usize> From<Boxes<'a, D>> for Input<'a, D> {
    fn from(boxes: Boxes<'a, D>) -> Self {
        Self::within(boxes)
    }
}

//! What a search is among, as it is joined as yet: one set of bodies, or two.

use jostle_core::{Bodies, InputError, LinearTree};

use crate::double::Set64;
use crate::input::{Input, Relation, Set, Source as Given};
use crate::layers::Layers;
use crate::periodic::Periodic;
use crate::swept::Swept;

/// Bodies in `f32` at rest, or a tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plain<'a, const D: usize> {
    pub(crate) source: Source<'a, D>,
    pub(crate) layers: Option<Layers<'a>>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a, const D: usize> {
    View(Bodies<'a, D>),
    Tree(&'a LinearTree<D>),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Sought<'a, const D: usize> {
    Within(Plain<'a, D>),
    Between(Plain<'a, D>, Plain<'a, D>),
    Periodic(Periodic<'a, D>),
    Double(Set64<'a, D>),
    Swept(Swept<'a, D>),
}

/// Of combinations that are not joined yet.
const NOT_YET: InputError = InputError::Combination {
    parts: "these sets, this space and this relation",
    reason: "the search for them is not built yet",
};

impl<'a, const D: usize> Plain<'a, D> {
    pub(crate) fn of(set: &Set<'a, D>) -> Result<Self, InputError> {
        let source = match set.source {
            Given::View(bodies) => Source::View(bodies),
            Given::Tree(tree) => Source::Tree(tree),
            Given::Double(_) => return Err(NOT_YET),
        };
        if set.moving.is_some() { Err(NOT_YET) } else { Ok(Self { source, layers: set.layers }) }
    }

    pub(crate) fn view(bodies: Bodies<'a, D>) -> Self {
        Self { source: Source::View(bodies), layers: None }
    }

    pub(crate) fn check_layers(&self) -> Result<(), InputError> {
        self.layers.map_or(Ok(()), |layers| {
            layers.check(match self.source {
                Source::View(bodies) => bodies.len(),
                Source::Tree(tree) => tree.len(),
            })
        })
    }
}

impl<'a, const D: usize> Sought<'a, D> {
    pub(crate) fn of(input: &Input<'a, D>) -> Result<Self, InputError> {
        input.space.check()?;
        match (&input.relation, input.space.is_open()) {
            (Relation::Within(set), true) => match (set.source, set.moving) {
                (Given::View(bodies), Some(moving)) => {
                    Ok(Self::Swept(Swept { bodies, displacements: moving, layers: set.layers }))
                }
                (Given::Double(bodies), None) => Ok(Self::Double(Set64 { bodies, layers: set.layers })),
                _ => Ok(Self::Within(Plain::of(set)?)),
            },
            (Relation::Between([a, b]), true) => Ok(Self::Between(Plain::of(a)?, Plain::of(b)?)),
            (Relation::Within(set), false) if input.space.is_straight() => match (set.source, set.moving) {
                (Given::View(bodies), None) => Ok(Self::Periodic(Periodic::of(bodies, input.space, set.layers))),
                _ => Err(NOT_YET),
            },
            _ => Err(NOT_YET),
        }
    }
}

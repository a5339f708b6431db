//! Names of before, as inputs.

use jostle_core::Bodies;

use crate::input::{Displacements, Input, Set};
use crate::layers::Layers;

/// Bodies in a box some axes of which are periodic: [`Input::periodic`].
#[derive(Debug, Clone, Copy)]
pub struct Periodic<'a, const D: usize>(Set<'a, D>, [Option<[f32; 2]>; D]);

impl<'a, const D: usize> Periodic<'a, D> {
    /// Bodies, and for each axis its borders `[lo, hi]` if it is periodic.
    #[must_use]
    pub fn new(bodies: Bodies<'a, D>, axes: [Option<[f32; 2]>; D]) -> Self {
        Self(bodies.into(), axes)
    }

    /// [`Set::layers`].
    #[must_use]
    pub fn layers(self, layers: Layers<'a>) -> Self {
        Self(self.0.layers(layers), self.1)
    }
}

impl<'a, const D: usize> From<Periodic<'a, D>> for Input<'a, D> {
    fn from(Periodic(set, axes): Periodic<'a, D>) -> Self {
        Self::within(set).periodic(axes)
    }
}

/// Bodies on their way: [`Set::moving`].
#[derive(Debug, Clone, Copy)]
pub struct Swept<'a, const D: usize>(Set<'a, D>);

impl<'a, const D: usize> Swept<'a, D> {
    /// Bodies at the beginning of the frame, and how far each moves on each axis.
    #[must_use]
    pub fn new(bodies: Bodies<'a, D>, displacements: [&'a [f32]; D]) -> Self {
        Self(Set::from(bodies).moving(Displacements::from(displacements)))
    }

    /// [`Set::layers`].
    #[must_use]
    pub fn layers(self, layers: Layers<'a>) -> Self {
        Self(self.0.layers(layers))
    }
}

impl<'a, const D: usize> From<Swept<'a, D>> for Input<'a, D> {
    fn from(Swept(set): Swept<'a, D>) -> Self {
        set.into()
    }
}

/// Bodies in `f64`: a [`Set`].
#[derive(Debug, Clone, Copy)]
pub struct Set64<'a, const D: usize>(Set<'a, D>);

impl<'a, const D: usize> Set64<'a, D> {
    /// [`Set::layers`].
    #[must_use]
    pub fn layers(self, layers: Layers<'a>) -> Self {
        Self(self.0.layers(layers))
    }
}

impl<'a, const D: usize> From<Bodies<'a, D, f64>> for Set64<'a, D> {
    fn from(bodies: Bodies<'a, D, f64>) -> Self {
        Self(bodies.into())
    }
}

impl<'a, const D: usize> From<Set64<'a, D>> for Input<'a, D> {
    fn from(Set64(set): Set64<'a, D>) -> Self {
        set.into()
    }
}

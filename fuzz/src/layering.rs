//! Layers of a set, from bytes.

use jostle::Set;
use jostle_testkit::algebra::PlainLayers;

arbitrary! {
    /// Values that are repeated over the bodies. A single value counts for all bodies.
    #[derive(Debug)]
    pub(crate) struct Layering {
        category: Vec<u8>,
        mask: Vec<u8>,
        group: Vec<i8>,
        /// Whether there is a value too many.
        misfit: bool,
    }
}

/// Returns `count` values: those of `values`, over and over, or `none` if there are none.
fn deal<T: Copy, U: Copy + From<T>>(values: &[T], count: usize, none: U) -> Vec<U> {
    if values.is_empty() {
        return vec![none; count];
    }
    values.iter().cycle().take(count).map(|&value| value.into()).collect()
}

impl Layering {
    pub(crate) fn of(&self, bodies: usize) -> PlainLayers {
        PlainLayers {
            category: deal(&self.category, bodies + usize::from(self.misfit), u32::MAX),
            mask: deal(&self.mask, bodies, u32::MAX),
            group: deal(&self.group, bodies, 0),
        }
    }
}

/// Returns whether there is a value for each of so many bodies, or one for all.
pub(crate) fn fits(layers: &PlainLayers, bodies: usize) -> bool {
    layers.category.len() == bodies || layers.category.iter().all(|value| *value == layers.category[0])
}

/// Makes a set that may have layers.
pub(crate) fn set<'a, const D: usize>(source: impl Into<Set<'a, D>>, layers: Option<&'a PlainLayers>) -> Set<'a, D> {
    let set = source.into();
    layers.map_or(set, |layers| set.layers(layers.layers()))
}

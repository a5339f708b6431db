//! Layers of a set, spelled out, and the rule by which two bodies meet.

use jostle::{Layers, Set, Values};

arbitrary! {
    /// Values that go round among the bodies; one value is one for all.
    #[derive(Debug)]
    pub(crate) struct Layering {
        category: Vec<u8>,
        mask: Vec<u8>,
        group: Vec<i8>,
        /// Whether there is a value too many.
        misfit: bool,
    }
}

/// The layers of so many bodies.
#[derive(Debug)]
pub(crate) struct Layered {
    category: Vec<u32>,
    mask: Vec<u32>,
    group: Vec<i32>,
}

/// A value for each of so many, that of `values` in turn.
fn deal<T: Copy, U: Copy + From<T>>(values: &[T], count: usize, none: U) -> Vec<U> {
    if values.is_empty() {
        return vec![none; count];
    }
    values.iter().cycle().take(count).map(|&value| value.into()).collect()
}

impl Layering {
    pub(crate) fn of(&self, bodies: usize) -> Layered {
        Layered {
            category: deal(&self.category, bodies + usize::from(self.misfit), u32::MAX),
            mask: deal(&self.mask, bodies, u32::MAX),
            group: deal(&self.group, bodies, 0),
        }
    }
}

impl Layered {
    pub(crate) fn layers(&self, bodies: usize) -> Layers<'_> {
        let one = self.category.len() == bodies && self.category.iter().all(|value| *value == self.category[0]);
        let category = match self.category.first() {
            Some(&value) if one => Values::All(value),
            _ => Values::Each(&self.category),
        };
        Layers::new(category, &self.mask).with_groups(&self.group)
    }

    /// Whether there is a value for each of so many bodies.
    pub(crate) fn fits(&self, bodies: usize) -> bool {
        self.category.len() == bodies
    }

    fn row(layered: Option<&Self>, id: u32) -> (u32, u32, i32) {
        let id = id as usize;
        layered.map_or((u32::MAX, u32::MAX, 0), |it| (it.category[id], it.mask[id], it.group[id]))
    }
}

/// The rule.
pub(crate) fn meet([a, b]: [Option<&Layered>; 2], [i, j]: [u32; 2]) -> bool {
    let ((category, mask, group), other) = (Layered::row(a, i), Layered::row(b, j));
    if group != 0 && group == other.2 { group > 0 } else { category & other.1 != 0 && other.0 & mask != 0 }
}

/// A set that may have layers.
pub(crate) fn set<'a, const D: usize>(source: impl Into<Set<'a, D>>, layered: Option<&'a Layered>) -> Set<'a, D> {
    let set = source.into();
    let bodies = set.len();
    layered.map_or(set, |layered| set.layers(layered.layers(bodies)))
}

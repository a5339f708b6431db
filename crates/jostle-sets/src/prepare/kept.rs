//! What a finder keeps for the sets of its searches.

use core::slice;

use jostle_core::Isa;

use crate::input::{Input, Relation};
use crate::proxy::sorted::SortedSet;

/// The sets that a finder keeps. The set of searches within one set lies in the finder itself, so that its tree is found
/// without an indirection: small searches notice that.
#[derive(Debug)]
pub(super) struct KeptSets<const D: usize> {
    /// The set of searches within one set.
    pub(super) own: SortedSet<D>,
    /// The sets of searches of several sets.
    several: Vec<SortedSet<D>>,
}

impl<const D: usize> KeptSets<D> {
    /// With memory for so many bodies of searches within one set.
    pub(super) fn with_capacity(bodies: usize) -> Self {
        Self { own: SortedSet::with_capacity(bodies), several: Vec::new() }
    }

    /// Makes sure that there is one for each set of an input.
    pub(super) fn make_room(&mut self, input: &Input<'_, D>, isa: Isa) {
        while self.of(input).len() < input.sets().len() {
            let mut kept = SortedSet::default();
            kept.set_isa(isa);
            self.several.push(kept);
        }
    }

    /// The sets kept for an input, and perhaps more.
    pub(super) fn of(&self, input: &Input<'_, D>) -> &[SortedSet<D>] {
        match input.relation {
            Relation::Within(_) => slice::from_ref(&self.own),
            Relation::Between(_) | Relation::Among(..) => &self.several,
        }
    }

    /// As [`KeptSets::of`], mutable.
    pub(super) fn of_mut(&mut self, input: &Input<'_, D>) -> &mut [SortedSet<D>] {
        match input.relation {
            Relation::Within(_) => slice::from_mut(&mut self.own),
            Relation::Between(_) | Relation::Among(..) => &mut self.several,
        }
    }

    pub(super) fn set_isa(&mut self, isa: Isa) {
        self.own.set_isa(isa);
        self.several.iter_mut().for_each(|kept| kept.set_isa(isa));
    }

    pub(super) fn bytes(&self) -> usize {
        let several = self.several.iter().map(SortedSet::bytes).sum::<usize>();
        self.own.bytes() + several + self.several.capacity() * size_of::<SortedSet<D>>()
    }
}

//! Layers as they were when candidates were listed. Bodies that layers do not let meet are no candidates. Where layers
//! have changed, candidates are listed anew; but where no set had layers, pairs that layers do not let meet now are
//! left out of the answer.

use jostle_core::axes::Both;
use jostle_sets::input::layers::{Layers, LayersKept};
use jostle_sets::input::{Input, Set};

/// The layers of each set: see the top of this file.
#[derive(Debug, Default)]
pub(super) struct KeptLayers(Vec<LayersKept>);

impl KeptLayers {
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(LayersKept::bytes).sum::<usize>() + self.0.capacity() * size_of::<LayersKept>()
    }

    pub(super) fn keep<const D: usize>(&mut self, input: &Input<'_, D>) {
        let sets = input.sets();
        self.0.resize_with(sets.len().max(self.0.len()), LayersKept::default);
        self.0.iter_mut().zip(sets).for_each(|(kept, set)| kept.keep(set.layers));
    }

    /// Whether an input has the layers that were kept.
    pub(super) fn are_of<const D: usize>(&self, input: &Input<'_, D>) -> bool {
        self.0.iter().zip(input.sets()).all(|(kept, set)| kept.is_of(set.layers))
    }

    /// Whether no set had layers.
    pub(super) fn are_none<const D: usize>(&self, input: &Input<'_, D>) -> bool {
        self.0.iter().zip(input.sets()).all(|(kept, _)| kept.is_of(None))
    }
}

/// Whether some of these sets have layers.
pub(super) fn are_any<const D: usize>(sets: &[Set<'_, D>]) -> bool {
    sets.iter().any(|set| set.layers.is_some())
}

/// Whether the layers of two of these sets let two of their bodies meet.
pub(super) fn meet<const D: usize>(sets: &[Set<'_, D>], of: [u32; 2], [a, b]: [u32; 2]) -> bool {
    let [of_a, of_b] = of.both(|set| sets[set as usize].layers.unwrap_or(Layers::ALL));
    of_a.meets(a, &of_b, b)
}

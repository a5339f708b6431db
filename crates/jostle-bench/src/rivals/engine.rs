//! Jostle itself.

use jostle::PairFinder;
use jostle_testkit::Scene;

use super::Rival;

/// The pair finder.
#[derive(Debug, Default)]
pub(crate) struct Engine<const D: usize> {
    finder: PairFinder<D>,
}

impl<const D: usize> Rival<D> for Engine<D> {
    fn name(&self) -> &'static str {
        "jostle"
    }

    fn package(&self) -> &'static str {
        "jostle"
    }

    fn find(&mut self, scene: &Scene<D>) -> &[[u32; 2]] {
        self.finder.find(scene.view()).expect("scenes keep to the contract").pairs()
    }
}

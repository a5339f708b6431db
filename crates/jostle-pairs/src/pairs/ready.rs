//! Sorted sets as trees that meet.

use crate::input::layers::{Layers, LayersOf, LayersOfBoth};
use crate::join::filter::Filter;
use crate::join::hits::Order;
use crate::join::tree_pair::TreePair;
use crate::proxy::prepared::Ready;

impl<'a, const D: usize> Ready<'a, D> {
    /// Each pair of its bodies once.
    pub(crate) fn within(self, filter: Filter<'a>) -> TreePair<'a, D> {
        let filter = Filter { layers: self.layers.map(|layers| LayersOfBoth([layers; 2])), ..filter };
        let trees = [self.tree; 2];
        TreePair { trees, order: Order::Lesser, within: true, offset: [0.0; D], image: 0, sets: [0; 2], filter }
    }

    /// Its bodies with those of another. The groups of the smaller tree walk the larger.
    pub(crate) fn across(self, other: Self, filter: Filter<'a>) -> TreePair<'a, D> {
        let layers = (self.layers.is_some() || other.layers.is_some()).then(|| [self, other].map(Self::layers));
        let filter = Filter { layers: layers.map(LayersOfBoth), ..filter };
        let trees = [self.tree, other.tree];
        let sets = [0, 1];
        let pairing =
            TreePair { trees, order: Order::QueryFirst, within: false, offset: [0.0; D], image: 0, sets, filter };
        if self.tree.len() <= other.tree.len() { pairing } else { pairing.swapped() }
    }

    fn layers(self) -> LayersOf<'a> {
        self.layers.unwrap_or(LayersOf::Columns(Layers::ALL, self.tree.leaf_ids()))
    }
}

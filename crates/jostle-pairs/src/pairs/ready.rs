//! Makes a [`TreePair`] of one sorted set, or of two.

use jostle_sets::input::layers::{Layers, LayersOf, LayersOfBoth};
use jostle_sets::proxy::prepared::Ready;

use crate::join::filter::Filter;
use crate::join::hits::Order;
use crate::join::tree_pair::TreePair;

impl<'a, const D: usize> TreePair<'a, D> {
    /// The join of a set with itself: each pair of its bodies once.
    pub(crate) fn within(set: Ready<'a, D>, filter: Filter<'a>) -> Self {
        let filter = Filter { layers: set.layers.map(|layers| LayersOfBoth([layers; 2])), ..filter };
        let trees = [set.tree; 2];
        Self {
            trees,
            order: Order::Lesser,
            within: true,
            offset: [0.0; D],
            image: 0,
            sets: [0; 2],
            filter,
            called: None,
        }
    }

    /// The join of one set with another. The smaller tree is the query tree.
    pub(crate) fn across(one: Ready<'a, D>, other: Ready<'a, D>, filter: Filter<'a>) -> Self {
        let layers = (one.layers.is_some() || other.layers.is_some()).then(|| [one, other].map(layers_of));
        let filter = Filter { layers: layers.map(LayersOfBoth), ..filter };
        let trees = [one.tree, other.tree];
        let sets = [0, 1];
        let (order, offset) = (Order::QueryFirst, [0.0; D]);
        let pairing = Self { trees, order, within: false, offset, image: 0, sets, filter, called: None };
        if one.tree.len() <= other.tree.len() { pairing } else { pairing.swapped() }
    }
}

fn layers_of<'a, const D: usize>(set: Ready<'a, D>) -> LayersOf<'a> {
    set.layers.unwrap_or(LayersOf::Columns(Layers::ALL, set.tree.leaf_ids()))
}

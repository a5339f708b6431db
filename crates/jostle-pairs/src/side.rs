//! A set of bodies made ready to be joined: its tree, built here unless it was given, and its layers.

use core::time::Duration;

use jostle_core::{BuildTimes, InputError, Isa, LinearTree, Workers};

use crate::among::{Plain, Source};
use crate::filter::Filter;
use crate::hits::Order;
use crate::layers::{LayerTable, Layers, LayersOf, LayersOfBoth};
use crate::pairing::Pairing;

/// What a finder keeps for a set from search to search.
#[derive(Debug, Default)]
pub(crate) struct Side<const D: usize> {
    pub(crate) tree: LinearTree<D>,
    layers: LayerTable,
}

impl<const D: usize> Side<D> {
    pub(crate) fn with_capacity(bodies: usize) -> Self {
        Self { tree: LinearTree::with_capacity(bodies), layers: LayerTable::default() }
    }

    pub(crate) fn set_isa(&mut self, isa: Isa) {
        self.tree.set_isa(isa);
    }

    /// Builds the tree of a view, and looks up its layers.
    pub(crate) fn prepare(&mut self, set: &Plain<'_, D>, workers: Workers<'_>) -> Result<BuildTimes, InputError> {
        set.check_layers()?;
        let Source::View(bodies) = set.source else { return Ok(BuildTimes::default()) };
        let times = self.tree.build_on(bodies, workers)?;
        if let Some(layers) = set.layers {
            self.layers.look_up(&self.tree, layers, workers);
        }
        Ok(times)
    }

    /// The set, once it is prepared.
    pub(crate) fn ready<'a>(&'a self, set: &Plain<'a, D>) -> Ready<'a, D> {
        let tree = match set.source {
            Source::View(_) => &self.tree,
            Source::Tree(tree) => tree,
        };
        let layers = set.layers.map(|layers| match set.source {
            Source::View(_) => self.layers.table(),
            // Looking up all would cost more than the few that are met.
            Source::Tree(tree) => LayersOf::Columns(layers, tree.leaf_ids()),
        });
        Ready { tree, layers }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.tree.bytes() + self.layers.bytes()
    }
}

/// A tree and its layers.
#[derive(Clone, Copy)]
pub(crate) struct Ready<'a, const D: usize> {
    tree: &'a LinearTree<D>,
    layers: Option<LayersOf<'a>>,
}

impl<'a, const D: usize> Ready<'a, D> {
    /// Each pair of its bodies once.
    pub(crate) fn within(self, filter: Filter<'a>) -> Pairing<'a, D> {
        let filter = Filter { layers: self.layers.map(|layers| LayersOfBoth([layers; 2])), ..filter };
        Pairing {
            trees: [self.tree; 2],
            order: Order::Lesser,
            within: true,
            offset: [0.0; D],
            image: 0,
            sets: [0; 2],
            filter,
        }
    }

    /// Its bodies with themselves, seen at an offset: each pair that overlaps there, lesser id first.
    pub(crate) fn at(self, offset: [f32; D], filter: Filter<'a>) -> Pairing<'a, D> {
        Pairing { within: offset == [0.0; D], offset, ..self.within(filter) }
    }

    /// Its bodies with those of another. The groups of the smaller tree walk the larger.
    pub(crate) fn across(self, other: Self, filter: Filter<'a>) -> Pairing<'a, D> {
        let layers = (self.layers.is_some() || other.layers.is_some()).then(|| [self, other].map(Self::layers));
        let filter = Filter { layers: layers.map(LayersOfBoth), ..filter };
        let pairing = Pairing {
            trees: [self.tree, other.tree],
            order: Order::Driver,
            within: false,
            offset: [0.0; D],
            image: 0,
            sets: [0, 1],
            filter,
        };
        if self.tree.len() <= other.tree.len() { pairing } else { pairing.turned() }
    }

    fn layers(self) -> LayersOf<'a> {
        self.layers.unwrap_or(LayersOf::Columns(Layers::ALL, self.tree.leaf_ids()))
    }
}

/// The times of one build after the other.
pub(crate) fn sum(times: BuildTimes, more: BuildTimes) -> BuildTimes {
    let add = |a: Duration, b| a + b;
    BuildTimes {
        bounds: add(times.bounds, more.bounds),
        sort: add(times.sort, more.sort),
        tree: add(times.tree, more.tree),
    }
}

//! A set of bodies made ready to be joined: its tree, built here unless it was given, and its layers.

use core::time::Duration;

use jostle_core::{BuildTimes, LinearTree, Workers};

use crate::InputError;
use crate::input::layers::{LayerTable, Layers, LayersOf, LayersOfBoth};
use crate::input::{Set, Source};
use crate::join::filter::Filter;
use crate::join::hits::Order;
use crate::join::tree_pair::TreePair;
use crate::proxy::Proxies;

/// What a finder keeps for a set from search to search.
#[derive(Debug, Default)]
pub(crate) struct Side<const D: usize> {
    pub(crate) tree: LinearTree<D>,
    layers: LayerTable,
    pub(crate) proxies: Proxies<D>,
    /// The tree is that of the last set, and not one that the set came with.
    built: bool,
    /// The set came with a tree, and proxies, that have been prepared for such a search.
    pub(crate) adopted: bool,
}

impl<const D: usize> Side<D> {
    pub(crate) fn with_capacity(bodies: usize) -> Self {
        Self { tree: LinearTree::with_capacity(bodies), ..Self::default() }
    }

    /// Builds the tree of a view, and looks up its layers.
    pub(crate) fn build(&mut self, set: &Set<'_, D>, workers: Workers<'_>) -> Result<BuildTimes, InputError> {
        self.built = false;
        if self.adopted {
            return Ok(BuildTimes::default());
        }
        let Source::View(bodies) = set.source else { return Ok(BuildTimes::default()) };
        let times = self.tree.build_on(bodies, workers)?;
        self.look_up(set, workers);
        Ok(times)
    }

    /// Builds the tree of the proxies of a set, and looks up its layers.
    pub(crate) fn build_proxies(&mut self, set: &Set<'_, D>, workers: Workers<'_>) -> Result<BuildTimes, InputError> {
        self.built = false;
        if self.adopted {
            return Ok(BuildTimes::default());
        }
        let times = self.tree.build_on(self.proxies.view(), workers)?;
        self.look_up(set, workers);
        Ok(times)
    }

    fn look_up(&mut self, set: &Set<'_, D>, workers: Workers<'_>) {
        self.built = true;
        if let Some(layers) = set.layers {
            self.layers.look_up(&self.tree, layers, workers);
        }
    }

    /// The set, once it is prepared.
    pub(crate) fn ready<'a>(&'a self, set: &Set<'a, D>) -> Ready<'a, D> {
        let tree = match (set.source, set.prepared) {
            (_, Some(prepared)) if self.adopted => &prepared.side.tree,
            (Source::Tree(tree), _) if !self.built => tree,
            _ => &self.tree,
        };
        // Looking up all layers of a given tree would cost more than the few that are met.
        let layers = set
            .layers
            .map(|layers| if self.built { self.layers.table() } else { LayersOf::Columns(layers, tree.leaf_ids()) });
        Ready { tree, layers }
    }

    /// The proxies of a prepared set.
    pub(crate) fn proxies_of<'a>(&'a self, set: &Set<'a, D>) -> &'a Proxies<D> {
        set.prepared.filter(|_| self.adopted).map_or(&self.proxies, |prepared| &prepared.side.proxies)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.tree.bytes() + self.layers.bytes() + self.proxies.bytes()
    }
}

/// A tree and its layers.
#[derive(Clone, Copy)]
pub(crate) struct Ready<'a, const D: usize> {
    pub(crate) tree: &'a LinearTree<D>,
    layers: Option<LayersOf<'a>>,
}

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
        let pairing = TreePair { trees, order: Order::Driver, within: false, offset: [0.0; D], image: 0, sets, filter };
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

//! A set of bodies sorted for a search: its tree, unless it came with one, its layers and its proxies.

use core::time::Duration;

use jostle_core::sixteen::Bodies16;
use jostle_core::{BuildTimes, LinearTree, Workers};

use crate::InputError;
use crate::input::layers::LayerTable;
use crate::input::{Set, Source};
use crate::proxy::Proxies;

/// What a finder keeps for a set from search to search.
#[derive(Debug, Default)]
pub(crate) struct SortedSet<const D: usize> {
    pub(crate) tree: LinearTree<D>,
    pub(super) layers: LayerTable,
    pub(crate) proxies: Proxies<D>,
    /// The leaves of the tree as they were built, where bodies are moved in it, and the build that they are of.
    kept: Vec<Bodies16<D>>,
    kept_build: u64,
    /// The tree is that of the last set, and not one that the set came with.
    pub(super) built: bool,
    /// The set came with a tree, and proxies, that have been prepared for such a search.
    pub(crate) adopted: bool,
}

impl<const D: usize> SortedSet<D> {
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

    /// Keeps the leaves of the tree as they are.
    pub(crate) fn keep_leaves(&mut self) {
        self.kept.clear();
        if self.built {
            self.kept.extend_from_slice(self.tree.bodies());
            self.kept_build = self.tree.build_number();
        }
    }

    /// Moves the bodies of a tree whose leaves were kept to where they are now, and looks up their layers: see
    /// [`LinearTree::refit_on`].
    pub(crate) fn refit(&mut self, set: &Set<'_, D>, workers: Workers<'_>) -> f32 {
        let Source::View(bodies) = set.source else { return f32::INFINITY };
        if !self.built || bodies.len() != self.tree.len() {
            return f32::INFINITY;
        }
        let excess = self.tree.refit_on(bodies, &self.kept, workers);
        self.kept_build = self.tree.build_number();
        self.look_up(set, workers);
        excess
    }

    /// Moves the bodies of a tree whose leaves were kept back.
    pub(crate) fn restore_leaves(&mut self) {
        if !self.kept.is_empty() && self.kept_build == self.tree.build_number() {
            self.tree.restore(&self.kept);
        }
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

    pub(crate) fn bytes(&self) -> usize {
        self.tree.bytes() + self.layers.bytes() + self.proxies.bytes() + self.kept.capacity() * size_of::<Bodies16<D>>()
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

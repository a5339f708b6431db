//! A set of bodies sorted for a search: its tree, unless it came with one, its layers and its proxies.

use core::time::Duration;

use jostle_core::{BuildTimes, Checked, Isa, LinearTree, Workers};

use crate::InputError;
use crate::input::layers::LayerTable;
use crate::input::shaped::Shaped;
use crate::input::{Set, Source, UnitCell};
use crate::proxy::boxed::BoxColumns;
use crate::proxy::{Extent, Proxies};

/// What a finder keeps for a set from search to search.
#[derive(Debug, Default)]
pub struct SortedSet<const D: usize> {
    pub(crate) tree: LinearTree<D>,
    /// The tree of boxes, in a search with boxes or capsules.
    pub(crate) boxes: LinearTree<D>,
    /// The boxes that stand in for the bodies, where boxes are not the bodies themselves.
    pub(crate) columns: BoxColumns<D>,
    /// The tree in use is the tree of boxes.
    pub(crate) boxed: bool,
    pub(super) layers: LayerTable,
    pub(crate) proxies: Proxies<D>,
    /// The tree was built of the last set, and is not one that the set came with.
    pub(super) built: bool,
    /// The set came with a tree and proxies that have been prepared for such a search.
    pub(crate) adopted: bool,
}

impl<const D: usize> SortedSet<D> {
    pub(crate) fn with_capacity(bodies: usize) -> Self {
        Self { tree: LinearTree::with_capacity(bodies), ..Self::default() }
    }

    /// Surveys all bodies of a set of circles or spheres, and refuses bodies that are not sound. Bodies that can be
    /// searched as they are get the check of a build, which need not check them again.
    pub(crate) fn survey(
        &mut self,
        set: &Set<'_, D>,
        cell: Option<&UnitCell<D>>,
        decided: bool,
        workers: Workers<'_>,
    ) -> Result<(Extent<D>, Option<Checked<D>>), InputError> {
        let isa = self.tree.isa();
        // Bodies that lay outside of the cell in the last search most likely do so again.
        let within = |cell: &&UnitCell<D>| !decided && cell.is_straight() && !self.proxies.are_outside();
        if let (Source::View(bodies), Some(cell)) = (set.source, cell.filter(within))
            && let Ok(checked) = self.tree.check_on(bodies, workers)
            && let Some(extent) = self.proxies.survey_checked(bodies, checked.bounds, cell, isa, workers)
        {
            return Ok((extent, Some(checked)));
        }
        Ok((self.proxies.survey(set, cell, decided, isa, workers)?, None))
    }

    /// Builds the tree of a view, which may have been checked, and looks up its layers.
    pub(crate) fn build(
        &mut self,
        set: &Set<'_, D>,
        checked: Option<Checked<D>>,
        workers: Workers<'_>,
    ) -> Result<BuildTimes, InputError> {
        self.built = false;
        if self.adopted {
            return Ok(BuildTimes::default());
        }
        let times = match set.source {
            Source::View(bodies) => match checked {
                Some(checked) => self.tree.build_checked_on(bodies, checked, workers)?,
                None => self.tree.build_on(bodies, workers)?,
            },
            Source::Shaped(Shaped::Boxes(boxes)) => self.boxes.build_boxes_on(boxes, workers)?,
            Source::Shaped(_) | Source::Double(_) | Source::Tree(_) => return Ok(BuildTimes::default()),
        };
        self.look_up(set, workers);
        Ok(times)
    }

    /// Builds the tree of the proxies of a set, and looks up its layers. `decided`: proxies are not where the bodies are.
    pub(crate) fn build_proxies(
        &mut self,
        set: &Set<'_, D>,
        decided: bool,
        workers: Workers<'_>,
    ) -> Result<BuildTimes, InputError> {
        self.built = false;
        if self.adopted {
            return Ok(BuildTimes::default());
        }
        let times = self.tree.build_on(self.proxies.view(), workers)?;
        if decided {
            self.tree.set_stands_in(u32::MAX);
        }
        self.look_up(set, workers);
        Ok(times)
    }

    /// Builds the tree of the boxes that stand in for the bodies of a set, and looks up its layers.
    pub(crate) fn build_boxed(&mut self, set: &Set<'_, D>, workers: Workers<'_>) -> Result<BuildTimes, InputError> {
        self.built = false;
        if self.adopted {
            return Ok(BuildTimes::default());
        }
        let times = self.boxes.build_boxes_on(self.columns.view(), workers)?;
        self.look_up(set, workers);
        Ok(times)
    }

    /// Notes that the tree has become that of the last set, of circles or spheres without proxies or layers.
    pub(crate) fn is_as_built(&mut self) {
        self.proxies.clear();
        (self.built, self.adopted, self.boxed) = (true, false, false);
    }

    fn look_up(&mut self, set: &Set<'_, D>, workers: Workers<'_>) {
        self.built = true;
        if let Some(layers) = set.layers {
            let tree = if self.boxed { &self.boxes } else { &self.tree };
            self.layers.look_up(tree, layers, workers);
        }
    }

    pub(crate) fn set_isa(&mut self, isa: Isa) {
        self.tree.set_isa(isa);
        self.boxes.set_isa(isa);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.tree.bytes() + self.boxes.bytes() + self.columns.bytes() + self.layers.bytes() + self.proxies.bytes()
    }
}

/// The sum of the times of two builds.
pub(crate) fn sum(times: BuildTimes, more: BuildTimes) -> BuildTimes {
    let add = |a: Duration, b| a + b;
    BuildTimes {
        bounds: add(times.bounds, more.bounds),
        sort: add(times.sort, more.sort),
        tree: add(times.tree, more.tree),
    }
}

//! Sets that are sorted once for many searches.

mod boxes;

use core::fmt;
use core::mem::forget;

use jostle_core::axes::Axes;
use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Bodies, Isa, LinearTree, Scalar, Threads, Workers, threads::run};

use crate::InputError;
use crate::compiled::compiled_here;
use crate::input::layers::LayersOf;
use crate::input::{Set, SortedBefore, Source, Space, UnitCell};
use crate::proxy::sorted::SortedSet;
use crate::proxy::{Extent, Frame, Proxies};
pub(crate) use boxes::Boxed;
use boxes::Copies;

/// Bodies that are copied at a time.
const BLOCK: usize = 1 << 13;

/// A set of bodies at rest, in `f32` or `f64`, sorted once for many searches in one [`Space`]: walls, terrain, the
/// boundary particles of a channel, or a crystal that other bodies are tested against. The bodies are circles, spheres,
/// boxes or capsules.
///
/// `Set::from(&prepared)` takes part in any search as the bodies that it was built of would, with the same pairs. Their
/// order may be another one than that of a search of the bodies themselves, and is as fixed. A search in the space that
/// the set was built for does not sort it anew:
/// - where all bodies are in `f32` and at rest, if its own are in `f32`;
/// - where some bodies are in `f64` or move, if it is the largest prepared set of the search (and, with bodies in
///   `f32`, as long as these do not meet each other). Of several sets in `f64`, all are used whose frames are the same,
///   as they are in a space that repeats in every direction.
///
/// A search in that space does not sort boxes and capsules anew either, however many shapes take part. Where all bodies
/// are boxes in `f32` in open space, it uses all prepared sets. Else it uses the largest prepared set of boxes or
/// capsules, and those whose frames are the same. It sorts circles anew where other shapes take part.
///
/// A search that uses the sorted bodies of a set in `f64`, and the set's own tree, are slow where bodies are spread
/// 2^16 times as far as they reach and more: other searches leave out the gaps between bodies. Where that would make
/// candidates of a great many bodies that are apart, searches sort the set anew.
///
/// Other searches sort the bodies like those of a view. The set owns a copy of the bodies, and all memory: from the
/// second build of a size on, nothing is allocated.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles64, Input, PairFinder, PreparedSet, Space, Threads};
///
/// let channel = Space::periodic([Some([0.0, 10.0]), None]);
/// let mut walls = PreparedSet::new();
/// walls.build(Circles64::new(&[0.5, 5.0], &[0.0, 0.0], 0.5), channel, Threads::Current)?;
/// let mut finder = PairFinder::new();
/// for x in [9.5, 4.0] {
///     let fluid = ([x], [0.0]);
///     let fluid = Circles64::new(&fluid.0, &fluid.1, 0.5);
///     assert_eq!(finder.find(Input::between(fluid, &walls).space(channel))?.pairs().len(), 1);
/// }
/// # Ok::<(), jostle::InputError>(())
/// ```
pub struct PreparedSet<const D: usize> {
    bodies: Copied<D>,
    pub(crate) space: Space<D>,
    pub(crate) sorted: SortedSet<D>,
    pub(crate) extent: Extent<D>,
    /// The frame of bodies in `f64`. Bodies in `f32` are in the tree as they are.
    pub(crate) frame: Option<Frame<D>>,
    /// What is known of boxes and capsules.
    pub(crate) boxed: Option<Boxed<D>>,
}

/// The bodies as they were given, by id. Memory of the other precision is kept.
#[derive(Debug)]
struct Copied<const D: usize> {
    double: bool,
    single_columns: [Vec<f32>; D],
    single_radii: Vec<f32>,
    double_columns: [Vec<f64>; D],
    double_radii: Vec<f64>,
    margin: f64,
    /// Boxes or capsules, in place of all of these.
    shaped: Copies<D>,
}

impl<const D: usize> Copied<D> {
    fn new() -> Self {
        Self {
            double: false,
            single_columns: [const { Vec::new() }; D],
            single_radii: Vec::new(),
            double_columns: [const { Vec::new() }; D],
            double_radii: Vec::new(),
            margin: 0.0,
            shaped: Copies::new(),
        }
    }

    fn clear(&mut self) {
        self.double = false;
        self.shaped.clear();
        self.single_columns.iter_mut().for_each(Vec::clear);
        self.single_radii.clear();
    }

    fn source(&self) -> Source<'_, D> {
        if let Some(shaped) = self.shaped.source() {
            return shaped;
        }
        if self.double {
            let columns = self.double_columns.each_ref().each(Vec::as_slice);
            return Source::Double(Bodies::from_slices(columns, &self.double_radii).with_margin(self.margin));
        }
        let columns = self.single_columns.each_ref().each(Vec::as_slice);
        Source::View(Bodies::from_slices(columns, &self.single_radii).with_margin(self.margin as f32))
    }

    fn bytes(&self) -> usize {
        let single = self.single_columns.iter().chain([&self.single_radii]).map(Vec::capacity).sum::<usize>();
        let double = self.double_columns.iter().chain([&self.double_radii]).map(Vec::capacity).sum::<usize>();
        single * size_of::<f32>() + double * size_of::<f64>() + self.shaped.bytes()
    }
}

fn copy<const D: usize, T: Scalar>(
    (columns, radii): (&mut [Vec<T>; D], &mut Vec<T>),
    bodies: Bodies<'_, D, T>,
    workers: Workers<'_>,
) {
    for (to, from) in columns.iter_mut().zip(bodies.centers()) {
        resize_with_headroom(to, bodies.len());
        workers.fill_blocks("copy", to, BLOCK, |first, block| from.copy_into(first, block));
    }
    resize_with_headroom(radii, bodies.len());
    workers.fill_blocks("copy", radii, BLOCK, |first, block| bodies.radii().copy_into(first, block));
}

impl<const D: usize> Default for PreparedSet<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const D: usize> fmt::Debug for PreparedSet<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedSet")
            .field("bodies", &self.len())
            .field("f64", &(self.bodies.double || self.bodies.shaped.is_double()))
            .field("space", &self.space)
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

impl<const D: usize> PreparedSet<D> {
    /// An empty set in open space, which holds no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            bodies: Copied::new(),
            space: Space::open(),
            sorted: SortedSet::default(),
            extent: Extent::EMPTY,
            frame: None,
            boxed: None,
        }
    }

    /// Copies bodies, a view in either precision or a tree, and sorts them for searches in a space.
    ///
    /// O(n) for spread-out centres. Layers are given to the set of each search: `Set::from(&prepared).layers(..)`.
    ///
    /// # Errors
    /// [`InputError`] when bodies or space are outside the contract, and [`InputError::Combination`] when the bodies
    /// move or have layers. The set is then empty.
    pub fn build<'a>(
        &mut self,
        bodies: impl Into<Set<'a, D>>,
        space: Space<D>,
        threads: Threads<'_>,
    ) -> Result<(), InputError> {
        let set = bodies.into();
        let unfinished = Unfinished(self);
        let build = |workers: Workers<'_>| workers.together(|| build_prepared(unfinished.0, &set, space, workers));
        run(threads, set.len(), build)?;
        forget(unfinished);
        Ok(())
    }

    fn build_on(&mut self, set: &Set<'_, D>, space: Space<D>, workers: Workers<'_>) -> Result<(), InputError> {
        if set.moving.is_some() || set.layers.is_some() {
            return Err(InputError::Combination {
                parts: "a prepared set and displacements or layers",
                reason: "they may change while it stays sorted; give them to the set of each search, `Set::from(&prepared)`",
            });
        }
        set.check_shape()?;
        space.check()?;
        (self.space, self.boxed, self.sorted.boxed) = (space, None, false);
        self.bodies.shaped.clear();
        if set.is_shaped() {
            return self.build_boxed(set, space, workers);
        }
        self.copy(set, workers);
        let cell = (!space.is_open()).then(|| UnitCell::of(&space));
        let (own, double) = (Set::of(self.bodies.source()), self.bodies.double);
        let isa = self.sorted.tree.isa();
        self.extent = self.sorted.proxies.survey(&own, cell.as_ref(), double, isa, workers)?;
        self.frame = double.then(|| Frame::prepared(self.extent, cell.as_ref()));
        if double || cell.is_some() {
            let frame = self.frame.as_ref().map(|frame| (frame, None));
            self.sorted.proxies.fill(&own, cell.as_ref(), frame, (isa, workers));
            self.sorted.build_proxies(&own, double, workers)?;
        } else {
            self.sorted.build(&own, None, workers)?;
        }
        Ok(())
    }

    fn copy(&mut self, set: &Set<'_, D>, workers: Workers<'_>) {
        let Copied { double, single_columns, single_radii, double_columns, double_radii, margin, .. } =
            &mut self.bodies;
        let single = (single_columns, single_radii);
        *double = matches!(set.source, Source::Double(_));
        match set.source {
            Source::View(bodies) => {
                copy(single, bodies, workers);
                *margin = bodies.margin().into();
            }
            Source::Double(bodies) => {
                copy((double_columns, double_radii), bodies, workers);
                *margin = bodies.margin();
            }
            Source::Tree(tree) => {
                let proxies = &mut self.sorted.proxies;
                copy(single, proxies.read_tree(tree), workers);
                *margin = 0.0;
            }
            Source::Shaped(_) => {}
        }
    }

    /// The prepared set behind a set, if there is one.
    fn of<'a>(set: &Set<'a, D>) -> Option<&'a Self> {
        set.sorted_before.and_then(|before| before.by.downcast_ref())
    }

    /// The prepared set behind a set, if it can serve a search in this space.
    pub(crate) fn serving<'a>(set: &Set<'a, D>, space: &Space<D>) -> Option<&'a Self> {
        Self::of(set).filter(|_| set.is_sorted_for(space))
    }

    pub(crate) fn tree(&self) -> &LinearTree<D> {
        self.sorted.own_tree()
    }

    /// The centre and the radius of a body as it was given, its margin included.
    pub(crate) fn body(&self, id: u32) -> ([f64; D], f64) {
        let (id, mut center) = (id as usize, [0.0; D]);
        let Copied { double, single_columns, single_radii, double_columns, double_radii, margin, .. } = &self.bodies;
        if *double {
            for axis in 0..D {
                center[axis] = double_columns[axis][id];
            }
            return (center, double_radii[id] + margin);
        }
        for axis in 0..D {
            center[axis] = single_columns[axis][id].into();
        }
        (center, (single_radii[id] + *margin as f32).into())
    }

    /// Number of bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tree().len()
    }

    /// True when there is no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The space that the set was built for.
    #[must_use]
    pub fn space(&self) -> Space<D> {
        self.space
    }

    /// The instruction set in use.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.sorted.tree.isa()
    }

    /// Uses this instruction set from now on. What is built does not depend on it.
    pub fn set_isa(&mut self, isa: Isa) {
        self.sorted.set_isa(isa);
    }

    /// Bytes held, scratch included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bodies.bytes() + self.sorted.bytes()
    }
}

/// A set in the making. If an error or a panic ends its build, the set is left empty.
struct Unfinished<'a, const D: usize>(&'a mut PreparedSet<D>);

impl<const D: usize> Drop for Unfinished<'_, D> {
    fn drop(&mut self) {
        let Self(set) = self;
        set.bodies.clear();
        let isa = set.isa();
        (set.sorted.tree, set.sorted.boxes, set.sorted.boxed) = (LinearTree::new(), LinearTree::new(), false);
        set.set_isa(isa);
        set.sorted.proxies.clear();
        (set.frame, set.extent, set.boxed) = (None, Extent::EMPTY, None);
    }
}

/// A tree and its layers.
#[derive(Debug, Clone, Copy)]
pub struct Ready<'a, const D: usize> {
    pub tree: &'a LinearTree<D>,
    pub layers: Option<LayersOf<'a>>,
}

impl<const D: usize> SortedSet<D> {
    /// The tree of this set.
    pub fn own_tree(&self) -> &LinearTree<D> {
        if self.boxed { &self.boxes } else { &self.tree }
    }

    /// The sorted set that a search uses for this one: itself, unless a prepared set serves as it is.
    fn in_use<'a>(&'a self, set: &Set<'a, D>) -> &'a Self {
        PreparedSet::of(set).filter(|_| self.adopted).map_or(self, |prepared| &prepared.sorted)
    }

    /// The tree and the layers of a set that is ready for a search.
    pub fn ready<'a>(&'a self, set: &Set<'a, D>) -> Ready<'a, D> {
        let tree = match set.source {
            Source::Tree(tree) if !self.built && !self.adopted => tree,
            _ => self.in_use(set).own_tree(),
        };
        // Looking up all layers of a tree that the set came with would cost more than the few that are met.
        let layers = set
            .layers
            .map(|layers| if self.built { self.layers.table() } else { LayersOf::Columns(layers, tree.leaf_ids()) });
        Ready { tree, layers }
    }

    /// The proxies of a set that is ready for a search.
    pub(crate) fn proxies_of<'a>(&'a self, set: &Set<'a, D>) -> &'a Proxies<D> {
        &self.in_use(set).proxies
    }
}

impl<'a, const D: usize> From<&'a PreparedSet<D>> for crate::Input<'a, D> {
    fn from(prepared: &'a PreparedSet<D>) -> Self {
        Self::within(prepared)
    }
}

impl<'a, const D: usize> From<&'a PreparedSet<D>> for Set<'a, D> {
    fn from(prepared: &'a PreparedSet<D>) -> Self {
        Self {
            sorted_before: Some(SortedBefore { by: prepared, space: &prepared.space }),
            ..Self::of(prepared.bodies.source())
        }
    }
}

compiled_here! {
    /// Builds a prepared set.
    fn build_prepared<const D: usize>(
        prepared: &mut PreparedSet<D>,
        set: &Set<'_, D>,
        space: Space<D>,
        workers: Workers<'_>,
    ) -> Result<(), InputError> {
        prepared.build_on(set, space, workers)
    }
}

//! Neighbour lists as the caller holds them: compressed sparse rows, and columns beside them.

use core::fmt;
use core::mem::{forget, swap};
use core::ops::Range;

use crate::neighbors::extras::{Extras, more_bytes, resize_anew};

/// The neighbours of each body, as compressed sparse rows (CSR). The row of body `i` is
/// `neighbors()[offsets()[i]..offsets()[i + 1]]`, ascending.
///
/// Make one and keep it: it owns its memory. [`PairFinder::neighbors`](crate::PairFinder::neighbors) fills it. Of many
/// sets, bodies are numbered one set after the other ([`NeighborLists::set_starts`]), and what is said of body `i` is
/// meant of the body of that number.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, NeighborLists, PairFinder, Rows};
///
/// let points = Circles::new(&[0.0, 1.0, 2.0], &[0.0, 0.0, 0.0], 0.0);
/// let (mut finder, mut lists) = (PairFinder::new(), NeighborLists::with_distances());
/// finder.neighbors(points.within(1.5), Rows::Full, &mut lists)?;
/// assert_eq!(lists.of(1), [0, 2]);
/// assert_eq!(lists.distances2_of(1), [1.0, 1.0]);
/// assert_eq!(lists.offsets(), [0, 1, 3, 4]);
/// # Ok::<(), jostle::InputError>(())
/// ```
#[derive(Clone)]
pub struct NeighborLists {
    pub(super) offsets: Vec<usize>,
    pub(super) neighbors: Vec<u32>,
    pub(super) extras: Extras,
    /// For rows that a finder of coherent frames has filled last, a number that no other rows of the program have; else
    /// 0.
    number: u64,
    /// In lists of many sets, the number of the first body of each, and the number of all bodies at the end.
    starts: Vec<u32>,
}

/// The contents of [`NeighborLists`], each column in a vector of its own: see [`NeighborLists::into_columns`].
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct NeighborColumns {
    /// [`NeighborLists::offsets`].
    pub offsets: Vec<usize>,
    /// [`NeighborLists::neighbors`].
    pub neighbors: Vec<u32>,
    /// [`NeighborLists::distances2`].
    pub distances2: Vec<f32>,
    /// [`NeighborLists::distances2_f64`].
    pub distances2_f64: Vec<f64>,
    /// [`NeighborLists::image_shifts`], one number for each dimension side by side.
    pub image_shifts: Vec<i32>,
    /// [`NeighborLists::vectors`], one number for each dimension side by side.
    pub vectors: Vec<f64>,
}

impl From<NeighborColumns> for NeighborLists {
    /// Makes lists of the columns that [`NeighborLists::into_columns`] gave, without a copy. For a host that hands
    /// columns out, and lets searches write over them once they are no longer used: to get memory that nobody has
    /// touched yet takes longer than most searches. Searches fill in ids alone, unless [`NeighborLists::and_distances`]
    /// and its like ask for more.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
    /// use jostle::{Circles, NeighborLists, PairFinder, Rows};
    ///
    /// let (mut finder, mut lists) = (PairFinder::new(), NeighborLists::with_distances());
    /// for radius in [0.5, 0.4] {
    ///     finder.neighbors(Circles::new(&[0.0, 1.0], &[0.0; 2], radius), Rows::Full, &mut lists)?;
    ///     let columns = lists.into_columns(); // which the host hands out, and gets back
    ///     assert_eq!(columns.neighbors.len(), if radius == 0.5 { 2 } else { 0 });
    ///     lists = NeighborLists::from(columns).and_distances();
    /// }
    /// # Ok::<(), jostle::InputError>(())
    /// ```
    fn from(columns: NeighborColumns) -> Self {
        let NeighborColumns { mut offsets, neighbors, distances2, distances2_f64, image_shifts, vectors } = columns;
        if offsets.is_empty() {
            offsets.push(0);
        }
        Self {
            offsets,
            neighbors,
            extras: Extras::of(distances2, distances2_f64, image_shifts, vectors),
            number: 0,
            starts: Vec::new(),
        }
    }
}

impl fmt::Debug for NeighborLists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NeighborLists")
            .field("bodies", &self.len())
            .field("neighbors", &self.neighbors.len())
            .field("columns", &self.extras.wanted)
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

impl Default for NeighborLists {
    fn default() -> Self {
        Self { offsets: vec![0], neighbors: Vec::new(), extras: Extras::default(), number: 0, starts: Vec::new() }
    }
}

impl NeighborLists {
    /// Makes empty lists, which hold no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// As [`NeighborLists::new`]; searches will fill in squared distances as well: [`NeighborLists::and_distances`].
    #[must_use]
    pub fn with_distances() -> Self {
        Self::new().and_distances()
    }

    /// Searches will fill in [`NeighborLists::distances2`] as well.
    #[must_use]
    pub fn and_distances(mut self) -> Self {
        self.extras.wanted.distances2 = true;
        self
    }

    /// Searches will fill in [`NeighborLists::distances2_f64`] as well.
    #[must_use]
    pub fn and_distances_f64(mut self) -> Self {
        self.extras.wanted.distances2_f64 = true;
        self
    }

    /// Searches will fill in [`NeighborLists::image_shifts`] as well.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
    /// use jostle::{Input, NeighborLists, PairFinder, Rows, Spheres64};
    ///
    /// let (x, y, z) = ([0.5, 9.75], [1.0, 1.0], [2.0, 2.0]);
    /// let atoms = Input::within(Spheres64::new(&x, &y, &z, 0.0).within(1.5)).periodic([Some([0.0, 10.0]); 3]);
    /// let mut lists = NeighborLists::new().and_distances_f64().and_image_shifts().and_vectors();
    /// PairFinder::new().neighbors(atoms, Rows::Full, &mut lists)?;
    /// assert_eq!(lists.of(0), [1]);
    /// assert_eq!(lists.image_shifts_of(0), [[-1, 0, 0]]);
    /// assert_eq!(lists.vectors_of(0), [[-0.75, 0.0, 0.0]]);
    /// assert_eq!(lists.distances2_f64_of(0), [0.5625]);
    /// # Ok::<(), jostle::InputError>(())
    /// ```
    #[must_use]
    pub fn and_image_shifts(mut self) -> Self {
        self.extras.wanted.image_shifts = true;
        self
    }

    /// Searches will fill in [`NeighborLists::vectors`] as well.
    #[must_use]
    pub fn and_vectors(mut self) -> Self {
        self.extras.wanted.vectors = true;
        self
    }

    /// Number of bodies that have a row.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// True when there is no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where each row begins, and the number of neighbours in all at the end.
    #[must_use]
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// The neighbours of all bodies, row after row.
    #[must_use]
    pub fn neighbors(&self) -> &[u32] {
        &self.neighbors
    }

    /// The squared distance from the centre of a body to the centre of each of its [`NeighborLists::neighbors`], by the
    /// predicate's formula: in `f32`, or, where bodies are in `f64` or moving, in `f64` and then rounded to `f32`. For
    /// moving bodies, the distance at the beginning of the step. In a search with boxes or capsules, the squared
    /// distance of the cores (a centre, a segment, a box without its margin), in `f64` and then rounded: 0 where these
    /// overlap. Empty unless asked for by [`NeighborLists::with_distances`] or [`NeighborLists::and_distances`].
    #[must_use]
    pub fn distances2(&self) -> &[f32] {
        &self.extras.distances2
    }

    /// As [`NeighborLists::distances2`], not rounded to `f32`: for bodies in `f64`. (Distances of bodies in `f32` are
    /// widened.) Empty unless asked for by [`NeighborLists::and_distances_f64`].
    #[must_use]
    pub fn distances2_f64(&self) -> &[f64] {
        &self.extras.distances2_f64
    }

    /// How many of each cell vector move each of [`NeighborLists::neighbors`] to where it touches: to
    /// `x + (S0 v0 + S1 v1 ..)`, as in [`Found::image_shifts`](crate::Found::image_shifts); 0 in open space. In a row,
    /// the images of one neighbour stand in an order that depends on the input alone. Empty unless asked for by
    /// [`NeighborLists::and_image_shifts`].
    ///
    /// # Panics
    /// When the last search was not in `D` dimensions.
    #[must_use]
    pub fn image_shifts<const D: usize>(&self) -> &[[i32; D]] {
        self.extras.image_shifts()
    }

    /// The vector from a body to each of its [`NeighborLists::neighbors`], by the predicate's formula:
    /// `(xb - xa) + shift`, see [`Space`](crate::Space). In `f64`, or, where all bodies are in `f32` and at rest, in
    /// `f32` and then widened. For moving bodies, the vector at the beginning of the step. In a search with boxes or
    /// capsules, it leads from core to core where these are nearest; where they overlap, it is 0, or as short as
    /// rounding. Empty unless asked for by [`NeighborLists::and_vectors`].
    ///
    /// # Panics
    /// When the last search was not in `D` dimensions.
    #[must_use]
    pub fn vectors<const D: usize>(&self) -> &[[f64; D]] {
        self.extras.vectors()
    }

    /// The neighbours of a body.
    ///
    /// # Panics
    /// When there is no such body.
    #[must_use]
    pub fn of(&self, id: usize) -> &[u32] {
        &self.neighbors[self.row(id)]
    }

    /// Where the bodies of each set begin, in lists of many sets ([`Input::among`](crate::Input::among)), and the
    /// number of all bodies at the end. Body `id` of set `s` has the number `set_starts()[s] + id`, by which it has its
    /// row and stands in those of others. Empty in other lists, whose bodies are known by their ids.
    #[must_use]
    pub fn set_starts(&self) -> &[u32] {
        &self.starts
    }

    /// The neighbours in `other` of a body of `set`, in lists of many sets: their places in
    /// [`NeighborLists::neighbors`] and the columns beside it. O(log of the row's length).
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
    /// use jostle::{ActivationTable, Input, NeighborLists, PairFinder, Rows, Spheres};
    ///
    /// const FLUID: usize = 0;
    /// const BOUNDARY: usize = 1;
    ///
    /// let fluid = Spheres::new(&[0.0, 1.0], &[0.0; 2], &[0.0; 2], 0.5);
    /// let boundary = Spheres::new(&[0.0, 0.1], &[-1.0; 2], &[0.0; 2], 0.51);
    /// let meetings = ActivationTable::none(2).with(FLUID, FLUID).with(FLUID, BOUNDARY);
    /// let mut lists = NeighborLists::with_distances();
    /// let sets = [fluid.into(), boundary.into()];
    /// PairFinder::new().neighbors(Input::among(&sets, &meetings), Rows::Full, &mut lists)?;
    /// assert_eq!(lists.set_starts(), [0, 2, 4]);
    /// assert_eq!(lists.of(0), [1, 2, 3]); // by numbers
    /// let ids: Vec<u32> = lists.ids_between(FLUID, BOUNDARY, 0).collect();
    /// assert_eq!(ids, [0, 1]);
    /// assert_eq!(lists.distances2()[lists.between(FLUID, BOUNDARY, 0)], [1.0, 1.01]);
    /// # Ok::<(), jostle::InputError>(())
    /// ```
    ///
    /// # Panics
    /// When there is no such set or body, or the lists are not of many sets.
    #[must_use]
    pub fn between(&self, set: usize, other: usize, id: usize) -> Range<usize> {
        let [of, to] = [set, other].map(|set| self.numbers_of(set));
        assert!(id < of.len(), "no body {id} in set {set}, which has {} bodies", of.len());
        let row = self.row(of.start as usize + id);
        let [start, end] = [to.start, to.end]
            .map(|end| row.start + self.neighbors[row.clone()].partition_point(|&neighbor| neighbor < end));
        start..end
    }

    /// The ids of the neighbours in `other` of a body of `set`, ascending: see [`NeighborLists::between`].
    ///
    /// # Panics
    /// As [`NeighborLists::between`].
    pub fn ids_between(&self, set: usize, other: usize, id: usize) -> impl ExactSizeIterator<Item = u32> + '_ {
        let start = self.numbers_of(other).start;
        self.neighbors[self.between(set, other, id)].iter().map(move |&neighbor| neighbor - start)
    }

    /// The numbers of the bodies of a set.
    fn numbers_of(&self, set: usize) -> Range<u32> {
        let sets = self.starts.len().saturating_sub(1);
        assert!(set < sets, "no set {set}: the lists are of {sets} sets by a table");
        self.starts[set]..self.starts[set + 1]
    }

    /// Notes how bodies of all sets are numbered: see [`NeighborLists::set_starts`].
    pub(super) fn note_sets(&mut self, starts: &[u32]) {
        self.starts.clear();
        self.starts.extend_from_slice(starts);
    }

    /// [`NeighborLists::distances2`] of the neighbours of a body.
    ///
    /// # Panics
    /// When there is no such body, or distances were not asked for.
    #[must_use]
    pub fn distances2_of(&self, id: usize) -> &[f32] {
        let asked = self.extras.wanted.distances2;
        assert!(asked, "no distances were asked for: make the lists by `NeighborLists::with_distances`");
        &self.distances2()[self.row(id)]
    }

    /// [`NeighborLists::distances2_f64`] of the neighbours of a body.
    ///
    /// # Panics
    /// When there is no such body, or these distances were not asked for.
    #[must_use]
    pub fn distances2_f64_of(&self, id: usize) -> &[f64] {
        let asked = self.extras.wanted.distances2_f64;
        assert!(asked, "no distances in `f64` were asked for: make the lists by `NeighborLists::and_distances_f64`");
        &self.distances2_f64()[self.row(id)]
    }

    /// [`NeighborLists::image_shifts`] of the neighbours of a body.
    ///
    /// # Panics
    /// When there is no such body, shifts were not asked for, or the last search was not in `D` dimensions.
    #[must_use]
    pub fn image_shifts_of<const D: usize>(&self, id: usize) -> &[[i32; D]] {
        let asked = self.extras.wanted.image_shifts;
        assert!(asked, "no image shifts were asked for: make the lists by `NeighborLists::and_image_shifts`");
        &self.image_shifts()[self.row(id)]
    }

    /// [`NeighborLists::vectors`] to the neighbours of a body.
    ///
    /// # Panics
    /// When there is no such body, vectors were not asked for, or the last search was not in `D` dimensions.
    #[must_use]
    pub fn vectors_of<const D: usize>(&self, id: usize) -> &[[f64; D]] {
        let asked = self.extras.wanted.vectors;
        assert!(asked, "no vectors were asked for: make the lists by `NeighborLists::and_vectors`");
        &self.vectors()[self.row(id)]
    }

    /// Makes room for `rows` rows, and `neighbors` neighbours in a space of `axes` axes. Returns the ends of rows, and
    /// the neighbours.
    pub(crate) fn room_for(&mut self, rows: usize, neighbors: usize, axes: usize) -> (&mut [usize], &mut [u32]) {
        self.room_for_rows(rows);
        self.room_for_neighbors(neighbors, axes);
        (&mut self.offsets[1..], &mut self.neighbors)
    }

    /// Bytes that [`NeighborLists::room_for`] asks the system for, beside those for the ends of rows.
    pub(super) fn more_bytes(&self, neighbors: usize, axes: usize) -> usize {
        more_bytes(&self.neighbors, neighbors).saturating_add(self.extras.more_bytes(neighbors, axes))
    }

    /// Makes room for `rows` rows, and returns their ends.
    pub(crate) fn room_for_rows(&mut self, rows: usize) -> &mut [usize] {
        self.number = 0;
        self.starts.clear();
        resize_anew(&mut self.offsets, rows + 1);
        self.offsets[0] = 0;
        &mut self.offsets[1..]
    }

    /// Adds empty rows, until there are `rows` of them.
    pub(crate) fn add_rows(&mut self, rows: usize) {
        if self.len() < rows {
            self.offsets.resize(rows + 1, self.neighbors.len());
        }
    }

    /// Keeps the first `rows` rows. The rows that go are empty.
    pub(crate) fn truncate_rows(&mut self, rows: usize) {
        self.offsets.truncate(rows + 1);
    }

    /// Makes room for `neighbors` neighbours in a space of `axes` axes.
    pub(crate) fn room_for_neighbors(&mut self, neighbors: usize, axes: usize) -> &mut [u32] {
        resize_anew(&mut self.neighbors, neighbors);
        self.extras.resize(neighbors, axes);
        &mut self.neighbors
    }

    /// The number that tells these rows from others.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn set_number(&mut self, number: u64) {
        self.number = number;
    }

    /// Swaps the rows with those of other lists, but not the columns beside the ids.
    pub(crate) fn swap_ids(&mut self, other: &mut Self) {
        swap(&mut self.offsets, &mut other.offsets);
        swap(&mut self.neighbors, &mut other.neighbors);
        (self.number, other.number) = (0, 0);
    }

    /// Takes the lists apart, without a copy: for a host that keeps them.
    ///
    /// ```
    /// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
    /// use jostle::{Circles, NeighborLists, PairFinder, Rows};
    ///
    /// let mut lists = NeighborLists::with_distances();
    /// PairFinder::new().neighbors(Circles::new(&[0.0, 1.0], &[0.0; 2], 0.5), Rows::Full, &mut lists)?;
    /// let columns = lists.into_columns();
    /// assert_eq!((columns.offsets, columns.neighbors, columns.distances2), (vec![0, 1, 2], vec![1, 0], vec![1.0, 1.0]));
    /// # Ok::<(), jostle::InputError>(())
    /// ```
    #[must_use]
    pub fn into_columns(self) -> NeighborColumns {
        let Self { offsets, neighbors, extras, .. } = self;
        let Extras { distances2, distances2_f64, image_shifts, vectors, .. } = extras;
        NeighborColumns { offsets, neighbors, distances2, distances2_f64, image_shifts, vectors }
    }

    fn row(&self, id: usize) -> Range<usize> {
        assert!(id < self.len(), "no body {id}: the lists are of {} bodies", self.len());
        self.offsets[id]..self.offsets[id + 1]
    }

    fn clear(&mut self) {
        self.offsets.clear();
        self.offsets.push(0);
        self.neighbors.clear();
        self.extras.clear();
        self.starts.clear();
        self.number = 0;
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.offsets.capacity() * size_of::<usize>()
            + (self.neighbors.capacity() + self.starts.capacity()) * size_of::<u32>()
            + self.extras.bytes()
    }
}

/// Lists that are being filled. Where that does not come to its end, since a host panics, say, they are empty.
pub(crate) struct Unfinished<'a>(pub(crate) &'a mut NeighborLists);

impl Unfinished<'_> {
    pub(crate) fn finish(self) {
        forget(self);
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.clear();
    }
}

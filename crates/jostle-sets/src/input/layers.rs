//! Which bodies may meet: categories, masks and groups, tested sixteen at a time.

use core::fmt;

use jostle_core::scratch::fill_with_headroom;
use jostle_core::sixteen::{Floats, Ids};
use jostle_core::tree::LEAF;
use jostle_core::{Column, LinearTree, Workers};

use crate::InputError;
use crate::simd::{LANES, Lanes};

/// Leaves whose layers one task looks up.
const LEAVES_PER_TASK: usize = 512;

/// One value for all bodies, or one each.
#[derive(Clone, Copy)]
pub enum Values<'a, T> {
    /// The same value for every body.
    All(T),
    /// A value for each body, by id.
    Each(Column<'a, T>),
}

impl<T: fmt::Debug + Copy> fmt::Debug for Values<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(value) => f.debug_tuple("All").field(value).finish(),
            Self::Each(values) => write!(f, "Each({} values)", values.len()),
        }
    }
}

impl<T: Copy> Values<'_, T> {
    /// The value of body `id`.
    #[inline(always)]
    fn get(&self, id: usize) -> T {
        match self {
            Self::All(value) => *value,
            Self::Each(values) => values.get(id),
        }
    }

    fn len(&self, bodies: usize) -> usize {
        match self {
            Self::All(_) => bodies,
            Self::Each(values) => values.len(),
        }
    }
}

impl<T> From<T> for Values<'_, T> {
    fn from(value: T) -> Self {
        Self::All(value)
    }
}

impl<'a, T> From<Column<'a, T>> for Values<'a, T> {
    fn from(values: Column<'a, T>) -> Self {
        Self::Each(values)
    }
}

impl<'a, T> From<&'a [T]> for Values<'a, T> {
    fn from(values: &'a [T]) -> Self {
        Self::Each(values.into())
    }
}

impl<'a, T> From<&'a Vec<T>> for Values<'a, T> {
    fn from(values: &'a Vec<T>) -> Self {
        Self::Each(values.into())
    }
}

impl<'a, T, const N: usize> From<&'a [T; N]> for Values<'a, T> {
    fn from(values: &'a [T; N]) -> Self {
        Self::Each(values.into())
    }
}

/// A copy of [`Values`].
#[derive(Debug, Clone)]
enum ValuesKept<T> {
    All(T),
    Each(Vec<T>),
}

impl<T: Copy + Default + PartialEq> ValuesKept<T> {
    fn keep(&mut self, values: Values<'_, T>) {
        let values = match values {
            Values::All(value) => return *self = Self::All(value),
            Values::Each(values) => values,
        };
        let mut kept = match core::mem::replace(self, Self::Each(Vec::new())) {
            Self::All(_) => Vec::new(),
            Self::Each(kept) => kept,
        };
        kept.resize(values.len(), T::default());
        values.copy_into(0, &mut kept);
        *self = Self::Each(kept);
    }

    fn is_of(&self, values: Values<'_, T>) -> bool {
        match (self, values) {
            (Self::All(kept), Values::All(value)) => *kept == value,
            (Self::Each(kept), Values::Each(values)) => match values.as_slice() {
                Some(values) => kept == values,
                None => kept.len() == values.len() && (0..kept.len()).all(|id| kept[id] == values.get(id)),
            },
            _ => false,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::All(_) => 0,
            Self::Each(kept) => kept.capacity() * size_of::<T>(),
        }
    }
}

/// A copy of a set's layers, or the note that it had none.
#[derive(Debug, Clone)]
pub struct LayersKept {
    there: bool,
    category: ValuesKept<u32>,
    mask: ValuesKept<u32>,
    group: ValuesKept<i32>,
}

impl Default for LayersKept {
    fn default() -> Self {
        let all = ValuesKept::All(u32::MAX);
        Self { there: false, category: all.clone(), mask: all, group: ValuesKept::All(0) }
    }
}

impl LayersKept {
    pub fn keep(&mut self, layers: Option<Layers<'_>>) {
        self.there = layers.is_some();
        if let Some(Layers { category, mask, group }) = layers {
            self.category.keep(category);
            self.mask.keep(mask);
            self.group.keep(group);
        }
    }

    /// Whether the layers are still those that were kept.
    #[must_use]
    pub fn is_of(&self, layers: Option<Layers<'_>>) -> bool {
        layers.map_or(!self.there, |Layers { category, mask, group }| {
            self.there && self.category.is_of(category) && self.mask.is_of(mask) && self.group.is_of(group)
        })
    }

    #[must_use]
    pub fn bytes(&self) -> usize {
        self.category.bytes() + self.mask.bytes() + self.group.bytes()
    }
}

/// Which bodies may meet: a pair is kept when `category[a] & mask[b] != 0 && category[b] & mask[a] != 0`.
///
/// A group overrules category and mask, as in Box2D: two bodies of the same group, other than 0, meet if it is
/// positive, and do not if it is negative. Each search reads layers afresh.
///
/// ```
/// # mod jostle { pub use jostle_core::*; pub use jostle_pairs::*; }
/// use jostle::{Circles, Layers, PairFinder, Set};
///
/// const SHIP: u32 = 1;
/// const SHOT: u32 = 2;
/// let category = [SHIP, SHOT, SHOT];
/// let mask = [SHIP | SHOT, SHIP, SHIP]; // shots do not meet shots
/// let circles = Circles::new(&[0.0; 3], &[0.0; 3], 1.0);
/// let mut finder = PairFinder::new();
/// let found = finder.find(Set::from(circles).layers(Layers::new(&category, &mask)))?;
/// assert_eq!(found.pairs(), [[0, 1], [0, 2]]);
/// # Ok::<(), jostle::InputError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Layers<'a> {
    category: Values<'a, u32>,
    mask: Values<'a, u32>,
    group: Values<'a, i32>,
}

impl<'a> Layers<'a> {
    /// Every body meets every other.
    pub const ALL: Self = Self { category: Values::All(u32::MAX), mask: Values::All(u32::MAX), group: Values::All(0) };

    /// What each body is (category) and what it meets (mask): a `u32` for all, or a slice or a field of the caller's
    /// structs ([`Field::of`](jostle_core::Field::of)) with one for each, by id.
    #[must_use]
    pub fn new(category: impl Into<Values<'a, u32>>, mask: impl Into<Values<'a, u32>>) -> Self {
        Self { category: category.into(), mask: mask.into(), group: Values::All(0) }
    }

    /// Adds groups: two bodies of the same group, other than 0, always meet (positive) or never do (negative).
    #[must_use]
    pub fn with_groups(self, group: impl Into<Values<'a, i32>>) -> Self {
        Self { group: group.into(), ..self }
    }

    /// Refuses layers that do not have a value for each of so many bodies.
    pub(crate) fn check(&self, bodies: usize) -> Result<(), InputError> {
        let lengths = [self.category.len(bodies), self.mask.len(bodies), self.group.len(bodies)];
        if lengths.iter().all(|&len| len == bodies) {
            return Ok(());
        }
        let [categories, masks, groups] = lengths;
        Err(InputError::Layers { bodies, categories, masks, groups })
    }

    /// Whether body `a`, with these layers, may meet body `b`, with the layers `others`.
    #[inline]
    #[doc(hidden)]
    pub fn meets(&self, a: u32, others: &Layers<'_>, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        let group = self.group.get(a);
        if group != 0 && group == others.group.get(b) {
            return group > 0;
        }
        self.category.get(a) & others.mask.get(b) != 0 && others.category.get(b) & self.mask.get(a) != 0
    }

    #[inline(always)]
    fn of_leaf(&self, ids: &Ids) -> Layered16 {
        let mut layered = Layered16::NONE;
        for lane in 0..LEAF {
            let id = ids.0[lane] as usize;
            layered.category[lane] = self.category.get(id);
            layered.mask[lane] = self.mask.get(id);
            layered.group[lane] = self.group.get(id);
        }
        layered
    }
}

/// Categories, masks and groups of the bodies of a leaf.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub struct Layered16 {
    category: [u32; LEAF],
    mask: [u32; LEAF],
    group: [i32; LEAF],
}

impl Layered16 {
    const NONE: Self = Self { category: [0; LEAF], mask: [0; LEAF], group: [0; LEAF] };

    /// The same bodies, each `rotation` lanes down.
    #[inline(always)]
    fn rotated(&self, rotation: usize) -> Self {
        let mut rotated = Self::NONE;
        for lane in 0..LEAF {
            let from = (lane + rotation) % LEAF;
            rotated.category[lane] = self.category[from];
            rotated.mask[lane] = self.mask[from];
            rotated.group[lane] = self.group[from];
        }
        rotated
    }

    /// One body in all lanes.
    #[inline(always)]
    fn all(&self, lane: usize) -> Self {
        Self { category: [self.category[lane]; LEAF], mask: [self.mask[lane]; LEAF], group: [self.group[lane]; LEAF] }
    }

    /// The lanes in which the two bodies may meet. Floats are compared: every instruction set turns their comparison
    /// into a mask.
    #[inline(always)]
    fn meeting<L: Lanes>(&self, other: &Self) -> u16 {
        let mut apart = Floats::splat(0.0);
        for lane in 0..LANES {
            let met = (self.category[lane] & other.mask[lane] != 0) & (other.category[lane] & self.mask[lane] != 0);
            let group = self.group[lane];
            let grouped = (group == other.group[lane]) & (group != 0);
            let meets = (grouped & (group > 0)) | (!grouped & met);
            apart.0[lane] = if meets { 0.0 } else { 1.0 };
        }
        L::load(&apart.0).le(L::splat(0.0))
    }
}

/// Where a join finds the layers of a leaf: in a table by leaf, or in the caller's columns by id.
#[derive(Debug, Clone, Copy)]
pub enum LayersOf<'a> {
    Table(&'a [Layered16]),
    Columns(Layers<'a>, &'a [Ids]),
}

impl LayersOf<'_> {
    #[inline(always)]
    fn leaf(&self, leaf: usize) -> Layered16 {
        match self {
            Self::Table(table) => table[leaf],
            Self::Columns(layers, ids) => layers.of_leaf(&ids[leaf]),
        }
    }
}

/// The layers of the two trees of a join.
#[derive(Debug, Clone, Copy)]
pub struct LayersOfBoth<'a>(pub [LayersOf<'a>; 2]);

impl LayersOfBoth<'_> {
    /// The same once the trees have changed places.
    pub fn swapped(self) -> Self {
        let [one, other] = self.0;
        Self([other, one])
    }

    /// Which bodies of a leaf of the other side the circle of side `side` may meet.
    #[inline(always)]
    pub fn meeting<L: Lanes>(&self, side: usize, circle: usize, leaf: usize) -> u16 {
        let circle16 = self.0[side].leaf(circle / LEAF);
        circle16.all(circle % LEAF).meeting::<L>(&self.0[1 - side].leaf(leaf))
    }

    /// Which bodies of a leaf may meet the body `rotation` lanes on.
    #[inline(always)]
    pub fn meeting_within<L: Lanes>(&self, leaf: usize, rotation: usize) -> u16 {
        let layered = self.0[0].leaf(leaf);
        layered.meeting::<L>(&layered.rotated(rotation))
    }
}

/// The layers of a tree's bodies, by leaf. They are looked up once, where a search goes over all bodies in any case.
#[derive(Debug, Default)]
pub(crate) struct LayerTable(Vec<Layered16>);

impl LayerTable {
    pub(crate) fn look_up<const D: usize>(&mut self, tree: &LinearTree<D>, layers: Layers<'_>, workers: Workers<'_>) {
        let leaves = tree.leaf_ids();
        if self.0.len() < leaves.len() {
            fill_with_headroom(&mut self.0, leaves.len(), Layered16::NONE);
        }
        workers.fill_blocks("layers", &mut self.0[..leaves.len()], LEAVES_PER_TASK, |first, table| {
            for (layered, ids) in table.iter_mut().zip(&leaves[first..]) {
                *layered = layers.of_leaf(ids);
            }
        });
    }

    pub(crate) fn table(&self) -> LayersOf<'_> {
        LayersOf::Table(&self.0)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<Layered16>()
    }
}

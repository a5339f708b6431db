//! What a tree asks of the bodies it is built of. Circles and boxes are its two answers, a file each; nothing else of the
//! sort, the leaves or the levels knows which they are of.

use core::fmt;

use bytemuck::Pod;

use super::{LEAF, LinearTree};
use crate::aabb::Aabb;
use crate::axes::{Axes, from_axes};
use crate::bounds::BlockBounds;
use crate::error::ViewError;
use crate::fours::Four;
use crate::isa::Isa;
use crate::morton::Grid;
use crate::parallel::workers::Workers;
use crate::radix::Dealer;

/// A kind of body.
pub(super) trait Shape<const D: usize>: Sized {
    /// The caller's columns.
    type View<'a>: Copy + Send + Sync;
    /// What the sort moves of a body.
    type Record: Record<D>;
    /// The bodies of a view that are sorted where they lie, if few are.
    type Columns<'a>: Source<Record = Self::Record> + Send + Sync;
    /// Those of a leaf.
    type Sixteen: Copy + Send + Sync + fmt::Debug;

    /// Whether they are boxes.
    const IS_BOXED: bool;

    /// Bodies that touch nothing.
    const NONE: Self::Sixteen;

    /// The part of a tree that depends on the shape.
    fn part(tree: &mut LinearTree<D>) -> &mut Part<Self, D>;
    /// Number of bodies.
    fn len(view: Self::View<'_>) -> usize;
    /// What was added to each body.
    fn margin(view: Self::View<'_>) -> f32;
    /// The box of all centres, once every body has been checked.
    fn bounds(
        view: Self::View<'_>,
        workers: Workers<'_>,
        isa: Isa,
        blocks: &mut Vec<BlockBounds<D>>,
    ) -> Result<Aabb<D>, ViewError>;
    /// The bodies, where they can be sorted as they lie.
    fn columns(view: Self::View<'_>) -> Option<Self::Columns<'_>>;
    /// Their centres, which may be computed to where the leaves of so many bodies are filled afterwards.
    fn centers<'a: 's, 's>(columns: Self::Columns<'a>, leaves: &'s mut [Self::Sixteen]) -> Centers<'s, D>;
    /// First pass: records from the caller's columns to the buffer, by digits of so many bits of codes of `top` bits; as
    /// they come, where there is no grid.
    fn deal(
        view: Self::View<'_>,
        workers: Workers<'_>,
        to: &mut Deal<Self, D>,
        bits_and_top: (u32, u32),
        by: Option<(Grid<D>, Isa)>,
    );
    /// The lanes of a leaf that hold a word of a record: all but the last, which is the id.
    fn column(sixteen: &mut Self::Sixteen, word: usize) -> &mut [f32; LEAF];
    /// Leaves nothing in a leaf from a lane on.
    fn fill_up(sixteen: &mut Self::Sixteen, lane: usize);
    /// How far every fourth body of a leaf reaches on an axis: down to where, and up. What is NaN counts for nothing.
    fn reach(sixteen: &Self::Sixteen, axis: usize) -> (Four, Four);
}

/// A body on its way to its rank.
///
/// Plain words, of which the last is the id.
pub(super) trait Record<const D: usize>: Pod + Default + Send + Sync + fmt::Debug {
    /// Its centre, by which it is sorted.
    fn center(&self) -> [f32; D];
    /// That on one axis.
    fn coordinate(&self, axis: usize) -> f32;

    /// Those of four on each axis.
    #[inline(always)]
    fn coordinates(four: &[Self; 4]) -> [[f32; 4]; D] {
        from_axes(|axis| [0, 1, 2, 3].axes(|at: usize| four[at].coordinate(axis)))
    }

    /// A word of it that is not the id.
    fn word(&self, word: usize) -> f32;
    /// Its position in the caller's view.
    fn id(&self) -> u32;
}

/// The bodies of a segment by their places in it.
pub(super) trait Source: Copy {
    /// What is made of a body.
    type Record;
    /// Whether records lie in memory, and need not be made.
    const IN_MEMORY: bool;
    /// Number of bodies.
    fn len(self) -> usize;
    /// One body.
    ///
    /// # Safety
    /// Its place is below [`Source::len`].
    #[allow(unsafe_code, reason = "a promise that is asked for")]
    unsafe fn record(self, place: u16) -> Self::Record;
}

#[allow(unsafe_code, reason = "places that were checked before, sixteen at a time")]
impl<R: Copy> Source for &[R] {
    type Record = R;
    const IN_MEMORY: bool = true;

    #[inline(always)]
    fn len(self) -> usize {
        <[R]>::len(self)
    }

    #[inline(always)]
    unsafe fn record(self, place: u16) -> R {
        // SAFETY: passed on to the caller.
        unsafe { *self.get_unchecked(usize::from(place)) }
    }
}

/// The centres of the bodies of a segment by their places in it, a column an axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Centers<'a, const D: usize>(pub(super) [&'a [f32]; D]);

impl<const D: usize> Centers<'_, D> {
    /// Number of bodies.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.0[0].len()
    }

    /// All in order, each with its axes in the order of `axes`.
    #[inline(always)]
    pub(super) fn all(self, axes: [usize; D]) -> impl Iterator<Item = [f32; D]> {
        // Cut to their length here, columns need no check for each point.
        let n = self.len();
        let columns = axes.map(|axis| &self.0[axis][..n]);
        (0..n).map(move |i| from_axes(|k| columns[k][i]))
    }

    /// Those of some bodies, copied.
    #[inline(always)]
    pub(super) fn gathered<'s>(self, places: &[u16], columns: &'s mut [Vec<f32>; 3]) -> Centers<'s, D> {
        for axis in 0..D {
            let column = &mut columns[axis];
            column.resize(places.len(), 0.0);
            column.iter_mut().zip(places).for_each(|(to, &place)| *to = self.0[axis][usize::from(place)]);
        }
        Centers(core::array::from_fn(|axis| &columns[axis][..]))
    }

    /// That of one body.
    #[inline(always)]
    pub(super) fn at(self, place: u16) -> [f32; D] {
        from_axes(|axis| self.0[axis][usize::from(place)])
    }
}

/// What of a tree depends on the shape of its bodies: those of each leaf, with room for more, and the buffers of the sort.
pub(super) struct Part<S: Shape<D>, const D: usize> {
    pub(super) leaves: Vec<S::Sixteen>,
    /// None where all trees so far were of one segment.
    pub(super) deal: Option<Box<Deal<S, D>>>,
}

/// What it takes to deal bodies out to segments.
pub(super) struct Deal<S: Shape<D>, const D: usize> {
    pub(super) dealer: Dealer,
    pub(super) records: Vec<S::Record>,
    /// Where the records of a segment wait that is dealt out once more.
    pub(super) spare: Vec<S::Record>,
}

impl<S: Shape<D>, const D: usize> Default for Part<S, D> {
    fn default() -> Self {
        Self { leaves: Vec::new(), deal: None }
    }
}

impl<S: Shape<D>, const D: usize> Default for Deal<S, D> {
    fn default() -> Self {
        Self { dealer: Dealer::default(), records: Vec::new(), spare: Vec::new() }
    }
}

impl<S: Shape<D>, const D: usize> Part<S, D> {
    /// Bytes of the leaves, and of the buffers.
    pub(super) fn bytes(&self) -> usize {
        self.leaves.capacity() * size_of::<S::Sixteen>()
            + self.deal.as_ref().map_or(0, |deal| {
                let Deal { dealer, records, spare } = &**deal;
                size_of_val(&**deal) + (records.capacity() + spare.capacity()) * size_of::<S::Record>() + dealer.bytes()
            })
    }
}

//! What a tree asks of the bodies that it is built of. Circles and boxes implement it, in a file each; the rest of the
//! sort, the leaves and the levels do not know which of the two they hold.

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
    /// The record of a body, which the sort moves.
    type Record: Record<D>;
    /// The bodies of a view, which are sorted where they lie if they are few.
    type Columns<'a>: Source<Record = Self::Record> + Send + Sync;
    /// The bodies of a leaf.
    type Sixteen: Copy + Send + Sync + fmt::Debug;

    /// Whether the bodies are boxes.
    const IS_BOXED: bool;

    /// Bodies that touch nothing.
    const NONE: Self::Sixteen;

    /// The part of a tree that depends on the shape.
    fn part(tree: &mut LinearTree<D>) -> &mut Part<Self, D>;
    /// Number of bodies.
    fn len(view: Self::View<'_>) -> usize;
    /// The margin, which was added to each body.
    fn margin(view: Self::View<'_>) -> f32;
    /// The number of the first ghost image, or one beyond all bodies.
    fn images_from(_view: Self::View<'_>) -> u32 {
        u32::MAX
    }
    /// Checks every body, and returns the box of all centres.
    fn bounds(
        view: Self::View<'_>,
        workers: Workers<'_>,
        isa: Isa,
        blocks: &mut Vec<BlockBounds<D>>,
    ) -> Result<Aabb<D>, ViewError>;
    /// The bodies, where they can be sorted as they lie; else `None`.
    fn columns(view: Self::View<'_>) -> Option<Self::Columns<'_>>;
    /// The centres of the bodies. They may be computed into `leaves`, which are filled only afterwards.
    fn centers<'a: 's, 's>(columns: Self::Columns<'a>, leaves: &'s mut [Self::Sixteen]) -> Centers<'s, D>;
    /// First pass: deals records from the caller's columns out to the buffer, by digits of `bits` bits of codes of
    /// `top` bits, ghost images behind all others; in the order of the columns, where there is no grid.
    fn deal(
        view: Self::View<'_>,
        workers: Workers<'_>,
        to: &mut Deal<Self, D>,
        bits_and_top: (u32, u32),
        by: Option<(Grid<D>, Isa)>,
    );
    /// The lanes of a leaf that hold a word of a record: any word but the last, which is the id.
    fn column(sixteen: &mut Self::Sixteen, word: usize) -> &mut [f32; LEAF];
    /// Empties a leaf from lane `lane` on.
    fn fill_up(sixteen: &mut Self::Sixteen, lane: usize);
    /// Returns how far down and how far up bodies of a leaf reach on an axis: lane i bounds bodies i, i + 4, i + 8 and
    /// i + 12. NaN counts for nothing.
    fn reach(sixteen: &Self::Sixteen, axis: usize) -> (Four, Four);
}

/// A body on its way to its rank.
///
/// Plain words, of which the last is the id.
pub(super) trait Record<const D: usize>: Pod + Default + Send + Sync + fmt::Debug {
    /// The centre of the body, by which it is sorted.
    fn center(&self) -> [f32; D];
    /// The centre's coordinate on one axis.
    fn coordinate(&self, axis: usize) -> f32;

    /// The coordinates of four bodies on each axis.
    #[inline(always)]
    fn coordinates(four: &[Self; 4]) -> [[f32; 4]; D] {
        from_axes(|axis| [0, 1, 2, 3].axes(|at: usize| four[at].coordinate(axis)))
    }

    /// A word of the record that is not the id.
    fn word(&self, word: usize) -> f32;
    /// The position of the body in the caller's view.
    fn id(&self) -> u32;
}

/// The bodies of a segment by their places in it.
pub(super) trait Source: Copy {
    /// The record of a body.
    type Record;
    /// Whether records lie in memory, and need not be made.
    const IN_MEMORY: bool;
    /// Number of bodies.
    fn len(self) -> usize;
    /// Returns the record of one body.
    ///
    /// # Safety
    /// `place` is below [`Source::len`].
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

/// The centres of the bodies of a segment by their places in it, one column per axis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Centers<'a, const D: usize>(pub(super) [&'a [f32]; D]);

impl<const D: usize> Centers<'_, D> {
    /// Number of bodies.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        self.0[0].len()
    }

    /// Returns all centres in order of places, with their axes in the order of `axes`.
    #[inline(always)]
    pub(super) fn all(self, axes: [usize; D]) -> impl Iterator<Item = [f32; D]> {
        // Columns that are cut to their length here need no check for each point.
        let n = self.len();
        let columns = axes.map(|axis| &self.0[axis][..n]);
        (0..n).map(move |i| from_axes(|k| columns[k][i]))
    }

    /// Copies the centres of some bodies.
    #[inline(always)]
    pub(super) fn gathered<'s>(self, places: &[u16], columns: &'s mut [Vec<f32>; 3]) -> Centers<'s, D> {
        for axis in 0..D {
            let column = &mut columns[axis];
            column.resize(places.len(), 0.0);
            column.iter_mut().zip(places).for_each(|(to, &place)| *to = self.0[axis][usize::from(place)]);
        }
        Centers(core::array::from_fn(|axis| &columns[axis][..]))
    }

    /// Returns the centre of one body.
    #[inline(always)]
    pub(super) fn at(self, place: u16) -> [f32; D] {
        from_axes(|axis| self.0[axis][usize::from(place)])
    }
}

/// The part of a tree that depends on the shape of its bodies: the bodies of each leaf, with room for more, and the
/// buffers of the sort.
pub(super) struct Part<S: Shape<D>, const D: usize> {
    pub(super) leaves: Vec<S::Sixteen>,
    /// `None` while all trees so far were of one segment.
    pub(super) deal: Option<Box<Deal<S, D>>>,
}

/// The dealer of bodies to segments, with its buffers.
pub(super) struct Deal<S: Shape<D>, const D: usize> {
    pub(super) dealer: Dealer,
    pub(super) records: Vec<S::Record>,
    /// Where the records of a segment wait while it is dealt out once more.
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

//! The order of the curve for the caller's own arrays. Arrays that are sorted by rank now and then keep neighbours in
//! space close together in memory.
//!
//! LAMMPS (`atom_modify sort`), CompactNSearch and TreeNSearch (`z_sort`) offer this to their hosts.

use core::fmt;

use crate::error::NAMED_OFFENDERS;
use crate::parallel::scratch::{fill_with_headroom, resize_with_headroom, with_headroom};
use crate::parallel::threads::Threads;
use crate::tree::LinearTree;

/// Elements that one task moves.
const BLOCK: usize = 1 << 13;

/// Below this number of elements one thread moves all: that takes less time than to wake another thread.
const SERIAL_BELOW: usize = 1 << 15;

/// Bits of a word of marks.
const WORD: usize = u64::BITS as usize;

/// Why an array was not sorted, or ids were not renumbered. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PermutationError {
    /// The array does not have one element for each body.
    Length {
        /// Elements given.
        items: usize,
        /// Bodies of the permutation.
        bodies: usize,
    },
    /// Numbers that are not ids.
    Ids {
        /// How many numbers are no ids.
        count: usize,
        /// Where the first [`NAMED_OFFENDERS`] of them stand in the list given.
        first: Vec<usize>,
        /// Bodies of the permutation.
        bodies: usize,
    },
}

impl fmt::Display for PermutationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { items, bodies } => {
                write!(f, "{items} elements cannot be sorted by the ranks of {bodies} bodies")
            }
            Self::Ids { count, first, bodies } => write!(
                f,
                "{count} numbers are no ids of {bodies} bodies; the first stand at {first:?}: renumber ids of the same \
                 view that the tree was built of"
            ),
        }
    }
}

impl core::error::Error for PermutationError {}

/// The order of a tree's bodies along the curve, to be applied to the arrays that they came from.
///
/// [`take`](Self::take) it from the tree of a search, sort every array that is indexed by id with
/// [`sort_by_rank`](Self::sort_by_rank) or [`sort_by_rank_copy`](Self::sort_by_rank_copy), and
/// [`renumber`](Self::renumber) ids that are held elsewhere. From then on, the former rank of a body is its id. The
/// permutation keeps its memory from one `take` to the next.
///
/// ```
/// # use jostle_core as jostle;
/// use jostle::{Circles, LinearTree, Permutation, Threads};
/// let (mut x, mut y) = (vec![5.0, 0.0, 5.0], vec![5.0, 0.0, 0.0]);
/// let mut names = vec!["far", "origin", "right"].into_iter().map(String::from).collect::<Vec<_>>();
/// let mut leader = [2]; // an id that somebody holds
///
/// let mut tree = LinearTree::<2>::new();
/// tree.build(Circles::new(&x, &y, 1.0), Threads::Current)?;
/// let mut order = Permutation::new();
/// order.take(&tree);
/// let mut buffer = Vec::new();
/// for column in [&mut x, &mut y] {
///     order.sort_by_rank_copy(column, &mut buffer, Threads::Current)?;
/// }
/// order.sort_by_rank(&mut names)?;
/// order.renumber(&mut leader)?;
/// assert_eq!((x, y), (vec![0.0, 5.0, 5.0], vec![0.0, 0.0, 5.0]));
/// assert_eq!((names[0].as_str(), names[leader[0] as usize].as_str()), ("origin", "right"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Permutation {
    ids: Vec<u32>,
    ranks: Vec<u32>,
    /// A bit for each rank that `sort_by_rank` has put right.
    marks: Vec<u64>,
}

impl fmt::Debug for Permutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permutation").field("bodies", &self.len()).field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl Permutation {
    /// The permutation of no bodies, that holds no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the order of this tree, without ghost images: see [`LinearTree::ids_without_images`]. O(n).
    pub fn take<const D: usize>(&mut self, tree: &LinearTree<D>) {
        let len = tree.len();
        self.ids.clear();
        if self.ids.capacity() < len {
            self.ids.reserve_exact(with_headroom(len));
        }
        self.ids.extend(tree.ids_without_images());
        resize_with_headroom(&mut self.ranks, self.ids.len());
        for (rank, &id) in self.ids.iter().enumerate() {
            self.ranks[id as usize] = rank as u32;
        }
    }

    /// Number of bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// True when there is no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The id of the body at each rank.
    #[must_use]
    pub fn rank_to_id(&self) -> &[u32] {
        &self.ids
    }

    /// The inverse: the rank of each id.
    #[must_use]
    pub fn id_to_rank(&self) -> &[u32] {
        &self.ranks
    }

    /// Moves the element of each id to its rank, in place, along the cycles of the permutation. It takes elements of
    /// any type; [`sort_by_rank_copy`](Self::sort_by_rank_copy) is several times faster for elements that can be
    /// copied.
    ///
    /// O(n), with one bit of scratch per element.
    ///
    /// # Errors
    /// [`PermutationError::Length`]; nothing is moved.
    pub fn sort_by_rank<T>(&mut self, items: &mut [T]) -> Result<(), PermutationError> {
        self.check_length(items.len())?;
        self.marks.clear();
        resize_with_headroom(&mut self.marks, items.len().div_ceil(WORD));
        for first in 0..items.len() {
            self.follow(items, first);
        }
        Ok(())
    }

    /// Moves all elements of the cycle that `first` lies on to their ranks, unless that has been done.
    fn follow<T>(&mut self, items: &mut [T], first: usize) {
        let mut rank = first;
        while self.mark(rank) {
            let source = self.ids[rank] as usize;
            if source == first {
                return;
            }
            items.swap(rank, source);
            rank = source;
        }
    }

    /// Marks a rank; true when it had no mark.
    fn mark(&mut self, rank: usize) -> bool {
        let (word, bit) = (&mut self.marks[rank / WORD], 1 << (rank % WORD));
        let unmarked = *word & bit == 0;
        *word |= bit;
        unmarked
    }

    /// As [`sort_by_rank`](Self::sort_by_rank), by way of a buffer and on several threads. The buffer becomes as long
    /// as `items`, and serves the next array of the same type; its contents mean nothing afterwards.
    ///
    /// # Errors
    /// [`PermutationError::Length`]; nothing is moved.
    pub fn sort_by_rank_copy<T: Copy + Send + Sync>(
        &self,
        items: &mut [T],
        buffer: &mut Vec<T>,
        threads: Threads<'_>,
    ) -> Result<(), PermutationError> {
        self.check_length(items.len())?;
        let Some(&any) = items.first() else { return Ok(()) };
        fill_with_headroom(buffer, items.len(), any);
        threads.run([SERIAL_BELOW; 2], items.len(), |workers| {
            workers.together(|| {
                workers.fill_blocks("gather", buffer, BLOCK, |first, block| {
                    let ids = &self.ids[first..first + block.len()];
                    block.iter_mut().zip(ids).for_each(|(slot, &id)| *slot = items[id as usize]);
                });
                workers.fill_blocks("copy", items, BLOCK, |first, block| {
                    block.copy_from_slice(&buffer[first..first + block.len()]);
                });
            });
        });
        Ok(())
    }

    /// Replaces ids by ranks, which are the ids of the same bodies once the arrays are sorted. A list of pairs is
    /// renumbered by way of `as_flattened_mut`, and may then have pairs with a > b.
    ///
    /// # Errors
    /// [`PermutationError::Ids`]; nothing is changed.
    pub fn renumber(&self, ids: &mut [u32]) -> Result<(), PermutationError> {
        if ids.iter().any(|&id| id as usize >= self.len()) {
            return Err(self.strangers(ids));
        }
        ids.iter_mut().for_each(|id| *id = self.ranks[*id as usize]);
        Ok(())
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        (self.ids.capacity() + self.ranks.capacity()) * size_of::<u32>() + self.marks.capacity() * size_of::<u64>()
    }

    fn check_length(&self, items: usize) -> Result<(), PermutationError> {
        let bodies = self.len();
        if items == bodies { Ok(()) } else { Err(PermutationError::Length { items, bodies }) }
    }

    #[cold]
    fn strangers(&self, ids: &[u32]) -> PermutationError {
        let strange = || (0..ids.len()).filter(|&at| ids[at] as usize >= self.len());
        let (count, first) = (strange().count(), strange().take(NAMED_OFFENDERS).collect());
        PermutationError::Ids { count, first, bodies: self.len() }
    }
}

//! Hits, which the kernel finds, and sinks, which take their pairs.

use core::hint::black_box;
use core::mem::{replace, take};

use jostle_core::prefetch::prefetch;
use jostle_core::scratch::{resize_with_headroom, with_headroom};
use jostle_core::sixteen::Ids;
use jostle_sets::prepare::job::Job;
use jostle_sets::simd::{LANES, Lanes, sixteen_mut};

/// Up to sixteen pairs found by one vector test.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    /// Place of a circle.
    pub(crate) circle: u32,
    pub(crate) leaf: u32,
    /// Bits 0 to 15: lanes of the leaf that overlap. Bits 16 to 20: how far the leaf was rotated against itself, or 0
    /// when it was tested against the circle. Bit 30: no lane is in doubt. Bit 31: the tree of the circle, 0 for the
    /// query tree; the leaf is of the other tree.
    pub(crate) lanes: u32,
}

/// The bit of [`Hit::lanes`] that holds the side of the circle.
const SIDE: u32 = 31;

/// The bit of [`Hit::lanes`] that says that all lanes are sure.
const SURE: u32 = 30;

impl Hit {
    /// The bits of lanes that overlap. A test that is no hit has none of them.
    pub(crate) const MASK: u32 = 0xffff;

    /// The [`Hit::lanes`] of a test of a circle of tree `side` against a leaf.
    #[inline(always)]
    pub(crate) fn lanes_between(side: usize, mask: u16) -> u32 {
        (side as u32) << SIDE | u32::from(mask)
    }

    /// The [`Hit::lanes`] of a test of a leaf with itself, lane i against lane `(i + rotation) % 16`.
    #[inline(always)]
    pub(crate) fn lanes_within(rotation: usize, mask: u16) -> u32 {
        (rotation as u32) << 16 | u32::from(mask)
    }

    /// The bit that says that all lanes are sure, if they are.
    #[inline(always)]
    pub(crate) fn sure(sure: bool) -> u32 {
        u32::from(sure) << SURE
    }

    #[inline(always)]
    pub(crate) fn mask(self) -> u16 {
        self.lanes as u16
    }

    /// The same hit with fewer lanes.
    #[inline(always)]
    pub(crate) fn with_mask(self, mask: u16) -> Self {
        Self { lanes: self.lanes & !u32::from(u16::MAX) | u32::from(mask), ..self }
    }

    /// Whether it is known that no lane is to be decided.
    #[inline(always)]
    pub(crate) fn is_sure(self) -> bool {
        self.lanes >> SURE & 1 == 1
    }

    #[inline(always)]
    pub(crate) fn side(self) -> usize {
        (self.lanes >> SIDE) as usize
    }

    #[inline(always)]
    pub(crate) fn circle(self) -> usize {
        self.circle as usize
    }

    #[inline(always)]
    pub(crate) fn leaf(self) -> usize {
        self.leaf as usize
    }

    #[inline(always)]
    pub(crate) fn rotation(self) -> usize {
        (self.lanes >> 16 & 31) as usize
    }

    /// Number of pairs.
    #[inline(always)]
    pub(crate) fn pairs(self) -> u32 {
        self.mask().count_ones()
    }
}

/// The ids of the bodies that hits name, and the order of two bodies in a pair.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    /// The ids by leaf, of the query tree and of the target tree.
    pub(crate) ids: [&'a [Ids]; 2],
    pub(crate) order: Order,
}

/// Which of two bodies comes first in their pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// The body with the lesser id.
    Lesser,
    /// The body of the query tree.
    QueryFirst,
    /// The body of the target tree.
    TargetFirst,
}

impl Order {
    /// The same order once the trees have changed places.
    pub(crate) fn swapped(self) -> Self {
        match self {
            Self::Lesser => Self::Lesser,
            Self::QueryFirst => Self::TargetFirst,
            Self::TargetFirst => Self::QueryFirst,
        }
    }
}

impl Names<'_> {
    #[inline(always)]
    fn circle(&self, hit: Hit) -> u32 {
        self.ids[hit.side()][hit.circle() / LANES].0[hit.circle() % LANES]
    }

    #[inline(always)]
    fn others(&self, hit: Hit) -> &Ids {
        &self.ids[1 - hit.side()][hit.leaf()]
    }

    /// Whether the circle of a hit comes second.
    #[inline(always)]
    fn swaps(&self, hit: Hit) -> bool {
        (self.order == Order::TargetFirst) != (hit.side() == 1)
    }

    /// The pair of one lane.
    #[inline(always)]
    pub(crate) fn pair(&self, hit: Hit, lane: usize) -> [u32; 2] {
        let others = &self.others(hit).0;
        let (one, other) = match hit.rotation() {
            0 => (self.circle(hit), others[lane]),
            rotation => (others[lane], others[(lane + rotation) % LANES]),
        };
        let swap = if self.order == Order::Lesser { one > other } else { self.swaps(hit) };
        if swap { [other, one] } else { [one, other] }
    }

    /// Writes the pairs of a hit, lanes ascending. Where all bodies are `OF_ONE_TREE`, the lesser id comes first.
    #[inline(always)]
    fn write<L: Lanes, const OF_ONE_TREE: bool>(&self, hit: Hit, out: &mut [[u32; 2]; LANES]) {
        let [own, _] = self.ids;
        let others = if OF_ONE_TREE { &own[hit.leaf()].0 } else { &self.others(hit).0 };
        if hit.rotation() != 0 {
            L::pairs_within(others, hit.rotation(), hit.mask(), out);
        } else if OF_ONE_TREE {
            L::pairs(own[hit.circle() / LANES].0[hit.circle() % LANES], others, hit.mask(), out);
        } else if self.order == Order::Lesser {
            L::pairs(self.circle(hit), others, hit.mask(), out);
        } else {
            L::pairs_across(self.circle(hit), others, self.swaps(hit), hit.mask(), out);
        }
    }
}

/// Gives the pairs of hits to a sink, in order: lanes ascending within each. Returns their number.
#[inline(always)]
pub(crate) fn emit<L: Lanes>(hits: impl Iterator<Item = Hit>, names: Names<'_>, sink: &mut dyn Sink) -> usize {
    // Each case has a loop of its own, with fewer branches.
    if core::ptr::eq(names.ids[0], names.ids[1]) && names.order == Order::Lesser {
        emit_named::<L, true>(hits, names, sink)
    } else {
        emit_named::<L, false>(hits, names, sink)
    }
}

#[inline(always)]
fn emit_named<L: Lanes, const OF_ONE_TREE: bool>(
    hits: impl Iterator<Item = Hit>,
    names: Names<'_>,
    sink: &mut dyn Sink,
) -> usize {
    let mut room = sink.room();
    let (mut len, mut before) = (0, 0);
    for hit in hits {
        if len + LANES > room.len() {
            sink.took(len);
            before += len;
            (room, len) = (sink.room(), 0);
        }
        names.write::<L, OF_ONE_TREE>(hit, sixteen_mut(room, len));
        len += hit.pairs() as usize;
    }
    sink.took(len);
    before + len
}

/// Takes the pairs of a block in their order. A kernel calls a sink once for hundreds of pairs, so that kernels are
/// compiled for all sinks together.
pub(crate) trait Sink {
    /// Whether pairs are wanted at all; they are counted in any case.
    fn wants_pairs(&self) -> bool {
        true
    }

    /// Begins a block of a job of the search. The last argument says whether all blocks before it have been begun.
    fn begin(&mut self, _block: usize, _job: usize, _all_before: bool) {}

    /// Whether so many pairs wait for earlier blocks that the worker is to join those blocks first.
    fn is_full(&self) -> bool {
        false
    }

    /// Ends the block.
    fn end(&mut self) {}

    /// Room for the next pairs: [`LANES`] of them at least.
    fn room(&mut self) -> &mut [[u32; 2]];

    /// Takes the first `len` pairs of the room.
    fn took(&mut self, len: usize);
}

/// A list of pairs, and a sink that appends to it. The first `len` entries are pairs and the others are room: what was
/// written once need not be cleared.
#[derive(Debug, Clone, Default)]
pub(crate) struct PairList {
    list: Vec<[u32; 2]>,
    len: usize,
    /// Once a sink has taken more than `max` pairs, or memory is short, pairs that do not fit are counted and dropped.
    max: usize,
    dropped: u64,
}

/// The least room of a list that pairs are appended to.
const LEAST: usize = 256;

/// Without memory for so many pairs, 16 KiB, no search goes on.
const LITTLE: usize = 1 << 11;

/// Whether the system has so many bytes. None of them is touched.
pub(crate) fn has_memory_for(bytes: usize) -> bool {
    let mut memory = Vec::<u8>::new();
    // What nobody looks at need not be asked for.
    bytes == 0 || memory.try_reserve_exact(bytes).is_ok() && black_box(&memory).is_empty()
}

/// Makes a list of pairs longer; false where memory does not suffice.
pub(crate) fn lengthen(list: &mut Vec<[u32; 2]>, len: usize) -> bool {
    if len > LITTLE && list.try_reserve(len.saturating_sub(list.len())).is_err() {
        return false;
    }
    list.resize(len, [0; 2]);
    true
}

impl PairList {
    pub(crate) fn with_capacity(pairs: usize) -> Self {
        Self { list: vec![[0; 2]; pairs], ..Self::default() }
    }

    pub(crate) fn pairs(&self) -> &[[u32; 2]] {
        &self.list[..self.len]
    }

    pub(crate) fn pairs_mut(&mut self) -> &mut [[u32; 2]] {
        &mut self.list[..self.len]
    }

    /// Prefetches the memory of as many pairs as the list has had.
    pub(crate) fn prefetch(&self) {
        prefetch(self.pairs());
    }

    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Empties the list, which is to take `max` pairs at most.
    pub(crate) fn begin(&mut self, max: usize) {
        (self.len, self.max, self.dropped) = (0, max, 0);
    }

    /// How many pairs the list has taken and dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Takes the pairs out of the list. The next list has room for as many pairs: in the memory of `other`, or, where
    /// that is too short, in memory that nobody has touched yet.
    pub(crate) fn replace(&mut self, other: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
        let len = take(&mut self.len);
        let mut pairs = replace(&mut self.list, other);
        if self.list.capacity() < len {
            self.list = vec![[0; 2]; with_headroom(len)];
        }
        self.list.resize(self.list.capacity(), [0; 2]);
        pairs.truncate(len);
        pairs
    }

    pub(crate) fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<[u32; 2]>()
    }

    /// The pairs and the room behind them.
    pub(crate) fn room_of_all(&mut self) -> &mut [[u32; 2]] {
        &mut self.list
    }

    /// The number of pairs and room together.
    pub(crate) fn capacity(&self) -> usize {
        self.list.len()
    }

    /// Makes it a list of `len` pairs, and leaves what stood in its room as it was. The list then has room for
    /// [`LANES`] more pairs, which a single writer needs.
    pub(crate) fn set_len(&mut self, len: usize) {
        if self.list.len() < len + LANES {
            resize_with_headroom(&mut self.list, len + LANES);
            self.list.resize(self.list.capacity(), [0; 2]);
        }
        self.len = len;
    }

    /// As [`PairList::set_len`]; false where memory does not suffice.
    pub(crate) fn try_set_len(&mut self, len: usize) -> bool {
        let bytes = with_headroom(len + LANES).saturating_mul(size_of::<[u32; 2]>());
        let suffices = self.list.len() >= len + LANES || has_memory_for(bytes);
        if suffices {
            self.set_len(len);
        }
        suffices
    }

    #[cold]
    fn grow(&mut self) {
        let len = (2 * self.list.len()).max(LEAST);
        if self.len > self.max || !lengthen(&mut self.list, len) {
            self.dropped += take(&mut self.len) as u64;
        }
    }
}

impl Sink for PairList {
    #[inline(always)]
    fn room(&mut self) -> &mut [[u32; 2]] {
        if self.len + LANES > self.list.len() {
            self.grow();
        }
        &mut self.list[self.len..]
    }

    #[inline(always)]
    fn took(&mut self, len: usize) {
        self.len += len;
    }
}

/// Counts the pairs, and takes none.
pub(crate) struct Count;

impl Sink for Count {
    fn wants_pairs(&self) -> bool {
        false
    }

    #[inline(always)]
    fn room(&mut self) -> &mut [[u32; 2]] {
        &mut []
    }

    #[inline(always)]
    fn took(&mut self, _len: usize) {}
}

/// Pairs handed to a fold at a time, at most.
const BATCH: usize = 256;

/// Folds the pairs into an accumulator.
pub(crate) struct Fold<'a, A, F> {
    pub(crate) all: A,
    pub(crate) op: &'a F,
    jobs: &'a [Job],
    /// The job of the current pairs.
    job: Job,
    batch: [[u32; 2]; BATCH],
}

impl<'a, A, F> Fold<'a, A, F> {
    pub(crate) fn new(all: A, jobs: &'a [Job], op: &'a F) -> Self {
        Self { all, op, jobs, job: Job::default(), batch: [[0; 2]; BATCH] }
    }
}

impl<A, F: Fn(&mut A, Job, u32, u32)> Sink for Fold<'_, A, F> {
    fn begin(&mut self, _block: usize, job: usize, _all_before: bool) {
        self.job = self.jobs[job];
    }

    #[inline(always)]
    fn room(&mut self) -> &mut [[u32; 2]] {
        &mut self.batch
    }

    #[inline(always)]
    fn took(&mut self, len: usize) {
        for &[a, b] in &self.batch[..len] {
            (self.op)(&mut self.all, self.job, a, b);
        }
    }
}

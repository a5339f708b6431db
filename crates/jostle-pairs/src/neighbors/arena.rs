//! Keeps rows until all of them are found and their places are known.
//!
//! Rows are found in order of rank and wanted in order of id: a million jumps through memory that no cache holds. So
//! each task deals its rows to buckets of successive ids, as one pass of a radix sort would, and fills a chunk of
//! memory for each bucket, front to back. Later a task takes all rows of a bucket, which fit in its cache, and puts
//! them in order.
//!
//! In a chunk, a row is the id of its body, its length, the ids of its neighbours, and then the bits of their distances
//! where those are asked for. [`END`] stands after the last row.

use core::hint::black_box;
use core::ops::Range;
use core::sync::atomic::{AtomicUsize, Ordering};

use jostle_core::disjoint::Disjoint;
use jostle_core::scratch::reserve;
use jostle_sets::simd::LANES;

/// Numbers in a chunk; a longer row has several chunks.
pub(crate) const CHUNK: usize = 1 << 11;

/// The number of ids of a bucket, as a power of two: the rows of a bucket should fit in a cache of a quarter of a
/// megabyte.
const BUCKET_BITS: u32 = 12;

/// The most buckets that are filled side by side; more ids make buckets larger instead.
const BUCKETS: usize = 1 << 10;

/// No id: stands after the last row of a chunk.
pub(crate) const END: u32 = u32::MAX;

/// No bucket: marks a chunk that continues the row of the chunk before.
const CONTINUED: u32 = u32::MAX;

/// Numbers before the ids of a row.
const HEADER: usize = 2;

/// Numbers after a row that may be overwritten while the row is put there, and that are prefetched.
pub(crate) const SPARE: usize = 4 * LANES;

/// Numbers that a row takes beside its ids: the header, and its share of the ends of chunks that have no room for the
/// next row.
pub(crate) const ROW_OVERHEAD: usize = HEADER + 1;

/// Numbers that `neighbors` neighbours take.
#[inline(always)]
pub(crate) fn numbers_of(neighbors: usize, with_distances: bool) -> usize {
    if with_distances { 2 * neighbors } else { neighbors }
}

/// How ids are dealt to buckets.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Buckets {
    pub(crate) ids: usize,
    bits: u32,
}

impl Buckets {
    pub(crate) fn of(ids: usize) -> Self {
        let mut bits = BUCKET_BITS;
        while ids >> bits >= BUCKETS {
            bits += 1;
        }
        Self { ids, bits }
    }

    pub(crate) fn count(self) -> usize {
        self.ids.div_ceil(1 << self.bits)
    }

    #[inline(always)]
    fn bucket(self, id: u32) -> usize {
        (id >> self.bits) as usize
    }

    /// The ids of a bucket.
    pub(crate) fn ids_of(self, bucket: usize) -> Range<usize> {
        bucket << self.bits..((bucket + 1) << self.bits).min(self.ids)
    }
}

/// Memory from which tasks take chunks.
#[derive(Clone, Copy)]
pub(crate) struct Arena<'a> {
    pub(crate) buckets: Buckets,
    pub(crate) numbers: &'a Disjoint<'a, u32>,
    pub(crate) with_distances: bool,
    /// The bucket of each chunk.
    pub(crate) owners: &'a Disjoint<'a, u32>,
    /// How many chunks tasks have taken; more than there are, when there are too few.
    pub(crate) taken: &'a AtomicUsize,
}

/// The chunks that one task deals rows to.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    /// What is left of the chunk of each bucket.
    left: Vec<Range<usize>>,
    /// Ids in the rows of each bucket.
    pub(crate) sums: Vec<usize>,
}

impl Streams {
    /// Makes ready for `buckets` buckets, with nothing dealt.
    pub(crate) fn begin(&mut self, buckets: usize) {
        self.left.clear();
        self.left.resize(buckets, 0..0);
        self.sums.clear();
        self.sums.resize(buckets, 0);
    }

    /// Calls [`Streams::begin`] unless it was called: scratch may be created after the preparation.
    pub(crate) fn ready(&mut self, buckets: usize) {
        if self.left.len() != buckets {
            self.begin(buckets);
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.left.capacity() * size_of::<Range<usize>>() + self.sums.capacity() * size_of::<usize>()
    }

    /// Deals a row. Returns room for its ids, for their distances if those are asked for, and for [`SPARE`] more
    /// numbers. The caller writes [`END`] where the row ends.
    #[inline(always)]
    #[allow(unsafe_code, reason = "each task writes to chunks of its own")]
    pub(crate) fn deal<'a>(&'a mut self, arena: Arena<'a>, id: u32, len: usize) -> Option<&'a mut [u32]> {
        let bucket = arena.buckets.bucket(id);
        self.sums[bucket] += len;
        let left = &mut self.left[bucket];
        let numbers = numbers_of(len, arena.with_distances);
        let room = HEADER + numbers + SPARE;
        if left.len() < room && !arena.take(bucket, room, left) {
            return None;
        }
        let ids = left.start + HEADER..left.start + room;
        // SAFETY: chunks are disjoint, since each begins where the chunks taken before it end, and `take` has seen that
        // they lie within the arena. What is left of a chunk begins after what has been dealt.
        unsafe {
            let header = arena.numbers.range(left.start..ids.start);
            (header[0], header[1]) = (id, len as u32);
            left.start += HEADER + numbers;
            Some(arena.numbers.range(ids))
        }
    }
}

impl Arena<'_> {
    /// Takes chunks for a bucket, with room for `room` numbers at least; false when there are none left.
    #[cold]
    #[allow(unsafe_code, reason = "each chunk is taken by one task")]
    fn take(self, bucket: usize, room: usize, left: &mut Range<usize>) -> bool {
        let chunks = room.div_ceil(CHUNK);
        let first = self.taken.fetch_add(chunks, Ordering::Relaxed);
        if first + chunks > self.owners.len() {
            return false;
        }
        for chunk in 0..chunks {
            let owner = if chunk == 0 { bucket as u32 } else { CONTINUED };
            // SAFETY: no other task has the chunks that were just taken, and their numbers are below the number of
            // chunks.
            unsafe { self.owners.write(first + chunk, owner) };
        }
        *left = first * CHUNK..(first + chunks) * CHUNK;
        true
    }
}

/// The chunks of each bucket, once all are taken.
#[derive(Debug, Default)]
pub(crate) struct Chunks {
    /// Where the chunks of each bucket end in `list`; then how many chunks there are.
    starts: Vec<usize>,
    list: Vec<u32>,
}

impl Chunks {
    /// Sorts the chunks by their bucket, by counting.
    pub(crate) fn sort(&mut self, owners: &[u32], buckets: usize) {
        let Self { starts, list } = self;
        starts.clear();
        starts.resize(buckets + 1, 0);
        let owned = || owners.iter().enumerate().filter(|&(_, &owner)| owner != CONTINUED);
        owned().for_each(|(_, &bucket)| starts[bucket as usize + 1] += 1);
        for bucket in 0..buckets {
            starts[bucket + 1] += starts[bucket];
        }
        list.resize(owners.len(), 0);
        // Each start moves to the end of its bucket, which is where the next bucket begins.
        for (chunk, &bucket) in owned() {
            list[starts[bucket as usize]] = chunk as u32;
            starts[bucket as usize] += 1;
        }
    }

    /// Where the numbers of each chunk of a bucket begin.
    pub(crate) fn of(&self, bucket: usize) -> impl Iterator<Item = usize> {
        let start = if bucket == 0 { 0 } else { self.starts[bucket - 1] };
        self.list[start..self.starts[bucket]].iter().map(|&chunk| chunk as usize * CHUNK)
    }

    pub(crate) fn reserve(&mut self, chunks: usize, buckets: usize) {
        reserve(&mut self.list, chunks);
        reserve(&mut self.starts, buckets + 1);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.starts.capacity() * size_of::<usize>() + self.list.capacity() * size_of::<u32>()
    }
}

/// Where a row lies in the arena.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowPlace {
    pub(crate) start: usize,
    pub(crate) len: usize,
}

/// Numbers in a line of memory.
const LINE: usize = 16;

/// Brings a chunk into cache: reads a number of each line, and no read waits for another. From row to row each read
/// would wait, since only the length of a row says where the next row begins.
#[inline(always)]
fn bring(numbers: &[u32]) {
    black_box(numbers.chunks(LINE).fold(0, |all, line| all ^ line[0]));
}

/// Notes in `places` where each row of the chunk at `at` lies, by its id less `first`.
pub(crate) fn note_rows(numbers: &[u32], mut at: usize, with_distances: bool, first: usize, places: &mut [RowPlace]) {
    bring(&numbers[at..numbers.len().min(at + CHUNK)]);
    while let [id, len, ..] = numbers[at..]
        && id != END
    {
        let len = len as usize;
        places[id as usize - first] = RowPlace { start: at + HEADER, len };
        at += HEADER + numbers_of(len, with_distances);
    }
}

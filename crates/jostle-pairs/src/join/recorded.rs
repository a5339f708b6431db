//! The tests of a join that hit, kept to be made again: of bodies that have moved since.

use crate::join::hits::{Hit, PairList, Sink};
use crate::simd::LANES;

/// This bit in the number of a leaf says that it is tested against itself.
const WITHIN: u32 = 1 << 30;

/// Where the side of a circle stands in the number of the leaf that it is tested against.
const SIDE: u32 = 31;

/// Which tests a join made that hit, in their order, by block.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorded {
    /// The place of a circle, and a leaf.
    pub(crate) tests: PairList,
    /// Where those of each block begin, and their number at the end.
    pub(crate) starts: Vec<usize>,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Test {
    /// A leaf against itself.
    Within(usize),
    /// A circle of a side against a leaf of the other.
    Between { side: usize, circle: u32, leaf: u32 },
}

impl Recorded {
    pub(crate) fn bytes(&self) -> usize {
        self.tests.bytes() + self.starts.capacity() * size_of::<usize>()
    }

    pub(crate) fn block(&self, block: usize) -> &[[u32; 2]] {
        &self.tests.pairs()[self.starts[block]..self.starts[block + 1]]
    }
}

impl Test {
    #[inline(always)]
    pub(crate) fn read([circle, leaf]: [u32; 2]) -> Self {
        if leaf & WITHIN != 0 {
            return Self::Within((leaf & !WITHIN) as usize);
        }
        Self::Between { side: (leaf >> SIDE) as usize, circle, leaf: leaf & !(1 << SIDE) }
    }
}

/// Takes hits for pairs of numbers, and hands those on.
pub(crate) struct Recorder<'s> {
    to: &'s mut dyn Sink,
    /// The leaf that was noted last as against itself.
    within: Option<usize>,
}

impl<'s> Recorder<'s> {
    pub(crate) fn new(to: &'s mut dyn Sink) -> Self {
        Self { to, within: None }
    }
}

impl Sink for Recorder<'_> {
    fn wants_hits(&self) -> bool {
        true
    }

    fn begin(&mut self, block: usize, job: usize) {
        self.within = None;
        self.to.begin(block, job);
    }

    fn end(&mut self) {
        self.to.end();
    }

    fn room(&mut self) -> &mut [[u32; 2]] {
        self.to.room()
    }

    fn took(&mut self, len: usize) {
        self.to.took(len);
    }

    fn take_hits(&mut self, hits: &[Hit]) {
        for hits in hits.chunks(LANES) {
            let (room, mut len) = (self.to.room(), 0);
            for hit in hits {
                let leaf = hit.leaf() as u32;
                if hit.rotation() == 0 {
                    room[len] = [hit.circle() as u32, leaf | (hit.side() as u32) << SIDE];
                } else if self.within.replace(hit.leaf()) == Some(hit.leaf()) {
                    continue;
                } else {
                    room[len] = [0, leaf | WITHIN];
                }
                len += 1;
            }
            self.to.took(len);
        }
    }
}

//! One join of a search: of which sets, and at which image.

use core::ops::Range;

/// One join of a search: the trees of two sets, or one tree with itself, the second seen at an image by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Job {
    pub sets: [u32; 2],
    pub image: u32,
}

impl Job {
    /// Whether the bodies of a pair are of the same set.
    #[inline(always)]
    pub fn is_within(self) -> bool {
        self.sets[0] == self.sets[1]
    }

    /// Whether two bodies that the job has found change places in their pair. The second body is the one at the image;
    /// within a set the lesser id comes first.
    #[inline(always)]
    pub fn swaps(self, a: u32, b: u32) -> bool {
        b < a && self.is_within()
    }

    /// Whether bodies of some pairs that the job finds may change places: see [`Job::swaps`].
    #[inline(always)]
    pub fn turns(self) -> bool {
        self.image != 0 && self.is_within()
    }

    /// The pair of two bodies that the job has found.
    #[inline(always)]
    pub fn pair(self, a: u32, b: u32) -> [u32; 2] {
        if self.swaps(a, b) { [b, a] } else { [a, b] }
    }
}

/// The jobs of a list, and where the pairs of each end.
#[derive(Debug, Clone, Copy)]
pub struct JobsOf<'a> {
    pub jobs: &'a [Job],
    pub ends: &'a [usize],
}

impl JobsOf<'_> {
    /// Calls `visit` for each job among `count` pairs from number `first` on, with the range of its pairs, counted from
    /// `first`, and the job.
    pub fn each(&self, first: usize, count: usize, mut visit: impl FnMut(Range<usize>, Job)) {
        self.each_number(first, count, |range, job| visit(range, self.jobs[job]));
    }

    /// The same, with the number of each job.
    pub fn each_number(&self, first: usize, count: usize, mut visit: impl FnMut(Range<usize>, usize)) {
        let (mut job, mut at) = (self.ends.partition_point(|&end| end <= first), 0);
        while at < count {
            let end = (self.ends[job] - first).min(count);
            if at < end {
                visit(at..end, job);
            }
            (job, at) = (job + 1, end);
        }
    }
}

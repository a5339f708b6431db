//! Tells by which job each neighbour was found, in rows that were made of pairs.

use jostle_sets::prepare::job::Job;

/// The job by which a neighbour was found, by its number, twice; one more if the row is that of the second body, which
/// is seen at an image.
#[derive(Clone, Copy)]
pub(super) struct Told(u32);

impl Told {
    pub(super) fn new(job: usize, turns: bool) -> Self {
        Self(2 * job as u32 + u32::from(turns))
    }

    pub(super) fn number(self) -> u32 {
        self.0
    }
}

/// By which of these jobs each neighbour was found, as the lower half of a number says: see [`Told`].
#[derive(Clone, Copy)]
pub(super) struct ToldOf<'a> {
    pub(super) jobs: &'a [Job],
    pub(super) numbers: &'a [u64],
}

impl ToldOf<'_> {
    /// Returns the job that a number tells, and whether the row is that of the second body.
    #[inline(always)]
    pub(super) fn job(&self, number: u64) -> (Job, bool) {
        let number = number as u32;
        (self.jobs[(number / 2) as usize], number % 2 == 1)
    }

    /// Returns the number of the image that a number tells, and whether the row is that of the second body.
    #[inline(always)]
    pub(super) fn image(&self, number: u64) -> (u32, bool) {
        let (job, turns) = self.job(number);
        (job.image, turns)
    }
}

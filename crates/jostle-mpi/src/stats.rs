//! What a search over ranks did on this one.

use std::time::Duration;

/// What a search did on this rank.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DistributedStats {
    /// Bodies of this rank that were searched.
    pub bodies: usize,
    /// Copies of bodies of other ranks.
    pub ghosts: usize,
    /// Ranks whose covers this one has seen.
    pub neighbors: usize,
    /// Bytes that this rank has sent as ghosts, and as its cover.
    pub bytes: u64,
    /// Pairs that this rank reports, those with ghosts among them.
    pub pairs: u64,
    /// See [`Stages`].
    pub time: Stages,
}

/// How long each stage took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stages {
    /// Where the curve is cut; of [`find`](crate::DistributedFinder::find) alone.
    pub decompose: Duration,
    /// Bodies on their way to their owners; of [`find`](crate::DistributedFinder::find) alone.
    pub migrate: Duration,
    /// A look at each body, and who the neighbours are: waiting for other ranks included.
    pub survey: Duration,
    /// Which bodies others have to know; and the ghosts' way here, less the time of the local search, which runs meanwhile.
    pub halo: Duration,
    /// Pairs of bodies of this rank.
    pub local: Duration,
    /// Pairs of bodies of this rank and ghosts.
    pub remote: Duration,
}

impl Stages {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.decompose + self.migrate + self.survey + self.halo + self.local + self.remote
    }
}

//! What a search over ranks did on this rank.

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
    /// Bytes that this rank has sent as ghosts.
    pub bytes: u64,
    /// Pairs that this rank reports, pairs with ghosts included.
    pub pairs: u64,
    /// See [`Stages`].
    pub time: Stages,
}

/// How long each stage took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stages {
    /// Cutting the curve; in [`find`](crate::DistributedFinder::find) alone.
    pub decompose: Duration,
    /// Leading bodies to their owners; in [`find`](crate::DistributedFinder::find) alone.
    pub migrate: Duration,
    /// Looking at each body and finding the neighbours, with all waiting for other ranks.
    pub survey: Duration,
    /// Finding the bodies that other ranks must know, and exchanging ghosts, less the time of the local search, which
    /// runs meanwhile.
    pub halo: Duration,
    /// Finding pairs of bodies of this rank.
    pub local: Duration,
    /// Finding pairs of bodies of this rank with ghosts.
    pub remote: Duration,
}

impl Stages {
    /// The time of all stages together.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.decompose + self.migrate + self.survey + self.halo + self.local + self.remote
    }
}

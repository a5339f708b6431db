//! How ranks talk: the few operations that distribution needs, and their two implementations.

#[cfg(feature = "mpi")]
pub(crate) mod mpi;
pub(crate) mod threads;

/// Messages of bytes, each with the rank that it goes to or comes from.
pub type Messages = Vec<(u32, Vec<u8>)>;

/// Ranks that talk to each other. Every method is collective: all ranks call the same ones in the same order.
///
/// Implementations: [`ThreadRanks`](crate::ThreadRanks), ranks that are threads of one process, and, with the feature
/// `mpi`, `MpiRanks`.
pub trait Transport {
    /// The number of this rank, from 0.
    fn rank(&self) -> u32;

    /// How many ranks there are.
    fn size(&self) -> u32;

    /// Returns once all ranks have come here.
    fn barrier(&self);

    /// Sends messages, at most one to each rank, and returns the messages for this rank in ascending order of their
    /// senders. Ranks need not know beforehand who sends to whom, and a pair of ranks without a message costs nothing.
    /// `meanwhile` runs on this thread while messages travel.
    ///
    /// # Panics
    /// When a message is for a rank that does not exist, or is the second one for the same rank.
    fn exchange<R>(&self, outgoing: Messages, meanwhile: impl FnOnce() -> R) -> (Messages, R);

    /// Returns the bytes that every rank gives, in the order of ranks.
    fn all_gather(&self, mine: &[u8]) -> Vec<Vec<u8>>;

    /// Replaces each of `values` by the greatest that a rank gives.
    fn max(&self, values: &mut [f64]);

    /// Replaces each of `values` by its sum over all ranks. Values are whole numbers, so that no order of adding them
    /// matters.
    fn sum(&self, values: &mut [u64]);

    /// Returns the sum of the values that ranks before this one give: an exclusive scan.
    fn scan(&self, value: u64) -> u64;

    /// Sends one message to every rank and returns one from every rank, both in the order of ranks. Empty messages are
    /// not sent.
    fn all_to_all(&self, outgoing: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let messages = (0..).zip(outgoing).filter(|(_, bytes)| !bytes.is_empty()).collect();
        let mut incoming = vec![Vec::new(); self.size() as usize];
        for (from, bytes) in self.exchange(messages, || ()).0 {
            incoming[from as usize] = bytes;
        }
        incoming
    }

    /// Returns the bytes that rank `root` gives, on every rank.
    fn broadcast(&self, root: u32, mine: &[u8]) -> Vec<u8> {
        let mine = if self.rank() == root { mine } else { &[] };
        self.all_gather(mine).swap_remove(root as usize)
    }
}

/// Panics unless all messages can be sent.
pub(crate) fn check_addresses(outgoing: &Messages, size: u32) {
    let mut taken = vec![false; size as usize];
    for &(to, _) in outgoing {
        assert!(to < size, "a message for rank {to}, but there are {size} ranks");
        assert!(!core::mem::replace(&mut taken[to as usize], true), "two messages for rank {to} in one exchange");
    }
}

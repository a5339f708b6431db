//! Ranks of MPI.

use core::cell::Cell;
use core::fmt;
use std::io::{self, Write};
use std::thread;

use mpi::Tag;
use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::request::multiple_scope;
use mpi::topology::{Communicator, SimpleCommunicator};
use mpi::traits::{CommunicatorCollectives, Destination, Equivalence, Source};

use super::{Messages, Transport, check_addresses};

/// The longest piece of a message, in bytes. Longer messages are cut: MPI counts by 31 bits.
const PIECE: usize = 1 << 30;

/// The memory that an empty message points to.
static NONE: [u8; 1] = [0];

/// A rank of an MPI program, on a communicator of its own, so that its messages never meet the host's.
///
/// A rank that panics while it has an `MpiRanks` aborts the whole program: the other ranks would wait for it without
/// end. Drop it before MPI is finalised.
///
/// ```no_run
/// use jostle_mpi::{MpiRanks, Transport};
///
/// let universe = mpi::initialize().expect("MPI begins once");
/// let ranks = MpiRanks::new(&universe.world());
/// println!("rank {} of {}", ranks.rank(), ranks.size());
/// ```
pub struct MpiRanks {
    communicator: SimpleCommunicator,
    piece: usize,
    /// The tag of the next exchange: 0 or 1. A rank may have ended an exchange, and begun the next one, while another
    /// rank is still in the first. It cannot be two exchanges ahead.
    round: Cell<Tag>,
}

impl fmt::Debug for MpiRanks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MpiRanks").field("rank", &self.rank()).field("size", &self.size()).finish_non_exhaustive()
    }
}

impl MpiRanks {
    /// Duplicates the communicator of a host, and returns this rank of it. Collective.
    #[must_use]
    pub fn new(host: &impl Communicator) -> Self {
        Self { communicator: host.duplicate(), piece: PIECE, round: Cell::new(0) }
    }

    /// Cuts messages into pieces of at most `bytes` bytes, 2^30 by default: for tests.
    ///
    /// # Panics
    /// When `bytes` is 0 or more than 2^30.
    #[must_use]
    pub fn with_pieces(mut self, bytes: usize) -> Self {
        assert!((1..=PIECE).contains(&bytes), "pieces of {bytes} bytes: at least one, and 2^30 at most");
        self.piece = bytes;
        self
    }

    /// Receives a message if one has come. Returns whether one had.
    fn receive(&self, tag: Tag, incoming: &mut [Option<Vec<u8>>]) -> bool {
        let probed = self.communicator.any_process().immediate_matched_probe_with_tag(tag);
        let Some((message, status)) = probed else { return false };
        let mut bytes = vec![0_u8; status.count(u8::equivalent_datatype()) as usize];
        message.matched_receive_into(bytes.as_mut_slice());
        // Pieces come in the order in which they were sent.
        match &mut incoming[status.source_rank() as usize] {
            Some(before) => before.append(&mut bytes),
            none => *none = Some(bytes),
        }
        true
    }
}

impl Drop for MpiRanks {
    fn drop(&mut self) {
        if thread::panicking() {
            // In one piece, and whole before the abort: what `mpirun` says of that would come between the pieces.
            let told = format!("rank {} has panicked: all ranks are aborted\n", self.rank());
            let _ = io::stderr().write_all(told.as_bytes());
            self.communicator.abort(101);
        }
    }
}

impl Transport for MpiRanks {
    fn rank(&self) -> u32 {
        self.communicator.rank() as u32
    }

    fn size(&self) -> u32 {
        self.communicator.size() as u32
    }

    fn barrier(&self) {
        self.communicator.barrier();
    }

    /// Uses non-blocking consensus: T. Hoefler, C. Siebert and A. Lumsdaine, "Scalable communication protocols for
    /// dynamic sparse data exchange" (2010). Each send ends only when it is received. A rank whose sends have all ended
    /// enters a barrier that does not block. Once that barrier has been passed, no message is on its way.
    fn exchange<R>(&self, outgoing: Messages, meanwhile: impl FnOnce() -> R) -> (Messages, R) {
        check_addresses(&outgoing, self.size());
        let tag = self.round.replace(1 - self.round.get());
        let mut pieces: Vec<(u32, &[u8])> = Vec::new();
        for (to, bytes) in &outgoing {
            if bytes.is_empty() {
                pieces.push((*to, &[]));
            }
            pieces.extend(bytes.chunks(self.piece).map(|piece| (*to, piece)));
        }
        let mut incoming = vec![None; self.size() as usize];
        let result = multiple_scope(pieces.len(), |scope, sends| {
            for &(to, piece) in &pieces {
                let to = self.communicator.process_at_rank(to as i32);
                sends.add(to.immediate_synchronous_send_with_tag(scope, piece, tag));
            }
            let result = meanwhile();
            let (mut barrier, mut sent) = (None, Vec::new());
            loop {
                let any = self.receive(tag, &mut incoming);
                barrier = match barrier {
                    None if sends.test_all(&mut sent) => Some(self.communicator.immediate_barrier()),
                    None => None,
                    Some(request) => match mpi::request::Request::test(request) {
                        Ok(_) => break,
                        Err(request) => Some(request),
                    },
                };
                if !any {
                    // There may be more ranks than cores.
                    thread::yield_now();
                }
            }
            result
        });
        let messages = (0..).zip(incoming).filter_map(|(from, bytes)| Some((from, bytes?)));
        (messages.collect(), result)
    }

    fn all_gather(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        let mut counts = vec![0_u64; self.size() as usize];
        self.communicator.all_gather_into(&(mine.len() as u64), counts.as_mut_slice());
        let all: u64 = counts.iter().sum();
        if all > PIECE as u64 {
            return self.all_to_all(vec![mine.to_vec(); self.size() as usize]);
        }
        // An empty vector's pointer is MPI_IN_PLACE. So the buffer has a byte more than needed, and an empty `mine`
        // points to `NONE`.
        let mine = if mine.is_empty() { &NONE[..0] } else { mine };
        let mut bytes = vec![0_u8; all as usize + 1];
        let counts: Vec<i32> = counts.into_iter().map(|count| count as i32).collect();
        let starts: Vec<i32> = counts
            .iter()
            .scan(0, |next, count| {
                let start = *next;
                *next += count;
                Some(start)
            })
            .collect();
        let mut parts = PartitionMut::new(bytes.as_mut_slice(), counts.as_slice(), starts.as_slice());
        self.communicator.all_gather_varcount_into(mine, &mut parts);
        let mut rest = bytes.as_slice();
        let part = |&count: &i32| {
            let (part, others) = rest.split_at(count as usize);
            rest = others;
            part.to_vec()
        };
        counts.iter().map(part).collect()
    }

    fn max(&self, values: &mut [f64]) {
        if !values.is_empty() {
            let mine = values.to_vec();
            self.communicator.all_reduce_into(mine.as_slice(), values, SystemOperation::max());
        }
    }

    fn sum(&self, values: &mut [u64]) {
        if !values.is_empty() {
            let mine = values.to_vec();
            self.communicator.all_reduce_into(mine.as_slice(), values, SystemOperation::sum());
        }
    }

    fn scan(&self, value: u64) -> u64 {
        let mut before = 0_u64;
        self.communicator.exclusive_scan_into(&value, &mut before, SystemOperation::sum());
        // MPI does not say what it leaves in `before` on the first rank.
        if self.rank() == 0 { 0 } else { before }
    }
}

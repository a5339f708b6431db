//! Ranks as threads of one process: for tests, for models of many ranks, and for machines without MPI.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::wire;

use super::{Messages, Transport, check_addresses};

/// Stack of a rank's thread: small, so that many ranks fit one machine.
const STACK: usize = 4 << 20;

/// One rank of several, each a thread of this process. Ranks share nothing but the messages that they send.
///
/// ```
/// use jostle_mpi::{ThreadRanks, Transport};
///
/// let sums = ThreadRanks::run(3, |ranks| ranks.scan(10));
/// assert_eq!(sums, [0, 10, 20]);
/// ```
#[derive(Debug)]
pub struct ThreadRanks {
    rank: u32,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    size: u32,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Ranks that wait at the barrier, and how many barriers have been passed.
    waiting: u32,
    passed: u64,
    /// The first rank that has panicked.
    fallen: Option<u32>,
    /// Messages for each rank, of an exchange that all ranks take part in.
    boxes: Vec<Messages>,
    gathered: Vec<Vec<u8>>,
    /// Ranks whose values are in the current reduction, and that have not taken its result yet.
    reducing: u32,
    greatest: Vec<f64>,
    sums: Vec<u64>,
}

impl ThreadRanks {
    /// Runs `work` as each of `size` ranks, each on a thread of its own, and returns the results of all ranks in order.
    ///
    /// # Panics
    /// With the panic of the first rank that panics. The other ranks, which would wait for it, are ended.
    pub fn run<R: Send>(size: u32, work: impl Fn(&Self) -> R + Sync) -> Vec<R> {
        let state = State {
            boxes: vec![Vec::new(); size as usize],
            gathered: vec![Vec::new(); size as usize],
            ..State::default()
        };
        let shared = Arc::new(Shared { size, state: Mutex::new(state), changed: Condvar::new() });
        let work = &work;
        let results: Vec<_> = thread::scope(|scope| {
            let start = |rank| {
                let ranks = Self { rank, shared: Arc::clone(&shared) };
                let body = move || {
                    let done = catch_unwind(AssertUnwindSafe(|| work(&ranks)));
                    if done.is_err() {
                        ranks.state().fallen.get_or_insert(rank);
                        ranks.shared.changed.notify_all();
                    }
                    done
                };
                thread::Builder::new().stack_size(STACK).spawn_scoped(scope, body).expect("a thread for each rank")
            };
            let threads: Vec<_> = (0..size).map(start).collect();
            threads.into_iter().map(|thread| thread.join().expect("panics are caught")).collect()
        });
        let first = shared.state.lock().unwrap_or_else(PoisonError::into_inner).fallen;
        let mut done = Vec::new();
        for (rank, result) in (0..).zip(results) {
            match result {
                Ok(value) => done.push(value),
                Err(panic) if Some(rank) == first => resume_unwind(panic),
                Err(_) => {}
            }
        }
        done
    }

    /// Locks the state. A rank may panic while it holds the lock, but the state is sound at any moment.
    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets every rank put a value in, and take one out once all ranks have put theirs. No rank puts in more before all
    /// have taken.
    fn meet<R>(&self, put: impl FnOnce(&mut State), take: impl FnOnce(&mut State) -> R) -> R {
        put(&mut self.state());
        self.barrier();
        let taken = take(&mut self.state());
        self.barrier();
        taken
    }
}

impl ThreadRanks {
    /// Combines values of all ranks in one place, in any order.
    fn reduce<T: Copy>(
        &self,
        values: &mut [T],
        place: impl Fn(&mut State) -> &mut Vec<T>,
        combine: impl Fn(&mut T, T),
    ) {
        let put = |state: &mut State| {
            let is_first = state.reducing == 0;
            state.reducing += 1;
            let all = place(state);
            if is_first {
                *all = values.to_vec();
            } else {
                all.iter_mut().zip(&*values).for_each(|(value, other)| combine(value, *other));
            }
        };
        let all = self.meet(put, |state| {
            state.reducing -= 1;
            place(state).clone()
        });
        values.copy_from_slice(&all);
    }
}

impl Transport for ThreadRanks {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.shared.size
    }

    fn barrier(&self) {
        let mut state = self.state();
        state.waiting += 1;
        if state.waiting == self.shared.size {
            (state.waiting, state.passed) = (0, state.passed + 1);
            self.shared.changed.notify_all();
            return;
        }
        let passed = state.passed;
        while state.passed == passed {
            if let Some(rank) = state.fallen {
                drop(state);
                panic!("rank {rank} has panicked; rank {} would wait for it without end", self.rank);
            }
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn exchange<R>(&self, outgoing: Messages, meanwhile: impl FnOnce() -> R) -> (Messages, R) {
        check_addresses(&outgoing, self.shared.size);
        let mut state = self.state();
        for (to, bytes) in outgoing {
            state.boxes[to as usize].push((self.rank, bytes));
        }
        drop(state);
        let result = meanwhile();
        let own = self.rank as usize;
        let mut incoming = self.meet(|_| (), |state| core::mem::take(&mut state.boxes[own]));
        incoming.sort_unstable_by_key(|&(from, _)| from);
        (incoming, result)
    }

    fn all_gather(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        let own = self.rank as usize;
        self.meet(|state| state.gathered[own] = mine.to_vec(), |state| state.gathered.clone())
    }

    fn max(&self, values: &mut [f64]) {
        self.reduce(values, |state| &mut state.greatest, |value, other| *value = value.max(other));
    }

    fn sum(&self, values: &mut [u64]) {
        self.reduce(values, |state| &mut state.sums, |value, other| *value += other);
    }

    fn scan(&self, value: u64) -> u64 {
        let all = self.all_gather(&value.to_ne_bytes());
        all[..self.rank as usize].iter().flat_map(|bytes| wire::all::<u64>(bytes)).sum()
    }
}

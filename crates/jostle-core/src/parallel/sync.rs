//! The primitives by which threads synchronize. All of them stand in one place, so that models of the hand-over run the
//! same files on types that try every order of events (`crates/jostle-models`).
//!
//! Where two threads each write one thing and then look at the other's, both put a `fence(SeqCst)` in between: at least
//! one of them sees what the other has written.
#![allow(unsafe_code, reason = "a cell whose users vouch that no two meet in it")]

use core::cell::UnsafeCell;
pub(crate) use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::PoisonError;
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};
pub(crate) use std::thread::yield_now;
use std::time::Duration;

pub(crate) use crossbeam_utils::CachePadded;

use crate::clock::{self, Instant};
pub(crate) use crate::parallel::callers::give_way;
pub(crate) use crate::parallel::cores::{leave_processor, processor};

/// How long a thread looks out for something before it sleeps, or gives itself back to its pool. Waking a thread takes
/// about as long, and so does putting ten thousand bodies in order, which one thread does alone while another waits.
pub(crate) const PATIENCE: Duration = Duration::from_micros(90);

/// Looks between two looks at the clock.
const LOOKS: u32 = 32;

/// Looks until `ready` returns true, or patience ends: without a clock, after a few looks. Returns whether it was true.
pub(crate) fn look_out(mut ready: impl FnMut() -> bool) -> bool {
    let mut began = None;
    loop {
        for _ in 0..LOOKS {
            if ready() {
                return true;
            }
            core::hint::spin_loop();
        }
        if !clock::RUNS || began.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
            return ready();
        }
    }
}

/// Sleeps until notified, or for a millisecond where `nap` is set.
pub(crate) fn sleep<'a>(rung: &Condvar, guard: MutexGuard<'a, ()>, nap: bool) -> MutexGuard<'a, ()> {
    if nap {
        rung.wait_timeout(guard, Duration::from_millis(1)).unwrap_or_else(PoisonError::into_inner).0
    } else {
        rung.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }
}

/// A value that several threads see. Its users promise that no thread touches it while another writes it.
#[derive(Debug, Default)]
pub(crate) struct Guarded<T>(UnsafeCell<T>);

// SAFETY: the methods are unsafe and demand that accesses do not meet.
unsafe impl<T: Send> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// # Safety
    /// Nobody writes it meanwhile.
    pub(crate) unsafe fn read<R>(&self, read: impl FnOnce(&T) -> R) -> R {
        // SAFETY: as promised.
        read(unsafe { &*self.0.get() })
    }

    /// # Safety
    /// Nobody else touches it meanwhile.
    pub(crate) unsafe fn write(&self, value: T) {
        // SAFETY: as promised.
        unsafe { *self.0.get() = value }
    }
}

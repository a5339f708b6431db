//! Waits for events that other threads bring about, and sleeps once waiting takes longer than waking does.

use std::sync::PoisonError;

use crate::parallel::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, fence, give_way, look_out, sleep};

/// Wakes the threads that wait for an event. The thread that brings the event about rings.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    rung: Condvar,
}

impl Bell {
    /// Returns once `ready` returns true. The thread that makes it true rings afterwards.
    ///
    /// Where the caller's functions run, they may need the pool's threads themselves (`rayon::broadcast` does). So the
    /// waiting thread does the pool's other work, if there is any, between naps.
    #[cold]
    pub(crate) fn wait_until(&self, mut ready: impl FnMut() -> bool) {
        if look_out(&mut ready) {
            return;
        }
        while !ready() {
            let nap = give_way();
            let guard = self.locked();
            self.sleepers.fetch_add(1, Ordering::Relaxed);
            // Either the ringer sees the sleeper, or the sleeper sees what the ringer has brought about.
            fence(Ordering::SeqCst);
            let guard = if ready() { guard } else { sleep(&self.rung, guard, nap) };
            self.sleepers.fetch_sub(1, Ordering::Relaxed);
            drop(guard);
        }
    }

    /// Wakes all threads that sleep. Costs a fence when none does.
    pub(crate) fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            // A thread that has looked and found nothing holds the lock until it is asleep.
            drop(self.locked());
            self.rung.notify_all();
        }
    }

    fn locked(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Whether functions of the caller's run in a region: only then may a thread that waits run other work of its pool.
//!
//! A search by itself never does: a caller who searches under a lock must not meet, on the same thread, another task that
//! wants that lock. But a visitor may call what needs every thread of the pool.

use std::cell::Cell;

thread_local! {
    static RUNNING: Cell<bool> = const { Cell::new(false) };
    /// This thread runs other work of its pool already: what waits within that does not, or the stack would grow with
    /// each.
    static AWAY: Cell<bool> = const { Cell::new(false) };
}

/// Whether functions of the caller's run in the region that this thread is at work in.
pub(crate) fn running() -> bool {
    RUNNING.get()
}

/// Runs `work` as part of a region in which functions of the caller's run, or do not.
pub(crate) fn run_with<R>(running: bool, work: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            RUNNING.set(self.0);
        }
    }
    let _before = Before(RUNNING.replace(running));
    work()
}

/// Where functions of the caller's run, runs a task of the pool's, if there is one; whether they run.
pub(crate) fn give_way() -> bool {
    if !RUNNING.get() || AWAY.get() {
        return RUNNING.get();
    }
    struct Back;
    impl Drop for Back {
        fn drop(&mut self) {
            AWAY.set(false);
        }
    }
    AWAY.set(true);
    let _back = Back;
    run_with(false, rayon::yield_now);
    true
}

//! Tells whether the caller's functions run in a region: only then may a thread that waits run other work of its pool.
//!
//! In a search without such functions, a waiting thread never does so: a caller that searches under a lock must not
//! meet, on the same thread, another task that wants that lock. But a visitor may call something that needs every
//! thread of the pool.

use std::cell::Cell;

thread_local! {
    static RUNNING: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread runs other work of its pool already. Waiting within that work runs no further work, or the
    /// stack would grow each time.
    static AWAY: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether the caller's functions run in the region that this thread is at work in.
pub(crate) fn running() -> bool {
    RUNNING.get()
}

/// Runs `work` as part of a region; `running` says whether the caller's functions run in it.
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

/// Runs a task of the pool, if there is one, where the caller's functions run. Returns whether they run.
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

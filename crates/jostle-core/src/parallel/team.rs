//! Threads of a rayon pool that stay together for a whole search.
//!
//! A search has half a dozen regions whose tasks run side by side, some of them shorter than it takes to wake a thread
//! that has gone to sleep. So the pool's threads are called once; between regions they look out for the next one, and
//! whoever comes late, or not at all, is not waited for. A room of `unsafe`: the closure of a region is lent to the
//! helpers by pointer.
#![allow(unsafe_code, reason = "closures lent to other threads")]

use core::any::Any;
use core::cell::{Cell, UnsafeCell};
use core::hint::spin_loop;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::thread::yield_now;

use crossbeam::utils::CachePadded;

/// Looks at a flag this often before the thread offers its processor to others.
const SPINS: u32 = 256;

/// The thread that leads, and what it shares with its helpers.
#[derive(Default)]
struct Team {
    /// Odd while a region is open; each region has a number of its own.
    region: CachePadded<AtomicUsize>,
    /// Helpers that may be at work in the region.
    helping: CachePadded<AtomicUsize>,
    /// The work of the region that is open.
    work: UnsafeCell<Option<Work>>,
    dismissed: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `work` is written by the leader alone, while no region is open and no helper at work, and read by helpers only
// while one is open; everything else is made to be shared.
unsafe impl Sync for Team {}

/// A closure by pointer.
#[derive(Clone, Copy)]
struct Work {
    closure: *const (),
    call: unsafe fn(*const ()),
}

impl Work {
    fn of<F: Fn() + Sync>(closure: &F) -> Self {
        /// # Safety
        /// The pointer is to a living `F`.
        unsafe fn call<F: Fn()>(closure: *const ()) {
            // SAFETY: as promised.
            unsafe { (*closure.cast::<F>())() }
        }
        Self { closure: ptr::from_ref(closure).cast(), call: call::<F> }
    }
}

thread_local! {
    /// The team that this thread leads, if it leads one and is not at work in a region.
    static LED: Cell<*const Team> = const { Cell::new(ptr::null()) };

    /// This thread leads or helps. While it waits within rayon, rayon may hand it a call for help, its own even; were it
    /// to stay with that, what it was doing would never end.
    static ENGAGED: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, this thread answers no call for help.
struct Engaged {
    before: bool,
}

impl Engaged {
    fn new() -> Self {
        Self { before: ENGAGED.replace(true) }
    }
}

impl Drop for Engaged {
    fn drop(&mut self) {
        ENGAGED.set(self.before);
    }
}

/// Runs `search` with the threads of the current rayon pool standing by for its regions.
pub(crate) fn together<R: Send>(search: impl FnOnce() -> R + Send) -> R {
    if !LED.get().is_null() {
        return search();
    }
    if rayon::current_thread_index().is_none() {
        // From outside, this moves to a thread of the pool.
        return rayon::join(|| together(search), || ()).0;
    }
    let _engaged = Engaged::new();
    let team = Team::default();
    enlist(&team, rayon::current_num_threads().saturating_sub(1), move |team| {
        let _leading = Leading::of(team);
        search()
    })
}

/// Calls `helpers` threads, and leads with this one.
fn enlist<R: Send>(team: &Team, helpers: usize, lead: impl FnOnce(&Team) -> R + Send) -> R {
    // Boxing nothing, each `join` has room on the stack for one helper.
    fn with_one_more<R: Send>(team: &Team, helpers: usize, lead: &mut (dyn FnMut(&Team) -> R + Send)) -> R {
        if helpers == 0 {
            return lead(team);
        }
        rayon::join(|| with_one_more(team, helpers - 1, lead), || team.help()).0
    }
    let mut lead = Some(lead);
    let mut once = |team: &Team| lead.take().map(|lead| lead(team));
    let led = with_one_more(team, helpers, &mut once);
    led.expect("a search is led once")
}

/// While it lives, this thread leads a team; at its end the helpers are dismissed.
struct Leading<'a>(&'a Team);

impl<'a> Leading<'a> {
    fn of(team: &'a Team) -> Self {
        LED.set(team);
        Self(team)
    }
}

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        LED.set(ptr::null());
        self.0.dismissed.store(true, Ordering::Release);
    }
}

/// Runs `work` on this thread and, at the same time, on every helper that is there; returns when all have ended. On a
/// thread that leads no team, or is at work in a region already, it runs there alone.
///
/// # Panics
/// When `work` panics on any thread.
pub(crate) fn region<F: Fn() + Sync>(work: &F) {
    let led = LED.replace(ptr::null());
    // SAFETY: set by a `Leading` that is still alive, and borrows its team.
    let Some(team) = (unsafe { led.as_ref() }) else { return work() };
    let open = Open::new(team, Work::of(work));
    work();
    drop(open);
    let panic = team.panic.lock().ok().and_then(|mut panic| panic.take());
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

/// A region that is open. However it ends, no helper is at work in it afterwards.
struct Open<'a>(&'a Team);

impl<'a> Open<'a> {
    fn new(team: &'a Team, work: Work) -> Self {
        // SAFETY: no region is open, and no helper at work: the last region waited for them.
        unsafe { *team.work.get() = Some(work) };
        team.region.fetch_add(1, Ordering::SeqCst);
        Self(team)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        // Either a helper that comes now sees that the region is closed, or this sees the helper.
        self.0.region.fetch_add(1, Ordering::SeqCst);
        wait_until(|| self.0.helping.load(Ordering::SeqCst) == 0);
        LED.set(self.0);
    }
}

fn wait_until(mut ready: impl FnMut() -> bool) {
    let mut spins = 0;
    while !ready() {
        if spins < SPINS {
            spins += 1;
            spin_loop();
        } else {
            yield_now();
        }
    }
}

impl Team {
    /// Helps in one region after the other until dismissed.
    fn help(&self) {
        if ENGAGED.get() {
            return;
        }
        let _engaged = Engaged::new();
        let mut seen = 0;
        loop {
            let mut region = 0;
            wait_until(|| {
                region = self.region.load(Ordering::Relaxed);
                (region != seen && region % 2 == 1) || self.dismissed.load(Ordering::Acquire)
            });
            if self.dismissed.load(Ordering::Acquire) {
                return;
            }
            seen = region;
            self.helping.fetch_add(1, Ordering::SeqCst);
            if self.region.load(Ordering::SeqCst) == region {
                self.work();
            }
            self.helping.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// A helper's part of the region that is open.
    fn work(&self) {
        // SAFETY: the region is open, and the leader waits for this helper before it closes: so the work is not written,
        // and its closure lives.
        let done = catch_unwind(AssertUnwindSafe(|| unsafe {
            if let Some(Work { closure, call }) = *self.work.get() {
                call(closure);
            }
        }));
        if let (Err(payload), Ok(mut panic)) = (done, self.panic.lock()) {
            panic.get_or_insert(payload);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{region, together};
    use rayon::{ThreadPool, ThreadPoolBuilder};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn pool(threads: usize) -> ThreadPool {
        ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
    }

    /// Takes numbers until there are none, and adds them up.
    fn sum(next: &AtomicUsize, end: usize) -> usize {
        core::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < end)).sum()
    }

    #[test]
    fn every_region_is_done_once() {
        for threads in [1, 2, 5] {
            let total = AtomicUsize::new(0);
            pool(threads).install(|| {
                for _ in 0..50 {
                    together(|| {
                        for _ in 0..20 {
                            let next = AtomicUsize::new(0);
                            region(&|| {
                                total.fetch_add(sum(&next, 100), Ordering::Relaxed);
                            });
                        }
                    });
                }
            });
            assert_eq!(total.into_inner(), 50 * 20 * 4950, "{threads} threads");
        }
    }

    #[test]
    fn regions_within_regions_and_outside_of_teams_run_alone() {
        let count = AtomicUsize::new(0);
        let add = || {
            count.fetch_add(1, Ordering::Relaxed);
        };
        region(&add);
        assert_eq!(count.swap(0, Ordering::Relaxed), 1);
        let outer = AtomicUsize::new(0);
        pool(3).install(|| {
            together(|| {
                region(&|| {
                    outer.fetch_add(1, Ordering::Relaxed);
                    region(&add);
                });
                together(|| region(&|| ()));
            });
        });
        assert_eq!(count.into_inner(), outer.into_inner());
    }

    /// A pool whose only other thread is busy: the leader does all.
    #[test]
    fn nobody_waits_for_helpers_that_do_not_come() {
        let pool = pool(2);
        let done = AtomicUsize::new(0);
        pool.scope(|scope| {
            scope.spawn(|_| {
                while done.load(Ordering::Acquire) == 0 {
                    std::thread::yield_now();
                }
            });
            scope.spawn(|_| {
                together(|| region(&|| done.store(1, Ordering::Release)));
            });
        });
    }

    #[test]
    fn panics_reach_the_caller_and_the_pool_lives_on() {
        let pool = pool(3);
        for _ in 0..20 {
            let next = AtomicUsize::new(0);
            let result = pool.install(|| {
                catch_unwind(AssertUnwindSafe(|| {
                    together(|| region(&|| assert!(sum(&next, 1_000) == usize::MAX, "on purpose")));
                }))
            });
            assert!(result.is_err());
            let count = AtomicUsize::new(0);
            let add = || {
                count.fetch_add(1, Ordering::Relaxed);
            };
            pool.install(|| together(|| region(&add)));
            assert!(count.into_inner() >= 1);
        }
    }
}

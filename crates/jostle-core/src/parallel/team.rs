//! Threads of a rayon pool that share the regions of a search.
//!
//! A search has half a dozen regions whose tasks run side by side, some of them shorter than it takes to wake a thread that
//! has gone to sleep. So threads of the pool are called once, as many as there are cores to spare, and look out for regions
//! for a while ([`PATIENCE`](crate::parallel::sync::PATIENCE)). One that finds none goes back to its pool, and is called
//! again for the next. Whoever comes late, or not at all, is not waited for. Where many are called, those who come call
//! others before they help, since to wake a thread takes its caller longer than many a region lasts.

use core::cell::Cell;
use core::hint::spin_loop;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::parallel::cores::{self, Busy};
use crate::parallel::handover::Handover;
use crate::parallel::sync::look_out;

/// Helpers that a thread calls by itself.
const CALLED_BY_ONE: usize = 3;

/// Looks that the leader spends, after the last helper has left, so that `rayon::join` finds it gone: it would run other
/// tasks of the pool meanwhile, a search within a search.
const LEAVING: u32 = 64;

/// As many of a helper who has called others, so that the leader finds it gone as well.
const HELPER_LEAVING: u32 = 16;

/// The thread that leads, and those it has called.
#[derive(Default)]
struct Team {
    handover: Handover,
    /// Calls for help that have not been answered and ended.
    calls: AtomicUsize,
}

thread_local! {
    /// The team that this thread leads, if it leads one and is not at work in a region.
    static LED: Cell<*const Team> = const { Cell::new(ptr::null()) };

    /// This thread leads or helps. While it waits within rayon, rayon may hand it a call for help, its own even; were it
    /// to stay with that, what it was doing would never end.
    static ENGAGED: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, this thread answers no call for help.
struct Engaged(());

impl Engaged {
    /// Unless it is engaged already.
    fn new() -> Option<Self> {
        (!ENGAGED.replace(true)).then(|| Self(()))
    }
}

impl Drop for Engaged {
    fn drop(&mut self) {
        ENGAGED.set(false);
    }
}

/// Runs `search` with threads of the current rayon pool standing by for its regions. On a thread that is at work in one
/// already, alone.
pub(crate) fn together<R: Send>(search: impl FnOnce() -> R + Send) -> R {
    let (mut search, mut result) = (Some(search), None);
    together_once(&mut || result = search.take().map(|search| search()));
    result.expect("a search is led once")
}

/// As [`together`]: for all searches, so that what calls threads is compiled once.
fn together_once(search: &mut (dyn FnMut() + Send)) {
    if rayon::current_thread_index().is_none() {
        // From outside, this moves to a thread of the pool. Such a thread is never engaged.
        return rayon::join(|| together_once(search), || ()).0;
    }
    let Some(_engaged) = Engaged::new() else { return search() };
    let _busy = Busy::new();
    let team = Team::default();
    let helpers = helpers_for(cores::workers(), 0, cores::spare());
    enlist(&team, helpers, &|team| team.handover.stand_by(), &mut |team| {
        let _leading = Leading::of(team);
        search();
    });
}

/// Helpers worth calling for the work of so many, beside the leader and those `called` already: no more than there are cores to spare, on
/// which none of these is at work.
fn helpers_for(workers: usize, called: usize, spare: usize) -> usize {
    workers.saturating_sub(1 + called).min(spare)
}

/// A call for help.
struct Call<'a> {
    help: &'a (dyn Fn(&Team) + Sync),
    /// Those whom it has brought, and who have not left.
    here: AtomicUsize,
}

impl<'a> Call<'a> {
    fn to(help: &'a (dyn Fn(&Team) + Sync)) -> Self {
        Self { help, here: AtomicUsize::new(0) }
    }
}

/// Calls `helpers` threads to `help`, and leads with this one.
fn enlist(team: &Team, helpers: usize, help: &(dyn Fn(&Team) + Sync), lead: &mut (dyn FnMut(&Team) + Send)) {
    team.calls.fetch_add(helpers, Ordering::Relaxed);
    with_others(team, helpers, &Call::to(help), lead);
}

/// Boxing nothing, each `join` has room on the stack for one helper, who calls a half of those that are left.
fn with_others(team: &Team, helpers: usize, call: &Call<'_>, lead: &mut (dyn FnMut(&Team) + Send)) {
    if helpers == 0 {
        return lead(team);
    }
    let others = if helpers > CALLED_BY_ONE { (helpers - 1) / 2 } else { 0 };
    rayon::join(|| with_others(team, helpers - 1 - others, call, lead), || team.answer_with(others, call)).0
}

impl Team {
    /// A thread's answer to a call, which calls others first: not those of a team that has ended, and not if it has other duties, which
    /// were to wait for them.
    fn answer_with(&self, others: usize, call: &Call<'_>) {
        call.here.fetch_add(1, Ordering::Relaxed);
        if others == 0 {
            self.answer(call.help);
        } else if ENGAGED.get() || self.handover.is_dismissed() {
            self.calls.fetch_sub(1 + others, Ordering::Relaxed);
        } else {
            let own = Call::to(call.help);
            with_others(self, others, &own, &mut |team| {
                team.answer(own.help);
                // Those who are found gone need not be waited for, with other tasks of the pool meanwhile.
                look_out(|| own.here.load(Ordering::Relaxed) == 0);
                let_leave(HELPER_LEAVING);
            });
        }
        call.here.fetch_sub(1, Ordering::Relaxed);
    }

    /// A thread's answer to a call, unless it has other duties, or all cores have.
    fn answer(&self, help: &dyn Fn(&Self)) {
        if let Some(_engaged) = Engaged::new()
            && let Some(_busy) = Busy::if_spare()
        {
            help(self);
        }
        self.calls.fetch_sub(1, Ordering::Relaxed);
    }

    /// Runs `work` as a region. Where helpers have gone back to their pool, others are called for this region.
    fn region(&self, wanted: usize, work: &(dyn Fn(usize) + Sync)) {
        let missing = helpers_for(wanted, self.calls.load(Ordering::Relaxed), cores::spare());
        if missing == 0 {
            return self.handover.region(work);
        }
        enlist(self, missing, &|team| team.handover.help_once(), &mut |team| {
            team.handover.region(work);
            let_leave(LEAVING);
        });
    }
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
        self.0.handover.dismiss();
        let_leave(LEAVING);
    }
}

fn let_leave(looks: u32) {
    for _ in 0..looks {
        spin_loop();
    }
}

/// Runs `work(0)` on this thread and, at the same time, `work` with other numbers on every helper that comes, `workers`
/// in all unless more are there; returns when all have ended. On a thread that leads no team, or is at work in a region
/// already, it runs there alone.
///
/// # Panics
/// When `work` panics on any thread, with the first payload.
#[allow(unsafe_code, reason = "the team that this thread leads lies on its own stack")]
pub(crate) fn region(workers: usize, work: &(dyn Fn(usize) + Sync)) {
    /// To be led again when the region is over, however it ends.
    struct Led(*const Team);
    impl Drop for Led {
        fn drop(&mut self) {
            LED.set(self.0);
        }
    }
    let led = Led(LED.replace(ptr::null()));
    // SAFETY: set by a `Leading` that is still alive, and borrows its team.
    match unsafe { led.0.as_ref() } {
        Some(team) => team.region(workers, work),
        None => work(0),
    }
}
#[cfg(test)]
mod tests {
    use super::{helpers_for, region, together};
    use crate::parallel::{callers, cores};
    use rayon::{ThreadPool, ThreadPoolBuilder};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// A pool whose threads all take part, whatever this machine has.
    fn pool(threads: usize) -> ThreadPool {
        cores::assume(512);
        ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
    }

    /// Takes numbers until there are none, and adds them up.
    fn sum(next: &AtomicUsize, end: usize) -> usize {
        core::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < end)).sum()
    }

    /// Regions close together, and regions so far apart that helpers have left.
    #[test]
    fn every_region_is_done_once() {
        for threads in [1, 2, 5, 12] {
            let total = AtomicUsize::new(0);
            pool(threads).install(|| {
                for search in 0..50 {
                    together(|| {
                        for at in 0..20 {
                            if search % 10 == 0 && at % 5 == 0 {
                                std::thread::sleep(Duration::from_micros(300));
                            }
                            let next = AtomicUsize::new(0);
                            region(threads, &|_| {
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
    fn all_threads_take_part_and_come_back_after_a_pause() {
        let pool = pool(3);
        let most = AtomicUsize::new(0);
        for pause in [0, 2] {
            // A thread may be late; not a hundred times.
            let all = (0..100).any(|_| {
                pool.install(|| {
                    together(|| {
                        std::thread::sleep(Duration::from_millis(pause));
                        let here = AtomicUsize::new(0);
                        region(3, &|_| {
                            here.fetch_add(1, Ordering::Relaxed);
                            std::thread::sleep(Duration::from_millis(3));
                        });
                        most.fetch_max(here.load(Ordering::Relaxed), Ordering::Relaxed);
                        here.into_inner() == 3
                    })
                })
            });
            assert!(all, "at most {most:?} after {pause} ms");
        }
    }

    /// Five of fifteen helpers have gone back to their pool: their cores are the only ones to spare.
    #[test]
    fn some_of_the_helpers_that_have_left_are_called_again() {
        assert_eq!(helpers_for(16, 0, 15), 15);
        assert_eq!(helpers_for(16, 10, 5), 5);
        assert_eq!(helpers_for(4, 10, 5), 0);
        assert_eq!(helpers_for(16, 10, 2), 2);
    }

    #[test]
    fn regions_within_regions_and_outside_of_teams_run_alone() {
        let count = AtomicUsize::new(0);
        let add = |_| {
            count.fetch_add(1, Ordering::Relaxed);
        };
        region(2, &add);
        assert_eq!(count.swap(0, Ordering::Relaxed), 1);
        let outer = AtomicUsize::new(0);
        pool(3).install(|| {
            together(|| {
                region(3, &|_| {
                    outer.fetch_add(1, Ordering::Relaxed);
                    together(|| region(3, &add));
                });
                together(|| region(3, &|_| ()));
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
                together(|| region(2, &|_| done.store(1, Ordering::Release)));
            });
        });
    }

    #[test]
    fn panics_reach_the_caller_as_they_were_and_the_pool_lives_on() {
        let pool = pool(3);
        for _ in 0..20 {
            let next = AtomicUsize::new(0);
            let result = pool.install(|| {
                catch_unwind(AssertUnwindSafe(|| {
                    together(|| region(3, &|_| assert!(sum(&next, 1_000) == usize::MAX, "on purpose")));
                }))
            });
            let payload = result.expect_err("a panic");
            assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
            let count = AtomicUsize::new(0);
            let add = |_| {
                count.fetch_add(1, Ordering::Relaxed);
            };
            pool.install(|| together(|| region(3, &add)));
            assert!(count.into_inner() >= 1);
        }
    }

    /// Where functions of the caller's run, those who wait let others of the pool's tasks run.
    #[test]
    fn a_broadcast_from_a_region_returns() {
        let pool = pool(3);
        for _ in 0..20 {
            let called = AtomicUsize::new(0);
            pool.install(|| {
                callers::run_with(true, || {
                    together(|| {
                        region(3, &|_| {
                            callers::run_with(true, || {
                                called.fetch_add(rayon::broadcast(|_| 1).into_iter().sum(), Ordering::Relaxed);
                            });
                        });
                    });
                });
            });
            assert!(called.load(Ordering::Relaxed) >= 3 && called.into_inner().is_multiple_of(3));
        }
    }

    /// The deepest pool that is ever used: what it takes of the stack of the thread that leads.
    #[test]
    fn a_helper_takes_a_kilobyte_of_stack_at_most() {
        fn here() -> usize {
            let local = 0_u8;
            std::hint::black_box(&raw const local).addr()
        }
        let lowest = Mutex::new(usize::MAX);
        let (start, threads) = pool(256).install(|| {
            let start = here();
            together(|| *lowest.lock().expect("nobody panics") = here());
            (start, rayon::current_num_threads())
        });
        let depth = start.saturating_sub(lowest.into_inner().expect("nobody panics"));
        assert!(depth > 0 && depth <= threads << 10, "{depth} bytes for {threads} threads");
    }
}

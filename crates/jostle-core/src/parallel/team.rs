//! Threads of a rayon pool that share the regions of a search.
//!
//! A search has half a dozen regions whose tasks run side by side. Some regions are shorter than it takes to wake a
//! thread that has gone to sleep. So threads of the pool are called once, as many as there are cores to spare, and look
//! out for regions for a while ([`PATIENCE`](crate::parallel::sync::PATIENCE)). A thread that finds none goes back to
//! its pool, and is called again for the next region. Nobody waits for a thread that comes late, or not at all. Where
//! many are called, the threads that come call others before they help, since waking a thread takes its caller longer
//! than many a region lasts.
//!
//! A thread from outside of the pool leads where it stands, and calls one thread less. To hand the search over to the
//! pool, it would have to wake another thread, and systems have put that thread on the core of the one that it then
//! called (`docs/measurements/threads.md`).

use core::cell::Cell;
use core::hint::spin_loop;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use rayon::ThreadPool;

use crate::parallel::cores::{self, Busy};
use crate::parallel::handover::Handover;
use crate::parallel::sync::look_out;

/// Helpers that a thread calls by itself.
const CALLED_BY_ONE: usize = 3;

/// Looks that the leader spends, after the last helper has left, so that `rayon::join` finds the helper gone. Else
/// `join` would run other tasks of the pool meanwhile, such as a search within the search.
const LEAVING: u32 = 64;

/// Looks that a helper spends that has called others, so that the leader finds it gone as well.
const HELPER_LEAVING: u32 = 16;

/// What a leading thread shares with the threads that it has called.
#[derive(Default)]
struct Team {
    handover: Handover,
    /// Calls for help that have not been answered and ended.
    calls: AtomicUsize,
}

thread_local! {
    /// The team that this thread leads, if it leads one and is not at work in a region.
    static LED: Cell<*const Leader<'static>> = const { Cell::new(ptr::null()) };

    /// The team that this thread has last led from outside of a pool, by the pool's address.
    static LAST: Cell<Option<(usize, Arc<Team>)>> = const { Cell::new(None) };

    /// Whether this thread leads or helps. While it waits within rayon, rayon may hand it a call for help, even its
    /// own. If it stayed with that call, what it was doing before would never end.
    static ENGAGED: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, this thread answers no call for help.
struct Engaged(());

impl Engaged {
    /// Engages this thread, unless it is engaged already.
    fn new() -> Option<Self> {
        (!ENGAGED.replace(true)).then(|| Self(()))
    }
}

impl Drop for Engaged {
    fn drop(&mut self) {
        ENGAGED.set(false);
    }
}

/// Returns whether this thread is outside of the pool: without a pool, outside of any.
pub(crate) fn is_outside(pool: Option<&ThreadPool>) -> bool {
    pool.map_or_else(rayon::current_thread_index, ThreadPool::current_thread_index).is_none()
}

/// Runs `search` with threads of a rayon pool, by default the current one, standing by for its regions. A thread that
/// is at work in a search already runs it alone.
pub(crate) fn together<R: Send>(pool: Option<&ThreadPool>, search: impl FnOnce() -> R + Send) -> R {
    let (mut search, mut result) = (Some(search), None);
    together_once(pool, &mut || result = search.take().map(|search| search()));
    result.expect("a search is led once")
}

/// As [`together`], with a trait object, so that the code that calls threads is compiled once for all searches.
fn together_once(pool: Option<&ThreadPool>, search: &mut (dyn FnMut() + Send)) {
    let Some(_engaged) = Engaged::new() else { return search() };
    let _busy = Busy::new();
    if is_outside(pool) {
        return lead_from_outside(pool, search);
    }
    let (team, workers) = (Team::default(), cores::workers(pool));
    team.leads_here();
    team.handover.has_one_helper(workers == 2);
    let helpers = helpers_for(workers, 0, cores::spare());
    enlist(&team, helpers, Stay::Throughout, &mut |team| {
        let leader = Leader { team, outside: None };
        let _leading = Leading::of(&leader);
        search();
    });
}

/// As [`together_once`], for a thread from outside of the pool, which leads where it stands. A busy thread of the pool
/// may answer a call long after the search has ended, so the threads that have been called own the team, too.
fn lead_from_outside(pool: Option<&ThreadPool>, search: &mut (dyn FnMut() + Send)) {
    let id = pool.map_or(0, |pool| ptr::from_ref(pool).addr());
    // Calls of the last search that have not been answered yet are good for this one.
    let team = match LAST.try_with(Cell::take).ok().flatten() {
        Some((of, team)) if of == id => {
            team.handover.readmit();
            team
        }
        _ => Arc::default(),
    };
    team.leads_here();
    let (outside, workers) = (Outside { team: &team, pool }, cores::workers(pool));
    team.handover.has_one_helper(workers == 2);
    let called = team.calls.load(Ordering::Relaxed);
    outside.call(helpers_for(workers, called, cores::spare()));
    let leader = Leader { team: &team, outside: Some(outside) };
    let leading = Leading::of(&leader);
    search();
    drop(leading);
    // A thread that is ending keeps no team.
    _ = LAST.try_with(|last| last.set(Some((id, team))));
}

/// Returns how many helpers are worth calling for the work of `workers` workers, beside the leader and the `called`
/// helpers: no more than there are cores to spare, on which none of these is at work.
fn helpers_for(workers: usize, called: usize, spare: usize) -> usize {
    workers.saturating_sub(1 + called).min(spare)
}

/// Returns how many of `helpers` the first one that is called calls itself: one thread calls few, and the helpers that
/// come call the others, by halves.
fn others_of(helpers: usize) -> usize {
    if helpers > CALLED_BY_ONE { (helpers - 1) / 2 } else { 0 }
}

/// A team that is led from outside of its pool.
#[derive(Clone, Copy)]
struct Outside<'a> {
    team: &'a Arc<Team>,
    pool: Option<&'a ThreadPool>,
}

impl Outside<'_> {
    /// Calls `helpers` threads of the pool for one region after the other. They come whenever they can: at the end of a
    /// region, nobody waits for a call to be answered.
    fn call(self, helpers: usize) {
        self.team.calls.fetch_add(helpers, Ordering::Relaxed);
        let mut left = helpers;
        while left > 0 {
            let (team, others) = (Arc::clone(self.team), others_of(left));
            let answer = move || answer_or_pass_on(team, others);
            match self.pool {
                Some(pool) => pool.spawn(answer),
                None => rayon::spawn(answer),
            }
            left -= 1 + others;
        }
    }
}

/// Answers a call from outside of the pool. Systems may wake a sleeping thread on the leader's own processor, if the
/// leader has only just been woken itself. Such a thread moves to another processor or, where there are several, calls
/// another thread in its place, which may be put elsewhere, and lets the leader go on. If no other comes, the thread
/// itself gets that second call.
fn answer_or_pass_on(team: Arc<Team>, others: usize) {
    let in_the_way = || !ENGAGED.get() && team.handover.is_in_the_way(cores::processor());
    if in_the_way() && !team.handover.moves_off(cores::processor) {
        let passed = Arc::clone(&team);
        rayon::spawn(move || passed.answer_with(others, &Call::of(Stay::Throughout)));
        team.handover.step_aside(cores::processor);
    } else {
        team.answer_with(others, &Call::of(Stay::Throughout));
    }
}

/// What helpers are called for.
#[derive(Clone, Copy)]
enum Stay {
    /// One region after the other.
    Throughout,
    /// The region with that number, which is opened next.
    ForOne(usize),
}

/// A call for help.
struct Call {
    stay: Stay,
    /// Helpers that the call has brought, and that have not left.
    here: AtomicUsize,
}

impl Call {
    fn of(stay: Stay) -> Self {
        Self { stay, here: AtomicUsize::new(0) }
    }
}

/// Calls `helpers` threads, and leads with this one.
fn enlist(team: &Team, helpers: usize, stay: Stay, lead: &mut (dyn FnMut(&Team) + Send)) {
    team.calls.fetch_add(helpers, Ordering::Relaxed);
    with_others(team, helpers, &Call::of(stay), lead);
}

/// As [`enlist`], for calls that are counted. Nothing is boxed: each `join` has room on the stack for one helper, which
/// calls half of the helpers that are left.
fn with_others(team: &Team, helpers: usize, call: &Call, lead: &mut (dyn FnMut(&Team) + Send)) {
    if helpers == 0 {
        return lead(team);
    }
    let others = others_of(helpers);
    rayon::join(|| with_others(team, helpers - 1 - others, call, lead), || team.answer_with(others, call)).0
}

impl Team {
    /// Notes where the leader is.
    fn leads_here(&self) {
        cores::processor().into_iter().for_each(|here| self.handover.leads_on(here));
    }

    /// Answers a call, and calls others before; unless the team has ended, or the thread has other duties, which would
    /// have to wait for the others.
    fn answer_with(&self, others: usize, call: &Call) {
        call.here.fetch_add(1, Ordering::Relaxed);
        if others == 0 {
            self.answer(call.stay);
        } else if ENGAGED.get() || self.handover.is_dismissed() {
            self.calls.fetch_sub(1 + others, Ordering::Relaxed);
        } else {
            let own = Call::of(call.stay);
            with_others(self, others, &own, &mut |team| {
                team.answer(own.stay);
                // `join` need not wait for helpers that it finds gone, and so runs no other tasks of the pool
                // meanwhile.
                look_out(|| own.here.load(Ordering::Relaxed) == 0);
                let_leave(HELPER_LEAVING);
            });
        }
        call.here.fetch_sub(1, Ordering::Relaxed);
    }

    /// Answers a call, unless the thread has other duties, or all cores have.
    fn answer(&self, stay: Stay) {
        let ended = || _ = self.calls.fetch_sub(1, Ordering::Relaxed);
        let Some(_engaged) = Engaged::new() else { return ended() };
        let Some(busy) = Busy::if_spare() else { return ended() };
        // Runs before the leader may have seen this helper leave: so the leader's next search calls it again.
        let leave = || {
            drop(busy);
            ended();
        };
        match stay {
            Stay::Throughout => self.handover.stand_by(leave),
            Stay::ForOne(coming) => self.handover.help_once(coming, leave),
        }
    }
}

/// A team as seen by the thread that leads it.
struct Leader<'a> {
    team: &'a Team,
    /// Set where that thread is from outside of the pool.
    outside: Option<Outside<'a>>,
}

impl Leader<'_> {
    /// Runs `work` as a region. Where helpers have gone back to their pool, others are called: for this region alone,
    /// if `rayon::join` is to wait for them at its end.
    fn region(&self, wanted: usize, work: &(dyn Fn(usize) + Sync)) {
        let team = self.team;
        team.leads_here();
        let missing = helpers_for(wanted, team.calls.load(Ordering::Relaxed), cores::spare());
        if missing == 0 {
            return team.handover.region(work);
        }
        if let Some(outside) = self.outside {
            outside.call(missing);
            return team.handover.region(work);
        }
        enlist(team, missing, Stay::ForOne(team.handover.coming()), &mut |team| {
            team.handover.region(work);
            let_leave(LEAVING);
        });
    }
}

/// While it lives, this thread leads a team; when it ends, the helpers are dismissed.
struct Leading<'a>(&'a Leader<'a>);

impl<'a> Leading<'a> {
    fn of(leader: &'a Leader<'a>) -> Self {
        LED.set(ptr::from_ref(leader).cast());
        Self(leader)
    }
}

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        LED.set(ptr::null());
        self.0.team.handover.dismiss();
        if self.0.outside.is_none() {
            let_leave(LEAVING);
        }
    }
}

fn let_leave(looks: u32) {
    for _ in 0..looks {
        spin_loop();
    }
}

/// Runs `work(0)` on this thread and, at the same time, `work` with other numbers on every helper that comes, `workers`
/// in all unless more are there; returns when all have ended. On a thread that leads no team, or is at work in a region
/// already, `work` runs there alone.
///
/// # Panics
/// When `work` panics on any thread, with the first payload.
#[allow(unsafe_code, reason = "what this thread leads by lies on its own stack")]
pub(crate) fn region(workers: usize, work: &(dyn Fn(usize) + Sync)) {
    /// Lets this thread lead again when the region is over, however it ends.
    struct Led(*const Leader<'static>);
    impl Drop for Led {
        fn drop(&mut self) {
            LED.set(self.0);
        }
    }
    let led = Led(LED.replace(ptr::null()));
    // SAFETY: the pointer was set by a `Leading` that is still alive and borrows the leader; the reference goes no
    // farther than this call.
    match unsafe { led.0.as_ref() } {
        Some(leader) => leader.region(workers, work),
        None => work(0),
    }
}
#[cfg(test)]
mod tests {
    use super::{helpers_for, region, together};
    use crate::parallel::handover::Handover;
    use crate::parallel::{callers, cores};
    use rayon::{ThreadPool, ThreadPoolBuilder};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Mutex};
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

    /// Regions close together, and regions so far apart that helpers have left; led by a thread of the pool, and by a
    /// thread of no pool.
    #[test]
    fn every_region_is_done_once() {
        for threads in [1, 2, 5, 12] {
            let (total, pool) = (AtomicUsize::new(0), pool(threads));
            let lead = |outside: bool| {
                for search in 0..50 {
                    together(outside.then_some(&pool), || {
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
            };
            pool.install(|| lead(false));
            lead(true);
            assert_eq!(total.into_inner(), 2 * 50 * 20 * 4950, "{threads} threads");
        }
    }

    /// All threads of the pool are busy with something else: a leader from outside does all the work, and goes on.
    /// Calls that are answered after the searches have ended are answered in vain, or serve the next search.
    #[test]
    fn who_leads_from_outside_waits_for_no_thread_of_the_pool() {
        let (pool, done) = (pool(3), Arc::new(AtomicUsize::new(0)));
        for _ in 0..50 {
            done.store(0, Ordering::Relaxed);
            for _ in 0..3 {
                let done = Arc::clone(&done);
                pool.spawn(move || {
                    while done.load(Ordering::Acquire) == 0 {
                        std::thread::yield_now();
                    }
                });
            }
            for _ in 0..5 {
                together(Some(&pool), || {
                    let next = AtomicUsize::new(0);
                    region(3, &|_| assert!(sum(&next, 100) <= 4950));
                    assert!(next.into_inner() >= 100);
                });
            }
            done.store(1, Ordering::Release);
        }
        let all = (0..1_000).any(|_| {
            let here = AtomicUsize::new(0);
            together(Some(&pool), || {
                region(3, &|_| {
                    here.fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(1));
                });
            });
            here.into_inner() == 3
        });
        assert!(all, "two of the pool never helped again");
    }

    /// The calling thread is one of the workers, whichever threads of the pool come. A thread of another pool leads as
    /// a thread of none does.
    #[test]
    fn who_leads_from_outside_is_one_of_the_workers() {
        let (pools, most) = ([2, 3].map(pool), AtomicUsize::new(0));
        let lead = |pool: &ThreadPool, workers: usize| {
            for _ in 0..200 {
                let (leads, caller) = (AtomicUsize::new(0), std::thread::current().id());
                together(Some(pool), || {
                    region(workers, &|number| {
                        let is_caller = std::thread::current().id() == caller;
                        assert_eq!(number == 0, is_caller);
                        assert!(is_caller || pool.current_thread_index().is_some());
                        leads.fetch_add(usize::from(is_caller), Ordering::Relaxed);
                        std::thread::sleep(Duration::from_micros(100));
                        most.fetch_max(number, Ordering::Relaxed);
                    });
                });
                assert_eq!(leads.into_inner(), 1);
            }
        };
        lead(&pools[0], 2);
        lead(&pools[1], 3);
        lead(&pools[0], 2);
        pools[0].install(|| lead(&pools[1], 3));
        assert!(most.into_inner() >= 1, "nobody of the pool has ever come");
    }

    #[test]
    fn all_threads_take_part_and_come_back_after_a_pause() {
        let pool = pool(3);
        let most = AtomicUsize::new(0);
        for pause in [0, 2] {
            // A thread may be late; not a hundred times.
            let all = (0..100).any(|_| {
                pool.install(|| {
                    together(None, || {
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

    #[test]
    fn who_is_on_the_leaders_processor_does_not_come() {
        let handover = Handover::default();
        handover.leads_on(3);
        for (here, may_come) in [(Some(3), false), (Some(4), true), (None, true)] {
            assert_eq!(handover.step_aside(|| here), may_come);
        }
        let moved = AtomicUsize::new(0);
        assert!(handover.step_aside(|| Some(3 + moved.fetch_add(1, Ordering::Relaxed) / 5)));
        handover.dismiss();
        assert!(handover.step_aside(|| Some(3)), "nobody is needed");
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
            together(None, || {
                region(3, &|_| {
                    outer.fetch_add(1, Ordering::Relaxed);
                    together(None, || region(3, &add));
                });
                together(None, || region(3, &|_| ()));
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
                together(None, || region(2, &|_| done.store(1, Ordering::Release)));
            });
        });
    }

    #[test]
    fn panics_reach_the_caller_as_they_were_and_the_pool_lives_on() {
        let pool = pool(3);
        let search = |outside: Option<&ThreadPool>| {
            let next = AtomicUsize::new(0);
            let result = catch_unwind(AssertUnwindSafe(|| {
                together(outside, || region(3, &|_| assert!(sum(&next, 1_000) == usize::MAX, "on purpose")));
            }));
            let payload = result.expect_err("a panic");
            assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
            let count = AtomicUsize::new(0);
            let add = |_| {
                count.fetch_add(1, Ordering::Relaxed);
            };
            together(outside, || region(3, &add));
            assert!(count.into_inner() >= 1);
        };
        for _ in 0..20 {
            pool.install(|| search(None));
            search(Some(&pool));
        }
    }

    /// Where the caller's functions run, threads that wait run other tasks of the pool.
    #[test]
    fn a_broadcast_from_a_region_returns() {
        let pool = pool(3);
        for _ in 0..20 {
            let called = AtomicUsize::new(0);
            pool.install(|| {
                callers::run_with(true, || {
                    together(None, || {
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

    /// Measures how much of the leading thread's stack the deepest pool takes that is ever used.
    #[test]
    fn a_helper_takes_a_kilobyte_of_stack_at_most() {
        fn here() -> usize {
            let local = 0_u8;
            std::hint::black_box(&raw const local).addr()
        }
        let lowest = Mutex::new(usize::MAX);
        let (start, threads) = pool(256).install(|| {
            let start = here();
            together(None, || *lowest.lock().expect("nobody panics") = here());
            (start, rayon::current_num_threads())
        });
        let depth = start.saturating_sub(lowest.into_inner().expect("nobody panics"));
        assert!(depth > 0 && depth <= threads << 10, "{depth} bytes for {threads} threads");
    }
}

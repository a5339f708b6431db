//! One thread leads, and others stand by and share its regions. A room of `unsafe`: the closure of a region is lent to
//! the helpers by pointer.
//!
//! Helpers come when they can, and are free to leave between regions. The leader waits only for the helpers that are
//! within a region when its own part is done. Whoever calls helpers sees to it that the hand-over outlives them.
#![allow(unsafe_code, reason = "closures lent to other threads")]

use core::any::Any;
use core::mem;
use core::ptr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::PoisonError;

use crate::parallel::bell::Bell;
use crate::parallel::sync::{
    AtomicBool, AtomicUsize, CachePadded, Guarded, Mutex, Ordering, fence, leave_processor, look_out, processor,
    yield_now,
};

/// What a leader shares with its helpers.
pub(crate) struct Handover {
    /// Odd while a region is open; each region has a number of its own.
    region: CachePadded<AtomicUsize>,
    /// Helpers that may be at work in the region, counted by seats, which they take by their numbers. Were they counted
    /// at one place, each would wait for the ones before it.
    within: [CachePadded<AtomicUsize>; SEATS],
    /// The work of the region that is open.
    work: Guarded<Closure>,
    /// Helpers that have come since helpers were first let in, or were last let in again.
    came: AtomicUsize,
    /// Helpers that are here now.
    present: AtomicUsize,
    dismissed: AtomicBool,
    /// The processor that the leader was on when it last called helpers or opened a region.
    leader_on: AtomicUsize,
    /// Whether a helper that has been put on the leader's processor moves to another. Of several helpers, one that moved
    /// might meet another there.
    may_move: AtomicBool,
    /// Helpers that are here, and let the leader go on because they have its processor.
    aside: AtomicUsize,
    /// The first panic of a helper.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    /// Rung when a helper leaves a region, or leaves.
    bell: Bell,
}

/// Helpers that have a seat of their own.
const SEATS: usize = 16;

/// How many times a helper on the leader's processor lets the leader go on, before it leaves. When the leader dismisses
/// helpers, it lets them go on as many times, so that they can leave.
const ASIDE: u32 = 64;

/// The closure that a region runs on each thread; its argument is a number of the thread's own.
type Closure = *const (dyn Fn(usize) + Sync);

// SAFETY: the pointer is used as a shared reference to something `Sync`, while the leader vouches that it lives.
unsafe impl Send for Handover {}
// SAFETY: the leader alone writes `work`, while no region is open and no helper within. Helpers read it only within a
// region. Everything else is made to be shared.
unsafe impl Sync for Handover {}

impl Default for Handover {
    fn default() -> Self {
        let nothing: &'static (dyn Fn(usize) + Sync) = &|_| ();
        Self {
            region: CachePadded::new(AtomicUsize::new(0)),
            within: core::array::from_fn(|_| CachePadded::new(AtomicUsize::new(0))),
            work: Guarded::new(ptr::from_ref(nothing)),
            came: AtomicUsize::new(0),
            present: AtomicUsize::new(0),
            dismissed: AtomicBool::new(false),
            leader_on: AtomicUsize::new(usize::MAX),
            may_move: AtomicBool::new(false),
            aside: AtomicUsize::new(0),
            panic: Mutex::new(None),
            bell: Bell::default(),
        }
    }
}

impl Handover {
    /// Runs `work(0)` on this thread, the leader, and `work` with other numbers on every helper that comes before
    /// `work(0)` has ended; returns when all have ended.
    ///
    /// # Panics
    /// When `work` panics on any thread, with the payload of the first panic.
    pub(crate) fn region(&self, work: &(dyn Fn(usize) + Sync)) {
        let open = Open::new(self, work);
        work(0);
        drop(open);
        if let Some(panic) = self.first_panic().take() {
            resume_unwind(panic);
        }
    }

    /// Helps in one region after the other, until dismissed or until no region has opened for a while. When
    /// [`Handover::dismiss`] returns, `leave` has run.
    pub(crate) fn stand_by(&self, leave: impl FnOnce()) {
        let help = |number| {
            let mut seen = 0;
            while let Some(region) = self.look_out_for(|region| region != seen && region % 2 == 1) {
                seen = region;
                self.help_in(region, number);
            }
        };
        self.attend(help, leave);
    }

    /// Helps in region `coming`, which the leader is about to open, or in a later one that is open; `leave` as in
    /// [`Handover::stand_by`]. A helper may be here before the leader has called the others, so it looks out for the
    /// region.
    pub(crate) fn help_once(&self, coming: usize, leave: impl FnOnce()) {
        let help = |number| {
            if let Some(region) = self.look_out_for(|region| region >= coming).filter(|region| region % 2 == 1) {
                self.help_in(region, number);
            }
        };
        self.attend(help, leave);
    }

    /// For the leader: the number of the region that it opens next.
    pub(crate) fn coming(&self) -> usize {
        self.region.load(Ordering::Relaxed) + 1
    }

    /// Sends all helpers away, and waits until none is here. Helpers that come later leave at once.
    pub(crate) fn dismiss(&self) {
        self.dismissed.store(true, Ordering::Relaxed);
        // A helper that comes now sees the dismissal, or is seen here.
        fence(Ordering::SeqCst);
        // A helper that lets this thread go on needs the processor to leave.
        for _ in 0..ASIDE {
            if self.aside.load(Ordering::Relaxed) == 0 {
                break;
            }
            yield_now();
        }
        if self.present.load(Ordering::Acquire) != 0 {
            self.bell.wait_until(|| self.present.load(Ordering::Acquire) == 0);
        }
    }

    /// Lets helpers come again, once all have been sent away. Nothing is left of the earlier ones.
    pub(crate) fn readmit(&self) {
        drop(self.first_panic().take());
        self.came.store(0, Ordering::Relaxed);
        // A helper that sees this is counted from 0 on.
        self.dismissed.store(false, Ordering::Release);
    }

    /// Whether all helpers have been sent away.
    pub(crate) fn is_dismissed(&self) -> bool {
        self.dismissed.load(Ordering::Relaxed)
    }

    /// Runs a helper's stay: `help`, if the helper is needed, then `leave`.
    fn attend(&self, help: impl FnOnce(usize), leave: impl FnOnce()) {
        self.present.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.step_aside(processor) && !self.dismissed.load(Ordering::Acquire) {
            help(1 + self.came.fetch_add(1, Ordering::Relaxed));
        }
        leave();
        self.present.fetch_sub(1, Ordering::Release);
        self.bell.ring();
    }

    /// Looks out for a region whose number `is_it` accepts; `None` if none comes for a while, or on dismissal.
    fn look_out_for(&self, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let mut region = 0;
        let mut dismissed = false;
        let found = look_out(|| {
            region = self.region.load(Ordering::Acquire);
            dismissed = self.dismissed.load(Ordering::Relaxed);
            dismissed || is_it(region)
        });
        (found && !dismissed).then_some(region)
    }

    /// Says whether there is one helper at most.
    pub(crate) fn has_one_helper(&self, one: bool) {
        self.may_move.store(one, Ordering::Relaxed);
    }

    /// Notes the processor that the leader is on.
    pub(crate) fn leads_on(&self, here: usize) {
        self.leader_on.store(here, Ordering::Relaxed);
    }

    /// Whether a helper that is here has been put on the leader's processor.
    pub(crate) fn is_in_the_way(&self, here: Option<usize>) -> bool {
        !self.is_dismissed() && here.is_some_and(|here| here == self.leader_on.load(Ordering::Relaxed))
    }

    /// Moves a helper that has been put on the leader's processor to another, if it is the only one. Returns whether it
    /// was there, and is there no longer.
    pub(crate) fn moves_off(&self, here: impl Fn() -> Option<usize>) -> bool {
        let from = here().filter(|_| self.may_move.load(Ordering::Relaxed));
        self.is_in_the_way(from) && from.is_some_and(leave_processor) && !self.is_in_the_way(here())
    }

    /// Gets out of the leader's way if this helper has been put on its processor: goes to another, or lets the leader go
    /// on. Otherwise the leader would stand still meanwhile, or would wait for a helper that cannot go on while the
    /// leader waits. Returns whether the helper is there no longer, or no helper is needed.
    pub(crate) fn step_aside(&self, here: impl Fn() -> Option<usize>) -> bool {
        if !self.is_in_the_way(here()) || self.moves_off(&here) {
            return true;
        }
        self.aside.fetch_add(1, Ordering::Relaxed);
        let may_help = (0..ASIDE).any(|_| {
            yield_now();
            !self.is_in_the_way(here())
        });
        self.aside.fetch_sub(1, Ordering::Relaxed);
        may_help
    }

    /// Does a helper's part of a region, unless the region has been closed.
    fn help_in(&self, region: usize, number: usize) {
        let within = &self.within[number % SEATS];
        within.fetch_add(1, Ordering::Relaxed);
        // Either the leader, closing, sees this helper, or this helper sees that the region is closed.
        fence(Ordering::SeqCst);
        if self.region.load(Ordering::Relaxed) == region {
            // SAFETY: the region is open, and the leader has not seen all of `within` at 0 since. So it waits for this
            // helper before it returns: the work is not written, and what it points to lives.
            let done = catch_unwind(AssertUnwindSafe(|| unsafe { self.work.read(|&work| (*work)(number)) }));
            if let Err(payload) = done {
                keep_first(&mut self.first_panic(), payload);
            }
        }
        within.fetch_sub(1, Ordering::Release);
        self.bell.ring();
    }

    /// Returns whether no helper is within a region; a helper that comes later sees whether one is open.
    fn is_empty(&self) -> bool {
        let seats = self.came.load(Ordering::Relaxed).min(SEATS);
        (1..=seats).all(|number| self.within[number % SEATS].load(Ordering::Acquire) == 0)
    }

    fn first_panic(&self) -> impl core::ops::DerefMut<Target = Option<Box<dyn Any + Send>>> + '_ {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the first of several panics. The payload of a later one may panic as it is dropped: that goes no further, since
/// others wait for whoever drops it.
pub(crate) fn keep_first(first: &mut Option<Box<dyn Any + Send>>, payload: Box<dyn Any + Send>) {
    if first.is_none() {
        *first = Some(payload);
    } else if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(another);
    }
}

/// A region that is open. However the region ends, no helper is at work in it afterwards.
struct Open<'a>(&'a Handover);

impl<'a> Open<'a> {
    fn new(handover: &'a Handover, work: &(dyn Fn(usize) + Sync)) -> Self {
        // SAFETY: the same pointer with its lifetime left out; helpers follow it only while the region is open, and
        // `drop` waits for them.
        let work = unsafe { mem::transmute::<*const (dyn Fn(usize) + Sync + '_), Closure>(ptr::from_ref(work)) };
        // SAFETY: no region is open, and no helper is within: the last region waited for all helpers.
        unsafe { handover.work.write(work) };
        handover.region.fetch_add(1, Ordering::Release);
        Self(handover)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.region.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if !self.0.is_empty() {
            self.0.bell.wait_until(|| self.0.is_empty());
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Handover, Open};
    use std::panic::resume_unwind;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::{scope, sleep, yield_now};
    use std::time::Duration;

    /// A payload that panics as it is dropped, but not while its thread unwinds.
    pub(crate) struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "on purpose");
        }
    }

    /// Else the helper would never leave, and the leader would wait for it.
    #[test]
    fn a_helper_leaves_when_the_payload_of_its_panic_panics_as_well() {
        let handover = Handover::default();
        let open = Open::new(&handover, &|_| resume_unwind(Box::new(Bomb)));
        for number in 1..=3 {
            handover.help_in(1, number);
        }
        drop(open);
        assert!(handover.within.iter().all(|within| within.load(Ordering::Relaxed) == 0));
        let first = handover.first_panic().take();
        assert!(first.as_ref().is_some_and(|payload| payload.is::<Bomb>()));
        std::mem::forget(first);
    }

    /// A helper that is called for one region, and comes before the region is open, helps in it, unless the leader is
    /// held up for longer than the helper looks out.
    #[test]
    fn who_comes_before_a_region_is_open_helps() {
        let helps = |run: usize| {
            let (handover, helped) = (&Handover::default(), AtomicUsize::new(0));
            scope(|scope| {
                let coming = handover.coming();
                scope.spawn(move || handover.help_once(coming, || ()));
                // Where there is one processor, a helper that looks out leaves it to a leader that wakes, but to none
                // that has given way.
                while handover.came.load(Ordering::Relaxed) == 0 {
                    if run.is_multiple_of(2) { sleep(Duration::from_nanos(1)) } else { yield_now() }
                }
                // By then the helper has looked and found no region.
                (0..1_000).for_each(|_| std::hint::spin_loop());
                handover.region(&|number| {
                    helped.fetch_add(number, Ordering::Relaxed);
                    // The region is open until the helper has helped or left.
                    while helped.load(Ordering::Relaxed) == 0 && handover.present.load(Ordering::Relaxed) > 0 {
                        yield_now();
                    }
                });
                handover.dismiss();
            });
            helped.into_inner() == 1
        };
        assert!((0..1_000).any(helps), "whoever comes early leaves at once");
    }
}

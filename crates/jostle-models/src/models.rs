//! A leader and one or two helpers; blocks that end in any order; writes to places of one's own.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};

use loom::cell::UnsafeCell;
use loom::model::Builder;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;

use crate::parallel::bell::Bell;
use crate::parallel::disjoint::Disjoint;
use crate::parallel::groups::Groups;
use crate::parallel::handover::Handover;
use crate::parallel::lookback::Prefix;
use crate::parallel::tasks::InOrder;

/// Runs a model in every order in which threads are taken off their processor at most `preemptions` times.
fn model(preemptions: usize, run: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(run);
}

/// A place that a region may touch while it is open, on one thread at a time. Loom reports two accesses that meet.
#[derive(Default)]
struct Place(UnsafeCell<usize>);

#[allow(unsafe_code, reason = "loom watches the cell")]
// SAFETY: each task has a place of its own.
unsafe impl Sync for Place {}

impl Place {
    #[allow(unsafe_code, reason = "loom watches the cell")]
    fn add(&self) {
        // SAFETY: each task has a place of its own, and loom says so if not.
        self.0.with_mut(|place| unsafe { *place += 1 });
    }

    #[allow(unsafe_code, reason = "loom watches the cell")]
    fn get(&self) -> usize {
        // SAFETY: as above.
        self.0.with(|place| unsafe { *place })
    }
}

/// Runs a helper as `rayon::join` does: on a thread that has ended when the join has.
fn helped(handover: &Arc<Handover>, help: impl Fn(&Handover) + Send + 'static, lead: impl FnOnce(&Handover)) {
    let helper = {
        let handover = handover.clone();
        thread::spawn(move || help(&handover))
    };
    lead(handover);
    helper.join().expect("a helper does not panic");
}

fn stand_by(handover: &Handover) {
    handover.stand_by(|| ());
}

/// Helps in the first region.
fn help_once(handover: &Handover) {
    handover.help_once(1, || ());
}

/// Runs one region of `tasks` tasks. Each has a place of its own on the stack of the leader.
fn region(handover: &Handover, tasks: usize) {
    let (left, places) = (InOrder::new(tasks, 2), [Place::default(), Place::default()]);
    handover
        .region(&|_| left.work_off(&|tasks: &mut dyn Iterator<Item = usize>| tasks.for_each(|at| places[at].add())));
    places[..tasks].iter().for_each(|place| assert_eq!(place.get(), 1));
}

/// One region, one helper.
pub fn a_late_helper_misses_a_region_or_does_its_part() {
    model(3, || {
        helped(&Arc::default(), stand_by, |handover| {
            region(handover, 2);
            handover.dismiss();
        });
    });
}

/// Two regions, one helper.
pub fn a_helper_stays_for_the_next_region_or_leaves() {
    model(2, || {
        helped(&Arc::default(), stand_by, |handover| {
            region(handover, 1);
            region(handover, 2);
            handover.dismiss();
        });
    });
}

/// No region.
pub fn a_helper_is_dismissed_while_it_comes() {
    model(4, || helped(&Arc::default(), stand_by, Handover::dismiss));
}

/// One of the helpers is called for this region alone.
pub fn two_helpers_and_a_leader() {
    model(1, || {
        let handover = Arc::<Handover>::default();
        helped(&handover.clone(), stand_by, |_| {
            helped(&handover, help_once, |handover| {
                region(handover, 2);
                handover.dismiss();
            });
        });
    });
}

/// One helper is called for a search, another for the next search, both led by the same thread. Whenever a helper
/// comes, it finds one of the searches, or none. If a helper were counted wrongly, the leader would not wait for it,
/// and loom would see two threads in one place.
pub fn helpers_of_one_search_are_good_for_the_next() {
    model(2, || {
        helped(&Arc::default(), stand_by, |handover| {
            region(handover, 2);
            handover.dismiss();
            handover.readmit();
            region(handover, 2);
            handover.dismiss();
        });
    });
    model(1, || {
        let handover = Arc::<Handover>::default();
        helped(&handover.clone(), stand_by, |_| {
            handover.dismiss();
            handover.readmit();
            helped(&handover, stand_by, |handover| {
                region(handover, 2);
                handover.dismiss();
            });
        });
    });
}

/// When the leader unwinds, all that the region lends is gone, so no helper may still use it.
pub fn a_panic_of_the_leader_or_the_helper_ends_the_region() {
    model(2, || {
        helped(&Arc::default(), stand_by, |handover| {
            let place = Place::default();
            let region = catch_unwind(AssertUnwindSafe(|| {
                let left = InOrder::new(1, 2);
                handover.region(&|number| {
                    left.work_off(&|tasks: &mut dyn Iterator<Item = usize>| {
                        tasks.for_each(|_| {
                            place.add();
                            panic_any(number)
                        });
                    });
                });
            }));
            assert!(region.expect_err("one of them panics").downcast_ref::<usize>().is_some_and(|&number| number <= 1));
            assert_eq!(place.get(), 1);
            handover.dismiss();
        });
    });
}

/// A region of another team within a region, each with a helper that may come.
pub fn a_search_within_a_region() {
    model(1, || {
        helped(&Arc::default(), stand_by, |outer| {
            let left = InOrder::new(1, 2);
            outer.region(&|_| {
                left.work_off(&|tasks: &mut dyn Iterator<Item = usize>| {
                    tasks.for_each(|_| {
                        helped(&Arc::default(), help_once, |inner| {
                            region(inner, 1);
                            inner.dismiss();
                        });
                    });
                });
            });
            outer.dismiss();
        });
    });
}

/// The model has no alarm. If a ring were missed, the waiting thread would sleep for ever, which loom reports.
pub fn no_ring_is_missed() {
    model(4, || {
        let shared = Arc::new((Bell::default(), AtomicUsize::new(0)));
        let ringers: Vec<_> = (0..2)
            .map(|_| {
                let shared = shared.clone();
                thread::spawn(move || {
                    shared.1.fetch_add(1, Relaxed);
                    shared.0.ring();
                })
            })
            .collect();
        shared.0.wait_until(|| shared.1.load(Relaxed) == 2);
        ringers.into_iter().for_each(|ringer| ringer.join().expect("no panic"));
    });
}

/// Three blocks have 1, 2 and 3 items. Whichever thread ends them, in whatever order, all starts become known.
pub fn blocks_end_in_any_order() {
    model(3, || {
        let mut starts = Prefix::default();
        starts.reset(3);
        let starts = Arc::new(starts);
        let other = {
            let starts = starts.clone();
            thread::spawn(move || starts.worker(|| starts.end(1, 2)))
        };
        starts.worker(|| {
            starts.end(0, 1);
            starts.end(2, 3);
            assert_eq!(starts.wait_for(2), Some(3));
        });
        other.join().expect("no panic");
        assert_eq!((starts.range_of(1), starts.total()), (Some(1..3), 6));
    });
}

/// Three threads end the parts of a group. The last of them, and no other, goes on with the group, and sees what the
/// others did.
pub fn who_ends_a_group_sees_all_of_it() {
    model(3, || {
        let mut groups = Groups::default();
        groups.reset(1);
        let shared = Arc::new((groups, [Place::default(), Place::default(), Place::default()], AtomicUsize::new(0)));
        let end = |shared: &(Groups, [Place; 3], AtomicUsize), own: usize| {
            let (groups, places, ended) = shared;
            places[own].add();
            if groups.end(0, own + 1, 6) {
                places.iter().for_each(|place| assert_eq!(place.get(), 1));
                ended.fetch_add(1, Relaxed);
            }
        };
        let others: Vec<_> = (1..3)
            .map(|own| {
                let shared = shared.clone();
                thread::spawn(move || end(&shared, own))
            })
            .collect();
        end(&shared, 0);
        others.into_iter().for_each(|other| other.join().expect("no panic"));
        assert_eq!(shared.2.load(Relaxed), 1);
    });
}

/// The bell rings for a panic, too.
pub fn whoever_waits_learns_that_another_has_panicked() {
    model(4, || {
        let mut starts = Prefix::default();
        starts.reset(2);
        let starts = Arc::new(starts);
        let other = {
            let starts = starts.clone();
            thread::spawn(move || {
                assert!(catch_unwind(AssertUnwindSafe(|| starts.worker(|| panic_any("on purpose")))).is_err());
            })
        };
        assert_eq!(starts.wait_for(1), None);
        other.join().expect("no panic");
    });
}

/// When a region has ended, the leader sees what its tasks wrote to places of their own.
#[allow(unsafe_code, reason = "tasks write places of their own")]
pub fn writes_to_places_of_ones_own_are_seen_by_who_waits() {
    model(3, || {
        helped(&Arc::default(), stand_by, |handover| {
            let mut slots = [0, 0];
            {
                let (left, slots) = (InOrder::new(2, 2), Disjoint::new(&mut slots));
                handover.region(&|_| {
                    left.work_off(&|tasks: &mut dyn Iterator<Item = usize>| {
                        // SAFETY: each task is handed out once.
                        tasks.for_each(|at| unsafe { slots.write(at, at + 1) });
                    });
                });
            }
            assert_eq!(slots, [1, 2]);
            handover.dismiss();
        });
    });
}

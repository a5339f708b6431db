//! Records how long each task of a computation takes, one after the other, and estimates from that the time on more
//! threads than this machine has.

use core::fmt;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::clock::Instant;

/// A region of a computation whose tasks may run side by side.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Region {
    /// What the tasks of the region do.
    pub name: &'static str,
    /// The time that one thread works alone, from the end of the region before.
    pub before: Duration,
    /// How long each task took.
    pub tasks: Vec<Duration>,
}

/// The regions of a computation, in order.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// Regions that were handed to the workers.
    pub regions: Vec<Region>,
    /// The time that one thread works alone after the last region.
    pub after: Duration,
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, before, tasks } = self;
        f.debug_struct("Region").field("name", name).field("before", before).field("tasks", &tasks.len()).finish()
    }
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording")
            .field("regions", &self.regions.len())
            .field("serial", &self.serial())
            .field("parallel", &self.parallel())
            .finish()
    }
}

impl Recording {
    /// The time of all that one thread does alone.
    #[must_use]
    pub fn serial(&self) -> Duration {
        self.regions.iter().map(|region| region.before).sum::<Duration>() + self.after
    }

    /// The time of all tasks.
    #[must_use]
    pub fn parallel(&self) -> Duration {
        self.regions.iter().flat_map(|region| &region.tasks).sum()
    }

    /// Returns the time that the computation would take on `workers` workers: a lower bound for a machine of cores like
    /// this one. Each task goes to the first worker that is free (list scheduling; R. L. Graham, "Bounds on
    /// multiprocessing timing anomalies", 1969), regions come one after the other, and neither hand-overs nor shared
    /// memory cost anything.
    ///
    /// # Panics
    /// When there is no worker.
    #[must_use]
    pub fn makespan(&self, workers: usize) -> Duration {
        assert!(workers > 0, "nobody works");
        self.serial() + self.regions.iter().map(|region| schedule(&region.tasks, workers)).sum::<Duration>()
    }
}

fn schedule(tasks: &[Duration], workers: usize) -> Duration {
    let mut free: BinaryHeap<Reverse<Duration>> =
        (0..workers.min(tasks.len())).map(|_| Reverse(Duration::ZERO)).collect();
    let mut last = Duration::ZERO;
    for &task in tasks {
        let Some(mut first) = free.peek_mut() else { break };
        first.0 += task;
        last = last.max(first.0);
    }
    last
}

struct Recorder {
    recording: Recording,
    /// The end of the last region.
    since: Instant,
}

thread_local! {
    static RECORDER: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

/// Runs a computation whose regions are recorded. Recordings do not nest: the inner one ends the outer.
pub(crate) fn recorded<R>(computation: impl FnOnce() -> R) -> (R, Recording) {
    let recorder = Recorder { recording: Recording::default(), since: Instant::now() };
    RECORDER.set(Some(recorder));
    let result = computation();
    let recording = RECORDER.take().map_or_else(Recording::default, |mut recorder| {
        recorder.recording.after = recorder.since.elapsed();
        recorder.recording
    });
    (result, recording)
}

/// Runs the tasks of a region, by way of an iterator that looks at the clock whenever it is asked for the next.
pub(crate) fn region(name: &'static str, tasks: usize, run: impl FnOnce(&mut dyn Iterator<Item = usize>)) {
    let mut times = Vec::with_capacity(tasks);
    let start = Instant::now();
    let mut began = start;
    let mut next = 0;
    run(&mut core::iter::from_fn(|| {
        let now = Instant::now();
        if next > 0 {
            times.push(now - began);
        }
        began = now;
        next += 1;
        (next <= tasks).then(|| next - 1)
    }));
    RECORDER.with_borrow_mut(|recorder| {
        if let Some(recorder) = recorder {
            recorder.recording.regions.push(Region { name, before: start - recorder.since, tasks: times });
            recorder.since = Instant::now();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::{Recording, Region};
    use crate::record;
    use std::time::Duration;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn tasks_go_to_the_first_free_worker() {
        let region = Region { name: "", before: MS, tasks: [3, 3, 2, 2, 2].map(|ms| ms * MS).to_vec() };
        let recording = Recording { regions: vec![region.clone(), region], after: MS };
        assert_eq!([1, 2, 3, 5, 99].map(|workers| recording.makespan(workers).as_millis()), [27, 17, 13, 9, 9]);
        assert_eq!((recording.serial(), recording.parallel()), (3 * MS, 24 * MS));
        assert_eq!(Recording::default().makespan(4), Duration::ZERO);
    }

    #[test]
    fn every_task_is_recorded() {
        let (sum, recording) = record(|workers| {
            let sum = core::sync::atomic::AtomicUsize::new(0);
            workers.run("first", 3, |task| {
                std::thread::sleep(MS);
                sum.fetch_add(task, core::sync::atomic::Ordering::Relaxed);
            });
            workers.run_in_shares("second", (2, None), |tasks| assert!(tasks.in_turn().eq(0..2)));
            sum.into_inner()
        });
        assert_eq!(sum, 3);
        let shape: Vec<_> = recording.regions.iter().map(|region| (region.name, region.tasks.len())).collect();
        assert_eq!(shape, [("first", 3), ("second", 2)]);
        assert!(recording.regions[0].tasks.iter().all(|&task| task >= MS));
    }
}

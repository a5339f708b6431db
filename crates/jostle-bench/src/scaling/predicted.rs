//! What recordings of the tasks of a search predict for more threads than the machine has.

use jostle::{CoherentFinder, ContactTracker, NeighborLists, PairFinder, Rows, Threads};
use jostle_core::Recording;
use jostle_pairs::SERIAL_BELOW;
use jostle_testkit::{Kind, Scene};

use crate::drift::{STEP, turning};
use crate::race::{Timing, milliseconds};
use crate::table::{Cell, Table};

/// Workers whose speed-up is predicted.
pub(crate) const WORKERS: [usize; 5] = [4, 8, 16, 32, 64];

/// Searches before the first that counts.
const WARM_UP: usize = 2;

/// Recordings whose median counts.
const RECORDINGS: usize = 9;

/// Coherent frames in a row that are searched, at most.
const MOST_SEARCHED: usize = 4;

/// What recordings of one search tell.
pub(crate) struct Predicted {
    /// The part of the time that one thread spends alone, whatever the number of threads.
    pub(crate) serial_share: f64,
    /// How much faster so many workers would be than one, by the makespan of the tasks: medians.
    pub(crate) speed_ups: [f64; WORKERS.len()],
    /// The recording of median length.
    pub(crate) recording: Recording,
}

/// What is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The list of pairs.
    Pairs,
    /// Full neighbour lists.
    Rows,
    /// Which contacts begin, persist and end, given the pairs. Two thirds of the pairs were in the last frame.
    Contacts,
    /// The list of pairs of a kept coherent frame, in which a few bodies have turned.
    Kept,
}

impl Answer {
    pub(crate) const ALL: [Self; 4] = [Self::Pairs, Self::Rows, Self::Contacts, Self::Kept];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pairs => "pairs",
            Self::Rows => "full rows",
            Self::Contacts => "contacts",
            Self::Kept => "kept frame",
        }
    }
}

/// Records an answer of a scene several times. Returns `None` where the engine keeps to one thread, since its tasks are
/// never run there.
pub(crate) fn predict<const D: usize>(scene: &Scene<D>, answer: Answer) -> Option<Predicted> {
    if scene.len() < SERIAL_BELOW {
        return None;
    }
    let (mut finder, mut lists) = (PairFinder::new(), NeighborLists::new());
    match answer {
        Answer::Pairs => Some(summarised(|| finder.on(Threads::Serial).find_recorded(scene.view()).expect(SOUND).1)),
        Answer::Rows => Some(summarised(|| {
            finder.on(Threads::Serial).neighbors_recorded(scene.view(), Rows::Full, &mut lists).expect(SOUND).1
        })),
        Answer::Contacts => {
            let pairs = finder.on(Threads::Serial).find(scene.view()).expect(SOUND).pairs();
            // Two frames alternate: the first three quarters of all pairs, and the last three quarters.
            let frames = [&pairs[..pairs.len() * 3 / 4], &pairs[pairs.len() / 4..]];
            let keys: Vec<u64> = (0..scene.len() as u64).collect();
            let (mut tracker, mut frame) = (ContactTracker::new(), 0);
            Some(summarised(|| {
                frame += 1;
                let update = tracker.on(Threads::Serial).update_recorded(frames[frame % 2], &keys);
                update.expect("pairs of a search").1
            }))
        }
        Answer::Kept => {
            let (mut finder, mut frames) = (CoherentFinder::new(), turning(scene, STEP, 1));
            Some(summarised(|| kept_frame(&mut finder, frames.by_ref())))
        }
    }
}

/// Records the first frame that this finder does not search from scratch, or, if there is none, the last one tried.
fn kept_frame<const D: usize>(finder: &mut CoherentFinder<D>, frames: impl Iterator<Item = Scene<D>>) -> Recording {
    let mut last = Recording::default();
    for frame in frames.take(MOST_SEARCHED) {
        let searched = finder.rebuilds();
        last = finder.on(Threads::Serial).find_recorded(frame.view()).expect(SOUND).1;
        if finder.rebuilds() == searched {
            break;
        }
    }
    last
}

/// Why a search of a scene cannot fail.
const SOUND: &str = "scenes keep to the contract";

fn summarised(record: impl FnMut() -> Recording) -> Predicted {
    let recordings = std::iter::repeat_with(record).take(WARM_UP + RECORDINGS);
    let mut recordings: Vec<Recording> = recordings.skip(WARM_UP).collect();
    let median = |of: &dyn Fn(&Recording) -> f64| Timing::of(recordings.iter().map(of).collect(), 1).median;
    let seconds = |recording: &Recording, workers| recording.makespan(workers).as_secs_f64();
    let serial_share = median(&|recording| recording.serial().as_secs_f64() / seconds(recording, 1));
    let speed_ups = WORKERS.map(|workers| median(&|recording| seconds(recording, 1) / seconds(recording, workers)));
    recordings.sort_by_key(|recording| recording.makespan(1));
    Predicted { serial_share, speed_ups, recording: recordings.swap_remove(RECORDINGS / 2) }
}

/// Makes an empty table of what recordings tell of each answer.
pub(crate) fn answers_table() -> Table {
    let columns = ["dim", "scene", "n", "answer", "recorded ms", "serial recorded"].map(str::to_owned);
    Table::new(columns.into_iter().chain(WORKERS.map(|workers| format!("{workers} workers"))))
}

/// Adds what recordings tell of an answer.
pub(crate) fn push_answer(table: &mut Table, axes: usize, (kind, n): (Kind, usize), answer: Answer, it: &Predicted) {
    let mut cells: Vec<Cell> = vec![axes.into(), kind.to_string().into(), n.into(), answer.name().into()];
    cells.extend([milliseconds(it.recording.makespan(1)).into(), it.serial_share.into()]);
    cells.extend(it.speed_ups.map(Cell::from));
    table.push(cells);
}

/// An empty table of regions.
pub(crate) fn regions_table() -> Table {
    Table::new(["dim", "scene", "n", "answer", "region", "tasks", "serial before", "all tasks", "longest task"])
}

/// Adds the regions of a recording, times in milliseconds.
pub(crate) fn push_regions(
    table: &mut Table,
    axes: usize,
    (kind, n): (Kind, usize),
    answer: Answer,
    recording: &Recording,
) {
    let key = || [axes.into(), kind.to_string().into(), n.into(), answer.name().into()].into_iter();
    for region in &recording.regions {
        let longest = region.tasks.iter().max().copied().unwrap_or_default();
        let cells: [Cell; 5] = [
            region.name.into(),
            region.tasks.len().into(),
            milliseconds(region.before).into(),
            milliseconds(region.tasks.iter().sum()).into(),
            milliseconds(longest).into(),
        ];
        table.push(key().chain(cells).collect());
    }
    let after = ["(the end)".into(), Cell::Missing, milliseconds(recording.after).into(), Cell::Missing, Cell::Missing];
    table.push(key().chain(after).collect());
}

#[cfg(test)]
mod tests {
    use super::{Answer, answers_table, predict, push_answer, push_regions, regions_table};
    use jostle_pairs::SERIAL_BELOW;
    use jostle_testkit::{Kind, scene};

    #[test]
    fn more_workers_are_predicted_no_slower() {
        for answer in Answer::ALL {
            let n = 2 * SERIAL_BELOW;
            let predicted = predict(&scene::scene::<2>(Kind::Dense, n, 1), answer).expect("enough bodies");
            assert!((0.0..1.0).contains(&predicted.serial_share));
            let speed_ups = predicted.speed_ups;
            assert!(speed_ups.is_sorted() && speed_ups[0] > 1.0, "{answer:?}: {speed_ups:?}");
            let (mut table, mut regions) = (answers_table(), regions_table());
            push_answer(&mut table, 2, (Kind::Dense, n), answer, &predicted);
            push_regions(&mut regions, 2, (Kind::Dense, n), answer, &predicted.recording);
            assert_eq!((table.len(), regions.len()), (1, predicted.recording.regions.len() + 1));
        }
    }

    #[test]
    fn few_bodies_are_not_recorded() {
        let few = scene::scene::<3>(Kind::Uniform, SERIAL_BELOW - 1, 1);
        assert!(Answer::ALL.iter().all(|&answer| predict(&few, answer).is_none()));
    }
}

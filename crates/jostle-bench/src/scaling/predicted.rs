//! What recordings of the tasks of a search say of more threads than the machine has.

use jostle::PairFinder;
use jostle_core::Recording;
use jostle_pairs::SERIAL_BELOW;
use jostle_testkit::{Kind, Scene};

use crate::race::{Timing, milliseconds};
use crate::table::{Cell, Table};

/// Workers whose speed-up is predicted.
pub(crate) const WORKERS: [usize; 5] = [4, 8, 16, 32, 64];

/// Searches before the first that counts.
const WARM_UP: usize = 2;

/// Recordings whose median counts.
const RECORDINGS: usize = 9;

/// What recordings of one search say.
pub(crate) struct Predicted {
    /// The part of the time that one thread spends alone, whatever the number of threads.
    pub(crate) serial_share: f64,
    /// How much faster so many workers would be than one, by the makespan of the tasks: medians.
    pub(crate) speed_ups: [f64; WORKERS.len()],
    /// The recording of median length.
    pub(crate) recording: Recording,
}

/// Records the search of a scene some times. Nothing where the engine keeps to one thread: what its tasks would be there
/// is never run.
pub(crate) fn predict<const D: usize>(scene: &Scene<D>) -> Option<Predicted> {
    if scene.len() < SERIAL_BELOW {
        return None;
    }
    let mut finder = PairFinder::new();
    let recordings = (0..WARM_UP + RECORDINGS).map(|_| {
        let recorded = finder.on(jostle::Threads::Serial).find_recorded(scene.view());
        recorded.expect("scenes keep to the contract").1
    });
    let mut recordings: Vec<Recording> = recordings.skip(WARM_UP).collect();
    let median = |of: &dyn Fn(&Recording) -> f64| Timing::of(recordings.iter().map(of).collect(), 1).median;
    let seconds = |recording: &Recording, workers| recording.makespan(workers).as_secs_f64();
    let serial_share = median(&|recording| recording.serial().as_secs_f64() / seconds(recording, 1));
    let speed_ups = WORKERS.map(|workers| median(&|recording| seconds(recording, 1) / seconds(recording, workers)));
    recordings.sort_by_key(|recording| recording.makespan(1));
    Some(Predicted { serial_share, speed_ups, recording: recordings.swap_remove(RECORDINGS / 2) })
}

/// An empty table of regions.
pub(crate) fn regions_table() -> Table {
    Table::new(["dim", "scene", "n", "region", "tasks", "serial before", "all tasks", "longest task"])
}

/// Adds the regions of a recording, times in milliseconds.
pub(crate) fn push_regions(table: &mut Table, axes: usize, kind: Kind, n: usize, recording: &Recording) {
    let key = || [axes.into(), kind.to_string().into(), n.into()].into_iter();
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
    use super::{predict, push_regions, regions_table};
    use jostle_pairs::SERIAL_BELOW;
    use jostle_testkit::{Kind, scene};

    #[test]
    fn more_workers_are_predicted_no_slower() {
        let predicted = predict(&scene::scene::<2>(Kind::Dense, SERIAL_BELOW, 1)).expect("enough bodies");
        assert!((0.0..1.0).contains(&predicted.serial_share));
        assert!(predicted.speed_ups.is_sorted() && predicted.speed_ups[0] > 1.0, "{:?}", predicted.speed_ups);
        let mut table = regions_table();
        push_regions(&mut table, 2, Kind::Dense, SERIAL_BELOW, &predicted.recording);
        assert_eq!(table.len(), predicted.recording.regions.len() + 1);
    }

    #[test]
    fn few_bodies_are_not_recorded() {
        assert!(predict(&scene::scene::<3>(Kind::Uniform, SERIAL_BELOW - 1, 1)).is_none());
    }
}

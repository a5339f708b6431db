//! A machine that another process uses as well.

use std::io;
use std::time::Duration;

use jostle::Threads;

use super::ground::Ground;
use super::hog::{self, Hog};
use super::line::Line;
use crate::numbers;
use crate::race::{Plan, race};

/// Rows run at least so long without a break: many time slices of the system.
const SAMPLE: Duration = Duration::from_millis(100);

/// Measures the time of searches in a pool of all cores over that on one thread, beside a process that spins.
///
/// # Errors
/// When no such process can be started.
pub(super) fn lines(ground: &Ground) -> io::Result<Vec<Line>> {
    let small = ground.crowd(ground.of(100_000, 10_000), 0);
    let crowds = [&small, &ground.crowd];
    let both = [Threads::Serial, Threads::Pool(&ground.pools[0])];
    let plan = Plan { rounds: ground.rounds, sample: ground.of(SAMPLE, SAMPLE / 20), ..Plan::default() };
    let cases = hog::core().map(|core| (Some(core), "on one core")).into_iter().chain([(None, "wherever it is put")]);
    let mut lines = Vec::new();
    for (core, place) in cases {
        let hog = Hog::start(core)?;
        let mut cases: Vec<_> = crowds.iter().flat_map(|crowd| both.map(|threads| crowd.case(threads))).collect();
        let timings = race(&mut cases, &plan);
        drop(hog);
        lines.extend(crowds.iter().zip(timings.chunks_exact(2)).map(|(crowd, timings)| {
            let [one, all] = [timings[0], timings[1]];
            let besides = format!("{:.4} ms, p90 {:.4}; one thread {:.4}", all.median, all.p90, one.median);
            let case = format!("{}, process {place}", numbers::name(crowd.scene.len()));
            Line::new(case, all.median / one.median, "times").at_most(1.15).besides(besides)
        }));
    }
    Ok(lines)
}

//! Rows timed in turn, round after round, so that all meet the same state of the machine.

use std::time::{Duration, Instant};

/// A row of a table: what is timed.
pub(crate) struct Case<'a> {
    /// How long the first run took, whose answer was checked.
    pub(crate) first: Duration,
    /// Runs the row so many times in succession, and returns how long the timed part took.
    pub(crate) measure: Box<dyn FnMut(u32) -> Duration + Send + 'a>,
}

impl<'a> Case<'a> {
    /// Makes a row that is timed from beginning to end. It runs once to warm up, and once more as the first run.
    pub(crate) fn of(mut run: impl FnMut() + Send + 'a) -> Self {
        let mut measure = move |runs| {
            let start = Instant::now();
            (0..runs).for_each(|_| run());
            start.elapsed()
        };
        measure(1);
        Self { first: measure(1), measure: Box::new(measure) }
    }
}

/// How rows are timed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Rounds of a row that is not slow.
    pub(crate) rounds: u32,
    /// Rounds of a slow row.
    pub(crate) few: u32,
    /// A row that takes longer than this is slow.
    pub(crate) slow: Duration,
    /// A row that takes longer than this is timed by its first run alone.
    pub(crate) patience: Duration,
    /// Rows that take less than this run several times a round, after one run that is not timed. This is long enough
    /// that, for rows that run once a round, it makes no difference what the row before has left in the caches.
    pub(crate) sample: Duration,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            rounds: 15,
            few: 3,
            slow: Duration::from_secs(1),
            patience: Duration::from_secs(8),
            sample: Duration::from_millis(5),
        }
    }
}

/// The time of one run of a row, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Timing {
    pub(crate) median: f64,
    pub(crate) p10: f64,
    pub(crate) p90: f64,
    /// The longest time.
    pub(crate) worst: f64,
    /// Rounds in which the row was timed.
    pub(crate) rounds: u32,
    /// Runs in each round.
    pub(crate) runs: u32,
}

impl Timing {
    /// Returns the median and percentiles of samples in milliseconds, each sample of so many runs.
    pub(crate) fn of(mut samples: Vec<f64>, runs: u32) -> Self {
        samples.sort_unstable_by(f64::total_cmp);
        Self {
            median: quantile(&samples, 0.5),
            p10: quantile(&samples, 0.1),
            p90: quantile(&samples, 0.9),
            worst: quantile(&samples, 1.0),
            rounds: samples.len() as u32,
            runs,
        }
    }
}

/// Returns a quantile of ascending samples, interpolated between neighbours.
fn quantile(samples: &[f64], q: f64) -> f64 {
    let Some(last) = samples.len().checked_sub(1) else { return f64::NAN };
    let at = q * last as f64;
    let (low, high) = (samples[at.floor() as usize], samples[at.ceil() as usize]);
    low + (high - low) * at.fract()
}

/// Most runs of a row in a round.
const MOST_RUNS: f64 = 1_000.0;

/// Times all rows. Each round begins with another row.
pub(crate) fn race(cases: &mut [Case<'_>], plan: &Plan) -> Vec<Timing> {
    let schedule: Vec<(u32, u32)> = cases.iter_mut().map(|case| schedule(case, plan)).collect();
    let mut samples: Vec<Vec<f64>> = schedule.iter().map(|&(rounds, _)| Vec::with_capacity(rounds as usize)).collect();
    let rounds = schedule.iter().map(|&(rounds, _)| rounds).max().unwrap_or(0);
    for round in 0..rounds {
        for turn in 0..cases.len() {
            let row = (turn + round as usize) % cases.len();
            let (rounds, runs) = schedule[row];
            if round < rounds {
                if runs > 1 {
                    (cases[row].measure)(1);
                }
                samples[row].push(milliseconds((cases[row].measure)(runs)) / f64::from(runs));
            }
        }
    }
    let timing = |(row, samples): (usize, Vec<f64>)| match schedule[row] {
        (0, _) => Timing::of(vec![milliseconds(cases[row].first)], 1),
        (_, runs) => Timing::of(samples, runs),
    };
    samples.into_iter().enumerate().map(timing).collect()
}

/// Returns the rounds of a row, and the runs in each round. If there is no round, the first run counts.
fn schedule(case: &mut Case<'_>, plan: &Plan) -> (u32, u32) {
    if case.first > plan.patience {
        return (0, 1);
    }
    if case.first > plan.slow {
        return (plan.few, 1);
    }
    let warm = (case.measure)(1).max(Duration::from_nanos(100));
    let runs = (plan.sample.as_secs_f64() / warm.as_secs_f64()).ceil().clamp(1.0, MOST_RUNS);
    (plan.rounds, runs as u32)
}

/// A duration in milliseconds.
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::{Case, Plan, Timing, race};
    use std::time::Duration;

    fn case<'a>(first: Duration, run: impl FnMut() -> Duration + Send + 'a) -> Case<'a> {
        let mut run = run;
        Case { first, measure: Box::new(move |runs| (0..runs).map(|_| run()).sum()) }
    }

    #[test]
    fn quantiles_lie_between_samples() {
        let timing = Timing::of(vec![4.0, 1.0, 3.0, 2.0], 7);
        assert_eq!((timing.median, timing.worst, timing.rounds, timing.runs), (2.5, 4.0, 4, 7));
        assert!((timing.p10 - 1.3).abs() < 1e-12 && (timing.p90 - 3.7).abs() < 1e-12);
    }

    #[test]
    fn slow_rows_run_less_often_and_hopeless_ones_never_again() {
        let (mut quick, mut slow, mut hopeless) = (0, 0, 0);
        let mut cases = [
            case(Duration::from_millis(3), || {
                quick += 1;
                Duration::from_millis(6)
            }),
            case(Duration::from_secs(2), || {
                slow += 1;
                Duration::from_secs(2)
            }),
            case(Duration::from_secs(90), || {
                hopeless += 1;
                Duration::ZERO
            }),
        ];
        let timings = race(&mut cases, &Plan::default());
        assert_eq!(timings.iter().map(|timing| timing.rounds).collect::<Vec<_>>(), [15, 3, 1]);
        assert_eq!(timings.iter().map(|timing| timing.median).collect::<Vec<_>>(), [6.0, 2000.0, 90_000.0]);
        drop(cases);
        assert_eq!((quick, slow, hopeless), (16, 3, 0));
    }

    #[test]
    fn short_rows_run_many_times_a_round() {
        let mut cases = [case(Duration::from_micros(6), || Duration::from_micros(5))];
        let timing = race(&mut cases, &Plan::default())[0];
        assert_eq!((timing.runs, timing.rounds), (1000, 15));
        assert!((timing.median - 0.005).abs() < 1e-9);
    }
}

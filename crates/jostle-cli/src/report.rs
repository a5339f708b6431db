//! The figures that a command prints: rows of a name and a value.

use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::HumanCount;

use crate::write::Output;

/// Width of the column of names, in characters.
const NAMES: usize = 18;

/// Where the rows go.
pub(crate) struct Report {
    out: Box<dyn Write>,
    closed: bool,
}

impl Report {
    pub(crate) fn stdout() -> Self {
        Self { out: Box::new(io::stdout()), closed: false }
    }

    /// Makes a report on standard error if standard output carries a result, else on standard output.
    pub(crate) fn beside(outputs: &[&Output]) -> Self {
        if outputs.iter().any(|output| output.is_stdout()) {
            Self { out: Box::new(io::stderr()), closed: false }
        } else {
            Self::stdout()
        }
    }

    /// Prints one row. A reader that has gone away is no error, and the rest of the command still runs.
    pub(crate) fn row(&mut self, name: &str, value: impl fmt::Display) -> Result<()> {
        if self.closed {
            return Ok(());
        }
        match writeln!(self.out, "{name:<NAMES$}{value}") {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            outcome => outcome.context("cannot print"),
        }
    }
}

/// Circles or spheres.
pub(crate) fn noun(dim: usize) -> &'static str {
    if dim == 2 { "circles" } else { "spheres" }
}

/// A count and its noun, of which `plural` is the plural: `1 pair`, `46,324 pairs`, `1 box`.
pub(crate) fn counted(count: u64, plural: &str) -> String {
    let ending = if plural.ends_with("xes") { "es" } else { "s" };
    let noun = if count == 1 { plural.strip_suffix(ending).unwrap_or(plural) } else { plural };
    format!("{} {noun}", HumanCount(count))
}

/// A duration in milliseconds.
pub(crate) struct Millis(pub(crate) Duration);

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3} ms", self.0.as_secs_f64() * 1e3)
    }
}

/// A percentile, by nearest rank: `percent` of 100 durations are no longer. Zero when there are no durations.
pub(crate) fn percentile(mut times: Vec<Duration>, percent: usize) -> Duration {
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100);
    times.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Duration, Millis, counted, percentile};

    #[test]
    fn one_is_singular() {
        let words = [0, 1, 2, 46_324].map(|count| counted(count, "pairs"));
        assert_eq!(words, ["0 pairs", "1 pair", "2 pairs", "46,324 pairs"]);
        assert_eq!([1, 2].map(|count| counted(count, "boxes")), ["1 box", "2 boxes"]);
    }

    #[test]
    fn percentiles_are_members() {
        let times: Vec<_> = (1..=20).rev().map(Duration::from_millis).collect();
        assert_eq!(percentile(times.clone(), 50), Duration::from_millis(10));
        assert_eq!(percentile(times.clone(), 95), Duration::from_millis(19));
        assert_eq!(percentile(times, 100), Duration::from_millis(20));
        assert_eq!(percentile(vec![Duration::from_millis(7)], 50), Duration::from_millis(7));
        assert_eq!(percentile(Vec::new(), 50), Duration::ZERO);
    }

    #[test]
    fn milliseconds_have_three_decimals() {
        assert_eq!(Millis(Duration::from_micros(1_234_567)).to_string(), "1234.567 ms");
    }
}

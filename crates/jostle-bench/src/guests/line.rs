//! A line of the table: what was measured, and the bar that it must meet.

use crate::table::Cell;

/// What a measured number must be.
#[derive(Debug, Clone, Copy)]
enum Bar {
    AtMost(f64),
    AtLeast(f64),
}

/// One case of a row.
#[derive(Debug, Clone)]
pub(super) struct Line {
    case: String,
    measured: f64,
    unit: &'static str,
    bar: Option<Bar>,
    besides: String,
}

impl Line {
    /// Makes a line without a bar.
    pub(super) fn new(case: impl Into<String>, measured: f64, unit: &'static str) -> Self {
        Self { case: case.into(), measured, unit, bar: None, besides: String::new() }
    }

    pub(super) fn at_most(self, bar: f64) -> Self {
        Self { bar: Some(Bar::AtMost(bar)), ..self }
    }

    pub(super) fn at_least(self, bar: f64) -> Self {
        Self { bar: Some(Bar::AtLeast(bar)), ..self }
    }

    /// Adds a remark.
    pub(super) fn besides(self, besides: impl Into<String>) -> Self {
        Self { besides: besides.into(), ..self }
    }

    /// Returns whether the line meets its bar, if it has one. A number that could not be measured does not meet it.
    pub(super) fn met(&self) -> Option<bool> {
        self.bar.map(|bar| match bar {
            Bar::AtMost(most) => self.measured <= most,
            Bar::AtLeast(least) => self.measured >= least,
        })
    }

    /// Returns the cells of the line, with the part of the machine that other processes had meanwhile.
    pub(super) fn cells(self, row: u8, what: &str, others: Option<f64>) -> Vec<Cell> {
        let met = self.met().map(|met| if met { "yes" } else { "no" });
        let bar = self.bar.map(|bar| match bar {
            Bar::AtMost(most) => format!("at most {most}"),
            Bar::AtLeast(least) => format!("at least {least}"),
        });
        let besides = Some(self.besides).filter(|besides| !besides.is_empty());
        vec![
            u32::from(row).into(),
            what.into(),
            self.case.into(),
            self.measured.into(),
            self.unit.into(),
            bar.into(),
            met.into(),
            others.map(|share| format!("{:.0} %", 100.0 * share)).into(),
            besides.into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::Line;

    #[test]
    fn bars_are_met_at_their_own_value_and_never_by_nothing() {
        let line = |measured| Line::new("case", measured, "times");
        assert_eq!([1.0, 1.5, f64::NAN].map(|m| line(m).at_most(1.0).met()), [Some(true), Some(false), Some(false)]);
        assert_eq!([1.0, 0.5, f64::NAN].map(|m| line(m).at_least(1.0).met()), [Some(true), Some(false), Some(false)]);
        assert_eq!(line(1.0).met(), None);
    }
}

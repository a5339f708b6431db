//! The bodies of a file, one vector a column, and where each of them stood in the file.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Error, anyhow};
use jostle::{Bodies, InputError, Radii};

use super::columns::Picked;
use crate::report::noun;

/// What was read.
#[derive(Debug)]
pub struct Table {
    centers: Vec<Vec<f32>>,
    radii: Radius,
    places: Places,
}

#[derive(Debug)]
enum Radius {
    All(f32),
    Each(Vec<f32>),
}

/// Where the bodies stood in the file.
#[derive(Debug)]
pub(crate) enum Places {
    /// Body `id` is row `id`, counted from 0.
    Rows,
    /// The bodies stood on lines of text.
    Lines(Lines),
}

/// The line of each body, kept as the few places where lines do not simply follow each other.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bodies: u64,
    /// From this id on, the line is the id plus this number.
    breaks: Vec<(u64, u64)>,
}

impl Lines {
    /// Notes the line of the next body. Lines are counted from 1, and the first one is no body's.
    pub(crate) fn push(&mut self, line: u64) {
        let ahead = line - self.bodies;
        if self.breaks.last().is_none_or(|&(_, last)| last != ahead) {
            self.breaks.push((self.bodies, ahead));
        }
        self.bodies += 1;
    }

    fn line(&self, id: u64) -> u64 {
        let after = self.breaks.partition_point(|&(first, _)| first <= id);
        id + self.breaks[after - 1].1
    }
}

impl Table {
    /// `columns` in the order of `picked`.
    pub(crate) fn new(picked: &Picked, mut columns: Vec<Vec<f32>>, places: Places) -> Self {
        let radii = match picked.radius {
            Some(radius) => Radius::All(radius),
            None => Radius::Each(columns.pop().unwrap_or_default()),
        };
        Self { centers: columns, radii, places }
    }

    /// The number of axes: 2 or 3.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.centers.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.centers[0].len()
    }

    /// What was read, in words.
    pub(crate) fn describe(&self) -> String {
        format!("{} {}", indicatif::HumanCount(self.len() as u64), noun(self.dim()))
    }

    /// The bodies as input of a search.
    ///
    /// # Panics
    /// When `D` is not [`Self::dim`].
    #[must_use]
    pub fn view<const D: usize>(&self) -> Bodies<'_, D> {
        assert_eq!(D, self.dim());
        let radii = match &self.radii {
            Radius::All(radius) => Radii::from(*radius),
            Radius::Each(radii) => radii.into(),
        };
        Bodies::from_slices(std::array::from_fn(|axis| self.centers[axis].as_slice()), radii)
    }

    /// Where a body stood in the file.
    pub(crate) fn place(&self, id: u32) -> String {
        match &self.places {
            Places::Rows => format!("row {id}"),
            Places::Lines(lines) => format!("line {}", lines.line(id.into())),
        }
    }

    /// A refusal of the search, in terms of the file.
    pub(crate) fn explain(&self, refusal: InputError, file: &Path) -> Error {
        let InputError::Bodies { count, first } = refusal else {
            return Error::new(refusal).context(file.display().to_string());
        };
        let mut message = format!("{}: {count} of {} cannot be used", file.display(), self.describe());
        for (id, reason) in &first {
            // Writing to a String cannot fail.
            let _ = write!(message, "\n  {}: {reason}", self.place(*id));
        }
        if count > first.len() {
            message.push_str("\n  ...");
        }
        anyhow!(message)
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn lines_that_follow_each_other_take_no_room() {
        let mut lines = Lines::default();
        let truth = [2, 3, 4, 7, 8, 10, 11];
        truth.into_iter().for_each(|line| lines.push(line));
        assert_eq!(lines.breaks.len(), 3);
        assert!(truth.iter().enumerate().all(|(id, &line)| lines.line(id as u64) == line));
    }
}

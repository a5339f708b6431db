//! The bodies of a file, one vector a column, and where each of them stood in the file.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Error, Result, anyhow};
use jostle::{Bodies, BoxView, Input, InputError, Radii, Reason, Scalar};
use jostle_testkit::oracle::{self, Real};
use jostle_testkit::{box_pairs, sweep};

use super::column::{Column, is_exact, round};
use super::columns::{Picked, Shape};
use crate::args::Precision;
use crate::names::name;
use crate::picture::Drawn;
use crate::report::{counted, noun};
use crate::shown::Number;

/// What `pairs` and `verify` say of bodies that are too far off for `f32`.
pub(crate) const FARTHER: &str = "; --precision f64 goes further";

/// The bodies of a file, as they were read.
#[derive(Debug)]
pub struct Table {
    shape: Shape,
    dim: usize,
    values: Values,
    /// Names of the columns: of the axes, then of the radii; or of the lower corners, then of the upper corners.
    names: Vec<String>,
    /// One column an axis, if there are any.
    velocities: Vec<Vec<f64>>,
    places: Places,
    /// Which precision the values have, and why.
    precision: String,
    /// The first value that `f32` would round.
    inexact: Option<String>,
}

/// The values in the precision of the search.
#[derive(Debug)]
pub(crate) enum Values {
    F32(Columns<f32>),
    F64(Columns<f64>),
}

/// The columns of a table: one an axis and that of the radii, or one an axis for each of two corners.
#[derive(Debug)]
pub(crate) struct Columns<T> {
    each: Vec<Vec<T>>,
    /// The radius of all bodies, in place of the last column.
    radius: Option<T>,
}

impl<T: Scalar> Columns<T> {
    /// Circles or spheres as input of a search.
    ///
    /// # Panics
    /// When these are columns of boxes, or `D` is not the number of axes.
    pub(crate) fn view<const D: usize>(&self) -> Bodies<'_, D, T> {
        let radii = match self.radius {
            Some(radius) => Radii::from(radius),
            None => Radii::from(&self.each[D]),
        };
        assert_eq!(self.each.len(), D + usize::from(self.radius.is_none()));
        Bodies::from_slices(std::array::from_fn(|axis| self.each[axis].as_slice()), radii)
    }

    /// Boxes as input of a search.
    ///
    /// # Panics
    /// When `D` is not half the number of columns.
    pub(crate) fn boxes<const D: usize>(&self) -> BoxView<'_, D, T> {
        assert_eq!(self.each.len(), 2 * D);
        let corner = |first: usize| std::array::from_fn(|axis| self.each[first + axis].as_slice());
        BoxView::new(corner(0), corner(D))
    }

    fn row(&self, id: usize) -> impl Iterator<Item = f64> {
        self.each.iter().map(move |column| column[id]).chain(self.radius).map(Scalar::to_f64)
    }
}

/// Where the bodies stood in the file.
#[derive(Debug)]
pub(crate) enum Places {
    /// Body `id` is row `id`, counted from 0.
    Rows,
    /// The bodies stood on lines of text.
    Lines(Lines),
}

/// The line of each body, kept as the few places where a line does not follow the line of the body before.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bodies: u64,
    /// From this id on, the line is the id plus this number.
    breaks: Vec<(u64, u64)>,
}

impl Places {
    fn of(&self, id: u64) -> String {
        match self {
            Self::Rows => format!("row {id}"),
            Self::Lines(lines) => format!("line {}", lines.line(id)),
        }
    }
}

impl Lines {
    /// Notes the line of the next body. Lines are counted from 1.
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
    /// Makes a table of `columns`, which stand in the order of `picked`.
    ///
    /// # Errors
    /// When `f32` was asked for and some value is beyond its range.
    pub(crate) fn new(picked: &Picked, mut columns: Vec<Column>, places: Places, precision: Precision) -> Result<Self> {
        let (shape, dim) = (picked.shape, picked.dim);
        let velocities = columns.split_off(picked.of_bodies()).into_iter().map(Column::into_f64).collect();
        let names: Vec<_> = picked.columns.iter().map(|(_, name)| name.clone()).collect();
        let place = |at: usize, column: usize| format!("{}, column {}", places.of(at as u64), names[column]);
        let firsts = columns.iter().map(Column::first_inexact).enumerate();
        let first = firsts.filter_map(|(column, first)| first.map(|(at, value)| (at, column, value)));
        let first = first.min_by_key(|(at, column, _)| (*at, *column));
        let inexact = match (first, picked.radius) {
            (Some((at, column, value)), _) => Some(format!("{}: {}", place(at, column), Number(value))),
            (None, Some(radius)) if !is_exact(radius) => Some(format!("--radius {}", Number(radius))),
            _ => None,
        };
        let (precision, why) = match (precision, &inexact) {
            (Precision::Auto, None) => (Precision::F32, "f32, which holds every value as it is".to_owned()),
            (Precision::Auto, Some(first)) => (Precision::F64, format!("f64, as f32 would round {first}")),
            (Precision::F32, None) => (Precision::F32, "f32, as asked for; no value is rounded".to_owned()),
            (Precision::F32, Some(first)) => (Precision::F32, format!("f32, as asked for; rounded is {first}")),
            (Precision::F64, _) => (Precision::F64, "f64, as asked for".to_owned()),
        };
        let values = if precision == Precision::F32 {
            let narrow = |(column, values): (usize, Column)| {
                let beyond = |(at, value)| anyhow!("{}: {value:e} does not fit a 32-bit float", place(at, column));
                values.into_f32().map_err(beyond)
            };
            let columns = columns.into_iter().enumerate().map(narrow).collect::<Result<Vec<_>>>()?;
            let radius = picked
                .radius
                .map(|radius| round(radius).ok_or_else(|| anyhow!("--radius {radius:e} does not fit a 32-bit float")));
            Values::F32(Columns { each: columns, radius: radius.transpose()? })
        } else {
            let each = columns.into_iter().map(Column::into_f64).collect();
            Values::F64(Columns { each, radius: picked.radius })
        };
        Ok(Self { shape, dim, values, names, velocities, places, precision: why, inexact })
    }

    /// Number of axes.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Number of bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.values {
            Values::F32(columns) => columns.each[0].len(),
            Values::F64(columns) => columns.each[0].len(),
        }
    }

    /// True when there is no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the bodies are boxes, not circles or spheres.
    #[must_use]
    pub fn is_of_boxes(&self) -> bool {
        self.shape == Shape::Box
    }

    /// The centre and the radius of a body, or the lower and the upper corner of a box.
    ///
    /// # Panics
    /// When `id` is out of bounds.
    #[must_use]
    pub fn row(&self, id: usize) -> Vec<f64> {
        match &self.values {
            Values::F32(columns) => columns.row(id).collect(),
            Values::F64(columns) => columns.row(id).collect(),
        }
    }

    /// The bodies as input of a search.
    ///
    /// # Panics
    /// When `D` is not the number of axes.
    pub(crate) fn input<const D: usize>(&self) -> Input<'_, D> {
        match (&self.values, self.shape) {
            (Values::F32(columns), Shape::Ball) => columns.view::<D>().into(),
            (Values::F64(columns), Shape::Ball) => columns.view::<D>().into(),
            (Values::F32(columns), Shape::Box) => columns.boxes::<D>().into(),
            (Values::F64(columns), Shape::Box) => columns.boxes::<D>().into(),
        }
    }

    /// The bodies in the form that a picture draws.
    ///
    /// # Panics
    /// When `D` is not the number of axes.
    pub(crate) fn drawn<const D: usize>(&self) -> Box<dyn Drawn + '_> {
        match (&self.values, self.shape) {
            (Values::F32(columns), Shape::Ball) => Box::new(columns.view::<D>()),
            (Values::F64(columns), Shape::Ball) => Box::new(columns.view::<D>()),
            (Values::F32(columns), Shape::Box) => Box::new(columns.boxes::<D>()),
            (Values::F64(columns), Shape::Box) => Box::new(columns.boxes::<D>()),
        }
    }

    /// Every pair `[a, b]`, `a < b`, in ascending order, by a double loop or by a sweep along one axis.
    ///
    /// # Panics
    /// When `D` is not the number of axes.
    pub(crate) fn truth<const D: usize>(&self, brute: bool) -> Vec<[u32; 2]> {
        fn of<const D: usize, T: Real>(columns: &Columns<T>, shape: Shape, brute: bool) -> Vec<[u32; 2]> {
            match (shape, brute) {
                (Shape::Ball, true) => oracle::pairs_in_parallel(columns.view::<D>()),
                (Shape::Ball, false) => sweep::pairs(columns.view::<D>()),
                (Shape::Box, true) => box_pairs::in_parallel(columns.boxes::<D>()),
                (Shape::Box, false) => box_pairs::by_sweep(columns.boxes::<D>()),
            }
        }
        match &self.values {
            Values::F32(columns) => of::<D, _>(columns, self.shape, brute),
            Values::F64(columns) => of::<D, _>(columns, self.shape, brute),
        }
    }

    pub(crate) fn values(&self) -> &Values {
        &self.values
    }

    /// The velocities, one column an axis; none when the file has none, or they were not asked for.
    pub(crate) fn velocities(&self) -> &[Vec<f64>] {
        &self.velocities
    }

    /// What was read, in words.
    pub(crate) fn describe(&self) -> String {
        counted(self.len() as u64, if self.is_of_boxes() { "boxes" } else { noun(self.dim) })
    }

    /// The precision of the search, and why, in words.
    pub(crate) fn precision(&self) -> &str {
        &self.precision
    }

    /// The first value that `f32` rounds, with its place, if there is one.
    pub(crate) fn inexact(&self) -> Option<&str> {
        self.inexact.as_deref()
    }

    /// Where a body stood in the file.
    pub(crate) fn place(&self, id: u32) -> String {
        self.places.of(id.into())
    }

    /// Explains a refusal of the search in terms of the file.
    ///
    /// `farther` says what takes bodies that are too far off, if anything does.
    pub fn explain(&self, refusal: InputError, file: &Path, farther: &str) -> Error {
        let InputError::Bodies { count, first } = refusal else {
            return Error::new(refusal).context(name(file));
        };
        let mut message = format!("{}: {count} of {} cannot be used", name(file), self.describe());
        for (id, reason) in &first {
            // Writing to a String cannot fail.
            let _ = write!(message, "\n  {}: {}", self.place(*id), self.fault(*id, *reason, farther));
        }
        if count > first.len() {
            message.push_str("\n  ...");
        }
        anyhow!(message)
    }
}

impl Table {
    /// What is wrong with a body, by the names of its columns.
    fn fault(&self, id: u32, reason: Reason, farther: &str) -> String {
        let (row, dim) = (self.row(id as usize), self.dim);
        let column = |at: usize| self.names.get(at).map_or("--radius", String::as_str);
        let value = |at: usize| format!("{} is {}", column(at), Number(row[at]));
        let r = column(dim);
        match reason {
            Reason::CenterNotFinite { axis } => value(axis.into()),
            Reason::RadiusNotFinite => value(dim),
            Reason::RadiusNegative => format!("{}, a negative radius", value(dim)),
            Reason::TooFar { axis } => {
                format!("|{}| + {r} is above 2^60{farther}", column(axis.into()))
            }
            Reason::TooFar64 { axis } => format!("|{}| + {r} is above 2^500", column(axis.into())),
            Reason::CornerNotNumber { axis } => {
                let [lower, upper] = [usize::from(axis), dim + usize::from(axis)];
                value(if row[lower].is_nan() || row[lower] == f64::INFINITY { lower } else { upper })
            }
            Reason::CornersSwapped { axis } => {
                let [lower, upper] = [usize::from(axis), dim + usize::from(axis)];
                format!("{}, above {}, which is {}", value(lower), column(upper), Number(row[upper]))
            }
            other => other.to_string(),
        }
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

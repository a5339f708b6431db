//! A table: named columns and rows of cells, as aligned text, CSV and JSON.

use serde_json::{Map, Number, Value};

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Text(String),
    Count(u64),
    /// Shown with four significant digits, kept whole in files.
    Number(f64),
    /// No value.
    Missing,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Self {
        Self::Count(count.into())
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        if number.is_finite() { Self::Number(number) } else { Self::Missing }
    }
}

impl<C: Into<Self>> From<Option<C>> for Cell {
    fn from(cell: Option<C>) -> Self {
        cell.map_or(Self::Missing, Into::into)
    }
}

impl Cell {
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(number) => significant(*number, 4),
            Self::Missing => "-".to_owned(),
        }
    }

    fn csv(&self) -> String {
        match self {
            Self::Text(text) if text.contains([',', '"', '\n']) => format!("\"{}\"", text.replace('"', "\"\"")),
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Missing => String::new(),
        }
    }

    fn from_json(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(Self::Missing),
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Number(number) => number.as_u64().map(Self::Count).or_else(|| number.as_f64().map(Self::Number)),
            _ => None,
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.clone()),
            Self::Count(count) => Value::Number((*count).into()),
            Self::Number(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
            Self::Missing => Value::Null,
        }
    }
}

/// Returns the text of a number with so many significant digits and no exponent.
pub(crate) fn significant(number: f64, digits: u32) -> String {
    let magnitude = if number == 0.0 { 0.0 } else { number.abs().log10().floor() };
    format!("{number:.*}", (f64::from(digits) - 1.0 - magnitude).clamp(0.0, 6.0) as usize)
}

/// A table.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new<C: Into<String>>(columns: impl IntoIterator<Item = C>) -> Self {
        Self { columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Makes a table of columns and of rows as [`Table::json`] gives them; `None` if they have another form.
    pub(crate) fn from_json(columns: &Value, rows: &Value) -> Option<Self> {
        let columns: Vec<String> =
            columns.as_array()?.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?;
        let row = |row: &Value| columns.iter().map(|name| Cell::from_json(row.get(name)?)).collect::<Option<_>>();
        let rows = rows.as_array()?.iter().map(row).collect::<Option<_>>()?;
        Some(Self { columns, rows })
    }

    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the rows that have `value` in `column`, without that column and those named in `without`.
    pub(crate) fn of(&self, column: &str, value: &Cell, without: &[&str]) -> Self {
        let keep: Vec<usize> = (0..self.columns.len())
            .filter(|&c| self.columns[c] != column && !without.contains(&self.columns[c].as_str()))
            .collect();
        let rows = self.rows.iter().zip(self.select([column])).filter(|(_, [cell])| *cell == value);
        Self {
            columns: keep.iter().map(|&c| self.columns[c].clone()).collect(),
            rows: rows.map(|(row, _)| keep.iter().map(|&c| row[c].clone()).collect()).collect(),
        }
    }

    /// Returns these rows and the others. Where rows are equal in the key columns, the others replace these.
    ///
    /// # Panics
    /// When the columns differ.
    pub(crate) fn with(&self, others: &Self, keys: &[&str]) -> Self {
        assert_eq!(self.columns, others.columns, "tables of the same columns");
        let keys: Vec<usize> = (0..self.columns.len()).filter(|&c| keys.contains(&self.columns[c].as_str())).collect();
        let key = |row: &[Cell]| keys.iter().map(|&c| row[c].clone()).collect::<Vec<_>>();
        let of = |own: &Vec<Cell>| -> Vec<Vec<Cell>> {
            others.rows.iter().filter(|row| key(row) == *own).cloned().collect()
        };
        let (mut rows, mut placed) = (Vec::new(), Vec::new());
        for row in &self.rows {
            let own = key(row);
            if of(&own).is_empty() {
                rows.push(row.clone());
            } else if !placed.contains(&own) {
                rows.extend(of(&own));
                placed.push(own);
            }
        }
        rows.extend(others.rows.iter().filter(|row| !placed.contains(&key(row))).cloned());
        Self { columns: self.columns.clone(), rows }
    }

    /// # Panics
    /// When there are more or fewer cells than columns.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "a cell for each column");
        self.rows.push(row);
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &[Cell]> {
        self.rows.iter().map(Vec::as_slice)
    }

    /// Returns the cells of each row in the named columns.
    ///
    /// # Panics
    /// When there is no such column.
    pub(crate) fn select<const N: usize>(&self, names: [&str; N]) -> impl Iterator<Item = [&Cell; N]> {
        let place = |name| self.columns.iter().position(|column| column == name).expect("a column of that name");
        let places = names.map(place);
        self.rows.iter().map(move |row| places.map(|place| &row[place]))
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows from number `first` on, in columns of even width; columns that are equal in all of them stand above.
    pub(crate) fn text_from(&self, first: usize) -> String {
        let rows = &self.rows[first.min(self.rows.len())..];
        let (title, body) = self.common(rows);
        let mut text = format!("{title}\n");
        let widths = self.widths(&body, rows);
        let header = body.iter().map(|&c| self.columns[c].clone());
        text += &aligned(header, &widths, &body, rows);
        for row in rows {
            text += &aligned(body.iter().map(|&c| row[c].shown()), &widths, &body, rows);
        }
        text
    }

    /// As Markdown; columns that are equal in all rows stand above.
    pub(crate) fn markdown(&self) -> String {
        let (title, body) = self.common(&self.rows);
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let is_text = |c: usize| self.rows.iter().any(|row| matches!(row[c], Cell::Text(_)));
        let mut text = if title.is_empty() { String::new() } else { format!("{title}\n\n") };
        text += &line(body.iter().map(|&c| self.columns[c].clone()).collect());
        text += &line(body.iter().map(|&c| if is_text(c) { "---" } else { "---:" }.to_owned()).collect());
        for row in &self.rows {
            text += &line(body.iter().map(|&c| row[c].shown()).collect());
        }
        text
    }

    /// Returns the values that all rows have in common, as a line of text, and the columns in which rows differ.
    fn common(&self, rows: &[Vec<Cell>]) -> (String, Vec<usize>) {
        let same = |c: usize| rows.len() > 1 && rows.iter().all(|row| row[c] == rows[0][c]);
        let (above, body): (Vec<usize>, Vec<usize>) = (0..self.columns.len()).partition(|&c| same(c));
        let title = above.iter().filter(|&&c| rows[0][c] != Cell::Missing);
        let title: Vec<String> = title.map(|&c| format!("{}: {}", self.columns[c], rows[0][c].shown())).collect();
        (title.join(", "), body)
    }

    fn widths(&self, columns: &[usize], rows: &[Vec<Cell>]) -> Vec<usize> {
        let width = |&c: &usize| rows.iter().map(|row| row[c].shown().len()).max().unwrap_or(0);
        columns.iter().map(|c| width(c).max(self.columns[*c].len())).collect()
    }

    pub(crate) fn csv(&self) -> String {
        let rows = self.rows.iter().map(|row| row.iter().map(Cell::csv).collect::<Vec<_>>().join(",") + "\n");
        [self.columns.join(",") + "\n"].into_iter().chain(rows).collect()
    }

    /// The rows as objects.
    pub(crate) fn json(&self) -> Value {
        let object = |row: &Vec<Cell>| {
            Value::Object(self.columns.iter().cloned().zip(row.iter().map(Cell::json)).collect::<Map<_, _>>())
        };
        Value::Array(self.rows.iter().map(object).collect())
    }
}

/// Text to the left, numbers to the right.
fn aligned(cells: impl Iterator<Item = String>, widths: &[usize], columns: &[usize], rows: &[Vec<Cell>]) -> String {
    let mut line = String::new();
    for ((cell, &width), &c) in cells.zip(widths).zip(columns) {
        let is_text = rows.iter().any(|row| matches!(row[c], Cell::Text(_)));
        line += &if is_text { format!("{cell:<width$}  ") } else { format!("{cell:>width$}  ") };
    }
    format!("{}\n", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::{Cell, Table, significant};

    fn table() -> Table {
        let mut table = Table::new(["scene", "name", "ms"]);
        table.push(vec!["uniform".into(), "a, \"b\"".into(), 1.23456.into()]);
        table.push(vec!["uniform".into(), "long name".into(), f64::NAN.into()]);
        table
    }

    #[test]
    fn four_digits() {
        assert_eq!(
            [0.0, 0.012345, 9.8765, 123.45, 98765.4].map(|number| significant(number, 4)),
            ["0.000", "0.01235", "9.877", "123.5", "98765"]
        );
    }

    #[test]
    fn text_is_aligned_under_what_is_common() {
        assert_eq!(table().text_from(0), "scene: uniform\nname          ms\na, \"b\"     1.235\nlong name      -\n");
    }

    #[test]
    fn markdown_has_a_rule_under_its_head() {
        let markdown = "scene: uniform\n\n| name | ms |\n| --- | ---: |\n| a, \"b\" | 1.235 |\n| long name | - |\n";
        assert_eq!(table().markdown(), markdown);
    }

    #[test]
    fn rows_are_chosen_by_value() {
        let chosen = table().of("name", &"long name".into(), &["scene"]);
        assert_eq!(chosen.csv(), "ms\n\n");
        assert_eq!(table().of("scene", &"dense".into(), &[]).len(), 0);
    }

    #[test]
    fn files_hold_whole_numbers_and_quotes() {
        assert_eq!(table().csv(), "scene,name,ms\nuniform,\"a, \"\"b\"\"\",1.23456\nuniform,long name,\n");
        assert_eq!(table().json()[0]["ms"], 1.23456);
        assert!(table().json()[1]["ms"].is_null());
        assert_eq!(Cell::from(None::<f64>), Cell::Missing);
    }
}

//! NumPy arrays of n rows: x, y[, z], r, or centres only; or pairs of ids.

use std::io::{BufReader, ErrorKind, Read};

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use npyz::{DType, Deserialize, NpyFile, Order, TypeChar};

use super::column::Column;
use super::columns::{Picked, Wanted};
use super::number::{self, Fault};
use super::source::Bytes;
use super::table::{Places, Table};
use crate::args::Precision;
use crate::report::counted;

/// Reads bodies.
pub(super) fn read_bodies(bytes: Bytes, wanted: &Wanted, precision: Precision) -> Result<Table> {
    let array = Array::new(bytes)?;
    let picked = wanted.pick_unnamed(array.columns)?;
    let mut columns = vec![Column::default(); picked.columns.len()];
    array.read(&picked, |slot, value| columns[slot].push(value))?;
    Table::new(&picked, columns, Places::Rows, precision)
}

/// Reads pairs of ids.
pub(super) fn read_pairs(bytes: Bytes) -> Result<Vec<[u32; 2]>> {
    let array = Array::new(bytes)?;
    ensure!(array.columns == 2, "{}, where 2 were expected: a row a pair", counted(array.columns as u64, "columns"));
    let both = ["a", "b"].map(str::to_owned).into_iter().enumerate().collect();
    let mut ends = [Vec::new(), Vec::new()];
    array.read(&Picked { dim: 2, radius: None, columns: both }, |slot, value| ends[slot].push(value))?;
    let [a, b] = ends;
    a.into_iter().zip(b).enumerate().map(|(row, (a, b))| Ok([number::id(row, a)?, number::id(row, b)?])).collect()
}

/// An array of two axes whose values have not been read yet.
struct Array {
    file: NpyFile<BufReader<Box<dyn Read>>>,
    rows: u64,
    columns: usize,
    kind: (TypeChar, u64),
}

impl Array {
    fn new(bytes: Bytes) -> Result<Self> {
        let length = bytes.length();
        let file = NpyFile::new(BufReader::new(bytes.stream())).context("not a .npy file")?;
        let &[rows, columns] = file.shape() else {
            let axes = file.shape().len();
            bail!(
                "an array of {axes} {}, where 2 were expected: rows and columns",
                if axes == 1 { "axis" } else { "axes" }
            );
        };
        let kind = match file.dtype() {
            DType::Plain(kind) => (kind.type_char(), kind.size_field()),
            other => bail!("values of type {}, where numbers were expected", other.descr()),
        };
        // Before any row is read, where that is known.
        let needed = rows.checked_mul(columns).and_then(|values| values.checked_mul(kind.1));
        let enough = needed.is_some_and(|needed| length.is_none_or(|length| needed <= length));
        ensure!(enough, "{}", short(rows, columns));
        Ok(Self { file, rows, columns: usize::try_from(columns)?, kind })
    }

    /// Reads every value once, and hands on those of the columns picked: which of these, and the value.
    fn read(self, picked: &Picked, take: impl FnMut(usize, f64)) -> Result<()> {
        use TypeChar::{Float, Int, Uint};
        match self.kind {
            (Float, 4) => self.read_as::<f32>(picked, |value| Ok(value.into()), take),
            (Float, 8) => self.read_as::<f64>(picked, Ok, take),
            (Int, 1) => self.read_as::<i8>(picked, number::from_integer, take),
            (Int, 2) => self.read_as::<i16>(picked, number::from_integer, take),
            (Int, 4) => self.read_as::<i32>(picked, number::from_integer, take),
            (Int, 8) => self.read_as::<i64>(picked, number::from_integer, take),
            (Uint, 1) => self.read_as::<u8>(picked, number::from_integer, take),
            (Uint, 2) => self.read_as::<u16>(picked, number::from_integer, take),
            (Uint, 4) => self.read_as::<u32>(picked, number::from_integer, take),
            (Uint, 8) => self.read_as::<u64>(picked, number::from_integer, take),
            _ => bail!(
                "values of type {}, where f4, f8 or integers were expected: array.astype('f8') makes them",
                self.file.dtype().descr()
            ),
        }
    }

    fn read_as<T: Deserialize>(
        self,
        picked: &Picked,
        convert: impl Fn(T) -> Result<f64, Fault>,
        mut take: impl FnMut(usize, f64),
    ) -> Result<()> {
        let (rows, columns) = (self.rows as usize, self.columns);
        let by_rows = self.file.order() == Order::C;
        let cut = |error: std::io::Error| match error.kind() {
            ErrorKind::UnexpectedEof => anyhow!(short(rows as u64, columns as u64)),
            _ => Error::new(error).context("cannot read"),
        };
        for (i, value) in self.file.data::<T>()?.enumerate() {
            let (row, at) = if by_rows { (i / columns, i % columns) } else { (i % rows, i / rows) };
            let value = value.map_err(cut)?;
            if !picked.columns.iter().any(|(column, _)| *column == at) {
                continue;
            }
            let value = convert(value).map_err(|fault| anyhow!("row {row}, column {}: {fault}", at + 1))?;
            let slots = picked.columns.iter().enumerate().filter(|(_, (column, _))| *column == at);
            slots.for_each(|(slot, _)| take(slot, value));
        }
        Ok(())
    }
}

fn short(rows: u64, columns: u64) -> String {
    let (rows, columns) = (counted(rows, "rows"), counted(columns, "columns"));
    format!("shorter than an array of {rows} and {columns} is")
}

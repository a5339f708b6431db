//! NumPy arrays of n rows: x, y[, z], r, or centres only; or pairs of ids.

use std::io::{BufReader, ErrorKind, Read};

use anyhow::{Context, Error, Result, anyhow, bail, ensure};

use super::column::Column;
use super::columns::{Picked, Shape, Wanted};
use super::number::{self, Fault};
use super::source::Bytes;
use super::table::{Places, Table};
use crate::args::Precision;
use crate::npy::{self, Header};
use crate::report::counted;
use crate::shown;

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
    array.read(&Picked { shape: Shape::Ball, dim: 2, radius: None, columns: both }, |slot, value| {
        ends[slot].push(value)
    })?;
    let [a, b] = ends;
    a.into_iter().zip(b).enumerate().map(|(row, (a, b))| Ok([number::id(row, a)?, number::id(row, b)?])).collect()
}

/// An array of two axes whose values have not been read yet.
struct Array {
    stream: BufReader<Box<dyn Read>>,
    header: Header,
    rows: u64,
    columns: usize,
    kind: Kind,
}

/// The type of the values.
#[derive(Clone, Copy)]
struct Kind {
    /// The letter that NumPy uses: f, i and u are numbers.
    letter: char,
    bytes: u64,
    big_endian: bool,
}

impl Kind {
    /// Reads a type as a header has it, such as `'<f4'`.
    fn of(descr: &str) -> Option<Self> {
        let mut rest = descr.trim_matches(['\'', '"']).chars();
        let order = rest.next()?;
        let letter = rest.next()?;
        let bytes = rest.as_str().parse().ok()?;
        // Single bytes have no order.
        let known = matches!(order, '<' | '>') || (order == '|' && bytes == 1);
        known.then_some(Self { letter, bytes, big_endian: order == '>' })
    }
}

impl Array {
    fn new(bytes: Bytes) -> Result<Self> {
        let length = bytes.length();
        let mut stream = BufReader::new(bytes.stream());
        let header = Header::read(&mut stream).context("not a .npy file")?;
        let &[rows, columns] = &header.shape[..] else {
            let axes = header.shape.len();
            bail!(
                "an array of {axes} {}, where 2 were expected: rows and columns",
                if axes == 1 { "axis" } else { "axes" }
            );
        };
        let kind = Kind::of(&header.descr)
            .filter(|kind| matches!((kind.letter, kind.bytes), ('f', 4 | 8) | ('i' | 'u', 1 | 2 | 4 | 8)));
        let kind = kind.with_context(|| {
            let descr = shown::text(&header.descr);
            format!("values of type {descr}, where f4, f8 or integers were expected: array.astype('f8') makes them")
        })?;
        // The length is checked before any row is read, if it is known.
        let needed = rows.checked_mul(columns).and_then(|values| values.checked_mul(kind.bytes));
        let enough = needed.is_some_and(|needed| length.is_none_or(|length| needed <= length));
        ensure!(enough, "{}", short(rows, columns));
        Ok(Self { stream, rows, columns: usize::try_from(columns)?, kind, header })
    }

    /// Reads every value once. Calls `take` with each value of a picked column, after the number of that column in
    /// `picked`.
    fn read(self, picked: &Picked, take: impl FnMut(usize, f64)) -> Result<()> {
        use number::from_integer;
        match (self.kind.letter, self.kind.bytes) {
            ('f', 4) => self.read_as(picked, |bytes| Ok(f32::from_le_bytes(bytes).into()), take),
            ('f', _) => self.read_as(picked, |bytes| Ok(f64::from_le_bytes(bytes)), take),
            ('i', 1) => self.read_as(picked, |bytes| from_integer(i8::from_le_bytes(bytes)), take),
            ('i', 2) => self.read_as(picked, |bytes| from_integer(i16::from_le_bytes(bytes)), take),
            ('i', 4) => self.read_as(picked, |bytes| from_integer(i32::from_le_bytes(bytes)), take),
            ('i', _) => self.read_as(picked, |bytes| from_integer(i64::from_le_bytes(bytes)), take),
            (_, 1) => self.read_as(picked, |bytes| from_integer(u8::from_le_bytes(bytes)), take),
            (_, 2) => self.read_as(picked, |bytes| from_integer(u16::from_le_bytes(bytes)), take),
            (_, 4) => self.read_as(picked, |bytes| from_integer(u32::from_le_bytes(bytes)), take),
            (_, _) => self.read_as(picked, |bytes| from_integer(u64::from_le_bytes(bytes)), take),
        }
    }

    fn read_as<const N: usize>(
        mut self,
        picked: &Picked,
        convert: impl Fn([u8; N]) -> Result<f64, Fault>,
        mut take: impl FnMut(usize, f64),
    ) -> Result<()> {
        let (rows, columns) = (self.rows as usize, self.columns);
        let cut = |error: std::io::Error| match error.kind() {
            ErrorKind::UnexpectedEof => anyhow!(short(rows as u64, columns as u64)),
            _ => Error::new(error).context("cannot read"),
        };
        for i in 0..rows * columns {
            let (row, at) = if self.header.columns_first { (i % rows, i / rows) } else { (i / columns, i % columns) };
            let mut bytes = npy::bytes(&mut self.stream).map_err(cut)?;
            if !picked.columns.iter().any(|(column, _)| *column == at) {
                continue;
            }
            if self.kind.big_endian {
                bytes.reverse();
            }
            let value = convert(bytes).map_err(|fault| anyhow!("row {row}, column {}: {fault}", at + 1))?;
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

//! NumPy arrays of n rows: x, y[, z], r, or centres only; or pairs of ids.

use std::io::{BufReader, Cursor, ErrorKind, Read};

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use npyz::{DType, Deserialize, NpyFile, Order, TypeChar};

use super::column::Column;
use super::columns::{Picked, Shape, Wanted};
use super::number::{self, Fault};
use super::source::Bytes;
use super::table::{Places, Table};
use crate::args::Precision;
use crate::report::counted;

/// The longest header that is read, in bytes: one of a few axes has some hundred, and NumPy itself reads 10,000.
const HEADER_MOST: u64 = 1 << 16;

/// Lists and dictionaries in a header at most, where an array of numbers has one: a parser that tries each in two ways
/// takes twice as long for each that stands in another.
const LISTS_MOST: usize = 4;

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
    file: NpyFile<BufReader<Box<dyn Read>>>,
    rows: u64,
    columns: usize,
    kind: (TypeChar, u64),
}

impl Array {
    fn new(bytes: Bytes) -> Result<Self> {
        let length = bytes.length();
        let stream = with_sound_header(bytes.stream()).context("not a .npy file")?;
        let file = NpyFile::new(BufReader::new(stream)).context("not a .npy file")?;
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

/// The same stream, unless its header tells of more values than 64 bits count, which `npyz` would take for fewer, or is such
/// that `npyz` would read it for hours.
pub(crate) fn with_sound_header(mut stream: Box<dyn Read>) -> Result<Box<dyn Read>> {
    let mut head = Vec::new();
    stream.by_ref().take(12).read_to_end(&mut head)?;
    let text_length = match head[..] {
        [_, _, _, _, _, _, 1, _, a, b, ..] => u64::from(u16::from_le_bytes([a, b])).saturating_sub(2),
        [_, _, _, _, _, _, _, _, a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        _ => 0,
    };
    ensure!(text_length <= HEADER_MOST, "a header of {}", counted(text_length, "bytes"));
    stream.by_ref().take(text_length).read_to_end(&mut head)?;
    let text = String::from_utf8_lossy(&head);
    let lists = text.matches(['[', '{']).count();
    ensure!(lists <= LISTS_MOST, "a header of {lists} lists, where an array of numbers has one");
    let shape = text.split_once("shape").and_then(|(_, rest)| rest.split_once('(')?.1.split_once(')'));
    let axes = shape.into_iter().flat_map(|(axes, _)| axes.split(',')).filter_map(number_of_python);
    // Without axes of 0, since the product may be taken from either end.
    let values = axes.clone().filter(|&axis| axis > 0).try_fold(1, u64::checked_mul);
    ensure!(
        values.is_some(),
        "an array of {} values",
        axes.map(|axis| axis.to_string()).collect::<Vec<_>>().join(" times ")
    );
    Ok(Box::new(Cursor::new(head).chain(stream)))
}

/// A number as Python writes it, with any of its bases.
fn number_of_python(text: &str) -> Option<u64> {
    let digits: String = text.chars().filter(|c| !c.is_whitespace() && *c != '_').collect();
    match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => u64::from_str_radix(&digits[2..], 16).ok(),
        Some("0o") => u64::from_str_radix(&digits[2..], 8).ok(),
        Some("0b") => u64::from_str_radix(&digits[2..], 2).ok(),
        _ => digits.parse().ok(),
    }
}

fn short(rows: u64, columns: u64) -> String {
    let (rows, columns) = (counted(rows, "rows"), counted(columns, "columns"));
    format!("shorter than an array of {rows} and {columns} is")
}

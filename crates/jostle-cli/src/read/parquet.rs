//! Parquet files; nested columns and columns of other types are passed over unless asked for.

use std::io::Read as _;

use ::parquet::basic::{Compression, ConvertedType, LogicalType};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::data_type::DataType;
use ::parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use ::parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};
use anyhow::{Context, Result, anyhow, bail, ensure};
use indicatif::ProgressBar;

use super::column::Column;
use super::columns::{Wanted, position};
use super::footer;
use super::number::{self, Fault};
use super::pages::SoundPages;
use super::progress;
use super::source::Bytes;
use super::table::{Places, Table};
use crate::args::Precision;
use crate::report::counted;

/// Values decoded at once.
const BATCH: usize = 1 << 16;

/// Reads bodies.
pub(super) fn read_bodies(bytes: Bytes, wanted: &Wanted, precision: Precision) -> Result<Table> {
    let file = Parquet::new(bytes)?;
    let picked = wanted.pick(&file.names)?;
    let columns = file.read(&picked.columns)?;
    Table::new(&picked, columns, Places::Rows, precision)
}

/// Reads pairs of ids from the columns `a` and `b`.
pub(super) fn read_pairs(bytes: Bytes) -> Result<Vec<[u32; 2]>> {
    let file = Parquet::new(bytes)?;
    let column = |name: &str| position(&file.names, name, "").map(|at| (at, name.to_owned()));
    let columns = file.read(&[column("a")?, column("b")?])?;
    let ends: Vec<_> = columns.into_iter().map(Column::into_f64).collect();
    ends[0]
        .iter()
        .zip(&ends[1])
        .enumerate()
        .map(|(row, (a, b))| Ok([number::id(row, *a)?, number::id(row, *b)?]))
        .collect()
}

/// A file, and the names of its columns.
struct Parquet {
    reader: Box<dyn FileReader>,
    names: Vec<String>,
    bar: ProgressBar,
}

impl Parquet {
    /// Opens a file. A stream is read into memory first: the names of columns stand at its end.
    fn new(bytes: Bytes) -> Result<Self> {
        let bar = progress::bar(bytes.length().unwrap_or_default());
        let not = "not a Parquet file";
        let reader: Box<dyn FileReader> = match bytes {
            Bytes::File(file, _) => {
                footer::check(&file)?;
                Box::new(SerializedFileReader::new(file).context(not)?)
            }
            Bytes::Stream(mut stream) => {
                let mut all = Vec::new();
                stream.read_to_end(&mut all).context("cannot read")?;
                let all = ::bytes::Bytes::from(all);
                footer::check(&all)?;
                Box::new(SerializedFileReader::new(all).context(not)?)
            }
        };
        let schema = reader.metadata().file_metadata().schema_descr();
        let names = schema.columns().iter().map(|column| column.path().string()).collect();
        Ok(Self { reader, names, bar })
    }

    /// Reads columns, each given by its position and name.
    fn read(&self, picked: &[(usize, String)]) -> Result<Vec<Column>> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let mut columns = vec![Column::default(); picked.len()];
        for group in 0..self.reader.num_row_groups() {
            let group = self.reader.get_row_group(group)?;
            let rows = group.metadata().num_rows();
            for ((at, name), values) in picked.iter().zip(&mut columns) {
                let before = values.len();
                append(group.as_ref(), *at, schema.column(*at), values).with_context(|| format!("column {name}"))?;
                // A damaged file may have columns that differ in length.
                let read = values.len() - before;
                let wrong = || {
                    let [read, rows] = [counted(read as u64, "values"), counted(rows.unsigned_abs(), "rows")];
                    format!("column {name} has {read} in a group of {rows}")
                };
                ensure!(read as i64 == rows, wrong());
            }
            self.bar.inc(group.metadata().compressed_size().unsigned_abs());
        }
        Ok(columns)
    }
}

/// Appends one column of a row group.
fn append(group: &dyn RowGroupReader, at: usize, column: ColumnDescPtr, values: &mut Column) -> Result<()> {
    use ColumnReader::{DoubleColumnReader, FloatColumnReader, Int32ColumnReader, Int64ColumnReader};
    let (kind, full, stored) = (Kind::of(&column)?, column.max_def_level(), column.physical_type());
    // At such an offset or length the crate `parquet` panics.
    let chunk = group.metadata().column(at);
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    ensure!(start >= 0 && chunk.compressed_size() >= 0, "it begins before the file, or has a negative length");
    match chunk.compression() {
        Compression::BROTLI(_) => bail!("packed by brotli, which this program does not read"),
        Compression::LZO => bail!("packed by LZO, which this program does not read"),
        _ => (),
    }
    let rows = usize::try_from(group.metadata().num_rows())?;
    let pages = SoundPages::new(group.get_column_page_reader(at)?, &column, rows);
    match (get_column_reader(column, Box::new(pages)), kind) {
        (FloatColumnReader(reader), Kind::Plain) => drain(reader, full, values, |v| Ok(v.into())),
        (DoubleColumnReader(reader), Kind::Plain) => drain(reader, full, values, Ok),
        (Int32ColumnReader(reader), Kind::Plain) => drain(reader, full, values, number::from_integer),
        (Int64ColumnReader(reader), Kind::Plain) => drain(reader, full, values, number::from_integer),
        (Int32ColumnReader(reader), Kind::Unsigned) => {
            drain(reader, full, values, |v| number::from_integer(v.cast_unsigned()))
        }
        (Int64ColumnReader(reader), Kind::Unsigned) => {
            drain(reader, full, values, |v| number::from_integer(v.cast_unsigned()))
        }
        _ => bail!("values of type {stored}, where numbers were expected"),
    }
}

/// What the stored number means.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The number itself.
    Plain,
    /// An unsigned integer, stored in the bits of a signed one.
    Unsigned,
}

impl Kind {
    /// Dates, times and decimals are stored as integers too; reading them as such would be wrong.
    fn of(column: &ColumnDescriptor) -> Result<Self> {
        if column.max_rep_level() > 0 {
            bail!("a list a row, where one number was expected");
        }
        let converted = column.converted_type();
        match (column.logical_type_ref(), converted) {
            (Some(LogicalType::Integer(kind)), _) if kind.is_signed => Ok(Self::Plain),
            (Some(LogicalType::Integer(_)), _) => Ok(Self::Unsigned),
            (Some(logical), _) => bail!("values of type {logical:?}, where plain numbers were expected"),
            (None, ConvertedType::NONE) => Ok(Self::Plain),
            (None, ConvertedType::INT_8 | ConvertedType::INT_16 | ConvertedType::INT_32 | ConvertedType::INT_64) => {
                Ok(Self::Plain)
            }
            (
                None,
                ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64,
            ) => Ok(Self::Unsigned),
            (None, _) => bail!("values of type {converted}, where plain numbers were expected"),
        }
    }
}

/// Reads a column chunk to its end. A row without a value, its definition level below `full`, is an error.
fn drain<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    full: i16,
    into: &mut Column,
    convert: impl Fn(T::T) -> Result<f64, Fault>,
) -> Result<()> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    loop {
        values.clear();
        levels.clear();
        let (records, present, _) = reader.read_records(BATCH, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            return Ok(());
        }
        if present < records {
            let empty = levels.iter().position(|&level| level < full).unwrap_or_default();
            bail!("row {}: {}", into.len() + empty, Fault::Missing);
        }
        for value in values.drain(..) {
            let value = convert(value).map_err(|fault| anyhow!("row {}: {fault}", into.len()))?;
            into.push(value);
        }
    }
}

//! Parquet files; nested columns and columns of other types are passed over unless asked for.

use std::path::Path;

use ::parquet::basic::{ConvertedType, LogicalType};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::DataType;
use ::parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;
use anyhow::{Context, Result, anyhow, bail};

use super::column::Column;
use super::columns::Wanted;
use super::number::{self, Fault};
use super::table::{Places, Table};
use super::{open, progress};
use crate::args::Precision;

/// Values decoded at once.
const BATCH: usize = 1 << 16;

/// Reads bodies.
pub(crate) fn read_bodies(path: &Path, wanted: &Wanted, precision: Precision) -> Result<Table> {
    let (file, length) = open(path)?;
    let bar = progress::bar(length);
    let reader = SerializedFileReader::new(file).context("not a Parquet file")?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<_> = schema.columns().iter().map(|column| column.path().string()).collect();
    let picked = wanted.pick(&names)?;
    let mut columns = vec![Column::default(); picked.columns.len()];
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group)?;
        for ((at, name), values) in picked.columns.iter().zip(&mut columns) {
            append(group.as_ref(), *at, &schema.column(*at), values).with_context(|| format!("column {name}"))?;
        }
        bar.inc(group.metadata().compressed_size().unsigned_abs());
    }
    Table::new(&picked, columns, Places::Rows, precision)
}

/// Appends one column of a row group.
fn append(group: &dyn RowGroupReader, at: usize, column: &ColumnDescriptor, values: &mut Column) -> Result<()> {
    use ColumnReader::{DoubleColumnReader, FloatColumnReader, Int32ColumnReader, Int64ColumnReader};
    let full = column.max_def_level();
    match (group.get_column_reader(at)?, Kind::of(column)?) {
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
        _ => bail!("values of type {}, where numbers were expected", column.physical_type()),
    }
}

/// What the stored number means.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// What it says.
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

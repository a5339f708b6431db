//! NumPy arrays of n rows: x, y[, z], r, or centres only.

use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use npyz::{DType, Deserialize, NpyFile, Order, TypeChar};

use super::column::Column;
use super::columns::{Picked, Wanted};
use super::table::{Places, Table};
use super::{open, progress};
use crate::args::Precision;

/// Reads bodies.
pub(crate) fn read_bodies(path: &Path, wanted: &Wanted, precision: Precision) -> Result<Table> {
    let (file, length) = open(path)?;
    let array = NpyFile::new(BufReader::new(progress::bar(length).wrap_read(file))).context("not a .npy file")?;
    let &[rows, count] = array.shape() else {
        bail!("an array of {} axes, where 2 were expected: a row a body", array.shape().len());
    };
    let width = float_width(&array.dtype())?;
    let needed = rows.checked_mul(count).and_then(|values| values.checked_mul(width));
    ensure!(needed.is_some_and(|needed| needed <= length), "shorter than its {rows} rows of {count} columns need");
    let picked = wanted.pick_unnamed(count as usize)?;
    let columns = if width == 4 { columns::<f32, _>(array, &picked) } else { columns::<f64, _>(array, &picked) }?;
    Table::new(&picked, columns, Places::Rows, precision)
}

/// The bytes of a value; of either byte order.
fn float_width(dtype: &DType) -> Result<u64> {
    match dtype {
        DType::Plain(kind) if kind.type_char() == TypeChar::Float && matches!(kind.size_field(), 4 | 8) => {
            Ok(kind.size_field())
        }
        _ => bail!("values of type {}, where f4 or f8 were expected: array.astype('f4') makes them", dtype.descr()),
    }
}

/// Reads every value of an n x m array once, and keeps those of the columns picked.
fn columns<T: Deserialize + Into<f64>, R: Read>(array: NpyFile<R>, picked: &Picked) -> Result<Vec<Column>> {
    let (rows, count) = (array.shape()[0] as usize, array.shape()[1] as usize);
    let by_rows = array.order() == Order::C;
    let mut columns = vec![Column::default(); picked.columns.len()];
    for (i, value) in array.data::<T>()?.enumerate() {
        let at = if by_rows { i % count } else { i / rows };
        let value = value.context("cannot read")?.into();
        for ((picked, _), column) in picked.columns.iter().zip(&mut columns) {
            if *picked == at {
                column.push(value);
            }
        }
    }
    Ok(columns)
}

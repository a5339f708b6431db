//! Comma-separated text whose first line names the columns.

use std::fs::File;
use std::io::{Chain, Read};
use std::path::Path;

use ::csv::{ByteRecord, Reader, ReaderBuilder, Terminator};
use anyhow::{Context, Result, anyhow, bail};
use indicatif::ProgressBarIter;

use super::column::Column;
use super::columns::Wanted;
use super::number;
use super::table::{Lines, Places, Table};
use super::{open, progress};
use crate::args::Precision;

/// Bytes read from the file at once.
const BUFFER: usize = 1 << 18;

type Source = Reader<Chain<ProgressBarIter<File>, &'static [u8]>>;

/// Reads bodies; the other columns of the file are passed over.
pub(crate) fn read_bodies(path: &Path, wanted: &Wanted, precision: Precision) -> Result<Table> {
    let mut source = source(path)?;
    let picked = wanted.pick(&header(&mut source)?).context("line 1")?;
    let mut columns = vec![Column::default(); picked.columns.len()];
    let mut lines = Lines::default();
    each_record(&mut source, |record, line| {
        for ((at, name), values) in picked.columns.iter().zip(&mut columns) {
            let field = record.get(*at).unwrap_or_default();
            values.push(number::from_text(field).map_err(|fault| anyhow!("line {line}, column {name}: {fault}"))?);
        }
        lines.push(line);
        Ok(())
    })?;
    Table::new(&picked, columns, Places::Lines(lines), precision)
}

/// Reads pairs of ids from the columns `a` and `b`.
pub(crate) fn read_pairs(path: &Path) -> Result<Vec<[u32; 2]>> {
    let mut source = source(path)?;
    let names = header(&mut source)?;
    let column = |name: &str| {
        let found = names.iter().position(|have| have == name);
        found.with_context(|| format!("line 1: no column {name:?} among {}", names.join(", ")))
    };
    let (a, b) = (column("a")?, column("b")?);
    let mut pairs = Vec::new();
    each_record(&mut source, |record, line| {
        let id = |at| {
            let text = String::from_utf8_lossy(record.get(at).unwrap_or_default());
            text.trim().parse().map_err(|_| anyhow!("line {line}, column {}: {text:?} is no id", names[at]))
        };
        pairs.push([id(a)?, id(b)?]);
        Ok(())
    })?;
    Ok(pairs)
}

/// Opens a file. Lines end in `\n` alone: a `\r` before it becomes part of the last field, which is trimmed, and so the
/// number of lines read is always known. For the same reason the last line gets an end, if it has none.
fn source(path: &Path) -> Result<Source> {
    let (file, length) = open(path)?;
    let bytes = progress::bar(length).wrap_read(file).chain(b"\n".as_slice());
    Ok(ReaderBuilder::new()
        .buffer_capacity(BUFFER)
        .terminator(Terminator::Any(b'\n'))
        .flexible(true)
        .from_reader(bytes))
}

fn header(source: &mut Source) -> Result<Vec<String>> {
    let names = source.byte_headers().context("cannot read")?;
    Ok(names.iter().map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned()).collect())
}

/// Calls `take` with each record and the number of its first line. Blank lines are passed over.
fn each_record(source: &mut Source, mut take: impl FnMut(&ByteRecord, u64) -> Result<()>) -> Result<()> {
    let columns = source.byte_headers().context("cannot read")?.len();
    let mut record = ByteRecord::new();
    while source.read_byte_record(&mut record).context("cannot read")? {
        let text = record.as_slice();
        let breaks = text.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let line = source.position().line() - 1 - breaks;
        if record.len() == columns {
            take(&record, line)?;
        } else if !text.trim_ascii().is_empty() {
            bail!("line {line}: the header names {columns} columns, here are {}", record.len());
        }
    }
    Ok(())
}

//! Comma-separated text whose first line names the columns.

use std::fs::File;
use std::path::Path;

use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use anyhow::{Context, Error, Result, anyhow};
use indicatif::ProgressBarIter;

use super::columns::Wanted;
use super::number;
use super::table::{Lines, Places, Table};
use super::{open, progress};

/// Bytes read from the file at once.
const BUFFER: usize = 1 << 18;

type Source = Reader<ProgressBarIter<File>>;

/// Reads bodies; the other columns of the file are passed over.
pub(crate) fn read_bodies(path: &Path, wanted: &Wanted) -> Result<Table> {
    let mut source = source(path)?;
    let picked = wanted.pick(&header(&mut source)?).context("line 1")?;
    let mut columns = vec![Vec::new(); picked.columns.len()];
    let mut lines = Lines::default();
    each_record(&mut source, |record, line| {
        for ((at, name), values) in picked.columns.iter().zip(&mut columns) {
            let field = record.get(*at).unwrap_or_default();
            values.push(number::from_text(field).map_err(|fault| anyhow!("line {line}, column {name}: {fault}"))?);
        }
        lines.push(line);
        Ok(())
    })?;
    Ok(Table::new(&picked, columns, Places::Lines(lines)))
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

fn source(path: &Path) -> Result<Source> {
    let (file, length) = open(path)?;
    Ok(ReaderBuilder::new().buffer_capacity(BUFFER).from_reader(progress::bar(length).wrap_read(file)))
}

fn header(source: &mut Source) -> Result<Vec<String>> {
    let names = source.byte_headers().map_err(explain)?;
    Ok(names.iter().map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned()).collect())
}

/// Calls `take` with each record and the number of its line.
fn each_record(source: &mut Source, mut take: impl FnMut(&ByteRecord, u64) -> Result<()>) -> Result<()> {
    let mut record = ByteRecord::new();
    while source.read_byte_record(&mut record).map_err(explain)? {
        let line = record.position().map_or(0, ::csv::Position::line);
        take(&record, line)?;
    }
    Ok(())
}

/// Faults of the format in the words of the other messages.
fn explain(error: ::csv::Error) -> Error {
    match error.kind() {
        ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, ::csv::Position::line);
            anyhow!("line {line}: the header names {expected_len} columns, here are {len}")
        }
        ErrorKind::Io(_) => Error::new(error).context("cannot read"),
        _ => Error::new(error),
    }
}

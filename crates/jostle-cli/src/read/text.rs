//! Text of one line for each body or pair. Fields stand between commas, semicolons, tabs or blanks; names stand in the
//! first line or nowhere.

use std::io::{Chain, Cursor, Read};

use ::csv::{ByteRecord, Reader, ReaderBuilder, Terminator};
use anyhow::{Context, Result, anyhow, ensure};

use super::column::Column;
use super::columns::{Wanted, position};
use super::number;
use super::source::{Bytes, Peeked};
use super::table::{Lines, Places, Table};
use crate::args::Precision;
use crate::report::counted;

/// Bytes read at once.
const BUFFER: usize = 1 << 18;

/// The first line is looked at up to this many bytes.
const FIRST_LINE: u64 = 1 << 16;

/// Reads bodies; the other columns of the text are passed over.
pub(super) fn read_bodies(bytes: Bytes, wanted: &Wanted, precision: Precision) -> Result<Table> {
    let mut text = Text::new(bytes)?;
    let names = text.names();
    let picked = if wanted.first_is_body(&names, |field| number::from_text(field.as_bytes()).is_ok())? {
        text.first_is_record();
        wanted.pick_unnamed(names.len())
    } else {
        wanted.pick(&names)
    };
    let picked = picked.with_context(|| format!("line {}", text.line))?;
    let mut columns = vec![Column::default(); picked.columns.len()];
    let mut lines = Lines::default();
    text.each_record(|record, line| {
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
pub(super) fn read_pairs(bytes: Bytes) -> Result<Vec<[u32; 2]>> {
    let mut text = Text::new(bytes)?;
    let names = text.names();
    let column = |name: &str| position(&names, name, "").with_context(|| format!("line {}", text.line));
    let (a, b) = (column("a")?, column("b")?);
    let mut pairs = Vec::new();
    text.each_record(|record, line| {
        let id = |at| {
            let text = String::from_utf8_lossy(record.get(at).unwrap_or_default());
            text.trim().parse().map_err(|_| anyhow!("line {line}, column {}: {text:?} is no id", names[at]))
        };
        pairs.push([id(a)?, id(b)?]);
        Ok(())
    })?;
    Ok(pairs)
}

/// Text, of which the first record has been read.
struct Text {
    reader: Reader<Chain<Peeked, &'static [u8]>>,
    /// Whether fields are divided by blanks, of which any number count as one.
    blanks: bool,
    first: ByteRecord,
    /// The line of the first record.
    line: u64,
    first_is_record: bool,
}

impl Text {
    /// Reads the first record. Lines end in `\n` alone, so that the number of lines read is always known: a `\r` before
    /// it becomes part of the last field, which is trimmed. For the same reason the last line gets an end, if it has
    /// none.
    fn new(bytes: Bytes) -> Result<Self> {
        let mut bytes = bytes.stream();
        let beginning = first_line(&mut bytes)?;
        let delimiter = delimiter(&beginning);
        let mut reader = ReaderBuilder::new()
            .buffer_capacity(BUFFER)
            .delimiter(delimiter)
            .terminator(Terminator::Any(b'\n'))
            .flexible(true)
            .has_headers(false)
            .from_reader(Cursor::new(beginning).chain(bytes).chain(b"\n".as_slice()));
        let blanks = delimiter == b' ';
        let mut first = ByteRecord::new();
        let line = read_record(&mut reader, blanks, &mut first)?.context("the file is empty")?;
        Ok(Self { reader, blanks, first, line, first_is_record: false })
    }

    /// The fields of the first record, without the mark of a comment before them.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            self.first.iter().map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned()).collect();
        if let Some(name) = names.first().and_then(|name| name.strip_prefix('#')) {
            names[0] = name.trim_start().to_owned();
        }
        if self.blanks && names[0].is_empty() {
            names.remove(0);
        }
        names
    }

    /// Declares the first record to be a record like the others.
    fn first_is_record(&mut self) {
        self.first_is_record = true;
    }

    /// Calls `take` with each record and the number of its first line. Blank lines are passed over.
    fn each_record(&mut self, mut take: impl FnMut(&ByteRecord, u64) -> Result<()>) -> Result<()> {
        let columns = self.names().len();
        if self.first_is_record {
            take(&self.first, self.line)?;
        }
        let mut record = ByteRecord::new();
        while let Some(line) = read_record(&mut self.reader, self.blanks, &mut record)? {
            let wide = || {
                let columns = counted(columns as u64, "columns");
                format!("line {line}: {}, where the first line has {columns}", counted(record.len() as u64, "fields"))
            };
            ensure!(record.len() == columns, wide());
            take(&record, line)?;
        }
        Ok(())
    }
}

/// Reads the next record that is not blank, and gives the number of its first line.
fn read_record(reader: &mut Reader<impl Read>, blanks: bool, record: &mut ByteRecord) -> Result<Option<u64>> {
    while reader.read_byte_record(record).context("cannot read")? {
        let text = record.as_slice();
        if text.trim_ascii().is_empty() && (blanks || record.len() == 1) {
            continue;
        }
        let breaks = text.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let line = reader.position().line() - 1 - breaks;
        if blanks {
            *record = record.iter().filter(|field| !field.trim_ascii().is_empty()).collect();
        }
        return Ok(Some(line));
    }
    Ok(None)
}

/// Reads up to the end of the first line that is not blank, or a little further.
fn first_line(bytes: &mut Box<dyn Read>) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let read = bytes.by_ref().take(FIRST_LINE).read_to_end(&mut line).context("cannot read")?;
        if read == 0 || !line.trim_ascii().is_empty() {
            return Ok(line);
        }
    }
}

/// Returns the byte that divides the fields of the first line that is not blank.
fn delimiter(beginning: &[u8]) -> u8 {
    let line = beginning.trim_ascii_start().split(|&byte| byte == b'\n').next().unwrap_or_default();
    let mut quoted = false;
    let outside = line.iter().filter(|&&byte| {
        quoted ^= byte == b'"';
        !quoted
    });
    let outside: Vec<u8> = outside.copied().collect();
    let count = |delimiter: u8| outside.iter().filter(|&&byte| byte == delimiter).count();
    let [semicolons, commas] = [b';', b','].map(count);
    // Tabs beside another delimiter are blank space around a field.
    let fields = outside.split(|byte| b";,".contains(byte));
    let tabs: usize = fields.map(|field| field.trim_ascii().iter().filter(|&&byte| byte == b'\t').count()).sum();
    // A single delimiter may stand inside a name, or be a decimal comma.
    if tabs > 1 || tabs == 1 && semicolons + commas == 0 {
        b'\t'
    } else if semicolons > 1 || semicolons == 1 && commas == 0 {
        b';'
    } else if commas == 0 && outside.trim_ascii().contains(&b' ') {
        b' '
    } else {
        b','
    }
}

#[cfg(test)]
mod tests {
    use super::delimiter;

    #[test]
    fn delimiters_are_told_by_the_first_line() {
        for (line, found) in [
            ("x,y,r", b','),
            ("x", b','),
            ("\n \nx;y;r\n1,2,3", b';'),
            ("1,5;2,5;3,5", b';'),
            ("x;y", b';'),
            ("name;first,x,y", b','),
            ("\"a;b;c\",x", b','),
            ("x\ty\tr; in km", b'\t'),
            ("x\ty", b'\t'),
            (" x\t, y\t, r\t", b','),
            ("# x y r", b' '),
            ("first name,x,y", b','),
            ("  1.0  2.0 ", b' '),
        ] {
            assert_eq!(delimiter(line.as_bytes()), found, "{line:?}");
        }
    }
}

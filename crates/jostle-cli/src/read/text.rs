//! Text of one line for each body or pair. Fields stand between commas, semicolons, tabs or blanks; names stand in the
//! first line or nowhere.

use std::io::{self, Chain, Cursor, Read};

use ::csv::{ByteRecord, Reader, ReaderBuilder, Terminator};
use anyhow::{Context, Result, anyhow, bail, ensure};

use super::column::Column;
use super::columns::{Wanted, position};
use super::line_limit::LineLimit;
use super::number;
use super::source::{Bytes, Peeked};
use super::table::{Lines, Places, Table};
use crate::args::Precision;
use crate::report::counted;
use crate::shown;

/// Bytes read at once.
const BUFFER: usize = 1 << 18;

/// The mark that UTF-8 may begin with.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// The first line is looked for this many bytes at a time.
const FIRST_LINE: u64 = 1 << 16;

/// Comments and the first line are looked at up to this many bytes.
const BEGINNING: usize = 1 << 24;

/// What follows the bytes of a file: the end of the last line, in case it has none, and a quote. The quote closes one that
/// was never closed, else it begins a record that is blank.
const END: &[u8] = b"\n\"\n";

/// Reads bodies; the other columns of the text are passed over.
pub(super) fn read_bodies(bytes: Bytes, wanted: &Wanted, precision: Precision) -> Result<Table> {
    let mut text = Text::new(bytes)?;
    let names = text.names();
    let picked = if wanted.first_is_body(&names, |field| number::is_number(field.as_bytes()))? {
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
            let no_id = |_| anyhow!("line {line}, column {}: {} is no id", names[at], shown::quoted(&text));
            text.trim().parse().map_err(no_id)
        };
        pairs.push([id(a)?, id(b)?]);
        Ok(())
    })?;
    Ok(pairs)
}

/// Text, of which the first record has been read.
struct Text {
    reader: Reader<Counted>,
    /// Whether fields are divided by blanks, of which any number count as one.
    blanks: bool,
    first: ByteRecord,
    /// The line of the first record.
    line: u64,
    first_is_record: bool,
}

impl Text {
    /// Reads the first record. Lines end in `\n` alone, so that the number of lines read is always known: a `\r` before
    /// it becomes part of the last field, which is trimmed.
    fn new(bytes: Bytes) -> Result<Self> {
        let mut bytes: Box<dyn Read> = Box::new(LineLimit::new(bytes.stream()));
        let mut beginning = first_line(&mut bytes)?;
        check_beginning(&beginning)?;
        blank_comments(&mut beginning);
        let delimiter = delimiter(&beginning);
        let mut reader = ReaderBuilder::new()
            .buffer_capacity(BUFFER)
            .delimiter(delimiter)
            .terminator(Terminator::Any(b'\n'))
            .flexible(true)
            .has_headers(false)
            .from_reader(Counted { bytes: Cursor::new(beginning).chain(bytes).chain(END), read: 0 });
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

/// The bytes of a file, then [`END`].
struct Counted {
    bytes: Chain<Peeked, &'static [u8]>,
    read: u64,
}

impl Counted {
    /// Returns whether these are all bytes.
    fn ends_at(&self, position: u64) -> bool {
        position == self.read && self.bytes.get_ref().1.is_empty()
    }
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(into)?;
        self.read += read as u64;
        Ok(read)
    }
}

/// Reads the next record that is not blank, and gives the number of its first line.
fn read_record(reader: &mut Reader<Counted>, blanks: bool, record: &mut ByteRecord) -> Result<Option<u64>> {
    while reader.read_byte_record(record).context("cannot read")? {
        let text = record.as_slice();
        if text.trim_ascii().is_empty() && (blanks || record.len() == 1) {
            continue;
        }
        let line = reader.position().line() - 1 - breaks(text);
        if reader.get_ref().ends_at(reader.position().byte()) {
            // Only a quote that was never closed takes all of the end. The last field begins with it.
            let last = record.range(record.len() - 1).map_or(0, |field| field.start);
            bail!("line {}: a quote is opened and never closed", line + breaks(&text[..last]));
        }
        if blanks {
            *record = record.iter().filter(|field| !field.trim_ascii().is_empty()).collect();
        }
        return Ok(Some(line));
    }
    Ok(None)
}

/// Refuses what only looks like text.
fn check_beginning(beginning: &[u8]) -> Result<()> {
    let utf16 = [b"\xff\xfe", b"\xfe\xff"].iter().any(|mark| beginning.starts_with(*mark));
    ensure!(!utf16, "this is UTF-16, where UTF-8 was expected");
    let line = beginning.trim_ascii();
    let unended = line.contains(&b'\r') && !line.contains(&b'\n');
    ensure!(!unended, "its lines end in CR alone, where LF or CR LF was expected");
    Ok(())
}

/// Makes blank lines of the comments before the line of names: of lines that begin with # and come before another such
/// line, or before a line without a number.
fn blank_comments(beginning: &mut [u8]) {
    let mut rest = beginning;
    while let Some(start) = rest.iter().position(|byte| !byte.is_ascii_whitespace()) {
        let Some(length) = rest[start..].iter().position(|&byte| byte == b'\n') else { return };
        let (line, after) = rest[start..].split_at_mut(length);
        let next = after.trim_ascii_start().split(|&byte| byte == b'\n').next().unwrap_or_default();
        let holds_number = || next.split(|byte| b" \t,;".contains(byte)).any(number::is_number);
        let is_comment = line[0] == b'#' && !next.is_empty() && (next[0] == b'#' || !holds_number());
        if !is_comment {
            return;
        }
        line.fill(b' ');
        rest = after;
    }
}

fn breaks(text: &[u8]) -> u64 {
    text.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// Reads up to the end of the first line that is neither blank nor a comment, or a little further, without a mark; of what
/// is not blank, [`BEGINNING`] bytes and one block at most.
fn first_line(bytes: &mut Box<dyn Read>) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let read = bytes.by_ref().take(FIRST_LINE).read_to_end(&mut line).context("cannot read")?;
        if line.starts_with(BOM) {
            line.drain(..BOM.len());
        }
        let is_whole = |line: &[u8]| {
            let text = line.trim_ascii();
            line.ends_with(b"\n") && !text.is_empty() && text[0] != b'#'
        };
        let is_there = line.split_inclusive(|&byte| byte == b'\n').any(is_whole);
        if read == 0 || is_there || line.len() > BEGINNING && !line.trim_ascii().is_empty() {
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
    use super::{blank_comments, delimiter};

    #[test]
    fn comments_before_names_are_no_names() {
        for (text, left) in [
            ("# by hand\nx,y,r\n0,0,1\n", "         \nx,y,r\n0,0,1\n"),
            ("\n# a\n\n#b\n# x y r\n0 0 1\n", "\n   \n\n  \n# x y r\n0 0 1\n"),
            ("# x,y,r,name\n0,0,1,a\n", "# x,y,r,name\n0,0,1,a\n"),
            ("# x,y,r\n", "# x,y,r\n"),
            ("x,y,r\n# 1\n# 2\n", "x,y,r\n# 1\n# 2\n"),
        ] {
            let mut bytes = text.as_bytes().to_vec();
            blank_comments(&mut bytes);
            assert_eq!(String::from_utf8_lossy(&bytes), left);
        }
    }

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

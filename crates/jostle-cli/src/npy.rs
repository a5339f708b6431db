//! The header of a NumPy array, as the documentation of `numpy.lib.format` describes it: six bytes by which the file is
//! known, two bytes of a version, the length of the text that follows, and that text, a Python dictionary.

use std::io::{self, Read, Write};

use anyhow::{Context, Result, anyhow, bail, ensure};
use indicatif::HumanCount;

use crate::shown;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The longest header that is read, in bytes: one of a few axes has some hundred, and NumPy itself reads 10,000.
const LONGEST: u32 = 1 << 16;

/// Values begin at a multiple of this, in bytes.
const ALIGNMENT: usize = 64;

/// Digits that NumPy leaves room for in the length of the first axis, so that an array can grow where it lies.
const DIGITS: usize = 21;

/// What an array consists of, and in which order.
#[derive(Debug, Default)]
pub(crate) struct Header {
    /// The type of the values as the header has it: `'<f4'` with its quotes, or a list.
    pub(crate) descr: String,
    pub(crate) columns_first: bool,
    /// The lengths of the axes, which multiply to less than 2^64.
    pub(crate) shape: Vec<u64>,
}

impl Header {
    /// Reads a header. The values come next in the stream.
    ///
    /// # Errors
    /// When there is no header, or it tells of more values than 64 bits count.
    pub(crate) fn read(stream: &mut impl Read) -> Result<Self> {
        let mut head = [0; 8];
        stream.read_exact(&mut head)?;
        ensure!(head.starts_with(MAGIC), "it does not begin as one");
        let length = match head[6] {
            1 => u16::from_le_bytes(bytes(stream)?).into(),
            2 | 3 => u32::from_le_bytes(bytes(stream)?),
            version => bail!("version {version} of the format, where 1 to 3 were expected"),
        };
        ensure!(length <= LONGEST, "a header of {} bytes", HumanCount(length.into()));
        let mut text = vec![0; length as usize];
        stream.read_exact(&mut text)?;
        let text = String::from_utf8_lossy(&text);
        let header = Self::parse(&text).with_context(|| format!("its header is {}", shown::quoted(text.trim_end())))?;
        // Axes of length 0 are left out, so that the product may be taken from either end.
        let values = header.shape.iter().filter(|&&axis| axis > 0).try_fold(1_u64, |all, &axis| all.checked_mul(axis));
        ensure!(
            values.is_some(),
            "an array of {} values",
            header.shape.iter().map(u64::to_string).collect::<Vec<_>>().join(" times ")
        );
        Ok(header)
    }

    fn parse(text: &str) -> Result<Self> {
        let [mut descr, mut order, mut shape] = [None; 3];
        let mut rest = text.trim().strip_prefix('{').context("no dictionary")?.trim_start();
        while !rest.starts_with('}') {
            let (key, after) = literal(rest)?;
            let after = after.strip_prefix(':').with_context(|| format!("no colon after {}", shown::text(key)))?;
            let (value, after) = literal(after)?;
            let place = match key.trim_matches(['\'', '"']) {
                "descr" => &mut descr,
                "fortran_order" => &mut order,
                "shape" => &mut shape,
                _ => bail!("{}, where descr, fortran_order and shape were expected", shown::text(key)),
            };
            *place = Some(value);
            rest = after.strip_prefix(',').unwrap_or(after).trim_start();
        }
        ensure!(rest == "}", "more than a dictionary");
        let lengths = shape.context("no shape")?.strip_prefix('(').and_then(|axes| axes.strip_suffix(')'));
        let lengths = lengths.context("a shape that is no tuple")?.split(',').map(str::trim);
        Ok(Self {
            descr: descr.context("no descr")?.to_owned(),
            columns_first: match order.context("no fortran_order")? {
                "True" => true,
                "False" => false,
                other => bail!("fortran_order {}", shown::text(other)),
            },
            // A tuple of one has a comma after it.
            shape: lengths.filter(|length| !length.is_empty()).map(length).collect::<Result<_>>()?,
        })
    }

    /// Writes a header, to the byte as NumPy does.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let order = if self.columns_first { "True" } else { "False" };
        let shape: Vec<_> = self.shape.iter().map(u64::to_string).collect();
        let mut text =
            format!("{{'descr': {}, 'fortran_order': {order}, 'shape': ({}), }}", self.descr, shape.join(", "));
        let growing = if self.columns_first { shape.last() } else { shape.first() };
        let room = growing.map_or(0, |digits| DIGITS.saturating_sub(digits.len()));
        let before = MAGIC.len() + 4 + text.len() + room;
        text.extend(std::iter::repeat_n(' ', room + ALIGNMENT - 1 - before % ALIGNMENT));
        text.push('\n');
        out.write_all(MAGIC)?;
        out.write_all(&[1, 0])?;
        out.write_all(&(text.len() as u16).to_le_bytes())?;
        out.write_all(text.as_bytes())
    }
}

/// Reads the next bytes.
pub(crate) fn bytes<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Splits text after the first Python literal, which ends at a colon, a comma or a bracket that closes one around it.
fn literal(text: &str) -> Result<(&str, &str)> {
    let (mut depth, mut quote) = (0_usize, None);
    let end = text.find(|c: char| {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') if depth > 0 => depth -= 1,
            (None, ')' | ']' | '}' | ',' | ':') => return depth == 0,
            _ => {}
        }
        false
    });
    let (literal, rest) = text.split_at(end.context("no end")?);
    Ok((literal.trim(), rest))
}

/// Reads the length of an axis: a number in any of Python's bases, and in Python 2 with an L.
fn length(text: &str) -> Result<u64> {
    let digits: String = text.chars().filter(|&c| c != '_').collect();
    let lower = digits.to_ascii_lowercase();
    let (digits, base) = match lower.get(..2) {
        Some("0x") => (&lower[2..], 16),
        Some("0o") => (&lower[2..], 8),
        Some("0b") => (&lower[2..], 2),
        _ => (lower.strip_suffix('l').unwrap_or(&lower), 10),
    };
    u64::from_str_radix(digits, base).map_err(|_| anyhow!("an axis of {}", shown::text(text)))
}

#[cfg(test)]
mod tests {
    use super::Header;

    fn read(text: &str) -> Result<(String, bool, Vec<u64>), String> {
        let length = (text.len() as u16).to_le_bytes();
        let file = [&b"\x93NUMPY\x01\x00"[..], &length, text.as_bytes()].concat();
        let header = Header::read(&mut file.as_slice()).map_err(|error| format!("{error:#}"))?;
        Ok((header.descr, header.columns_first, header.shape))
    }

    #[test]
    fn headers_of_every_form() {
        let of = |descr: &str, columns_first, shape: &[u64]| Ok((descr.to_owned(), columns_first, shape.to_vec()));
        assert_eq!(
            read("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n"),
            of("'<f4'", false, &[2, 3])
        );
        assert_eq!(read("{\"shape\":(0x10,),\"fortran_order\":True,\"descr\":\"|u1\"}"), of("\"|u1\"", true, &[16]));
        assert_eq!(read("{'shape': (), 'descr': 'a}', 'fortran_order': False}"), of("'a}'", false, &[]));
        assert_eq!(
            read("{'shape': (7L, 0b11, 1_0), 'descr': [('x', '<f4', (2,)), ('y:', '<f4')], 'fortran_order': False}"),
            of("[('x', '<f4', (2,)), ('y:', '<f4')]", false, &[7, 3, 10])
        );
    }

    #[test]
    fn what_is_no_header_is_named() {
        for (text, fault) in [
            ("", "no dictionary"),
            ("{", "no end"),
            ("{}", "no shape"),
            ("{'shape' (2, 3)}", "no colon after 'shape' (2, 3)"),
            ("{'shape': (2, 3}", "no end"),
            ("{'shape': 2}", "a shape that is no tuple"),
            ("{'shape': (2, 3)}", "no descr"),
            ("{'shape': (2, -3), 'descr': '<f4', 'fortran_order': False}", "an axis of -3"),
            ("{'shape': (2, 3), 'descr': '<f4', 'fortran_order': 0}", "fortran_order 0"),
            ("{'shape': (2, 3), 'descr': '<f4', 'fortran_order': False}, {}", "more than a dictionary"),
            ("{'name': 'x'}", "'name', where descr, fortran_order and shape were expected"),
        ] {
            assert_eq!(read(text), Err(format!("its header is {text:?}: {fault}")));
        }
        // A file may hold what a terminal obeys, or have no end.
        for hostile in [
            "{'\u{1b}[2J' (2, 3)}",
            "{'\u{1b}[2J': 'x'}",
            "{'shape': (\u{1b}[2J), 'descr': '<f4', 'fortran_order': False}",
            "{'shape': (2, 3), 'descr': '<f4', 'fortran_order': \u{1b}[2J}",
        ] {
            let fault = read(&hostile.replace('J', &"J".repeat(5000))).unwrap_err();
            assert!(fault.contains(r"\u{1b}") && !fault.contains('\u{1b}') && fault.len() < 400, "{fault}");
        }
        let huge = "{'shape': (4294967296, 0, 4294967296), 'descr': '<f4', 'fortran_order': False}";
        assert_eq!(read(huge), Err("an array of 4294967296 times 0 times 4294967296 values".to_owned()));
        let file = |bytes: &[u8]| Header::read(&mut &bytes[..]).unwrap_err().to_string();
        assert_eq!(file(b"x,y,r\n0,0,1\n"), "it does not begin as one");
        assert_eq!(file(b"\x93NUMPY\x04\x00"), "version 4 of the format, where 1 to 3 were expected");
        assert_eq!(file(b"\x93NUMPY\x02\x00\x01\x00\x01\x00"), "a header of 65,537 bytes");
        assert_eq!(file(b"\x93NUMPY\x01\x00\x01"), "failed to fill whole buffer");
    }

    /// The truth is the bytes of `numpy.save`.
    #[test]
    fn headers_are_written_as_numpy_writes_them() {
        for (columns_first, shape, end) in
            [(false, [2, 3], "(2, 3), }"), (false, [100_000, 2], "(100000, 2), }"), (true, [3, 2], "(3, 2), }")]
        {
            let mut bytes = Vec::new();
            Header { descr: "'<u4'".to_owned(), columns_first, shape: shape.to_vec() }.write(&mut bytes).unwrap();
            let order = if columns_first { "True" } else { "False" };
            let text = format!("{{'descr': '<u4', 'fortran_order': {order}, 'shape': {end}");
            assert_eq!(bytes, [b"\x93NUMPY\x01\x00v\x00", format!("{text:<117}\n").as_bytes()].concat());
        }
    }
}

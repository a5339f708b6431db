//! Lines of bounded length: what has no end of a line, such as a device or a file of another kind, is refused before it
//! fills the memory.

use std::io::{self, Read};

use indicatif::HumanCount;

/// Most bytes of a line.
pub(super) const LONGEST: usize = 1 << 20;

/// Bytes of text, of which no line is longer than [`LONGEST`].
pub(super) struct LineLimit<R> {
    bytes: R,
    /// The line that is being read, from 1.
    line: usize,
    /// Bytes of that line that have been read.
    length: usize,
}

impl<R> LineLimit<R> {
    pub(super) fn new(bytes: R) -> Self {
        Self { bytes, line: 1, length: 0 }
    }
}

impl<R: Read> Read for LineLimit<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(into)?;
        let text = &into[..read];
        let ends = |byte: &u8| *byte == b'\n';
        self.length += text.iter().position(ends).unwrap_or(read);
        if self.length > LONGEST {
            let (line, longest) = (HumanCount(self.line as u64), HumanCount(LONGEST as u64));
            return Err(io::Error::other(format!(
                "line {line} is longer than {longest} bytes; lines end in LF or CR LF"
            )));
        }
        if let Some(last) = text.iter().rposition(ends) {
            self.length = read - last - 1;
            self.line += text.iter().filter(|byte| ends(byte)).count();
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::{LONGEST, LineLimit};

    #[test]
    fn only_a_line_that_is_too_long_is_refused() {
        let longest = vec![b' '; LONGEST];
        let lines = [&longest, &b"\n"[..], &longest, b"\nshort\n", &longest].concat();
        let mut read = Vec::new();
        LineLimit::new(lines.as_slice()).read_to_end(&mut read).unwrap();
        assert!(read == lines);
        for (before, line) in [("", "1"), ("\n\nx,y,r\n", "4")] {
            let lines = [before.as_bytes(), &longest, b" \n"].concat();
            let error = LineLimit::new(lines.as_slice()).read_to_end(&mut Vec::new()).unwrap_err();
            assert!(error.to_string().starts_with(&format!("line {line} is longer than 1,048,576 bytes")), "{error}");
        }
    }
}

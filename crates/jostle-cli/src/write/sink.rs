//! A file or standard output, behind one type.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Stdout, Write};

use anyhow::{Context, Result};

use super::Out;

/// Where bytes go.
#[derive(Debug)]
pub(crate) enum Sink<'a> {
    File(&'a File),
    /// Standard output, and whether its reader has gone away.
    Stdout(Stdout, bool),
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Stdout(out, closed) => out.write(bytes).inspect_err(|error| *closed |= gone(error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Stdout(out, closed) => out.flush().inspect_err(|error| *closed |= gone(error)),
        }
    }
}

fn gone(error: &io::Error) -> bool {
    error.kind() == ErrorKind::BrokenPipe
}

/// Writes to standard output. It is no error if the reader stops early.
pub(super) fn to_stdout(fill: impl FnOnce(&mut Out<'_>) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::new(Sink::Stdout(io::stdout(), false));
    let outcome = fill(&mut out).and_then(|()| Ok(out.flush()?));
    // Dropping the buffer would try the pipe again.
    match out.into_parts() {
        (Sink::Stdout(_, true), _) => Ok(()),
        _ => outcome.context("cannot write to standard output"),
    }
}

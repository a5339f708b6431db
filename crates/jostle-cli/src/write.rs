//! Files of pairs: CSV, NumPy arrays and Parquet, told apart by the ending of their names.

mod csv;
mod npy;
mod parquet;
mod replace;

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};

pub(crate) use replace::{check_folder, replace};

use crate::read::ending;

/// Where the pairs go, and in which form.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Target<'a> {
    Stdout,
    Csv(&'a Path),
    Npy(&'a Path),
    Parquet(&'a Path),
}

impl<'a> Target<'a> {
    /// Decides before any work is done.
    pub(crate) fn new(path: &'a Path) -> Result<Self> {
        if path == Path::new("-") {
            return Ok(Self::Stdout);
        }
        check_folder(path)?;
        match ending(path).as_deref() {
            Some("csv") => Ok(Self::Csv(path)),
            Some("npy") => Ok(Self::Npy(path)),
            Some("parquet") => Ok(Self::Parquet(path)),
            Some("png") => bail!("{}: pictures are drawn with --png", path.display()),
            _ => bail!("{}: pairs are written to files that end in .csv, .npy or .parquet", path.display()),
        }
    }

    pub(crate) fn write(self, pairs: &[[u32; 2]]) -> Result<()> {
        match self {
            Self::Stdout => to_stdout(pairs),
            Self::Csv(path) => replace(path, |out| Ok(csv::write(out, pairs)?)),
            Self::Npy(path) => replace(path, |out| Ok(npy::write(out, pairs)?)),
            Self::Parquet(path) => replace(path, |out| parquet::write(out, pairs)),
        }
    }
}

/// A reader that has seen enough is no error.
fn to_stdout(pairs: &[[u32; 2]]) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match csv::write(&mut out, pairs).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // Dropping the buffer would try the pipe again.
            drop(out.into_parts());
            Ok(())
        }
        outcome => outcome.context("cannot write to standard output"),
    }
}

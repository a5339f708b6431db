//! The kinds of files that the program writes, and how the kind of a file is recognised.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::{csv, npy, parquet};
use crate::npy::Header;

/// A kind of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Csv,
    Npy,
    Parquet,
    Png,
    Gif,
}

impl Kind {
    /// The ending of names of such files.
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Npy => "npy",
            Self::Parquet => "parquet",
            Self::Png => "png",
            Self::Gif => "gif",
        }
    }

    /// Returns whether a file begins as this program would write it. A file that cannot be read is of no kind.
    pub(super) fn is_kind_of(self, path: &Path) -> bool {
        let Ok(mut file) = File::open(path) else { return false };
        match self {
            Self::Csv => begins_with(&mut file, csv::HEADER.as_bytes()),
            Self::Npy => Header::read(&mut BufReader::new(file)).is_ok_and(|header| npy::holds_pairs(&header)),
            Self::Parquet => parquet::holds_pairs(file),
            Self::Png => begins_with(&mut file, b"\x89PNG\r\n\x1a\n"),
            Self::Gif => begins_with(&mut file, b"GIF89a"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Csv => "pairs as CSV",
            Self::Npy => "pairs as a NumPy array",
            Self::Parquet => "pairs as Parquet",
            Self::Png => "PNG picture",
            Self::Gif => "GIF animation",
        })
    }
}

fn begins_with(file: &mut File, beginning: &[u8]) -> bool {
    let mut head = vec![0; beginning.len()];
    file.read_exact(&mut head).is_ok() && head == beginning
}

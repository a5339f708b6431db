//! Files of bodies and of pairs: text, NumPy arrays and Parquet, told apart by the ending of their names.

mod column;
mod columns;
mod corners;
mod footer;
mod line_limit;
mod npy;
mod number;
mod pages;
mod parquet;
mod progress;
mod source;
mod table;
mod text;

use std::path::Path;

use anyhow::{Context, Result};

pub(crate) use columns::VELOCITIES;
pub use table::Table;
pub(crate) use table::{FARTHER, Values};

use crate::args::InputArgs;
use crate::names::name;
use source::{Format, Source};

/// Reads the bodies of a file.
///
/// # Errors
/// When the file cannot be read, or does not hold what is asked for. The error names the line or row, and what is wrong
/// with it.
pub fn read(args: &InputArgs) -> Result<Table> {
    read_wanted(args, &columns::Wanted::new(args)?)
}

/// Reads the bodies of a file, and their velocities if the file has them.
pub(crate) fn read_moving(args: &InputArgs) -> Result<Table> {
    read_wanted(args, &columns::Wanted::new(args)?.with_velocities())
}

fn read_wanted(args: &InputArgs, wanted: &columns::Wanted) -> Result<Table> {
    let read = |Source { format, bytes }| match format {
        Format::Text => text::read_bodies(bytes, wanted, args.precision),
        Format::Npy => npy::read_bodies(bytes, wanted, args.precision),
        Format::Parquet => parquet::read_bodies(bytes, wanted, args.precision),
    };
    Source::open(&args.file).and_then(read).with_context(|| name(&args.file))
}

/// Reads a list of pairs, of any form that the program writes.
pub(crate) fn read_pairs(path: &Path) -> Result<Vec<[u32; 2]>> {
    let read = |Source { format, bytes }| match format {
        Format::Text => text::read_pairs(bytes),
        Format::Npy => npy::read_pairs(bytes),
        Format::Parquet => parquet::read_pairs(bytes),
    };
    Source::open(path).and_then(read).with_context(|| name(path))
}

//! Files of bodies: CSV, NumPy arrays and Parquet, told apart by the ending of their names.

mod column;
mod columns;
mod csv;
mod npy;
mod number;
mod parquet;
mod progress;
mod table;

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail};

pub(crate) use csv::read_pairs;
pub use table::Table;
pub(crate) use table::Values;

use crate::args::InputArgs;

/// The name that stands for a standard stream.
pub(crate) const STDIO: &str = "-";

/// Reads the bodies of a file.
///
/// # Errors
/// Where the file cannot be read, or does not hold what is asked for: which line or row, and what is wrong with it.
pub fn read(args: &InputArgs) -> Result<Table> {
    let wanted = columns::Wanted::new(args)?;
    let path = args.file.as_path();
    match ending(path).as_deref() {
        Some("csv") => csv::read_bodies(path, &wanted, args.precision),
        Some("npy") => npy::read_bodies(path, &wanted, args.precision),
        Some("parquet") => parquet::read_bodies(path, &wanted, args.precision),
        _ => bail!("{}: the name of the file must end in .csv, .npy or .parquet", path.display()),
    }
    .with_context(|| path.display().to_string())
}

/// The ending of a file's name, in lower case.
pub(crate) fn ending(path: &Path) -> Option<String> {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase())
}

/// Opens a file, and says how many bytes it has.
fn open(path: &Path) -> Result<(File, u64)> {
    let file = File::open(path).context("cannot open")?;
    let length = file.metadata().context("cannot open")?.len();
    Ok((file, length))
}

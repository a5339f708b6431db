//! Files of bodies: whatever stands in them, the readers of the program say what or why not, and what was written is read.

pub(crate) mod csv;
pub(crate) mod npy;
pub(crate) mod parquet;

use std::io::Write;

use anyhow::Result;
use arbitrary::Arbitrary;
use jostle_cli::{InputArgs, Table, read};

use crate::number::Number;

/// What the command line says of a file.
#[derive(Debug, Arbitrary)]
pub(crate) struct Asked {
    radius: Option<Number>,
    dim: Option<bool>,
    columns: Option<Vec<u8>>,
}

impl Asked {
    fn args(&self, names: &[&str]) -> InputArgs {
        let name = |&at: &u8| names[usize::from(at) % names.len()].to_owned();
        InputArgs {
            radius: self.radius.map(|radius| radius.value().into()),
            dim: self.dim.map(|in_space| if in_space { 3 } else { 2 }),
            columns: self.columns.as_ref().map(|columns| columns.iter().take(5).map(name).collect()),
            ..InputArgs::default()
        }
    }
}

/// Reads these bytes as a file of this ending.
fn read_bytes(bytes: &[u8], ending: &str, args: InputArgs) -> Result<Table> {
    let mut file = tempfile::Builder::new().suffix(ending).tempfile().expect("a temporary file");
    file.write_all(bytes).expect("room for a temporary file");
    read(&InputArgs { file: file.path().to_owned(), ..args })
}

/// What was read, by body: centre and radius as bits, NaN as NaN.
fn bodies(table: &Table) -> Vec<Vec<u64>> {
    let row = |(center, radius): (Vec<f64>, f64)| center.into_iter().chain([radius]).map(bits_of).collect();
    (0..table.len()).map(|id| row(table.body(id))).collect()
}

fn bits_of(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
}

/// Looks at a table or at why there is none: either can be told.
fn look(outcome: Result<Table>) {
    match outcome {
        Ok(table) => drop(bodies(&table)),
        Err(error) => assert!(!format!("{error:#}").is_empty()),
    }
}

/// As [`bodies`] of rows that were written.
fn bits(rows: &[Vec<f32>], radius: Option<f32>) -> Vec<Vec<u64>> {
    rows.iter().map(|row| row.iter().copied().chain(radius).map(|x| bits_of(x.into())).collect()).collect()
}

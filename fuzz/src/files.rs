//! Files of bodies. Whatever a file holds, the readers of the program give its bodies or say why not, and they read
//! what was written.

pub(crate) mod csv;
pub(crate) mod npy;
pub(crate) mod parquet;

use std::io::Write;

use anyhow::Result;
use arbitrary::Unstructured;
use jostle_cli::{InputArgs, Precision, Table, read};

use crate::number::Number;

arbitrary! {
    /// What the command line says of a file.
    #[derive(Debug)]
    pub(crate) struct Asked {
        radius: Option<Number>,
        dim: Option<bool>,
        columns: Option<Vec<u8>>,
        precision: u8,
    }
}

impl Asked {
    fn args(&self, names: &[&str]) -> InputArgs {
        let name = |&at: &u8| names[usize::from(at) % names.len()].to_owned();
        InputArgs {
            radius: self.radius.map(radius),
            dim: self.dim.map(|in_space| if in_space { 3 } else { 2 }),
            columns: self.columns.as_ref().map(|columns| columns.iter().take(5).map(name).collect()),
            precision: [Precision::Auto, Precision::F32, Precision::F64][usize::from(self.precision % 3)],
            ..InputArgs::default()
        }
    }

    /// Returns the options for a table that was written with this radius for all bodies, if any.
    fn of(radius: Option<Number>, in_space: bool) -> Self {
        Self { radius, dim: Some(in_space), columns: None, precision: 0 }
    }
}

/// Returns a radius that the command line takes.
fn radius(number: Number) -> f64 {
    number.sound().abs().into()
}

/// Reads these bytes as a file of this ending.
fn read_bytes(bytes: &[u8], ending: &str, args: InputArgs) -> Result<Table> {
    let mut file = tempfile::Builder::new().suffix(ending).tempfile().expect("a temporary file");
    file.write_all(bytes).expect("room for a temporary file");
    read(&InputArgs { file: file.path().to_owned(), ..args })
}

fn bits(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
}

/// Returns what was read, by body: centre and radius as bits.
fn bodies(table: &Table) -> Vec<Vec<u64>> {
    let body = |id| {
        let row = table.row(id);
        assert_eq!(row.len(), if table.is_of_boxes() { 2 * table.dim() } else { table.dim() + 1 });
        row.into_iter().map(bits).collect()
    };
    (0..table.len()).map(body).collect()
}

/// Reads all of a table, or the reason why there is none.
fn look(outcome: Result<Table>) {
    match outcome {
        Ok(table) => drop(bodies(&table)),
        Err(error) => assert!(!format!("{error:#}").is_empty()),
    }
}

/// Returns what [`bodies`] should give for rows that were written, with this radius for all bodies, if any.
fn written(rows: &[Vec<f32>], radius: Option<Number>) -> Vec<Vec<u64>> {
    let radius = radius.map(self::radius);
    rows.iter().map(|row| row.iter().map(|&x| x.into()).chain(radius).map(bits).collect()).collect()
}

/// Returns all bytes that are left, for a file as it is.
fn rest(bytes: &mut Unstructured<'_>) -> Vec<u8> {
    bytes.bytes(bytes.len()).unwrap_or_default().to_vec()
}

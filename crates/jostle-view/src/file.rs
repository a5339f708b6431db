//! The circles of a file, shown as they lie.

use std::path::PathBuf;
use std::thread;

use anyhow::{Context, Result, ensure};
use clap::{Args as Group, value_parser};
use jostle::{Circles, PairFinder};
use jostle_cli::{InputArgs, Precision};
use jostle_view::Viewer;

use crate::PAUSE;

/// What to read.
#[derive(Debug, Group)]
pub(crate) struct FileArgs {
    /// Show the circles of this file, which `jostle pairs` could read: text, .npy or .parquet, in place of a simulation
    ///
    /// They are read and searched in 32-bit floats, to which coordinates are rounded.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// One radius for all circles of the file
    #[arg(long, value_name = "R", requires = "file")]
    radius: Option<f64>,
    /// Circles (2), where the file does not say whether it has circles or spheres
    #[arg(long, value_name = "2", value_parser = value_parser!(u8).range(2..=2), requires = "file")]
    dim: Option<u8>,
    /// The columns of the file to read as x, y, r
    #[arg(long, value_name = "X,Y,R", value_delimiter = ',', requires = "file")]
    columns: Option<Vec<String>>,
}

/// Circles that stay where they are.
#[derive(Debug)]
pub(crate) struct Bodies {
    file: String,
    x: Vec<f32>,
    y: Vec<f32>,
    radius: Vec<f32>,
}

impl FileArgs {
    /// Reads the file, if there is one.
    pub(crate) fn read(&self) -> Result<Option<Bodies>> {
        let Some(file) = self.file.clone() else { return Ok(None) };
        let name = file.display().to_string();
        let (radius, columns) = (self.radius, self.columns.clone());
        let precision = Precision::F32;
        let args = InputArgs { file, radius, dim: self.dim, columns, boxes: false, header: None, precision };
        let table = jostle_cli::read(&args)?;
        ensure!(!table.is_of_boxes(), "{name}: holds boxes; only circles can be shown");
        ensure!(
            table.dim() == 2,
            "{name}: holds spheres; only circles can be shown (--columns X,Y,R chooses two axes)"
        );
        let mut bodies = Bodies { file: name, x: Vec::new(), y: Vec::new(), radius: Vec::new() };
        for row in (0..table.len()).map(|id| table.row(id)) {
            // Read in 32 bits: nothing is rounded here.
            bodies.x.push(row[0] as f32);
            bodies.y.push(row[1] as f32);
            bodies.radius.push(row[2] as f32);
        }
        Ok(Some(bodies))
    }
}

impl Bodies {
    /// Shows them for ever.
    pub(crate) fn show(&self, viewer: &mut Viewer) -> Result<()> {
        let view = Circles::new(&self.x, &self.y, &self.radius);
        let mut finder = PairFinder::new();
        let found = finder.find(view).with_context(|| self.file.clone())?;
        println!("{}", viewer.url());
        loop {
            viewer.still(view, &found);
            thread::sleep(PAUSE);
        }
    }
}

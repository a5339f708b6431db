//! The folder that tables and plots go to.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::json;

use crate::machine::Machine;
use crate::plot::Chart;
use crate::sheet::Sheet;

/// A folder for tables and plots.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    folder: PathBuf,
}

impl Output {
    /// The folder, made if need be.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Writes a table as `name.csv` and `name.json`, the latter with the machine that it was measured on.
    pub(crate) fn sheet(&self, name: &str, sheet: &Sheet) -> io::Result<()> {
        fs::write(self.folder.join(format!("{name}.csv")), sheet.csv())?;
        let whole = json!({ "machine": Machine::here().json(), "rows": sheet.json() });
        fs::write(self.folder.join(format!("{name}.json")), format!("{whole:#}\n"))
    }

    /// Draws a chart as `name.svg` and `name.png`.
    pub(crate) fn chart(&self, name: &str, chart: &Chart) -> Result<(), Box<dyn std::error::Error>> {
        if chart.is_empty() {
            return Ok(());
        }
        chart.svg(&self.folder.join(format!("{name}.svg")))?;
        chart.png(&self.folder.join(format!("{name}.png")))
    }
}

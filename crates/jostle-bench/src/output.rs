//! The folder that tables and plots go to, and are read from.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::{Value, json};

use crate::machine::Machine;
use crate::plot::Chart;
use crate::table::Table;

/// A folder for tables and plots.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    folder: PathBuf,
    command: String,
    /// Whether rows are added to the tables of the folder, which are replaced otherwise.
    merges: bool,
}

/// Columns that tell which measurement a row is.
const KEYS: [&str; 12] =
    ["dim", "scene", "n", "order", "threads", "clock", "answer", "rival", "frames", "what", "system", "case"];

/// Options that choose a part of a measurement, or how long it takes.
const PARTS: [&str; 6] = ["--n", "--scene", "--only", "--row", "--threads", "--rounds"];

/// A table with where it comes from.
#[derive(Debug, Clone)]
pub(crate) struct Kept {
    pub(crate) name: String,
    pub(crate) table: Table,
    pub(crate) machine: Machine,
    /// The options that made it.
    pub(crate) command: String,
}

impl Output {
    /// Opens the folder, made if need be, for the results of a command.
    pub(crate) fn new(folder: &Path, command: String) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.to_owned(), command, merges: false })
    }

    /// Returns the same output, which adds rows to existing tables if `merges`. Their command is then that of the
    /// whole.
    pub(crate) fn merging(self, merges: bool) -> Self {
        if merges { Self { command: without_parts(&self.command), merges, ..self } } else { self }
    }

    /// Returns these rows, merged into the table of that name in the folder if this output merges.
    fn merged(&self, name: &str, table: &Table) -> Result<Table, Box<dyn Error>> {
        let Some(kept) = read(&self.folder, name, &[])?.filter(|_| self.merges) else { return Ok(table.clone()) };
        let (then, now) = (kept.machine, Machine::here());
        if (&then.cpu, &then.commit, &then.compiler) != (&now.cpu, &now.commit, &now.compiler) {
            return Err(
                format!("{name} is of {}, commit {}: without --merge it is replaced", then.cpu, then.commit).into()
            );
        }
        Ok(kept.table.with(table, &KEYS))
    }

    /// Writes a table as `name.csv` and `name.json`, the latter with the machine that it was measured on.
    ///
    /// # Errors
    /// When a file cannot be written, or rows would be merged into the table of another processor, commit or compiler.
    pub(crate) fn table(&self, name: &str, table: &Table) -> Result<(), Box<dyn Error>> {
        let table = &self.merged(name, table)?;
        fs::write(self.folder.join(format!("{name}.csv")), table.csv())?;
        let whole = json!({
            "machine": Machine::here().json(),
            "command": self.command,
            "columns": table.columns(),
            "rows": table.json(),
        });
        Ok(fs::write(self.folder.join(format!("{name}.json")), format!("{whole:#}\n"))?)
    }

    /// Draws a chart as `name.svg` and `name.png`.
    pub(crate) fn chart(&self, name: &str, chart: &Chart) -> Result<(), Box<dyn Error>> {
        if chart.is_empty() {
            return Ok(());
        }
        chart.svg(&self.folder.join(format!("{name}.svg")))?;
        chart.png(&self.folder.join(format!("{name}.png")))
    }
}

/// A command line without the options that choose a part.
fn without_parts(command: &str) -> String {
    let mut words = command.split(' ');
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if PARTS.contains(&word) {
            words.next();
        } else if !PARTS.iter().any(|part| word.strip_prefix(part).is_some_and(|rest| rest.starts_with('='))) {
            kept.push(word);
        }
    }
    kept.join(" ")
}

/// Reads the table that [`Output::table`] has written to `name.json` in a folder; `None` if there is no such file.
///
/// # Errors
/// When the file cannot be read, or the table lacks one of these columns.
pub(crate) fn read(folder: &Path, name: &str, columns: &[&str]) -> Result<Option<Kept>, Box<dyn Error>> {
    let path = folder.join(format!("{name}.json"));
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        text => text?,
    };
    let whole: Value = serde_json::from_str(&text)?;
    let kept = || {
        let table = Table::from_json(&whole["columns"], &whole["rows"])?;
        let machine = Machine::from_json(&whole["machine"])?;
        Some(Kept { name: name.to_owned(), table, machine, command: whole["command"].as_str()?.to_owned() })
    };
    let whole =
        kept().filter(|kept| columns.iter().all(|&column| kept.table.columns().iter().any(|name| name == column)));
    whole.map(Some).ok_or_else(|| format!("{} is of another version: remove it", path.display()).into())
}

#[cfg(test)]
mod tests {
    use super::{Output, read};
    use crate::table::{Cell, Table};

    #[test]
    fn what_is_written_is_read() {
        let folder = std::env::temp_dir().join(format!("jostle-bench-output-{}", std::process::id()));
        let output = Output::new(&folder, "rivals --dim 3".to_owned()).unwrap();
        let mut table = Table::new(["z", "a", "n", "ms"]);
        table.push(vec!["x, y".into(), Cell::Missing, 3_u32.into(), 2.0.into()]);
        output.table("table", &table).unwrap();
        let kept = read(&folder, "table", &["ms"]).unwrap().unwrap();
        assert_eq!((kept.table.csv(), kept.command.as_str()), (table.csv(), "rivals --dim 3"));
        assert!(kept.table.rows().eq(table.rows()));
        let mut more = Table::new(["z", "a", "n", "ms"]);
        more.push(vec!["y".into(), Cell::Missing, 4_u32.into(), 1.0.into()]);
        more.push(vec!["x, y".into(), Cell::Missing, 3_u32.into(), 1.5.into()]);
        let output = Output::new(&folder, "rivals --n 4 --dim 3 --scene=a --merge".to_owned()).unwrap().merging(true);
        output.table("table", &more).unwrap();
        let kept = read(&folder, "table", &["ms"]).unwrap().unwrap();
        assert_eq!(
            (kept.table.csv().as_str(), kept.command.as_str()),
            ("z,a,n,ms\n\"x, y\",,3,1.5\ny,,4,1\n", "rivals --dim 3 --merge")
        );
        assert!(read(&folder, "no such table", &[]).unwrap().is_none());
        std::fs::write(folder.join("old.json"), "{}").unwrap();
        assert!(read(&folder, "old", &[]).is_err());
        assert!(read(&folder, "table", &["ms", "threads"]).is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}

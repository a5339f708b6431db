//! The record of a machine, and the figures of README. Missing results are measured, then all results are put into
//! words.

mod readme;
mod record;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fs, io};

use clap::Parser;
use jostle_testkit::Kind;

use crate::Common;
use crate::classics;
use crate::compare;
use crate::guests;
use crate::machine::Machine;
use crate::output::{Kept, read};
use crate::pivot::distinct;
use crate::scaling;

/// Options of this sub-command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Runs nothing, and puts into words what is in this folder: results of earlier runs of the other sub-commands.
    #[arg(long)]
    from: Option<PathBuf>,
    /// Runs all anew, whatever results there are.
    #[arg(long, conflicts_with = "from")]
    again: bool,
    /// Tiny sizes, to try it out; the record goes to the folder of the results, and README stays as it is.
    #[arg(long)]
    quick: bool,
    /// Folder of the records: one for each processor, by default that of this crate.
    #[arg(long)]
    records: Option<PathBuf>,
    /// File whose part between `<!-- figures -->` and `<!-- /figures -->` is rewritten, by default README.md.
    #[arg(long)]
    readme: Option<PathBuf>,
}

/// A result, and the commands that make it.
struct Wanted {
    name: &'static str,
    command: &'static str,
    quick: &'static str,
}

/// Results that are measured if they are missing.
const WANTED: [Wanted; 9] = [
    Wanted { name: "rivals-2d", command: "rivals", quick: "rivals --n 300,400 --rounds 1" },
    Wanted {
        name: "rivals-3d",
        command: "rivals --dim 3 --n 10k,100k,1m --scene uniform,clustered,powerlaw,dense,fluid",
        quick: "rivals --dim 3 --n 300 --rounds 1 --scene dense,fluid",
    },
    Wanted { name: "lists-2d", command: "lists --dim 2", quick: "lists --dim 2 --n 300 --rounds 1 --scene dense" },
    Wanted { name: "lists-3d", command: "lists", quick: "lists --n 300 --rounds 1 --scene fluid" },
    Wanted { name: "scaling-2d", command: "scaling", quick: "scaling --n 500,20k --rounds 1 --scene uniform,dense" },
    Wanted { name: "frames-2d", command: "frames --rounds 5", quick: "frames --n 300 --rounds 1 --scene clustered" },
    Wanted { name: "features-2d", command: "features", quick: "features --n 300,400 --rounds 1 --scene dense" },
    Wanted { name: "guests", command: "guests", quick: "guests --quick --rounds 1" },
    Wanted {
        name: "classics",
        command: "classics",
        quick: "classics --n 20,1k --rounds 1 --scene uniform,dense --agents 1k,1k,1k",
    },
];

/// All results that have a part in a record, in its order.
const NAMES: [&str; 22] = [
    "rivals-2d",
    "rivals-3d",
    "lists-2d",
    "lists-3d",
    "scaling-2d",
    "scaling-2d-answers",
    "scaling-2d-regions",
    "scaling-2d-inside",
    "scaling-3d",
    "scaling-3d-answers",
    "scaling-3d-regions",
    "scaling-3d-inside",
    "frames-2d",
    "frames-3d",
    "hostile-2d",
    "features-2d",
    "guests",
    "classics",
    "classics-pays",
    "classics-growth",
    "classics-agents",
    "classics-bitmaps",
];

/// Columns of a result that its part in a record needs.
fn columns(name: &str) -> &'static [&'static str] {
    match name.split('-').next() {
        Some("classics") if name == "classics" => &["scene", "n", "system", "threads", "ms", "tests", "bytes"],
        Some("classics") => &[],
        Some("rivals") => &["scene", "n", "threads", "rival", "version", "ms", "ns a body"],
        Some("features") => &["scene", "n", "threads", "what", "ms", "times find"],
        Some("guests") => &guests::COLUMNS,
        Some("lists") => &["scene", "n", "threads", "answer", "rival", "ms"],
        Some("frames") => &["scene", "n", "threads", "rival", "frames", "ms a frame"],
        _ => &["scene"],
    }
}

/// How a sub-command is run.
const CARGO: &str = "cargo run --release -p jostle-bench --";

/// The root of the workspace.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// Runs the sub-command.
pub(crate) fn run(args: &Args, common: &Common) -> Result<(), Box<dyn Error>> {
    let folder = match (&args.from, args.quick) {
        (Some(folder), _) => folder.clone(),
        (None, true) => common.out.join("quick"),
        (None, false) => common.out.clone(),
    };
    if args.from.is_none() {
        make(&folder, args)?;
    }
    let results = results(&folder)?;
    let default = if args.quick { folder.join("records") } else { root().join("crates/jostle-bench/records") };
    let record = write(&results, args.records.as_ref().unwrap_or(&default))?;
    println!("record: {}", record.display());
    let readme = args.readme.clone().or_else(|| (!args.quick).then(|| root().join("README.md")));
    if let Some(readme) = readme {
        let rewritten = rewrite(&readme, &results, &record)?;
        println!("{}: {}", readme.display(), if rewritten { "rewritten" } else { "has no place for figures" });
    }
    Ok(())
}

/// Measures missing results.
fn make(folder: &Path, args: &Args) -> Result<(), Box<dyn Error>> {
    for wanted in &WANTED {
        if let (false, Some(kept)) = (args.again, read(folder, wanted.name, columns(wanted.name))?) {
            println!("{}: that of {}, commit {}", wanted.name, kept.machine.date, kept.machine.commit);
            continue;
        }
        let command = if args.quick { wanted.quick } else { wanted.command };
        let out = folder.to_str().ok_or("the folder of the results has no name in Unicode")?;
        let words = ["jostle-bench"].into_iter().chain(command.split(' ')).chain(["--out", out]);
        crate::run(crate::Args::try_parse_from(words)?, command.to_owned())?;
    }
    Ok(())
}

/// All results in a folder.
fn results(folder: &Path) -> Result<Vec<Kept>, Box<dyn Error>> {
    let mut results = Vec::new();
    for name in NAMES {
        results.extend(read(folder, name, columns(name))?);
    }
    let Some(first) = results.first() else { return Err(format!("no results in {}", folder.display()).into()) };
    let other = results.iter().find(|kept| kept.machine.cpu != first.machine.cpu);
    match other {
        Some(other) => Err(format!("results of {} and of {}", first.machine.cpu, other.machine.cpu).into()),
        None => Ok(results),
    }
}

/// Writes the record, and returns the path of its text. Tables and chart lie beside the text.
fn write(results: &[Kept], records: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let machine = newest(results);
    let folder = records.join(machine.slug());
    fs::create_dir_all(&folder)?;
    for kept in results {
        fs::write(folder.join(format!("{}-{}.csv", machine.date, kept.name)), kept.table.csv())?;
    }
    let chart = folder.join(format!("{}.svg", machine.date));
    let rivals = results.iter().find(|kept| kept.name == "rivals-2d");
    if let Some((kept, threads)) = rivals.and_then(|kept| Some((kept, *distinct(&kept.table, "threads").first()?))) {
        compare::chart(&kept.table, Kind::Uniform, threads).svg(&chart)?;
    }
    for (kept, chart) in results.iter().filter_map(|kept| Some((kept, record::speed_up_of(&kept.name, &machine.date)?)))
    {
        scaling::speed_up(&kept.table).svg(&folder.join(chart))?;
    }
    if let Some(classics) = results.iter().find(|kept| kept.name == "classics") {
        for kind in classics::kinds(&classics.table) {
            classics::chart::frames(&classics.table, kind).png(&folder.join(record::chart_of(&machine.date, kind)))?;
        }
    }
    let path = folder.join(format!("{}.md", machine.date));
    fs::write(&path, record::text(machine, results, rivals.is_some()))?;
    Ok(path)
}

/// The machine of the newest result.
fn newest(results: &[Kept]) -> &Machine {
    let newest = results.iter().map(|kept| &kept.machine).max_by(|a, b| a.date.cmp(&b.date));
    newest.expect("there is a result")
}

/// Rewrites the figures of a file if it has a place for them, and returns whether it has.
fn rewrite(readme: &Path, results: &[Kept], record: &Path) -> io::Result<bool> {
    let Some(rivals) = results.iter().find(|kept| kept.name == "rivals-2d") else { return Ok(false) };
    let text = fs::read_to_string(readme)?;
    let link = readme.parent().and_then(|folder| record.strip_prefix(folder).ok()).unwrap_or(record);
    let link = link.display().to_string().replace('\\', "/");
    let Some(new) = readme::replaced(&text, &readme::figures(rivals, &link)) else { return Ok(false) };
    fs::write(readme, new)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::{Machine, WANTED};
    use clap::Parser;
    use std::fs;

    #[test]
    fn what_is_wanted_can_be_asked_for() {
        for words in WANTED.iter().flat_map(|wanted| [wanted.command, wanted.quick]) {
            assert!(
                crate::Args::try_parse_from(["jostle-bench"].into_iter().chain(words.split(' '))).is_ok(),
                "{words}"
            );
        }
    }

    #[test]
    fn a_quick_report_is_whole() {
        let folder = std::env::temp_dir().join(format!("jostle-bench-report-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [out, readme] = ["", "README.md"].map(|name| folder.join(name).to_str().unwrap().to_owned());
        fs::write(&readme, "# Title\n<!-- figures -->\nold\n<!-- /figures -->\nend\n").unwrap();
        let report = |more: &[&str]| {
            let words = ["jostle-bench", "report", "--out", &out, "--readme", &readme];
            let args = crate::Args::try_parse_from(words.iter().chain(more)).unwrap();
            crate::run(args, String::new()).unwrap();
        };
        report(&["--quick"]);
        let machine = Machine::here();
        let records = folder.join("quick/records").join(machine.slug());
        let record = fs::read_to_string(records.join(format!("{}.md", machine.date))).unwrap();
        for part in [
            machine.cpu.as_str(),
            "## Rivals in 2D",
            "## Rivals in 3D",
            "## Lists in 3D",
            "grid for lists by hand",
            "## Scaling in 2D",
            "join",
            "full rows",
            "contacts",
            "## Frames in 2D",
            "## Features in 2D",
            "full lists with distances",
            "## Guests",
            "two finders in one pool",
            "## Classics\n",
            "### dense",
            "linear-quadtree-touching",
            "## Classics: pays",
            "bitmaps of circles",
            "times fewer",
            "times ours",
            "rivals --n 300,400 --rounds 1",
        ] {
            assert!(record.contains(part), "{part}:\n{record}");
        }
        for name in [
            "-rivals-2d.csv",
            "-scaling-2d-regions.csv",
            ".svg",
            "-scaling-2d.svg",
            "-classics-growth.csv",
            "-classics-dense.png",
        ] {
            assert!(records.join(format!("{}{name}", machine.date)).is_file(), "{name}");
        }
        let figures = fs::read_to_string(&readme).unwrap();
        assert!(figures.contains("**jostle**") && !figures.contains("old"), "{figures}");
        assert!(figures.contains(&format!("](quick/records/{}/{}.svg)", machine.slug(), machine.date)), "{figures}");
        // Nothing is missing now, so nothing runs. The folder alone gives the same words.
        let quick = folder.join("quick");
        report(&["--from", quick.to_str().unwrap(), "--records", quick.join("records").to_str().unwrap()]);
        assert_eq!(fs::read_to_string(&readme).unwrap(), figures);
        fs::remove_dir_all(folder).unwrap();
    }
}

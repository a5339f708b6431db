//! Where a figure was measured: no number is printed or kept without it.

use core::fmt;
use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use jostle_core::Isa;
use serde_json::{Value, json};

use crate::numbers;

/// The packages that this program was built from, with their versions.
const LOCKED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/locked.rs"));

/// Returns the version of a package as locked, the newest if there are several; an empty string if there is no such
/// package.
pub(crate) fn version(package: &str) -> &'static str {
    LOCKED.iter().rfind(|locked| locked.0 == package).map_or("", |locked| locked.1)
}

/// The machine, the commit and the compiler.
#[derive(Debug, Clone)]
pub(crate) struct Machine {
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) isa: String,
    pub(crate) commit: String,
    pub(crate) date: String,
    pub(crate) compiler: String,
    pub(crate) flags: String,
}

impl Machine {
    /// This machine, now.
    pub(crate) fn here() -> Self {
        Self {
            cpu: cpu(),
            cores: numbers::all(),
            isa: Isa::detect().to_string(),
            commit: commit(),
            date: date(),
            compiler: env!("BENCH_COMPILER").to_owned(),
            flags: env!("BENCH_FLAGS").to_owned(),
        }
    }

    /// Returns the machine as an object for files.
    pub(crate) fn json(&self) -> Value {
        json!({
            "cpu": self.cpu, "cores": self.cores, "isa": self.isa, "commit": self.commit, "date": self.date,
            "compiler": self.compiler, "flags": self.flags,
        })
    }

    /// Reads an object that [`Machine::json`] has made; `None` if it is another object.
    pub(crate) fn from_json(object: &Value) -> Option<Self> {
        let text = |key| object[key].as_str().map(str::to_owned);
        Some(Self {
            cpu: text("cpu")?,
            cores: object["cores"].as_u64()? as usize,
            isa: text("isa")?,
            commit: text("commit")?,
            date: text("date")?,
            compiler: text("compiler")?,
            flags: text("flags")?,
        })
    }

    /// Returns the name of the processor in a form fit for a folder.
    pub(crate) fn slug(&self) -> String {
        slug(&self.cpu)
    }
}

/// Keeps letters, in lower case, and digits, with single hyphens for all else. Trademark signs are dropped.
fn slug(name: &str) -> String {
    let name = name.replace("(R)", "").replace("(TM)", "").to_ascii_lowercase();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, {} cores; Jostle uses {}", self.cpu, self.cores, self.isa)?;
        write!(f, "commit {}, {}, {}, {}", self.commit, self.date, self.compiler, self.flags)
    }
}

/// The name of the processor; families and models are added where the name alone says little.
fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |key: &str| {
        let line = info.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let apple = || output("sysctl", &["-n", "machdep.cpu.brand_string"]);
    let name = field("model name").or_else(apple).unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    match (field("cpu family"), field("model")) {
        (Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
        _ => name,
    }
}

fn output(program: &str, args: &[&str]) -> Option<String> {
    let out = Command::new(program).args(args).output().ok().filter(|out| out.status.success())?;
    Some(String::from_utf8_lossy(&out.stdout).trim().to_owned())
}

/// Returns what `JOSTLE_COMMIT` says, or else the commit of the sources, marked if they differ from it.
fn commit() -> String {
    if let Ok(commit) = std::env::var("JOSTLE_COMMIT") {
        return commit;
    }
    let here = env!("CARGO_MANIFEST_DIR");
    let Some(commit) = output("git", &["-C", here, "rev-parse", "--short=10", "HEAD"]) else { return "unknown".into() };
    let changed = output("git", &["-C", here, "status", "--porcelain"]).is_some_and(|status| !status.is_empty());
    if changed { format!("{commit} with changes") } else { commit }
}

/// Today in UTC, as year-month-day.
fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil((seconds / 86_400) as i64);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The Gregorian date of a day counted from 1970-01-01, after H. Hinnant, "chrono-compatible low-level date
/// algorithms" (2013).
fn civil(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let day = day.rem_euclid(146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (month_of_year, day_of_month) =
        (if month < 10 { month + 3 } else { month - 9 }, day - (153 * month + 2) / 5 + 1);
    (era * 400 + year + i64::from(month_of_year <= 2), month_of_year, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::{Machine, civil, slug, version};

    #[test]
    fn known_days() {
        assert_eq!([0, 59, 11_016, 20_000].map(civil), [(1970, 1, 1), (1970, 3, 1), (2000, 2, 29), (2024, 10, 4)]);
    }

    #[test]
    fn versions_are_those_of_the_lock_file() {
        assert!(version("broccoli").starts_with("6."));
        assert_eq!(version("no such package"), "");
        assert!(Machine::here().compiler.starts_with("rustc"));
    }

    #[test]
    fn machines_name_folders() {
        assert_eq!(
            slug("Intel(R) Xeon(R) CPU @ 2.20GHz (family 6, model 79)"),
            "intel-xeon-cpu-2-20ghz-family-6-model-79"
        );
        assert_eq!(slug("Apple M2"), "apple-m2");
        let here = Machine::here();
        assert_eq!(Machine::from_json(&here.json()).map(|machine| machine.to_string()), Some(here.to_string()));
        assert!(Machine::from_json(&serde_json::Value::Null).is_none());
    }
}

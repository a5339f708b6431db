//! The engine as a guest: in pools larger than the machine, and beside other finders, other tasks, other processes and
//! visitors that sleep. Rows have bars, which are meant for two cores.

mod alone;
mod ground;
pub(crate) mod hog;
mod hogged;
mod line;
mod many;
mod shared;
mod spent;
mod system;

use std::error::Error;
use std::io;

use self::ground::Ground;
use self::line::Line;
use self::system::Others;
use crate::Common;
use crate::output::Output;
use crate::table::Table;

/// Options of this sub-command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {
    /// Fails when a bar is missed.
    #[arg(long)]
    check: bool,
    /// Few bodies and few runs, to try it out: bars mean nothing then.
    #[arg(long)]
    quick: bool,
    /// Only these rows, such as 3,6.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..=ROWS.len() as i64))]
    row: Vec<u8>,
}

/// A row of the table, which has a line for each of its cases.
struct Row {
    what: &'static str,
    lines: fn(&Ground) -> io::Result<Vec<Line>>,
}

/// All rows; their numbers begin with 1.
const ROWS: [Row; 9] = [
    Row { what: "alone in a pool of all cores", lines: |ground| Ok(alone::quiet(ground)) },
    Row { what: "more threads than cores", lines: |ground| Ok(alone::crowded(ground)) },
    Row { what: "two finders in one pool", lines: |ground| Ok(shared::finders(ground)) },
    Row { what: "beside tasks of 1 ms", lines: |ground| Ok(shared::tasks(ground)) },
    Row { what: "beside another process", lines: hogged::lines },
    Row { what: "time on processors", lines: |ground| Ok(spent::lines(ground)) },
    Row { what: "many worlds at once", lines: |ground| Ok(many::worlds(ground)) },
    Row { what: "speed-up without a list", lines: |ground| Ok(alone::answers(ground)) },
    Row { what: "searches as tasks", lines: |ground| Ok(many::spawned(ground)) },
];

/// Columns of the table.
pub(crate) const COLUMNS: [&str; 9] = ["row", "what", "case", "measured", "unit", "bar", "met", "others", "besides"];

/// What is measured.
pub(crate) const LEGEND: &str = "\
A million uniform circles unless said, each search from scratch, memory kept; medians, and what is compared takes turns.
Lists are checked against a sweep, all other answers by their number of pairs.
1, 2: one finder, called from outside. 2, of a search in a pool of as many threads as cores.
3: two threads call the pool in a loop; times of the slower finder. Switches: of all threads, from processor to processor.
4: tasks spin for 1 ms of processor time each; together they are as much work as the searches on one thread. In total: over
all that work divided by the cores. Progress: how much of the one is done when the other ends.
5: another process spins, on one core or wherever it is put; over one thread beside the same process.
6: over time on the wall by threads that have work: all that find a core, or one below the size that one thread searches
alone; and over the processor time of one thread. Asleep: seconds that the others spend while a visitor sleeps.
7: worlds of 200 circles in a parallel loop, each with a finder of its own, over one thread; and by threads of no pool, which
share nothing: what the machine gives. 8: over the speed-up of find.
9: searches of 40,000 circles, each spawned: how many are in progress on one thread at most, one within another.
others: the part of the processors that other processes had meanwhile, that of 5 among them. A quiet machine has hardly any.
";

/// Runs the sub-command.
///
/// # Errors
/// When results cannot be written, when no process can be started, or, with `--check`, when a bar is missed.
pub(crate) fn run(args: &Args, common: &Common, output: &Output) -> Result<(), Box<dyn Error>> {
    println!("{LEGEND}");
    let ground = Ground::new(common, args.quick)?;
    let mut table = Table::new(COLUMNS);
    let mut missed = 0;
    for (number, row) in (1_u8..).zip(&ROWS).filter(|(number, _)| args.row.is_empty() || args.row.contains(number)) {
        eprintln!("row {number}: {}", row.what);
        let others = Others::watch();
        let lines = (row.lines)(&ground)?;
        let others = others.share();
        for line in lines {
            missed += usize::from(line.met() == Some(false));
            table.push(line.cells(number, row.what, others));
        }
    }
    println!("{}", table.text_from(0));
    output.table("guests", &table)?;
    println!("bars missed: {missed}");
    if args.check && missed > 0 { Err(format!("bars missed: {missed}").into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, ROWS};
    use crate::output::read;
    use crate::table::Cell;
    use clap::Parser;

    fn run(name: &str, options: &str) -> (bool, Vec<Vec<Cell>>) {
        let folder = std::env::temp_dir().join(format!("jostle-bench-{name}-{}", std::process::id()));
        let words = ["jostle-bench", "guests", "--out", folder.to_str().unwrap()];
        let args = crate::Args::try_parse_from(words.into_iter().chain(options.split(' '))).unwrap();
        let passed = crate::run(args, String::new()).is_ok();
        let kept = read(&folder, "guests", &COLUMNS).unwrap().unwrap();
        std::fs::remove_dir_all(folder).unwrap();
        (passed, kept.table.rows().map(<[Cell]>::to_vec).collect())
    }

    #[test]
    fn a_quick_run_has_all_rows() {
        let (passed, lines) = run("guests", "--quick --rounds 1");
        assert!(passed, "bars are not checked unless asked");
        for number in 1..=ROWS.len() {
            let of_row = || lines.iter().filter(|line| line[0] == Cell::from(number));
            let has_bar = of_row().any(|line| line[5] != Cell::Missing);
            assert_eq!(has_bar, number > 1, "bars of row {number}: {lines:?}");
            assert!(of_row().any(|line| line[3] != Cell::Missing), "row {number} is not measured: {lines:?}");
        }
    }

    #[test]
    fn rows_are_chosen() {
        let (_, lines) = run("guests-chosen", "--quick --rounds 1 --row 7");
        assert!(!lines.is_empty() && lines.iter().all(|line| line[0] == Cell::from(7_usize)), "{lines:?}");
        assert!(crate::Args::try_parse_from(["jostle-bench", "guests", "--row", "10"]).is_err());
    }

    #[test]
    fn a_missed_bar_fails_a_check() {
        let (passed, lines) = run("guests-check", "--quick --rounds 1 --row 1,8 --check");
        assert_eq!(passed, !lines.iter().any(|line| line[6] == Cell::from("no")), "{lines:?}");
    }
}

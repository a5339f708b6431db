//! The text of a record: the machine, and the tables of all results.

use jostle_testkit::Kind;

use super::CARGO;
use crate::classics::{self, short};
use crate::features;
use crate::frames;
use crate::guests;
use crate::hostile;
use crate::lists;
use crate::machine::Machine;
use crate::output::Kept;
use crate::pivot::{by_scene, distinct};
use crate::scaling;
use crate::table::{Cell, Table};

/// The text; the chart, if there is one, and the tables in full lie beside it under the same date.
pub(super) fn text(machine: &Machine, results: &[Kept], has_chart: bool) -> String {
    let Machine { cpu, cores, isa, date, .. } = machine;
    let mut text = format!("# {cpu}, {date}\n\n{cores} cores; Jostle uses {isa}.\n");
    if has_chart {
        text += &format!("\n![Time a body over the number of bodies]({date}.svg)\n");
    }
    for kept in results {
        text += &format!("\n## {}\n\n{}", title(&kept.name), source(kept, date));
        text += &match kept.name.split('-').collect::<Vec<_>>()[..] {
            ["lists", _] => lines(lists::LEGEND) + &by_threads(&kept.table, ["answer", "rival"], "ms"),
            ["rivals", _] => by_threads(&kept.table, ["rival", "version"], "ms"),
            ["frames", _] => lines(frames::LEGEND) + &by_threads(&kept.table, ["rival", "frames"], "ms a frame"),
            ["classics"] => lines(classics::LEGEND) + &by_system(&kept.table, date),
            ["classics", part] => lines(classics::legend(part)) + "\n" + &kept.table.markdown(),
            ["features", _] => lines(features::LEGEND) + &by_threads(&kept.table, ["what"], "times find"),
            ["guests"] => lines(guests::LEGEND) + "\n" + &kept.table.markdown(),
            ["hostile", _] => lines(hostile::LEGEND) + "\n" + &kept.table.markdown(),
            ["scaling", _, "answers"] => {
                lines("What recordings of tasks on one thread say, times in ms.") + &by_kind(&kept.table)
            }
            ["scaling", _, "inside"] => {
                lines("Searches from within the pool, one after the other; columns as from outside.")
                    + &by_kind(&kept.table)
            }
            ["scaling", _] => {
                let chart = speed_up_of(&kept.name, date).map(|chart| format!("\n![Speed-up over threads]({chart})\n"));
                lines(scaling::LEGEND) + &chart.unwrap_or_default() + &by_kind(&kept.table)
            }
            _ => lines("Regions of one recorded search, times in ms.") + &by_kind(&kept.table),
        };
    }
    text
}

/// `rivals-2d` as a title: Rivals in 2D.
fn title(name: &str) -> String {
    let mut words = name.split('-');
    let what = words.next().unwrap_or_default();
    let (first, rest) = what.split_at(1.min(what.len()));
    let more = words.map(|word| match word {
        "2d" | "3d" => format!(" in {}", word.to_uppercase()),
        _ => format!(": {word}"),
    });
    format!("{}{rest}{}", first.to_uppercase(), more.collect::<String>())
}

/// The file of the chart of the older systems on a scene.
pub(super) fn chart_of(date: &str, kind: Kind) -> String {
    format!("{date}-classics-{kind}.png")
}

/// The file of the chart of speed-up over threads, for results that have one.
pub(super) fn speed_up_of(name: &str, date: &str) -> Option<String> {
    ["scaling-2d", "scaling-3d"].contains(&name).then(|| format!("{date}-{name}.svg"))
}

/// Returns a chart for each scene, and tables of time, tests and bytes.
fn by_system(table: &Table, date: &str) -> String {
    let part = |kind| {
        let tables = ["ms", "tests", "bytes"]
            .map(|value| format!("\n{value}\n\n{}", short::over_bodies(table, kind, value).markdown()));
        format!("\n### {kind}\n\n![Milliseconds a frame]({})\n{}", chart_of(date, kind), tables.concat())
    };
    classics::kinds(table).into_iter().map(part).collect()
}

/// Tells how a result was made.
fn source(kept: &Kept, date: &str) -> String {
    let Machine { commit, compiler, flags, date: day, .. } = &kept.machine;
    format!(
        "`{CARGO} {}`  \ncommit {commit}, {day}, {compiler}, `{flags}`; [all columns]({date}-{}.csv)\n",
        kept.command, kept.name
    )
}

/// A table for each number of threads.
fn by_threads<const L: usize>(table: &Table, lines: [&str; L], value: &str) -> String {
    let part = |threads| {
        let short = by_scene(table, lines, value, threads);
        format!("\n{value}, threads: {}\n\n{}", threads.shown(), short.markdown())
    };
    distinct(table, "threads").into_iter().map(part).collect()
}

/// A table for each scene.
fn by_kind(table: &Table) -> String {
    let part = |scene: &Cell| {
        let rest = table.of("scene", scene, &["dim", "p10", "p90", "rounds", "runs", "clock", "order"]);
        format!("\nscene: {}\n\n{}", scene.shown(), rest.markdown())
    };
    distinct(table, "scene").into_iter().map(part).collect()
}

/// Ends each line so that Markdown keeps it a line.
fn lines(text: &str) -> String {
    text.lines().map(|line| format!("\n{line}  ")).collect::<String>() + "\n"
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn names_become_titles() {
        assert_eq!(["rivals-2d", "scaling-3d-regions"].map(title), ["Rivals in 2D", "Scaling in 3D: regions"]);
        assert_eq!(["classics", "classics-pays"].map(title), ["Classics", "Classics: pays"]);
    }
}

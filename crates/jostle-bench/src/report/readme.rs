//! The figures of README: the rivals in the plane at a glance.

use super::CARGO;
use crate::compare::OURS;
use crate::output::Kept;
use crate::pivot::{by_scene, distinct, head};
use crate::table::{Cell, Table, significant};

/// Where the figures begin and end.
const MARKERS: [&str; 2] = ["<!-- figures -->", "<!-- /figures -->"];

/// The scene that is shown at several sizes.
const MAIN: &str = "uniform";

/// The main scene is shown at the powers of ten from this size on.
const SHOWN: u64 = 10_000;

/// Size of the other scenes.
const OTHERS: u64 = 100_000;

/// Returns the text with the part between the markers replaced; `None` if it lacks the markers.
pub(super) fn replaced(text: &str, figures: &str) -> Option<String> {
    let start = text.find(MARKERS[0])? + MARKERS[0].len();
    let end = start + text[start..].find(MARKERS[1])?;
    Some(format!("{}\n{}\n{}", &text[..start], figures.trim_end(), &text[end..]))
}

/// A short table of the rivals, the chart, and the command; `record` is the path of the record from the file.
pub(super) fn figures(rivals: &Kept, record: &str) -> String {
    let Kept { table, machine, command, .. } = rivals;
    let threads = distinct(table, "threads");
    let (Some(&one), Some(&all)) = (threads.first(), threads.last()) else { return String::new() };
    let on = if one == all { String::new() } else { format!(" / {}", all.shown()) };
    format!(
        "Milliseconds for all pairs in 2D from scratch, threads: {}{on}. {}, commit {}, {}.\n\n{}\n\
         ![Time a body over the number of bodies]({})\n\n\
         Each answer is checked before it is timed. Made by `{CARGO} {command}`; [the record]({record}) has the rest.\n",
        one.shown(),
        machine.cpu,
        machine.commit,
        machine.date,
        times_of(table, one, all),
        record.replace(".md", ".svg"),
    )
}

/// Rivals that share a row of the table, which has the better time in each cell: the name of the row, and those of its
/// two rivals.
const BETTER_OF_TWO: [(&str, [&str; 2]); 2] = [
    ("grid by hand, the better of two", ["uniform grid by hand", "grid of records by hand"]),
    ("grid hierarchy by hand, the better of two", ["grid hierarchy by hand", "hierarchy of records by hand"]),
];

/// Returns the row of README that shows a rival.
fn row_of(rival: &str) -> &str {
    BETTER_OF_TWO.iter().find(|(_, names)| names.contains(&rival)).map_or(rival, |(row, _)| row)
}

/// Returns the table: Jostle first, then the rivals by their time in the last column of the main scene.
fn times_of(table: &Table, one: &Cell, all: &Cell) -> String {
    let heads = heads(table);
    let [one, all] = [one, all].map(|threads| by_scene(table, ["rival"], "ms", threads));
    let columns: Vec<&str> = heads.iter().map(String::as_str).collect();
    let rivals: Vec<String> = distinct(&one, "rival").into_iter().map(Cell::shown).collect();
    let row = |part: &Table, name: &str| -> Vec<Cell> {
        let mut best = vec![Cell::Missing; columns.len()];
        for rival in rivals.iter().filter(|rival| row_of(rival) == name) {
            let rows = part.of("rival", &rival.as_str().into(), &[]);
            for (best, &column) in best.iter_mut().zip(&columns) {
                if let Some(Cell::Number(time)) = distinct(&rows, column).first()
                    && !matches!(best, Cell::Number(best) if *best <= *time)
                {
                    *best = Cell::Number(*time);
                }
            }
        }
        best
    };
    let mut names: Vec<&str> = Vec::new();
    for rival in &rivals {
        if !names.contains(&row_of(rival)) {
            names.push(row_of(rival));
        }
    }
    let mut rows: Vec<_> = names.into_iter().map(|name| (name.to_owned(), row(&one, name), row(&all, name))).collect();
    let main = heads.iter().rposition(|head| head.starts_with(MAIN)).unwrap_or(0);
    let time = |cells: &[Cell]| if let Some(Cell::Number(time)) = cells.get(main) { *time } else { f64::INFINITY };
    rows.sort_by(|a, b| (b.0 == OURS).cmp(&(a.0 == OURS)).then(time(&a.1).total_cmp(&time(&b.1))));
    let mut text = format!("| | {} |\n|---|{}\n", columns.join(" | "), "---:|".repeat(columns.len()));
    for (rival, one, all) in rows {
        let name = if rival == OURS { format!("**{rival}**") } else { rival };
        let cells: Vec<_> = one.iter().zip(&all).map(|(one, all)| both(one, all)).collect();
        text += &format!("| {name} | {} |\n", cells.join(" | "));
    }
    text
}

/// The columns that are shown: the main scene at its sizes, the others at one.
fn heads(table: &Table) -> Vec<String> {
    let large = |n: &Cell| matches!(n, Cell::Count(n) if *n >= SHOWN && 10_u64.pow(n.ilog10()) == *n);
    let mut heads = Vec::new();
    for scene in distinct(table, "scene") {
        let sizes = table.of("scene", scene, &[]);
        let sizes = distinct(&sizes, "n");
        let shown: Vec<&Cell> = match scene {
            Cell::Text(name) if name == MAIN => {
                let shown: Vec<&Cell> = sizes.iter().copied().filter(|n| large(n)).collect();
                if shown.is_empty() { sizes } else { shown }
            }
            _ => sizes
                .iter()
                .copied()
                .find(|n| **n == Cell::Count(OTHERS))
                .or(sizes.last().copied())
                .into_iter()
                .collect(),
        };
        heads.extend(shown.into_iter().map(|n| head(scene, n)));
    }
    heads
}

/// The times on one thread and on all.
fn both(one: &Cell, all: &Cell) -> String {
    let shown = |cell: &Cell| if let Cell::Number(time) = cell { significant(*time, 3) } else { "–".to_owned() };
    if one == all { shown(one) } else { format!("{} / {}", shown(one), shown(all)) }
}

#[cfg(test)]
mod tests {
    use super::{replaced, times_of};
    use crate::table::{Cell, Table};

    #[test]
    fn what_stands_between_markers_is_replaced() {
        let text = "a\n<!-- figures -->\nold\n<!-- /figures -->\nb\n";
        let new = replaced(text, "new\n").unwrap();
        assert_eq!(new, "a\n<!-- figures -->\nnew\n<!-- /figures -->\nb\n");
        assert_eq!(replaced(&new, "new\n").unwrap(), new);
        assert_eq!(
            replaced("a\n<!-- figures --><!-- /figures -->", "x").unwrap(),
            "a\n<!-- figures -->\nx\n<!-- /figures -->"
        );
    }

    #[test]
    fn texts_without_markers_stay() {
        for text in ["", "<!-- figures -->", "<!-- /figures --> <!-- figures -->"] {
            assert_eq!(replaced(text, "new"), None, "{text}");
        }
    }

    #[test]
    fn of_two_grids_the_better_time_is_shown() {
        let mut table = Table::new(["threads", "scene", "n", "rival", "ms"]);
        for (scene, times) in [("uniform", [1.0, 3.0, 2.0]), ("dense", [1.0, 4.0, 5.0])] {
            for (rival, ms) in ["jostle", "uniform grid by hand", "grid of records by hand"].into_iter().zip(times) {
                table.push(vec![1_u32.into(), scene.into(), 100_000_u32.into(), rival.into(), ms.into()]);
            }
        }
        let expected = "\
| | uniform 100k | dense 100k |
|---|---:|---:|
| **jostle** | 1.00 | 1.00 |
| grid by hand, the better of two | 2.00 | 4.00 |
";
        assert_eq!(times_of(&table, &Cell::Count(1), &Cell::Count(1)), expected);
    }

    #[test]
    fn the_short_table_has_ourselves_first() {
        let mut table = Table::new(["threads", "scene", "n", "rival", "ms"]);
        for threads in [1_u32, 2] {
            for (scene, n) in [("uniform", 1_000_u32), ("uniform", 10_000), ("dense", 100_000), ("dense", 1_000_000)] {
                for (rival, ms) in [("slow", 7.0), ("quick", 3.0), ("jostle", 2.0), ("hopeless", f64::NAN)] {
                    let ms = f64::from(n) * ms / f64::from(threads) / 1e4;
                    table.push(vec![threads.into(), scene.into(), n.into(), rival.into(), ms.into()]);
                }
            }
        }
        let expected = "\
| | uniform 10k | dense 100k |
|---|---:|---:|
| **jostle** | 2.00 / 1.00 | 20.0 / 10.0 |
| quick | 3.00 / 1.50 | 30.0 / 15.0 |
| slow | 7.00 / 3.50 | 70.0 / 35.0 |
| hopeless | – | – |
";
        assert_eq!(times_of(&table, &Cell::Count(1), &Cell::Count(2)), expected);
    }
}

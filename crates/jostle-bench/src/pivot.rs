//! Long tables made short: a line for each rival, a column for each scene and size.

use crate::numbers;
use crate::table::{Cell, Table};

/// Returns the values of a table on so many threads: a line for each combination of the columns `lines`, a column for
/// each scene and number of bodies.
pub(crate) fn by_scene<const L: usize>(table: &Table, lines: [&str; L], value: &str, threads: &Cell) -> Table {
    let rows: Vec<_> = table
        .select(["threads", "scene", "n", value])
        .zip(table.select(lines))
        .filter(|([count, ..], _)| *count == threads)
        .map(|([_, scene, n, value], line)| (line, [scene, n], value))
        .collect();
    let mut keys: Vec<_> = rows.iter().map(|row| row.1).collect();
    let mut names: Vec<_> = rows.iter().map(|row| row.0).collect();
    keep_first(&mut keys);
    keep_first(&mut names);
    let heads = keys.iter().map(|[scene, n]| head(scene, n));
    let mut short = Table::new(lines.map(str::to_owned).into_iter().chain(heads));
    for line in names {
        let cell = |key: &[&Cell; 2]| {
            let found = rows.iter().find(|row| row.0 == line && row.1 == *key);
            found.map_or(Cell::Missing, |row| row.2.clone())
        };
        short.push(line.map(Cell::clone).into_iter().chain(keys.iter().map(cell)).collect());
    }
    short
}

/// The distinct values of a column, in the order of their first places.
pub(crate) fn distinct<'a>(table: &'a Table, column: &str) -> Vec<&'a Cell> {
    let mut cells: Vec<_> = table.select([column]).map(|[cell]| cell).collect();
    keep_first(&mut cells);
    cells
}

/// The name of the column of a scene and size.
pub(crate) fn head(scene: &Cell, n: &Cell) -> String {
    match n {
        Cell::Count(n) => format!("{} {}", scene.shown(), numbers::name(*n as usize)),
        _ => scene.shown(),
    }
}

/// Keeps the first of equal values.
fn keep_first<T: PartialEq + Copy>(values: &mut Vec<T>) {
    let mut seen = Vec::new();
    values.retain(|value| {
        let new = !seen.contains(value);
        seen.extend(new.then_some(*value));
        new
    });
}

#[cfg(test)]
mod tests {
    use super::{by_scene, distinct};
    use crate::table::{Cell, Table};

    #[test]
    fn one_line_a_rival() {
        let mut table = Table::new(["threads", "scene", "n", "rival", "ms"]);
        for (threads, scene, n, rival, ms) in [
            (1_u32, "dense", 1_000_u32, "a", 0.5),
            (1, "dense", 1_000, "b", 0.7),
            (1, "dense", 20_000, "a", 1.5),
            (2, "dense", 20_000, "a", 1.0),
        ] {
            table.push(vec![threads.into(), scene.into(), n.into(), rival.into(), ms.into()]);
        }
        let short = by_scene(&table, ["rival"], "ms", &Cell::Count(1));
        assert_eq!(short.csv(), "rival,dense 1k,dense 20k\na,0.5,1.5\nb,0.7,\n");
        assert_eq!(distinct(&table, "threads"), [&Cell::Count(1), &Cell::Count(2)]);
    }
}

//! Long tables made short: a line for each system, a column for each number of bodies.

use jostle_testkit::Kind;

use crate::numbers;
use crate::table::{Cell, Table};

/// The values of a scene by system and threads, over the number of bodies.
pub(crate) fn over_bodies(table: &Table, kind: Kind, value: &str) -> Table {
    let kind = Cell::from(kind.to_string());
    let rows: Vec<_> =
        table.select(["scene", "system", "threads", "n", value]).filter(|[scene, ..]| **scene == kind).collect();
    let sizes = rows.iter().filter_map(|row| if let Cell::Count(n) = row[3] { Some(*n) } else { None });
    let mut sizes: Vec<u64> = sizes.collect();
    sizes.sort_unstable();
    sizes.dedup();
    let heads = sizes.iter().map(|&n| numbers::name(n as usize));
    let mut short = Table::new(["system".to_owned(), "threads".to_owned()].into_iter().chain(heads));
    for line in lines(table, ["system", "threads"]) {
        let cell = |&n: &u64| {
            let here = |row: &&[&Cell; 5]| [row[1], row[2]] == line && *row[3] == Cell::Count(n);
            rows.iter().find(here).map_or(Cell::Missing, |row| row[4].clone())
        };
        short.push(line.map(Cell::clone).into_iter().chain(sizes.iter().map(cell)).collect());
    }
    short
}

/// The distinct values of some columns, in the order of their first places.
pub(super) fn lines<'a>(table: &'a Table, columns: [&str; 2]) -> Vec<[&'a Cell; 2]> {
    let mut lines = Vec::new();
    for line in table.select(columns) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::over_bodies;
    use crate::table::Table;
    use jostle_testkit::Kind;

    #[test]
    fn one_line_a_system() {
        let mut table = Table::new(["scene", "n", "system", "threads", "ms"]);
        for (scene, n, system, ms) in
            [("dense", 1_000_u32, "a", Some(0.5)), ("dense", 20, "a", Some(0.1)), ("dense", 20, "b", None)]
        {
            table.push(vec![scene.into(), n.into(), system.into(), 1_usize.into(), ms.into()]);
        }
        assert_eq!(over_bodies(&table, Kind::Dense, "ms").csv(), "system,threads,20,1k\na,1,0.1,0.5\nb,1,,\n");
    }
}

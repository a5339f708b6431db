//! What follows from the table: from what number of bodies on a system pays, and what a quadtree gains by carrying down
//! only the ancestors that touch a cell.

use jostle_classics::System;

use super::short;
use crate::pivot::distinct;
use crate::table::{Cell, Table};

/// What the second table says.
pub(crate) const PAYS: &str = "\
The least number of bodies of the tables from which on a system is never slower than brute force, in the same run;
bitmaps: than the loop over all pairs of the two groups.
";

/// What the third table says.
pub(crate) const GROWTH: &str = "\
Tests of the linear quadtree: all ancestors carried down, or those that touch the cell (the fix), and how many times
fewer these are.
";

/// Least number of bodies in the third table: below, there is little to gain.
const FEWEST: u64 = 1_000;

/// The time at each number of bodies, ascending; `None` where it was not run.
type Times = Vec<(u64, Option<f64>)>;

/// A line for each system and number of threads and for each kind of bitmaps, a column for each scene.
pub(super) fn pays(measured: &Table, bitmaps: &Table) -> Table {
    let scenes = distinct(measured, "scene");
    let heads = ["system".to_owned(), "threads".to_owned()].into_iter().chain(scenes.iter().map(|scene| scene.shown()));
    let mut table = Table::new(heads);
    let (brute, one) = (Cell::from(System::BruteForce.name()), Cell::Count(1));
    for line in short::lines(measured, ["system", "threads"]).into_iter().filter(|line| *line[0] != brute) {
        let from = scenes.iter().map(|scene| {
            let times =
                |line: [&Cell; 2]| times(measured, ["scene", "system", "threads"], [scene, line[0], line[1]], "ms");
            pays_from(&times(line), &times([&brute, &one]))
        });
        table.push(line.map(Cell::clone).into_iter().chain(from).collect());
    }
    for shape in distinct(bitmaps, "shape") {
        let from = scenes.iter().map(|scene| {
            let [bitmaps, brute] =
                ["bitmaps ms", "brute force ms"].map(|value| times(bitmaps, ["scene", "shape"], [scene, shape], value));
            pays_from(&bitmaps, &brute)
        });
        let name = format!("bitmaps of {}", shape.shown());
        table.push([name.into(), one.clone()].into_iter().chain(from).collect());
    }
    table
}

/// The times of the rows with these values in these columns.
fn times<const K: usize>(measured: &Table, columns: [&str; K], values: [&Cell; K], value: &str) -> Times {
    let rows = measured.select(columns).zip(measured.select(["n", value]));
    let here = rows.filter(|(row, _)| *row == values).filter_map(|(_, row)| match row {
        [Cell::Count(n), Cell::Number(ms)] => Some((*n, Some(*ms))),
        [Cell::Count(n), _] => Some((*n, None)),
        _ => None,
    });
    let mut times: Times = here.collect();
    times.sort_unstable_by_key(|&(n, _)| n);
    times
}

/// Returns the least n from which on none of these times is longer than that of brute force. A way too slow to be run
/// is slower than one that was run. Where neither was run, nothing is known.
fn pays_from(times: &Times, brute: &Times) -> Cell {
    let brute = |n: u64| brute.iter().find(|row| row.0 == n).and_then(|row| row.1);
    let known = times.iter().rev().filter(|&&(n, ms)| ms.is_some() || brute(n).is_some());
    let faster = |&&(n, ms): &&(u64, Option<f64>)| ms.is_some_and(|ms| brute(n).is_none_or(|brute| ms <= brute));
    known.take_while(faster).last().map_or("never".into(), |&(n, _)| Cell::Count(n))
}

/// The tests of the linear quadtree, with and without the fix.
pub(super) fn growth(measured: &Table) -> Table {
    let mut table = Table::new(["scene", "n", "all", "touching", "times fewer"]);
    let [all, touching] =
        [System::LinearQuadtree, System::LinearQuadtreeTouching].map(|system| Cell::from(system.name()));
    let tests =
        |system: Cell| measured.select(["system", "scene", "n", "tests"]).filter(move |[at, ..]| **at == system);
    for ([_, scene, n, all], [_, _, _, touching]) in tests(all).zip(tests(touching)) {
        if let (Cell::Count(bodies @ FEWEST..), Cell::Count(many), Cell::Count(few)) = (n, all, touching) {
            let gain = *many as f64 / (*few).max(1) as f64;
            table.push(vec![scene.clone(), Cell::Count(*bodies), all.clone(), touching.clone(), gain.into()]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{growth, pays};
    use crate::table::{Cell, Table};

    /// Rows of scene, n, system, ms and tests.
    fn measured(rows: &[(&str, usize, &str, Option<f64>, u32)]) -> Table {
        let mut measured = Table::new(["scene", "n", "system", "threads", "ms", "tests"]);
        for &(scene, n, system, ms, tests) in rows {
            measured.push(vec![scene.into(), n.into(), system.into(), 1_usize.into(), ms.into(), tests.into()]);
        }
        measured
    }

    #[test]
    fn a_system_pays_from_where_it_is_never_slower_again() {
        let brute = |n, ms| ("dense", n, "brute-force", ms, 0);
        let grid = |n, ms| ("dense", n, "uniform-grid", Some(ms), 0);
        let tree = |n, ms| ("dense", n, "loose-quadtree", Some(ms), 0);
        let circles = measured(&[
            brute(10, Some(1.0)),
            brute(100, Some(4.0)),
            brute(1_000, Some(9.0)),
            brute(10_000, None),
            // Faster by chance at 10.
            grid(10, 0.5),
            grid(100, 5.0),
            grid(1_000, 6.0),
            grid(10_000, 100.0),
            tree(1_000, 9.5),
        ]);
        let mut bitmaps = Table::new(["scene", "n", "shape", "bitmaps ms", "brute force ms"]);
        for (n, ms, brute) in [(10_u32, Some(1.0), Some(0.1)), (100, Some(1.0), Some(2.0)), (1_000, None, None)] {
            bitmaps.push(vec!["dense".into(), n.into(), "circles".into(), ms.into(), brute.into()]);
        }
        let expected = "uniform-grid,1,1000\nloose-quadtree,1,never\nbitmaps of circles,1,100\n";
        assert_eq!(pays(&circles, &bitmaps).csv(), format!("system,threads,dense\n{expected}"));
    }

    #[test]
    fn growth_sets_tests_side_by_side() {
        let table = growth(&measured(&[
            ("dense", 500, "linear-quadtree", Some(1.0), 9),
            ("dense", 500, "linear-quadtree-touching", Some(1.0), 3),
            ("dense", 1_000, "linear-quadtree", Some(1.0), 40),
            ("dense", 1_000, "linear-quadtree-touching", Some(1.0), 10),
        ]));
        assert_eq!(table.csv(), "scene,n,all,touching,times fewer\ndense,1000,40,10,4\n");
        assert_eq!(table.select(["times fewer"]).next(), Some([&Cell::Number(4.0)]));
    }
}

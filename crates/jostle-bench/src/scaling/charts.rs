//! Charts of the table.

use jostle_testkit::Kind;

use super::predicted::WORKERS;
use crate::numbers;
use crate::pivot::distinct;
use crate::plot::Chart;
use crate::table::{Cell, Table};

/// Nanoseconds a body over the number of bodies, a line for each number of threads.
pub(crate) fn over_bodies(table: &Table, kind: Kind) -> Chart {
    let mut chart = Chart::new(format!("All pairs, {kind} scene"), "bodies", "nanoseconds a body");
    let kind = kind.to_string().into();
    for row in table.select(["scene", "n", "threads", "ns a body"]) {
        if let [scene, Cell::Count(n), Cell::Count(threads), Cell::Number(time)] = row
            && *scene == kind
        {
            chart.add(&format!("{threads} threads"), *n as f64, *time);
        }
    }
    chart
}

/// Speed-up over threads at the largest number of bodies: measured, and predicted from recordings.
pub(crate) fn over_threads(table: &Table) -> Chart {
    let largest = table.select(["n"]).filter_map(|[n]| if let Cell::Count(n) = n { Some(*n) } else { None }).max();
    let largest = largest.unwrap_or(0);
    let title = format!("Speed-up at {} bodies: measured, and predicted from tasks", numbers::name(largest as usize));
    let mut chart = Chart::new(title, "threads", "speed-up");
    for threads in [1.0, 64.0] {
        chart.add("ideal", threads, threads);
    }
    for kind in distinct(table, "scene").into_iter().map(Cell::shown) {
        for row in table.select(["scene", "n", "threads", "speed-up"]) {
            if let [Cell::Text(scene), Cell::Count(n), Cell::Count(threads), Cell::Number(speed_up)] = row
                && (scene, *n) == (&kind, largest)
            {
                chart.add(&kind, *threads as f64, *speed_up);
            }
        }
        let columns = WORKERS.map(|workers| format!("{workers} workers"));
        let predicted = table.select(["scene", "n"]).zip(table.select(columns.each_ref().map(String::as_str)));
        let here = |key: &[&Cell; 2]| *key == [&Cell::from(kind.as_str()), &Cell::Count(largest)];
        if let Some((_, cells)) = predicted.into_iter().find(|(key, _)| here(key)) {
            for (workers, cell) in WORKERS.into_iter().zip(cells) {
                if let Cell::Number(speed_up) = cell {
                    chart.add(&format!("{kind} predicted"), workers as f64, *speed_up);
                }
            }
        }
    }
    chart
}

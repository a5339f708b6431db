//! Charts of the table.

use jostle_testkit::Kind;

use crate::plot::Chart;
use crate::table::{Cell, Table};

/// Milliseconds a frame over the number of bodies, a line for each system.
pub(crate) fn frames(table: &Table, kind: Kind) -> Chart {
    let mut chart = Chart::new(format!("Older systems beside ours, {kind} scene"), "bodies", "milliseconds a frame");
    let here = Cell::from(kind.to_string());
    for [scene, system, threads, n, ms] in table.select(["scene", "system", "threads", "n", "ms"]) {
        if let (true, Cell::Text(system), Cell::Count(threads), Cell::Count(n), Cell::Number(ms)) =
            (*scene == here, system, threads, n, ms)
        {
            let name = if *threads == 1 { system.clone() } else { format!("{system}, {threads} threads") };
            chart.add(&name, *n as f64, *ms);
        }
    }
    chart
}

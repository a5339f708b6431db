//! The radix sort against other sorts, on records of a 64-bit code and an id.

use std::cmp::Ordering;
use std::time::Duration;

use jostle_core::morton::Grid;
use jostle_core::radix::RadixSort;
use jostle_core::{Threads, bounds};
use jostle_testkit::{Kind, scene};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::ThreadPoolBuilder;
use rayon::slice::ParallelSliceMut;
use rdst::{RadixKey, RadixSort as _};
use voracious_radix_sort::{RadixSort as _, Radixable};

use crate::Common;
use crate::clock::Clock;
use crate::input::Kinds;
use crate::machine::version;
use crate::numbers::{self, Sizes};
use crate::output::Output;
use crate::plot::Chart;
use crate::race::{Case, Timing, race};
use crate::table::{Cell, Table};

/// Options of this sub-command.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Numbers of records.
    #[arg(long, default_value = "1k,2k,5k,10k,100k,1m")]
    n: Sizes,
    /// Scenes whose Morton codes are sorted, beside random codes.
    #[arg(long, default_value = "all")]
    scene: Kinds,
}

/// A record to be sorted. Only codes are compared, as voracious_radix_sort requires.
#[derive(Debug, Clone, Copy)]
struct Record {
    code: u64,
    id: u32,
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
    }
}

impl RadixKey for Record {
    const LEVELS: usize = 8;

    #[inline]
    fn get_level(&self, level: usize) -> u8 {
        (self.code >> (level * 8)) as u8
    }
}

impl PartialOrd for Record {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.code.partial_cmp(&other.code)
    }
}

impl Radixable<u64> for Record {
    type Key = u64;

    #[inline]
    fn key(&self) -> u64 {
        self.code
    }
}

/// A sort, with the memory that it keeps from call to call.
struct Sorter {
    name: &'static str,
    package: &'static str,
    stable: bool,
    sort: Sort,
}

type Sort = Box<dyn FnMut(&mut [Record]) + Send>;

impl Sorter {
    fn new(
        name: &'static str,
        package: &'static str,
        stable: bool,
        sort: impl FnMut(&mut [Record]) + Send + 'static,
    ) -> Self {
        Self { name, package, stable, sort: Box::new(sort) }
    }
}

/// The sorts that use so many threads; the first is ours.
fn sorters(threads: usize) -> Vec<Sorter> {
    let mut ours = RadixSort::new();
    if threads == 1 {
        return vec![
            Sorter::new("jostle", "jostle-core", true, move |records| {
                ours.sort_by_code(records, Threads::Serial, |record| record.code);
            }),
            Sorter::new("std sort_unstable", "", false, |records| records.sort_unstable_by_key(|r| r.code)),
            Sorter::new("std sort", "", true, |records| records.sort_by_key(|r| r.code)),
            Sorter::new("rdst", "rdst", false, |records| {
                records.radix_sort_builder().with_parallel(false).with_single_threaded_tuner().sort();
            }),
            Sorter::new("voracious", "voracious_radix_sort", false, |records| records.voracious_sort()),
            Sorter::new("voracious stable", "voracious_radix_sort", true, |records| records.voracious_stable_sort()),
        ];
    }
    vec![
        Sorter::new("jostle", "jostle-core", true, move |records| {
            ours.sort_by_code(records, Threads::Current, |record| record.code);
        }),
        Sorter::new("rayon sort_unstable", "rayon", false, |records| records.par_sort_unstable_by_key(|r| r.code)),
        Sorter::new("rayon sort", "rayon", true, |records| records.par_sort_by_key(|r| r.code)),
        Sorter::new("rdst", "rdst", false, |records| records.radix_sort_unstable()),
        Sorter::new("voracious", "voracious_radix_sort", false, move |records| records.voracious_mt_sort(threads)),
    ]
}

/// Makes records whose codes are random, or the Morton codes of a scene.
fn records(kind: Option<Kind>, n: usize, seed: u64) -> Vec<Record> {
    let number = |codes: Vec<u64>| (0..).zip(codes).map(|(id, code)| Record { code, id }).collect();
    let Some(kind) = kind else {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        return number((0..n).map(|_| rng.random()).collect());
    };
    let scene = scene::scene::<2>(kind, n, seed);
    let bounds = bounds::bounds(scene.view(), Threads::Serial).expect("scenes keep to the contract");
    let grid = Grid::new(&bounds);
    number((0..n).map(|id| grid.map_or(0, |grid| grid.code(scene.view().center(id)))).collect())
}

/// Returns whether `found` is sorted. Equal codes may be in any order unless the sort is stable.
fn is_right(mut found: Vec<Record>, expected: &[Record], stable: bool) -> bool {
    if !stable {
        for run in found.chunk_by_mut(|a, b| a.code == b.code) {
            run.sort_unstable_by_key(|record| record.id);
        }
    }
    found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| (f.code, f.id) == (e.code, e.id))
}

/// Runs the sub-command.
pub(crate) fn run(args: &Args, common: &Common, output: &Output) -> Result<(), Box<dyn std::error::Error>> {
    let mut table = Table::new([
        "codes",
        "n",
        "threads",
        "clock",
        "sort",
        "version",
        "stable",
        "ms",
        "p10",
        "p90",
        "rounds",
        "runs",
        "Mrecords/s",
        "times ours",
        "ours / best rival",
    ]);
    let mut sizes = args.n.0.clone();
    sizes.extend(common.huge.then_some(10_000_000));
    println!("Input restored before each run; the copy is not timed. Ids ascending, codes as named.");
    for threads in common.threads() {
        let mut chart =
            Chart::new(format!("Sorting random codes, threads: {threads}"), "records", "nanoseconds a record");
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        for codes in [None].into_iter().chain(args.scene.0.iter().copied().map(Some)) {
            for &n in &sizes {
                let first = table.len();
                let name = codes.map_or("random".to_owned(), |kind| kind.to_string());
                let timed = pool.install(|| time(codes, n, threads, common));
                let ours = timed[0].1.median;
                let best = timed[1..].iter().map(|row| row.1.median).fold(f64::INFINITY, f64::min);
                for (place, (sorter, timing)) in timed.iter().enumerate() {
                    let seconds = timing.median / 1e3;
                    table.push(vec![
                        name.as_str().into(),
                        n.into(),
                        threads.into(),
                        common.clock.of_threads(threads).name().into(),
                        sorter.name.into(),
                        version(sorter.package).into(),
                        if sorter.stable { "yes" } else { "no" }.into(),
                        timing.median.into(),
                        timing.p10.into(),
                        timing.p90.into(),
                        timing.rounds.into(),
                        timing.runs.into(),
                        (n as f64 / seconds / 1e6).into(),
                        (timing.median / ours).into(),
                        if place == 0 { (ours / best).into() } else { Cell::Missing },
                    ]);
                    if codes.is_none() {
                        chart.add(sorter.name, n as f64, seconds * 1e9 / n as f64);
                    }
                }
                println!("{}", table.text_from(first));
            }
        }
        output.chart(&format!("sort-{threads}"), &chart)?;
    }
    println!("{}", summary(&table, &sizes));
    output.table("sort", &table)
}

/// One line for each kind of codes and number of threads: our time over that of the best rival, for each size.
fn summary(table: &Table, sizes: &[usize]) -> String {
    let mut columns = vec!["ours / best rival".to_owned(), "threads".to_owned()];
    columns.extend(sizes.iter().map(|&n| numbers::name(n)));
    let mut short = Table::new(columns);
    let ratios: Vec<_> = table.rows().filter(|row| row[14] != Cell::Missing).collect();
    for rows in ratios.chunks(sizes.len()) {
        let mut line = vec![rows[0][0].clone(), rows[0][2].clone()];
        line.extend(rows.iter().map(|row| row[14].clone()));
        short.push(line);
    }
    short.text_from(0)
}

/// Checks and times all sorts on one input, in the current pool.
fn time(codes: Option<Kind>, n: usize, threads: usize, common: &Common) -> Vec<(Sorter, Timing)> {
    let input = records(codes, n, common.seed);
    let mut expected = input.clone();
    expected.sort_by_key(|record| record.code);
    let mut sorters = sorters(threads);
    let clock = common.clock.of_threads(threads);
    let check = |sorter: &mut Sorter| {
        let mut found = input.clone();
        let start = clock.start();
        (sorter.sort)(&mut found);
        let first = start.elapsed();
        assert!(is_right(found, &expected, sorter.stable), "{} sorts {n} records wrongly", sorter.name);
        first
    };
    let firsts: Vec<Duration> = sorters.iter_mut().map(check).collect();
    let mut cases: Vec<_> =
        sorters.iter_mut().zip(firsts).map(|(sorter, first)| measured(sorter, first, &input, clock)).collect();
    let timings = race(&mut cases, &common.plan());
    drop(cases);
    sorters.into_iter().zip(timings).collect()
}

/// Makes a case of a sort on a copy of the input. Making the copy is not timed.
fn measured<'a>(sorter: &'a mut Sorter, first: Duration, input: &'a [Record], clock: Clock) -> Case<'a> {
    let mut work = input.to_vec();
    let sort = &mut sorter.sort;
    let measure = move |runs| {
        let one = |_| {
            work.copy_from_slice(input);
            let start = clock.start();
            sort(&mut work);
            start.elapsed()
        };
        (0..runs).map(one).sum()
    };
    Case { first, measure: Box::new(measure) }
}

#[cfg(test)]
mod tests {
    use super::{is_right, records, sorters};
    use jostle_testkit::Kind;

    #[test]
    fn all_sort_all() {
        let kinds = [None].into_iter().chain(Kind::ALL.map(Some));
        for (kind, n) in kinds.flat_map(|kind| [0, 1, 2_000, 20_000].map(|n| (kind, n))) {
            // The second mask leaves few codes, so that many are equal.
            for mask in [u64::MAX, 0x3f00] {
                let mut input = records(kind, n, 3);
                input.iter_mut().for_each(|record| record.code &= mask);
                let mut expected = input.clone();
                expected.sort_by_key(|record| record.code);
                for mut sorter in [1, 2].into_iter().flat_map(sorters) {
                    let mut found = input.clone();
                    (sorter.sort)(&mut found);
                    assert!(is_right(found, &expected, sorter.stable), "{} of {n}", sorter.name);
                }
            }
        }
    }
}

//! `jostle pairs`: the pairs of a file, with figures, and a picture.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{HumanBytes, HumanCount};
use jostle::{Found, Input, InputError, PairFinder, Stats};

use crate::args::PairsArgs;
use crate::limit::Limit;
use crate::names;
use crate::picture::{self, Viewport};
use crate::read::{self, FARTHER, Table};
use crate::report::{Millis, Report, counted, percentile};
use crate::threads::Workers;
use crate::write::{self, Output};

/// Peak memory for a pair, measured: its place in a list, and the room that the list grows by.
const BYTES_A_PAIR: u64 = 16;

pub(crate) fn run(args: &PairsArgs) -> Result<ExitCode> {
    let outputs = Outputs::new(args)?;
    let mut report = Report::beside(&outputs.all());
    let workers = Workers::new(&args.threads)?;
    let start = Instant::now();
    let table = read::read(&args.input)?;
    let file = names::name(&args.input.file);
    report.row("input", format_args!("{file}: {}, read in {}", table.describe(), Millis(start.elapsed())))?;
    report.row("precision", table.precision())?;
    match table.dim() {
        2 => search::<2>(args, &table, &workers, &outputs, &mut report),
        _ => search::<3>(args, &table, &workers, &outputs, &mut report),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn search<const D: usize>(
    args: &PairsArgs,
    table: &Table,
    workers: &Workers,
    outputs: &Outputs,
    report: &mut Report,
) -> Result<()> {
    let viewport = outputs.png.as_ref().map(|_| viewport::<D>(args, table)).transpose()?;
    let bodies = table.input::<D>();
    let limit = Limit::new(&args.limit, true, BYTES_A_PAIR);
    let mut finder = limit.finder::<D>();
    let explain = |refusal| limit.explain(refusal, |refusal| table.explain(refusal, &args.input.file, FARTHER));
    let mut times = Times::default();
    if args.count {
        for _ in 0..args.frames {
            times.count(&mut finder, bodies, workers).map_err(explain)?;
        }
        report.row("pairs", HumanCount(finder.last().stats().pairs))?;
        report.row("threads", workers.count())?;
        times.print(report)?;
        return report.row("memory", memory(finder.last().stats(), table.len()));
    }
    for _ in 1..args.frames {
        times.find(&mut finder, bodies, workers).map_err(explain)?;
    }
    let found = times.find(&mut finder, bodies, workers).map_err(explain)?;
    let contacts = contacts(table.len(), found.pairs());
    report.row("pairs", HumanCount(found.stats().pairs))?;
    if let Some((id, most)) = most(&contacts) {
        report.row("most contacts", format_args!("{} (id {id}, {})", HumanCount(most.into()), table.place(id)))?;
    }
    report.row("threads", workers.count())?;
    times.print(report)?;
    report.row("memory", memory(found.stats(), table.len()))?;
    if let Some(pairs) = &outputs.pairs {
        pairs.write_pairs(found.pairs())?;
    }
    if let (Some(png), Some(viewport)) = (&outputs.png, viewport) {
        let drawn = table.drawn::<D>();
        let ranks: Vec<u32> = if args.picture.cells { found.rank_to_id().collect() } else { Vec::new() };
        let leaves = picture::leaves(drawn.as_ref(), &ranks);
        let image = workers.install(|| picture::draw(drawn.as_ref(), |id| contacts[id] > 0, &leaves, viewport));
        picture::write_png(png, &image)?;
    }
    Ok(())
}

/// Where the picture lies, which is known before any pair is searched for.
fn viewport<const D: usize>(args: &PairsArgs, table: &Table) -> Result<Viewport> {
    let extent = picture::extent(table.drawn::<D>().as_ref());
    let window = args.window.map_or(Ok(extent), |window| window.of_world(extent))?;
    Ok(Viewport::new(window, args.picture.still_size()))
}

/// The outputs that the command line asks for beside the figures.
struct Outputs {
    pairs: Option<Output>,
    png: Option<Output>,
}

impl Outputs {
    fn new(args: &PairsArgs) -> Result<Self> {
        let pairs = args.output.as_deref().map(|path| Output::pairs("-o", path)).transpose()?;
        let png = args.png.as_deref().map(|path| Output::png("--png", path)).transpose()?;
        let outputs = Self { pairs, png };
        write::check(&[&args.input.file], &outputs.all(), args.replace.force)?;
        Ok(outputs)
    }

    fn all(&self) -> Vec<&Output> {
        [&self.pairs, &self.png].into_iter().flatten().collect()
    }
}

/// How long each search took, and each of its stages.
#[derive(Default)]
struct Times {
    searches: Vec<(Duration, Stats)>,
}

impl Times {
    fn count<const D: usize>(
        &mut self,
        finder: &mut PairFinder<D>,
        bodies: Input<'_, D>,
        workers: &Workers,
    ) -> Result<(), InputError> {
        let start = Instant::now();
        finder.on(workers.threads()).count(bodies)?;
        self.searches.push((start.elapsed(), *finder.last().stats()));
        Ok(())
    }

    fn find<'f, const D: usize>(
        &mut self,
        finder: &'f mut PairFinder<D>,
        bodies: Input<'_, D>,
        workers: &'f Workers,
    ) -> Result<Found<'f, D>, InputError> {
        let start = Instant::now();
        let found = finder.on(workers.threads()).find(bodies)?;
        self.searches.push((start.elapsed(), *found.stats()));
        Ok(found)
    }

    fn print(&self, report: &mut Report) -> Result<()> {
        let count = self.searches.len();
        let median = |time: &dyn Fn(&(Duration, Stats)) -> Duration| {
            Millis(percentile(self.searches.iter().map(time).collect(), 50))
        };
        let note = if count > 1 { format!(", median of {count} searches") } else { String::new() };
        report.row("time", format_args!("{}{note}", median(&|(wall, _)| *wall)))?;
        for (at, (name, _)) in Stats::default().time.named().into_iter().enumerate() {
            report.row(&format!("  {name}"), median(&|(_, stats)| stats.time.named()[at].1))?;
        }
        Ok(())
    }
}

fn memory(stats: &Stats, bodies: usize) -> String {
    let (list, beside) = (HumanBytes(stats.list_bytes as u64), (stats.bytes - stats.list_bytes) / bodies.max(1));
    format!("{}: {}, and {list} of pairs", HumanBytes(stats.bytes as u64), a_body(beside))
}

fn a_body(bytes: usize) -> String {
    format!("{} a body", counted(bytes as u64, "bytes"))
}

/// The number of pairs that each body is in.
fn contacts(bodies: usize, pairs: &[[u32; 2]]) -> Vec<u32> {
    let mut contacts = vec![0; bodies];
    for &id in pairs.iter().flatten() {
        contacts[id as usize] += 1;
    }
    contacts
}

/// The body with most contacts, and their number; the first such body if there are several.
fn most(contacts: &[u32]) -> Option<(u32, u32)> {
    let (id, most) = contacts.iter().enumerate().rev().max_by_key(|(_, contacts)| **contacts)?;
    Some((id as u32, *most))
}

#[cfg(test)]
mod tests {
    use super::{contacts, most};

    #[test]
    fn the_first_of_the_busiest_is_named() {
        let contacts = contacts(5, &[[0, 1], [1, 3], [2, 3]]);
        assert_eq!(contacts, [1, 2, 1, 2, 0]);
        assert_eq!(most(&contacts), Some((1, 2)));
        assert_eq!(most(&[]), None);
    }
}

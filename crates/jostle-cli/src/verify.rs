//! `jostle verify`: the pairs of a file, found in two ways and compared.

mod difference;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail, ensure};
use indicatif::HumanCount;
use jostle::Threads;

use crate::args::{Method, VerifyArgs};
use crate::limit::Limit;
use crate::names::{self, STDIO};
use crate::read::{self, FARTHER, Table};
use crate::report::{Report, counted};
use crate::threads::Workers;
use crate::write;
use difference::Difference;

/// A double loop is the default up to so many bodies: 200,000 make 20 thousand million tests, some ten seconds of two
/// cores.
const BRUTE: usize = 200_000;

/// Peak memory for a pair, measured: the lists of several methods, and what they are compared in.
const BYTES_A_PAIR: u64 = 48;

/// Exit code for pairs that differ.
const DIFFERENT: u8 = 1;

pub(crate) fn run(args: &VerifyArgs) -> Result<ExitCode> {
    let twice = args.pairs.as_deref() == Some(Path::new(STDIO)) && args.input.file == Path::new(STDIO);
    ensure!(!twice, "bodies and pairs cannot both come from standard input");
    let inputs: Vec<_> = [Some(args.input.file.as_path()), args.pairs.as_deref()].into_iter().flatten().collect();
    write::check(&inputs, &[], false)?;
    let mut report = Report::stdout();
    let workers = Workers::new(&args.threads)?;
    let table = read::read(&args.input)?;
    report.row("input", format_args!("{}: {}", names::name(&args.input.file), table.describe()))?;
    report.row("precision", table.precision())?;
    let equal = match table.dim() {
        2 => verify::<2>(args, &table, &workers, &mut report),
        _ => verify::<3>(args, &table, &workers, &mut report),
    }?;
    report.row("result", if equal { "equal" } else { "DIFFERENT" })?;
    Ok(if equal { ExitCode::SUCCESS } else { ExitCode::from(DIFFERENT) })
}

fn verify<const D: usize>(args: &VerifyArgs, table: &Table, workers: &Workers, report: &mut Report) -> Result<bool> {
    let bodies = table.input::<D>();
    let limit = Limit::new(&args.limit, false, BYTES_A_PAIR);
    let mut finder = limit.finder::<D>();
    let explain = |refusal| limit.explain(refusal, |refusal| table.explain(refusal, &args.input.file, FARTHER));
    let mut find = |threads: Threads<'_>| match finder.on(threads).find(bodies) {
        Ok(found) => Ok(found.pairs().to_vec()),
        Err(refusal) => Err(explain(refusal)),
    };
    // Bodies that the search refuses are no input for the other methods either.
    let found = find(workers.threads())?;
    let (pairs, same) = match &args.pairs {
        Some(path) => (given(path, table)?, true),
        None => {
            let same = found == find(Threads::Serial)?;
            let verdict = if same { "the same sequence" } else { "DIFFERENT sequences" };
            report.row("threads", format_args!("{} and 1: {verdict}", workers.count()))?;
            (found, same)
        }
    };
    let brute = args.against == Method::Brute || args.against == Method::Auto && table.len() <= BRUTE;
    let method = if brute { "a double loop" } else { "a sweep" };
    let truth = workers.install(|| table.truth::<D>(brute));
    let (count, all) = (counted(pairs.len() as u64, "pairs"), HumanCount(truth.len() as u64));
    report.row("compared", format_args!("{count} with the {all} of {method}"))?;
    let difference = Difference::new(pairs, &truth);
    difference.print(report)?;
    Ok(same && difference.is_none())
}

/// The pairs that another program found.
fn given(path: &Path, table: &Table) -> Result<Vec<[u32; 2]>> {
    let pairs = read::read_pairs(path)?;
    match pairs.iter().flatten().find(|&&id| id as usize >= table.len()) {
        None => Ok(pairs),
        Some(id) => bail!("{}: id {id}, but the input holds {}", names::name(path), table.describe()),
    }
}

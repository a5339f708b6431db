//! Refuses a list of pairs that would not fit, before it is made.

use anyhow::{Result, bail};
use indicatif::HumanBytes;
use jostle::InputError;

use crate::args::LimitArgs;
use crate::memory;
use crate::report::counted;

/// Refuses a list that is longer than the command line allows or, if that sets no limit, than free memory holds at
/// `bytes_a_pair`. If so many bodies could make too many pairs, `count` counts the pairs first. `counts` says whether the
/// command has --count.
///
/// # Errors
/// The refusal of the list, or the refusal of the input as `explain` tells it.
pub(crate) fn check(
    args: &LimitArgs,
    counts: bool,
    bodies: usize,
    bytes_a_pair: u64,
    count: impl FnOnce() -> Result<u64, InputError>,
    explain: impl FnOnce(InputError) -> anyhow::Error,
) -> Result<()> {
    let free = if args.max_pairs.is_none() { memory::free() } else { None };
    let Some(most) = args.max_pairs.or(free.map(|free| free / bytes_a_pair)) else { return Ok(()) };
    let possible = u128::from(bodies as u64) * u128::from((bodies as u64).saturating_sub(1)) / 2;
    if possible <= most.into() {
        return Ok(());
    }
    let found = count().map_err(explain)?;
    if found <= most {
        return Ok(());
    }
    let pairs = counted(found, "pairs");
    let stop = if counts { ", or say --count to stop at the number" } else { "" };
    match free {
        None => bail!("{pairs}, more than --max-pairs {most} allows; raise --max-pairs{stop}"),
        Some(free) => bail!(
            "a list of {pairs} needs some {}, and {} of memory are free; say --max-pairs {found} to try it all the same{stop}",
            HumanBytes(found.saturating_mul(bytes_a_pair)),
            HumanBytes(free),
        ),
    }
}

//! Refuses a list of pairs, or agents, that would not fit into memory, before they are made.

use anyhow::{Result, anyhow, ensure};
use indicatif::HumanBytes;
use jostle::{InputError, PairFinder};

use crate::args::LimitArgs;
use crate::memory;
use crate::report::counted;

/// How many pairs a command may list: as many as the command line allows or, if that sets no limit, as free memory
/// holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    asked: Option<u64>,
    free: Option<u64>,
    bytes_a_pair: u64,
    /// Whether the command has --count.
    counts: bool,
}

impl Limit {
    pub(crate) fn new(args: &LimitArgs, counts: bool, bytes_a_pair: u64) -> Self {
        let free = if args.max_pairs.is_none() { memory::free() } else { None };
        Self { asked: args.max_pairs, free, bytes_a_pair, counts }
    }

    /// Returns a finder that lists no more.
    pub(crate) fn finder<const D: usize>(self) -> PairFinder<D> {
        let mut finder = PairFinder::new();
        let most = self.asked.or(self.free.map(|free| free / self.bytes_a_pair));
        finder.set_max_pairs(most.and_then(|most| most.try_into().ok()).unwrap_or(usize::MAX));
        finder
    }

    /// Says why a search was refused: by this limit, or as `explain` tells it.
    pub(crate) fn explain(
        self,
        refusal: InputError,
        explain: impl FnOnce(InputError) -> anyhow::Error,
    ) -> anyhow::Error {
        let InputError::TooManyPairs { pairs: found, .. } = refusal else { return explain(refusal) };
        let pairs = counted(found, "pairs");
        let stop = if self.counts { ", or say --count to stop at the number" } else { "" };
        match (self.asked, self.free) {
            (Some(most), _) => anyhow!("{pairs}, more than --max-pairs {most} allows; raise --max-pairs{stop}"),
            (None, Some(free)) => anyhow!(
                "a list of {pairs} needs some {}, and {} of memory are free; say --max-pairs {found} to try it all the \
                 same{stop}",
                HumanBytes(found.saturating_mul(self.bytes_a_pair)),
                HumanBytes(free),
            ),
            (None, None) => explain(refusal),
        }
    }
}

/// Refuses more agents than free memory holds.
pub(crate) fn check_agents(agents: u32, bytes_an_agent: u64) -> Result<()> {
    let needed = u64::from(agents).saturating_mul(bytes_an_agent);
    let free = memory::free().unwrap_or(u64::MAX);
    ensure!(
        needed <= free,
        "--agents {agents}: so many need some {}, and {} of memory are free",
        HumanBytes(needed),
        HumanBytes(free),
    );
    Ok(())
}

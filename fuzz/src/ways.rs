//! One search on one thread and on three, by one instruction set and another, with the same result.

use std::sync::LazyLock;

use jostle::{Found, Isa, PairFinder, Search, Threads};
use jostle_testkit::algebra::{Case, Hit};
use jostle_testkit::pool;
use rayon::ThreadPool;

/// A pool of several threads.
pub(crate) static POOL: LazyLock<ThreadPool> = LazyLock::new(|| pool(3));

/// Returns the result of a search on one thread, after a check that it is the same on three, by the instruction set of
/// this number.
pub(crate) fn agreed<const D: usize, R: PartialEq + Send>(
    finder: &mut PairFinder<D>,
    isa: u8,
    search: impl Fn(Search<'_, '_, D>) -> R + Sync,
) -> R {
    let serial = search(finder.on(Threads::Serial));
    let isas: Vec<_> = Isa::available().collect();
    finder.set_isa(isas[usize::from(isa) % isas.len()]);
    let parallel = POOL.install(|| search(finder.on(Threads::Current)));
    assert!(serial == parallel, "another result on three threads");
    serial
}

/// Returns the same pairs in ascending order.
pub(crate) fn ascending(mut pairs: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
    pairs.sort_unstable();
    pairs
}

/// Returns the hits of a case, by [`agreed`]. The list is empty for a case in company, whose pairs alone are compared.
pub(crate) fn hits_of<const D: usize>(
    case: &Case<D>,
    finder: &mut PairFinder<D>,
    isa: u8,
    in_company: bool,
) -> Option<Vec<Hit<D>>> {
    let ready = case.ready();
    if in_company {
        let pairs = |found: Found<'_, D>| found.pairs().to_vec();
        return agreed(finder, isa, |search| search.find(ready.input()).map(pairs).ok()).map(|_| Vec::new());
    }
    agreed(finder, isa, |search| ready.find(search).ok())
}

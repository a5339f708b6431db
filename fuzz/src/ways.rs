//! One search on one thread and on three, by one instruction set and another: both say the same.

use std::sync::LazyLock;

use jostle::{Isa, PairFinder, Search, Threads};
use jostle_testkit::pool;
use rayon::ThreadPool;

/// Several threads.
pub(crate) static POOL: LazyLock<ThreadPool> = LazyLock::new(|| pool(3));

/// What a search comes to, on one thread and then on three, by the instruction set of this number.
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

/// The same pairs in ascending order.
pub(crate) fn ascending(mut pairs: Vec<[u32; 2]>) -> Vec<[u32; 2]> {
    pairs.sort_unstable();
    pairs
}

/// All pairs of so many bodies that pass a test, by a double loop.
pub(crate) fn pairs_where(bodies: usize, test: impl Fn(usize, usize) -> bool) -> Vec<[u32; 2]> {
    let ids = (0..bodies).flat_map(|a| (a + 1..bodies).map(move |b| (a, b)));
    ids.filter(|&(a, b)| test(a, b)).map(|(a, b)| [a as u32, b as u32]).collect()
}

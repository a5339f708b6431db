//! Searches whose bodies the tree sees in another frame: periodic boxes, `f64`, paths. Each against a plain loop, on any
//! kernel and any threads, in one order.

mod double;
mod periodic;
mod soak;
mod swept;

use jostle::{Input, Isa, NeighborLists, PairFinder, Rows, Threads};
use jostle_testkit::pool;
use rayon::ThreadPool;

/// Finders of all kernels, and pools.
struct Bench<const D: usize> {
    finders: Vec<PairFinder<D>>,
    pools: Vec<ThreadPool>,
    lists: NeighborLists,
}

/// What a search says.
#[derive(Debug, PartialEq)]
struct Answer<const D: usize> {
    pairs: Vec<[u32; 2]>,
    shifts: Vec<[i32; D]>,
    times: Vec<f64>,
}

impl<const D: usize> Bench<D> {
    fn new() -> Self {
        let finder = |isa| {
            let mut finder = PairFinder::new();
            finder.set_isa(isa);
            finder
        };
        Self {
            finders: Isa::available().map(finder).collect(),
            pools: [2, 3].map(pool).into(),
            lists: NeighborLists::new(),
        }
    }

    /// The one answer of all kernels and threads, whose pairs are those `expected`; lists and count say the same.
    fn check(&mut self, name: &str, among: Input<'_, D>, expected: &[[u32; 2]]) -> Answer<D> {
        let mut first: Option<Answer<D>> = None;
        let pools: Vec<Option<&ThreadPool>> = core::iter::once(None).chain(self.pools.iter().map(Some)).collect();
        for finder in &mut self.finders {
            for pool in &pools {
                let mut search = || {
                    let found = finder.on(Threads::Current).find(among).expect(name);
                    let (shifts, times) = (found.image_shifts().to_vec(), found.times_of_impact().to_vec());
                    Answer { pairs: found.pairs().to_vec(), shifts, times }
                };
                let answer = match pool {
                    Some(pool) => pool.install(search),
                    None => search(),
                };
                assert!(first.as_ref().is_none_or(|first| *first == answer), "{name}: another sequence");
                first.get_or_insert(answer);
            }
        }
        let answer = first.expect("there is a kernel");
        let mut sorted = answer.pairs.clone();
        sorted.sort_unstable();
        assert_eq!(sorted.len(), expected.len(), "{name}");
        assert!(sorted == expected, "{name}: other pairs");
        let finder = &mut self.finders[0];
        assert_eq!(finder.count(among), Ok(expected.len() as u64), "{name}");
        finder.neighbors(among, Rows::Half, &mut self.lists).expect(name);
        let rows = (0..self.lists.len()).flat_map(|a| self.lists.of(a).iter().map(move |&b| [a as u32, b]));
        assert!(rows.eq(expected.iter().copied()), "{name}: other rows");
        finder.neighbors(among, Rows::Full, &mut self.lists).expect(name);
        assert_eq!(self.lists.neighbors().len(), 2 * expected.len(), "{name}: full rows");
        answer
    }
}

/// All pairs that pass a test, by a double loop.
fn pairs_where(bodies: usize, test: impl Fn(usize, usize) -> bool) -> Vec<[u32; 2]> {
    let ids = 0..bodies;
    ids.clone()
        .flat_map(|a| ids.clone().skip(a + 1).map(move |b| (a, b)))
        .filter(|&(a, b)| test(a, b))
        .map(|(a, b)| [a as u32, b as u32])
        .collect()
}

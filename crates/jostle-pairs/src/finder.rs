//! The pair finder: owns the tree, the scratch and the result, and drives the stages.

use core::ops::Range;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use jostle_core::disjoint::Disjoint;
use jostle_core::prefix::Prefix;
use jostle_core::scratch::ScratchPool;
use jostle_core::tree::{BuildTimes, Level};
use jostle_core::{Bodies, InputError, Isa, LinearTree, Recording, Workers, record};

use crate::hits::{Count, Fold, PairList, Sink};
use crate::join::{Join, JoinScratch};
use crate::kernel;
use crate::ordered::{Ordered, Outbox};
use crate::stats::{StageTimes, Stats, Tests};

/// Below this number of bodies one thread does all: handing tasks to a pool would cost more than it gains. Measured by
/// `cargo bench --bench find -- crossover`.
pub const SERIAL_BELOW: usize = 8_000;

/// As [`SERIAL_BELOW`], for calls from a thread outside of the pool, which sleeps while the pool works: two threads more
/// have to be woken.
pub const SERIAL_BELOW_FROM_OUTSIDE: usize = 30_000;

/// Blocks that the join is cut into, at most; a function of the input alone, whatever the number of threads.
const JOIN_BLOCKS: usize = 2048;

/// Which threads do the work. The result is the same in any case.
#[derive(Debug, Clone, Copy, Default)]
pub enum Threads<'a> {
    /// The rayon pool that the call is made in: the global one outside any pool.
    #[default]
    Current,
    /// This pool.
    Pool(&'a rayon::ThreadPool),
    /// The calling thread alone.
    Serial,
}

/// Finds every overlapping pair of circles (D = 2) or spheres (D = 3).
///
/// Make one and keep it: it owns all memory, and from the second search of a size on allocates nothing. Two bodies
/// overlap when `dx*dx + dy*dy (+ dz*dz) <= s*s`, with s the sum of their radii, in f32; touching counts.
///
/// ```
/// use jostle_pairs::PairFinder;
/// use jostle_core::Circles;
///
/// let mut finder = PairFinder::new();
/// let found = finder.find(Circles::new(&[0.0, 1.5, 9.0], &[0.0, 0.0, 0.0], 1.0))?;
/// assert_eq!(found.pairs(), [[0, 1]]);
/// # Ok::<(), jostle_core::InputError>(())
/// ```
#[derive(Debug)]
pub struct PairFinder<const D: usize> {
    tree: LinearTree<D>,
    isa: Isa,
    pairs: PairList,
    /// Where each block's pairs begin, and what waits to go there, when several threads share the join.
    starts: Prefix,
    outboxes: ScratchPool<Outbox>,
    scratch: ScratchPool<JoinScratch<D>>,
    stats: Stats,
}

/// The result of a search, borrowed from its finder.
#[derive(Debug, Clone, Copy)]
pub struct Found<'f, const D: usize> {
    finder: &'f PairFinder<D>,
}

impl<'f, const D: usize> Found<'f, D> {
    /// Every overlapping pair once, as `[a, b]` of ids with `a < b`. Their order depends on the input alone: not on
    /// the threads, the instruction set, or the build.
    #[must_use]
    pub fn pairs(&self) -> &'f [[u32; 2]] {
        self.finder.pairs.pairs()
    }

    /// The id of the body at each rank of the Morton order: a permutation of 0..n, by which a simulation may sort its
    /// own arrays now and then.
    #[must_use]
    pub fn rank_to_id(&self) -> impl DoubleEndedIterator<Item = u32> + Clone + use<'f, D> {
        self.finder.tree.ids()
    }

    /// The tree that was searched.
    #[must_use]
    pub fn tree(&self) -> &'f LinearTree<D> {
        &self.finder.tree
    }

    /// What the search did.
    #[must_use]
    pub fn stats(&self) -> &'f Stats {
        &self.finder.stats
    }
}

impl<const D: usize> Default for PairFinder<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const D: usize> PairFinder<D> {
    /// A finder that holds no memory yet.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// A finder with memory for `bodies` bodies and as many pairs.
    #[must_use]
    pub fn with_capacity(bodies: usize) -> Self {
        Self {
            tree: LinearTree::with_capacity(bodies),
            isa: Isa::detect(),
            pairs: PairList::with_capacity(bodies),
            starts: Prefix::default(),
            outboxes: ScratchPool::default(),
            scratch: ScratchPool::default(),
            stats: Stats::default(),
        }
    }

    /// The instruction set in use: the best of this machine, unless the environment variable `JOSTLE_ISA` or
    /// [`PairFinder::set_isa`] says otherwise.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Uses this instruction set from now on. The result does not depend on it.
    pub fn set_isa(&mut self, isa: Isa) {
        self.isa = isa;
        self.tree.set_isa(isa);
    }

    /// Chooses the threads for one call: `finder.on(Threads::Serial).find(view)`.
    pub fn on<'f>(&'f mut self, threads: Threads<'f>) -> Search<'f, D> {
        Search { finder: self, threads }
    }

    /// [`Search::find`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn find(&mut self, bodies: Bodies<'_, D>) -> Result<Found<'_, D>, InputError> {
        self.on(Threads::Current).find(bodies)
    }

    /// [`Search::count`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn count(&mut self, bodies: Bodies<'_, D>) -> Result<u64, InputError> {
        self.on(Threads::Current).count(bodies)
    }

    /// [`Search::for_each_pair`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn for_each_pair(
        &mut self,
        bodies: Bodies<'_, D>,
        visit: impl Fn(u32, u32) + Sync,
    ) -> Result<Stats, InputError> {
        self.on(Threads::Current).for_each_pair(bodies, visit)
    }

    /// [`Search::fold`] on the current rayon pool.
    ///
    /// # Errors
    /// [`InputError`]; the last result stands.
    pub fn fold<A: Send>(
        &mut self,
        bodies: Bodies<'_, D>,
        init: impl Fn() -> A + Sync,
        op: impl Fn(&mut A, u32, u32) + Sync,
        merge: impl Fn(A, A) -> A + Sync,
    ) -> Result<A, InputError> {
        self.on(Threads::Current).fold(bodies, init, op, merge)
    }

    /// The result of the last [`find`](PairFinder::find); empty before the first. A search that makes no list leaves
    /// this one as it was; tree and statistics are those of the last search of any kind.
    #[must_use]
    pub fn last(&self) -> Found<'_, D> {
        Found { finder: self }
    }

    /// Bytes held: tree, scratch and pair list.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.tree.bytes()
            + self.pairs.bytes()
            + self.starts.bytes()
            + self.outboxes.bytes(Outbox::bytes)
            + self.scratch.bytes(JoinScratch::bytes)
    }

    fn find_with(&mut self, bodies: Bodies<'_, D>, workers: Workers) -> Result<(), InputError> {
        let built = self.start(bodies, workers)?;
        let start = Instant::now();
        let tests = match workers {
            Workers::Serial => self.join_serial(),
            Workers::Rayon | Workers::Recorded => self.join_parallel(workers),
        };
        self.finish(built, start.elapsed(), tests);
        Ok(())
    }

    fn blocks(&self) -> Blocks {
        Blocks::of(&self.tree)
    }

    /// Joins some groups into `sink`, and gives it back.
    fn join_groups<S: Sink>(&self, groups: Range<usize>, sink: S) -> (S, Tests) {
        self.scratch.with(|scratch| {
            let mut join = Join::new(&self.tree, scratch, sink);
            kernel::join(self.isa, &mut join, groups);
            (join.sink, join.tests)
        })
    }

    /// Joins all groups into the list.
    fn join_serial(&mut self) -> Tests {
        let mut pairs = core::mem::take(&mut self.pairs);
        pairs.clear();
        let (_, tests) = self.join_groups(0..self.blocks().groups, &mut pairs);
        self.pairs = pairs;
        tests
    }

    /// Joins blocks of groups side by side, and puts their pairs in the list in the order of the blocks.
    fn join_parallel(&mut self, workers: Workers) -> Tests {
        let blocks = self.blocks();
        let (mut pairs, mut starts) = (core::mem::take(&mut self.pairs), core::mem::take(&mut self.starts));
        if pairs.capacity() == 0 {
            pairs.set_len(self.tree.len());
        }
        starts.reset(blocks.count());
        self.outboxes.prepare(workers.count(), |outbox| outbox.prepare(pairs.capacity(), blocks.count()));
        let list = Disjoint::new(pairs.room_of_all());
        let all_tests = Mutex::new(Tests::default());
        workers.run_in_order("join", blocks.count(), |next| {
            self.outboxes.with(|outbox| {
                self.scratch.with(|scratch| {
                    let _guard = starts.guard();
                    let sink = Ordered::new(&list, &starts, outbox);
                    let mut join = Join::new(&self.tree, scratch, sink);
                    for block in next {
                        join.sink.begin(block);
                        kernel::join(self.isa, &mut join, blocks.range(block));
                        join.sink.end();
                    }
                    join.sink.finish();
                    if let Ok(mut all) = all_tests.lock() {
                        *all = all.plus(join.tests);
                    }
                });
            });
        });
        pairs.set_len(starts.total());
        let capacity = pairs.capacity();
        self.outboxes.each(|outbox| {
            outbox.send_rest(&mut pairs, &starts);
            outbox.prepare(capacity, blocks.count());
        });
        (self.pairs, self.starts) = (pairs, starts);
        all_tests.into_inner().unwrap_or_default()
    }

    /// Folds blocks into sinks and merges neighbours, halving: an order that is a function of their number alone.
    fn fold_blocks<S: Sink + Send>(
        &self,
        workers: Workers,
        blocks: Range<usize>,
        init: &(impl Fn() -> S + Sync),
        merge: &(impl Fn(S, S) -> S + Sync),
    ) -> (S, Tests) {
        if blocks.len() <= 1 {
            let groups = if blocks.is_empty() { 0..0 } else { self.blocks().range(blocks.start) };
            return self.join_groups(groups, init());
        }
        let middle = blocks.start + blocks.len() / 2;
        let (left, right) = workers.join(
            || self.fold_blocks(workers, blocks.start..middle, init, merge),
            || self.fold_blocks(workers, middle..blocks.end, init, merge),
        );
        (merge(left.0, right.0), left.1.plus(right.1))
    }

    /// Builds the tree and makes the scratch ready.
    fn start(&mut self, bodies: Bodies<'_, D>, workers: Workers) -> Result<BuildTimes, InputError> {
        let built = self.tree.build(bodies, workers)?;
        self.scratch.prepare(workers.count(), |_| {});
        Ok(built)
    }

    fn finish(&mut self, built: BuildTimes, join: Duration, tests: Tests) {
        let BuildTimes { bounds, sort, tree } = built;
        self.stats = Stats {
            node_tests: tests.node_tests,
            leaf_tests: tests.leaf_tests,
            circle_tests: tests.circle_tests,
            pairs: tests.pairs,
            bytes: self.bytes(),
            list_bytes: self.pairs.bytes(),
            time: StageTimes { bounds, sort, tree, join },
        };
    }
}

/// How the groups of the join are cut into blocks.
#[derive(Debug, Clone, Copy)]
struct Blocks {
    groups: usize,
    size: usize,
}

impl Blocks {
    fn of<const D: usize>(tree: &LinearTree<D>) -> Self {
        let groups = tree.levels().get(1).map_or(0, Level::len);
        Self { groups, size: groups.div_ceil(JOIN_BLOCKS).max(1) }
    }

    fn count(self) -> usize {
        self.groups.div_ceil(self.size)
    }

    fn range(self, block: usize) -> Range<usize> {
        block * self.size..((block + 1) * self.size).min(self.groups)
    }
}

/// A finder and the threads that it is to use for one call.
#[derive(Debug)]
pub struct Search<'f, const D: usize> {
    finder: &'f mut PairFinder<D>,
    threads: Threads<'f>,
}

impl<'f, const D: usize> Search<'f, D> {
    /// Finds every overlapping pair. O(n + pairs) for spread-out bodies.
    ///
    /// # Errors
    /// [`InputError`] before any work; the finder stays usable and its last result stands.
    pub fn find(self, bodies: Bodies<'_, D>) -> Result<Found<'f, D>, InputError> {
        let finder = self.finder;
        run(self.threads, bodies.len(), |workers| workers.together(|| finder.find_with(bodies, workers)))?;
        Ok(Found { finder })
    }

    /// As [`Search::find`] with several threads, whatever was chosen, but task after task on the calling thread; tells
    /// how long each took, and so what more threads than the machine has would gain.
    ///
    /// # Errors
    /// [`InputError`] before any work; the finder stays usable and its last result stands.
    pub fn find_recorded(self, bodies: Bodies<'_, D>) -> Result<(Found<'f, D>, Recording), InputError> {
        let finder = self.finder;
        let (found, recording) = record(|workers| finder.find_with(bodies, workers));
        found?;
        Ok((Found { finder }, recording))
    }

    /// Counts the overlapping pairs without listing them.
    ///
    /// # Errors
    /// [`InputError`] before any work; the last result stands.
    pub fn count(self, bodies: Bodies<'_, D>) -> Result<u64, InputError> {
        Ok(self.fold_sinks(bodies, || Count, |a, _| a)?.1.pairs)
    }

    /// Calls `visit(a, b)`, a < b, once for each overlapping pair, from the threads that find them: in no fixed order,
    /// except that a single thread keeps that of [`Search::find`]. No list is made.
    ///
    /// # Errors
    /// [`InputError`] before any work, and before any call.
    pub fn for_each_pair(self, bodies: Bodies<'_, D>, visit: impl Fn(u32, u32) + Sync) -> Result<Stats, InputError> {
        let op = |(): &mut (), a, b| visit(a, b);
        Ok(self.fold_sinks(bodies, || Fold::new((), &op), |a, _| a)?.1)
    }

    /// Folds over the overlapping pairs, in the order of [`Search::find`]: each block of them into an accumulator of
    /// its own, made by `init`; then the accumulators of neighbouring blocks are merged, left with right, in an order
    /// that is a function of the input alone. So even a floating-point sum comes out the same on any threads.
    ///
    /// # Errors
    /// [`InputError`] before any work, and before any call.
    pub fn fold<A: Send>(
        self,
        bodies: Bodies<'_, D>,
        init: impl Fn() -> A + Sync,
        op: impl Fn(&mut A, u32, u32) + Sync,
        merge: impl Fn(A, A) -> A + Sync,
    ) -> Result<A, InputError> {
        let sink = |all| Fold::new(all, &op);
        let (folded, _) = self.fold_sinks(bodies, || sink(init()), |a, b| sink(merge(a.all, b.all)))?;
        Ok(folded.all)
    }

    fn fold_sinks<S: Sink + Send>(
        self,
        bodies: Bodies<'_, D>,
        init: impl Fn() -> S + Sync + Send,
        merge: impl Fn(S, S) -> S + Sync + Send,
    ) -> Result<(S, Stats), InputError> {
        let finder = self.finder;
        run(self.threads, bodies.len(), |workers| {
            let built = finder.start(bodies, workers)?;
            let start = Instant::now();
            let (sink, tests) = finder.fold_blocks(workers, 0..finder.blocks().count(), &init, &merge);
            finder.finish(built, start.elapsed(), tests);
            Ok((sink, finder.stats))
        })
    }
}

/// Runs a search with the workers that `threads` and the number of bodies ask for.
pub(crate) fn run<R: Send>(threads: Threads<'_>, bodies: usize, search: impl FnOnce(Workers) -> R + Send) -> R {
    let inside = match threads {
        Threads::Serial => return search(Workers::Serial),
        Threads::Current => rayon::current_thread_index().is_some(),
        Threads::Pool(pool) => pool.current_thread_index().is_some(),
    };
    let serial_below = if inside { SERIAL_BELOW } else { SERIAL_BELOW_FROM_OUTSIDE };
    match threads {
        _ if bodies < serial_below => search(Workers::Serial),
        Threads::Pool(pool) => pool.install(|| search(Workers::current())),
        Threads::Serial | Threads::Current => search(Workers::current()),
    }
}

//! Joins run from end to end: into one list, in order, or into accumulators.

use core::ops::Range;
use core::sync::atomic::AtomicUsize;

use jostle_core::disjoint::Disjoint;
use jostle_core::lookback::Prefix;
use jostle_core::scratch::{ScratchPool, with_headroom};
use jostle_core::{Isa, Tasks, Workers};
use jostle_sets::compiled::compiled_here;
use jostle_sets::prepare::job::Job;

use crate::InputError;
use crate::join::counts::Tests;
use crate::join::hits::{Fold, PairList, Sink};
use crate::join::tree_pair::TreePair;
use crate::join::{Join, JoinScratch, join_groups};
use crate::pairs::ordered::{Ordered, Outbox};
use crate::pairs::plan::{Blocks, Plan, Walk};
use crate::pairs::reduction;
use crate::pairs::stats::counted;

/// Where workers take blocks in order, one part in so many of the list may wait with each worker. So a worker can go on
/// for a while when another worker, which has an earlier block, has been taken off its processor.
const WAITING: usize = 64;

/// Calls its second argument, a join, with a sink of the worker's own, or with its first argument, the worker's end of
/// the list.
pub(crate) type Through<'a> = dyn Fn(&mut dyn Sink, &mut dyn FnMut(&mut dyn Sink)) + Sync + 'a;

/// The list of pairs, and the scratch that it takes to make the list.
#[derive(Debug)]
pub(crate) struct Engine<const D: usize> {
    pub(crate) isa: Isa,
    pub(crate) pairs: PairList,
    /// Where the pairs of each job end.
    pub(crate) ends: Vec<usize>,
    /// Where each block's pairs begin, when several threads share the join. Until that is known, pairs wait in
    /// `outboxes`.
    starts: Prefix,
    /// Twice the pairs of the largest block in all searches so far: in the next search, bodies may lie closer.
    most: usize,
    outboxes: ScratchPool<Outbox>,
    scratch: ScratchPool<JoinScratch<D>>,
    /// The most pairs that a list may have.
    pub(crate) max_pairs: usize,
}

impl<const D: usize> Engine<D> {
    pub(crate) fn with_capacity(pairs: usize) -> Self {
        Self {
            isa: Isa::detect(),
            pairs: PairList::with_capacity(pairs),
            ends: Vec::new(),
            starts: Prefix::default(),
            most: 0,
            outboxes: ScratchPool::default(),
            scratch: ScratchPool::default(),
            max_pairs: usize::MAX,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pairs.bytes()
            + self.starts.bytes()
            + self.outboxes.bytes(Outbox::bytes)
            + self.scratch.bytes(JoinScratch::bytes)
            + self.ends.capacity() * size_of::<usize>()
    }

    /// Makes scratch ready for each worker.
    fn prepare(&mut self, plan: Plan<'_, D>, workers: Workers<'_>) {
        let is_small = (0..plan.jobs.len()).all(|job| plan.tree_pair(job).is_small());
        self.scratch.prepare(workers.count(), |scratch| scratch.fit(is_small));
    }

    /// Lists the pairs of all jobs. Where that is refused, the list is empty.
    pub(crate) fn list(&mut self, plan: Plan<'_, D>, workers: Workers<'_>) -> Result<Tests, InputError> {
        self.ends.clear();
        match workers {
            Workers::Serial => self.list_serial(plan),
            Workers::Rayon | Workers::Pool(_) | Workers::Host(_) | Workers::Recorded => {
                self.list_parallel(plan, &|list, join| join(list), workers)
            }
        }
    }

    /// Lists some of the pairs of all jobs: each worker joins into a sink of its own, which gives the pairs to keep to
    /// the list. On one thread the blocks are the same; but that thread knows where the pairs of a job end only if
    /// there is one job alone.
    pub(crate) fn list_some(
        &mut self,
        plan: Plan<'_, D>,
        sink: &Through<'_>,
        workers: Workers<'_>,
    ) -> Result<Tests, InputError> {
        self.ends.clear();
        if plan.jobs.len() > 1 || !matches!(workers, Workers::Serial) {
            return self.list_parallel(plan, sink, workers);
        }
        self.prepare(plan, workers);
        let (mut pairs, mut tests) = (core::mem::take(&mut self.pairs), Tests::default());
        pairs.begin(self.max_pairs);
        sink(&mut pairs, &mut |sink| tests = join_blocks(self, plan, &mut (0..plan.blocks()), sink));
        self.ends.push(pairs.pairs().len());
        self.pairs = pairs;
        self.check_serial(tests)
    }

    /// Refuses pairs that one thread has listed and dropped, or too many.
    fn check_serial(&mut self, tests: Tests) -> Result<Tests, InputError> {
        let dropped = self.pairs.dropped();
        let pairs = self.pairs.pairs().len() as u64 + dropped;
        if pairs <= self.max_pairs as u64 && dropped == 0 {
            return Ok(tests);
        }
        self.pairs = PairList::default();
        self.ends.clear();
        Err(too_many(pairs, self.max_pairs))
    }

    fn list_serial(&mut self, plan: Plan<'_, D>) -> Result<Tests, InputError> {
        self.pairs.begin(self.max_pairs);
        let (scratch, mut tests) = (self.scratch.own(), Tests::default());
        for job in 0..plan.jobs.len() {
            let pairing = plan.tree_pair(job);
            let groups = Blocks::of(&pairing).groups();
            tests = tests.plus(join_in(self.isa, pairing, groups, (scratch, &mut self.pairs)));
            self.ends.push(self.pairs.pairs().len());
        }
        self.check_serial(tests)
    }

    /// Joins blocks side by side, and puts their pairs in the list in the order of the blocks.
    fn list_parallel(
        &mut self,
        plan: Plan<'_, D>,
        sink: &Through<'_>,
        workers: Workers<'_>,
    ) -> Result<Tests, InputError> {
        self.prepare(plan, workers);
        let plan = plan.shared(workers);
        let (blocks, bodies) = (plan.blocks(), plan.bodies());
        let (mut pairs, mut starts) = (core::mem::take(&mut self.pairs), core::mem::take(&mut self.starts));
        let of_largest = (0..plan.jobs.len()).map(|job| plan.tree_pair(job).trees[0].len()).max().unwrap_or_default();
        if pairs.capacity() == 0 {
            pairs.set_len(of_largest.min(self.max_pairs));
        }
        starts.reset(blocks);
        // The number of images that bodies touch changes from search to search; outboxes, sized by the largest job,
        // stay as they are.
        let parts = match workers.shares(blocks, of_largest) {
            1 => WAITING,
            shares => shares,
        };
        let (most, max_pairs) = (self.most, self.max_pairs);
        self.outboxes.prepare(workers.count(), |outbox| outbox.prepare((pairs.capacity() / parts, most), blocks));
        let (list, found) = (Disjoint::new(pairs.room_of_all()), AtomicUsize::new(0));
        let tests = counted((workers, plan.ask_callers()), "join", (blocks, Some(bodies)), |blocks| {
            self.outboxes.with(|outbox| {
                starts.worker(|| {
                    let mut ordered = Ordered::new((&list, &starts), (&found, max_pairs), outbox);
                    let mut tests = Tests::default();
                    sink(&mut ordered, &mut |sink| tests = join_blocks(self, plan, blocks, sink));
                    ordered.finish();
                    tests
                })
            })
        });
        let (total, mut has_dropped) = (starts.total(), false);
        self.outboxes.each(|outbox| has_dropped |= outbox.has_dropped());
        if total > max_pairs || has_dropped || !pairs.try_set_len(total) {
            self.outboxes.each(|outbox| outbox.prepare((0, 0), blocks));
            self.starts = starts;
            // Of more pairs than a number of the machine holds, the tests know how many there are.
            let pairs = if total < isize::MAX as usize { total as u64 } else { tests.pairs };
            return Err(too_many(pairs, max_pairs));
        }
        let first_pair = |block| if block == blocks { Some(total) } else { starts.start_of(block) };
        let mut most = 0;
        self.outboxes.each(|outbox| most = most.max(outbox.largest_block()));
        if most > self.most {
            self.most = with_headroom(2 * most);
        }
        let (most, capacity) = (self.most, pairs.capacity());
        self.outboxes.each(|outbox| {
            outbox.send_rest(&mut pairs, &starts);
            outbox.prepare((capacity / parts, most), blocks);
        });
        self.ends.extend(plan.starts().skip(1).map(|block| first_pair(block).unwrap_or(total)));
        (self.pairs, self.starts) = (pairs, starts);
        Ok(tests)
    }

    fn join_blocks_here(&self, plan: Plan<'_, D>, blocks: &mut dyn Tasks, sink: &mut dyn Sink) -> Tests {
        let (mut walk, mut tests) = (Walk::new(&plan), Tests::default());
        self.scratch.with(|scratch| {
            while let Some((block, all_before)) = blocks.next_task(sink.is_full()) {
                let (pairing, groups) = walk.go_to(block);
                sink.begin(block, walk.job(), all_before);
                tests = tests.plus(join_in(self.isa, pairing, groups, (scratch, sink)));
                sink.end();
            }
        });
        tests
    }

    /// Joins all blocks; each worker has a sink of its own. With several workers the blocks come in no fixed order.
    pub(crate) fn visit<S: Sink>(
        &mut self,
        plan: Plan<'_, D>,
        workers: Workers<'_>,
        sink: impl Fn() -> S + Sync,
    ) -> Tests {
        self.prepare(plan, workers);
        let plan = plan.shared(workers);
        // Without `bodies`, blocks are handed out in order: so a host that does all on one thread keeps the order of
        // the list, in whatever order it runs tasks.
        let bodies = (!matches!(workers, Workers::Host(_))).then(|| plan.bodies());
        counted((workers, true), "join", (plan.blocks(), bodies), |blocks| join_blocks(self, plan, blocks, &mut sink()))
    }

    /// Folds each block into an accumulator of its own, and merges the accumulators.
    pub(crate) fn fold<A: Send>(
        &mut self,
        plan: Plan<'_, D>,
        workers: Workers<'_>,
        init: impl Fn() -> A + Sync,
        op: impl Fn(&mut A, Job, u32, u32) + Sync,
        merge: impl Fn(A, A) -> A + Sync,
    ) -> (A, Tests) {
        self.prepare(plan, workers);
        let fold_block = |mut block: Range<usize>| {
            let mut sink = Fold::new(init(), plan.jobs, &op);
            let tests = join_blocks(self, plan, &mut block, &mut sink);
            (sink.all, tests)
        };
        let merge = |a: (A, Tests), b: (A, Tests)| (merge(a.0, b.0), a.1.plus(b.1));
        workers.run_callers(true, || reduction::fold(workers, plan.blocks(), &fold_block, &merge))
    }
}

/// The error of a list of so many pairs or neighbours, `max` of which are allowed.
pub(crate) fn too_many(pairs: u64, max: usize) -> InputError {
    InputError::TooManyPairs { pairs, max: (pairs > max as u64).then_some(max as u64) }
}

/// Joins some groups of a pair of trees, in `scratch`, into `sink`.
fn join_in<const D: usize>(
    isa: Isa,
    pairing: TreePair<'_, D>,
    groups: Range<usize>,
    (scratch, sink): (&mut JoinScratch<D>, &mut dyn Sink),
) -> Tests {
    let mut join = Join::new(pairing, scratch, sink);
    join_groups(isa, &mut join, groups);
    join.tests
}

compiled_here! {
    /// Joins some blocks into a sink.
    fn join_blocks<const D: usize>(
        engine: &Engine<D>,
        plan: Plan<'_, D>,
        blocks: &mut dyn Tasks,
        sink: &mut dyn Sink,
    ) -> Tests {
        engine.join_blocks_here(plan, blocks, sink)
    }
}

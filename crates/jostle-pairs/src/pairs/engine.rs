//! Joins run from end to end: into one list, in order, or into accumulators.

use core::ops::Range;

use jostle_core::disjoint::Disjoint;
use jostle_core::lookback::Prefix;
use jostle_core::scratch::ScratchPool;
use jostle_core::{Isa, Workers};

use crate::compiled::compiled_here;
use crate::join::counts::Tests;
use crate::join::hits::{Fold, PairList, Sink};
use crate::join::job::Job;
use crate::join::recorded::{Recorded, Recorder};
use crate::join::tree_pair::TreePair;
use crate::join::{Join, JoinScratch, join_again, join_groups};
use crate::pairs::ordered::{Ordered, Outbox};
use crate::pairs::plan::{Plan, Walk};
use crate::pairs::reduction;
use crate::pairs::stats::counted;

/// What finds the pairs of some blocks, ascending.
type JoinBlocks<'a, const D: usize> =
    dyn Fn(&Engine<D>, &mut dyn Iterator<Item = usize>, &mut dyn Sink) -> Tests + Sync + 'a;

/// The list of pairs, and what it takes to make it.
#[derive(Debug)]
pub(crate) struct Engine<const D: usize> {
    pub(crate) isa: Isa,
    pub(crate) pairs: PairList,
    /// Where the pairs of each job end.
    pub(crate) ends: Vec<usize>,
    /// Where each block's pairs begin, and what waits to go there, when several threads share the join.
    starts: Prefix,
    outboxes: ScratchPool<Outbox>,
    scratch: ScratchPool<JoinScratch<D>>,
}

impl<const D: usize> Engine<D> {
    pub(crate) fn with_capacity(pairs: usize) -> Self {
        Self {
            isa: Isa::detect(),
            pairs: PairList::with_capacity(pairs),
            ends: Vec::new(),
            starts: Prefix::default(),
            outboxes: ScratchPool::default(),
            scratch: ScratchPool::default(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.pairs.bytes()
            + self.starts.bytes()
            + self.outboxes.bytes(Outbox::bytes)
            + self.scratch.bytes(JoinScratch::bytes)
            + self.ends.capacity() * size_of::<usize>()
    }

    /// Lists the pairs of all jobs.
    pub(crate) fn list(&mut self, plan: Plan<'_, D>, workers: Workers<'_>) -> Tests {
        self.ends.clear();
        self.scratch.prepare(workers.count(), |_| {});
        match workers {
            Workers::Serial => self.list_serial(plan),
            Workers::Rayon | Workers::Host(_) | Workers::Recorded => {
                let ask = plan.ask_callers();
                self.list_parallel(plan, (workers, ask), &|engine, blocks, sink| {
                    join_blocks(engine, plan, blocks, sink)
                })
            }
        }
    }

    /// Records which tests of all jobs hit. The list is not that of pairs any more.
    pub(crate) fn record(&mut self, plan: Plan<'_, D>, recorded: &mut Recorded, workers: Workers<'_>) -> Tests {
        self.ends.clear();
        self.scratch.prepare(workers.count(), |_| {});
        core::mem::swap(&mut self.pairs, &mut recorded.tests);
        recorded.starts.clear();
        let tests = if matches!(workers, Workers::Serial) {
            let mut list = core::mem::take(&mut self.pairs);
            list.clear();
            let mut tests = Tests::default();
            for block in 0..plan.blocks() {
                recorded.starts.push(list.pairs().len());
                tests = tests.plus(join_blocks(self, plan, &mut (block..block + 1), &mut Recorder::new(&mut list)));
            }
            recorded.starts.push(list.pairs().len());
            self.pairs = list;
            tests
        } else {
            let record = |engine: &Self, blocks: &mut dyn Iterator<Item = usize>, sink: &mut dyn Sink| {
                join_blocks(engine, plan, blocks, &mut Recorder::new(sink))
            };
            let tests = self.list_parallel(plan, (workers, false), &record);
            let total = self.starts.total();
            recorded.starts.extend((0..plan.blocks()).map(|block| self.starts.start_of(block).unwrap_or(total)));
            recorded.starts.push(total);
            tests
        };
        core::mem::swap(&mut self.pairs, &mut recorded.tests);
        tests
    }

    /// Lists the pairs that the tests of a record find now, in their order.
    pub(crate) fn list_again(&mut self, plan: Plan<'_, D>, recorded: &Recorded, workers: Workers<'_>) -> Tests {
        self.ends.clear();
        self.scratch.prepare(workers.count(), |_| {});
        if !matches!(workers, Workers::Serial) {
            let ask = plan.ask_callers();
            return self.list_parallel(plan, (workers, ask), &|engine, blocks, sink| {
                join_blocks_again(engine, plan, recorded, blocks, sink)
            });
        }
        let mut list = core::mem::take(&mut self.pairs);
        list.clear();
        let mut tests = Tests::default();
        let mut first = 0;
        for end in plan.starts().skip(1) {
            tests = tests.plus(join_blocks_again(self, plan, recorded, &mut (first..end), &mut list));
            self.ends.push(list.pairs().len());
            first = end;
        }
        self.pairs = list;
        tests
    }

    fn list_serial(&mut self, plan: Plan<'_, D>) -> Tests {
        let mut pairs = core::mem::take(&mut self.pairs);
        pairs.clear();
        let mut tests = Tests::default();
        for job in 0..plan.jobs.len() {
            let (pairing, groups) = (plan.tree_pair(job), plan.groups(job));
            let joined = self.scratch.with(|scratch| self.join_groups(pairing, groups, scratch, &mut pairs));
            tests = tests.plus(joined);
            self.ends.push(pairs.pairs().len());
        }
        self.pairs = pairs;
        tests
    }

    /// Joins blocks side by side, and puts their pairs in the list in the order of the blocks.
    fn list_parallel(&mut self, plan: Plan<'_, D>, workers: (Workers<'_>, bool), join: &JoinBlocks<'_, D>) -> Tests {
        let blocks = plan.blocks();
        let (mut pairs, mut starts) = (core::mem::take(&mut self.pairs), core::mem::take(&mut self.starts));
        if pairs.capacity() == 0 {
            pairs.set_len((0..plan.jobs.len()).map(|job| plan.tree_pair(job).trees[0].len()).max().unwrap_or_default());
        }
        starts.reset(blocks);
        self.outboxes.prepare(workers.0.count(), |outbox| outbox.prepare(pairs.capacity(), blocks));
        let list = Disjoint::new(pairs.room_of_all());
        let tests = counted(workers, "join", blocks, |blocks| {
            self.outboxes.with(|outbox| starts.worker(|| join(self, blocks, &mut Ordered::new(&list, &starts, outbox))))
        });
        pairs.set_len(starts.total());
        let capacity = pairs.capacity();
        self.outboxes.each(|outbox| {
            outbox.send_rest(&mut pairs, &starts);
            outbox.prepare(capacity, blocks);
        });
        let total = starts.total();
        let first_pair = |block| if block == blocks { Some(total) } else { starts.start_of(block) };
        self.ends.extend(plan.starts().skip(1).map(|block| first_pair(block).unwrap_or(total)));
        (self.pairs, self.starts) = (pairs, starts);
        tests
    }

    fn join_blocks_here(
        &self,
        plan: Plan<'_, D>,
        blocks: &mut dyn Iterator<Item = usize>,
        sink: &mut dyn Sink,
    ) -> Tests {
        let (mut walk, mut tests) = (Walk::new(&plan), Tests::default());
        self.scratch.with(|scratch| {
            for block in blocks {
                let (pairing, groups) = walk.go_to(block);
                sink.begin(block, walk.job());
                tests = tests.plus(self.join_groups(pairing, groups, scratch, sink));
                sink.end();
            }
        });
        tests
    }

    fn join_blocks_again_here(
        &self,
        plan: Plan<'_, D>,
        recorded: &Recorded,
        blocks: &mut dyn Iterator<Item = usize>,
        sink: &mut dyn Sink,
    ) -> Tests {
        let (mut walk, mut tests) = (Walk::new(&plan), Tests::default());
        self.scratch.with(|scratch| {
            for block in blocks {
                let (pairing, _) = walk.go_to(block);
                sink.begin(block, walk.job());
                let mut join = Join::new(pairing, scratch, sink);
                join_again(self.isa, &mut join, recorded.block(block));
                tests = tests.plus(join.tests);
                sink.end();
            }
        });
        tests
    }

    fn join_groups(
        &self,
        pairing: TreePair<'_, D>,
        groups: Range<usize>,
        scratch: &mut JoinScratch<D>,
        sink: &mut dyn Sink,
    ) -> Tests {
        let mut join = Join::new(pairing, scratch, sink);
        join_groups(self.isa, &mut join, groups);
        join.tests
    }

    /// Joins all blocks, in no fixed order where there are several workers, each of which has a sink of its own.
    pub(crate) fn visit<S: Sink>(
        &mut self,
        plan: Plan<'_, D>,
        workers: Workers<'_>,
        sink: impl Fn() -> S + Sync,
    ) -> Tests {
        self.scratch.prepare(workers.count(), |_| {});
        counted((workers, true), "join", plan.blocks(), |blocks| join_blocks(self, plan, blocks, &mut sink()))
    }

    /// Folds each block into an accumulator of its own, and merges those.
    pub(crate) fn fold<A: Send>(
        &mut self,
        plan: Plan<'_, D>,
        workers: Workers<'_>,
        init: impl Fn() -> A + Sync,
        op: impl Fn(&mut A, Job, u32, u32) + Sync,
        merge: impl Fn(A, A) -> A + Sync,
    ) -> (A, Tests) {
        self.scratch.prepare(workers.count(), |_| {});
        let fold_block = |mut block: Range<usize>| {
            let mut sink = Fold::new(init(), plan.jobs, &op);
            let tests = join_blocks(self, plan, &mut block, &mut sink);
            (sink.all, tests)
        };
        let merge = |a: (A, Tests), b: (A, Tests)| (merge(a.0, b.0), a.1.plus(b.1));
        workers.run_callers(true, || reduction::fold(workers, plan.blocks(), &fold_block, &merge))
    }
}

compiled_here! {
    /// Joins some blocks, ascending, into a sink.
    fn join_blocks<const D: usize>(
        engine: &Engine<D>,
        plan: Plan<'_, D>,
        blocks: &mut dyn Iterator<Item = usize>,
        sink: &mut dyn Sink,
    ) -> Tests {
        engine.join_blocks_here(plan, blocks, sink)
    }

    /// Makes the tests of some blocks again, ascending, into a sink.
    fn join_blocks_again<const D: usize>(
        engine: &Engine<D>,
        plan: Plan<'_, D>,
        recorded: &Recorded,
        blocks: &mut dyn Iterator<Item = usize>,
        sink: &mut dyn Sink,
    ) -> Tests {
        engine.join_blocks_again_here(plan, recorded, blocks, sink)
    }
}

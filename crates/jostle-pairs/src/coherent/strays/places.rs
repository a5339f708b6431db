//! Where in a list the pairs of some bodies stand.
//!
//! A list has no index of that. What lies together in it lies together in space, too: of some pairs each, and of each block of candidates, is
//! kept in which of 64 regions their bodies are, once somebody strays; what has none in that of a body is not looked through for it.

use std::sync::{Mutex, PoisonError};

use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Isa, LinearTree, Workers};
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::bands::BLOCK;
use crate::coherent::live::Live;
use crate::pairs::ranks::Ranks;

/// Pairs at the front of a list that are looked through together, and so many of those in one task.
const SOME: usize = 256;
const TASK: usize = 64;

/// Regions.
const REGIONS: usize = u64::BITS as usize;

/// Names that pairs are compared with at once.
const NAMES: usize = 4;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The region of each body; of none before somebody strays.
    regions: Vec<u8>,
    /// Those of the front of the list, of which nothing is ever changed, and of the blocks: a bit for each.
    front: Vec<u64>,
    blocks: Vec<u64>,
    /// Where in the list the sure pairs of each block begin.
    sure: Vec<usize>,
    /// Places at the front, and candidates of the blocks, of bodies that stray.
    in_front: Vec<u32>,
    in_blocks: Vec<u32>,
    /// Where all of their pairs stand in this frame, ascending.
    holes: Vec<u32>,
}

/// A list, and who stands there.
#[derive(Clone, Copy)]
pub(in crate::coherent) struct Listed<'a, const D: usize> {
    pub(in crate::coherent) pairs: &'a [[u32; 2]],
    pub(in crate::coherent) live: &'a Live,
    pub(in crate::coherent) ranks: &'a Ranks,
    /// The tree by which they were found.
    pub(in crate::coherent) tree: &'a LinearTree<D>,
}

impl Places {
    pub(super) fn bytes(&self) -> usize {
        self.regions.capacity()
            + (self.front.capacity() + self.blocks.capacity()) * size_of::<u64>()
            + self.sure.capacity() * size_of::<usize>()
            + [&self.in_front, &self.in_blocks, &self.holes].map(Vec::capacity).iter().sum::<usize>() * size_of::<u32>()
    }

    /// Nobody strays any more.
    pub(super) fn clear(&mut self) {
        self.regions.clear();
        self.in_front.clear();
        self.in_blocks.clear();
    }

    pub(super) fn holes(&self) -> &[u32] {
        &self.holes
    }

    /// Finds where the pairs of all bodies stand that stray, some of which are new.
    pub(super) fn find<const D: usize>(
        &mut self,
        listed: Listed<'_, D>,
        new: &[u32],
        (isa, workers): (Isa, Workers<'_>),
    ) {
        if !new.is_empty() {
            if self.regions.is_empty() {
                self.find_regions(listed, workers);
            }
            self.look_for(listed, new, (isa, workers));
        }
        let blocks = listed.live.blocks();
        self.holes.clear();
        self.holes.extend_from_slice(&self.in_front);
        for &candidate in &self.in_blocks {
            let (number, at) = (candidate as usize / BLOCK, candidate as usize % BLOCK);
            let (block, sure) = (&blocks[number], blocks[number].sure());
            if sure.contains(&at) {
                self.holes.push((self.sure[number] + at - sure.start) as u32);
            } else if block.touches_now(at) {
                self.holes.push(listed.live.place_of(candidate) as u32);
            }
        }
        self.holes.sort_unstable();
    }

    /// Finds the regions of all bodies, and of what lies together.
    fn find_regions<const D: usize>(&mut self, listed: Listed<'_, D>, workers: Workers<'_>) {
        let Self { regions, front, blocks, sure, .. } = self;
        let Listed { pairs, live, ranks: named, tree } = listed;
        resize_with_headroom(regions, tree.len());
        let ranks = Regions::of(tree);
        for (leaf, ids) in tree.leaf_ids().iter().enumerate() {
            for (&id, rank) in ids.0.iter().zip(tree.leaf(leaf)) {
                regions[id as usize] = ranks.region(rank as u32);
            }
        }
        let regions = &*regions;
        let bits = |[a, b]: [u32; 2]| 1_u64 << regions[a as usize] | 1 << regions[b as usize];
        let bits_by_rank = |[a, b]: [u32; 2]| 1_u64 << ranks.region(a) | 1 << ranks.region(b);
        let pairs = &pairs[..live.front()];
        resize_with_headroom(front, pairs.len().div_ceil(SOME));
        workers.fill_blocks("regions", front, TASK, |first, masks| {
            for (mask, some) in masks.iter_mut().zip(pairs[first * SOME..].chunks(SOME)) {
                *mask = some.iter().fold(0, |mask, &pair| mask | bits(pair));
            }
        });
        let all = live.blocks();
        resize_with_headroom(blocks, all.len());
        workers.fill_blocks("regions", blocks, 1, |number, mask| {
            let block = &all[number];
            let all = (0..block.len()).map(|at| block.pair(at));
            mask[0] = if named.ids().is_empty() {
                all.fold(0, |mask, pair| mask | bits(pair))
            } else {
                all.fold(0, |mask, pair| mask | bits_by_rank(pair))
            };
        });
        resize_with_headroom(sure, all.len());
        let mut begin = live.front();
        for (slot, block) in sure.iter_mut().zip(all) {
            *slot = begin;
            begin += block.sure().len();
        }
    }

    fn look_for<const D: usize>(
        &mut self,
        Listed { pairs, live, ranks, tree }: Listed<'_, D>,
        new: &[u32],
        (isa, workers): (Isa, Workers<'_>),
    ) {
        let Self { regions, front, blocks, in_front, in_blocks, .. } = self;
        let (regions, front, blocks, all) = (&*regions, &*front, &*blocks, live.blocks());
        let of_ranks = Regions::of(tree);
        let bit_of = |id: u32| 1_u64 << regions[id as usize];
        let pairs = &pairs[..live.front()];
        // The names of those of some regions, some at a time.
        let of_mask = |mask: u64, name: &dyn Fn(u32) -> u32, look: &mut dyn FnMut(&[u32])| {
            let (mut names, mut count) = ([0; NAMES], 0);
            for &id in new.iter().filter(|&&id| mask & bit_of(id) != 0) {
                names[count] = name(id);
                count += 1;
                if count == NAMES {
                    look(&names);
                    count = 0;
                }
            }
            if count > 0 {
                look(&names[..count]);
            }
        };
        let found = Mutex::new(core::mem::take(in_front));
        workers.run("front", front.len().div_ceil(TASK), |task| {
            for number in task * TASK..front.len().min((task + 1) * TASK) {
                let first = number * SOME;
                let pairs = &pairs[first..pairs.len().min(first + SOME)];
                of_mask(front[number], &|id| id, &mut |names| {
                    run(isa, Find { pairs, names, note: |at| lock(&found).push((first + at) as u32) });
                });
            }
        });
        *in_front = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        let found = Mutex::new(core::mem::take(in_blocks));
        workers.run("blocks", all.len(), |number| {
            let (block, first) = (&all[number], number * BLOCK);
            let name = |id: u32| {
                let ids = ranks.ids();
                block.name_of(if ids.is_empty() { id } else { of_ranks.rank((id, regions[id as usize]), ids) })
            };
            of_mask(blocks[number], &name, &mut |names| {
                let pairs = block.names();
                run(isa, Find { pairs, names, note: |at| lock(&found).push((first + at) as u32) });
            });
        });
        *in_blocks = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Two of a pair may both be new, or become so one after the other.
        for found in [in_front, in_blocks] {
            found.sort_unstable();
            found.dedup();
        }
    }
}

fn lock(found: &Mutex<Vec<u32>>) -> std::sync::MutexGuard<'_, Vec<u32>> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which ranks of a tree are a region.
#[derive(Clone, Copy)]
struct Regions {
    len: u64,
}

impl Regions {
    fn of<const D: usize>(tree: &LinearTree<D>) -> Self {
        Self { len: tree.len() as u64 }
    }

    #[inline(always)]
    fn region(self, rank: u32) -> u8 {
        (u64::from(rank) * REGIONS as u64 / self.len) as u8
    }

    /// The rank of a body of a region.
    fn rank(self, (id, region): (u32, u8), ids: &[u32]) -> u32 {
        let begin = |region: u64| (region * self.len).div_ceil(REGIONS as u64) as usize;
        let [first, end] = [begin(region.into()), begin(u64::from(region) + 1)];
        let within = ids[first..end].iter().position(|&other| other == id);
        (first + within.unwrap_or_default()) as u32
    }
}

/// Calls `note` with those pairs that have one of these names.
struct Find<'a, N> {
    pairs: &'a [[u32; 2]],
    names: &'a [u32],
    note: N,
}

impl<N: FnMut(usize)> LaneWork for Find<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { pairs, names, mut note } = self;
        let mut note_some = |first: usize, some: &[[u32; 2]]| {
            for (at, pair) in (first..).zip(some) {
                if pair.iter().any(|other| names.contains(other)) {
                    note(at);
                }
            }
        };
        let (some, rest) = pairs.as_chunks::<{ LANES / 2 }>();
        if let &[name] = names {
            for (number, some) in some.iter().enumerate() {
                if some.as_flattened().first_chunk().map_or(0, |ids| L::among_ids(ids, &[name])) != 0 {
                    note_some(number * (LANES / 2), some);
                }
            }
        } else {
            let mut all = [names[0]; NAMES];
            all[..names.len()].copy_from_slice(names);
            for (number, some) in some.iter().enumerate() {
                if some.as_flattened().first_chunk().map_or(0, |ids| L::among_ids(ids, &all)) != 0 {
                    note_some(number * (LANES / 2), some);
                }
            }
        }
        note_some(pairs.len() - rest.len(), rest);
    }
}

//! Where in a list the pairs of some bodies stand.
//!
//! A list has no index of that. What lies together in it lies together in space, too: of some pairs each, and of each block of candidates, is
//! found out in which of 256 regions their bodies are, once somebody strays; what has none in that of a body is not looked through for it.

use std::sync::{Mutex, PoisonError};

use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Isa, LinearTree, Workers};
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::bands::BLOCK;
use crate::coherent::block::Block;
use crate::coherent::live::Live;
use crate::coherent::strays::marks::Marks;
use crate::pairs::ranks::Ranks;

/// Pairs at the front of a list that are looked through together, and so many of those that one task finds the regions of.
const SOME: usize = 256;
const TASK: usize = 64;

/// Regions: as many ranks of the tree each.
const REGIONS: usize = 1 << u8::BITS;

/// A bit for each region.
type Mask = [u64; REGIONS / u64::BITS as usize];

/// Names that pairs are compared with at once.
const NAMES: usize = 4;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The region of each body; of none before somebody strays.
    regions: Vec<u8>,
    /// Those of parts of the front of the list, of which nothing is ever changed, and those of the blocks.
    front: Parts,
    blocks: Parts,
    /// Where in the list the sure pairs of each block begin.
    sure: Vec<usize>,
    /// Places at the front, and candidates of the blocks, of bodies that stray: ascending of those that began to together.
    in_front: Vec<u32>,
    in_blocks: Vec<u32>,
    /// Those of bodies that have just begun to.
    fresh: Vec<u32>,
    /// Where all of their pairs stand in this frame.
    holes: Vec<u32>,
}

/// Parts of a list, by the regions that their bodies are in.
#[derive(Debug, Default)]
struct Parts {
    masks: Vec<Mask>,
    /// Where the parts of each region begin among all, and the end.
    starts: Vec<u32>,
    parts: Vec<u32>,
    /// A part that is to be looked through, for a name.
    asked: Vec<[u32; 2]>,
}

impl Parts {
    fn bytes(&self) -> usize {
        self.masks.capacity() * size_of::<Mask>()
            + (self.starts.capacity() + self.parts.capacity()) * size_of::<u32>()
            + self.asked.capacity() * size_of::<[u32; 2]>()
    }

    /// Lists the parts of each region.
    fn index(&mut self) {
        let Self { masks, starts, parts, .. } = self;
        starts.clear();
        parts.clear();
        for region in 0..REGIONS {
            starts.push(parts.len() as u32);
            let (word, bit) = (region / 64, region % 64);
            let of_region = masks.iter().zip(0..).filter(|(mask, _)| mask[word] >> bit & 1 == 1);
            parts.extend(of_region.map(|(_, part)| part));
        }
        starts.push(parts.len() as u32);
    }

    /// Notes which parts are to be looked through for a name in a region.
    fn ask(&mut self, region: u8, name: u32) {
        let [begin, end] = [0, 1].map(|next| self.starts[usize::from(region) + next] as usize);
        self.asked.extend(self.parts[begin..end].iter().map(|&part| [part, name]));
    }

    /// Calls `look` with each part and some names that it is to be looked through for.
    fn look(&mut self, workers: Workers<'_>, look: impl Fn(usize, &[u32]) + Sync + Send) {
        self.asked.sort_unstable();
        let asked = &*self.asked;
        workers.run("places", asked.len(), |at| {
            let [part, _] = asked[at];
            // The first of a part looks for all.
            if at > 0 && asked[at - 1][0] == part {
                return;
            }
            let of_part = &asked[at..];
            let of_part = &of_part[..of_part.iter().take_while(|[other, _]| *other == part).count()];
            for some in of_part.chunks(NAMES) {
                let mut names = [0; NAMES];
                names.iter_mut().zip(some).for_each(|(slot, &[_, name])| *slot = name);
                look(part as usize, &names[..some.len()]);
            }
        });
        self.asked.clear();
    }
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

/// Who strays, and who has just begun to.
#[derive(Clone, Copy)]
pub(super) struct Who<'a> {
    pub(super) marks: &'a Marks,
    pub(super) new: &'a [u32],
}

impl Who<'_> {
    /// Whether a pair has been found before, by one who has strayed for longer.
    fn is_known(self, pair: [u32; 2]) -> bool {
        pair.iter().any(|id| self.marks.has(*id) && !self.new.contains(id))
    }
}

impl Places {
    pub(super) fn bytes(&self) -> usize {
        self.regions.capacity()
            + self.front.bytes()
            + self.blocks.bytes()
            + self.sure.capacity() * size_of::<usize>()
            + [&self.in_front, &self.in_blocks, &self.fresh, &self.holes].map(Vec::capacity).iter().sum::<usize>()
                * size_of::<u32>()
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
        who: Who<'_>,
        (isa, workers): (Isa, Workers<'_>),
    ) {
        if !who.new.is_empty() {
            if self.regions.is_empty() {
                self.find_regions(listed, workers);
            }
            self.look_for(listed, who, (isa, workers));
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
        let pairs = &pairs[..live.front()];
        resize_with_headroom(&mut front.masks, pairs.len().div_ceil(SOME));
        workers.fill_blocks("regions", &mut front.masks, TASK, |first, masks| {
            for (mask, some) in masks.iter_mut().zip(pairs[first * SOME..].chunks(SOME)) {
                *mask = mask_of(some.as_flattened().iter().map(|&id| regions[id as usize]));
            }
        });
        let all = live.blocks();
        resize_with_headroom(&mut blocks.masks, all.len());
        workers.fill_blocks("regions", &mut blocks.masks, 1, |number, mask| {
            let bodies = (0..all[number].len()).flat_map(|at| all[number].pair(at));
            mask[0] = if named.ids().is_empty() {
                mask_of(bodies.map(|id| regions[id as usize]))
            } else {
                mask_of(bodies.map(|rank| ranks.region(rank)))
            };
        });
        front.index();
        blocks.index();
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
        who: Who<'_>,
        (isa, workers): (Isa, Workers<'_>),
    ) {
        let Self { regions, front, blocks, in_front, in_blocks, fresh, .. } = self;
        let (all, pairs) = (live.blocks(), &pairs[..live.front()]);
        for &id in who.new {
            // Who has come since stands nowhere in the list.
            let Some(&region) = regions.get(id as usize) else { continue };
            front.ask(region, id);
            let ids = ranks.ids();
            let name = if ids.is_empty() { id } else { Regions::of(tree).rank((id, region), ids) };
            blocks.ask(region, Block::name_of(name));
        }
        let found = Mutex::new(core::mem::take(fresh));
        front.look(workers, |part, names| {
            let first = part * SOME;
            let pairs = &pairs[first..pairs.len().min(first + SOME)];
            let note = |at: usize| {
                if !who.is_known(pairs[at]) {
                    lock(&found).push((first + at) as u32);
                }
            };
            run(isa, Find { pairs, names, note });
        });
        take_over(&mut lock(&found), in_front);
        blocks.look(workers, |number, names| {
            let (block, first) = (&all[number], number * BLOCK);
            let note = |at: usize| {
                if !who.is_known(ranks.pair(block.pair(at))) {
                    lock(&found).push((first + at) as u32);
                }
            };
            run(isa, Find { pairs: block.names(), names, note });
        });
        take_over(&mut lock(&found), in_blocks);
        *fresh = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    }
}

/// Adds what has been found, once each: two of a pair may both have been looked for.
fn take_over(fresh: &mut Vec<u32>, all: &mut Vec<u32>) {
    fresh.sort_unstable();
    fresh.dedup();
    all.append(fresh);
}

/// A bit for each of some regions. Those are marked first, since who adds to a bit waits for the last one to be added.
#[inline(always)]
fn mask_of(regions: impl Iterator<Item = u8>) -> Mask {
    let mut marked = [0_u8; REGIONS];
    regions.for_each(|region| marked[usize::from(region)] = 1);
    let mut mask = [0; _];
    for (word, marked) in mask.iter_mut().zip(marked.as_chunks::<64>().0) {
        *word = marked.iter().rev().fold(0, |word, &mark| word << 1 | u64::from(mark));
    }
    mask
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

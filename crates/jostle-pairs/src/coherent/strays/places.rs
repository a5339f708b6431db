//! Where in a list the pairs of some bodies stand.
//!
//! A list has no index of that. What lies together in it lies together in space, too: of some pairs each, and of each block of candidates, is
//! found out in which of 256 regions their bodies are, once somebody strays; what has none in that of a body is not looked through for it.

use std::sync::{Mutex, PoisonError};

use jostle_core::scratch::resize_with_headroom;
use jostle_core::sixteen::Ids;
use jostle_core::{Isa, Workers};
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

/// Names that pairs are compared with at once, and pairs that are found at once.
const NAMES: usize = 4;
const AT_ONCE: usize = 64;

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
pub(in crate::coherent) struct Listed<'a> {
    pub(in crate::coherent) pairs: &'a [[u32; 2]],
    pub(in crate::coherent) live: &'a Live,
    pub(in crate::coherent) ranks: &'a Ranks,
    /// The ids of the tree by which they were found, leaf by leaf, and where the ranks of each begin.
    pub(in crate::coherent) ids: &'a [Ids],
    pub(in crate::coherent) starts: &'a [u32],
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
    pub(super) fn find(&mut self, listed: Listed<'_>, who: Who<'_>, (isa, workers): (Isa, Workers<'_>)) {
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
    fn find_regions(&mut self, listed: Listed<'_>, workers: Workers<'_>) {
        let Self { regions, front, blocks, sure, .. } = self;
        let Listed { pairs, live, ranks: named, ids, starts } = listed;
        let ranks = Regions::of(starts);
        resize_with_headroom(regions, ranks.len as usize);
        for (ids, start) in ids.iter().zip(starts.windows(2)) {
            for (&id, rank) in ids.0.iter().zip(start[0]..start[1]) {
                regions[id as usize] = ranks.region(rank);
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

    fn look_for(
        &mut self,
        Listed { pairs, live, ranks, starts, .. }: Listed<'_>,
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
            let name = if ids.is_empty() { id } else { Regions::of(starts).rank((id, region), ids) };
            blocks.ask(region, Block::name_of(name));
        }
        let found = Mutex::new(core::mem::take(fresh));
        let note = |(pairs, names): (&[[u32; 2]], &[u32]), first: usize, pair_of: &dyn Fn(usize) -> [u32; 2]| {
            let (mut at, mut named) = (0, [0; AT_ONCE]);
            while at < pairs.len() {
                let (next, count) = run(isa, Find { pairs, names, at, named: &mut named });
                at = next;
                let some = named[..count].iter().map(|&at| at as usize).filter(|&at| !who.is_known(pair_of(at)));
                lock(&found).extend(some.map(|at| (first + at) as u32));
            }
        };
        front.look(workers, |part, names| {
            let first = part * SOME;
            let pairs = &pairs[first..pairs.len().min(first + SOME)];
            note((pairs, names), first, &|at| pairs[at]);
        });
        take_over(&mut lock(&found), in_front);
        blocks.look(workers, |number, names| {
            let block = &all[number];
            note((block.names(), names), number * BLOCK, &|at| ranks.pair(block.pair(at)));
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
    /// Of a tree whose leaves begin there.
    fn of(starts: &[u32]) -> Self {
        Self { len: starts.last().copied().unwrap_or_default().into() }
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

/// Finds pairs, from one of them on, that have one of these names, up to so many; where to go on, and how many.
struct Find<'a> {
    pairs: &'a [[u32; 2]],
    names: &'a [u32],
    at: usize,
    named: &'a mut [u32; AT_ONCE],
}

impl LaneWork for Find<'_> {
    type Output = (usize, usize);
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self) -> (usize, usize) {
        let Self { pairs, names, mut at, named } = self;
        let (mut all, mut count) = ([names[0]; NAMES], 0);
        all[..names.len()].copy_from_slice(names);
        let is_one = names.len() == 1;
        while at < pairs.len() && count + LANES / 2 <= AT_ONCE {
            let some = &pairs[at..pairs.len().min(at + LANES / 2)];
            let is_there = match some.as_flattened().first_chunk() {
                Some(ids) if is_one => L::among_ids(ids, &[all[0]]) != 0,
                Some(ids) => L::among_ids(ids, &all) != 0,
                None => true,
            };
            if is_there {
                for (at, pair) in (at..).zip(some) {
                    if pair.iter().any(|other| names.contains(other)) {
                        named[count] = at as u32;
                        count += 1;
                    }
                }
            }
            at += some.len();
        }
        (at, count)
    }
}

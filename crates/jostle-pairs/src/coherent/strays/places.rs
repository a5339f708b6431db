//! Where in a list the pairs of some bodies stand.
//!
//! A list has no index of that. But a search goes through its tree group by group, and finds a pair in the group of its body with the lesser
//! rank: so pairs, and blocks of candidates, are in the order of those groups, and those of a body stand where its own group and those of
//! bodies near it are. Once somebody strays, it is found out in which group some of the pairs were found, and the first of each block.

use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use jostle_core::scratch::{ScratchPool, resize_with_headroom, with_headroom};
use jostle_core::sixteen::Ids;
use jostle_core::tree::LEAF;
use jostle_core::{Isa, Workers};
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::bands::BLOCK;
use crate::coherent::block::Block;
use crate::coherent::live::Live;
use crate::coherent::strays::marks::Marks;
use crate::pairs::ranks::Ranks;

/// Pairs at the front of a list that are looked through together.
const SOME: usize = 256;

/// Leaves that one task looks through for bodies.
const LEAVES: usize = 64;

/// First pairs that one task reads.
const FIRSTS: usize = 256;

/// Pairs that are found at once.
const AT_ONCE: usize = 64;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The first of some pairs at the front, and the first candidate of each block; then the groups in which they were found, sixteen leaves
    /// each. None before somebody strays.
    firsts: Vec<[u32; 2]>,
    groups: Vec<u32>,
    /// How many of them are of the front.
    parts: usize,
    /// Whose groups are looked for, and found.
    asked: Marks,
    group_of: Vec<AtomicU32>,
    /// Where in the list the sure pairs of each block begin.
    sure: Vec<usize>,
    /// Places at the front, and candidates of the blocks, of bodies that stray: ascending of those that began to together.
    in_front: Vec<u32>,
    in_blocks: Vec<u32>,
    looks: ScratchPool<Look>,
    /// Where all of their pairs stand in this frame.
    holes: Vec<u32>,
}

/// What a worker finds.
#[derive(Debug, Default)]
struct Look {
    /// The groups of those that were near one when candidates were found, up to its own.
    near: Vec<u32>,
    in_front: Vec<u32>,
    in_blocks: Vec<u32>,
}

/// A list, and who stands there.
#[derive(Clone, Copy)]
pub(in crate::coherent) struct Listed<'a> {
    pub(in crate::coherent) pairs: &'a [[u32; 2]],
    pub(in crate::coherent) live: &'a Live,
    pub(in crate::coherent) ranks: &'a Ranks,
}

/// The tree by which a list was found: ids leaf by leaf, the first rank of each leaf, and how to visit the leaves that have bodies near one, which
/// may be among them.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) ids: &'a [Ids],
    pub(super) starts: &'a [u32],
    pub(super) near: &'a (dyn Fn(u32, &mut dyn FnMut(usize, &[u32])) + Sync),
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
        let Self { firsts, groups, parts: _, asked, group_of, sure, in_front, in_blocks, looks, holes } = self;
        let of = |lists: &[&Vec<u32>]| lists.iter().map(|list| list.capacity() * size_of::<u32>()).sum::<usize>();
        of(&[groups, in_front, in_blocks, holes])
            + firsts.capacity() * size_of::<[u32; 2]>()
            + asked.bytes()
            + group_of.capacity() * size_of::<AtomicU32>()
            + sure.capacity() * size_of::<usize>()
            + looks.bytes(|Look { near, in_front, in_blocks }| of(&[near, in_front, in_blocks]))
    }

    /// Nobody strays any more.
    pub(super) fn clear(&mut self) {
        self.firsts.clear();
        self.in_front.clear();
        self.in_blocks.clear();
    }

    pub(super) fn holes(&self) -> &[u32] {
        &self.holes
    }

    /// Finds where the pairs of all bodies stand that stray, some of which are new.
    pub(super) fn find(
        &mut self,
        listed: Listed<'_>,
        found: Found<'_>,
        who: Who<'_>,
        (isa, workers): (Isa, Workers<'_>),
    ) {
        if !who.new.is_empty() {
            if self.firsts.is_empty() {
                self.find_groups(listed, found, workers);
            }
            self.look_for(listed, found, who, (isa, workers));
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

    /// Finds the groups by which the list is looked through.
    fn find_groups(&mut self, listed: Listed<'_>, found: Found<'_>, workers: Workers<'_>) {
        let Self { firsts, groups, parts, asked, group_of, sure, .. } = self;
        let (front, all) = (&listed.pairs[..listed.live.front()], listed.live.blocks());
        *parts = front.len().div_ceil(SOME);
        resize_with_headroom(firsts, *parts + all.len());
        let (of_front, of_blocks) = firsts.split_at_mut(*parts);
        workers.fill_blocks("firsts", of_front, FIRSTS, |first, slots| {
            slots.iter_mut().zip(front[first * SOME..].iter().step_by(SOME)).for_each(|(slot, &pair)| *slot = pair);
        });
        of_blocks.iter_mut().zip(all).for_each(|(slot, block)| *slot = listed.ranks.pair(block.first()));
        asked.clear();
        firsts.as_flattened().iter().for_each(|&id| asked.set(id));
        let Found { ids, starts, .. } = found;
        let len = starts.last().map_or(0, |&len| len as usize);
        if group_of.len() < len {
            group_of.resize_with(with_headroom(len), AtomicU32::default);
        }
        let (asked, group_of) = (&*asked, &*group_of);
        workers.run_in_shares("groups", (ids.len().div_ceil(LEAVES), Some(len)), |tasks| {
            for leaf in tasks.in_turn().flat_map(|task| task * LEAVES..ids.len().min((task + 1) * LEAVES)) {
                let of_leaf = &ids[leaf].0[..(starts[leaf + 1] - starts[leaf]) as usize];
                for &id in of_leaf.iter().filter(|&&id| asked.has(id)) {
                    group_of[id as usize].store((leaf / LEAF) as u32, Ordering::Relaxed);
                }
            }
        });
        resize_with_headroom(groups, firsts.len());
        workers.fill_blocks("groups", groups, FIRSTS, |first, slots| {
            for (slot, &[a, b]) in slots.iter_mut().zip(&firsts[first..]) {
                let [a, b] = [a, b].map(|id| group_of[id as usize].load(Ordering::Relaxed));
                *slot = a.min(b);
            }
        });
        resize_with_headroom(sure, all.len());
        let mut begin = front.len();
        for (slot, block) in sure.iter_mut().zip(all) {
            *slot = begin;
            begin += block.sure().len();
        }
    }

    /// Looks for those that have just begun to stray.
    fn look_for(&mut self, listed: Listed<'_>, found: Found<'_>, who: Who<'_>, (isa, workers): (Isa, Workers<'_>)) {
        let Self { groups, parts, in_front, in_blocks, looks, .. } = self;
        looks.prepare(workers.count(), |_| ());
        let within = Within { listed, found, who, isa, groups: groups.split_at(*parts).into() };
        workers.run_in_shares("places", (who.new.len(), None), |tasks| {
            looks.with(|look| tasks.in_turn().for_each(|number| within.look_for(who.new[number], look)));
        });
        let ends = [in_front.len(), in_blocks.len()];
        looks.each(|look| {
            in_front.append(&mut look.in_front);
            in_blocks.append(&mut look.in_blocks);
        });
        sort_from(in_front, ends[0]);
        sort_from(in_blocks, ends[1]);
    }
}

/// Sorts what a list has from a place on, once each: two of a pair may both have been looked for.
fn sort_from(list: &mut Vec<u32>, first: usize) {
    list[first..].sort_unstable();
    let mut end = first;
    for at in first..list.len() {
        if at == first || list[at] != list[end - 1] {
            list[end] = list[at];
            end += 1;
        }
    }
    list.truncate(end);
}

/// Where is looked for bodies, and for whom.
struct Within<'a> {
    listed: Listed<'a>,
    found: Found<'a>,
    who: Who<'a>,
    isa: Isa,
    /// Of parts of the front, and of the blocks.
    groups: [&'a [u32]; 2],
}

impl Within<'_> {
    /// Looks for the pairs of a body.
    fn look_for(&self, id: u32, Look { near, in_front, in_blocks }: &mut Look) {
        let Self { listed: Listed { pairs, live, ranks }, found, groups: [of_front, of_blocks], .. } = *self;
        let mut own = None;
        near.clear();
        (found.near)(id, &mut |leaf, ids| {
            near.push((leaf / LEAF) as u32);
            if ids.contains(&id) {
                own = found.ids[leaf].0.iter().position(|&other| other == id).map(|at| (leaf, at));
            }
        });
        // Who has come since stands nowhere in the list.
        let Some((leaf, at)) = own else { return };
        let group = (leaf / LEAF) as u32;
        near.iter_mut().for_each(|other| *other = group.min(*other));
        near.dedup();
        let front = &pairs[..live.front()];
        for parts in parts_of(of_front, near) {
            let first = parts.start * SOME;
            let some = &front[first..front.len().min(parts.end * SOME)];
            self.note((some, id), |at| some[at], first, in_front);
        }
        let name = Block::name_of(if ranks.ids().is_empty() { id } else { found.starts[leaf] + at as u32 });
        for number in parts_of(of_blocks, near).flatten() {
            let block = &live.blocks()[number];
            self.note((block.names(), name), |at| ranks.pair(block.pair(at)), number * BLOCK, in_blocks);
        }
    }

    /// Notes which of some pairs, the first of which has such a number, have a name, if they have not been found before.
    fn note(
        &self,
        (pairs, name): (&[[u32; 2]], u32),
        pair_of: impl Fn(usize) -> [u32; 2],
        first: usize,
        out: &mut Vec<u32>,
    ) {
        let (mut at, mut named) = (0, [0; AT_ONCE]);
        while at < pairs.len() {
            let (next, count) = run(self.isa, Find { pairs, name, at, named: &mut named });
            at = next;
            let some = named[..count].iter().map(|&at| at as usize).filter(|&at| !self.who.is_known(pair_of(at)));
            out.extend(some.map(|at| (first + at) as u32));
        }
    }
}

/// Which parts, by the group in which the first pair of each was found, may have pairs of some groups: each once, all ascending.
fn parts_of(firsts: &[u32], groups: &[u32]) -> impl Iterator<Item = Range<usize>> {
    let ranges = groups.iter().scan(0, |end, &group| {
        // A part begins where the one before ends, which may be within a group.
        let begin = firsts.partition_point(|&first| first < group).saturating_sub(1).max(*end);
        *end = firsts.partition_point(|&first| first <= group).max(begin);
        Some(begin..*end)
    });
    ranges.filter(|range| !range.is_empty())
}

/// Finds pairs, from one of them on, that have a name, up to so many; where to go on, and how many.
struct Find<'a> {
    pairs: &'a [[u32; 2]],
    name: u32,
    at: usize,
    named: &'a mut [u32; AT_ONCE],
}

impl LaneWork for Find<'_> {
    type Output = (usize, usize);
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self) -> (usize, usize) {
        let Self { pairs, name, mut at, named } = self;
        let mut count = 0;
        while at < pairs.len() && count + LANES / 2 <= AT_ONCE {
            let some = &pairs[at..pairs.len().min(at + LANES / 2)];
            if some.as_flattened().first_chunk().is_none_or(|ids| L::among_ids(ids, &[name]) != 0) {
                for (at, pair) in (at..).zip(some) {
                    if pair.contains(&name) {
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

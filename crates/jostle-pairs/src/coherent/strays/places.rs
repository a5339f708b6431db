//! Where in a list the pairs of some bodies stand.
//!
//! A list has no index of that. But a search goes through its tree group by group, and finds a pair in the group of its body with the lesser
//! rank: so pairs, and blocks of candidates, are in the order of those groups, and those of a body stand where its own group and those of
//! bodies near it are. Once somebody strays, it is found out in which group each body is.

use core::ops::Range;

use jostle_core::scratch::{ScratchPool, resize_with_headroom};
use jostle_core::sixteen::Ids;
use jostle_core::tree::LEAF;
use jostle_core::{Isa, Workers};
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::bands::BLOCK;
use crate::coherent::block::Block;
use crate::coherent::live::Live;
use crate::coherent::strays::marks::Marks;
use crate::pairs::ranks::Ranks;

/// Bodies whose groups one task finds out, at least: each looks through all leaves.
const BODIES: usize = 1 << 15;

/// Pairs at the front of a list that are looked through together.
const SOME: usize = 256;

/// Pairs that are found at once.
const AT_ONCE: usize = 64;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The group of each body; of none before somebody strays. A group is sixteen leaves.
    groups: Vec<u32>,
    /// The group in which the first of some pairs at the front was found, and the first candidate of each block.
    front: Vec<u32>,
    blocks: Vec<u32>,
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
    /// Who was near one when candidates were found, then the groups of those.
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

/// The tree by which a list was found: ids leaf by leaf, and who is near one there, named by its leaf and its place in that.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) ids: &'a [Ids],
    pub(super) starts: &'a [u32],
    pub(super) near: &'a (dyn Fn(usize, usize, &mut Vec<u32>) + Sync),
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
        let Self { groups, front, blocks, sure, in_front, in_blocks, looks, holes } = self;
        let of = |lists: &[&Vec<u32>]| lists.iter().map(|list| list.capacity() * size_of::<u32>()).sum::<usize>();
        of(&[groups, front, blocks, in_front, in_blocks, holes])
            + sure.capacity() * size_of::<usize>()
            + looks.bytes(|Look { near, in_front, in_blocks }| of(&[near, in_front, in_blocks]))
    }

    /// Nobody strays any more.
    pub(super) fn clear(&mut self) {
        self.groups.clear();
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
            if self.groups.is_empty() {
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

    /// Finds the groups of all bodies, and of what the list is looked through by.
    fn find_groups(&mut self, listed: Listed<'_>, found: Found<'_>, workers: Workers<'_>) {
        let Self { groups, front, blocks, sure, .. } = self;
        let Found { ids, starts, .. } = found;
        let len = starts.last().map_or(0, |&len| len as usize);
        resize_with_headroom(groups, len);
        workers.fill_blocks("groups", groups, BODIES.max(len.div_ceil(workers.count())), |first, groups| {
            for (leaf, (ids, start)) in ids.iter().zip(starts.windows(2)).enumerate() {
                for &id in &ids.0[..(start[1] - start[0]) as usize] {
                    if let Some(group) = groups.get_mut((id as usize).wrapping_sub(first)) {
                        *group = (leaf / LEAF) as u32;
                    }
                }
            }
        });
        let (groups, all) = (&*groups, listed.live.blocks());
        front.clear();
        front.extend(listed.pairs[..listed.live.front()].iter().step_by(SOME).map(|&pair| group_of(groups, pair)));
        blocks.clear();
        blocks.extend(all.iter().map(|block| group_of(groups, listed.ranks.pair(block.first()))));
        resize_with_headroom(sure, all.len());
        let mut begin = listed.live.front();
        for (slot, block) in sure.iter_mut().zip(all) {
            *slot = begin;
            begin += block.sure().len();
        }
    }

    /// Looks for those that have just begun to stray.
    fn look_for(
        &mut self,
        listed: Listed<'_>,
        found: Found<'_>,
        who: Who<'_>,
        (isa, workers): (Isa, Workers<'_>),
    ) {
        let Self { groups, front, blocks, in_front, in_blocks, looks, .. } = self;
        looks.prepare(workers.count(), |_| ());
        let within = Within { listed, found, who, isa, groups, front, blocks };
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
    groups: &'a [u32],
    front: &'a [u32],
    blocks: &'a [u32],
}

impl Within<'_> {
    /// Looks for the pairs of a body.
    fn look_for(&self, id: u32, Look { near, in_front, in_blocks }: &mut Look) {
        let Self { listed: Listed { pairs, live, ranks }, found, groups, .. } = *self;
        // Who has come since stands nowhere in the list.
        let Some((group, leaf, at)) = self.place_in_tree(id) else { return };
        near.clear();
        (found.near)(leaf, at, near);
        near.iter_mut().for_each(|other| *other = groups[*other as usize].min(group));
        near.sort_unstable();
        near.dedup();
        let front = &pairs[..live.front()];
        for parts in parts_of(self.front, near) {
            let first = parts.start * SOME;
            let some = &front[first..front.len().min(parts.end * SOME)];
            self.note((some, id), |at| some[at], first, in_front);
        }
        let name = Block::name_of(if ranks.ids().is_empty() { id } else { found.starts[leaf] + at as u32 });
        for number in parts_of(self.blocks, near).flatten() {
            let block = &live.blocks()[number];
            self.note((block.names(), name), |at| ranks.pair(block.pair(at)), number * BLOCK, in_blocks);
        }
    }

    /// The group of a body in the tree, its leaf, and its place in that; of none that was not there.
    fn place_in_tree(&self, id: u32) -> Option<(u32, usize, usize)> {
        let Found { ids, starts, .. } = self.found;
        let group = *self.groups.get(id as usize)?;
        let first = group as usize * LEAF;
        (first..ids.len().min(first + LEAF)).find_map(|leaf| {
            let len = (starts[leaf + 1] - starts[leaf]) as usize;
            let at = ids[leaf].0[..len].iter().position(|&other| other == id)?;
            Some((group, leaf, at))
        })
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

/// The group in which a pair was found.
#[inline(always)]
fn group_of(groups: &[u32], [a, b]: [u32; 2]) -> u32 {
    groups[a as usize].min(groups[b as usize])
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

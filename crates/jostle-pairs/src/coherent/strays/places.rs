//! Where in a list the pairs of some bodies stand.
//!
//! A list has no index of that. But a search goes through its tree group by group, and finds a pair in the group of its body with the lesser
//! rank: so pairs, and blocks of candidates, are in the order of those groups, and those of a body stand where its own group and those of
//! bodies near it are. Once somebody strays, it is found out in which group each body is.

use std::sync::{Mutex, PoisonError};

use jostle_core::scratch::resize_with_headroom;
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

/// Names that pairs are compared with at once, and pairs that are found at once.
const NAMES: usize = 4;
const AT_ONCE: usize = 64;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The group of each body; of none before somebody strays. A group is sixteen leaves.
    groups: Vec<u32>,
    /// The group in which the first candidate of each block was found.
    firsts: Vec<u32>,
    /// Where in the list the sure pairs of each block begin.
    sure: Vec<usize>,
    /// Groups whose pairs at the front, and blocks that are to be looked through, for a name.
    asked: [Vec<[u32; 2]>; 2],
    /// Who was near one when candidates were found, then the groups of those.
    near: Vec<u32>,
    /// Places at the front, and candidates of the blocks, of bodies that stray: ascending of those that began to together.
    in_front: Vec<u32>,
    in_blocks: Vec<u32>,
    /// Those of bodies that have just begun to.
    fresh: Vec<u32>,
    /// Where all of their pairs stand in this frame.
    holes: Vec<u32>,
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
    pub(super) near: &'a dyn Fn(usize, usize, &mut Vec<u32>),
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
        let Self { groups, firsts, sure, asked, near, in_front, in_blocks, fresh, holes } = self;
        let ids = [groups, firsts, near, in_front, in_blocks, fresh, holes];
        ids.map(Vec::capacity).iter().sum::<usize>() * size_of::<u32>()
            + sure.capacity() * size_of::<usize>()
            + asked.each_ref().map(Vec::capacity).iter().sum::<usize>() * size_of::<[u32; 2]>()
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
            self.ask(listed.ranks, found, who.new);
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

    /// Finds the groups of all bodies, and of the first candidates of all blocks.
    fn find_groups(&mut self, listed: Listed<'_>, found: Found<'_>, workers: Workers<'_>) {
        let Self { groups, firsts, sure, .. } = self;
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
        firsts.clear();
        firsts.extend(all.iter().map(|block| group_of(groups, listed.ranks.pair(block.first()))));
        resize_with_headroom(sure, all.len());
        let mut begin = listed.live.front();
        for (slot, block) in sure.iter_mut().zip(all) {
            *slot = begin;
            begin += block.sure().len();
        }
    }

    /// Notes where those are to be looked for that have just begun to stray.
    fn ask(&mut self, ranks: &Ranks, found: Found<'_>, new: &[u32]) {
        let Self { groups, firsts, near, asked: [front, blocks], .. } = self;
        let Found { ids, starts, near: who_is_near } = found;
        for &id in new {
            // Who has come since stands nowhere in the list.
            let Some(&group) = groups.get(id as usize) else { continue };
            let leaves = group as usize * LEAF..ids.len().min((group as usize + 1) * LEAF);
            let Some((leaf, at)) = leaves.into_iter().find_map(|leaf| {
                let len = (starts[leaf + 1] - starts[leaf]) as usize;
                ids[leaf].0[..len].iter().position(|&other| other == id).map(|at| (leaf, at))
            }) else {
                continue;
            };
            near.clear();
            who_is_near(leaf, at, near);
            near.iter_mut().for_each(|other| *other = groups[*other as usize].min(group));
            near.sort_unstable();
            near.dedup();
            front.extend(near.iter().map(|&group| [group, id]));
            let name = Block::name_of(if ranks.ids().is_empty() { id } else { starts[leaf] + at as u32 });
            let mut next = 0;
            for &group in &*near {
                // A block begins where the one before ends, which may be within a group.
                let begin = firsts.partition_point(|&first| first < group).saturating_sub(1).max(next);
                next = firsts.partition_point(|&first| first <= group).max(next);
                blocks.extend((begin..next).map(|block| [block as u32, name]));
            }
        }
    }

    fn look_for(&mut self, listed: Listed<'_>, who: Who<'_>, (isa, workers): (Isa, Workers<'_>)) {
        let Self { groups, asked: [of_front, of_blocks], in_front, in_blocks, fresh, .. } = self;
        let Listed { pairs, live, ranks } = listed;
        let (groups, all, pairs) = (&*groups, live.blocks(), &pairs[..live.front()]);
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
        look(of_front, workers, |group, names| {
            let first = pairs.partition_point(|&pair| group_of(groups, pair) < group);
            let len = pairs[first..].partition_point(|&pair| group_of(groups, pair) == group);
            let pairs = &pairs[first..first + len];
            note((pairs, names), first, &|at| pairs[at]);
        });
        take_over(&mut lock(&found), in_front);
        look(of_blocks, workers, |number, names| {
            let (block, first) = (&all[number as usize], number as usize * BLOCK);
            note((block.names(), names), first, &|at| ranks.pair(block.pair(at)));
        });
        take_over(&mut lock(&found), in_blocks);
        *fresh = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    }
}

/// The group in which a pair was found.
#[inline(always)]
fn group_of(groups: &[u32], [a, b]: [u32; 2]) -> u32 {
    groups[a as usize].min(groups[b as usize])
}

/// Calls `look` with each part that is asked for, and some names that it is to be looked through for; nothing is asked for any more.
fn look(asked: &mut Vec<[u32; 2]>, workers: Workers<'_>, look: impl Fn(u32, &[u32]) + Sync + Send) {
    asked.sort_unstable();
    let all = &*asked;
    workers.run("places", all.len(), |at| {
        let [part, _] = all[at];
        // The first of a part looks for all.
        if at > 0 && all[at - 1][0] == part {
            return;
        }
        let of_part = &all[at..];
        let of_part = &of_part[..of_part.iter().take_while(|[other, _]| *other == part).count()];
        for some in of_part.chunks(NAMES) {
            let mut names = [0; NAMES];
            names.iter_mut().zip(some).for_each(|(slot, &[_, name])| *slot = name);
            look(part, &names[..some.len()]);
        }
    });
    asked.clear();
}

/// Adds what has been found, once each: two of a pair may both have been looked for.
fn take_over(fresh: &mut Vec<u32>, all: &mut Vec<u32>) {
    fresh.sort_unstable();
    fresh.dedup();
    all.append(fresh);
}

fn lock(found: &Mutex<Vec<u32>>) -> std::sync::MutexGuard<'_, Vec<u32>> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
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

//! Where in a list the pairs of some bodies stand.
//!
//! A list has no index of that. But it is known of its parts in which groups of the search they were found (`groups`): the pairs of a body stand in
//! those of its own group, and of groups before it that have bodies near it.

use core::iter::once;

use jostle_core::scratch::{ScratchPool, resize_with_headroom};
use jostle_core::{Isa, Workers};
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::bands::BLOCK;
use crate::coherent::block::Block;
use crate::coherent::strays::groups::{Groups, SOME, group_of_leaf};
use crate::coherent::strays::listed::{FoundBy, Listed};
use crate::coherent::strays::marks::Marks;

/// Candidates that one task looks at.
const HOLES: usize = 256;

/// The place of a candidate that does not touch.
const NOWHERE: u32 = u32::MAX;

/// Pairs that are found at once.
const AT_ONCE: usize = 64;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Of none before somebody strays.
    groups: Groups,
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

/// Who strays, and who has just begun to, ascending.
#[derive(Clone, Copy)]
pub(super) struct Who<'a> {
    pub(super) marks: &'a Marks,
    pub(super) new: &'a [u32],
}

impl Who<'_> {
    /// Whether a pair has been found before, by one who has strayed for longer.
    fn is_known(self, pair: [u32; 2]) -> bool {
        pair.iter().any(|&id| self.marks.has(id) && self.new.binary_search(&id).is_err())
    }
}

impl Places {
    pub(super) fn bytes(&self) -> usize {
        let Self { groups, in_front, in_blocks, looks, holes } = self;
        let of = |lists: &[&Vec<u32>]| lists.iter().map(|list| list.capacity() * size_of::<u32>()).sum::<usize>();
        groups.bytes()
            + of(&[in_front, in_blocks, holes])
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
        by: FoundBy<'_>,
        who: Who<'_>,
        (isa, workers): (Isa, Workers<'_>),
    ) {
        if !who.new.is_empty() {
            if self.groups.is_empty() {
                self.groups.find(listed, by, workers);
            }
            self.look_for(listed, by, who, (isa, workers));
        }
        self.find_holes(listed, workers);
    }

    /// Finds where the pairs stand in this frame.
    fn find_holes(&mut self, listed: Listed<'_>, workers: Workers<'_>) {
        let Self { in_front, in_blocks, holes, .. } = self;
        let blocks = listed.live.blocks();
        resize_with_headroom(holes, in_front.len() + in_blocks.len());
        let (of_front, of_blocks) = holes.split_at_mut(in_front.len());
        of_front.copy_from_slice(in_front);
        workers.fill_blocks("holes", of_blocks, HOLES, |first, slots| {
            for (slot, &candidate) in slots.iter_mut().zip(&in_blocks[first..]) {
                let (number, at) = (candidate as usize / BLOCK, candidate as usize % BLOCK);
                *slot = if blocks[number].touches_now(at) { listed.live.place_of(candidate) as u32 } else { NOWHERE };
            }
        });
        holes.retain(|&place| place != NOWHERE);
    }

    /// Looks for those that have just begun to stray.
    fn look_for(&mut self, listed: Listed<'_>, by: FoundBy<'_>, who: Who<'_>, (isa, workers): (Isa, Workers<'_>)) {
        let Self { groups, in_front, in_blocks, looks, .. } = self;
        looks.prepare(workers.count(), |_| ());
        let within = Within { listed, by, who, isa, groups };
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
    by: FoundBy<'a>,
    who: Who<'a>,
    isa: Isa,
    groups: &'a Groups,
}

impl Within<'_> {
    /// Looks for the pairs of a body, and of its images.
    fn look_for(&self, id: u32, look: &mut Look) {
        for name in once(id).chain((self.by.images_of)(id)) {
            self.look_for_named(id, name, look);
        }
    }

    /// Looks for those of a body in which it is called so.
    fn look_for_named(&self, id: u32, called: u32, Look { near, in_front, in_blocks }: &mut Look) {
        let Self { listed: Listed { pairs, live, names }, by, groups, .. } = *self;
        let mut own = None;
        near.clear();
        (by.near)(called, &mut |leaf, ids| {
            near.push(group_of_leaf(leaf));
            if ids.contains(&called) {
                own = by.ids[leaf].0.iter().position(|&other| other == called).map(|at| (leaf, at));
            }
        });
        // Who has come since stands nowhere in the list.
        let Some((leaf, at)) = own else { return };
        near.iter_mut().for_each(|group| *group = group_of_leaf(leaf).min(*group));
        near.dedup();
        let front = &pairs[..live.front()];
        for parts in groups.parts_of_front(near) {
            let first = parts.start * SOME;
            let some = &front[first..front.len().min(parts.end * SOME)];
            self.note((some, id), |at| some[at], first, in_front);
        }
        let name = Block::name_of(if names.ids.is_empty() { called } else { by.starts[leaf] + at as u32 });
        for number in groups.blocks(near) {
            let block = &live.blocks()[number];
            self.note((block.names(), name), |at| names.pair(block.pair(at)), number * BLOCK, in_blocks);
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
            if some.as_flattened().first_chunk().is_none_or(|ids| L::same_ids(ids, name) != 0) {
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

//! Where in a list the pairs of some bodies stand.
//!
//! A list has no index for that. But it is known of its parts in which groups of the search they were found (`groups`).
//! Within a set, the pairs of a body stand in the parts of its own group, and of groups before it that have bodies near
//! it. Of two sets, they stand in those of its own group alone, if the search went through the tree of its set, or else
//! in those of all groups that have bodies near it.

use jostle_core::axes::Both;
use jostle_core::scratch::{ScratchPool, resize_with_headroom};
use jostle_core::{Isa, Workers};
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::bands::BLOCK;
use crate::coherent::block::Block;
use crate::coherent::blocks::Meeting;
use crate::coherent::marks::Marks;
use crate::coherent::numbers::{Member, Numbers};
use crate::coherent::strays::found_by::{FoundBy, ListView, names};
use crate::coherent::strays::groups::{Finding, Groups, SOME, group_of_leaf};

/// Candidates that one task looks at.
const HOLES: usize = 256;

/// The place of a candidate that does not touch.
const NOWHERE: u32 = u32::MAX;

/// Pairs that are found at once.
const AT_ONCE: usize = 64;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// The groups for each two sets that meet, and whether they are known: they are not before a body strays.
    groups: Vec<Groups>,
    are_known: bool,
    finding: Finding,
    /// Where pairs of stray bodies were listed at the front, and their candidates in the blocks: ascending among bodies
    /// that began to stray together.
    in_front: Vec<u32>,
    in_blocks: Vec<u32>,
    looks: ScratchPool<Look>,
    /// Where all these pairs stand in this frame; where there are many sets, ascending.
    holes: Vec<u32>,
}

/// What a worker finds.
#[derive(Debug, Default)]
struct Look {
    /// The groups in which pairs of a body may have been found.
    near: Vec<u32>,
    in_front: Vec<u32>,
    in_blocks: Vec<u32>,
}

/// The bodies that stray, and those that have just begun to, ascending, by numbers.
#[derive(Clone, Copy)]
pub(super) struct Who<'a> {
    pub(super) numbers: &'a Numbers,
    pub(super) marks: &'a Marks,
    pub(super) new: &'a [u32],
}

impl Who<'_> {
    /// Whether a pair has been found before, by a body that has strayed for longer.
    fn is_known(self, firsts: [u32; 2], [a, b]: [u32; 2]) -> bool {
        let numbers = [firsts[0] + a, firsts[1] + b];
        numbers.iter().any(|&number| self.marks.has(number) && self.new.binary_search(&number).is_err())
    }
}

impl Places {
    pub(super) fn bytes(&self) -> usize {
        let Self { groups, finding, in_front, in_blocks, looks, holes, .. } = self;
        let of = |lists: &[&Vec<u32>]| lists.iter().map(|list| list.capacity() * size_of::<u32>()).sum::<usize>();
        groups.iter().map(Groups::bytes).sum::<usize>()
            + groups.capacity() * size_of::<Groups>()
            + finding.bytes()
            + of(&[in_front, in_blocks, holes])
            + looks.bytes(|Look { near, in_front, in_blocks }| of(&[near, in_front, in_blocks]))
    }

    /// Notes that no body strays any more.
    pub(super) fn clear(&mut self) {
        self.are_known = false;
        self.in_front.clear();
        self.in_blocks.clear();
    }

    pub(super) fn holes(&self) -> &[u32] {
        &self.holes
    }

    /// Finds where the pairs of all stray bodies stand; some of these bodies are new.
    pub(super) fn find(
        &mut self,
        listed: ListView<'_>,
        by: &dyn FoundBy,
        who: Who<'_>,
        (isa, workers): (Isa, Workers<'_>),
    ) {
        if !who.new.is_empty() {
            if !self.are_known {
                let meetings = listed.live.meetings().all();
                self.groups.resize_with(meetings.len().max(self.groups.len()), Groups::default);
                for (groups, &meeting) in self.groups.iter_mut().zip(meetings) {
                    groups.find(&mut self.finding, (listed, meeting, by), workers);
                }
                self.are_known = true;
            }
            self.look_for(listed, by, who, (isa, workers));
        }
        self.find_holes(listed, workers);
    }

    /// Finds where the pairs stand in this frame.
    fn find_holes(&mut self, listed: ListView<'_>, workers: Workers<'_>) {
        let Self { in_front, in_blocks, holes, .. } = self;
        let (live, blocks) = (listed.live, listed.live.blocks());
        resize_with_headroom(holes, in_front.len() + in_blocks.len());
        let (of_front, of_blocks) = holes.split_at_mut(in_front.len());
        of_front.iter_mut().zip(&*in_front).for_each(|(slot, &at)| *slot = live.front_place(at) as u32);
        workers.fill_blocks("holes", of_blocks, HOLES, |first, slots| {
            for (slot, &candidate) in slots.iter_mut().zip(&in_blocks[first..]) {
                let (number, at) = (candidate as usize / BLOCK, candidate as usize % BLOCK);
                *slot = if blocks[number].touches_now(at) { live.place_of(candidate) as u32 } else { NOWHERE };
            }
        });
        holes.retain(|&place| place != NOWHERE);
        if live.meetings().all().len() > 1 {
            holes.sort_unstable();
        }
    }

    /// Looks for the pairs of bodies that have just begun to stray.
    fn look_for(&mut self, listed: ListView<'_>, by: &dyn FoundBy, who: Who<'_>, (isa, workers): (Isa, Workers<'_>)) {
        let Self { groups, in_front, in_blocks, looks, .. } = self;
        looks.prepare(workers.count(), |_| ());
        let within = Within { listed, by, who, isa, groups };
        workers.run_in_shares("places", (who.new.len(), None), |tasks| {
            looks.with(|look| {
                tasks.in_turn().for_each(|number| within.look_for(who.numbers.member(who.new[number]), look));
            });
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

/// Sorts what a list has from a place on, and drops duplicates: both bodies of a pair may have been looked for.
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

/// Where pairs of bodies are looked for, and of which bodies.
struct Within<'w, 'l> {
    listed: ListView<'l>,
    by: &'w dyn FoundBy,
    who: Who<'w>,
    isa: Isa,
    groups: &'w [Groups],
}

/// A body that is looked for among the pairs of two sets: by its name, in the places of a pair that are of its set.
#[derive(Clone, Copy)]
struct Sought<'a> {
    meeting: &'a Meeting,
    body: Member,
    called: u32,
    in_place: [bool; 2],
}

impl Within<'_, '_> {
    /// Looks for the pairs of a body, and of its images.
    fn look_for(&self, body: Member, look: &mut Look) {
        for meeting in self.listed.live.meetings().all() {
            let in_place = meeting.sets.both(|set| set == body.set);
            if in_place == [false; 2] {
                continue;
            }
            for called in names(self.by, body, in_place[1]) {
                self.look_for_named(Sought { meeting, body, called, in_place }, look);
            }
        }
    }

    /// Looks for the pairs in which the body has this name.
    fn look_for_named(&self, sought: Sought<'_>, Look { near, in_front, in_blocks }: &mut Look) {
        let Self { listed: ListView { pairs, live, names }, by, groups, .. } = *self;
        let Sought { meeting: &Meeting { sets, number: meeting, .. }, body: Member { set, id }, called, in_place } =
            sought;
        let query = by.query_set(sets);
        let (ids, starts) = by.leaves(query);
        let (is_query, mut own) = (query == set, None);
        near.clear();
        by.visit_near(query, Member { set, id: called }, &mut |leaf, some| {
            near.push(group_of_leaf(leaf));
            if is_query && some.contains(&called) {
                own = ids[leaf].0.iter().position(|&other| other == called).map(|at| (leaf, at));
            }
        });
        let mut rank = called;
        if is_query {
            // A body that has come since stands nowhere in the list.
            let Some((leaf, at)) = own else { return };
            if in_place == [true; 2] {
                near.iter_mut().for_each(|group| *group = group_of_leaf(leaf).min(*group));
            } else {
                near.clear();
                near.push(group_of_leaf(leaf));
            }
            rank = starts[leaf] + at as u32;
        }
        near.dedup();
        let (names, front, groups) = (names(sets), live.front(meeting), &groups[meeting]);
        for parts in groups.parts_of_front(near) {
            let [first, end] =
                [parts.start, parts.end].map(|part| (front.start + part * SOME).min(front.end).min(pairs.len()));
            let listed_at = |at: usize| live.front_at(first + at, meeting);
            self.note((&pairs[first..end], id), sought, (|at| pairs[first + at], listed_at), in_front);
        }
        let name = Block::name_of(if names.ids.is_empty() { called } else { rank });
        let first_block = live.meetings().range(meeting).start;
        for number in groups.blocks(near).map(|number| first_block + number) {
            let block = &live.blocks()[number];
            let candidate = |at: usize| Some((number * BLOCK + at) as u32);
            self.note((block.names(), name), sought, (|at| names.pair(block.pair(at)), candidate), in_blocks);
        }
        if called == id {
            // Few pairs have moved.
            let firsts = self.who.numbers.firsts(sets);
            let moved = live.moved(meeting).map(|listed_at| (listed_at, pairs[live.front_place(listed_at)]));
            let of_body = |pair: [u32; 2]| is_named(pair, id, in_place) && !self.who.is_known(firsts, pair);
            in_front.extend(moved.filter(|&(_, pair)| of_body(pair)).map(|(listed_at, _)| listed_at));
        }
    }

    /// Notes which of some pairs have a name, if they have not been found before. `noted_as` tells what a pair is noted
    /// as, if it is one of those that are looked at.
    fn note(
        &self,
        (pairs, name): (&[[u32; 2]], u32),
        Sought { meeting, in_place, .. }: Sought<'_>,
        (pair_of, noted_as): (impl Fn(usize) -> [u32; 2], impl Fn(usize) -> Option<u32>),
        out: &mut Vec<u32>,
    ) {
        let firsts = self.who.numbers.firsts(meeting.sets);
        let (mut at, mut named) = (0, [0; AT_ONCE]);
        while at < pairs.len() {
            let (next, count) = run(self.isa, Find { pairs, name, in_place, at, named: &mut named });
            at = next;
            let some =
                named[..count].iter().map(|&at| at as usize).filter(|&at| !self.who.is_known(firsts, pair_of(at)));
            out.extend(some.filter_map(&noted_as));
        }
    }
}

/// Whether a pair has this name in one of these places.
#[inline(always)]
fn is_named(pair: [u32; 2], name: u32, in_place: [bool; 2]) -> bool {
    in_place[0] & (pair[0] == name) | in_place[1] & (pair[1] == name)
}

/// Finds pairs, from number `at` on, that have a name in such places, up to [`AT_ONCE`]. Returns where to go on, and
/// how many pairs there are.
struct Find<'a> {
    pairs: &'a [[u32; 2]],
    name: u32,
    in_place: [bool; 2],
    at: usize,
    named: &'a mut [u32; AT_ONCE],
}

impl LaneWork for Find<'_> {
    type Output = (usize, usize);
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run<L: Lanes>(self) -> (usize, usize) {
        let Self { pairs, name, in_place, mut at, named } = self;
        let mut count = 0;
        while at < pairs.len() && count + LANES / 2 <= AT_ONCE {
            let some = &pairs[at..pairs.len().min(at + LANES / 2)];
            if some.as_flattened().first_chunk().is_none_or(|ids| L::same_ids(ids, name) != 0) {
                for (at, pair) in (at..).zip(some) {
                    if is_named(*pair, name, in_place) {
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

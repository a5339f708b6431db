//! In which groups of a search the parts of a list were found.
//!
//! A search goes through a tree group by group, sixteen leaves each. It finds a pair in the group of the body that is
//! in that tree; if both are, in the group of the body with the lesser rank. So pairs of two sets, and blocks of
//! candidates, are in the order of these groups. Once the groups of the first pairs of all parts are known, it is known
//! which parts may have a pair.

use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use jostle_core::Workers;
use jostle_core::scratch::{resize_with_headroom, with_headroom};
use jostle_core::tree::LEAF;

use crate::coherent::blocks::Meeting;
use crate::coherent::marks::Marks;
use crate::coherent::strays::found_by::{FoundBy, ListView};

/// Pairs at the front of a list that make one part.
pub(super) const SOME: usize = 256;

/// Leaves that one task looks through, and first pairs that one task reads.
const LEAVES: usize = 64;
const FIRSTS: usize = 256;

/// See the top of this file: for two sets.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The groups in which the first pair of each part of the front, and the first candidate of each block, were found.
    groups: Vec<u32>,
    /// How many parts the front has.
    front: usize,
}

/// Scratch to find the groups.
#[derive(Debug, Default)]
pub(super) struct Finding {
    firsts: Vec<[u32; 2]>,
    /// The bodies whose groups are looked for, and these groups by id.
    asked: Marks,
    group_of: Vec<AtomicU32>,
}

impl Finding {
    pub(super) fn bytes(&self) -> usize {
        self.firsts.capacity() * size_of::<[u32; 2]>()
            + self.asked.bytes()
            + self.group_of.capacity() * size_of::<AtomicU32>()
    }
}

impl Groups {
    pub(super) fn bytes(&self) -> usize {
        self.groups.capacity() * size_of::<u32>()
    }

    /// Finds the groups of all parts of the list of two sets.
    pub(super) fn find(
        &mut self,
        Finding { firsts, asked, group_of }: &mut Finding,
        (listed, meeting, by): (ListView<'_>, Meeting, &dyn FoundBy),
        workers: Workers<'_>,
    ) {
        let Self { groups, front } = self;
        let (live, Meeting { sets, number, .. }) = (listed.live, meeting);
        let query = by.query_set(sets);
        let (ids, starts) = by.leaves(query);
        let (of_front, blocks) = (live.front(number), &live.blocks()[live.meetings().range(number)]);
        *front = of_front.len().div_ceil(SOME);
        resize_with_headroom(firsts, *front + blocks.len());
        let (firsts_of_front, firsts_of_blocks) = firsts.split_at_mut(*front);
        workers.fill_blocks("firsts", firsts_of_front, FIRSTS, |first, slots| {
            let all = of_front.clone().step_by(SOME).skip(first);
            for (slot, listed_at) in slots.iter_mut().zip(all) {
                *slot = by.found_as(sets, listed.pairs[live.front_place(listed_at as u32)]);
            }
        });
        let names = (listed.names)(sets);
        firsts_of_blocks.iter_mut().zip(blocks).for_each(|(slot, block)| *slot = names.ids(block.first()));
        // The body in the tree that the search went through; within a set both bodies are.
        let of_query = |[a, b]: [u32; 2]| match sets {
            [one, other] if one == other => [a, b],
            [one, _] if one == query => [a; 2],
            _ => [b; 2],
        };
        firsts.iter_mut().for_each(|pair| *pair = of_query(*pair));
        asked.clear();
        firsts.as_flattened().iter().for_each(|&id| asked.set(id));
        let len = starts.last().map_or(0, |&len| len as usize);
        if group_of.len() < len {
            group_of.resize_with(with_headroom(len), AtomicU32::default);
        }
        let (asked, group_of) = (&*asked, &*group_of);
        workers.run_in_shares("groups", (ids.len().div_ceil(LEAVES), Some(len)), |tasks| {
            for leaf in tasks.in_turn().flat_map(|task| task * LEAVES..ids.len().min((task + 1) * LEAVES)) {
                let of_leaf = &ids[leaf].0[..(starts[leaf + 1] - starts[leaf]) as usize];
                for &id in of_leaf.iter().filter(|&&id| asked.has(id)) {
                    group_of[id as usize].store(group_of_leaf(leaf), Ordering::Relaxed);
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
    }

    /// Returns which parts of the front may have pairs that were found in these groups, which are ascending: each part
    /// once, ascending.
    pub(super) fn parts_of_front(&self, groups: &[u32]) -> impl Iterator<Item = Range<usize>> {
        parts_of(&self.groups[..self.front], groups)
    }

    /// Returns which blocks may have candidates that were found in these groups.
    pub(super) fn blocks(&self, groups: &[u32]) -> impl Iterator<Item = usize> {
        parts_of(&self.groups[self.front..], groups).flatten()
    }
}

/// Returns the group of a leaf.
#[inline(always)]
pub(super) fn group_of_leaf(leaf: usize) -> u32 {
    (leaf / LEAF) as u32
}

/// Returns which parts may have pairs of some groups. `firsts` is the group in which the first pair of each part was
/// found.
fn parts_of(firsts: &[u32], groups: &[u32]) -> impl Iterator<Item = Range<usize>> {
    let parts = groups.iter().scan(0, |end, &group| {
        // A part begins where the one before ends, which may be within a group.
        let begin = firsts.partition_point(|&first| first < group).saturating_sub(1).max(*end);
        *end = firsts.partition_point(|&first| first <= group).max(begin);
        Some(begin..*end)
    });
    parts.filter(|parts| !parts.is_empty())
}

#[cfg(test)]
mod tests {
    use super::parts_of;

    #[test]
    fn each_part_that_may_have_a_group_is_there_once() {
        let firsts = [0, 0, 2, 2, 2, 5, 9];
        for (groups, expected) in [
            (&[0][..], &[0, 1][..]),
            (&[1], &[1]),
            (&[2], &[1, 2, 3, 4]),
            (&[3, 4], &[4]),
            (&[2, 5], &[1, 2, 3, 4, 5]),
            (&[7, 12], &[5, 6]),
            (&[], &[]),
        ] {
            assert_eq!(parts_of(&firsts, groups).flatten().collect::<Vec<_>>(), expected, "{groups:?}");
        }
        assert_eq!(parts_of(&[], &[0, 3]).count(), 0);
    }
}

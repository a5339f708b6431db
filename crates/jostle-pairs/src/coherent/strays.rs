//! Stray bodies: the few that are farther from their course than they may be, or, where bodies are kept as they stand,
//! have moved farther than twice the margin; and those that have come or gone. For all other bodies, what is kept still
//! holds.
//!
//! Among the bodies by which candidates are tested, a stray body is nowhere, and touches none. In each frame its pairs
//! are found by questions to trees: to those by which candidates were found, of each set that the body meets, whose
//! bodies have margins; and to one of the stray bodies. Where space repeats, these trees are asked at each image at
//! which the stray body may touch others, and the ghost images in them are left aside.

mod changes;
mod found_by;
mod groups;
mod images;
mod patch;
mod places;
mod stray;
mod stray_tree;

use core::sync::atomic::{AtomicBool, Ordering};

use jostle_core::{Isa, LinearTree, Workers};
use jostle_sets::proxy::sorted::SortedSet;

use crate::coherent::current::Current;
use crate::coherent::marks::{Marks, MarksOfTwo};
use crate::coherent::numbers::{Member, Numbers};
use crate::coherent::packed::Packed;
use crate::coherent::reference::SHARE;
use crate::join::hits::PairList;
use crate::neighbors::NeighborLists;
use changes::Changes;
pub(super) use found_by::{ByTrees, ListView};
pub(super) use images::Repeats;
use images::View;
use patch::{Patch, PatchPart};
use places::{Places, Who};
use stray::{Among, SetsThatMeet, Stray};
pub(super) use stray::{Meets, Rules};
use stray_tree::StrayTree;

/// Stray bodies that one task looks for. Those that have just begun to stray are last, and take longest.
const BLOCK: usize = 4;

/// All frames of a list together may have one stray body for so many bodies. Looking for one takes as long as searching
/// for fifty bodies or so, and making a list as long as four or five searches. Beyond that, one more frame costs more
/// than its part of a new list.
const SPENT: usize = 10;

/// Where bodies stray that have used up margins of their own, one body in so many may.
const OWN_SHARE: usize = 512;

/// Where bodies have fewer pairs each than this, stray bodies cost little, and so do lists: these last for as long as
/// they can.
const FEW: f64 = 2.0;

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Strays<const D: usize> {
    /// The numbers of the stray bodies, in the order in which they began to stray, ascending where they began together;
    /// and how many began in this frame.
    who: Vec<u32>,
    new: usize,
    marks: Marks,
    numbers: Numbers,
    /// Where the pairs of stray bodies of each two sets that meet end.
    ends: Vec<usize>,
    /// How many bodies strayed in the last frame, whether they could be followed or not; how many in all frames of the
    /// list together; and how many may in all of them, if that is limited.
    many: usize,
    spent: usize,
    most_spent: Option<usize>,
    /// What is known of each stray body, and memory for more.
    strays: Vec<Stray<D>>,
    /// The build numbers of the trees of bodies with margins; none before there are such trees, and where it is not
    /// known which bodies stray.
    builds: Vec<u64>,
    stray_tree: StrayTree<D>,
    /// The pairs of stray bodies: within a set the lesser id first.
    pairs: Vec<[u32; 2]>,
    places: Places,
    patch: Patch,
    parts: Vec<PatchPart>,
    /// The pairs of stray bodies that a test admits.
    admitted: Vec<[u32; 2]>,
    changes: Changes,
}

impl<const D: usize> Strays<D> {
    pub(super) fn bytes(&self) -> usize {
        self.who.capacity() * size_of::<u32>()
            + self.strays.iter().map(Stray::bytes).sum::<usize>()
            + self.strays.capacity() * size_of::<Stray<D>>()
            + (self.pairs.capacity() + self.admitted.capacity()) * size_of::<[u32; 2]>()
            + self.ends.capacity() * size_of::<usize>()
            + self.parts.capacity() * size_of::<PatchPart>()
            + self.builds.capacity() * size_of::<u64>()
            + self.numbers.bytes()
            + self.changes.bytes()
            + self.stray_tree.bytes()
            + self.marks.bytes()
            + self.places.bytes()
            + self.patch.bytes()
    }

    /// Notes that no body strays any more, and that nothing is known of which may.
    pub(super) fn begin(&mut self) {
        self.builds.clear();
        self.numbers.clear();
        self.most_spent = None;
        (self.new, self.many, self.spent) = (0, 0, 0);
        self.marks.clear();
        self.who.clear();
        self.pairs.clear();
        self.places.clear();
        self.patch.clear();
        self.changes.clear();
    }

    /// Notes the trees by which candidates were found, how many bodies each set has, and how many pairs each body has.
    /// Bodies may stray from now on.
    pub(super) fn may_begin(&mut self, trees: &[SortedSet<D>], lens: impl Iterator<Item = usize> + Clone, pairs: f64) {
        let trees = trees.iter().zip(lens.clone()).map(|(sorted, _)| sorted.own_tree());
        if self.numbers.begin(lens) {
            self.builds.extend(trees.clone().map(LinearTree::build_number));
        }
        self.most_spent = (pairs >= FEW).then(|| trees.map(LinearTree::len).sum::<usize>() / SPENT);
    }

    /// Whether bodies may stray whose candidates were found by these trees.
    pub(super) fn may_be(&self, trees: &[SortedSet<D>]) -> bool {
        let is_of = |(&build, sorted): (&u64, &SortedSet<D>)| build > 0 && build == sorted.own_tree().build_number();
        !self.builds.is_empty() && self.builds.len() <= trees.len() && self.builds.iter().zip(trees).all(is_of)
    }

    /// The number of each body.
    pub(super) fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    pub(super) fn is_empty(&self) -> bool {
        self.who.is_empty()
    }

    /// Estimates how many times as many frames the list may have as since candidates were found, if as many of `bodies`
    /// go on to stray; infinite where that does not matter.
    pub(super) fn may_last(&self, bodies: usize) -> f64 {
        let part = |of: usize, most: usize| of as f64 / most.max(1) as f64;
        let used_up = |most_spent| part(self.many, bodies / SHARE).max(part(self.spent, most_spent).sqrt());
        self.most_spent.map_or(f64::INFINITY, |most_spent| 1.0 / used_up(most_spent))
    }

    /// Returns the bodies that strayed in the last frame, and where they were; [`Packed::NOWHERE`] if they had gone.
    pub(super) fn bodies(&self) -> impl Iterator<Item = (Member, Packed)> {
        self.who.iter().zip(&self.strays).map(|(&number, stray)| (self.numbers.member(number), stray.body))
    }

    /// Returns which bodies of two sets stray.
    pub(super) fn marks_of(&self, sets: [u32; 2]) -> MarksOfTwo<'_> {
        MarksOfTwo { marks: &self.marks, firsts: self.numbers.firsts(sets) }
    }

    /// Finds the pairs of all bodies that have strayed so far, and of those that do now, by numbers. Among the bodies
    /// of this frame stray bodies are nowhere from now on. Returns whether few stray, and all are sound. The bodies
    /// near a stray body may be listed with this margin.
    pub(super) fn find(
        &mut self,
        strayed: &mut Vec<u32>,
        (trees, now): (&[SortedSet<D>], &mut Current<D>),
        (margin, meetings, rules): (f32, &[[u32; 2]], Rules<'_, D>),
        workers: Workers<'_>,
    ) -> bool {
        self.pairs.clear();
        strayed.retain(|&number| !self.marks.has(number));
        strayed.sort_unstable();
        self.many = self.who.len() + strayed.len();
        self.spent += self.many;
        let bodies = now.count();
        let most = bodies / if now.own_stray() { OWN_SHARE } else { SHARE };
        let few = self.many <= most && self.most_spent.is_none_or(|most| self.spent <= most);
        let found = few && self.find_with(strayed, (trees, now), (margin, meetings, rules), workers);
        if !found {
            self.builds.clear();
        }
        found
    }

    fn find_with(
        &mut self,
        new: &[u32],
        (trees, now): (&[SortedSet<D>], &mut Current<D>),
        (margin, meetings, rules): (f32, &[[u32; 2]], Rules<'_, D>),
        workers: Workers<'_>,
    ) -> bool {
        let before = self.who.len();
        new.iter().for_each(|&number| self.marks.set(number));
        self.who.extend_from_slice(new);
        self.new = new.len();
        if self.strays.len() < self.who.len() {
            self.strays.resize(self.who.len(), Stray::default());
        }
        self.strays[before..self.who.len()].iter_mut().for_each(Stray::begin);
        for (&number, stray) in self.who.iter().zip(&mut self.strays) {
            let body = now.body_mut(self.numbers.member(number));
            stray.body = body.map_or(Packed::NOWHERE, |body| core::mem::replace(body, Packed::NOWHERE));
        }
        let among = Among { trees, now, margin };
        let found = self.who.is_empty()
            || self.find_pairs(among, (meetings, rules), workers) && self.pairs.len() <= now.count();
        if !found {
            for (member, body) in self.bodies() {
                now.body_mut(member).into_iter().for_each(|slot| *slot = body);
            }
        }
        found
    }

    /// Finds the pairs of the stray bodies; returns whether all are sound. A few bodies may touch all others: where
    /// there are more pairs than bodies, a search finds them sooner.
    fn find_pairs(
        &mut self,
        among: Among<'_, D>,
        (meetings, rules): (&[[u32; 2]], Rules<'_, D>),
        workers: Workers<'_>,
    ) -> bool {
        let Self { who, numbers, strays, stray_tree, pairs, ends, .. } = self;
        let by = (SetsThatMeet { numbers, sets: meetings }, rules);
        let strays = &mut strays[..who.len()];
        for stray in &mut *strays {
            stray.home = rules.repeats.map_or_else(View::default, |repeats| repeats.home(stray.body));
        }
        if !stray_tree.build(strays, workers) {
            return false;
        }
        let (who, stray_tree, failed) = (&*who, &*stray_tree, AtomicBool::new(false));
        workers.fill_blocks("strays", strays, BLOCK, |first, block| {
            for (number, stray) in (first as u32..).zip(block) {
                stray.begin_frame();
                if !stray.is_there() {
                    continue;
                }
                let one = numbers.member(who[number as usize]);
                let is_sound = stray.find_among(one, by, among) & stray_tree.find((number, who), stray, by);
                if let Some(meet) = rules.layers {
                    stray.touched.retain(|&other| {
                        let other = numbers.member(other);
                        meet([one.set, other.set], [one.id, other.id])
                    });
                }
                if !is_sound {
                    failed.store(true, Ordering::Relaxed);
                }
            }
        });
        ends.clear();
        for &sets in meetings {
            for (&number, stray) in who.iter().zip(&*strays) {
                let one = numbers.member(number);
                pairs.extend(stray.touched.iter().filter_map(|&other| one.pair(numbers.member(other), sets)));
            }
            ends.push(pairs.len());
        }
        !failed.into_inner()
    }

    /// Finds where in a list that was found by these trees the pairs of stray bodies stand.
    pub(super) fn find_places(&mut self, listed: ListView<'_>, by: ByTrees<'_, D>, on: (Isa, Workers<'_>)) {
        let who = Who { numbers: &self.numbers, marks: &self.marks, new: &self.who[self.who.len() - self.new..] };
        self.places.find(listed, &by, who, on);
    }

    /// Takes the pairs out of the list whose places [`Strays::find_places`] has found, and puts in those that stray
    /// bodies have now. `ends` is where the pairs of each two sets end, before and after.
    pub(super) fn patch(&mut self, (list, ends): (&mut PairList, &mut Vec<usize>), workers: Workers<'_>) {
        if self.is_empty() {
            return;
        }
        let Self { places, parts, pairs, ends: of_strays, patch, .. } = self;
        let (holes, are_many) = (places.holes(), of_strays.len() > 1);
        parts.clear();
        for (&end, &pairs) in ends.iter().zip(&*of_strays) {
            // Where there are many sets, holes are ascending.
            let of_part = if are_many { holes.partition_point(|&place| (place as usize) < end) } else { holes.len() };
            parts.push(PatchPart { end, holes: of_part, pairs });
        }
        patch.put((list, ends), parts, (holes, pairs), workers);
    }

    /// Adds the pairs of stray bodies that `admits` admits to a list that has no pairs of these bodies. `ends` is where
    /// the pairs of each two sets end, before and after.
    pub(super) fn add(
        &mut self,
        (list, ends): (&mut PairList, &mut Vec<usize>),
        meetings: &[[u32; 2]],
        admits: impl Fn([u32; 2], [u32; 2]) -> bool,
        workers: Workers<'_>,
    ) {
        if self.is_empty() {
            return;
        }
        let Self { parts, pairs, ends: of_strays, admitted, patch, .. } = self;
        admitted.clear();
        parts.clear();
        let mut begin = 0;
        for ((&end, &sets), &end_of_strays) in ends.iter().zip(meetings).zip(&*of_strays) {
            admitted.extend(pairs[begin..end_of_strays].iter().filter(|&&pair| admits(sets, pair)));
            begin = end_of_strays;
            parts.push(PatchPart { end, holes: 0, pairs: admitted.len() });
        }
        patch.put((list, ends), parts, (&[], admitted), workers);
        // The list is made anew in each frame.
        patch.clear();
    }

    /// Restores a list to what it was before it was patched.
    pub(super) fn restore(&mut self, list: &mut PairList, workers: Workers<'_>) {
        self.patch.restore(list, workers);
    }

    /// Notes how the pairs of stray bodies have changed since the rows of the last frame were made, which are rows of
    /// the first of two sets. The trees by which candidates were found tell which bodies a body might have touched
    /// before it strayed.
    pub(super) fn note_changes(
        &mut self,
        rows: &NeighborLists,
        (by, sets, meetings): (ByTrees<'_, D>, [u32; 2], &[[u32; 2]]),
        workers: Workers<'_>,
    ) {
        let Self { who, new, marks, numbers, strays, changes, .. } = self;
        let (who, marks, first_new) = (&*who, &*marks, who.len() - *new);
        let relation = SetsThatMeet { numbers, sets: meetings };
        let is_before =
            |one: u32, other: u32| marks.has(one) && (one < other || who[first_new..].binary_search(&one).is_err());
        let touched_before = |number: u32, before: &mut Vec<u32>| {
            before.clear();
            by.visit_touched(numbers.member(number), sets, &mut |other| before.push(numbers.of(other)));
            before.sort_unstable();
            before.dedup();
            before.retain(|&other| {
                let is_row = |[a, b]: [u32; 2]| rows.of(a as usize).binary_search(&b).is_ok();
                number != other && !is_before(other, number) && relation.pair(number, other).is_some_and(is_row)
            });
        };
        let pair = |one: u32, other: u32| relation.pair(one, other);
        changes.note((&mut strays[..who.len()], BLOCK), workers, pair, |at, stray| {
            if at >= first_new {
                touched_before(who[at], &mut stray.touched_before);
            }
            (who[at], &mut stray.touched_before, &mut stray.touched)
        });
    }

    /// Returns the changes that have been noted.
    pub(super) fn changes(&self) -> &[([u32; 2], bool)] {
        self.changes.all()
    }
}

//! The few bodies that stray: farther from their course than they may, or, where bodies are kept as they stand, farther than twice the margin,
//! and those that have come or gone. For all others, what is kept holds on.
//!
//! Among the bodies by which candidates are tested, who strays is nowhere, and touches nobody. Its pairs are found in each frame by questions
//! to trees: those of the bodies of each set that it meets, with margins, by which candidates were found, and one of those that stray. Where space
//! repeats, those are asked at each image at which it may touch others, and images of others are left aside.

mod changes;
mod groups;
mod images;
mod listed;
mod marks;
mod patch;
mod places;
mod stray;
mod together;

use core::sync::atomic::{AtomicBool, Ordering};

use jostle_core::{Isa, LinearTree, Workers};
use jostle_sets::proxy::sorted::SortedSet;

use crate::coherent::current::Current;
use crate::coherent::numbers::{Member, Numbers};
use crate::coherent::packed::Packed;
use crate::coherent::was::SHARE;
use crate::join::hits::PairList;
use crate::neighbors::NeighborLists;
use changes::Changes;
pub(super) use images::Repeats;
use images::View;
pub(super) use listed::{ByTrees, Listed};
use marks::Marks;
pub(super) use marks::MarksOfTwo;
use patch::{Part, Patch};
use places::{Places, Who};
use stray::{Among, Relation, Stray};
pub(super) use stray::{Meets, Rules};
use together::Together;

/// Bodies that one task looks for: those that have just begun to stray are the last, and take longest.
const BLOCK: usize = 4;

/// All frames of a list together may have as many strays as one body in so many: to look for one takes as long as to search for fifty bodies or so,
/// and a list as long as four or five searches. Then one more frame costs more than a part of a new list.
const SPENT: usize = 10;

/// Of bodies that have fewer pairs each, those that stray cost little, and lists too: they last for as long as they can.
const FEW: f64 = 2.0;

/// What is added to the radius of one that strays, for squares that are denormal or vanish: 2^-70.
const LEAST: f32 = f32::from_bits((127 - 70) << 23);

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Strays<const D: usize> {
    /// The numbers of those that stray, in the order in which they began to, ascending where they began together; and how many did so in this frame.
    who: Vec<u32>,
    new: usize,
    marks: Marks,
    numbers: Numbers,
    /// The sets that meet, and where the pairs of each two end.
    meetings: Vec<[u32; 2]>,
    ends: Vec<usize>,
    /// How many have strayed in the last frame, whether they could be followed or not; in all frames of the list together, and how many may have
    /// then, if that is not left to them.
    many: usize,
    spent: usize,
    most_spent: Option<usize>,
    /// What is known of each of them; and memory for more.
    strays: Vec<Stray<D>>,
    /// The builds of the trees of bodies with margins; none before, and where it is not known who strays.
    builds: Vec<u64>,
    together: Together<D>,
    /// Their pairs: within a set the lesser id first.
    pairs: Vec<[u32; 2]>,
    places: Places,
    patch: Patch,
    parts: Vec<Part>,
    /// Those of them that a function of the caller's lets be.
    admitted: Vec<[u32; 2]>,
    changes: Changes,
}

impl<const D: usize> Strays<D> {
    pub(super) fn bytes(&self) -> usize {
        self.who.capacity() * size_of::<u32>()
            + self.strays.iter().map(Stray::bytes).sum::<usize>()
            + self.strays.capacity() * size_of::<Stray<D>>()
            + (self.pairs.capacity() + self.admitted.capacity() + self.meetings.capacity()) * size_of::<[u32; 2]>()
            + self.ends.capacity() * size_of::<usize>()
            + self.parts.capacity() * size_of::<Part>()
            + self.builds.capacity() * size_of::<u64>()
            + self.numbers.bytes()
            + self.changes.bytes()
            + self.together.bytes()
            + self.marks.bytes()
            + self.places.bytes()
            + self.patch.bytes()
    }

    /// None strays any more, and nothing is known of who may.
    pub(super) fn begin(&mut self) {
        self.builds.clear();
        self.meetings.clear();
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

    /// Candidates have been found by these trees, of sets that meet so, and that have so many bodies, each with so many pairs.
    pub(super) fn may_begin(
        &mut self,
        trees: &[SortedSet<D>],
        (meetings, lens): (impl Iterator<Item = [u32; 2]>, impl Iterator<Item = usize> + Clone),
        pairs: f64,
    ) {
        let trees = trees.iter().zip(lens.clone()).map(|(sorted, _)| sorted.own_tree());
        if self.numbers.begin(lens) {
            self.builds.extend(trees.clone().map(LinearTree::build_number));
        }
        self.meetings.extend(meetings);
        self.most_spent = (pairs >= FEW).then(|| trees.map(LinearTree::len).sum::<usize>() / SPENT);
    }

    /// Whether bodies may stray that candidates were found of by these trees.
    pub(super) fn may_be(&self, trees: &[SortedSet<D>]) -> bool {
        let is_of = |(&build, sorted): (&u64, &SortedSet<D>)| build > 0 && build == sorted.own_tree().build_number();
        !self.builds.is_empty() && self.builds.iter().zip(trees).all(is_of)
    }

    /// The number of each body.
    pub(super) fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    pub(super) fn is_empty(&self) -> bool {
        self.who.is_empty()
    }

    /// For how many times as many frames, as it seems, so many bodies may go on to stray as they have since candidates were found; infinite where
    /// that does not matter.
    pub(super) fn may_last(&self, bodies: usize) -> f64 {
        let part = |of: usize, most: usize| of as f64 / most.max(1) as f64;
        let used_up = |most_spent| part(self.many, bodies / SHARE).max(part(self.spent, most_spent).sqrt());
        self.most_spent.map_or(f64::INFINITY, |most_spent| 1.0 / used_up(most_spent))
    }

    /// Those that strayed in the last frame, and where they were, or were not.
    pub(super) fn bodies(&self) -> impl Iterator<Item = (Member, Packed)> {
        self.who.iter().zip(&self.strays).map(|(&number, stray)| (self.numbers.member(number), stray.body))
    }

    /// Who strays of two sets.
    pub(super) fn marks_of(&self, sets: [u32; 2]) -> MarksOfTwo<'_> {
        MarksOfTwo { marks: &self.marks, firsts: self.numbers.firsts(sets) }
    }

    /// Finds the pairs of all that have strayed so far, and of those that do now, by numbers, among the bodies of this frame, where they are
    /// nowhere from now on; whether few do, and all are sound. They may be looked for by how near others are, with such a margin.
    pub(super) fn find(
        &mut self,
        strayed: &mut Vec<u32>,
        (trees, now): (&[SortedSet<D>], &mut Current<D>),
        (margin, rules): (f32, Rules<'_, D>),
        workers: Workers<'_>,
    ) -> bool {
        self.pairs.clear();
        strayed.retain(|&number| !self.marks.has(number));
        strayed.sort_unstable();
        self.many = self.who.len() + strayed.len();
        self.spent += self.many;
        let few = self.many <= now.count() / SHARE && self.most_spent.is_none_or(|most| self.spent <= most);
        let found = few && self.find_with(strayed, (trees, now), (margin, rules), workers);
        if !found {
            self.builds.clear();
        }
        found
    }

    fn find_with(
        &mut self,
        new: &[u32],
        (trees, now): (&[SortedSet<D>], &mut Current<D>),
        (margin, rules): (f32, Rules<'_, D>),
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
        let found = self.who.is_empty() || self.find_pairs(among, rules, workers) && self.pairs.len() <= now.count();
        if !found {
            for (member, body) in self.bodies() {
                now.body_mut(member).into_iter().for_each(|slot| *slot = body);
            }
        }
        found
    }

    /// Finds the pairs of those that stray; whether all are sound. A few may touch all others: more pairs than bodies are sooner found by a search.
    fn find_pairs(&mut self, among: Among<'_, D>, rules: Rules<'_, D>, workers: Workers<'_>) -> bool {
        let Self { who, numbers, meetings, strays, together, pairs, ends, .. } = self;
        let by = (Relation { numbers, sets: meetings }, rules);
        let strays = &mut strays[..who.len()];
        for stray in &mut *strays {
            stray.home = rules.repeats.map_or_else(View::default, |repeats| repeats.home(stray.body));
        }
        if !together.build(strays, workers) {
            return false;
        }
        let (who, together, failed) = (&*who, &*together, AtomicBool::new(false));
        workers.fill_blocks("strays", strays, BLOCK, |first, block| {
            for (number, stray) in (first as u32..).zip(block) {
                stray.begin_frame();
                if !stray.is_there() {
                    continue;
                }
                let one = numbers.member(who[number as usize]);
                let is_sound = stray.find_among(one, by, among) & together.find((number, who), stray, by);
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
        for &sets in &*meetings {
            for (&number, stray) in who.iter().zip(&*strays) {
                let one = numbers.member(number);
                pairs.extend(stray.touched.iter().filter_map(|&other| one.pair(numbers.member(other), sets)));
            }
            ends.push(pairs.len());
        }
        !failed.into_inner()
    }

    /// Finds where in a list that was found by these trees pairs stand of which one body strays.
    pub(super) fn find_places(&mut self, listed: Listed<'_>, by: ByTrees<'_, D>, on: (Isa, Workers<'_>)) {
        let who = Who { numbers: &self.numbers, marks: &self.marks, new: &self.who[self.who.len() - self.new..] };
        self.places.find(listed, &by, who, on);
    }

    /// Takes those pairs out of the list, and puts in those of bodies that stray; `ends` is where those of each two sets end, before and then.
    pub(super) fn patch(&mut self, (list, ends): (&mut PairList, &mut Vec<usize>), workers: Workers<'_>) {
        if self.is_empty() {
            return;
        }
        let Self { places, parts, pairs, ends: of_strays, patch, .. } = self;
        let (holes, are_many) = (places.holes(), of_strays.len() > 1);
        parts.clear();
        for (&end, &pairs) in ends.iter().zip(&*of_strays) {
            // Of many sets they are ascending.
            let of_part = if are_many { holes.partition_point(|&place| (place as usize) < end) } else { holes.len() };
            parts.push(Part { end, holes: of_part, pairs });
        }
        patch.put((list, ends), parts, (holes, pairs), workers);
    }

    /// Puts those pairs of bodies that stray into a list without any that a test of their sets and themselves lets be; `ends` is where those of each
    /// two sets end, before and then.
    pub(super) fn add(
        &mut self,
        (list, ends): (&mut PairList, &mut Vec<usize>),
        admits: impl Fn([u32; 2], [u32; 2]) -> bool,
        workers: Workers<'_>,
    ) {
        if self.is_empty() {
            return;
        }
        let Self { meetings, parts, pairs, ends: of_strays, admitted, patch, .. } = self;
        admitted.clear();
        parts.clear();
        let mut begin = 0;
        for ((&end, &sets), &end_of_strays) in ends.iter().zip(&*meetings).zip(&*of_strays) {
            admitted.extend(pairs[begin..end_of_strays].iter().filter(|&&pair| admits(sets, pair)));
            begin = end_of_strays;
            parts.push(Part { end, holes: 0, pairs: admitted.len() });
        }
        patch.put((list, ends), parts, (&[], admitted), workers);
        // That list is made anew in each frame.
        patch.clear();
    }

    /// Makes a list as it was before it was patched.
    pub(super) fn restore(&mut self, list: &mut PairList, workers: Workers<'_>) {
        self.patch.restore(list, workers);
    }

    /// Notes the changes of pairs of bodies that stray since the rows of the last frame were made, of bodies of the first of two sets. Who might have
    /// touched a body before it strayed is told by the trees that candidates were found by.
    pub(super) fn note_changes(
        &mut self,
        rows: &NeighborLists,
        (by, sets): (ByTrees<'_, D>, [u32; 2]),
        workers: Workers<'_>,
    ) {
        let Self { who, new, marks, numbers, meetings, strays, changes, .. } = self;
        let (who, marks, first_new) = (&*who, &*marks, who.len() - *new);
        let relation = Relation { numbers, sets: meetings };
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

    /// What has been noted.
    pub(super) fn changes(&self) -> &[([u32; 2], bool)] {
        self.changes.all()
    }
}

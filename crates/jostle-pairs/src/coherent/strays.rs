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

use core::array::from_fn;
use core::sync::atomic::{AtomicBool, Ordering};

use jostle_core::axes::{Axes, from_axes};
use jostle_core::{Bodies, Isa, LinearTree, Workers};
use jostle_sets::proxy::sorted::SortedSet;
use jostle_sets::{Circle, Queries};

use crate::coherent::current::Current;
use crate::coherent::doubt::Decide;
use crate::coherent::numbers::{Member, Numbers};
use crate::coherent::packed::Packed;
use crate::coherent::slack::ROUNDING;
use crate::coherent::was::SHARE;
use crate::join::hits::PairList;
use crate::neighbors::NeighborLists;
use changes::Changes;
pub(super) use images::Repeats;
use images::{View, each_view};
pub(super) use listed::{ByTrees, Listed};
use marks::Marks;
pub(super) use marks::MarksOfTwo;
use patch::{Part, Patch};
use places::{Places, Who};

/// Bodies that one task looks for: those that have just begun to stray are the last, and take longest.
const BLOCK: usize = 4;

/// The tree of fewer is built by one thread.
const SERIAL_BELOW: usize = 1 << 12;

/// All frames of a list together may have as many strays as one body in so many: to look for one takes as long as to search for fifty bodies or so,
/// and a list as long as four or five searches. Then one more frame costs more than a part of a new list.
const SPENT: usize = 10;

/// Of bodies that have fewer pairs each, those that stray cost little, and lists too: they last for as long as they can.
const FEW: f64 = 2.0;

/// What is added to the radius of one that strays, for squares that are denormal or vanish: 2^-70.
const LEAST: f32 = f32::from_bits((127 - 70) << 23);

/// Who was seen with a margin is followed for nearly as far, what may be lost by rounding: 2^-10.
const NEARLY: f32 = 1.0 - 1.0 / 1024.0;

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
    /// Those of them that are there, by their number among all, their tree, and what it is built of: their centres, axis by axis, and radii.
    there: Vec<u32>,
    tree: LinearTree<D>,
    columns: Vec<f32>,
    /// By how many vectors of the cell each is moved there.
    homes: Vec<[i32; D]>,
    /// Their pairs: within a set the lesser id first.
    pairs: Vec<[u32; 2]>,
    places: Places,
    patch: Patch,
    parts: Vec<Part>,
    /// Those of them that a function of the caller's lets be.
    admitted: Vec<[u32; 2]>,
    changes: Changes,
}

/// Bodies among which those are that strays may touch, which the tree of each set has with margins; and how far strays are followed.
#[derive(Clone, Copy)]
struct Among<'a, const D: usize> {
    trees: &'a [SortedSet<D>],
    now: &'a Current<D>,
    margin: f32,
}

/// Who meets whom: the numbers of bodies, and sets, of which layers may not let all meet.
#[derive(Clone, Copy)]
struct Relation<'a> {
    numbers: &'a Numbers,
    sets: &'a [[u32; 2]],
}

impl<'a> Relation<'a> {
    /// The sets that the bodies of one meet.
    fn met_by(self, set: u32) -> impl Iterator<Item = u32> + use<'a> {
        self.sets.iter().filter_map(move |&[one, other]| match set {
            set if set == one => Some(other),
            set if set == other => Some(one),
            _ => None,
        })
    }

    fn meet(self, one: Member, other: Member) -> bool {
        self.sets.binary_search(&[one.set.min(other.set), one.set.max(other.set)]).is_ok()
    }

    /// The pair of two bodies that meet, by their numbers.
    fn pair(self, one: u32, other: u32) -> Option<[u32; 2]> {
        let [one, other] = [one, other].map(|number| self.numbers.member(number));
        one.pair(other, [one.set.min(other.set), one.set.max(other.set)])
    }
}

/// What tells of two bodies of two sets whether layers let them meet.
pub(super) type Meets<'a> = &'a (dyn Fn([u32; 2], [u32; 2]) -> bool + Sync);

/// Layers, which may not let all meet; what decides where stand-ins are in doubt, if there are such; and how space repeats, if it does.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a, const D: usize> {
    pub(super) layers: Option<Meets<'a>>,
    pub(super) decide: Option<Decide<'a, D>>,
    pub(super) repeats: Option<Repeats<'a, D>>,
}

/// One that strays.
#[derive(Debug, Clone, Default)]
struct Stray<const D: usize> {
    /// As it is, and as it was when it was seen who is near.
    body: Packed,
    seen: Option<Packed>,
    /// How it is seen in the cell, where space repeats.
    home: View<D>,
    /// All whose margins touch it while it does not go far from there, set by set and view by view, and where those of each view end.
    near: Vec<u32>,
    views: Vec<(u32, View<D>, usize)>,
    /// The numbers of those that it touches, but for those before it that stray, and whom it did in the frame before.
    touched: Vec<u32>,
    touched_before: Vec<u32>,
}

impl<const D: usize> Stray<D> {
    /// Nothing is known of it, or of another one that it stands for, yet.
    fn begin(&mut self) {
        self.seen = None;
        self.touched.clear();
    }

    /// Whether it has not gone.
    fn is_there(&self) -> bool {
        !self.body.radius().is_nan()
    }

    /// Whether it is where it may touch none but those near, having been seen with such a margin of its own.
    fn is_near(&self, margin: f32) -> bool {
        self.seen.is_some_and(|seen| {
            let (moved2, _) = seen.measure::<D>(&self.body);
            self.body.radius() <= seen.radius() && moved2.sqrt() <= margin * NEARLY
        })
    }

    /// Finds whom it, which is this body, touches among some others, where none of those is that stray; whether it is sound.
    fn find_among(&mut self, who: Member, relation: Relation<'_>, among: Among<'_, D>, rules: Rules<'_, D>) -> bool {
        let (Among { trees, now, margin }, Rules { decide, repeats, .. }) = (among, rules);
        // How far stand-ins may be wrong grows with how far one of them goes.
        let within = decide.map_or(0.0, |decide| decide.within);
        if !self.is_near(margin - within) {
            let Self { body, near, views, .. } = self;
            near.clear();
            views.clear();
            let reach = (body.radius() + margin + within) * (1.0 + 2.0 * ROUNDING) + LEAST;
            let mut is_sound = true;
            for set in relation.met_by(who.set) {
                let (tree, bodies) = (trees[set as usize].own_tree(), now.bodies(set as usize));
                each_view(repeats, (*body, reach), |view| {
                    let (seen, len) = (view.of(*body), near.len());
                    let circle = Circle::new(from_axes(|axis| seen.0[axis]), reach);
                    // Behind bodies the tree has images of them.
                    let note = |other: u32| near.extend(Some(other).filter(|&other| (other as usize) < bodies.len()));
                    is_sound &= Queries::new(tree).visit_circle(circle, note).is_ok();
                    if near.len() > len {
                        views.push((set, view, near.len()));
                    }
                });
            }
            self.seen = Some(self.body).filter(|_| is_sound);
            if !is_sound {
                return false;
            }
        }
        let Self { body, near, views, touched, .. } = self;
        let mut begin = 0;
        for &(set, view, end) in &*views {
            let (bodies, first, seen) =
                (now.bodies(set as usize), relation.numbers.first(set as usize), view.of(*body));
            let touches = |other: u32| {
                let measured = bodies[other as usize].measure::<D>(&seen);
                let pair = ([who.set, set], [who.id, other], view.image.axes(|steps| -steps));
                decide.map_or_else(|| measured.0 <= measured.1 * measured.1, |decide| decide.touches(pair, measured))
            };
            touched.extend(near[begin..end].iter().filter(|&&other| touches(other)).map(|&other| first + other));
            begin = end;
        }
        true
    }
}

impl<const D: usize> Strays<D> {
    pub(super) fn bytes(&self) -> usize {
        let of_one = |Stray { near, views, touched, touched_before, .. }: &Stray<D>| {
            [near, touched, touched_before].map(Vec::capacity).iter().sum::<usize>() * size_of::<u32>()
                + views.capacity() * size_of::<(u32, View<D>, usize)>()
        };
        let ids = [&self.who, &self.there].map(Vec::capacity).iter().sum::<usize>();
        (ids + self.columns.capacity() + D * self.homes.capacity()) * size_of::<u32>()
            + self.strays.iter().map(of_one).sum::<usize>()
            + self.strays.capacity() * size_of::<Stray<D>>()
            + (self.pairs.capacity() + self.admitted.capacity() + self.meetings.capacity()) * size_of::<[u32; 2]>()
            + self.ends.capacity() * size_of::<usize>()
            + self.parts.capacity() * size_of::<Part>()
            + self.builds.capacity() * size_of::<u64>()
            + self.numbers.bytes()
            + self.changes.bytes()
            + self.tree.bytes()
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
        let Self { who, numbers, meetings, strays, there, tree, columns, homes, pairs, ends, .. } = self;
        let (relation, Rules { layers, decide, repeats }) = (Relation { numbers, sets: meetings }, rules);
        let within = decide.map_or(0.0, |decide| decide.within);
        let strays = &mut strays[..who.len()];
        for stray in &mut *strays {
            stray.home = repeats.map_or_else(View::default, |repeats| repeats.home(stray.body));
        }
        there.clear();
        there.extend((0..).zip(&*strays).filter(|(_, stray)| stray.is_there()).map(|(number, _)| number));
        let bodies_there = || {
            there.iter().map(|&number| {
                let stray = &strays[number as usize];
                stray.home.of(stray.body)
            })
        };
        columns.clear();
        for axis in 0..D {
            columns.extend(bodies_there().map(|body| body.0[axis]));
        }
        columns.extend(bodies_there().map(|body| body.radius()));
        let column = |number: usize| &columns[number * there.len()..][..there.len()];
        let on = if there.len() < SERIAL_BELOW { Workers::Serial } else { workers };
        if tree.build_on(Bodies::from_slices(from_fn(column), column(D)), on).is_err() {
            return false;
        }
        homes.clear();
        homes.extend(there.iter().map(|&number| strays[number as usize].home.image));
        let (who, there, columns, tree, homes) = (&*who, &*there, &*columns, &*tree, &*homes);
        let failed = AtomicBool::new(false);
        workers.fill_blocks("strays", strays, BLOCK, |first, block| {
            for (number, stray) in (first as u32..).zip(block) {
                core::mem::swap(&mut stray.touched, &mut stray.touched_before);
                stray.touched.clear();
                if !stray.is_there() {
                    continue;
                }
                let one = numbers.member(who[number as usize]);
                let mut is_sound = stray.find_among(one, relation, among, rules);
                let reach = if within > 0.0 {
                    (stray.body.radius() + within) * (1.0 + 2.0 * ROUNDING)
                } else {
                    stray.body.radius()
                };
                let Stray { body, touched, .. } = stray;
                each_view(repeats, (*body, reach), |view| {
                    let seen = view.of(*body);
                    let circle = Circle::new(from_axes(|axis| seen.0[axis]), reach);
                    let among_them = Queries::new(tree).visit_circle(circle, |at| {
                        let place = there[at as usize];
                        let other = numbers.member(who[place as usize]);
                        let touches = |decide: Decide<'_, D>| {
                            let column = |axis: usize| columns[axis * there.len() + at as usize];
                            let them = Packed::new::<D>(from_axes(column), column(D));
                            let image = from_axes(|k| homes[at as usize][k] - view.image[k]);
                            decide.touches(([one.set, other.set], [one.id, other.id], image), seen.measure::<D>(&them))
                        };
                        if place > number && relation.meet(one, other) && decide.is_none_or(touches) {
                            touched.push(who[place as usize]);
                        }
                    });
                    is_sound &= among_them.is_ok();
                });
                if let Some(meet) = layers {
                    touched.retain(|&other| {
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

    /// Takes those pairs out of the list, of each two sets up to such a place, and puts in those of bodies that stray; `ends` is where those of each two
    /// end then.
    pub(super) fn patch(
        &mut self,
        (list, ends): (&mut PairList, &mut Vec<usize>),
        ends_before: impl Iterator<Item = usize>,
        workers: Workers<'_>,
    ) {
        let Self { places, parts, pairs, ends: of_strays, patch, .. } = self;
        let (holes, are_many) = (places.holes(), of_strays.len() > 1);
        parts.clear();
        for (end, &pairs) in ends_before.zip(&*of_strays) {
            // Of many sets they are ascending.
            let of_part = if are_many { holes.partition_point(|&place| (place as usize) < end) } else { holes.len() };
            parts.push(Part { end, holes: of_part, pairs });
        }
        patch.put((list, ends), parts, (holes, pairs), workers);
    }

    /// Puts those pairs of bodies that stray into a list without any, of each two sets up to such a place, that a test of their sets and themselves lets
    /// be; `ends` is where those of each two end then.
    pub(super) fn add(
        &mut self,
        (list, ends): (&mut PairList, &mut Vec<usize>),
        ends_before: impl Iterator<Item = usize>,
        admits: impl Fn([u32; 2], [u32; 2]) -> bool,
        workers: Workers<'_>,
    ) {
        let Self { meetings, parts, pairs, ends: of_strays, admitted, patch, .. } = self;
        admitted.clear();
        parts.clear();
        let mut begin = 0;
        for ((end, &sets), &end_of_strays) in ends_before.zip(&*meetings).zip(&*of_strays) {
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

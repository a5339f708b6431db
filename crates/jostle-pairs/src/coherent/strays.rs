//! The few bodies that stray: farther from their course than they may, or, where bodies are kept as they stand, farther than twice the margin,
//! and those that have come or gone. For all others, what is kept holds on.
//!
//! Among the bodies by which candidates are tested, who strays is nowhere, and touches nobody. Its pairs are found in each frame by questions
//! to trees: that of bodies with margins, by which candidates were found, and one of those that stray. Where space repeats, those are asked at each
//! image at which it may touch others, and images of others are left aside.

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
use jostle_sets::input::layers::Layers;
use jostle_sets::{Circle, Queries};

use crate::coherent::doubt::Decide;
use crate::coherent::ghosts::Ghosts;
use crate::coherent::packed::Packed;
use crate::coherent::slack::ROUNDING;
use crate::coherent::was::SHARE;
use crate::join::hits::PairList;
use crate::neighbors::NeighborLists;
use changes::Changes;
pub(super) use images::Repeats;
use images::{View, each_view};
use listed::FoundBy;
pub(super) use listed::Listed;
pub(super) use marks::Marks;
use patch::Patch;
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
    /// Those that stray, in the order in which they began to, ascending where they began together; and how many did so in this frame.
    ids: Vec<u32>,
    new: usize,
    marks: Marks,
    /// How many have strayed in the last frame, whether they could be followed or not; in all frames of the list together, and how many may have
    /// then, if that is not left to them.
    many: usize,
    spent: usize,
    most_spent: Option<usize>,
    /// What is known of each of them; and memory for more.
    strays: Vec<Stray<D>>,
    /// The build of the tree of bodies with margins; of none before, and where it is not known who strays.
    build: u64,
    /// Those of them that are there, by their number among all, their tree, and what it is built of: their centres, axis by axis, and radii.
    there: Vec<u32>,
    tree: LinearTree<D>,
    columns: Vec<f32>,
    /// By how many vectors of the cell each is moved there.
    homes: Vec<[i32; D]>,
    /// Their pairs, the lesser id first.
    pairs: Vec<[u32; 2]>,
    places: Places,
    patch: Patch,
    changes: Changes,
}

/// Bodies among which those are that strays may touch, which the tree has with margins; and how far strays are followed.
type Among<'a, const D: usize> = (&'a LinearTree<D>, &'a [Packed], f32);

/// Layers, which may not let all meet; what decides where stand-ins are in doubt, if there are such; and how space repeats, if it does.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a, const D: usize> {
    pub(super) layers: Option<Layers<'a>>,
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
    /// All whose margins touch it while it does not go far from there, view by view, and where those of each view end.
    near: Vec<u32>,
    views: Vec<(View<D>, usize)>,
    /// Whom it touches, but for those before it that stray, and whom it did in the frame before.
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

    /// Finds whom it, of this id, touches among some bodies, which the tree has with margins, where none of those is that stray; whether it is
    /// sound.
    fn find_among(&mut self, id: u32, (grown, bodies, margin): Among<'_, D>, rules: Rules<'_, D>) -> bool {
        let Rules { decide, repeats, .. } = rules;
        // How far stand-ins may be wrong grows with how far one of them goes.
        let within = decide.map_or(0.0, |decide| decide.within);
        if !self.is_near(margin - within) {
            let Self { body, near, views, .. } = self;
            near.clear();
            views.clear();
            let reach = (body.radius() + margin + within) * (1.0 + 2.0 * ROUNDING) + LEAST;
            let mut is_sound = true;
            each_view(repeats, (*body, reach), |view| {
                let (seen, len) = (view.of(*body), near.len());
                let circle = Circle::new(from_axes(|axis| seen.0[axis]), reach);
                // Behind bodies the tree has images of them.
                let note = |other: u32| near.extend(Some(other).filter(|&other| (other as usize) < bodies.len()));
                is_sound &= Queries::new(grown).visit_circle(circle, note).is_ok();
                if near.len() > len {
                    views.push((view, near.len()));
                }
            });
            self.seen = Some(self.body).filter(|_| is_sound);
            if !is_sound {
                return false;
            }
        }
        let Self { body, near, views, touched, .. } = self;
        let mut begin = 0;
        for &(view, end) in &*views {
            let seen = view.of(*body);
            let touches = |other: u32| {
                let measured = bodies[other as usize].measure::<D>(&seen);
                let pair = ([id, other], view.image.axes(|steps| -steps));
                decide.map_or_else(|| measured.0 <= measured.1 * measured.1, |decide| decide.touches(pair, measured))
            };
            touched.extend(near[begin..end].iter().filter(|&&other| touches(other)));
            begin = end;
        }
        true
    }
}

impl<const D: usize> Strays<D> {
    pub(super) fn bytes(&self) -> usize {
        let of_one = |Stray { near, views, touched, touched_before, .. }: &Stray<D>| {
            [near, touched, touched_before].map(Vec::capacity).iter().sum::<usize>() * size_of::<u32>()
                + views.capacity() * size_of::<(View<D>, usize)>()
        };
        let ids = [&self.ids, &self.there].map(Vec::capacity).iter().sum::<usize>();
        (ids + self.columns.capacity() + D * self.homes.capacity()) * size_of::<u32>()
            + self.strays.iter().map(of_one).sum::<usize>()
            + self.strays.capacity() * size_of::<Stray<D>>()
            + self.pairs.capacity() * size_of::<[u32; 2]>()
            + self.changes.bytes()
            + self.tree.bytes()
            + self.marks.bytes()
            + self.places.bytes()
            + self.patch.bytes()
    }

    /// None strays any more; candidates have been found by this tree, if they have by one, of bodies that have so many pairs each.
    pub(super) fn begin(&mut self, found: Option<(&LinearTree<D>, f64)>) {
        self.build = found.map_or(0, |(tree, _)| tree.build_number());
        self.most_spent = found.filter(|&(_, pairs)| pairs >= FEW).map(|(tree, _)| tree.len() / SPENT);
        (self.new, self.many, self.spent) = (0, 0, 0);
        self.marks.clear();
        self.ids.clear();
        self.pairs.clear();
        self.places.clear();
        self.patch.clear();
        self.changes.clear();
    }

    /// Whether bodies may stray that candidates were found of by this tree.
    pub(super) fn may_be(&self, tree: &LinearTree<D>) -> bool {
        self.build > 0 && self.build == tree.build_number()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// For how many times as many frames, as it seems, so many bodies may go on to stray as they have since candidates were found; infinite where
    /// that does not matter.
    pub(super) fn may_last(&self, bodies: usize) -> f64 {
        let part = |of: usize, most: usize| of as f64 / most.max(1) as f64;
        let used_up = |most_spent| part(self.many, bodies / SHARE).max(part(self.spent, most_spent).sqrt());
        self.most_spent.map_or(f64::INFINITY, |most_spent| 1.0 / used_up(most_spent))
    }

    /// Those that strayed in the last frame, and where they were, or were not.
    pub(super) fn bodies(&self) -> impl Iterator<Item = (u32, Packed)> {
        self.ids.iter().zip(&self.strays).map(|(&id, stray)| (id, stray.body))
    }

    /// Who strays.
    pub(super) fn marks(&self) -> &Marks {
        &self.marks
    }

    /// The pairs of bodies that stray.
    pub(super) fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// Finds the pairs of all that have strayed so far, and of those that do now, among these bodies, where they are nowhere from now on; whether
    /// few do, and all are sound. They may be looked for by how near others are, with such a margin.
    pub(super) fn find(
        &mut self,
        now: &mut Vec<u32>,
        (grown, bodies, margin): (&LinearTree<D>, &mut [Packed], f32),
        rules: Rules<'_, D>,
        workers: Workers<'_>,
    ) -> bool {
        self.pairs.clear();
        now.retain(|&id| !self.marks.has(id));
        now.sort_unstable();
        self.many = self.ids.len() + now.len();
        self.spent += self.many;
        let few = self.many <= bodies.len() / SHARE && self.most_spent.is_none_or(|most| self.spent <= most);
        let found = few && self.find_with(now, (grown, bodies, margin), rules, workers);
        if !found {
            self.build = 0;
        }
        found
    }

    fn find_with(
        &mut self,
        new: &[u32],
        (grown, bodies, margin): (&LinearTree<D>, &mut [Packed], f32),
        rules: Rules<'_, D>,
        workers: Workers<'_>,
    ) -> bool {
        let before = self.ids.len();
        new.iter().for_each(|&id| self.marks.set(id));
        self.ids.extend_from_slice(new);
        self.new = new.len();
        if self.strays.len() < self.ids.len() {
            self.strays.resize(self.ids.len(), Stray::default());
        }
        self.strays[before..self.ids.len()].iter_mut().for_each(Stray::begin);
        for (&id, stray) in self.ids.iter().zip(&mut self.strays) {
            let body = bodies.get_mut(id as usize);
            stray.body = body.map_or(Packed::NOWHERE, |body| core::mem::replace(body, Packed::NOWHERE));
        }
        let found = self.ids.is_empty() || self.find_pairs((grown, bodies, margin), rules, workers);
        if !found {
            for (id, body) in self.bodies() {
                bodies.get_mut(id as usize).into_iter().for_each(|slot| *slot = body);
            }
        }
        found
    }

    fn find_pairs(&mut self, among: Among<'_, D>, rules: Rules<'_, D>, workers: Workers<'_>) -> bool {
        let Self { ids, strays, there, tree, columns, homes, pairs, .. } = self;
        let ((_, bodies, _), Rules { layers, decide, repeats }) = (among, rules);
        let within = decide.map_or(0.0, |decide| decide.within);
        let strays = &mut strays[..ids.len()];
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
        let (ids, there, columns, tree, homes) = (&*ids, &*there, &*columns, &*tree, &*homes);
        let failed = AtomicBool::new(false);
        workers.fill_blocks("strays", strays, BLOCK, |first, block| {
            for (number, stray) in (first as u32..).zip(block) {
                core::mem::swap(&mut stray.touched, &mut stray.touched_before);
                stray.touched.clear();
                if !stray.is_there() {
                    continue;
                }
                let id = ids[number as usize];
                let mut is_sound = stray.find_among(id, among, rules);
                let reach = if within > 0.0 {
                    (stray.body.radius() + within) * (1.0 + 2.0 * ROUNDING)
                } else {
                    stray.body.radius()
                };
                let Stray { body, touched, .. } = stray;
                each_view(repeats, (*body, reach), |view| {
                    let seen = view.of(*body);
                    let circle = Circle::new(from_axes(|axis| seen.0[axis]), reach);
                    let among_them = Queries::new(tree).visit_circle(circle, |other| {
                        let at = there[other as usize] as usize;
                        let touches = |decide: Decide<'_, D>| {
                            let column = |axis: usize| columns[axis * there.len() + other as usize];
                            let them = Packed::new::<D>(from_axes(column), column(D));
                            let image = from_axes(|k| homes[other as usize][k] - view.image[k]);
                            decide.touches(([id, ids[at]], image), seen.measure::<D>(&them))
                        };
                        if at > number as usize && decide.is_none_or(touches) {
                            touched.push(ids[at]);
                        }
                    });
                    is_sound &= among_them.is_ok();
                });
                if let Some(layers) = layers {
                    touched.retain(|&other| layers.meets(id, &layers, other));
                }
                if !is_sound {
                    failed.store(true, Ordering::Relaxed);
                }
            }
        });
        for (&id, stray) in ids.iter().zip(strays) {
            pairs.extend(stray.touched.iter().map(|&other| [id.min(other), id.max(other)]));
        }
        // A few may touch all others: more pairs than bodies are sooner found by a search.
        pairs.len() <= bodies.len() && !failed.into_inner()
    }

    /// Finds where in a list that was found by this tree, of bodies with margins that `grown` tells and of such images, pairs stand of which one
    /// body strays.
    pub(super) fn find_places(
        &mut self,
        listed: Listed<'_>,
        (tree, ghosts, grown): (&LinearTree<D>, &Ghosts<D>, &(dyn Fn(u32) -> Option<Circle<D>> + Sync)),
        on: (Isa, Workers<'_>),
    ) {
        let who = Who { marks: &self.marks, new: &self.ids[self.ids.len() - self.new..] };
        let near = |name: u32, visit: &mut dyn FnMut(usize, &[u32])| {
            let Some(body) = grown(name).filter(|_| (name as usize) < tree.len()) else { return };
            let reach = body.radius * (1.0 + 2.0 * ROUNDING) + LEAST;
            // Who has been found by that tree is sound.
            let _ = Queries::new(tree).visit_leaves_at_circle(Circle::new(body.center, reach), visit);
        };
        let images_of = |id: u32| ghosts.images_of(id);
        let found_as = |pair: [u32; 2]| ghosts.found_as(pair);
        let (ids, starts) = (tree.leaf_ids(), tree.leaf_starts());
        let by = FoundBy { ids, starts, near: &near, images_of: &images_of, found_as: &found_as };
        self.places.find(listed, by, who, on);
    }

    /// Takes those pairs out of the list, and puts in those of bodies that stray.
    pub(super) fn patch(&mut self, list: &mut PairList, workers: Workers<'_>) {
        if self.is_empty() {
            return;
        }
        self.patch.put(list, self.places.holes(), &self.pairs, workers);
    }

    /// Makes a list as it was before it was patched.
    pub(super) fn restore(&mut self, list: &mut PairList, workers: Workers<'_>) {
        self.patch.restore(list, workers);
    }

    /// Notes the changes of pairs of bodies that stray since the rows of the last frame were made. `might_touch` lists what a body may have
    /// touched before it strayed.
    pub(super) fn note_changes(
        &mut self,
        rows: &NeighborLists,
        might_touch: &(dyn Fn(u32, &mut Vec<u32>) + Sync),
        workers: Workers<'_>,
    ) {
        let Self { ids, new, marks, strays, changes, .. } = self;
        let (ids, marks, first_new) = (&*ids, &*marks, ids.len() - *new);
        let is_before =
            |one: u32, other: u32| marks.has(one) && (one < other || ids[first_new..].binary_search(&one).is_err());
        changes.note((&mut strays[..ids.len()], BLOCK), workers, |number, stray| {
            let id = ids[number];
            if number >= first_new {
                let before = &mut stray.touched_before;
                before.clear();
                might_touch(id, before);
                before.sort_unstable();
                before.dedup();
                before.retain(|&other| {
                    let [a, b] = [id.min(other), id.max(other)];
                    a != b && !is_before(other, id) && rows.of(a as usize).binary_search(&b).is_ok()
                });
            }
            (id, &mut stray.touched_before, &mut stray.touched)
        });
    }

    /// What has been noted, and who strays.
    pub(super) fn changes(&self) -> (&[([u32; 2], bool)], &Marks) {
        (self.changes.all(), &self.marks)
    }
}

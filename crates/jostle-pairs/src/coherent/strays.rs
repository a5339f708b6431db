//! The few bodies that stray: farther from their course than they may, or, where bodies are kept as they stand, farther than their margin. For
//! all others, what is kept holds on.
//!
//! Among the bodies by which candidates are tested, who strays is nowhere, and touches nobody. Its pairs are found in each frame by questions
//! to trees: that of bodies with margins, by which candidates were found, and one of those that stray.

mod patch;
mod places;

use core::array::from_fn;
use core::sync::atomic::{AtomicBool, Ordering};

use jostle_core::axes::from_axes;
use jostle_core::scratch::resize_with_headroom;
use jostle_core::{Bodies, Isa, LinearTree, Threads, Workers};
use jostle_sets::{Circle, Queries};

use crate::coherent::packed::Packed;
use crate::coherent::slack::ROUNDING;
use crate::join::hits::PairList;
use crate::neighbors::NeighborLists;
use patch::Patch;
pub(super) use places::Listed;
use places::Places;

/// One body of so many may stray, in the plane and in space.
const SHARES: [usize; 2] = [64, 384];

pub(super) const fn share(axes: usize) -> usize {
    SHARES[if axes > 2 { 1 } else { 0 }]
}

/// And they may have one pair for so many bodies: a few may touch all others.
const PAIRS: usize = 2;

/// Bodies that one task looks for.
const BLOCK: usize = 16;

/// What is added to the radius of one that strays, for squares that are denormal or vanish: 2^-70.
const LEAST: f32 = f32::from_bits((127 - 70) << 23);

/// Where bodies that stray stand for candidates.
const NOWHERE: Packed = Packed([f32::NAN; 4]);

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Strays<const D: usize> {
    /// Those that stray, ascending; and those that did not in the frame before.
    ids: Vec<u32>,
    new: Vec<u32>,
    marks: Marks,
    /// As they are.
    bodies: Vec<Packed>,
    /// The build of the tree of bodies with margins; of none before, and where another was built since.
    build: u64,
    /// The tree of those that stray, by their number among them, and what it is built of: their centres, axis by axis, and radii.
    tree: LinearTree<D>,
    columns: Vec<f32>,
    /// The pairs that each task finds, the lesser first.
    found: Vec<Vec<[u32; 2]>>,
    /// All of them, and those of the frame before.
    pairs: Vec<[u32; 2]>,
    were: Vec<[u32; 2]>,
    places: Places,
    patch: Patch,
    /// Pairs that come to rows, or are taken away; and, for those, what one may have touched, and the pairs of this frame, ascending.
    changes: Vec<([u32; 2], bool)>,
    might_touch: Vec<u32>,
    ascending: Vec<[u32; 2]>,
}

/// A bit for each body: it strays.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<u32>);

impl Marks {
    fn set(&mut self, id: u32) {
        let word = id as usize / 32;
        if self.0.len() <= word {
            resize_with_headroom(&mut self.0, word + 1);
        }
        self.0[word] |= 1 << (id % 32);
    }

    #[inline(always)]
    pub(super) fn has(&self, id: u32) -> bool {
        self.0.get(id as usize / 32).is_some_and(|word| word >> (id % 32) & 1 == 1)
    }

    #[inline(always)]
    pub(super) fn has_any(&self, [a, b]: [u32; 2]) -> bool {
        self.has(a) | self.has(b)
    }
}

impl<const D: usize> Strays<D> {
    pub(super) fn bytes(&self) -> usize {
        let ids = [&self.ids, &self.new, &self.might_touch, &self.marks.0].map(Vec::capacity).iter().sum::<usize>();
        let lists = self.found.iter().chain([&self.pairs, &self.were, &self.ascending]);
        (ids + self.columns.capacity()) * size_of::<u32>()
            + self.bodies.capacity() * size_of::<Packed>()
            + self.found.capacity() * size_of::<Vec<[u32; 2]>>()
            + lists.map(Vec::capacity).sum::<usize>() * size_of::<[u32; 2]>()
            + self.changes.capacity() * size_of::<([u32; 2], bool)>()
            + self.tree.bytes()
            + self.places.bytes()
            + self.patch.bytes()
    }

    /// None strays any more; candidates have been found by this tree, if they have by one.
    pub(super) fn begin(&mut self, tree: Option<&LinearTree<D>>) {
        self.build = tree.map_or(0, LinearTree::build_number);
        self.marks.0.clear();
        self.ids.clear();
        self.new.clear();
        self.pairs.clear();
        self.were.clear();
        self.places.clear();
        self.patch.clear();
    }

    /// Whether bodies may stray that candidates were found of by this tree.
    pub(super) fn may_be(&self, tree: &LinearTree<D>) -> bool {
        self.build > 0 && self.build == tree.build_number()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    pub(super) fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Those that strayed in the last frame, and where they were.
    pub(super) fn bodies(&self) -> impl Iterator<Item = (u32, Packed)> {
        self.ids.iter().copied().zip(self.bodies.iter().copied())
    }

    /// The pairs of bodies that stray.
    pub(super) fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// Finds the pairs of all that have strayed so far, and of those that do now, among these bodies, where they are nowhere from now on; whether
    /// few do, and all are sound.
    pub(super) fn find(
        &mut self,
        now: &mut Vec<u32>,
        (grown, bodies): (&LinearTree<D>, &mut [Packed]),
        workers: Workers<'_>,
    ) -> bool {
        core::mem::swap(&mut self.pairs, &mut self.were);
        self.pairs.clear();
        now.sort_unstable();
        now.retain(|&id| !self.marks.has(id));
        core::mem::swap(&mut self.new, now);
        let few = self.ids.len() + self.new.len() <= bodies.len() / share(D);
        let found = few && self.find_among(grown, bodies, workers);
        if !found {
            // What is known of those that stray is not of this frame any more.
            self.build = 0;
        }
        found
    }

    fn find_among(&mut self, grown: &LinearTree<D>, bodies: &mut [Packed], workers: Workers<'_>) -> bool {
        self.new.iter().for_each(|&id| self.marks.set(id));
        self.ids.extend_from_slice(&self.new);
        self.ids.sort_unstable();
        self.bodies.clear();
        for &id in &self.ids {
            self.bodies.push(core::mem::replace(&mut bodies[id as usize], NOWHERE));
        }
        let found = self.ids.is_empty() || self.find_pairs(grown, bodies, workers);
        if !found {
            self.bodies().for_each(|(id, body)| bodies[id as usize] = body);
        }
        found
    }

    fn find_pairs(&mut self, grown: &LinearTree<D>, bodies: &[Packed], workers: Workers<'_>) -> bool {
        let Self { ids, bodies: strays, tree, columns, found, pairs, .. } = self;
        columns.clear();
        for axis in 0..D {
            columns.extend(strays.iter().map(|body| body.0[axis]));
        }
        columns.extend(strays.iter().map(Packed::radius));
        let column = |number: usize| &columns[number * strays.len()..][..strays.len()];
        if tree.build(Bodies::from_slices(from_fn(column), column(D)), Threads::Serial).is_err() {
            return false;
        }
        let tasks = ids.len().div_ceil(BLOCK);
        if found.len() < tasks {
            found.resize_with(tasks, Vec::new);
        }
        let (ids, strays, tree, failed) = (&*ids, &*strays, &*tree, AtomicBool::new(false));
        workers.fill_blocks("strays", &mut found[..tasks], 1, |task, found| {
            let found = &mut found[0];
            found.clear();
            for (number, body) in strays.iter().enumerate().skip(task * BLOCK).take(BLOCK) {
                let (id, center) = (ids[number], from_axes(|axis| body.0[axis]));
                let mut note = |other: u32| found.push([id.min(other), id.max(other)]);
                let reach = body.radius() * (1.0 + ROUNDING) + LEAST;
                // Of those that stray themselves none is there.
                let among_others = Queries::new(grown).visit_circle(Circle::new(center, reach), |other| {
                    if bodies[other as usize].touches::<D>(body, [0.0; D]) {
                        note(other);
                    }
                });
                let among_them = Queries::new(tree).visit_circle(Circle::new(center, body.radius()), |other| {
                    if other as usize > number {
                        note(ids[other as usize]);
                    }
                });
                if among_others.is_err() || among_them.is_err() {
                    failed.store(true, Ordering::Relaxed);
                }
            }
        });
        found[..tasks].iter().for_each(|found| pairs.extend_from_slice(found));
        pairs.len() <= bodies.len() / PAIRS && !failed.into_inner()
    }

    /// Finds where in a list pairs stand of which one body strays.
    pub(super) fn find_places(&mut self, listed: Listed<'_, D>, on: (Isa, Workers<'_>)) {
        self.places.find(listed, &self.new, on);
    }

    /// Takes those pairs out of the list, and puts in those of bodies that stray.
    pub(super) fn patch(&mut self, list: &mut PairList) {
        if self.is_empty() {
            return;
        }
        self.patch.put(list, self.places.holes(), &self.pairs);
    }

    /// Makes a list as it was before it was patched.
    pub(super) fn restore(&mut self, list: &mut PairList) {
        self.patch.restore(list);
    }

    /// Notes the changes of pairs of bodies that stray since the rows of the last frame were made. `might_touch` lists what a body may have
    /// touched before it strayed.
    pub(super) fn note_changes(&mut self, rows: &NeighborLists, might_touch: impl Fn(u32, &mut Vec<u32>)) {
        let Self { new, pairs, were, changes, might_touch: touched, ascending, .. } = self;
        for &id in &*new {
            touched.clear();
            might_touch(id, touched);
            let pairs = touched.iter().map(|&other| [id.min(other), id.max(other)]);
            were.extend(pairs.filter(|&[a, b]| a != b && rows.of(a as usize).binary_search(&b).is_ok()));
        }
        were.sort_unstable();
        were.dedup();
        ascending.clear();
        ascending.extend_from_slice(pairs);
        ascending.sort_unstable();
        changes.clear();
        changes.extend(without(were, ascending).map(|pair| (pair, true)));
        changes.extend(without(ascending, were).map(|pair| (pair, false)));
    }

    /// What [`Strays::note_changes`] has noted: pairs that come, or are taken away.
    pub(super) fn changes(&self) -> &[([u32; 2], bool)] {
        &self.changes
    }
}

/// Some pairs without others, both ascending.
fn without(some: &[[u32; 2]], others: &[[u32; 2]]) -> impl Iterator<Item = [u32; 2]> {
    let mut others = others.iter().peekable();
    some.iter().copied().filter(move |pair| {
        while others.next_if(|&other| other < pair).is_some() {}
        others.peek() != Some(&pair)
    })
}

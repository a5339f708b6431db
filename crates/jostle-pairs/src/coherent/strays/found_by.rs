//! A list some of whose bodies stray, and the trees by which it was found.

use core::ops::Range;

use jostle_core::LinearTree;
use jostle_core::axes::{Both, from_axes};
use jostle_core::sixteen::Ids;
use jostle_sets::proxy::sorted::SortedSet;
use jostle_sets::{Circle, Queries};

use crate::coherent::current::Current;
use crate::coherent::live::{Live, NamesOf};
use crate::coherent::numbers::Member;
use crate::coherent::slack::reaching;

/// A list of pairs, which [`Live`] keeps, and the names by which candidates call bodies.
#[derive(Clone, Copy)]
pub(in crate::coherent) struct ListView<'a> {
    pub(in crate::coherent) pairs: &'a [[u32; 2]],
    pub(in crate::coherent) live: &'a Live,
    pub(in crate::coherent) names: &'a NamesOf<'a>,
}

/// The trees by which a list was found, one for each set: of bodies where they were kept, with a margin.
#[derive(Clone, Copy)]
pub(in crate::coherent) struct ByTrees<'a, const D: usize> {
    pub(in crate::coherent) sorted: &'a [SortedSet<D>],
    pub(in crate::coherent) kept: &'a Current<D>,
    pub(in crate::coherent) margin: f64,
}

/// [`ByTrees`], whatever the number of axes.
pub(super) trait FoundBy: Sync {
    /// Returns the set whose tree the search went through, group by group, for the pairs of two sets.
    fn query_set(&self, sets: [u32; 2]) -> u32;

    /// Returns the ids of a set leaf by leaf, and the first rank of each leaf.
    fn leaves(&self, set: u32) -> (&[Ids], &[u32]);

    /// Visits the leaves of `set` that have bodies near the body or ghost image of such a name; none if that was not
    /// there.
    fn visit_near(&self, set: u32, named: Member, visit: &mut dyn FnMut(usize, &[u32]));

    /// Whether a body was there. Bodies that have come since may have the names of ghost images.
    fn was_there(&self, body: Member) -> bool;

    /// Returns the names of the ghost images of a body.
    fn images_of(&self, body: Member) -> Range<u32>;

    /// Returns the names of the two bodies of a pair under which the pair was found.
    fn found_as(&self, sets: [u32; 2], pair: [u32; 2]) -> [u32; 2];
}

impl<const D: usize> ByTrees<'_, D> {
    pub(super) fn tree(&self, set: u32) -> &LinearTree<D> {
        self.sorted[set as usize].own_tree()
    }

    /// Returns a body, or a ghost image of one, as it was when candidates were found.
    fn grown(&self, Member { set, id }: Member) -> Option<Circle<D>> {
        self.kept.grown_body(set as usize, id, self.margin)
    }

    /// Visits the bodies whose margins touch that of a body, some twice, if candidates of these two sets may be of
    /// both.
    pub(in crate::coherent) fn visit_touched(&self, body: Member, sets: [u32; 2], visit: &mut dyn FnMut(Member)) {
        let is_within = sets[0] == sets[1];
        for (role, set) in (0..2).zip(sets).take(if is_within { 1 } else { 2 }).filter(|&(_, set)| set == body.set) {
            let other = sets[1 - role];
            let (tree, ghosts) = (self.tree(other), self.kept.ghosts(other as usize));
            for id in names(self, body, is_within || role == 1) {
                let Some(grown) = self.grown(Member { set, id }) else { continue };
                // A body that was found by that tree is sound.
                let _ = Queries::of_stand_ins(tree)
                    .visit_circle(grown, |name| visit(Member { set: other, id: ghosts.body(name) }));
            }
        }
    }
}

/// Returns the names of a body: its own, and, as the second body of its pairs, those of its ghost images.
pub(super) fn names(by: &dyn FoundBy, body: Member, with_images: bool) -> impl Iterator<Item = u32> {
    let own = by.was_there(body).then_some(body.id);
    own.into_iter().chain(if with_images { by.images_of(body) } else { 0..0 })
}

impl<const D: usize> FoundBy for ByTrees<'_, D> {
    fn query_set(&self, sets: [u32; 2]) -> u32 {
        let [one, other] = sets.both(|set| self.tree(set).len());
        sets[usize::from(one > other)]
    }

    fn leaves(&self, set: u32) -> (&[Ids], &[u32]) {
        let tree = self.tree(set);
        (tree.leaf_ids(), tree.leaf_starts())
    }

    fn visit_near(&self, set: u32, named: Member, visit: &mut dyn FnMut(usize, &[u32])) {
        let is_listed = (named.id as usize) < self.tree(named.set).len();
        let Some(body) = self.grown(named).filter(|_| is_listed) else { return };
        let reach = reaching(body.radius);
        // A body that was found by that tree is sound.
        let _ = Queries::of_stand_ins(self.tree(set)).visit_leaves_at_circle(Circle::new(body.center, reach), visit);
    }

    fn was_there(&self, Member { set, id }: Member) -> bool {
        (id as usize) < self.kept.ghosts(set as usize).first_name()
    }

    fn images_of(&self, Member { set, id }: Member) -> Range<u32> {
        self.kept.ghosts(set as usize).images_of(id)
    }

    fn found_as(&self, sets: [u32; 2], [a, b]: [u32; 2]) -> [u32; 2] {
        let [one, other] = sets;
        if one == other {
            return self.kept.ghosts(one as usize).found_as([a, b]);
        }
        let images = self.images_of(Member { set: other, id: b });
        let Some(from) = self.grown(Member { set: one, id: a }).filter(|_| !images.is_empty()) else { return [a, b] };
        let distance2 = |id: u32| {
            self.grown(Member { set: other, id }).map_or(f32::INFINITY, |to| {
                let apart: [f32; D] = from_axes(|axis| to.center[axis] - from.center[axis]);
                apart.iter().fold(0.0, |sum, apart| sum + apart * apart)
            })
        };
        let nearer = |nearest: u32, other: u32| if distance2(other) < distance2(nearest) { other } else { nearest };
        [a, images.fold(b, nearer)]
    }
}

//! The bodies of this frame, as the predicate reads them, and the predicate of one candidate. Plain bodies are kept and
//! measured in `plain`; `moved` tells how far they have moved when a list ends.

mod moved;
mod plain;

use core::mem::take;

use jostle_core::Workers;
use jostle_core::axes::Both;
use jostle_core::prefetch::prefetch;
use jostle_core::scratch::fill_with_headroom;
use jostle_sets::input::{Input, Set};
use jostle_sets::proxy::Exact;

use crate::coherent::course::Course;
use crate::coherent::frame_input::FrameInput;
use crate::coherent::ghosts::{Ghosts, GhostsOfTwo, NOWHERE, Others};
use crate::coherent::layers;
use crate::coherent::names::Names;
use crate::coherent::numbers::Member;
use crate::coherent::packed::{Moving, Packed, are_far};
use crate::coherent::reference::{Reference, block};
use crate::coherent::stand_ins::StandIns;
use crate::join::filter::PairTest;
use crate::pairs::ranks::Ranks;

/// Bodies that are put in order of rank are prefetched so many ahead.
const AHEAD: usize = 32;

/// What is used up where too many bodies stray to look for the pairs of each: more than any margin.
pub(super) const TOO_FAR: f64 = f64::MAX;

/// One set.
#[derive(Debug)]
struct SetNow<const D: usize> {
    /// The kept bodies, then their ghost images, if they have any. Bodies that have come since are apart then, in
    /// `newcomers`.
    bodies: Vec<Packed>,
    newcomers: Vec<Packed>,
    /// The bodies in the last frame, while their last steps are to be known.
    before: Vec<Packed>,
    /// The bodies as they were kept.
    reference: Reference<D>,
    /// The bodies as they are, and as they are kept, while a list is made.
    moving: Vec<Moving>,
    /// The ghost images behind the bodies, the borders of the kept bodies, and the others that these images may touch.
    ghosts: Ghosts<D>,
    borders: [[f32; 2]; D],
    others: Others<D>,
}

impl<const D: usize> Default for SetNow<D> {
    fn default() -> Self {
        Self {
            bodies: Vec::new(),
            newcomers: Vec::new(),
            before: Vec::new(),
            reference: Reference::default(),
            moving: Vec::new(),
            ghosts: Ghosts::default(),
            borders: [NOWHERE; D],
            others: Others::default(),
        }
    }
}

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Current<const D: usize> {
    sets: Vec<SetNow<D>>,
    /// How many sets the input of this frame has.
    of_input: usize,
    /// How far a body may be from where its stand-in says that it is.
    error: f64,
    /// The bodies of the only set by rank in their tree, where candidates name bodies by rank.
    by_rank: Vec<Packed>,
    moving_by_rank: Vec<Moving>,
    /// Of bodies that are kept ahead: their course, how many steps they are from where they are kept, and how far one
    /// has strayed, at most.
    course: Option<Course>,
    /// Whether bodies on no course have margins of their own. And whether those that have used up theirs stray then.
    own: bool,
    own_stray: bool,
    steps: f64,
    strayed: f64,
    /// How far a body may stray; bodies that stray farther are looked for separately.
    limit: f64,
    /// How far one has strayed, at most, stray bodies included; where bodies are kept as they stand, how much one has
    /// used up.
    farthest: f64,
    /// How far a sample of bodies has come.
    sample: Vec<[f64; 2]>,
    /// How far a sample of bodies has moved, or strayed.
    quantile_of: Vec<f32>,
}

impl<const D: usize> SetNow<D> {
    /// Returns how many bodies have been read, without ghost images and without `newcomers`.
    fn count(&self) -> usize {
        self.ghosts.first_name().min(self.bodies.len())
    }

    /// Puts the ghost images behind bodies that have just been read.
    fn put_ghosts(&mut self, workers: Workers<'_>) {
        let Self { bodies, newcomers, ghosts, .. } = self;
        newcomers.clear();
        newcomers.extend_from_slice(bodies.get(ghosts.first_name()..).unwrap_or_default());
        ghosts.put_behind(bodies, Packed::moved, workers);
    }
}

impl<const D: usize> Current<D> {
    pub(super) fn bytes(&self) -> usize {
        let of = |now: &SetNow<D>| {
            (now.bodies.capacity() + now.newcomers.capacity() + now.before.capacity()) * size_of::<Packed>()
                + now.moving.capacity() * size_of::<Moving>()
                + now.reference.bytes()
                + now.ghosts.bytes()
        };
        self.sets.iter().map(of).sum::<usize>()
            + self.sets.capacity() * size_of::<SetNow<D>>()
            + self.by_rank.capacity() * size_of::<Packed>()
            + self.moving_by_rank.capacity() * size_of::<Moving>()
            + self.sample.capacity() * size_of::<[f64; 2]>()
            + self.quantile_of.capacity() * size_of::<f32>()
    }

    /// Puts bodies that have been read in the order of these ids.
    pub(super) fn put_by_rank(&mut self, ids: &[u32], workers: Workers<'_>) {
        let Self { sets, by_rank, .. } = self;
        put(by_rank, sets.first().map_or(&[], |now| now.bodies.as_slice()), ids, workers);
    }

    /// Takes the memory for bodies by rank.
    pub(super) fn take_moving_by_rank(&mut self) -> Vec<Moving> {
        take(&mut self.moving_by_rank)
    }

    /// Returns the kept bodies of a set, without ghost images. Bodies that have come since may follow.
    pub(super) fn bodies(&self, set: usize) -> &[Packed] {
        self.sets.get(set).map_or(&[], |now| &now.bodies[..now.count()])
    }

    /// Returns how many bodies of all sets have been read, without ghost images.
    pub(super) fn count(&self) -> usize {
        self.sets[..self.of_input].iter().map(|now| now.count() + now.newcomers.len()).sum()
    }

    /// Returns a body that has been read, if there is such a body.
    pub(super) fn body_mut(&mut self, Member { set, id }: Member) -> Option<&mut Packed> {
        let now = self.sets.get_mut(set as usize)?;
        let (count, id) = (now.count(), id as usize);
        if id < count { now.bodies.get_mut(id) } else { now.newcomers.get_mut(id - count) }
    }

    /// Returns the ghost images of the bodies of a set.
    pub(super) fn ghosts(&self, set: usize) -> &Ghosts<D> {
        &self.sets[set].ghosts
    }

    /// Gives back what [`Current::take_moving_by_rank`] has taken.
    pub(super) fn give_back(&mut self, moving: Vec<Moving>) {
        self.moving_by_rank = moving;
    }

    fn make_room(&mut self, input: &Input<'_, D>) {
        self.sets.resize_with(input.sets().len().max(self.sets.len()), SetNow::default);
    }

    /// Returns the test of candidates, which name bodies by rank where `ranks` has ids.
    pub(super) fn test<'a>(
        &'a self,
        given: FrameInput<'a, D>,
        ranks: &'a Ranks,
        (only, sieves_layers): (Option<PairTest<'a>>, bool),
    ) -> Test<'a, D> {
        let sets = given.input.sets();
        Test {
            sets,
            now: &self.sets,
            by_rank: &self.by_rank,
            doubted: given
                .stand_ins
                .filter(|_| self.error > 0.0)
                .map(|stand_ins| (stand_ins, stand_ins.exact(given.untreed))),
            in_doubt: (2.0 * self.error) as f32,
            ids: ranks.ids(),
            layered: layers::are_any(sets),
            sieves_layers,
            only,
        }
    }
}

/// Puts bodies in the order of these ids.
pub(super) fn put<B: Copy + Default + Send + Sync>(out: &mut Vec<B>, bodies: &[B], ids: &[u32], workers: Workers<'_>) {
    fill_with_headroom(out, ids.len(), B::default());
    let block = block(out.len(), workers);
    workers.fill_blocks("by rank", out, block, |first, block| {
        let ids = &ids[first..];
        let asked = if are_far(bodies.len()) { ids } else { &[] };
        for (at, (slot, &id)) in (AHEAD..).zip(block.iter_mut().zip(ids)) {
            asked.get(at).into_iter().for_each(|&id| prefetch(&bodies[id as usize]));
            *slot = bodies[id as usize];
        }
    });
}

/// Tells which candidates are pairs.
#[derive(Clone, Copy)]
pub(super) struct Test<'a, const D: usize> {
    sets: &'a [Set<'a, D>],
    now: &'a [SetNow<D>],
    /// The bodies of the only set by rank, where candidates name bodies by rank.
    by_rank: &'a [Packed],
    /// The stand-ins, and what decides by the caller's numbers, if it may be in doubt whether two bodies touch. It is
    /// in doubt while their stand-ins are no farther than `in_doubt` from touching, or from no longer touching.
    doubted: Option<(&'a StandIns<D>, Exact<'a, D>)>,
    in_doubt: f32,
    /// The ids of ranks, where candidates name bodies by rank.
    ids: &'a [u32],
    layered: bool,
    /// Whether layers are looked at in this frame, and not when candidates were listed.
    sieves_layers: bool,
    only: Option<PairTest<'a>>,
}

impl<'a, const D: usize> Test<'a, D> {
    /// Whether a function of the caller's is asked.
    pub(super) fn asks_callers(&self) -> bool {
        self.only.is_some()
    }

    /// Returns the bodies of two sets as candidates name them, and whether to prefetch them.
    pub(super) fn named(&self, sets: [u32; 2]) -> ([&'a [Packed]; 2], bool) {
        if !self.by_rank.is_empty() {
            // By rank, the bodies of successive candidates lie together.
            return ([self.by_rank; 2], false);
        }
        let bodies = sets.both(|set| self.now[set as usize].bodies.as_slice());
        (bodies, bodies.iter().any(|bodies| are_far(bodies.len())))
    }

    /// Returns the bodies of two sets by id, as they are and as they are kept, while a list is made.
    pub(super) fn moving(&self, sets: [u32; 2]) -> [&'a [Moving]; 2] {
        sets.both(|set| self.now[set as usize].moving.as_slice())
    }

    /// Whether not all candidates that touch are pairs.
    pub(super) fn drops_some(&self) -> bool {
        self.only.is_some() || self.sieves_layers
    }

    /// Returns what tells more of candidates than their bodies do, if more is needed.
    pub(super) fn judge(&self, sets: [u32; 2]) -> Option<Verdict<'a, '_, D>> {
        let images = self.images(sets);
        let is_needed = self.layered || images.sort_out() || self.doubted.is_some();
        is_needed.then_some(Verdict { test: self, sets, images })
    }

    /// Returns what decides about candidates of two sets that are in doubt, if stand-ins may leave doubt.
    pub(super) fn doubt(&self, sets: [u32; 2]) -> Option<Doubt<'_, D>> {
        let (stand_ins, exact) = self.doubted.as_ref()?;
        Some(Doubt { within: self.in_doubt, ids: self.ids, images: self.images(sets), stand_ins, exact, sets })
    }

    /// Returns the ghost images of two sets.
    fn images(&self, sets: [u32; 2]) -> GhostsOfTwo<'a, D> {
        GhostsOfTwo::new(sets.both(|set| &self.now[set as usize].ghosts), sets[0] == sets[1])
    }

    /// Returns the names by which candidates of two sets call bodies.
    pub(super) fn names(&self, sets: [u32; 2]) -> Names<'a> {
        self.images(sets).names(self.ids)
    }

    fn meet(&self, sets: [u32; 2], pair: [u32; 2]) -> bool {
        layers::meet(self.sets, sets, pair)
    }

    /// Whether layers and the caller's test admit a pair.
    #[inline]
    pub(super) fn admits(&self, sets: [u32; 2], pair: [u32; 2]) -> bool {
        (!self.layered || self.meet(sets, pair)) && self.only.is_none_or(|only| only.keeps(sets, pair))
    }
}

/// Tells of candidates of two sets, by their ids, what their bodies alone do not tell.
pub(super) struct Verdict<'a, 't, const D: usize> {
    test: &'t Test<'a, D>,
    sets: [u32; 2],
    images: GhostsOfTwo<'a, D>,
}

impl<const D: usize> Verdict<'_, '_, D> {
    /// Returns the ghost images of both sets, if some candidates with no more than one image do not count.
    pub(super) fn images(&self) -> Option<&GhostsOfTwo<'_, D>> {
        Some(&self.images).filter(|images| images.sort_out())
    }

    /// Whether layers may keep two bodies from meeting; [`Verdict::meet`] tells whether they let two meet.
    pub(super) fn has_layers(&self) -> bool {
        self.test.layered
    }

    pub(super) fn meet(&self, ids: [u32; 2]) -> bool {
        self.test.meet(self.sets, self.images.bodies(ids))
    }

    /// Returns how far from touching two stand-ins may be while it is in doubt whether their bodies touch; none where
    /// stand-ins leave no doubt.
    pub(super) fn in_doubt(&self) -> Option<f32> {
        self.test.doubt(self.sets).map(|doubt| doubt.within)
    }

    /// Whether two bodies that are in doubt touch.
    pub(super) fn decide(&self, ids: [u32; 2]) -> bool {
        self.test.doubt(self.sets).is_some_and(|doubt| doubt.decide_ids(ids))
    }
}

/// Decides by the caller's own numbers about candidates in doubt: their stand-ins are no farther from touching, or from
/// no longer touching, than stand-ins may be wrong.
#[derive(Clone, Copy)]
pub(super) struct Doubt<'a, const D: usize> {
    /// How far from touching a candidate in doubt may be.
    pub(super) within: f32,
    ids: &'a [u32],
    images: GhostsOfTwo<'a, D>,
    stand_ins: &'a StandIns<D>,
    exact: &'a Exact<'a, D>,
    sets: [u32; 2],
}

impl<const D: usize> Doubt<'_, D> {
    /// Whether the bodies that a candidate names touch.
    #[cold]
    #[inline(never)]
    pub(super) fn decide(&self, names: [u32; 2]) -> bool {
        let ids = self.ids;
        self.decide_ids(if ids.is_empty() { names } else { names.both(|rank| ids[rank as usize]) })
    }

    /// Whether bodies of these ids touch.
    pub(super) fn decide_ids(&self, pair: [u32; 2]) -> bool {
        let Self { images, .. } = self;
        self.stand_ins.touch(self.exact, self.sets, images.bodies(pair), images.image_between(pair))
    }
}

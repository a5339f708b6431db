//! The bodies of this frame, as the predicate has them, and the predicate of one candidate. Plain ones are kept, and measured, in `plain`.

mod plain;

use core::mem::take;

use jostle_core::Workers;
use jostle_core::axes::Both;
use jostle_core::prefetch::prefetch;
use jostle_core::scratch::fill_with_headroom;
use jostle_sets::input::{Input, Set};
use jostle_sets::proxy::Exact;

use crate::coherent::course::Course;
use crate::coherent::ghosts::{Ghosts, GhostsOfTwo, NOWHERE};
use crate::coherent::given::Given;
use crate::coherent::layers;
use crate::coherent::names::Names;
use crate::coherent::numbers::Member;
use crate::coherent::packed::{Moving, Packed, are_far};
use crate::coherent::stand_ins::StandIns;
use crate::coherent::was::{Was, block};
use crate::join::filter::PairTest;
use crate::pairs::ranks::Ranks;

/// Bodies that are put by rank are asked for so many ahead.
const AHEAD: usize = 32;

/// What is used up where more bodies stray than are looked for by themselves, so that nobody knows their pairs: more than any margin.
pub(super) const TOO_FAR: f64 = f64::MAX;

/// One set.
#[derive(Debug)]
struct Now<const D: usize> {
    /// Behind those that are kept, their images, if they have such; then others that have come since are apart.
    bodies: Vec<Packed>,
    come: Vec<Packed>,
    /// As they were kept.
    was: Was<D>,
    /// As they are, and as they are kept, when a list is made.
    moving: Vec<Moving>,
    /// Images of them, behind them; where they lie themselves, and where all those do whose second they are, and whether that are they alone.
    ghosts: Ghosts<D>,
    borders: [[f32; 2]; D],
    of_firsts: [[f32; 2]; D],
    are_alone: bool,
}

impl<const D: usize> Default for Now<D> {
    fn default() -> Self {
        Self {
            bodies: Vec::new(),
            come: Vec::new(),
            was: Was::default(),
            moving: Vec::new(),
            ghosts: Ghosts::default(),
            borders: [NOWHERE; D],
            of_firsts: [NOWHERE; D],
            are_alone: true,
        }
    }
}

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Current<const D: usize> {
    sets: Vec<Now<D>>,
    /// How many sets the input of this frame has.
    of_input: usize,
    /// How far bodies may be from where those that stand in for them say.
    error: f64,
    /// The bodies of the only set by rank in their tree, where candidates name them so.
    by_rank: Vec<Packed>,
    moving_by_rank: Vec<Moving>,
    /// Of bodies that are kept ahead, and how many steps they are from there, and how far one has strayed, at most.
    course: Option<Course>,
    steps: f64,
    strayed: f64,
    /// How far all but those may stray that are looked for by themselves.
    limit: f64,
    /// As much of all, where some may stray; and of those that stand where they are kept, how much one has used up.
    farthest: f64,
    /// How far some have come.
    sample: Vec<[f64; 2]>,
    /// How far some have moved, or strayed.
    quantile_of: Vec<f32>,
}

impl<const D: usize> Now<D> {
    /// How many bodies have been read, without images of them, and without those that are apart.
    fn count(&self) -> usize {
        self.ghosts.first_name().min(self.bodies.len())
    }

    /// Puts the images behind bodies that have just been read.
    fn put_ghosts(&mut self, workers: Workers<'_>) {
        let Self { bodies, come, ghosts, .. } = self;
        come.clear();
        come.extend_from_slice(bodies.get(ghosts.first_name()..).unwrap_or_default());
        ghosts.put_behind(bodies, Packed::moved, workers);
    }
}

impl<const D: usize> Current<D> {
    pub(super) fn bytes(&self) -> usize {
        let of = |now: &Now<D>| {
            (now.bodies.capacity() + now.come.capacity()) * size_of::<Packed>()
                + now.moving.capacity() * size_of::<Moving>()
                + now.was.bytes()
                + now.ghosts.bytes()
        };
        self.sets.iter().map(of).sum::<usize>()
            + self.sets.capacity() * size_of::<Now<D>>()
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

    /// The memory for those by rank.
    pub(super) fn take_moving_by_rank(&mut self) -> Vec<Moving> {
        take(&mut self.moving_by_rank)
    }

    /// The bodies of a set that are kept, without their images, and maybe others that have come since.
    pub(super) fn bodies(&self, set: usize) -> &[Packed] {
        self.sets.get(set).map_or(&[], |now| &now.bodies[..now.count()])
    }

    /// How many bodies of all sets have been read, without their images.
    pub(super) fn count(&self) -> usize {
        self.sets[..self.of_input].iter().map(|now| now.count() + now.come.len()).sum()
    }

    /// A body that has been read, if it is one.
    pub(super) fn body_mut(&mut self, Member { set, id }: Member) -> Option<&mut Packed> {
        let now = self.sets.get_mut(set as usize)?;
        let (count, id) = (now.count(), id as usize);
        if id < count { now.bodies.get_mut(id) } else { now.come.get_mut(id - count) }
    }

    /// The images of bodies of a set.
    pub(super) fn ghosts(&self, set: usize) -> &Ghosts<D> {
        &self.sets[set].ghosts
    }

    /// Gives that memory back.
    pub(super) fn give_back(&mut self, moving: Vec<Moving>) {
        self.moving_by_rank = moving;
    }

    fn make_room(&mut self, input: &Input<'_, D>) {
        self.sets.resize_with(input.sets().len().max(self.sets.len()), Now::default);
    }

    /// How candidates are tested that name bodies by rank where there are ids.
    pub(super) fn test<'a>(
        &'a self,
        given: Given<'a, D>,
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
    now: &'a [Now<D>],
    /// Bodies of the only set by rank, where candidates name them so.
    by_rank: &'a [Packed],
    /// What stands in for bodies, if it may be in doubt whether two of those touch, where they are no farther from that than this; and what
    /// decides then.
    doubted: Option<(&'a StandIns<D>, Exact<'a, D>)>,
    in_doubt: f32,
    /// The ids of ranks, where candidates name bodies so.
    ids: &'a [u32],
    layered: bool,
    /// Whether layers are looked at in this frame alone.
    sieves_layers: bool,
    only: Option<PairTest<'a>>,
}

impl<'a, const D: usize> Test<'a, D> {
    /// Whether a function of the caller's is asked.
    pub(super) fn asks_callers(&self) -> bool {
        self.only.is_some()
    }

    /// The bodies of two sets as candidates name them; whether to ask for them ahead.
    pub(super) fn named(&self, sets: [u32; 2]) -> ([&'a [Packed]; 2], bool) {
        if !self.by_rank.is_empty() {
            // By rank, those of candidates that come one after the other lie together.
            return ([self.by_rank; 2], false);
        }
        let bodies = sets.both(|set| self.now[set as usize].bodies.as_slice());
        (bodies, bodies.iter().any(|bodies| are_far(bodies.len())))
    }

    /// The bodies of two sets by id, as they are, and as they are kept, when a list is made.
    pub(super) fn moving(&self, sets: [u32; 2]) -> [&'a [Moving]; 2] {
        sets.both(|set| self.now[set as usize].moving.as_slice())
    }

    /// Whether not all candidates that touch are pairs.
    pub(super) fn drops_some(&self) -> bool {
        self.only.is_some() || self.sieves_layers
    }

    /// What tells more of candidates than bodies do, if that is needed.
    pub(super) fn judge(&self, sets: [u32; 2]) -> Option<Verdict<'a, '_, D>> {
        let images = self.images(sets);
        let is_needed = self.layered || images.sort_out() || self.doubted.is_some();
        is_needed.then_some(Verdict { test: self, sets, images })
    }

    /// What decides about two of these sets that stand-ins tell too little of, if there are such.
    pub(super) fn doubt(&self, sets: [u32; 2]) -> Option<Doubt<'_, D>> {
        let (stand_ins, exact) = self.doubted.as_ref()?;
        Some(Doubt { within: self.in_doubt, ids: self.ids, images: self.images(sets), stand_ins, exact, sets })
    }

    /// The images of two sets.
    fn images(&self, sets: [u32; 2]) -> GhostsOfTwo<'a, D> {
        GhostsOfTwo::new(sets.both(|set| &self.now[set as usize].ghosts), sets[0] == sets[1])
    }

    /// What candidates of two sets call bodies.
    pub(super) fn names(&self, sets: [u32; 2]) -> Names<'a> {
        self.images(sets).names(self.ids)
    }

    fn meet(&self, sets: [u32; 2], pair: [u32; 2]) -> bool {
        layers::meet(self.sets, sets, pair)
    }

    /// Whether layers and the caller's test let a pair be.
    #[inline]
    pub(super) fn admits(&self, sets: [u32; 2], [a, b]: [u32; 2]) -> bool {
        (!self.layered || self.meet(sets, [a, b])) && self.only.is_none_or(|only| only(a, b))
    }
}

/// Tells of candidates of two sets, by their ids, what their bodies do not.
pub(super) struct Verdict<'a, 't, const D: usize> {
    test: &'t Test<'a, D>,
    sets: [u32; 2],
    images: GhostsOfTwo<'a, D>,
}

impl<const D: usize> Verdict<'_, '_, D> {
    /// The images of both sets, if some candidates in which no more than one is an image are none.
    pub(super) fn images(&self) -> Option<&GhostsOfTwo<'_, D>> {
        Some(&self.images).filter(|images| images.sort_out())
    }

    /// Whether layers may not let two meet; and whether they do.
    pub(super) fn has_layers(&self) -> bool {
        self.test.layered
    }

    pub(super) fn meet(&self, ids: [u32; 2]) -> bool {
        self.test.meet(self.sets, self.images.bodies(ids))
    }

    /// Where stand-ins are as far from touching as this it is in doubt whether bodies touch; none is where there are no stand-ins.
    pub(super) fn in_doubt(&self) -> Option<f32> {
        self.test.doubt(self.sets).map(|doubt| doubt.within)
    }

    /// Whether two touch that are in doubt.
    pub(super) fn decide(&self, ids: [u32; 2]) -> bool {
        self.test.doubt(self.sets).is_some_and(|doubt| doubt.decide_ids(ids))
    }
}

/// Decides by the caller's own numbers about candidates whose stand-ins are as far from touching, or from not touching any more, as those may
/// be wrong.
#[derive(Clone, Copy)]
pub(super) struct Doubt<'a, const D: usize> {
    /// So far.
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

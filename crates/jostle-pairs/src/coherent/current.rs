//! The bodies of this frame, as the predicate has them, and the predicate of one candidate. Plain ones are kept, and measured, in `plain`.

mod plain;

use core::mem::take;

use jostle_core::axes::{Axes, Both};
use jostle_core::prefetch::prefetch;
use jostle_core::scratch::{fill_with_headroom, resize_with_headroom};
use jostle_core::{Bodies, Workers};
use jostle_sets::input::layers::Layers;
use jostle_sets::input::{Input, Set, Source, UnitCell};
use jostle_sets::proxy::{Exact, each_body, squared};

use crate::coherent::course::Course;
use crate::coherent::packed::{Moving, Packed, are_far};
use crate::coherent::slack::slack_of;
use crate::coherent::was::{Was, block};
use crate::join::filter::PairTest;
use crate::neighbors::skin::Skin;

/// Bodies that are put by rank are asked for so many ahead.
const AHEAD: usize = 32;

/// What is used up where more bodies stray than are looked for by themselves, so that nobody knows their pairs: more than any margin.
pub(super) const TOO_FAR: f64 = f64::MAX;

/// One set.
#[derive(Debug, Default)]
struct Now<const D: usize> {
    /// Of direct bodies, moved into the cell where there is one.
    bodies: Vec<Packed>,
    /// Where they are kept, if that is ahead of where they stood when candidates were listed, and those name them by id.
    ahead: Vec<Packed>,
    /// Of plain bodies, as they were kept.
    was: Was<D>,
    /// As they are, and as they are kept ahead, when a list is made of bodies on their course.
    moving: Vec<Moving>,
    /// The build of the tree that these are of.
    build: u64,
    /// By how many cells each has been moved; of none in open space.
    wraps: Vec<[i32; D]>,
    /// By how many cells the caller has moved each since the candidates were listed; of none if none was moved.
    jumps: Vec<[i32; D]>,
}

/// See the top of this file.
#[derive(Debug, Default)]
pub(super) struct Current<const D: usize> {
    sets: Vec<Now<D>>,
    /// The bodies of the only set by rank in their tree, where candidates name them so.
    by_rank: Vec<Packed>,
    ahead_by_rank: Vec<Packed>,
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

impl<const D: usize> Current<D> {
    pub(super) fn bytes(&self) -> usize {
        let of = |now: &Now<D>| {
            (now.bodies.capacity() + now.ahead.capacity()) * size_of::<Packed>()
                + now.moving.capacity() * size_of::<Moving>()
                + now.was.bytes()
                + (now.wraps.capacity() + now.jumps.capacity()) * size_of::<[i32; D]>()
        };
        self.sets.iter().map(of).sum::<usize>()
            + self.sets.capacity() * size_of::<Now<D>>()
            + (self.by_rank.capacity() + self.ahead_by_rank.capacity()) * size_of::<Packed>()
            + self.moving_by_rank.capacity() * size_of::<Moving>()
            + self.sample.capacity() * size_of::<[f64; 2]>()
            + self.quantile_of.capacity() * size_of::<f32>()
    }

    /// Puts bodies that have been read in the order of these ids.
    pub(super) fn put_by_rank(&mut self, ids: &[u32], workers: Workers<'_>) {
        let Self { sets, by_rank, .. } = self;
        put(by_rank, sets.first().map_or(&[], |now| now.bodies.as_slice()), ids, workers);
    }

    /// The bodies of two sets by id, as they are, and as they are kept ahead.
    pub(super) fn moving(&self, sets: [usize; 2]) -> [&[Moving]; 2] {
        sets.both(|set| self.sets[set].moving.as_slice())
    }

    /// The memory for those by rank.
    pub(super) fn take_moving_by_rank(&mut self) -> Vec<Moving> {
        take(&mut self.moving_by_rank)
    }

    /// The bodies of the only set.
    pub(super) fn bodies_mut(&mut self) -> &mut [Packed] {
        self.sets.first_mut().map_or(&mut [], |now| &mut now.bodies)
    }

    /// Gives that memory back.
    pub(super) fn give_back(&mut self, moving: Vec<Moving>) {
        self.moving_by_rank = moving;
    }

    fn make_room(&mut self, input: &Input<'_, D>) {
        self.sets.resize_with(input.sets().len().max(self.sets.len()), Now::default);
    }

    /// Reads the bodies of a frame, which the skin has seen when candidates were listed.
    pub(super) fn read(&mut self, input: &Input<'_, D>, skin: &Skin<D>, workers: Workers<'_>) {
        self.make_room(input);
        let sets = input.sets();
        let (decided, cell) = (input.is_decided(), (!input.space.is_open()).then(|| UnitCell::of(&input.space)));
        for (at, (now, set)) in self.sets.iter_mut().zip(sets).enumerate() {
            if cell.is_some() {
                skin.jumps(at, set, decided, &mut now.jumps, workers);
            } else {
                now.jumps.clear();
            }
            if !decided {
                now.read(set, cell.as_ref(), workers);
            }
        }
    }

    /// How candidates are tested.
    pub(super) fn test<'a>(
        &'a self,
        input: &'a Input<'a, D>,
        exact: &'a Exact<'a, D>,
        only: Option<PairTest<'a>>,
    ) -> Test<'a, D> {
        let sets = input.sets();
        Test {
            sets,
            now: &self.sets,
            by_rank: &self.by_rank,
            ahead_by_rank: &self.ahead_by_rank,
            is_ahead: self.course.is_some(),
            exact,
            layered: sets.iter().any(|set| set.layers.is_some()),
            only,
        }
    }
}

impl<const D: usize> Now<D> {
    fn read(&mut self, set: &Set<'_, D>, cell: Option<&UnitCell<D>>, workers: Workers<'_>) {
        match set.source {
            Source::View(bodies) => {
                self.build = 0;
                fill_with_headroom(&mut self.bodies, bodies.len(), Packed::default());
                match cell {
                    None => read_open(&mut self.bodies, bodies, workers),
                    Some(cell) => self.read_in_cell(bodies, cell, workers),
                }
            }
            Source::Tree(tree) => {
                let build = tree.build_number();
                if self.build != build || self.bodies.len() != tree.len() {
                    fill_with_headroom(&mut self.bodies, tree.len(), Packed::default());
                    each_body(tree, |id, leaf, lane| {
                        let center = leaf.centers.axes(|x| x.0[lane]);
                        self.bodies[id as usize] = Packed::new(center, leaf.radii.0[lane]);
                    });
                    self.build = build;
                    self.move_into(cell, workers);
                }
            }
            // Bodies in `f64` are decided, and others refused.
            Source::Double(_) | Source::Shaped(_) => {}
        }
    }

    fn read_in_cell(&mut self, bodies: Bodies<'_, D>, cell: &UnitCell<D>, workers: Workers<'_>) {
        read_open(&mut self.bodies, bodies, workers);
        self.move_into(Some(cell), workers);
    }

    /// Moves the bodies into the cell, as a search does.
    fn move_into(&mut self, cell: Option<&UnitCell<D>>, workers: Workers<'_>) {
        let Some(cell) = cell else { return };
        resize_with_headroom(&mut self.wraps, self.bodies.len());
        let bodies = &self.bodies;
        let of_task = block(self.bodies.len(), workers);
        workers.fill_blocks("wraps", &mut self.wraps, of_task, |first, block| {
            for (wraps, body) in block.iter_mut().zip(&bodies[first..]) {
                *wraps = cell.wraps(center_of(body)).axes(|wraps| wraps as i32);
            }
        });
        let wraps = &self.wraps;
        workers.fill_blocks("current", &mut self.bodies, of_task, |first, block| {
            for (body, &wraps) in block.iter_mut().zip(&wraps[first..]) {
                if wraps != [0; D] {
                    let (center, shift) = (center_of::<D>(body), cell.shift(wraps.axes(f64::from)));
                    for axis in 0..D {
                        body.0[axis] = (center[axis] - shift[axis]) as f32;
                    }
                }
            }
        });
    }
}

#[inline]
fn center_of<const D: usize>(body: &Packed) -> [f64; D] {
    let mut center = [0.0; D];
    for axis in 0..D {
        center[axis] = body.0[axis].into();
    }
    center
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

fn read_open<const D: usize>(out: &mut [Packed], bodies: Bodies<'_, D>, workers: Workers<'_>) {
    let block = block(out.len(), workers);
    workers.fill_blocks("current", out, block, |first, block| {
        for axis in 0..D {
            for (slot, id) in block.iter_mut().zip(first..) {
                slot.0[axis] = bodies.centers()[axis].get(id);
            }
        }
        for (slot, id) in block.iter_mut().zip(first..) {
            slot.0[3] = bodies.radius(id);
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
    ahead_by_rank: &'a [Packed],
    is_ahead: bool,
    pub(super) exact: &'a Exact<'a, D>,
    layered: bool,
    only: Option<PairTest<'a>>,
}

impl<'a, const D: usize> Test<'a, D> {
    /// Whether a function of the caller's is asked.
    pub(super) fn asks_callers(&self) -> bool {
        self.only.is_some()
    }

    /// The bodies of two sets, if nothing but those tells whether two of them touch.
    pub(super) fn direct_in_open_space(&self, sets: [u32; 2]) -> Option<[&'a [Packed]; 2]> {
        let direct = !self.exact.decided && self.exact.cell.is_none();
        direct.then(|| sets.both(|set| self.now[set as usize].bodies.as_slice()))
    }

    /// The bodies of two sets as new candidates name them, if nothing but those tells whether two of them touch; whether to ask for
    /// them ahead.
    pub(super) fn named(&self, sets: [u32; 2]) -> Option<([&'a [Packed]; 2], bool)> {
        if !self.by_rank.is_empty() {
            // By rank, those of candidates that come one after the other lie together.
            return Some(([self.by_rank; 2], false));
        }
        self.direct_in_open_space(sets).map(|bodies| (bodies, bodies.iter().any(|bodies| are_far(bodies.len()))))
    }

    /// The bodies of two sets as new candidates name them, where they are kept if that is ahead.
    pub(super) fn ahead(&self, sets: [u32; 2]) -> Option<[&'a [Packed]; 2]> {
        let by_id = || sets.both(|set| self.now[set as usize].ahead.as_slice());
        self.is_ahead.then(|| if self.by_rank.is_empty() { by_id() } else { [self.ahead_by_rank; 2] })
    }

    /// Whether layers and the caller let candidates be pairs that touch.
    pub(super) fn drops_some(&self) -> bool {
        self.layered || self.only.is_some()
    }

    /// By how many of each vector the second body is moved now to where it was seen when the candidate was listed.
    #[inline]
    pub(super) fn shift(&self, sets: [u32; 2], mut shift: [i32; D], [a, b]: [u32; 2]) -> [i32; D] {
        let [of_a, of_b] = sets.both(|set| &self.now[set as usize].jumps);
        if let Some(jumps) = of_a.get(a as usize) {
            for k in 0..D {
                shift[k] += jumps[k];
            }
        }
        if let Some(jumps) = of_b.get(b as usize) {
            for k in 0..D {
                shift[k] -= jumps[k];
            }
        }
        shift
    }

    /// Whether a candidate touches, and how much its bodies must use up before that can change: anything may at any time where
    /// space repeats or bodies move.
    #[inline]
    pub(super) fn slack(&self, sets: [u32; 2], shift: [i32; D], pair: [u32; 2]) -> (bool, f32) {
        if self.exact.cell.is_some() || self.exact.moves(sets) {
            return (self.touches(sets, shift, pair), 0.0);
        }
        if self.exact.decided {
            let [a, b] = pair;
            let apart = self.exact.difference_by(sets, shift, a, b);
            let radii = self.exact.radius(sets[0], a) + self.exact.radius(sets[1], b);
            return (self.exact.is_pair_from(apart, sets, a, b), slack_of(squared(apart).sqrt() as f32, radii as f32));
        }
        let ([of_a, of_b], offset) = self.direct(sets, shift, pair);
        let (distance2, s) = of_a.measure(of_b, offset);
        (distance2 <= s * s, slack_of(distance2.sqrt(), s))
    }

    /// Whether bodies move.
    pub(super) fn moves(&self) -> bool {
        self.sets.iter().any(|set| set.moving.is_some())
    }

    /// Whether a candidate touches, its second body being moved by so many of each vector.
    #[inline]
    pub(super) fn touches(&self, sets: [u32; 2], shift: [i32; D], [a, b]: [u32; 2]) -> bool {
        let exact = self.exact;
        if exact.decided {
            return exact.is_pair_from(exact.difference_by(sets, shift, a, b), sets, a, b);
        }
        let ([of_a, of_b], offset) = self.direct(sets, shift, [a, b]);
        of_a.touches(of_b, offset)
    }

    /// Two bodies that are not decided, and how the second is moved to where it is seen.
    #[inline]
    fn direct(&self, sets: [u32; 2], shift: [i32; D], [a, b]: [u32; 2]) -> ([&'a Packed; 2], [f32; D]) {
        let [of_a, of_b] = sets.both(|set| &self.now[set as usize]);
        let mut offset = [0.0; D];
        if let Some(cell) = &self.exact.cell {
            let (from, to) = (of_a.wraps[a as usize], of_b.wraps[b as usize]);
            let mut steps = [0.0; D];
            for k in 0..D {
                steps[k] = f64::from(shift[k] - from[k] + to[k]);
            }
            offset = cell.shift(steps).axes(|x| x as f32);
        }
        ([&of_a.bodies[a as usize], &of_b.bodies[b as usize]], offset)
    }

    /// From the first body of a candidate to the second, moved by so many of each vector, and the square of that, by the
    /// predicate's formula.
    #[inline]
    pub(super) fn apart(&self, sets: [u32; 2], shift: [i32; D], [a, b]: [u32; 2]) -> ([f64; D], f64) {
        if self.exact.decided {
            let apart = self.exact.difference_by(sets, shift, a, b);
            return (apart, squared(apart));
        }
        let ([of_a, of_b], offset) = self.direct(sets, shift, [a, b]);
        let (apart, distance2) = of_a.apart(of_b, offset);
        (apart.axes(f64::from), distance2.into())
    }

    /// When a candidate that touches first does so.
    #[inline]
    pub(super) fn time(&self, sets: [u32; 2], shift: [i32; D], [a, b]: [u32; 2]) -> f64 {
        let apart = self.exact.difference_by(sets, shift, a, b);
        self.exact.touch_from(apart, sets, a, b).unwrap_or_default()
    }

    /// Whether layers and the caller's test let a pair be.
    #[inline]
    pub(super) fn admits(&self, sets: [u32; 2], [a, b]: [u32; 2]) -> bool {
        let [of_a, of_b] = sets.both(|set| self.sets[set as usize].layers.unwrap_or(Layers::ALL));
        of_a.meets(a, &of_b, b) && self.only.is_none_or(|only| only(a, b))
    }
}

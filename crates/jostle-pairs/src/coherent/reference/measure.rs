//! Measures how much of their margins bodies have used up since they were kept, or how far they have moved or strayed;
//! and lists the bodies beyond a limit.

use std::sync::{Mutex, PoisonError};

use jostle_core::axes::{Axes, from_axes};
use jostle_core::fours::records;
use jostle_core::isa::Work;
use jostle_core::prefetch::{prefetch, prefetch_mut};
use jostle_core::scratch::fill_with_headroom;
use jostle_core::{Bodies, Column, Isa, Radii, Scalar, Workers};
use jostle_sets::simd::LANES;

use super::{PART, Reference, SHARE, block};
use crate::coherent::packed::{Moving, Packed, share_of};

/// What rounding may cost, relative to a grown radius: 2^-19. The predicate rounds a distance and a sum of radii by
/// four times 2^-24 each, in the list and now, which is 2^-20 of each grown radius. The computations here round by a
/// few times 2^-24.
const ROUNDING: f32 = 1.0 / 524_288.0;

/// The same in absolute terms, for squares that are denormal or vanish: 2^-72.
const LEAST: f32 = f32::from_bits((127 - 72) << 23);

/// How much bodies may use up without being listed. The others are listed in `beyond`, by their numbers; the first body
/// has number `first`.
#[derive(Debug, Clone, Copy)]
pub(in crate::coherent) struct Limit<'a> {
    pub(in crate::coherent) most: f32,
    pub(in crate::coherent) beyond: &'a Mutex<Vec<u32>>,
    pub(in crate::coherent) first: u32,
}

/// From where it is measured how far bodies have moved.
#[derive(Debug, Clone, Copy)]
pub(in crate::coherent) enum Since {
    /// From where they are kept.
    Kept,
    /// From where they are kept, each by its own margin: how much of the widest margin they have used up. A stand-in
    /// may be so far from where its body is.
    Own(f32),
    /// From so many steps beyond where they are kept, if they are kept ahead of where they stood.
    Steps(f32),
    /// From where they stood when they were kept.
    Stood,
}

/// What bodies are measured against.
#[derive(Clone, Copy)]
struct Was<'a, const D: usize> {
    /// Where they are expected, and where they stood: from the latter to the former is a step.
    centers: [&'a [f32]; D],
    stood: [&'a [f32]; D],
    radii: &'a [f32],
    /// How many steps beyond `centers` they are expected.
    steps: f32,
    /// The widest margin over that of each; empty where all have that one.
    weights: &'a [f32],
    /// How far a body may be from where its stand-in says, if each has a margin of its own.
    error: f32,
    margin: f32,
}

impl<const D: usize> Was<'_, D> {
    /// Returns how much a body has used up.
    fn used(&self, now: &Packed, id: usize) -> f32 {
        let mut off2 = 0.0;
        for axis in 0..D {
            let off = off([now.0[axis], self.centers[axis][id], self.stood[axis][id]], self.steps);
            off2 += off * off;
        }
        let weight = self.weights.get(id).copied().unwrap_or(1.0);
        (used_by(off2, (now.radius(), self.radii[id]), self.margin) + self.error) * weight
    }

    /// Returns where bodies are measured from, of the part that begins at number `first`.
    #[inline(always)]
    fn part(&self, first: usize) -> WasPart<'_, D> {
        WasPart {
            centers: self.centers.each(|column| part(column, first)),
            stood: self.stood.each(|column| part(column, first)),
            radii: part(self.radii, first),
            weights: (!self.weights.is_empty()).then(|| part(self.weights, first)),
        }
    }

    /// As [`Was::used`], of sixteen bodies of a part, from number `first` of the part on.
    #[inline(always)]
    fn used_by_some(&self, now: Part<'_, D>, was: &WasPart<'_, D>, first: usize) -> [f32; LANES] {
        let [mut off2, mut used] = [[0.0; LANES]; 2];
        for axis in 0..D {
            for lane in 0..LANES {
                let at = first + lane;
                let off = off([now.0[axis][at], was.centers[axis][at], was.stood[axis][at]], self.steps);
                off2[lane] += off * off;
            }
        }
        for lane in 0..LANES {
            let at = first + lane;
            used[lane] = used_by(off2[lane], (now.1[at], was.radii[at]), self.margin);
        }
        if let Some(weights) = was.weights {
            for lane in 0..LANES {
                used[lane] = (used[lane] + self.error) * weights[first + lane];
            }
        }
        used
    }
}

/// Columns of a part of the bodies: see [`Was`].
struct WasPart<'a, const D: usize> {
    centers: [&'a [f32; PART]; D],
    stood: [&'a [f32; PART]; D],
    radii: &'a [f32; PART],
    weights: Option<&'a [f32; PART]>,
}

/// Returns a part of a column, which is filled up to whole parts.
#[inline(always)]
pub(in crate::coherent) fn part(column: &[f32], first: usize) -> &[f32; PART] {
    &column[first..].as_chunks().0[0]
}

impl<const D: usize> Reference<D> {
    /// Packs bodies. Returns how much one of them has used up since they were kept, at most (see
    /// [`Current::measure`](crate::coherent::current::Current::measure)), or how far one has moved or strayed: of the
    /// bodies within the limit, if there is one, and of all.
    ///
    /// Bodies beyond the limit are listed, in no order. So are a few bodies that have come or gone, if they are the
    /// last of the set; a body that has gone is packed as nowhere.
    pub(in crate::coherent) fn measure(
        &self,
        bodies: Bodies<'_, D>,
        (margin, since, limit): (f32, Since, Option<Limit<'_>>),
        packed: &mut Vec<Packed>,
        (isa, workers): (Isa, Workers<'_>),
    ) -> [f32; 2] {
        let Some(kept) = self.len else { return [f32::INFINITY; 2] };
        let (both, all) = (kept.min(bodies.len()), kept.max(bodies.len()));
        if all > both && (limit.is_none() || all - both > kept / SHARE) {
            return [f32::INFINITY; 2];
        }
        fill_with_headroom(packed, all, Packed::default());
        let was = self.was(since, margin);
        // In the part after the last whole one, bodies that have come may stand behind those that are kept.
        let whole = if all > both { both / PART * PART } else { both };
        let (packed, others) = packed.split_at_mut(whole);
        let (mut used, mut beyond) = ([0.0_f32; 2], Beyond::default());
        for (slot, id) in others.iter_mut().zip(whole..) {
            *slot = if id < bodies.len() {
                Packed::new::<D>(from_axes(|axis| bodies.centers()[axis].get(id)), bodies.radius(id))
            } else {
                Packed::NOWHERE
            };
            if id < both {
                let of_body = was.used(slot, id);
                let within = limit.map_or(of_body, |limit| beyond.take_one(of_body, limit, id as u32));
                used = [used[0].max(within), used[1].max(of_body)];
            } else if id < bodies.len() && !is_sound(slot) {
                used = [f32::INFINITY; 2];
            }
        }
        if let Some(limit) = limit {
            beyond.list(limit);
            let mut beyond = limit.beyond.lock().unwrap_or_else(PoisonError::into_inner);
            beyond.extend((both as u32..all as u32).map(|id| limit.first + id));
        }
        let most = Mutex::new(used);
        let (block, asks) = (block(packed.len(), workers), workers.count() > 1);
        workers.fill_blocks("measure", packed, block, |first, packed| {
            let [within, of_all] = isa.run(Measure { bodies, was, limit, first, packed, asks });
            let mut most = most.lock().unwrap_or_else(PoisonError::into_inner);
            *most = [most[0].max(within), most[1].max(of_all)];
        });
        most.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn was(&self, since: Since, margin: f32) -> Was<'_, D> {
        let [centers, stood] = [&self.centers, &self.stood].map(|columns| columns.each_ref().each(|it| it.as_slice()));
        let (mut weights, mut error) = (&[][..], 0.0);
        let (centers, stood, steps) = match since {
            Since::Stood if self.is_ahead => (stood, stood, 0.0),
            Since::Steps(steps) if self.is_ahead => (centers, stood, steps),
            _ => (centers, centers, 0.0),
        };
        if let Since::Own(of_stand_ins) = since {
            (weights, error) = (&self.weights, of_stand_ins);
        }
        Was { centers, stood, radii: &self.radii, steps, weights, error, margin }
    }

    /// Packs bodies that have just been kept, and measured as `bodies`, with themselves as they are kept: with their own
    /// margins, if `own`.
    pub(in crate::coherent) fn pack_moving(
        &self,
        own: bool,
        bodies: &[Packed],
        moving: &mut Vec<Moving>,
        workers: Workers<'_>,
    ) {
        fill_with_headroom(moving, bodies.len(), Moving::default());
        let block = block(bodies.len(), workers);
        workers.fill_blocks("moving", moving, block, |first, moving| {
            let mut bodies = &bodies[first..];
            for (moving, first) in moving.chunks_mut(4).zip((first..).step_by(4)) {
                let four = |column: &[f32]| -> [f32; 4] { column[first..].as_chunks().0[0] };
                let mut columns = [if own { four(&self.weights).map(share_of) } else { [1.0; 4] }; 4];
                for axis in 0..D {
                    columns[axis] = four(&self.centers[axis]);
                }
                for ((slot, body), kept) in moving.iter_mut().zip(bodies).zip(records(columns.each_ref(), 0)) {
                    *slot = Moving([body.0, kept]);
                }
                bodies = bodies.get(4..).unwrap_or_default();
            }
        });
    }
}

/// Centres, an array for each axis, and radii of a part of the bodies.
type Part<'a, const D: usize> = ([&'a [f32; PART]; D], &'a [f32; PART]);

/// Returns the values from number `first` on: where they lie, if they can be read there, or else in `room`, filled up
/// with zeros.
#[inline(always)]
pub(in crate::coherent) fn read<'a, T: Scalar>(
    column: &Column<'a, T>,
    first: usize,
    room: &'a mut [T; PART],
) -> &'a [T; PART] {
    if let Some(part) = column.as_slice().and_then(|slice| slice[first..].first_chunk()) {
        return part;
    }
    let len = PART.min(column.len() - first);
    column.copy_into(first, &mut room[..len]);
    room[len..].fill(T::default());
    room
}

/// Returns how far a body is from where it is expected, along an axis: so many steps beyond where it is kept, each as
/// long as the step from where it stood to there.
#[inline(always)]
fn off([now, kept, stood]: [f32; 3], steps: f32) -> f32 {
    (now - kept) - steps * (kept - stood)
}

/// Packs sixteen bodies of a part, from number `first` of the part on. They are put in their places four by four: sixteen
/// that were packed elsewhere would be waited for.
#[inline(always)]
fn pack<const D: usize>(now: Part<'_, D>, first: usize, packed: &mut [Packed; LANES]) {
    for (packed, first) in packed.as_chunks_mut::<4>().0.iter_mut().zip((first..).step_by(4)) {
        let mut columns = [now.1; 4];
        columns[..D].copy_from_slice(&now.0);
        *packed = records(columns, first).map(Packed);
    }
}

/// As [`pack`], of less than sixteen bodies.
#[inline(never)]
fn pack_rest<const D: usize>(now: Part<'_, D>, first: usize, rest: &mut [Packed]) {
    for (at, slot) in (first..).zip(rest) {
        *slot = Packed::new(now.0.each(|column| column[at]), now.1[at]);
    }
}

#[inline(always)]
fn keep_greater(most: &mut [f32; LANES], others: [f32; LANES]) {
    for lane in 0..LANES {
        most[lane] = if others[lane] > most[lane] { others[lane] } else { most[lane] };
    }
}

/// Returns how much a body has used up, from the square of how far it is from where it was, and its radius now and
/// before; infinite if the body is not sound.
#[inline(always)]
fn used_by(moved2: f32, (radius, before): (f32, f32), margin: f32) -> f32 {
    let used = moved2.sqrt() + (radius - before).abs() + ((before + margin) * ROUNDING + LEAST);
    // NaN, or a radius below 0, is not sound.
    if used.is_nan() | (radius < 0.0) { f32::INFINITY } else { used }
}

struct Measure<'a, const D: usize> {
    bodies: Bodies<'a, D>,
    was: Was<'a, D>,
    limit: Option<Limit<'a>>,
    first: usize,
    packed: &'a mut [Packed],
    /// Whether to prefetch what other cores have written or read last.
    asks: bool,
}

impl<const D: usize> Work for Measure<'_, D> {
    type Output = [f32; 2];
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) -> [f32; 2] {
        let Self { bodies, was, limit, first, packed, asks } = self;
        let mut beyond = Beyond::default();
        let [mut within, mut of_all] = [[0.0_f32; LANES]; 2];
        let (mut most, mut rooms, mut room) = (0.0_f32, [[0.0; PART]; D], [0.0; PART]);
        let mut others = packed;
        for first in (first..).step_by(PART) {
            if others.is_empty() {
                break;
            }
            let packed;
            (packed, others) = others.split_at_mut(PART.min(others.len()));
            if asks {
                ask_for(bodies, first + PART, others);
            }
            let mut now = ([&[0.0; PART]; D], &[0.0; PART]);
            for (axis, room) in rooms.iter_mut().enumerate() {
                now.0[axis] = read(&bodies.centers()[axis], first, room);
            }
            now.1 = match bodies.radii() {
                Radii::Each(column) => read(&column, first, &mut room),
                Radii::All(radius) => {
                    room.fill(0.0);
                    room[..packed.len()].fill(radius);
                    &room
                }
            };
            let (was_there, mut lanes, mut used) = (was.part(first), [0.0; LANES], [0.0; PART]);
            let (sixteens, rest) = packed.as_chunks_mut::<LANES>();
            pack_rest(now, sixteens.len() * LANES, rest);
            let mut sixteens = sixteens.iter_mut();
            for (number, slot) in used.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                *slot = was.used_by_some(now, &was_there, number * LANES);
                keep_greater(&mut lanes, *slot);
                if let Some(packed) = sixteens.next() {
                    pack(now, number * LANES, packed);
                }
            }
            keep_greater(&mut of_all, lanes);
            match limit {
                Some(limit) if is_any_beyond(lanes, limit.most) => {
                    for (first, &used) in (first..).step_by(LANES).zip(used.as_chunks::<LANES>().0) {
                        if is_any_beyond(used, limit.most) {
                            most = most.max(beyond.take(used, limit, first));
                        } else {
                            keep_greater(&mut within, used);
                        }
                    }
                }
                _ => keep_greater(&mut within, lanes),
            }
        }
        limit.into_iter().for_each(|limit| beyond.list(limit));
        [within.into_iter().fold(most, f32::max), of_all.into_iter().fold(0.0, f32::max)]
    }
}

/// Prefetches the next part of the bodies, from number `first` on, and the memory where they are packed.
#[inline(never)]
fn ask_for<P, const D: usize>(bodies: Bodies<'_, D>, first: usize, packed: &mut [P]) {
    let len = packed.len().min(PART);
    prefetch_mut(&mut packed[..len]);
    let columns = bodies.centers().iter().filter_map(|column| column.as_slice()?.get(first..first + len));
    columns.for_each(prefetch);
}

#[inline(always)]
fn is_any_beyond(used: [f32; LANES], most: f32) -> bool {
    let mut beyond = false;
    for lane in 0..LANES {
        beyond |= used[lane] > most;
    }
    beyond
}

fn is_sound(body: &Packed) -> bool {
    body.0.iter().all(|x| x.is_finite()) && body.radius() >= 0.0
}

/// The bodies that one task has found beyond a limit. They are listed many at once, since all tasks wait for one lock.
struct Beyond {
    some: [u32; PART],
    len: usize,
}

impl Default for Beyond {
    fn default() -> Self {
        Self { some: [0; PART], len: 0 }
    }
}

impl Beyond {
    /// Notes the bodies beyond the limit, by ids from `first` on; returns the most that the others have used up. A body
    /// that is not sound is not noted, and makes that infinite.
    #[cold]
    #[inline(never)]
    fn take(&mut self, used: [f32; LANES], limit: Limit<'_>, first: usize) -> f32 {
        let all = (first as u32..).zip(used);
        all.fold(0.0, |within, (id, used)| f32::max(within, self.take_one(used, limit, id)))
    }

    /// Notes a sound body beyond the limit, and returns 0; returns what any other body has used up.
    fn take_one(&mut self, used: f32, limit: Limit<'_>, id: u32) -> f32 {
        if used <= limit.most || used == f32::INFINITY {
            return used;
        }
        if self.len == PART {
            self.list(limit);
        }
        self.some[self.len] = limit.first + id;
        self.len += 1;
        0.0
    }

    /// Lists all bodies that have been noted.
    fn list(&mut self, limit: Limit<'_>) {
        if self.len > 0 {
            let mut all = limit.beyond.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend_from_slice(&self.some[..core::mem::take(&mut self.len)]);
        }
    }
}

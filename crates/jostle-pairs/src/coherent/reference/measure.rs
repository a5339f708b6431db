//! Measures how much of their margins bodies have used up since they were kept, or how far they have moved or strayed;
//! and lists the bodies beyond a limit.

use std::sync::{Mutex, PoisonError};

use jostle_core::axes::{Axes, from_axes};
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

impl<const D: usize> Reference<D> {
    /// Packs bodies, alone or with themselves as they are kept. Returns how much one of them has used up since they
    /// were kept, at most (see [`Current::measure`](crate::coherent::current::Current::measure)), or how far one has
    /// moved or strayed: of the bodies within the limit, if there is one, and of all.
    ///
    /// Bodies beyond the limit are listed, in no order. So are a few bodies that have come or gone, if they are the
    /// last of the set; a body that has gone is packed as nowhere.
    pub(in crate::coherent) fn measure<P: Pack>(
        &self,
        bodies: Bodies<'_, D>,
        (margin, since, limit): (f32, Since, Option<Limit<'_>>),
        packed: &mut Vec<P>,
        (isa, workers): (Isa, Workers<'_>),
    ) -> [f32; 2] {
        let Some(kept) = self.len else { return [f32::INFINITY; 2] };
        let (both, all) = (kept.min(bodies.len()), kept.max(bodies.len()));
        if all > both && (limit.is_none() || all - both > kept / SHARE) {
            return [f32::INFINITY; 2];
        }
        fill_with_headroom(packed, all, P::default());
        let (centers, course) = match since {
            Since::Stood if self.is_ahead => (&self.stood, None),
            Since::Steps(steps) if self.is_ahead => (&self.centers, Some(steps)),
            _ => (&self.centers, None),
        };
        // In the part after the last whole one, bodies that have come may stand behind those that are kept.
        let whole = if all > both { both / PART * PART } else { both };
        let (packed, others) = packed.split_at_mut(whole);
        let (mut used, mut beyond) = ([0.0_f32; 2], Beyond::default());
        for (slot, id) in others.iter_mut().zip(whole..) {
            let now = || Packed::new::<D>(from_axes(|axis| bodies.centers()[axis].get(id)), bodies.radius(id));
            if id >= both {
                if id < bodies.len() && !is_sound(&now()) {
                    used = [f32::INFINITY; 2];
                }
                *slot = P::pack(if id < bodies.len() { now() } else { Packed::NOWHERE }, Packed::NOWHERE);
                continue;
            }
            let reference = Packed::new::<D>(from_axes(|axis| centers[axis][id]), self.radii[id]);
            let now = now();
            let mut moved2 = 0.0;
            for axis in 0..D {
                let step = course.map_or(0.0, |steps| steps * (reference.0[axis] - self.stood[axis][id]));
                let moved = (now.0[axis] - reference.0[axis]) - step;
                moved2 += moved * moved;
            }
            let mut of_body = used_by(moved2, (now.radius(), reference.radius()), margin);
            if let Since::Own(error) = since {
                of_body = (of_body + error) * self.weights[id];
            }
            let within = limit.map_or(of_body, |limit| beyond.take_one(of_body, limit, id as u32));
            used = [used[0].max(within), used[1].max(of_body)];
            let share = self.weights.get(id).filter(|_| matches!(since, Since::Own(_))).map_or(1.0, |&it| share_of(it));
            *slot = P::pack(now, Packed::new::<D>(from_axes(|axis| centers[axis][id]), share));
        }
        if let Some(limit) = limit {
            beyond.list(limit);
            let mut beyond = limit.beyond.lock().unwrap_or_else(PoisonError::into_inner);
            beyond.extend((both as u32..all as u32).map(|id| limit.first + id));
        }
        let most = Mutex::new(used);
        let (block, asks) = (block(packed.len(), workers), workers.count() > 1);
        workers.fill_blocks("measure", packed, block, |first, packed| {
            let reference = (parts_of(centers, first), self.radii[first..].as_chunks().0);
            let way = match since {
                Since::Own(error) => Way::Own(self.weights[first..].as_chunks().0, error),
                _ => course.map_or(Way::Any, |steps| Way::Course(parts_of(&self.stood, first), steps)),
            };
            let [within, of_all] = isa.run(Measure { bodies, reference, way, margin, limit, first, packed, asks });
            let mut most = most.lock().unwrap_or_else(PoisonError::into_inner);
            *most = [most[0].max(within), most[1].max(of_all)];
        });
        most.into_inner().unwrap_or_else(PoisonError::into_inner)
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

/// Returns how much each of sixteen bodies has used up from `reference` to `now`.
#[inline(always)]
fn used_of<const D: usize>(now: Part<'_, D>, reference: Part<'_, D>, margin: f32, first: usize) -> [f32; LANES] {
    let mut used = [0.0; LANES];
    for lane in 0..LANES {
        let (at, mut moved2) = (first + lane, 0.0);
        for axis in 0..D {
            let moved = now.0[axis][at] - reference.0[axis][at];
            moved2 += moved * moved;
        }
        used[lane] = used_by(moved2, (now.1[at], reference.1[at]), margin);
    }
    used
}

/// As [`used_of`], but how far they have strayed: from `steps` steps beyond where they are kept, each as long as the
/// step from where they stood to there.
#[inline(always)]
fn strayed_of<const D: usize>(
    now: Part<'_, D>,
    reference: Part<'_, D>,
    (stood, steps): ([&[f32; PART]; D], f32),
    (margin, first): (f32, usize),
) -> [f32; LANES] {
    let mut strayed2 = [0.0; LANES];
    for axis in 0..D {
        for lane in 0..LANES {
            let (at, kept) = (first + lane, reference.0[axis][first + lane]);
            let off = (now.0[axis][at] - kept) - steps * (kept - stood[axis][at]);
            strayed2[lane] += off * off;
        }
    }
    let mut strayed = [0.0; LANES];
    for lane in 0..LANES {
        strayed[lane] = used_by(strayed2[lane], (now.1[first + lane], reference.1[first + lane]), margin);
    }
    strayed
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

/// Returns the parts of each column from number `first` on.
fn parts_of<const D: usize>(columns: &[Vec<f32>; D], first: usize) -> [&[[f32; PART]]; D] {
    columns.each_ref().each(|column| column[first..].as_chunks().0)
}

/// The form in which a body that is read is kept.
pub(in crate::coherent) trait Pack: Copy + Default + Send + Sync {
    /// Packs a body as it is, and as it was or is expected to be, with its share in place of the radius.
    fn pack(now: Packed, kept: Packed) -> Self;
}

impl Pack for Packed {
    #[inline(always)]
    fn pack(now: Packed, _: Packed) -> Self {
        now
    }
}

impl Pack for Moving {
    #[inline(always)]
    fn pack(now: Packed, kept: Packed) -> Self {
        Self([now.0, kept.0])
    }
}

/// How bodies are expected to move.
#[derive(Clone, Copy)]
enum Way<'a, const D: usize> {
    Any,
    /// Each by its own margin: the weights, and how far a stand-in may be from where its body is.
    Own(&'a [[f32; PART]], f32),
    /// Where the bodies stood, and the number of steps.
    Course([&'a [[f32; PART]]; D], f32),
}

struct Measure<'a, P, const D: usize> {
    bodies: Bodies<'a, D>,
    reference: ([&'a [[f32; PART]]; D], &'a [[f32; PART]]),
    way: Way<'a, D>,
    margin: f32,
    limit: Option<Limit<'a>>,
    first: usize,
    packed: &'a mut [P],
    /// Whether to prefetch what other cores have written or read last.
    asks: bool,
}

impl<P: Pack, const D: usize> Work for Measure<'_, P, D> {
    type Output = [f32; 2];

    #[inline(always)]
    fn run(self) -> [f32; 2] {
        let Self { bodies, reference: (centers, radii), way, margin, limit, first, packed, asks } = self;
        let mut beyond = Beyond::default();
        let [mut within, mut of_all] = [[0.0_f32; LANES]; 2];
        let (mut most, mut rooms, mut room) = (0.0_f32, [[0.0; PART]; D], [0.0; PART]);
        let mut others = packed;
        for number in 0..others.len().div_ceil(PART) {
            let packed;
            (packed, others) = others.split_at_mut(PART.min(others.len()));
            let first = first + number * PART;
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
            let reference = (centers.each(|column| &column[number]), &radii[number]);
            let (mut lanes, mut used, mut weights) = ([0.0; LANES], [0.0; PART], &[1.0; PART]);
            let rooms_of_used = used.as_chunks_mut::<LANES>().0;
            match way {
                Way::Any => {
                    for (number, slot) in rooms_of_used.iter_mut().enumerate() {
                        *slot = used_of(now, reference, margin, number * LANES);
                        keep_greater(&mut lanes, *slot);
                    }
                }
                Way::Own(of_all, error) => {
                    weights = &of_all[number];
                    for (number, slot) in rooms_of_used.iter_mut().enumerate() {
                        *slot = used_of(now, reference, margin, number * LANES);
                        for lane in 0..LANES {
                            slot[lane] = (slot[lane] + error) * weights[number * LANES + lane];
                        }
                        keep_greater(&mut lanes, *slot);
                    }
                }
                Way::Course(stood, steps) => {
                    let course = (stood.each(|column| &column[number]), steps);
                    for (number, slot) in rooms_of_used.iter_mut().enumerate() {
                        *slot = strayed_of(now, reference, course, (margin, number * LANES));
                        keep_greater(&mut lanes, *slot);
                    }
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
            for (at, slot) in packed.iter_mut().enumerate() {
                let [mut center, mut kept] = [[0.0; D]; 2];
                for axis in 0..D {
                    (center[axis], kept[axis]) = (now.0[axis][at], reference.0[axis][at]);
                }
                *slot = P::pack(Packed::new(center, now.1[at]), Packed::new(kept, share_of(weights[at])));
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

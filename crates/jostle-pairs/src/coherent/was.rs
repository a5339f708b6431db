//! Plain bodies, in `f32` at rest in open space, as they were or are to be, and how far from there they have moved.

use core::array::from_fn;
use core::mem::swap;
use std::sync::{Mutex, PoisonError};

use jostle_core::axes::{Axes, from_axes};
use jostle_core::isa::Work;
use jostle_core::scratch::fill_with_headroom;
use jostle_core::{Bodies, Column, Isa, Radii, Workers};
use jostle_sets::Circle;
use jostle_sets::proxy::squared;
use jostle_sets::simd::LANES;

use crate::coherent::packed::{Moving, Packed};

/// Bodies that one task reads.
const BLOCK: usize = 1 << 13;

/// Bodies that are read at a time.
const PART: usize = 256;

/// One body of so many may stray while what is kept of the others holds, come, or go.
pub(super) const SHARE: usize = 64;

/// So many bodies say how far all move on average.
const MEAN_OF: usize = 256;

/// And so many, how far all but a few have.
const QUANTILE_OF: usize = 4096;

/// One body of so many says how far all have moved on, but so many do at least and at most.
const SAMPLED: usize = 256;
const SAMPLE: [usize; 2] = [4, 32];

/// What rounding may cost, relative to a grown radius: 2^-19. The predicate rounds a distance and a sum of radii by four times
/// 2^-24 each, in the list and now, which is 2^-20 of each grown radius; what is computed here, a few times 2^-24.
const ROUNDING: f32 = 1.0 / 524_288.0;

/// As much, for squares that are denormal or vanish: 2^-72.
const LEAST: f32 = f32::from_bits((127 - 72) << 23);

/// See the top of this file.
#[derive(Debug)]
pub(super) struct Was<const D: usize> {
    /// Where the bodies stood, or are to be halfway through a list, and their radii; filled up to whole parts.
    centers: [Vec<f32>; D],
    radii: Vec<f32>,
    /// Where they stood, if they are not kept so.
    stood: [Vec<f32>; D],
    /// Their radii with margins, if each has one of its own.
    grown: Vec<f32>,
    is_ahead: bool,
    /// How many bodies; none of which anything is known where others were kept since.
    len: Option<usize>,
}

impl<const D: usize> Default for Was<D> {
    fn default() -> Self {
        let [centers, stood] = [const { [const { Vec::new() }; D] }; 2];
        Self { centers, radii: Vec::new(), stood, grown: Vec::new(), is_ahead: false, len: None }
    }
}

/// Centres, an array an axis, and radii of some bodies.
type Part<'a, const D: usize> = ([&'a [f32; PART]; D], &'a [f32; PART]);

/// The values from number `first` on, where they lie if they can be read there, else in `room`, filled up with zeros.
#[inline(always)]
fn read<'a>(column: &Column<'a, f32>, first: usize, room: &'a mut [f32; PART]) -> &'a [f32; PART] {
    if let Some(part) = column.as_slice().and_then(|slice| slice[first..].first_chunk()) {
        return part;
    }
    let len = PART.min(column.len() - first);
    column.copy_into(first, &mut room[..len]);
    room[len..].fill(0.0);
    room
}

/// How much each of sixteen bodies has used up since it was another.
#[inline(always)]
fn used_of<const D: usize>(now: Part<'_, D>, was: Part<'_, D>, margin: f32, first: usize) -> [f32; LANES] {
    let mut used = [0.0; LANES];
    for lane in 0..LANES {
        let (at, mut moved2) = (first + lane, 0.0);
        for axis in 0..D {
            let moved = now.0[axis][at] - was.0[axis][at];
            moved2 += moved * moved;
        }
        used[lane] = used_by(moved2, (now.1[at], was.1[at]), margin);
    }
    used
}

/// As [`used_of`], of how far they have strayed: from so many steps beyond the others, each as long as from where they stood to there.
#[inline(always)]
fn strayed_of<const D: usize>(
    now: Part<'_, D>,
    was: Part<'_, D>,
    (stood, steps): ([&[f32; PART]; D], f32),
    (margin, first): (f32, usize),
) -> [f32; LANES] {
    let mut strayed2 = [0.0; LANES];
    for axis in 0..D {
        for lane in 0..LANES {
            let (at, kept) = (first + lane, was.0[axis][first + lane]);
            let off = (now.0[axis][at] - kept) - steps * (kept - stood[axis][at]);
            strayed2[lane] += off * off;
        }
    }
    let mut strayed = [0.0; LANES];
    for lane in 0..LANES {
        strayed[lane] = used_by(strayed2[lane], (now.1[first + lane], was.1[first + lane]), margin);
    }
    strayed
}

#[inline(always)]
fn keep_greater(most: &mut [f32; LANES], others: [f32; LANES]) {
    for lane in 0..LANES {
        most[lane] = if others[lane] > most[lane] { others[lane] } else { most[lane] };
    }
}

/// How much a body has used up, by the square of how far it is from where it was, and its radius now and before; infinite if it is not sound.
#[inline(always)]
fn used_by(moved2: f32, (radius, before): (f32, f32), margin: f32) -> f32 {
    let used = moved2.sqrt() + (radius - before).abs() + ((before + margin) * ROUNDING + LEAST);
    // What is no number, or of a radius below 0, is not sound.
    if used.is_nan() | (radius < 0.0) { f32::INFINITY } else { used }
}

impl<const D: usize> Was<D> {
    pub(super) fn bytes(&self) -> usize {
        let columns = self.centers.iter().chain(&self.stood).chain([&self.radii, &self.grown]);
        columns.map(Vec::capacity).sum::<usize>() * size_of::<f32>()
    }

    /// Keeps none.
    pub(super) fn forget(&mut self) {
        self.len = None;
    }

    /// Keeps these bodies where they stand.
    pub(super) fn keep(&mut self, bodies: Bodies<'_, D>, workers: Workers<'_>) {
        (self.len, self.is_ahead) = (Some(bodies.len()), false);
        for axis in 0..D {
            keep(&mut self.centers[axis], bodies.centers()[axis], workers);
        }
        self.keep_radii(bodies, workers);
    }

    /// Keeps these bodies where they are to be when they have moved on, so many times as far as since others were kept; but for those that
    /// have moved farther than `most` along an axis: who has jumped is not expected to jump again.
    pub(super) fn keep_ahead(&mut self, bodies: Bodies<'_, D>, (times, most): (f32, f32), workers: Workers<'_>) {
        if !self.is_ahead {
            swap(&mut self.centers, &mut self.stood);
        }
        (self.len, self.is_ahead) = (Some(bodies.len()), true);
        for axis in 0..D {
            let (column, stood) = (bodies.centers()[axis], &mut self.stood[axis]);
            fill_with_headroom(&mut self.centers[axis], stood.len(), 0.0);
            workers.fill_blocks("ahead", &mut self.centers[axis], BLOCK, |first, ahead| {
                let len = ahead.len().min(column.len() - first);
                column.copy_into(first, &mut ahead[..len]);
                ahead[len..].fill(0.0);
                for (slot, stood) in ahead[..len].iter_mut().zip(&stood[first..]) {
                    let moved = *slot - stood;
                    *slot += if moved.abs() <= most { moved * times } else { 0.0 };
                }
            });
            keep(stood, column, workers);
        }
        self.keep_radii(bodies, workers);
    }

    fn keep_radii(&mut self, bodies: Bodies<'_, D>, workers: Workers<'_>) {
        fill_with_headroom(&mut self.radii, bodies.len().next_multiple_of(PART), 0.0);
        workers.fill_blocks("keep", &mut self.radii, BLOCK, |first, block| {
            let len = block.len().min(bodies.len() - first);
            bodies.radii().copy_into(first, &mut block[..len]);
            block[len..].fill(0.0);
        });
    }

    /// Whether bodies are kept where they are to be.
    pub(super) fn is_ahead(&self) -> bool {
        self.is_ahead && self.len.is_some()
    }

    /// The centres of the bodies as they are kept.
    pub(super) fn centers(&self) -> [&[f32]; D] {
        let len = self.len.unwrap_or_default();
        self.centers.each_ref().each(|column| &column[..len])
    }

    /// Gives each body that is kept ahead a margin of its own: so many times as long as its step, and as much as any may stray, but no more than
    /// so much; how long the longest step is, and the largest radius.
    pub(super) fn grow(&mut self, (times, tolerance, most): (f32, f32, f32), workers: Workers<'_>) -> [f32; 2] {
        let Self { centers, radii, stood, grown, .. } = self;
        fill_with_headroom(grown, radii.len(), 0.0);
        let all = Mutex::new([0.0_f32; 2]);
        workers.fill_blocks("grow", grown, BLOCK, |first, block| {
            block.fill(0.0);
            for (centers, stood) in centers.iter().zip(&*stood) {
                let steps = centers[first..].iter().zip(&stood[first..]).map(|(center, stood)| center - stood);
                block.iter_mut().zip(steps).for_each(|(slot, step)| *slot += step * step);
            }
            let [mut longest, mut largest] = [0.0_f32; 2];
            for (slot, radius) in block.iter_mut().zip(&radii[first..]) {
                let step = slot.sqrt();
                longest = if step > longest { step } else { longest };
                largest = if *radius > largest { *radius } else { largest };
                *slot = radius + (step * times + tolerance).min(most);
            }
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            *all = [all[0].max(longest), all[1].max(largest)];
        });
        all.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bodies that are kept ahead, with margins of their own, if they have been given such, or else with this one.
    pub(super) fn bodies_ahead(&self, margin: f32, own: bool) -> Option<Bodies<'_, D>> {
        let len = self.len.filter(|_| self.is_ahead)?;
        let centers = self.centers();
        Some(if own {
            Bodies::from_slices(centers, &self.grown[..len])
        } else {
            Bodies::from_slices(centers, &self.radii[..len]).with_margin(margin)
        })
    }

    /// A body as it is kept, with its margin: its own, or else this one.
    pub(super) fn grown_body(&self, id: u32, margin: f32, own: bool) -> Option<Circle<D>> {
        let center = self.centers();
        if id as usize >= center[0].len() {
            return None;
        }
        let radius = if own { *self.grown.get(id as usize)? } else { self.radii.get(id as usize)? + margin };
        Some(Circle::new(from_axes(|axis| center[axis][id as usize]), radius))
    }

    /// Where a few bodies have come or gone, the last ones, those that are there are kept, new ones where they stand now.
    pub(super) fn adapt(&mut self, bodies: Bodies<'_, D>) {
        let Some(kept) = self.len.filter(|&kept| kept != bodies.len()) else { return };
        if kept.abs_diff(bodies.len()) > kept / SHARE {
            return;
        }
        let adapt = |column: &mut Vec<f32>, now: &dyn Fn(usize) -> f32| {
            column.truncate(kept.min(bodies.len()));
            column.extend((kept..bodies.len()).map(now));
            column.resize(bodies.len().next_multiple_of(PART), 0.0);
        };
        for axis in 0..D {
            let now = |id| bodies.centers()[axis].get(id);
            adapt(&mut self.centers[axis], &now);
            if self.is_ahead {
                adapt(&mut self.stood[axis], &now);
            }
        }
        adapt(&mut self.radii, &|id| bodies.radius(id));
        self.len = Some(bodies.len());
    }

    /// Whether as many bodies are kept.
    pub(super) fn is_of(&self, bodies: Bodies<'_, D>) -> bool {
        self.len == Some(bodies.len())
    }

    /// Takes a body that is there to have come as far along an axis as this since all were kept; or not to have moved, if that is more than `most`.
    pub(super) fn take_to_move(&mut self, id: u32, now: [f32; D], way: [f32; D], most: f32) {
        let stood = if self.is_ahead { &mut self.stood } else { &mut self.centers };
        for (axis, stood) in stood.iter_mut().enumerate() {
            stood[id as usize] = if way[axis].abs() <= most { now[axis] - way[axis] } else { now[axis] };
        }
    }

    /// Packs the bodies as they are kept.
    pub(super) fn pack(&self, packed: &mut Vec<Packed>, workers: Workers<'_>) {
        let centers = self.centers();
        fill_with_headroom(packed, centers[0].len(), Packed::default());
        workers.fill_blocks("pack", packed, BLOCK, |first, block| {
            let (centers, radii) = (centers.map(|column| &column[first..]), &self.radii[first..]);
            for at in 0..block.len().min(radii.len()) {
                block[at] = Packed::new::<D>(from_axes(|axis| centers[axis][at]), radii[at]);
            }
        });
    }

    /// How far some bodies have moved since they stood there, on average.
    pub(super) fn mean_moved(&self, bodies: Bodies<'_, D>) -> f64 {
        let stood = if self.is_ahead { &self.stood } else { &self.centers };
        let (mut sum, len) = (0.0, if self.is_of(bodies) { bodies.len() } else { 0 });
        let every = len.div_ceil(MEAN_OF).max(1);
        for id in (0..len).step_by(every) {
            let of_axis = |axis: usize| f64::from(bodies.centers()[axis].get(id)) - f64::from(stood[axis][id]);
            sum += squared::<D>(from_fn(of_axis)).sqrt();
        }
        sum / len.div_ceil(every).max(1) as f64
    }

    /// How far all but one in so many of some bodies have moved since they stood, or strayed that many steps beyond where they are kept ahead;
    /// with no doubt for rounding. `all` is memory for that.
    pub(super) fn most_but_for(
        &self,
        bodies: Bodies<'_, D>,
        (steps, share): (Option<f64>, usize),
        all: &mut Vec<f32>,
    ) -> f64 {
        all.clear();
        if !self.is_of(bodies) || (steps.is_some() && !self.is_ahead()) {
            return f64::INFINITY;
        }
        let stood = if self.is_ahead { &self.stood } else { &self.centers };
        for id in (0..bodies.len()).step_by(bodies.len().div_ceil(QUANTILE_OF).max(1)) {
            let of_axis = |axis: usize| {
                let [kept, stood] = [self.centers[axis][id], stood[axis][id]].map(f64::from);
                let expected = steps.map_or(stood, |steps| kept + steps * (kept - stood));
                f64::from(bodies.centers()[axis].get(id)) - expected
            };
            let grown = f64::from(bodies.radius(id)) - f64::from(self.radii[id]);
            all.push((squared::<D>(from_fn(of_axis)).sqrt() + grown.abs()) as f32);
        }
        most_of(all, share).into()
    }

    /// Of some bodies that are kept where they are to be: visits how far each is from there along its step from where it stood, and that step,
    /// both times the latter.
    pub(super) fn along(&self, bodies: Bodies<'_, D>, mut visit: impl FnMut([f64; 2])) {
        if self.is_ahead() {
            let both = self.len.map_or(0, |len| len.min(bodies.len()));
            let sample = (both / SAMPLED).clamp(SAMPLE[0], SAMPLE[1]);
            for id in (0..both).step_by(both.div_ceil(sample).max(1)) {
                let mut of_body = [0.0; 2];
                for axis in 0..D {
                    let (now, kept) = (bodies.centers()[axis].get(id), self.centers[axis][id]);
                    let step = f64::from(kept) - f64::from(self.stood[axis][id]);
                    of_body = [of_body[0] + (f64::from(now) - f64::from(kept)) * step, of_body[1] + step * step];
                }
                visit(of_body);
            }
        }
    }

    /// Packs bodies, alone or with themselves as they are kept; how much one of them has used up since they were kept, at most: see
    /// [`Current::measure`](super::current::Current::measure). Or, how far one has moved since then, or strayed. Of those alone that have not done
    /// so by more than a limit, if there is one, and of all; the others are listed, in no order, and so are a few that have come, or gone, where
    /// those are the last: who is not there any more is nowhere.
    pub(super) fn measure<P: Pack>(
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
        // Behind the last of those that are kept others may stand.
        let whole = if all > both { both / PART * PART } else { both };
        let (packed, others) = packed.split_at_mut(whole);
        let mut used = [0.0_f32; 2];
        for (slot, id) in others.iter_mut().zip(whole..) {
            let of_body = |centers: &[Vec<f32>; D], radii: &[f32]| {
                Packed::new::<D>(from_axes(|axis| centers[axis][id]), radii[id])
            };
            let now = || Packed::new::<D>(from_axes(|axis| bodies.centers()[axis].get(id)), bodies.radius(id));
            if id >= both {
                if id < bodies.len() && !is_sound(&now()) {
                    used = [f32::INFINITY; 2];
                }
                *slot = P::pack(if id < bodies.len() { now() } else { Packed::NOWHERE }, Packed::NOWHERE);
                continue;
            }
            let (now, was) = (now(), of_body(centers, &self.radii));
            let mut moved2 = 0.0;
            for axis in 0..D {
                let step = course.map_or(0.0, |steps| steps * (was.0[axis] - self.stood[axis][id]));
                let moved = (now.0[axis] - was.0[axis]) - step;
                moved2 += moved * moved;
            }
            let of_body = used_by(moved2, (now.radius(), was.radius()), margin);
            let within = limit.map_or(of_body, |limit| take_one(of_body, limit, id as u32));
            used = [used[0].max(within), used[1].max(of_body)];
            *slot = P::pack(now, was);
        }
        if let Some(limit) = limit {
            let mut beyond = limit.beyond.lock().unwrap_or_else(PoisonError::into_inner);
            beyond.extend(both as u32..all as u32);
        }
        let most = Mutex::new(used);
        workers.fill_blocks("measure", packed, BLOCK, |first, packed| {
            let was = (parts_of(centers, first), self.radii[first..].as_chunks().0);
            let course = course.map(|steps| (parts_of(&self.stood, first), steps));
            let [within, of_all] = isa.run(Measure { bodies, was, course, margin, limit, first, packed });
            let mut most = most.lock().unwrap_or_else(PoisonError::into_inner);
            *most = [most[0].max(within), most[1].max(of_all)];
        });
        most.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The greatest of some but for one in so many.
fn most_of(all: &mut [f32], share: usize) -> f32 {
    let Some(last) = all.len().checked_sub(1) else { return 0.0 };
    let at = last - all.len() / share;
    *all.select_nth_unstable_by(at, f32::total_cmp).1
}

/// How much bodies may use up that are not listed, and where the others are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit<'a> {
    pub(super) most: f32,
    pub(super) beyond: &'a Mutex<Vec<u32>>,
}

/// Since when it is measured how far bodies have moved.
#[derive(Debug, Clone, Copy)]
pub(super) enum Since {
    /// From where they are kept.
    Kept,
    /// From so many steps beyond, where that is ahead of where they stood.
    Steps(f32),
    /// From where they stood then.
    Stood,
}

/// Keeps a column, filled up to whole parts.
fn keep(out: &mut Vec<f32>, column: Column<'_, f32>, workers: Workers<'_>) {
    fill_with_headroom(out, column.len().next_multiple_of(PART), 0.0);
    workers.fill_blocks("keep", out, BLOCK, |first, block| {
        let len = block.len().min(column.len() - first);
        column.copy_into(first, &mut block[..len]);
        block[len..].fill(0.0);
    });
}

/// The values of each column from number `first` on.
fn parts_of<const D: usize>(columns: &[Vec<f32>; D], first: usize) -> [&[[f32; PART]]; D] {
    columns.each_ref().each(|column| column[first..].as_chunks().0)
}

/// What is kept of a body that is read.
pub(super) trait Pack: Copy + Default + Send + Sync {
    /// Of a body as it is, and as it was or is to be.
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

struct Measure<'a, P, const D: usize> {
    bodies: Bodies<'a, D>,
    was: ([&'a [[f32; PART]]; D], &'a [[f32; PART]]),
    /// Where they stood, and how many steps to go.
    course: Option<([&'a [[f32; PART]]; D], f32)>,
    margin: f32,
    limit: Option<Limit<'a>>,
    first: usize,
    packed: &'a mut [P],
}

impl<P: Pack, const D: usize> Work for Measure<'_, P, D> {
    type Output = [f32; 2];

    #[inline(always)]
    fn run(self) -> [f32; 2] {
        let Self { bodies, was: (centers, radii), course, margin, limit, first, packed } = self;
        let [mut within, mut of_all] = [[0.0_f32; LANES]; 2];
        let (mut most, mut rooms, mut room) = (0.0_f32, [[0.0; PART]; D], [0.0; PART]);
        for (number, packed) in packed.chunks_mut(PART).enumerate() {
            let first = first + number * PART;
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
            let was = (from_fn(|axis| &centers[axis][number]), &radii[number]);
            let course = course.map(|(stood, steps)| (from_fn(|axis| &stood[axis][number]), steps));
            let (mut lanes, mut used) = ([0.0; LANES], [0.0; PART]);
            let rooms_of_used = used.as_chunks_mut::<LANES>().0;
            match course {
                None => {
                    for (number, slot) in rooms_of_used.iter_mut().enumerate() {
                        *slot = used_of(now, was, margin, number * LANES);
                        keep_greater(&mut lanes, *slot);
                    }
                }
                Some(course) => {
                    for (number, slot) in rooms_of_used.iter_mut().enumerate() {
                        *slot = strayed_of(now, was, course, (margin, number * LANES));
                        keep_greater(&mut lanes, *slot);
                    }
                }
            }
            keep_greater(&mut of_all, lanes);
            match limit {
                Some(limit) if is_any_beyond(lanes, limit.most) => most = most.max(take_beyond(&used, limit, first)),
                _ => keep_greater(&mut within, lanes),
            }
            for (at, slot) in packed.iter_mut().enumerate() {
                let [mut center, mut kept] = [[0.0; D]; 2];
                for axis in 0..D {
                    (center[axis], kept[axis]) = (now.0[axis][at], was.0[axis][at]);
                }
                *slot = P::pack(Packed::new(center, now.1[at]), Packed::new(kept, was.1[at]));
            }
        }
        [within.into_iter().fold(most, f32::max), of_all.into_iter().fold(0.0, f32::max)]
    }
}

#[inline(always)]
fn is_any_beyond(used: [f32; LANES], most: f32) -> bool {
    let mut beyond = false;
    for lane in 0..LANES {
        beyond |= used[lane] > most;
    }
    beyond
}

/// Lists who has used up more than the limit, by numbers from `first` on; what the others have at most. Who is not sound is none of either.
#[cold]
#[inline(never)]
fn take_beyond(used: &[f32; PART], limit: Limit<'_>, first: usize) -> f32 {
    let mut within = 0.0_f32;
    for (first, used) in (first..).step_by(LANES).zip(used.as_chunks::<LANES>().0) {
        if is_any_beyond(*used, limit.most) {
            let all = (first as u32..).zip(used);
            within = all.fold(within, |within, (id, &used)| within.max(take_one(used, limit, id)));
        } else {
            within = used.iter().fold(within, |most, &used| if used > most { used } else { most });
        }
    }
    within
}

fn is_sound(body: &Packed) -> bool {
    body.0.iter().all(|x| x.is_finite()) && body.radius() >= 0.0
}

/// Lists one who has used up more than the limit, and is sound.
fn take_one(used: f32, limit: Limit<'_>, id: u32) -> f32 {
    if used <= limit.most || used == f32::INFINITY {
        return used;
    }
    limit.beyond.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    0.0
}

#[cfg(test)]
mod tests {
    use jostle_core::{Bodies, Workers};

    use super::Was;

    /// Far from the origin, where coordinates are rounded by a third of a step.
    #[test]
    fn the_longest_step_is_as_long_as_any() {
        let at = |frame: f32| (0..600_u16).map(|id| 1e5 + f32::from(id) + frame * 0.02).collect::<Vec<f32>>();
        let (before, now, radii) = (at(0.0), at(1.0), [1.0; 600]);
        let mut was = Was::<2>::default();
        was.keep(Bodies::from_slices([&before, &before], &radii), Workers::Serial);
        was.keep_ahead(Bodies::from_slices([&now, &before], &radii), (0.85, 0.03), Workers::Serial);
        let [longest, largest] = was.grow((1.2, 0.001, 0.5), Workers::Serial);
        assert!(longest > 0.0 && largest == 1.0);
        for id in 0..600 {
            let step = was.centers[0][id] - was.stood[0][id];
            assert!(step <= longest && was.grown[id] >= 1.0 + step * 1.2, "{id}: {step}");
        }
    }
}

//! Plain bodies, in `f32` at rest in open space. They are kept where they stand or are to be. Each frame measures how
//! much of their margins they have used up, and how far they have strayed from their course.

use core::mem::{swap, take};
use std::sync::{Mutex, PoisonError};

use jostle_core::axes::{Both, from_axes};
use jostle_core::{Bodies, Isa, Workers};
use jostle_sets::Circle;
use jostle_sets::input::{Input, Source};

use crate::coherent::bodies_of;
use crate::coherent::course::{Course, Progress};
use crate::coherent::current::{Current, SetNow, TOO_FAR};
use crate::coherent::frame_input::FrameInput;
use crate::coherent::ghosts::{NOWHERE, Others, around, borders_of};
use crate::coherent::numbers::{Member, Numbers};
use crate::coherent::pace::ListPlan;
use crate::coherent::packed::{Moving, Packed};
use crate::coherent::reference::Reference;
use crate::coherent::reference::ahead::Bent;
use crate::coherent::reference::measure::{Limit, Since};
use crate::coherent::slack::LEAST;

/// What rounding may cost of how far bodies have strayed, relative to the margin: 2^-17. All steps that are looked at
/// are together no longer than the margin. Their differences and products, and what the predicate rounds, are rounded
/// by a few times 2^-24.
const ROUNDING: f64 = 1.0 / 131_072.0;

/// Bodies that are more steps than this from where they are kept are on no course: see `LEAST` of `course.rs`.
pub(super) const MOST_STEPS: f64 = 16.0;

/// Where bodies are kept as they stand, a body that is farther from there than so many margins strays.
const JUMP: f64 = 2.0;

/// The farthest of so many bodies with margins of their own are off much farther than nearly all: they stray, and the
/// list holds for the others.
const MANY: usize = 1 << 16;

/// Bodies may stray farther by so many times the error of their stand-ins.
const ERRORS: f64 = 4.0;

/// Multiplies how far bodies reach, for rounding.
const REACHING: f64 = 1.0 + 1.0 / 1024.0;

/// How far a body was moved when it was kept ahead, over the longest step that was measured, at most: that step bounds
/// each axis alone.
const STEPS_AT_MOST: f64 = 2.0;

/// Where the numbers of stray bodies are listed, and the numbers of all bodies.
pub(in crate::coherent) type Straying<'a> = (&'a mut Vec<u32>, &'a Numbers);

impl<const D: usize> Current<D> {
    /// Keeps the bodies of a plain frame.
    pub(in crate::coherent) fn keep(&mut self, input: &Input<'_, D>, workers: Workers<'_>) {
        self.make_room(input);
        (self.course, self.own, self.own_stray) = (None, false, false);
        self.sets.iter_mut().for_each(|now| now.ghosts.clear());
        self.each_view(input, &mut |now, bodies| now.reference.keep(bodies, workers));
    }

    /// Keeps the bodies of a plain frame where they are to be: see [`Reference::keep_ahead`]. Where a course is
    /// expected of them, or the plan says so, each body gets a margin of its own.
    pub(in crate::coherent) fn keep_ahead(
        &mut self,
        input: &Input<'_, D>,
        plan: &ListPlan,
        ahead: [f64; 2],
        on: (Isa, Workers<'_>),
    ) {
        let [times, moved] = ahead;
        // The rounding of stand-ins is no straying.
        let tolerance = plan.tolerance + ERRORS * self.error;
        let mut course = Course::new((times * moved) as f32, tolerance as f32);
        let margin = plan.margin as f32;
        let grown = (margin / course.reach, course.tolerance, margin);
        self.each_view(input, &mut |now, bodies| {
            let SetNow { reference, before, bodies: here, .. } = now;
            let bent = plan.bent.map(|(frames, bend)| {
                // Before the first frame that is followed, none has been read.
                let steps = [&*before, &*here].both(|bodies| if frames > 1.0 { bodies.as_slice() } else { &[] });
                Bent { frames, steps, bend }
            });
            reference.keep_ahead(bodies, (times as f32, moved as f32), bent, on);
            if course.is_expected() {
                // A body that has jumped may have a longer step than the longest that was measured.
                course.note(reference.grow(grown, on.1));
            } else if let Some([times, least]) = plan.own {
                reference.grow_own((times, least, margin), on.1);
            }
        });
        (self.course, self.own) = (Some(course), plan.own.is_some());
        self.own_stray = self.own && bodies_of(input) >= MANY;
        self.limit = plan.limit + ERRORS * self.error;
    }

    /// Returns the bodies of a set where they are kept, with margins, and their ghost images.
    pub(in crate::coherent) fn grown(&self, set: usize, margin: f64) -> Option<Bodies<'_, D>> {
        let SetNow { reference, ghosts, .. } = self.sets.get(set)?;
        if ghosts.is_empty() { reference.bodies(margin as f32, self.have_own()) } else { Some(ghosts.with_bodies()) }
    }

    /// Finds the ghost images of kept bodies that may touch other bodies with such a margin, if stand-ins stand in for
    /// bodies where space repeats.
    pub(in crate::coherent) fn find_ghosts(&mut self, given: FrameInput<'_, D>, margin: f64, on: (Isa, Workers<'_>)) {
        let own = self.have_own();
        let sets = &mut self.sets[..self.of_input];
        sets.iter_mut().for_each(|now| now.ghosts.clear());
        let Some((stand_ins, cell)) = given.stand_ins.and_then(|stand_ins| Some((stand_ins, stand_ins.cell()?))) else {
            return;
        };
        let largest = (stand_ins.largest() + margin) as f32;
        for SetNow { reference, borders, others, .. } in &mut *sets {
            let of_bodies = |bodies: Bodies<'_, D>| borders_of(bodies.centers(), on);
            *borders = reference.bodies(margin as f32, own).map_or([NOWHERE; D], of_bodies);
            *others = Others { borders: [NOWHERE; D], largest, are_own: true, are_alone: true };
        }
        for (first, second) in given.input.meetings() {
            let (borders, is_within) = (sets[first].borders, first == second);
            sets[first].others.are_alone &= is_within;
            let others = &mut sets[second].others;
            others.borders = around(others.borders, borders);
            (others.are_own, others.are_alone) = (others.are_own && is_within, others.are_alone && is_within);
        }
        let error = (2.0 * stand_ins.error()) as f32 + LEAST;
        for SetNow { reference, ghosts, others, .. } in sets {
            if let Some(bodies) = reference.bodies(margin as f32, own).filter(|_| others.borders != [NOWHERE; D]) {
                ghosts.find(cell, bodies, (others, error), on);
            }
        }
    }

    /// Returns the kept bodies of each set: where they are kept, and where they stood.
    pub(in crate::coherent) fn kept_mut(&mut self) -> impl Iterator<Item = &mut Reference<D>> {
        self.sets.iter_mut().map(|now| &mut now.reference)
    }

    /// Puts the ghost images behind bodies that have just been read.
    fn put_ghosts(&mut self, workers: Workers<'_>) {
        self.sets[..self.of_input].iter_mut().for_each(|now| now.put_ghosts(workers));
    }

    /// Returns the course that is expected of the kept bodies, if one is.
    pub(in crate::coherent) fn course(&self) -> Option<Course> {
        self.course.filter(|course| course.is_expected())
    }

    /// Whether bodies that have used up margins of their own stray.
    pub(in crate::coherent) fn own_stray(&self) -> bool {
        self.own_stray
    }

    /// Whether each kept body has a margin of its own.
    fn have_own(&self) -> bool {
        self.own || self.course().is_some()
    }

    /// Returns how far bodies have come that have used up `used` of a margin that still holds.
    pub(in crate::coherent) fn progress(&self, used: f64, margin: f64) -> Progress {
        let Some(course) = self.course() else { return Progress::Anywhere(used) };
        course.progress((self.steps, self.strayed), margin as f32)
    }

    /// Adapts what is kept to bodies of which a few have come or gone since: see [`Reference::adapt`].
    pub(in crate::coherent) fn adapt(&mut self, input: &Input<'_, D>) {
        self.each_view(input, &mut |now, bodies| now.reference.adapt(bodies));
    }

    /// Takes each stray body to move on as it has since the last frame, and to have done so in so many frames. A body
    /// that would have come farther than `most` along an axis has jumped: it is taken not to move along that axis.
    pub(in crate::coherent) fn take_to_move(
        &mut self,
        input: &Input<'_, D>,
        strays: impl Iterator<Item = (Member, Packed)>,
        (frames, most): (u32, f64),
    ) {
        for (Member { set, id }, before) in strays.filter(|(_, before)| !before.radius().is_nan()) {
            let set = self.sets.get_mut(set as usize).zip(input.sets().get(set as usize));
            let Some((now, Source::View(bodies))) = set.map(|(now, set)| (now, set.source)) else { continue };
            if now.reference.is_of(bodies) && (id as usize) < bodies.len() {
                let center = from_axes(|axis| bodies.centers()[axis].get(id as usize));
                let way = from_axes(|axis| (center[axis] - before.0[axis]) * frames as f32);
                now.reference.take_to_move(id, center, way, most as f32);
            }
        }
    }

    /// Returns a body of a set as it is kept, with its margin, or a ghost image of one.
    pub(in crate::coherent) fn grown_body(&self, set: usize, name: u32, margin: f64) -> Option<Circle<D>> {
        let SetNow { reference, ghosts, .. } = self.sets.get(set)?;
        if ghosts.is_empty() {
            reference.grown_body(name, margin as f32, self.have_own())
        } else {
            ghosts.listed_body(name)
        }
    }

    /// Returns how far bodies may reach out of the cell while a list lasts, where space repeats. `largest` is the
    /// largest radius now, which may be smaller by a margin than it was when the list was made.
    pub(in crate::coherent) fn reach_out_of_cell(&self, largest: f64, margin: f64) -> f64 {
        largest + 2.0 * margin + self.course.map_or(0.0, |course| f64::from(course.reach) * STEPS_AT_MOST)
    }

    /// Begins to read a frame. Sets the bodies of the last one aside if their last steps are to be known.
    pub(in crate::coherent) fn turn_page(&mut self, expected: bool) {
        for SetNow { bodies, before, .. } in &mut self.sets {
            if expected {
                swap(bodies, before);
            } else {
                before.clear();
            }
        }
    }

    /// Reads the bodies of a plain frame. Returns the most that a body has used up since bodies were kept, with what
    /// rounding may cost if a margin was added to its radius; of bodies on their course, a little more. Infinite if a
    /// body is not sound, or if these are not the bodies kept. Of bodies on their course, it is more than any margin
    /// then, and where a body has strayed farther than it may. If `strays` are given, the numbers of stray bodies are
    /// listed there, and the result is that of the other bodies.
    pub(in crate::coherent) fn measure(
        &mut self,
        input: &Input<'_, D>,
        (margin, strays): (f64, Option<Straying<'_>>),
        on: (Isa, Workers<'_>),
    ) -> f64 {
        let Some(course) = self.course() else {
            let limit = strays.map(|strays| ((if self.own_stray { margin } else { JUMP * margin }) as f32, strays));
            let [used, of_all] = self.measure_used(input, (margin, limit), on);
            self.put_ghosts(on.1);
            self.farthest = of_all;
            return used;
        };
        let strayed = self.measure_strayed(input, (margin, strays), on);
        self.put_ghosts(on.1);
        self.used(course, strayed)
    }

    /// Returns the most that a body has used up of a margin, stray bodies included, where bodies are kept as they
    /// stand.
    pub(in crate::coherent) fn farthest(&self) -> f64 {
        self.farthest
    }

    /// Takes what has been measured of all bodies, since too many stray.
    pub(in crate::coherent) fn take_all(&mut self) {
        if self.course().is_some() {
            self.strayed = self.farthest;
        }
    }

    /// Measures bodies that have just been kept, as [`Current::measure`] does, and reads them as they are and as they
    /// are kept. Leaves no bodies by rank.
    pub(in crate::coherent) fn measure_kept(
        &mut self,
        input: &Input<'_, D>,
        margin: f64,
        on: (Isa, Workers<'_>),
    ) -> f64 {
        self.by_rank.clear();
        let used = match self.course() {
            Some(course) => {
                let strayed = self.measure_strayed(input, (margin, None), on);
                self.used(course, strayed)
            }
            None => self.measure_used(input, (margin, None), on)[0],
        };
        let own = self.own;
        for SetNow { reference, bodies, moving, ghosts, .. } in &mut self.sets[..self.of_input] {
            reference.pack_moving(own, bodies, moving, on.1);
            ghosts.put_behind(moving, Moving::moved, on.1);
            ghosts.mark(moving, on.1);
        }
        used
    }

    /// Reads the bodies of a plain frame, on no course: see [`Reference::measure`].
    fn measure_used(
        &mut self,
        input: &Input<'_, D>,
        (margin, limit): (f64, Option<(f32, Straying<'_>)>),
        on: (Isa, Workers<'_>),
    ) -> [f64; 2] {
        if self.own {
            let error = (self.error * REACHING) as f32;
            return self.read_plain(input, (margin, Since::Own(error), limit), on);
        }
        self.read_plain(input, (margin, Since::Kept, limit), on).both(|used| used + self.error)
    }

    fn used(&self, course: Course, strayed: f64) -> f64 {
        let used = self.steps.abs() * f64::from(course.reach) + strayed;
        if strayed <= course.tolerance.into() { used } else { TOO_FAR }
    }

    /// Reads the bodies of a plain frame. Returns how far one has strayed from its course since bodies were kept ahead,
    /// at most, with what rounding may cost.
    pub(super) fn measure_strayed(
        &mut self,
        input: &Input<'_, D>,
        (margin, strays): (f64, Option<Straying<'_>>),
        on: (Isa, Workers<'_>),
    ) -> f64 {
        let mut sample = take(&mut self.sample);
        sample.clear();
        self.each_view(input, &mut |now, bodies| now.reference.along(bodies, |of_body| sample.push(of_body)));
        let tolerance = self.course.map_or(f32::INFINITY, |course| course.tolerance);
        let steps = steps_of(&mut sample, tolerance.into()) as f32;
        self.sample = sample;
        let rounding = margin * ROUNDING + self.error;
        let limit = strays.map(|strays| ((self.limit - rounding) as f32, strays));
        let measured = self.read_plain(input, (margin, Since::Steps(steps), limit), on);
        self.steps = steps.into();
        let known = self.steps.abs() <= MOST_STEPS;
        [self.strayed, self.farthest] = measured.both(|most| if known { most + rounding } else { f64::INFINITY });
        self.strayed
    }

    /// Reads the bodies of a plain frame: see [`Reference::measure`].
    pub(super) fn read_plain(
        &mut self,
        input: &Input<'_, D>,
        (margin, since, limit): (f64, Since, Option<(f32, Straying<'_>)>),
        on: (Isa, Workers<'_>),
    ) -> [f64; 2] {
        self.make_room(input);
        let beyond = limit.map(|(most, (strays, numbers))| (Mutex::new(take(strays)), strays, most, numbers));
        let mut measured = [0.0_f64; 2];
        for (number, (now, set)) in self.sets.iter_mut().zip(input.sets()).enumerate() {
            let limit = beyond.as_ref().map(|(beyond, _, most, numbers)| {
                let (most, first) = (*most, numbers.first(number));
                Limit { most, beyond, first }
            });
            let of_set = match set.source {
                Source::View(bodies) => {
                    now.reference.measure(bodies, (margin as f32, since, limit), &mut now.bodies, on)
                }
                Source::Tree(_) | Source::Double(_) | Source::Shaped(_) => [f32::INFINITY; 2],
            };
            for (most, of_set) in measured.iter_mut().zip(of_set) {
                *most = most.max(of_set.into());
            }
        }
        if let Some((beyond, strays, ..)) = beyond {
            *strays = beyond.into_inner().unwrap_or_else(PoisonError::into_inner);
        }
        measured
    }

    /// Begins a frame with these sets, whose bodies may be `error` from where their stand-ins say.
    pub(in crate::coherent) fn begin(&mut self, input: &Input<'_, D>, error: f64) {
        (self.of_input, self.error) = (input.sets().len(), error);
    }

    pub(super) fn each_view(&mut self, input: &Input<'_, D>, visit: &mut dyn FnMut(&mut SetNow<D>, Bodies<'_, D>)) {
        for (now, set) in self.sets.iter_mut().zip(input.sets()) {
            if let Source::View(bodies) = set.source {
                visit(now, bodies);
            }
        }
    }
}

/// Returns how many of their steps the bodies of a sample are from where they are kept. Of each body the sample has how
/// far it has come along its step, times the step, and the square of the step. If some are farther than `tolerance`
/// from where all are on average, those that are so far from the median stray and do not count; in the median, bodies
/// weigh by the squares of their steps.
fn steps_of(sample: &mut [[f64; 2]], tolerance: f64) -> f64 {
    let quotient = |[along, step2]: [f64; 2]| if step2 > 0.0 { along / step2 } else { 0.0 };
    let is_near = |[along, step2]: [f64; 2], steps: f64| (along - steps * step2).abs() <= tolerance * step2.sqrt();
    let add = |sums: [f64; 2], &[along, step2]: &[f64; 2]| [sums[0] + along, sums[1] + step2];
    let sums = sample.iter().fold([0.0; 2], add);
    let of_all = quotient(sums);
    if sample.iter().all(|&of_body| is_near(of_body, of_all)) {
        return of_all;
    }
    sample.sort_unstable_by(|&one, &other| quotient(one).total_cmp(&quotient(other)));
    let mut before = 0.0;
    let median = sample.iter().find(|[_, step2]| {
        before += step2;
        before >= 0.5 * sums[1]
    });
    let median = median.map_or(0.0, |&of_body| quotient(of_body));
    quotient(sample.iter().filter(|&&of_body| is_near(of_body, median)).fold([0.0; 2], add))
}

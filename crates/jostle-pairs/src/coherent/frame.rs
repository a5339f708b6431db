//! One frame. The finder first looks whether a kept list still holds; if it does not, or if there is none, bodies are
//! searched from scratch. Each of these two parts runs on one thread or on all, whichever is sooner done.

use core::mem::forget;

use jostle_core::clock::Instant;
use jostle_core::{Threads, Workers};
use jostle_sets::compiled::compiled_here;
use jostle_sets::input::Input;

use crate::InputError;
use crate::coherent::current::TOO_FAR;
use crate::coherent::doubt::Decide;
use crate::coherent::frame_input::FrameInput;
use crate::coherent::pace::Moved;
use crate::coherent::reference::SHARE;
use crate::coherent::stand_ins::{StandIns, may_stand_in};
use crate::coherent::strays::{Meets, Repeats, Rules};
use crate::coherent::{Answer, CoherentFinder, bodies_of, is_by_table, is_plain, layers};
use crate::join::filter::PairTest;

/// The margin within which bodies near a stray body are looked for, as a part of the list's margin.
const NEAR: f64 = 0.5;

/// A frame whose list holds looks at all bodies; a search, where nearly all came sorted and a few are sought among
/// them, at few. Bodies are followed where there are at most so many for each that a search looks at.
const FOLLOWED: usize = 8;

/// A stray body that would come farther than so many margins in the life of a list has jumped.
const FAR: f64 = 8.0;

/// Who does the work of a frame.
#[derive(Debug, Clone, Copy)]
pub(super) enum By<'t> {
    Threads(Threads<'t>),
    /// The calling thread alone, which does task after task and records each.
    Recorded(Workers<'t>),
}

#[derive(Debug, Clone, Copy)]
enum FramePart {
    Anew,
    Kept,
}

/// Does a part of a frame on some workers.
type RunPart<'a, const D: usize> =
    dyn FnMut(&mut CoherentFinder<D>, Workers<'_>) -> Result<Outcome, InputError> + Send + 'a;

/// How a part of a frame has ended.
enum Outcome {
    Answered,
    /// The list does not hold: bodies have used up this much of their margin, or, if none is given, are not those kept.
    Ended(Option<f64>),
}

/// A finder within a frame. If a function of the caller's or a host panics, the finder forgets all that it keeps.
struct Unfinished<'a, const D: usize>(&'a mut CoherentFinder<D>);

impl<const D: usize> Drop for Unfinished<'_, D> {
    fn drop(&mut self) {
        self.0.pace.abandon();
        self.0.finder.forget_pairs();
    }
}

compiled_here! {
    /// Answers a frame.
    pub(super) fn find<const D: usize>(
        finder: &mut CoherentFinder<D>,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        answer: Answer<'_>,
        by: By<'_>,
    ) -> Result<(), InputError> {
        finder.find_here(input, only, answer, by)
    }
}

impl<const D: usize> CoherentFinder<D> {
    fn find_here(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        answer: Answer<'_>,
        by: By<'_>,
    ) -> Result<(), InputError> {
        if input.has_margin() {
            return Err(InputError::Combination {
                parts: "coherent frames and a margin",
                reason: "the finder chooses a margin of its own, and its pairs are those without",
            });
        }
        input.check_searchable()?;
        let asks_pairs = matches!(answer, Answer::Pairs);
        let unfinished = Unfinished(self);
        let found = unfinished.0.find_limited(input, only, answer, by);
        forget(unfinished);
        if found.is_err() {
            // What is kept may have been adapted to the refused bodies.
            self.forget_frames();
        }
        if asks_pairs && matches!(found, Err(InputError::TooManyPairs { .. })) {
            self.finder.forget_pairs();
        }
        found
    }

    fn forget_frames(&mut self) {
        self.pace.forget();
        self.stand_ins.iter_mut().for_each(StandIns::forget);
    }

    /// Answers a frame whose input can be searched. What is kept may have more pairs than the frame, if the caller's
    /// test drops some: whether a frame has too many is for a search from scratch to say.
    fn find_limited(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        mut answer: Answer<'_>,
        by: By<'_>,
    ) -> Result<(), InputError> {
        let found = self.find_sound(input, only, &mut answer, by);
        if !(matches!(found, Err(InputError::TooManyPairs { .. })) && self.pace.has_list()) {
            return found;
        }
        self.pace.charge();
        self.forget_frames();
        self.search_only(input, only, &mut answer, by)
    }

    /// Answers a frame by a search, and keeps nothing.
    fn search_only(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        answer: &mut Answer<'_>,
        by: By<'_>,
    ) -> Result<(), InputError> {
        self.run_on((by, FramePart::Anew), input.weight(), &mut |finder, workers| {
            finder.search_once(input, only, answer, workers)?;
            Ok(Outcome::Answered)
        })?;
        Ok(())
    }

    fn find_sound(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        answer: &mut Answer<'_>,
        by: By<'_>,
    ) -> Result<(), InputError> {
        self.pace.begin_frame();
        if self.pace.keeps_list() && self.listed_for != answer.listed_for() {
            self.pace.abandon();
        }
        let is_followed = bodies_of(input) <= FOLLOWED.saturating_mul(input.weight());
        if is_followed && is_plain(input) {
            self.stand_ins.iter_mut().for_each(StandIns::forget);
            return self.find_followed(input, only, (answer, None), by);
        }
        if is_followed && may_stand_in(input) {
            let mut stand_ins = self.stand_ins.take().unwrap_or_default();
            let found = self.find_followed(input, only, (answer, Some(&mut stand_ins)), by);
            self.stand_ins = Some(stand_ins);
            return found;
        }
        self.pace.abandon();
        self.search_only(input, only, answer, by)
    }

    /// Answers a frame whose bodies can be followed, either themselves or by their stand-ins.
    fn find_followed(
        &mut self,
        input: &Input<'_, D>,
        only: Option<PairTest<'_>>,
        (answer, mut stand_ins): (&mut Answer<'_>, Option<&mut StandIns<D>>),
        by: By<'_>,
    ) -> Result<(), InputError> {
        let (bodies, mut used, mut is_followed) = (input.weight(), None, false);
        if self.pace.keeps() {
            let outcome = self.run_on((by, FramePart::Kept), bodies, &mut |finder, workers| {
                let started = Instant::now();
                if let Some(stand_ins) = &mut stand_ins {
                    is_followed = true;
                    if !stand_ins.follow(input, (finder.finder.isa(), workers)) {
                        return Ok(Outcome::Ended(None));
                    }
                    if matches!(&*answer, Answer::Rows(_, lists) if lists.want_columns()) {
                        stand_ins.put_in_cell(input, (finder.finder.isa(), workers));
                    }
                }
                FrameInput::with(input, stand_ins.as_deref(), |given| {
                    let used = finder.used(given, workers);
                    let Some(now) = used.filter(|_| finder.pace.holds(used)) else { return Ok(Outcome::Ended(used)) };
                    finder.list_kept(given, only, answer, (now, started), workers)?;
                    Ok(Outcome::Answered)
                })
            })?;
            let Outcome::Ended(now) = outcome else { return Ok(()) };
            used = now;
        }
        self.run_on((by, FramePart::Anew), bodies, &mut |finder, workers| {
            let on = (finder.finder.isa(), workers);
            let moved = used.and_then(|used| {
                FrameInput::with(input, stand_ins.as_deref(), |given| finder.moved(given, used, workers))
            });
            finder.pace.ended(moved);
            let has_drifted =
                stand_ins.as_deref_mut().is_some_and(|stand_ins| is_followed && stand_ins.end_if_drifted());
            let known = moved.is_some() && finder.pace.keeps() && !has_drifted;
            let plan = finder.plan_list(input, answer, (known, stand_ins.is_some()));
            if plan.is_none() && !finder.pace.will_probe() {
                finder.search_once(input, only, answer, workers)?;
                return Ok(Outcome::Answered);
            }
            if let Some(stand_ins) = stand_ins.as_deref_mut() {
                if !is_followed || has_drifted {
                    stand_ins.follow(input, on);
                }
                stand_ins.settle(finder.current.kept_mut().take(input.sets().len()), on);
            }
            FrameInput::with(input, stand_ins.as_deref(), |given| {
                finder.current.begin(given.plain, given.error());
                finder.sieves_layers = false;
                finder.search(given, only, (&mut *answer, plan), workers)
            })?;
            Ok(Outcome::Answered)
        })?;
        Ok(())
    }

    /// Runs a part on the given threads, or on the calling thread alone where this has been sooner for so few bodies.
    fn run_on(
        &mut self,
        (by, part): (By<'_>, FramePart),
        bodies: usize,
        run: &mut RunPart<'_, D>,
    ) -> Result<Outcome, InputError> {
        let threads = match by {
            By::Threads(threads) => threads,
            By::Recorded(workers) => return run(self, workers),
        };
        let of_part = part as usize;
        if matches!(part, FramePart::Kept) {
            self.ways[of_part].fit(threads);
        }
        let started = self.ways[of_part].measures(bodies).then(Instant::now);
        let (outcome, alone) = threads.run(self.ways[of_part].limits(bodies), bodies, |workers| {
            (workers.together(|| run(self, workers)), matches!(workers, Workers::Serial))
        });
        let outcome = outcome?;
        // The time of a frame whose list has ended tells nothing of frames whose list holds.
        if let Some(started) = started.filter(|_| matches!(outcome, Outcome::Answered)) {
            self.ways[of_part].note(alone, bodies, started.elapsed());
        }
        Ok(outcome)
    }

    /// Returns the most that a body has used up of its margin since bodies were kept; none if these are not the bodies
    /// kept.
    fn used(&mut self, given: FrameInput<'_, D>, workers: Workers<'_>) -> Option<f64> {
        let (layers, input) = (&self.layers, given.input);
        let is_same = layers.are_of(input);
        let is_of = self.finder.skin.is_of(input) && self.by_table == is_by_table(input);
        if !is_of || !(is_same || layers.are_none(input)) {
            return None;
        }
        self.current.begin(given.plain, given.error());
        self.current.turn_page(self.pace.needs_steps());
        self.sieves_layers = !is_same;
        let used = self.used_but_for_strays(given, self.pace.margin(), workers);
        (used < f64::INFINITY).then_some(used)
    }

    /// Returns the most that a body has used up of its margin, without stray bodies; where too many stray, more than
    /// any margin.
    fn used_but_for_strays(&mut self, given: FrameInput<'_, D>, margin: f64, workers: Workers<'_>) -> f64 {
        let Self { finder, candidates, current, strays, strayed, sieves_layers, .. } = self;
        let (trees, on) = (finder.preparation.sorted_for(given.input), (finder.isa(), workers));
        let repeats = !given.input.space.is_open();
        let may_stray = self.pace.keeps_list() && strays.may_be(trees) && (!repeats || given.are_single(margin));
        if !may_stray {
            if !self.pace.keeps_list() {
                current.adapt(given.plain);
            }
            let used = current.measure(given.plain, (margin, None), on);
            return if strays.is_empty() { used } else { used.max(TOO_FAR) };
        }
        strayed.clear();
        // All at once may use up margins of their own.
        strayed.reserve(bodies_of(given.input));
        let used = current.measure(given.plain, (margin, Some((&mut *strayed, strays.numbers()))), on);
        let sets = given.input.sets();
        let meet = |of: [u32; 2], [a, b]: [u32; 2]| layers::meet(sets, of, [a, b]);
        let layers: Option<Meets<'_>> = (!*sieves_layers && layers::are_any(sets)).then_some(&meet);
        let exact = given.stand_ins.map(|stand_ins| (stand_ins, stand_ins.exact(given.untreed)));
        let by = |sets: [u32; 2], pair: [u32; 2], image: [i32; D]| {
            exact.as_ref().is_some_and(|(of, exact)| of.touch(exact, sets, pair, image))
        };
        // Both bodies of a pair of stray bodies may be seen at an image.
        let within = (2.0 * given.error() * if repeats { 2.0 } else { 1.0 }) as f32;
        let repeats = given.stand_ins.and_then(|stand_ins| {
            let reach = current.reach_out_of_cell(stand_ins.largest(), margin);
            Some(Repeats { cell: stand_ins.cell()?, reach })
        });
        let rules = Rules { layers, decide: exact.is_some().then_some(Decide { within, by: &by }), repeats };
        let near = (margin * NEAR) as f32;
        if used > margin || strays.find(strayed, (trees, &mut *current), (near, &candidates.meetings, rules), workers) {
            return used;
        }
        current.take_all();
        TOO_FAR
    }

    /// Returns how bodies have moved that have used up `used` of their margin; none where that is not a finite
    /// distance. A few bodies that stray farther, or jump, do not count: their pairs will be looked for separately.
    fn moved(&mut self, given: FrameInput<'_, D>, used: f64, workers: Workers<'_>) -> Option<Moved> {
        let Self { finder, current, strays, strayed: jumped, pace, .. } = self;
        let (input, on) = (given.plain, (finder.isa(), workers));
        current.adapt(input);
        if !strays.is_empty() {
            current.take_to_move(input, strays.bodies(), (pace.frames(), FAR * pace.margin()));
        }
        let [mut most, mut strayed] = if pace.was_ahead() {
            current.measure_moved(input, pace.margin(), on)
        } else if used == TOO_FAR {
            [current.farthest(), 0.0]
        } else {
            [used, 0.0]
        };
        let [mean, apart] = current.mean_moved(input);
        let left_course = used == TOO_FAR;
        let may_last = f64::from(pace.frames()) * strays.may_last(bodies_of(input));
        most = current.moved_but_for(input, ([most, mean], SHARE, (jumped, strays.numbers())), on);
        if pace.is_bent() {
            strayed = current.strayed_had_they_not_turned(input, (pace.frames(), SHARE), workers);
        } else if current.course().is_some() && (left_course || !strays.is_empty()) {
            strayed = current.strayed_but_for(input, SHARE, workers);
        }
        let step = if pace.frames() == 1 { Some(mean) } else { current.mean_step() };
        (most < f64::INFINITY).then_some(Moved { most, mean, step, apart, strayed, left_course, may_last })
    }
}

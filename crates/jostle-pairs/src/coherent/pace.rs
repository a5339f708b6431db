//! Decides when to search from scratch, and with what margin. How far bodies move decides, never a clock, so that the
//! order of pairs is a function of the frames alone. `plan` drafts lists; here is what is learned from those that have
//! ended.

mod plan;

use plan::STRAYED;
pub(super) use plan::{ListOf, ListPlan, OF_PAIRS, OF_ROWS};

/// How many searches lists may lose that end before they pay. While they have lost more, no list is made, and each frame
/// that is searched makes up for `MADE_UP` of a search. So whatever bodies do, such lists cost no more than that part of
/// all searches in the long run. No more than `MOST_LOST` is counted.
const MAY_LOSE: f64 = 10.0;
const MOST_LOST: f64 = 40.0;
const MADE_UP: f64 = 1.0 / 32.0;

/// Once lists may lose no more than one search more, they are made seldom. Those of n bodies then find nothing in the
/// caches: what one loses counts 1 + `SELDOM[0]` / (n + `SELDOM[1]`) times.
const SELDOM: [f64; 2] = [3_000.0, 300.0];

/// A list that lasted for fewer frames than this tells that bodies come and go, or jump, in about every frame.
const LASTING: f64 = 3.0;

/// If so few bodies left their course that the list would have lasted for this many frames, the next list on a course
/// is made shorter. Otherwise lists of another kind are made.
const LASTING_ON_COURSE: f64 = 5.0;

/// While lists do not pay, the finder looks at how far bodies move once in so many frames: `LOOKS_APART[0]` at first,
/// and twice as many after each look that no list follows, up to `LOOKS_APART[1]`. Where bodies are few, a look takes
/// about as long as two searches.
const LOOKS_APART: [u32; 2] = [16, 256];

/// After a list whose bodies did not move as expected, so many lists are made of bodies where they stand:
/// `LISTS_APART[0]` the first time, then twice as many each time, up to `LISTS_APART[1]`. `COURSES_APART` counts lists
/// without a course likewise, after a list on whose course bodies strayed: none at first, since the next course may let
/// them stray farther.
const LISTS_APART: [u32; 2] = [8, 64];
const COURSES_APART: [u32; 2] = [0, 64];

/// Likewise for how many lists of bodies that did not go straight on they are not expected to turn either.
const TURNS_APART: [u32; 2] = [1, 16];

/// How far bodies have been off in lists with margins of their own, and by how much these have ended too early, is taken
/// to be this part of it with each list of another kind, so that such lists are tried again.
const FORGOTTEN: f64 = 0.875;

/// Where a margin adds more pairs a body than this, as many as are tested in each frame, candidates name bodies by
/// rank. The second value is for so many bodies (`MANY`) that putting each by rank takes as long as several tests.
const CROWDED: f64 = 1.0;
const CROWDED_IF_MANY: f64 = 3.0;

/// So many bodies take 3 MB, once by id and once by rank.
const MANY: usize = 3 << 16;

/// See the top of this file.
#[derive(Debug, Clone, Default)]
pub(super) struct Pace {
    /// What is kept.
    kept: Kept,
    /// Frames since it was kept.
    frames: u32,
    /// How far bodies move in a frame; infinite where they come and go.
    speed: Option<f64>,
    /// How many pairs the last search from scratch would have found without a margin, and of how many bodies.
    found: f64,
    bodies: f64,
    /// The estimated factor by which the margin of the next list multiplies the number of pairs.
    growth: f64,
    rebuilds: u64,
    /// How much of the margin was used up when the list was made.
    ahead: f64,
    /// How far a body had strayed from its course, at most, or would have from a straight one, when the last list of
    /// bodies where they were expected to be ended, over the square of its frames, as if the body had sped up. And how
    /// far bodies move on average, over how far the fastest do.
    strays: f64,
    share: f64,
    /// Which part of their movement bodies make apart from each other.
    apartness: f64,
    /// How far bodies may stray from their course in this list, if one is expected. And for how many frames few enough
    /// bodies stray to be looked for separately, if a list that lasts for as many is worth making: none where no body
    /// strays, or all do.
    tolerance: f64,
    may_last: Option<f64>,
    /// When lists are made again of bodies where they are expected to be, when a course is expected of them again, and
    /// when they are expected to turn again.
    backoff: Backoff,
    course_backoff: Backoff,
    turning_backoff: Backoff,
    /// How many searches lists have lost that were not made up for, about. And how many this list, or the one that is
    /// planned, takes to make, and one of its frames: none once it has been charged.
    lost: f64,
    takes: Option<[f64; 2]>,
    /// Whether no list is made before the finder has looked at how bodies move: either none pays by what was seen last,
    /// or lists have lost so much that this will be old by then. And how many frames looks are apart.
    declined: bool,
    looks_apart: u32,
    /// Whether bodies without a course are expected to turn, not to go straight on; and whether they are in this list.
    bodies_turn: bool,
    is_of_turning: bool,
    /// How far bodies moved on average in the last frame, if that is known.
    step: Option<f64>,
    /// If bodies have margins of their own in this list: how far they may be from where they are expected, over their
    /// average step, and for how many frames it is to last.
    own: Option<[f64; 2]>,
    /// How far bodies have been off when the last such list ended, over their average step and the square of its frames,
    /// as if they had sped up. And which part of the frames such lists have not lasted for.
    own_strays: Option<f64>,
    own_missed: f64,
}

/// How many lists are still to be made in another way; and how many the next time, none before the first.
#[derive(Debug, Clone, Default)]
struct Backoff {
    left: u32,
    next: Option<u32>,
}

impl Backoff {
    fn wait(&mut self) {
        self.left = self.left.saturating_sub(1);
    }

    fn failed(&mut self, [first, most]: [u32; 2]) {
        self.left = self.next.unwrap_or(first);
        self.next = Some((2 * self.left).clamp(1, most));
    }
}

/// How bodies have moved since what is kept was kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved {
    /// How far the fastest body has moved, and how far all have on average.
    pub(super) most: f64,
    pub(super) mean: f64,
    /// How far all have in the last frame, if that is known.
    pub(super) step: Option<f64>,
    /// Which part of that movement is apart from each other.
    pub(super) apart: f64,
    /// How far a body has strayed from its course, at most, where bodies were kept where they were expected to be; or
    /// how far all but the few that may stray farther.
    pub(super) strayed: f64,
    /// Whether too many bodies have strayed farther than they may. And for how many frames no more would stray than
    /// may: infinite where none has.
    pub(super) left_course: bool,
    pub(super) may_last: f64,
}

#[derive(Debug, Clone, Copy, Default)]
enum Kept {
    #[default]
    Nothing,
    /// Bodies alone, to see how far they move.
    Bodies,
    /// Candidates with a margin.
    List(f64),
}

impl Pace {
    pub(super) fn margin(&self) -> f64 {
        if let Kept::List(margin) = self.kept { margin } else { 0.0 }
    }

    pub(super) fn rebuilds(&self) -> u64 {
        self.rebuilds
    }

    /// Forgets what is kept or planned, since the frame was refused.
    pub(super) fn forget(&mut self) {
        (self.kept, self.takes, self.declined) = (Kept::Nothing, None, false);
    }

    /// Whether a list is kept.
    pub(super) fn keeps_list(&self) -> bool {
        matches!(self.kept, Kept::List(_))
    }

    /// Whether a list is kept that has not ended, or one is planned.
    pub(super) fn has_list(&self) -> bool {
        self.takes.is_some()
    }

    /// Whether bodies are kept.
    pub(super) fn keeps(&self) -> bool {
        !matches!(self.kept, Kept::Nothing)
    }

    /// Returns the number of frames since what is kept was kept.
    pub(super) fn frames(&self) -> u32 {
        self.frames
    }

    pub(super) fn begin_frame(&mut self) {
        self.frames = self.frames.saturating_add(1);
    }

    /// Whether a list is kept that still holds. `used` is how much of its margin a body has used up; none if these are
    /// other bodies.
    pub(super) fn holds(&self, used: Option<f64>) -> bool {
        matches!((self.kept, used), (Kept::List(margin), Some(used)) if used <= margin)
    }

    /// Whether the list was made of bodies where they were expected to be.
    pub(super) fn was_ahead(&self) -> bool {
        self.keeps_list() && self.ahead > 0.0
    }

    /// Whether the last steps of bodies are to be known.
    pub(super) fn needs_steps(&self) -> bool {
        self.bodies_turn || self.keeps_list() && self.tolerance > self.margin() * STRAYED
    }

    /// Whether bodies are not expected to go straight on in this list.
    pub(super) fn is_bent(&self) -> bool {
        self.keeps_list() && (self.is_of_turning || self.own.is_some())
    }

    /// Notes how bodies have moved since what is kept was kept, once that does not hold any more; none if these are
    /// other bodies.
    pub(super) fn ended(&mut self, moved: Option<Moved>) {
        let frames = f64::from(self.frames);
        let lasted = frames >= LASTING;
        self.charge();
        self.declined = self.lost > MAY_LOSE || self.declined && !self.keeps();
        if matches!(self.kept, Kept::Bodies) {
            self.looks_apart = (2 * self.looks_apart).clamp(LOOKS_APART[0], LOOKS_APART[1]);
        }
        match (self.kept, moved) {
            (Kept::Nothing, _) => {}
            // A jump of one body says nothing of the next frames.
            (Kept::List(margin), Some(moved)) if lasted && moved.most > 2.0 * margin * (1.0 + self.ahead) => {
                (self.speed, self.step) = (Some(margin * (1.0 + self.ahead) / frames), moved.step);
            }
            (kept, Some(moved)) => {
                self.speed = Some((moved.most / frames).max(0.0));
                self.share = if moved.most > 0.0 { moved.mean / moved.most } else { 1.0 };
                (self.apartness, self.step) = (moved.apart, moved.step);
                if let Kept::List(margin) = kept {
                    self.judge(moved.most / margin, moved);
                } else {
                    self.backoff.wait();
                    self.course_backoff.wait();
                }
            }
            // Bodies have come or gone: in each frame, or now and then.
            (Kept::List(_), None) if lasted => {}
            (_, None) => self.speed = Some(f64::INFINITY),
        }
    }

    /// Forgets what is kept or planned, since a frame of another kind has come, or the frame was not finished, or the
    /// caller says so.
    pub(super) fn abandon(&mut self) {
        self.charge();
        self.forget();
    }

    /// Charges a list that has ended with what it has taken, less the frames that it has served; and one that was
    /// planned, but could not be made, as if it had been.
    pub(super) fn charge(&mut self) {
        let Some([list, of_frame]) = self.takes.take() else { return };
        let (frames, is_kept) = (f64::from(self.frames), self.keeps_list());
        let of_frames = if is_kept { of_frame * (frames - 1.0) - frames } else { 0.0 };
        let is_seldom = self.lost > MAY_LOSE - 1.0;
        let times = if is_seldom { 1.0 + SELDOM[0] / (self.bodies + SELDOM[1]) } else { 1.0 };
        let lost = list + of_frames;
        self.lost = (self.lost + lost.max(lost * times)).clamp(0.0, MOST_LOST);
    }

    /// Learns from a list that has ended, and that lasted `times` as long as a list of bodies where they stood would
    /// have.
    fn judge(&mut self, times: f64, Moved { strayed, left_course, may_last, .. }: Moved) {
        if let Some([tolerance, lasts]) = self.own {
            let strays = tolerance / f64::from(self.frames).powi(2);
            self.own_strays = Some((self.own_strays.unwrap_or(strays) * strays).sqrt());
            self.own_missed = (self.own_missed + (1.0 - f64::from(self.frames) / lasts).max(0.0)) / 2.0;
            if strayed < f64::INFINITY {
                self.strays = strayed / f64::from(self.frames).powi(2);
            }
            self.course_backoff.wait();
            return self.backoff.wait();
        }
        self.own_strays = self.own_strays.map(|strays| strays * FORGOTTEN);
        self.own_missed *= FORGOTTEN;
        if self.ahead == 0.0 {
            return self.backoff.wait();
        }
        let lasted = times >= 1.0 + self.ahead / 2.0;
        // Beyond the steps that are looked at, it is not known how far bodies have strayed.
        if strayed < f64::INFINITY {
            self.strays = strayed / f64::from(self.frames).powi(2);
        }
        if self.tolerance < f64::INFINITY {
            self.may_last = (LASTING_ON_COURSE..f64::INFINITY).contains(&may_last).then_some(may_last);
        }
        if self.tolerance == f64::INFINITY {
            self.course_backoff.wait();
        } else if left_course && self.may_last.is_some() {
            // The next list is to be shorter.
            return;
        } else if lasted {
            self.course_backoff.next = None;
        } else if left_course {
            return self.course_backoff.failed(COURSES_APART);
        }
        if lasted {
            self.backoff.next = None;
            if self.is_of_turning {
                self.turning_backoff.next = None;
            }
        } else if self.is_of_turning {
            self.bodies_turn = false;
            self.turning_backoff.failed(TURNS_APART);
            self.backoff.failed(LISTS_APART);
        } else if self.turning_backoff.left > 0 {
            self.turning_backoff.wait();
            self.backoff.failed(LISTS_APART);
        } else {
            // One more list shows how bodies turn.
            (self.bodies_turn, self.backoff.left) = (true, 1);
        }
    }

    /// Estimates how many pairs a body had in the last search.
    pub(super) fn pairs_of_one(&self) -> f64 {
        self.found / self.bodies.max(1.0)
    }

    /// Estimates how many pairs a body will have in the next list.
    pub(super) fn foreseen(&self) -> f64 {
        self.pairs_of_one() * self.growth
    }

    /// Whether so many candidates are tested in each frame that bodies are to be put in an order in which those that
    /// are tested with each other lie near each other.
    pub(super) fn is_crowded(&self, bodies: usize) -> bool {
        let added = self.pairs_of_one() * (self.growth - 1.0);
        added > if bodies > MANY { CROWDED_IF_MANY } else { CROWDED }
    }

    /// Whether a list may pay, by what is known without the bodies of this frame.
    pub(super) fn may_list(&self) -> bool {
        self.speed.is_some() && !self.declined && self.lost <= MAY_LOSE
    }

    /// Notes that the list is made of bodies where they stand after all; returns its margin.
    pub(super) fn stay(&mut self, plan: &ListPlan) -> f64 {
        let [margin, growth] = plan.standing;
        (self.ahead, self.growth, self.is_of_turning, self.own) = (0.0, growth, false, None);
        margin
    }

    /// Notes that no list is made before the finder has looked at how bodies move.
    pub(super) fn decline(&mut self) {
        self.give_up();
        self.declined = true;
    }

    /// Notes that no list is made after all.
    pub(super) fn give_up(&mut self) {
        (self.growth, self.ahead, self.takes) = (1.0, 0.0, None);
    }

    /// Notes a search from scratch, with this margin, which found so many pairs of so many bodies.
    pub(super) fn searched(&mut self, margin: f64, found: u64, bodies: usize) {
        self.rebuilds += 1;
        (self.found, self.bodies) = (found as f64 / self.growth, bodies as f64);
        if margin > 0.0 {
            (self.kept, self.frames, self.looks_apart) = (Kept::List(margin), 0, 0);
            return;
        }
        self.lost = (self.lost - MADE_UP).max(0.0);
        if self.keeps() {
            (self.kept, self.frames) = (Kept::Nothing, 0);
        }
    }

    /// Whether the bodies of a frame that is searched without a margin are to be kept.
    pub(super) fn will_probe(&self) -> bool {
        self.speed.is_none() || self.frames >= self.looks_apart.max(LOOKS_APART[0]) && self.lost <= MAY_LOSE
    }

    /// As [`Pace::will_probe`], once the frame has been searched; notes that its bodies are kept.
    pub(super) fn probes(&mut self) -> bool {
        let probes = self.will_probe();
        if probes {
            (self.kept, self.frames) = (Kept::Bodies, 0);
        }
        probes
    }
}

#[cfg(test)]
mod tests {
    use super::{ListOf, Moved, OF_PAIRS, Pace};

    fn list_of(radius: f64, known: bool) -> ListOf {
        ListOf { radius, axes: 2, worth: OF_PAIRS[0], stand_in: false, moved_in: false, known }
    }

    /// How bodies have moved that all went straight on, as far as this.
    fn straight_on(far: f64) -> Moved {
        let [strayed, may_last] = [0.0, f64::INFINITY];
        Moved { most: far, mean: far, step: Some(far), apart: 1.0, strayed, left_course: false, may_last }
    }

    /// Bodies at rest get a margin as wide as their radii allow: points get none, and are looked at again later.
    #[test]
    fn points_at_rest_get_no_list() {
        for (radius, is_listed) in [(0.0, false), (1.0, true)] {
            let mut pace = Pace { speed: Some(0.0), ..Pace::default() };
            let plan = pace.plan_list(list_of(radius, true));
            assert_eq!(plan.is_some(), is_listed, "{plan:?}");
        }
    }

    /// Bodies that seem to keep to their course, or to turn, but never do.
    #[test]
    fn lists_that_end_too_early_are_made_seldom() {
        const FRAMES: u32 = 10_000;
        let (mut pace, mut lists) = (Pace::default(), 0);
        for _ in 0..FRAMES {
            pace.begin_frame();
            if pace.keeps_list() && pace.frames() < 3 {
                continue;
            }
            if pace.keeps() {
                let most = 0.01 * f64::from(pace.frames());
                let strayed = if pace.was_ahead() { most } else { 0.0 };
                let moved =
                    Moved { most, mean: most, step: Some(most), apart: 1.0, strayed, left_course: true, may_last: 0.0 };
                pace.ended(Some(moved));
            }
            let known = pace.keeps();
            let plan = if pace.may_list() { pace.plan_list(list_of(1.0, known)) } else { None };
            let (margin, growth) = plan.map_or((0.0, 1.0), |plan| (plan.margin, plan.standing[1]));
            lists += u32::from(margin > 0.0);
            pace.searched(margin, (30_000.0 * growth) as u64, 10_000);
            if margin == 0.0 {
                pace.probes();
            }
        }
        assert!((5..FRAMES / 40).contains(&lists), "{lists} lists");
    }

    /// Lists that would pay, but cannot be made.
    #[test]
    fn lists_that_cannot_be_made_are_planned_seldom() {
        const FRAMES: u32 = 1_000;
        let (mut pace, mut plans) = (Pace { speed: Some(0.01), ..Pace::default() }, 0);
        for _ in 0..FRAMES {
            pace.begin_frame();
            let known = pace.keeps();
            pace.ended(known.then(|| straight_on(0.01)));
            let plan = if pace.may_list() { pace.plan_list(list_of(1.0, known)) } else { None };
            plans += u32::from(plan.is_some());
            pace.charge();
            pace.give_up();
            pace.searched(0.0, 30_000, 10_000);
            pace.probes();
        }
        assert!((3..FRAMES / 50).contains(&plans), "{plans} plans");
    }

    /// Bodies that jump in every frame; and bodies for which a list would pay, but cannot be made of them.
    #[test]
    fn looks_that_no_list_follows_are_seldom() {
        for most in [100.0, 0.01] {
            let (mut pace, mut looks) = (Pace::default(), 0);
            for _ in 0..1_000 {
                pace.begin_frame();
                let known = pace.keeps();
                pace.ended(known.then(|| straight_on(most)));
                let plan = if pace.may_list() { pace.plan_list(list_of(1.0, known)) } else { None };
                assert_eq!(plan.is_some(), known && most < 1.0);
                pace.decline();
                pace.searched(0.0, 30_000, 10_000);
                looks += u32::from(pace.probes());
            }
            assert!((6..10).contains(&looks), "{looks} looks");
        }
    }

    #[test]
    fn bodies_may_rest_for_any_number_of_frames() {
        let mut pace = Pace { frames: u32::MAX, ..Pace::default() };
        pace.begin_frame();
        assert_eq!(pace.frames(), u32::MAX);
    }
}

//! Decides when to search from scratch, and with what margin. How far bodies move decides, never a clock, so that the
//! order of pairs is a function of the frames alone.

/// Says for how many frames a list must last to pay: `frames`, and more for each candidate pair of a body. The three
/// values are for few candidates, for more, and for many: listing and sorting many costs more than searching for them
/// again. Bodies on no course have `if_standing`: the wider the margin, the more candidates are tested in a frame, so
/// the list must last for longer. `list` says how many searches a list takes about: the first number, and the second for
/// each candidate pair of a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Worth {
    frames: f64,
    for_a_pair: [f64; 3],
    if_standing: [f64; 3],
    list: [f64; 2],
}

/// More candidates than the first number are more than few; more than the second are many. Beyond what caches hold of
/// them, tests and changes of a list wait for memory. On no course half of these numbers count, since more candidates
/// are tested.
const MORE: [f64; 2] = [1e6, 8e6];
const MORE_IF_STANDING: f64 = 0.5;

/// The worth of lists of pairs, in the plane and in space, where a search takes longer for as many pairs. `OF_ROWS` is
/// that of lists of rows, which are written in each frame.
pub(super) const OF_PAIRS: [Worth; 2] = [
    Worth { if_standing: [0.375, 0.6, 0.75], ..worth(3.0, [0.25, 0.6, 0.75], [4.0, 0.15]) },
    worth(3.0, [0.06, 0.12, 0.28], [3.25, 0.05]),
];
pub(super) const OF_ROWS: [Worth; 2] =
    [worth(4.5, [0.25, 0.25, 0.375], [2.5, 0.02]), worth(3.3, [0.05, 0.05, 0.075], [2.25, 0.01])];

const fn worth(frames: f64, for_a_pair: [f64; 3], list: [f64; 2]) -> Worth {
    Worth { frames, for_a_pair, if_standing: for_a_pair, list }
}

/// About which part of a search a kept frame takes: `KEPT[0]`, and as much more as the margin is of a radius or, on a
/// course, as bodies may stray of the margin; and `KEPT[1]` more where some bodies stray farther.
const KEPT: [f64; 2] = [0.1, 0.25];

/// How many searches lists may lose that end before they pay. While they have lost more, no list is made, and each frame
/// that is searched makes up for `MADE_UP` of a search. So whatever bodies do, such lists cost no more than that part of
/// all searches in the long run. No more than `MOST_LOST` is counted.
const MAY_LOSE: f64 = 10.0;
const MOST_LOST: f64 = 40.0;
const MADE_UP: f64 = 1.0 / 32.0;

/// A list that lasted for fewer frames than this tells that bodies come and go, or jump, in about every frame.
const LASTING: f64 = 3.0;

/// If so few bodies left their course that the list would have lasted for this many frames, the next list on a course
/// is made shorter. Otherwise lists of another kind are made.
const LASTING_ON_COURSE: f64 = 5.0;

/// Factors of what a list on a course must last for, in the plane and in space: few candidates are tested in a frame,
/// so the list may be shorter. Where some bodies stray, they are looked for as well.
const IF_EXPECTED: [f64; 2] = [0.75, 0.6];
const IF_SOME_STRAY: [f64; 2] = [1.1, 0.6];

/// Lists of bodies on no course must last for so many frames more, in the plane and in space.
const IF_STANDING: [f64; 2] = [0.0, 1.0];

/// Where bodies on a course all move apart, not together, many candidates are due while a list lasts. The list must
/// then last for so many frames for each pair that a body has, in the plane and in space. Where stand-ins represent the
/// bodies, it must last for `IF_STAND_IN` times as many. So must lists of bodies on no course that a search takes
/// little time to move into a cell.
const FOR_A_PAIR_APART: [f64; 2] = [0.5, 0.18];
const IF_STAND_IN: f64 = 1.4;

/// While lists do not pay, the finder looks at how far bodies move once in so many frames.
const PROBE_EVERY: u32 = 16;

/// The margin relative to the geometric mean of a radius and of how far bodies move in a frame, times the number of
/// axes. A search costs as much as some frames of the list, and the list gets longer with the margin. The values are
/// for bodies where they stand, or turn; for bodies where they are expected to be; for bodies that keep to their course,
/// few of whose candidates are tested in a frame; and for bodies that may stray, more of whose candidates are.
const MARGINS: [f64; 4] = [4.0, 5.0, 7.0, 6.0];

/// The least margin relative to a radius, for bodies that hardly move.
const LEAST: f64 = 1.0 / 64.0;

/// How much of a margin bodies may have used up when a list is made of them where they are expected to be halfway: the
/// list lasts for so many times longer if they move on as they did. The second value is for bodies that are expected to
/// keep to their course.
const AHEAD: [f64; 2] = [0.85, 0.95];

/// The tolerance: how far bodies may stray from their course, relative to the margin. It is `STRAYING` times as far as
/// they will if they stray as they did the last time, and at least `LEAST_STRAYED`. No course is expected of bodies
/// whose tolerance would be more than `MOST_STRAYED`.
const STRAYING: f64 = 1.25;
const LEAST_STRAYED: f64 = 1.0 / 128.0;
const MOST_STRAYED: f64 = 0.5;

/// The limit within which all but a few bodies are to stay. If they stray as they did the last time, they reach the
/// first part of it; it is at least the second part of the tolerance. The bodies that stray farthest decide for how
/// long it is in doubt whether others touch.
const LIMITS: [f64; 2] = [0.9, 0.25];

/// If bodies may stray farther than this, relative to the margin, more candidates are tested in a frame.
const STRAYED: f64 = 1.0 / 16.0;

/// Of bodies that have been kept for fewer frames it is not known how they turn.
const TURNING: u32 = 4;

/// The least ratio assumed of how far bodies move on average to how far the fastest do.
const LEAST_SHARE: f64 = 1.0 / 16.0;

/// A course is followed for at most so many times as far as it has been seen.
const MOST_TIMES: f64 = 16.0;

/// After a list whose bodies did not move as expected, so many lists are made of bodies where they stand:
/// `LISTS_APART[0]` the first time, then twice as many each time, up to `LISTS_APART[1]`. `COURSES_APART` counts lists
/// without a course likewise, after a list on whose course bodies strayed: none at first, since the next course may let
/// them stray farther.
const LISTS_APART: [u32; 2] = [8, 64];
const COURSES_APART: [u32; 2] = [0, 64];

/// Likewise for how many lists of bodies that did not go straight on they are not expected to turn either.
const TURNS_APART: [u32; 2] = [1, 16];

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
    /// How many searches lists have lost that were not made up for, about. And how many this list takes to make, and
    /// one of its frames.
    lost: f64,
    takes: [f64; 2],
    /// Whether no list pays, by what was seen last of how bodies move.
    declined: bool,
    /// Whether bodies without a course are expected to turn, not to go straight on; and whether they are in this list.
    bodies_turn: bool,
    is_of_turning: bool,
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

/// How a list is to be made.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListPlan {
    pub(super) margin: f64,
    /// How much farther on bodies are to be when the list is made, over how far they have moved since they were kept;
    /// and how far that was.
    pub(super) ahead: Option<[f64; 2]>,
    /// How far bodies may stray from where they are kept, and from the same way on; infinite if no course is expected.
    /// And how far all but a few may, where those few can be looked for separately.
    pub(super) tolerance: f64,
    pub(super) limit: f64,
    /// If bodies are expected to turn: for how many frames they have been kept, and at which part of their way they are
    /// to be kept.
    pub(super) turning: Option<[f32; 2]>,
    /// The margin if bodies cannot be kept ahead, and the factor by which it multiplies the number of pairs.
    standing: [f64; 2],
}

impl ListPlan {
    /// Returns the greatest margin that bodies may get.
    pub(super) fn widest(&self) -> f64 {
        self.margin.max(self.standing[0])
    }

    /// Whether bodies may stray so far from their course that many candidates are tested in a frame.
    pub(super) fn strays(&self) -> bool {
        self.tolerance > self.margin * STRAYED
    }
}

/// The bodies of a list, and what it is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListOf {
    /// A typical radius.
    pub(super) radius: f64,
    pub(super) axes: usize,
    pub(super) worth: Worth,
    /// Whether bodies have stand-ins; and whether a search moves them into a cell as they are.
    pub(super) stand_in: bool,
    pub(super) moved_in: bool,
    /// Whether it can be known where bodies are to be.
    pub(super) known: bool,
}

impl ListOf {
    /// Returns a margin of bodies that use up `pace` of it in a frame. `share` is the average margin over the greatest.
    fn margin(&self, margins: f64, pace: f64, share: f64) -> f64 {
        let margin = (pace * self.radius / share).sqrt() * (margins / self.axes as f64);
        f64::from(margin.max(self.radius * LEAST) as f32)
    }

    /// Returns the size of bodies with a margin, over that without.
    fn growth(&self, margin: f64) -> f64 {
        if self.radius > 0.0 { (1.0 + margin / self.radius).powi(self.axes as i32) } else { 1.0 }
    }
}

/// A list that may pay.
#[derive(Debug, Clone, Copy)]
struct Draft {
    /// Whether bodies are expected to keep to their course; or to turn.
    is_expected: bool,
    turn: bool,
    /// How much of the margin is used up when the list is made.
    ahead: f64,
    margin: f64,
    /// The average margin over the greatest.
    share: f64,
    /// How far bodies may stray, over the margin.
    may_stray: f64,
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

    pub(super) fn forget(&mut self) {
        (self.kept, self.declined) = (Kept::Nothing, false);
    }

    /// Whether a list is kept.
    pub(super) fn keeps_list(&self) -> bool {
        matches!(self.kept, Kept::List(_))
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

    /// Whether bodies without a course are expected to turn.
    pub(super) fn bodies_turn(&self) -> bool {
        self.bodies_turn
    }

    /// Whether bodies are expected to turn in this list.
    pub(super) fn is_of_turning(&self) -> bool {
        self.keeps_list() && self.is_of_turning
    }

    /// Notes how bodies have moved since what is kept was kept, once that does not hold any more; none if these are
    /// other bodies.
    pub(super) fn ended(&mut self, moved: Option<Moved>) {
        let frames = f64::from(self.frames);
        let lasted = frames >= LASTING;
        if self.keeps_list() {
            let [list, of_frame] = self.takes;
            self.lost = (self.lost + list + of_frame * (frames - 1.0) - frames).clamp(0.0, MOST_LOST);
        }
        self.declined &= !self.keeps();
        match (self.kept, moved) {
            (Kept::Nothing, _) => {}
            // A jump of one body says nothing of the next frames.
            (Kept::List(margin), Some(moved)) if lasted && moved.most > 2.0 * margin * (1.0 + self.ahead) => {
                self.speed = Some(margin * (1.0 + self.ahead) / frames);
            }
            (kept, Some(moved)) => {
                self.speed = Some((moved.most / frames).max(0.0));
                self.share = if moved.most > 0.0 { moved.mean / moved.most } else { 1.0 };
                self.apartness = moved.apart;
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

    /// Learns from a list that has ended, and that lasted `times` as long as a list of bodies where they stood would
    /// have.
    fn judge(&mut self, times: f64, Moved { strayed, left_course, may_last, .. }: Moved) {
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

    /// Chooses how the next list is to be made; none if a list does not pay.
    pub(super) fn plan_list(&mut self, of: ListOf) -> Option<ListPlan> {
        (self.growth, self.ahead, self.is_of_turning) = (1.0, 0.0, false);
        let speed = self.speed?;
        let is_ahead = of.known && self.backoff.left == 0 && speed > 0.0;
        let course = self.draft_on_course(speed, of);
        let is_expected = is_ahead && self.course_backoff.left == 0 && course.may_stray <= MOST_STRAYED;
        let standing = self.draft_standing(speed, is_ahead, of);
        // Where too many bodies would leave their course before a list pays, a list without a course may last for
        // longer.
        let drafts = [Some(course).filter(|_| is_expected), Some(standing)];
        let drafts = drafts.into_iter().flatten().take(if self.may_last.is_some() { 2 } else { 1 });
        for draft in drafts {
            self.growth = of.growth(draft.share * draft.margin);
            if self.pays(draft, speed, of) {
                return Some(self.plan_of(draft, (speed, standing.margin), of));
            }
        }
        (self.growth, self.declined) = (1.0, true);
        None
    }

    /// Drafts a list of bodies on their course, each of which has a margin of its own.
    fn draft_on_course(&self, speed: f64, of: ListOf) -> Draft {
        let ahead = AHEAD[1];
        let pace = speed / (1.0 + ahead);
        let stray = |margin: f64| (STRAYING * self.strays * (margin / pace).powi(2) / margin).max(LEAST_STRAYED);
        let draft = |margins: f64| {
            let share = self.share.clamp(LEAST_SHARE, 1.0);
            let share = (share + stray(of.margin(margins, pace, share))).min(1.0);
            let most = MOST_TIMES * self.way(speed);
            let longest = of.margin(margins, pace, share).min(f64::from(most as f32));
            let margin = longest.min(f64::from((pace * self.may_last.unwrap_or(f64::INFINITY)) as f32));
            // Rounding makes bodies stray no less in a shorter list.
            let may_stray = stray(margin).max(LEAST_STRAYED * longest / margin);
            Draft { is_expected: true, turn: false, ahead, margin, share, may_stray }
        };
        let first = draft(MARGINS[2]);
        if first.may_stray > STRAYED { draft(MARGINS[3]) } else { first }
    }

    /// Drafts a list of bodies where they stand or, if that is known, where they are expected to be.
    fn draft_standing(&self, speed: f64, is_ahead: bool, of: ListOf) -> Draft {
        let ahead = if is_ahead { AHEAD[0] } else { 0.0 };
        let turn = is_ahead && self.bodies_turn && self.frames >= TURNING;
        let margin = of.margin(MARGINS[usize::from(is_ahead && !turn)], speed / (1.0 + ahead), 1.0);
        Draft { is_expected: false, turn, ahead, margin, share: 1.0, may_stray: f64::INFINITY }
    }

    /// Returns how far the fastest body has moved. Bodies are kept no farther ahead.
    fn way(&self, speed: f64) -> f64 {
        speed * f64::from(self.frames)
    }

    /// Whether a list, with as many candidates as are foreseen, would last for long enough.
    fn pays(&self, Draft { is_expected, ahead, margin, .. }: Draft, speed: f64, of: ListOf) -> bool {
        let ListOf { worth, axes, stand_in, moved_in, .. } = of;
        let (less, for_a_pair) =
            if is_expected { (1.0, worth.for_a_pair) } else { (MORE_IF_STANDING, worth.if_standing) };
        let many = MORE.iter().filter(|&&more| self.found * self.growth > less * more).count();
        let (frames, in_space) = (worth.frames + for_a_pair[many] * self.foreseen(), usize::from(axes > 2));
        let due = self.apartness * FOR_A_PAIR_APART[in_space] * self.foreseen();
        let times = |is_so: bool| if is_so { IF_STAND_IN } else { 1.0 };
        let frames = if is_expected {
            let on_course = if self.may_last.is_some() { IF_SOME_STRAY } else { IF_EXPECTED };
            (frames * on_course[in_space]).max(due * times(stand_in))
        } else {
            (frames + IF_STANDING[in_space]) * times(moved_in)
        };
        margin > 0.0 && margin.is_finite() && margin >= frames * (speed / (1.0 + ahead))
    }

    /// Makes a plan of a draft, and notes it. `standing` is the margin of bodies that stand.
    fn plan_of(&mut self, draft: Draft, (speed, standing): (f64, f64), of: ListOf) -> ListPlan {
        let Draft { is_expected, turn, ahead, margin, may_stray, .. } = draft;
        let moved = self.way(speed);
        let way = (ahead * margin).min(moved);
        let is_ahead = way > 0.0;
        if is_ahead {
            self.ahead = way / margin;
        }
        self.is_of_turning = turn && is_ahead;
        self.tolerance = if is_expected { margin * may_stray } else { f64::INFINITY };
        let strays = if self.may_last.is_some() { KEPT[1] } else { 0.0 };
        let tests = if is_expected { may_stray + strays } else { margin / of.radius.max(margin) };
        let [list, for_a_pair] = of.worth.list;
        self.takes = [list + for_a_pair * self.foreseen(), (KEPT[0] + tests).min(1.0)];
        let expected = self.strays * (margin * (1.0 + AHEAD[1]) / speed).powi(2);
        ListPlan {
            margin,
            ahead: is_ahead.then_some([way / moved, moved]),
            tolerance: self.tolerance,
            limit: (expected / LIMITS[0]).clamp(self.tolerance * LIMITS[1], self.tolerance),
            turning: self.is_of_turning.then_some([self.frames as f32, (ahead / (1.0 + ahead)) as f32]),
            standing: [standing, of.growth(standing)],
        }
    }

    /// Notes that the list is made of bodies where they stand after all; returns its margin.
    pub(super) fn stay(&mut self, plan: &ListPlan) -> f64 {
        let [margin, growth] = plan.standing;
        (self.ahead, self.growth) = (0.0, growth);
        margin
    }

    /// Notes that no list is made after all.
    pub(super) fn give_up(&mut self) {
        (self.growth, self.ahead) = (1.0, 0.0);
    }

    /// Notes a search from scratch, with this margin, which found so many pairs of so many bodies.
    pub(super) fn searched(&mut self, margin: f64, found: u64, bodies: usize) {
        self.rebuilds += 1;
        (self.found, self.bodies) = (found as f64 / self.growth, bodies as f64);
        if margin > 0.0 {
            (self.kept, self.frames) = (Kept::List(margin), 0);
            return;
        }
        self.lost = (self.lost - MADE_UP).max(0.0);
        if self.keeps() {
            (self.kept, self.frames) = (Kept::Nothing, 0);
        }
    }

    /// Whether the bodies of a frame that is searched without a margin are to be kept.
    pub(super) fn will_probe(&self) -> bool {
        self.speed.is_none() || self.frames >= PROBE_EVERY
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
                let moved = Moved { most, mean: most, apart: 1.0, strayed, left_course: true, may_last: 0.0 };
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

    #[test]
    fn bodies_may_rest_for_any_number_of_frames() {
        let mut pace = Pace { frames: u32::MAX, ..Pace::default() };
        pace.begin_frame();
        assert_eq!(pace.frames(), u32::MAX);
    }
}

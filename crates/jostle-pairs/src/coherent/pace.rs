//! Decides when to search from scratch, and with what margin. How far bodies move decides, never a clock, so that the
//! order of pairs is a function of the frames alone.

/// Says for how many frames a list must last to pay: `frames`, and more for each candidate pair of a body. The three
/// values are for few candidates, for more, and for many: listing and sorting many costs more than searching for them
/// again. Bodies on no course have `if_standing`: the wider the margin, the more candidates are tested in a frame, so
/// the list must last for longer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Worth {
    frames: f64,
    for_a_pair: [f64; 3],
    if_standing: [f64; 3],
}

/// More candidates than the first number are more than few; more than the second are many. Beyond what caches hold of
/// them, tests and changes of a list wait for memory. On no course half of these numbers count, since more candidates
/// are tested.
const MORE: [f64; 2] = [1e6, 8e6];
const MORE_IF_STANDING: f64 = 0.5;

/// The worth of lists of pairs, in the plane and in space, where a search takes longer for as many pairs. `OF_ROWS` is
/// that of lists of rows, which are written in each frame.
pub(super) const OF_PAIRS: [Worth; 2] =
    [Worth { if_standing: [0.375, 0.6, 0.75], ..worth(3.0, [0.25, 0.6, 0.75]) }, worth(3.0, [0.06, 0.12, 0.28])];
pub(super) const OF_ROWS: [Worth; 2] = [worth(4.5, [0.25, 0.25, 0.375]), worth(3.3, [0.05, 0.05, 0.075])];

const fn worth(frames: f64, for_a_pair: [f64; 3]) -> Worth {
    Worth { frames, for_a_pair, if_standing: for_a_pair }
}

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
/// for bodies where they stand; for bodies where they are expected to be; for bodies that keep to their course, few of
/// whose candidates are tested in a frame; and for bodies that may stray, more of whose candidates are.
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
    /// How far a body had strayed from its course, at most, when the last list of bodies where they were expected to be
    /// ended, over the square of its frames, as if the body had sped up. And how far bodies move on average, over how
    /// far the fastest do.
    strays: f64,
    share: f64,
    /// Which part of their movement bodies make apart from each other.
    apartness: f64,
    /// How far bodies may stray from their course in this list, if one is expected. And for how many frames few enough
    /// bodies stray to be looked for separately, if a list that lasts for as many is worth making: none where no body
    /// strays, or all do.
    tolerance: f64,
    may_last: Option<f64>,
    /// When lists are made again of bodies where they are expected to be, and when a course is expected of them again.
    backoff: Backoff,
    course_backoff: Backoff,
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
        self.kept = Kept::Nothing;
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

    /// Notes how bodies have moved since what is kept was kept, once that does not hold any more; none if these are
    /// other bodies.
    pub(super) fn ended(&mut self, moved: Option<Moved>) {
        let frames = f64::from(self.frames);
        let lasted = frames >= LASTING;
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
        } else {
            self.backoff.failed(LISTS_APART);
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

    /// Chooses how the next list is to be made; none if a list does not pay. `stand_in`: bodies have stand-ins.
    /// `moved_in`: a search moves these bodies into a cell as they are. `known`: it can be known where bodies are to
    /// be.
    pub(super) fn plan_list(
        &mut self,
        radius: f64,
        axes: usize,
        (worth, [stand_in, moved_in]): (Worth, [bool; 2]),
        known: bool,
    ) -> Option<ListPlan> {
        (self.growth, self.ahead) = (1.0, 0.0);
        let speed = self.speed?;
        let [ahead, on_course] = if known && self.backoff.left == 0 && speed > 0.0 { AHEAD } else { [0.0; 2] };
        // How fast the margin is used up.
        let pace_of = |ahead: f64| speed / (1.0 + ahead);
        // Bodies are kept no farther ahead than they have been seen to move.
        let moved = speed * f64::from(self.frames);
        let margin_of = |margins: f64, pace: f64, share: f64| {
            let margin = (pace * radius / share).sqrt() * (margins / axes as f64);
            f64::from(margin.max(radius * LEAST) as f32)
        };
        // On a course each body has a margin of its own. `share` is their average over the greatest.
        let pace = pace_of(on_course);
        let stray = |margin: f64| (STRAYING * self.strays * (margin / pace).powi(2) / margin).max(LEAST_STRAYED);
        let of_course = |margins: f64| {
            let share = self.share.clamp(LEAST_SHARE, 1.0);
            let share = (share + stray(margin_of(margins, pace, share))).min(1.0);
            let longest = margin_of(margins, pace, share).min(f64::from((MOST_TIMES * moved) as f32));
            let margin = longest.min(f64::from((pace * self.may_last.unwrap_or(f64::INFINITY)) as f32));
            // Rounding makes bodies stray no less in a shorter list.
            (margin, share, stray(margin).max(LEAST_STRAYED * longest / margin))
        };
        let (mut margin, mut share, mut may_stray) = of_course(MARGINS[2]);
        if may_stray > STRAYED {
            (margin, share, may_stray) = of_course(MARGINS[3]);
        }
        let is_shorter = self.may_last.is_some();
        let is_expected = ahead > 0.0 && self.course_backoff.left == 0 && may_stray <= MOST_STRAYED;
        let standing = margin_of(MARGINS[usize::from(ahead > 0.0)], pace_of(ahead), 1.0);
        // The size of bodies with a margin, over that without.
        let growth_of = |margin: f64| if radius > 0.0 { (1.0 + margin / radius).powi(axes as i32) } else { 1.0 };
        let on_course = (on_course, margin, share);
        let mut pays = |is_expected: bool| {
            let (ahead, margin, share) = if is_expected { on_course } else { (ahead, standing, 1.0) };
            self.growth = growth_of(share * margin);
            let (less, for_a_pair) =
                if is_expected { (1.0, worth.for_a_pair) } else { (MORE_IF_STANDING, worth.if_standing) };
            let many = MORE.iter().filter(|&&more| self.found * self.growth > less * more).count();
            let (worth, in_space) = (worth.frames + for_a_pair[many] * self.foreseen(), usize::from(axes > 2));
            let due = self.apartness * FOR_A_PAIR_APART[in_space] * self.foreseen();
            let times = |is_so: bool| if is_so { IF_STAND_IN } else { 1.0 };
            let worth = if is_expected {
                let on_course = if is_shorter { IF_SOME_STRAY } else { IF_EXPECTED };
                (worth * on_course[in_space]).max(due * times(stand_in))
            } else {
                (worth + IF_STANDING[in_space]) * times(moved_in)
            };
            let lasts = margin > 0.0 && margin.is_finite() && margin >= worth * pace_of(ahead);
            lasts.then_some((is_expected, ahead, margin))
        };
        // Where too many bodies would leave their course before a list pays, a list without a course may last for
        // longer.
        let Some((is_expected, ahead, margin)) =
            pays(is_expected).or_else(|| if is_shorter && is_expected { pays(false) } else { None })
        else {
            self.growth = 1.0;
            return None;
        };
        let way = (ahead * margin).min(moved);
        if way > 0.0 {
            self.ahead = way / margin;
        }
        self.tolerance = if is_expected { margin * may_stray } else { f64::INFINITY };
        let ahead = (way > 0.0).then_some([way / moved, moved]);
        let expected = self.strays * (margin / pace).powi(2);
        let limit = (expected / LIMITS[0]).clamp(self.tolerance * LIMITS[1], self.tolerance);
        Some(ListPlan { margin, ahead, tolerance: self.tolerance, limit, standing: [standing, growth_of(standing)] })
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
        } else if self.keeps() {
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
    use super::{OF_PAIRS, Pace};

    /// Bodies at rest get a margin as wide as their radii allow: points get none, and are looked at again later.
    #[test]
    fn points_at_rest_get_no_list() {
        for (radius, is_listed) in [(0.0, false), (1.0, true)] {
            let mut pace = Pace { speed: Some(0.0), ..Pace::default() };
            let plan = pace.plan_list(radius, 2, (OF_PAIRS[0], [false; 2]), true);
            assert_eq!(plan.is_some(), is_listed, "{plan:?}");
        }
    }

    #[test]
    fn bodies_may_rest_for_any_number_of_frames() {
        let mut pace = Pace { frames: u32::MAX, ..Pace::default() };
        pace.begin_frame();
        assert_eq!(pace.frames(), u32::MAX);
    }
}

//! Plans lists: drafts them, one of bodies on their course and one of others, and takes the first that pays.

use super::{COURSES_APART, Kept, Pace};
use crate::coherent::reference::ahead::Bend;

/// Says for how many frames a list must last to pay: `frames`, and more for each candidate pair of a body. The three
/// values are for few candidates, for more, and for many: listing and sorting many costs more than searching for them
/// again. Bodies on no course have `if_standing`: the wider the margin, the more candidates are tested in a frame, so
/// the list must last for longer. `list` says how many searches a list takes about: the first number, and the second for
/// each candidate pair of a body.
#[derive(Debug, Clone, Copy)]
pub(in crate::coherent) struct Worth {
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
pub(in crate::coherent) const OF_PAIRS: [Worth; 2] = [
    Worth { if_standing: [0.375, 0.6, 0.75], ..worth(3.0, [0.25, 0.6, 0.75], [4.0, 0.15]) },
    worth(3.0, [0.06, 0.12, 0.28], [3.25, 0.05]),
];
pub(in crate::coherent) const OF_ROWS: [Worth; 2] =
    [worth(4.5, [0.25, 0.25, 0.375], [2.5, 0.02]), worth(3.3, [0.05, 0.05, 0.075], [2.25, 0.01])];

const fn worth(frames: f64, for_a_pair: [f64; 3], list: [f64; 2]) -> Worth {
    Worth { frames, for_a_pair, if_standing: for_a_pair, list }
}

/// About which part of a search a kept frame takes: `KEPT[0]`, and as much more as the margin is of a radius or, on a
/// course, as bodies may stray of the margin; and `KEPT[1]` more where some bodies stray farther, as they do if they may
/// stray far.
const KEPT: [f64; 2] = [0.1, 0.25];

/// However many bodies there are, a list and a kept frame take about as long as a search of so many bodies, on top.
const FIXED: [f64; 2] = [100.0, 30.0];

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

/// The margin relative to the geometric mean of a radius and of how far bodies move in a frame, times the number of
/// axes. A search costs as much as some frames of the list, and the list gets longer with the margin. The values are
/// for bodies where they stand, or turn; for bodies where they are expected to be; for bodies that keep to their course,
/// few of whose candidates are tested in a frame; and for bodies that may stray, more of whose candidates are.
const MARGINS: [f64; 4] = [4.0, 5.0, 7.0, 6.0];

/// As the third of these, where there are few candidates (`MORE`) and no body was seen to stray: to list some more costs
/// less then than to list them sooner again.
const WIDE: f64 = 8.75;

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
pub(super) const STRAYED: f64 = 1.0 / 16.0;

/// Of bodies that have been kept for fewer frames it is not known how they turn.
const TURNING: u32 = 4;

/// Margins of bodies' own are `OWN_TIMES` as wide as the way to where the body is kept, plus how far all may be from
/// where they are expected: that part of their average way at first and at least (`OWN_STRAYED`). The widest margin is
/// `OWN_WIDEST` as wide as all are on average. A body is kept no farther ahead than `OWN_AHEAD` of that.
const OWN_TIMES: f64 = 1.0625;
const OWN_STRAYED: [f64; 2] = [0.5, 0.0625];
const OWN_WIDEST: f64 = 3.0;
const OWN_AHEAD: f64 = 0.875;

/// The average of these margins is chosen as in `MARGINS`, for bodies that go straight on. To make a list with wider
/// margins costs as much as `OWN_LIST` frames by that list.
const OWN_MARGINS: f64 = 4.0;
const OWN_LIST: f64 = 12.0;

/// Lists with margins of bodies' own are made where they are likely to cost so many times less than others.
const OWN_COSTS: f64 = 1.2;

/// The least ratio assumed of how far bodies move on average to how far the fastest do.
const LEAST_SHARE: f64 = 1.0 / 16.0;

/// A course is followed for at most so many times as far as it has been seen.
const MOST_TIMES: f64 = 16.0;

/// How a list is to be made.
#[derive(Debug, Clone, Copy)]
pub(in crate::coherent) struct ListPlan {
    pub(in crate::coherent) margin: f64,
    /// How much farther on bodies are to be when the list is made, over how far they have moved since they were kept;
    /// and how far that was.
    pub(in crate::coherent) ahead: Option<[f64; 2]>,
    /// How far bodies may stray from where they are kept, and from the same way on; infinite if no course is expected.
    /// And how far all but a few may, where those few can be looked for separately.
    pub(in crate::coherent) tolerance: f64,
    pub(in crate::coherent) limit: f64,
    /// If bodies are not expected to go straight on: for how many frames they have been kept, and how they go on.
    pub(in crate::coherent) bent: Option<(f32, Bend)>,
    /// If bodies on no course have margins of their own: how many times as wide as the way to where they are kept, and
    /// how much wider.
    pub(in crate::coherent) own: Option<[f32; 2]>,
    /// The margin if bodies cannot be kept ahead, and the factor by which it multiplies the number of pairs.
    pub(super) standing: [f64; 2],
}

impl ListPlan {
    /// Returns the greatest margin that bodies may get.
    pub(in crate::coherent) fn widest(&self) -> f64 {
        self.margin.max(self.standing[0])
    }

    /// Whether bodies may stray so far from their course that many candidates are tested in a frame.
    pub(in crate::coherent) fn strays(&self) -> bool {
        self.tolerance > self.margin * STRAYED
    }
}

/// The bodies of a list, and what it is for.
#[derive(Debug, Clone, Copy)]
pub(in crate::coherent) struct ListOf {
    /// A typical radius.
    pub(in crate::coherent) radius: f64,
    pub(in crate::coherent) axes: usize,
    pub(in crate::coherent) worth: Worth,
    /// Whether bodies have stand-ins; and whether a search moves them into a cell as they are.
    pub(in crate::coherent) stand_in: bool,
    pub(in crate::coherent) moved_in: bool,
    /// Whether it can be known where bodies are to be.
    pub(in crate::coherent) known: bool,
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

/// How bodies are kept, and with what margins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// On a course, with margins of their own.
    Course,
    /// Where their last steps lead them, with margins of their own.
    Own,
    /// On their circles.
    Turning,
    /// Where they stand, or straight on.
    Standing,
}

/// A list that may pay.
#[derive(Debug, Clone, Copy)]
struct Draft {
    kind: Kind,
    /// How much of the margin is used up when the list is made.
    ahead: f64,
    /// For how many frames the list is to last.
    lasts: f64,
    margin: f64,
    /// The average margin over the greatest.
    share: f64,
    /// How far bodies may stray, over the margin.
    may_stray: f64,
}

impl Draft {
    /// Returns the size of bodies with their margins on average, over that without.
    fn growth(&self, of: ListOf) -> f64 {
        of.growth(self.share * self.margin)
    }
}

impl Pace {
    /// Chooses how the next list is to be made; none if a list does not pay.
    pub(in crate::coherent) fn plan_list(&mut self, of: ListOf) -> Option<ListPlan> {
        (self.growth, self.ahead, self.is_of_turning, self.own) = (1.0, 0.0, false, None);
        let speed = self.speed?;
        let is_ahead = of.known && self.backoff.left == 0 && speed > 0.0;
        let course = self.draft_on_course(speed, of);
        let is_expected = is_ahead && self.course_backoff.left == 0 && course.may_stray <= MOST_STRAYED;
        let standing = self.draft_standing(speed, is_ahead, of);
        // Where too many bodies would leave their course before a list pays, a list without a course may last for
        // longer.
        let drafts = [Some(course).filter(|_| is_expected), Some(standing)];
        let drafts = drafts.into_iter().flatten().take(if self.may_last.is_some() { 2 } else { 1 });
        let first = drafts.into_iter().find(|draft| self.pays(draft, of));
        // One list of bodies where they stand shows how they turn.
        let may_be_own = of.known && (is_ahead || !self.bodies_turn);
        let own = self.draft_own(of).filter(|own| may_be_own && self.pays(own, of));
        let is_own_better =
            |own: &Draft| first.is_none_or(|first| OWN_COSTS * self.cost(own, of) < self.cost(&first, of));
        let own = own.filter(is_own_better);
        let Some(draft) = own.or(first) else {
            self.decline();
            return None;
        };
        if own.is_some() && is_expected && self.may_last.take().is_some() {
            self.course_backoff.failed(COURSES_APART);
        }
        Some(self.plan_of(draft, (speed, standing.margin), of))
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
            let lasts = margin / pace;
            Draft { kind: Kind::Course, ahead, lasts, margin, share, may_stray }
        };
        let wide = draft(WIDE);
        let is_worth = self.may_last.is_none() && self.found * wide.growth(of) <= MORE[0];
        let first = if is_worth { wide } else { draft(MARGINS[2]) };
        if first.may_stray > STRAYED { draft(MARGINS[3]) } else { first }
    }

    /// Drafts a list of bodies where they stand or, if that is known, where they are expected to be.
    fn draft_standing(&self, speed: f64, is_ahead: bool, of: ListOf) -> Draft {
        let ahead = if is_ahead { AHEAD[0] } else { 0.0 };
        let turn = is_ahead && self.bodies_turn && self.frames >= TURNING;
        let kind = if turn { Kind::Turning } else { Kind::Standing };
        let pace = speed / (1.0 + ahead);
        let margin = of.margin(MARGINS[usize::from(is_ahead && !turn)], pace, 1.0);
        let lasts = margin / pace;
        Draft { kind, ahead, lasts, margin, share: 1.0, may_stray: f64::INFINITY }
    }

    /// Drafts a list of bodies with margins of their own, if it is known how far they move in a frame.
    ///
    /// If the list lasts for t frames, the average margin is a t + b t^2. What it costs to make the list, shared out
    /// over its frames, falls with t, and what tests cost grows with the margin.
    fn draft_own(&self, of: ListOf) -> Option<Draft> {
        let step = self.step.filter(|&step| step > 0.0)?;
        let way = step * OWN_TIMES / 2.0;
        let [straight, first] =
            [way, way * (1.0 + OWN_STRAYED[0])].map(|pace| of.margin(OWN_MARGINS, pace, 1.0) / pace);
        let mut lasts = first;
        if let Some(strays) = self.own_strays {
            let strays = strays * step;
            lasts = straight;
            for _ in 0..16 {
                let next = straight * (way / (way + strays * (OWN_LIST + 2.0 * lasts))).sqrt();
                lasts = (lasts * next).sqrt();
            }
        }
        let mean = way * lasts + step * self.may_be_off(lasts);
        let (margin, share) = (f64::from((mean * OWN_WIDEST) as f32), 1.0 / OWN_WIDEST);
        Some(Draft { kind: Kind::Own, ahead: OWN_AHEAD, lasts, margin, share, may_stray: f64::INFINITY })
    }

    /// Returns how far bodies may be from where they are expected in so many frames, over their average step.
    fn may_be_off(&self, frames: f64) -> f64 {
        let [first, least] = OWN_STRAYED.map(|part| part * frames / 2.0);
        self.own_strays.map_or(first, |strays| strays * frames * frames).max(least)
    }

    /// Returns how far the fastest body has moved. Bodies are kept no farther ahead.
    fn way(&self, speed: f64) -> f64 {
        speed * f64::from(self.frames)
    }

    /// Whether a list, with as many candidates as are foreseen, would last for long enough.
    fn pays(&self, draft: &Draft, of: ListOf) -> bool {
        let &Draft { kind, lasts, margin, .. } = draft;
        let is_expected = kind == Kind::Course;
        let ListOf { worth, axes, stand_in, moved_in, .. } = of;
        let growth = draft.growth(of);
        let foreseen = self.pairs_of_one() * growth;
        let (less, for_a_pair) =
            if is_expected { (1.0, worth.for_a_pair) } else { (MORE_IF_STANDING, worth.if_standing) };
        let many = MORE.iter().filter(|&&more| self.found * growth > less * more).count();
        let (frames, in_space) = (worth.frames + for_a_pair[many] * foreseen, usize::from(axes > 2));
        let due = self.apartness * FOR_A_PAIR_APART[in_space] * foreseen;
        let times = |is_so: bool| if is_so { IF_STAND_IN } else { 1.0 };
        let frames = if is_expected {
            let on_course = if self.may_last.is_some() { IF_SOME_STRAY } else { IF_EXPECTED };
            (frames * on_course[in_space]).max(due * times(stand_in))
        } else {
            (frames + IF_STANDING[in_space]) * times(moved_in)
        };
        margin > 0.0 && margin.is_finite() && lasts >= frames
    }

    /// Returns how many searches a list takes to make, about, and one of its frames.
    fn takes(&self, draft: &Draft, of: ListOf) -> [f64; 2] {
        let Draft { kind, margin, share, may_stray, .. } = *draft;
        let strays = if self.may_last.is_some() || may_stray > STRAYED { KEPT[1] } else { 0.0 };
        let of_radius = share * margin / of.radius.max(margin);
        let tests = if kind == Kind::Course { may_stray + strays } else { of_radius };
        let [list, for_a_pair] = of.worth.list;
        let [more, more_of_frame] = FIXED.map(|bodies| bodies / self.bodies.max(FIXED[1]));
        let of_frame = (KEPT[0] + tests + more_of_frame).min(1.0);
        [list + for_a_pair * self.pairs_of_one() * draft.growth(of) + more, of_frame]
    }

    /// Returns how many searches each frame of a list takes, about, if the list is shared out over its frames.
    fn cost(&self, draft: &Draft, of: ListOf) -> f64 {
        let [list, of_frame] = self.takes(draft, of);
        let missed = if draft.kind == Kind::Own { self.own_missed } else { 0.0 };
        list / (draft.lasts * (1.0 - missed)) + of_frame
    }

    /// Makes a plan of a draft, and notes it. What was kept is not kept any more. `standing` is the margin of bodies
    /// that stand.
    fn plan_of(&mut self, draft: Draft, (speed, standing): (f64, f64), of: ListOf) -> ListPlan {
        (self.kept, self.growth, self.takes) = (Kept::Nothing, draft.growth(of), Some(self.takes(&draft, of)));
        let Draft { kind, ahead, lasts, margin, may_stray, .. } = draft;
        let own = kind == Kind::Own;
        let moved = if own { ahead * margin } else { self.way(speed) };
        let way = (ahead * margin).min(moved);
        let is_ahead = way > 0.0;
        if is_ahead {
            self.ahead = way / margin;
        }
        self.is_of_turning = kind == Kind::Turning && is_ahead;
        self.tolerance = if kind == Kind::Course { margin * may_stray } else { f64::INFINITY };
        self.own = own.then(|| [self.may_be_off(lasts), lasts]);
        let (frames, step) = (self.frames as f32, self.step.unwrap_or_default());
        let bend = if own { Bend::Curve(lasts as f32) } else { Bend::Round((ahead / (1.0 + ahead)) as f32) };
        let expected = self.strays * (margin * (1.0 + AHEAD[1]) / speed).powi(2);
        ListPlan {
            margin,
            ahead: is_ahead.then_some([way / moved, moved]),
            tolerance: self.tolerance,
            limit: (expected / LIMITS[0]).max(margin * LEAST_STRAYED).clamp(self.tolerance * LIMITS[1], self.tolerance),
            bent: (own || self.is_of_turning).then_some((frames, bend)),
            own: self.own.map(|[tolerance, _]| [OWN_TIMES as f32, (tolerance * step) as f32]),
            standing: [standing, of.growth(standing)],
        }
    }
}

//! Plain bodies, in `f32` at rest in open space: kept where they stand or are to be, and, frame by frame, how much of their margins they have
//! used up, and how far they have strayed from their course.

use core::mem::swap;

use jostle_core::{Bodies, Isa, Workers};
use jostle_sets::input::{Input, Source};

use crate::coherent::course::{Come, Course};
use crate::coherent::current::{Current, Now};
use crate::coherent::pace::Way;
use crate::coherent::packed::{Moving, Packed};
use crate::coherent::was::{Pack, Since, Was};

/// What rounding may cost of how far bodies have strayed, relative to the margin, which as many steps as are looked at are no longer than: 2^-17.
/// Differences and products of those, and what the predicate rounds, are rounded by a few times 2^-24.
const ROUNDING: f64 = 1.0 / 131_072.0;

/// Bodies that have strayed by no more of the margin have used up as much as their steps say.
const HARDLY: f64 = 1.0 / 32.0;

/// Beyond so many steps from where they are kept, bodies are on no course: see `LEAST` of `course.rs`.
const MOST_STEPS: f64 = 16.0;

/// Bodies as they were kept, and where those of a frame are put.
type Target<P, const D: usize> = fn(&mut Now<D>) -> (&Was<D>, &mut Vec<P>);

impl<const D: usize> Now<D> {
    fn bodies(&mut self) -> (&Was<D>, &mut Vec<Packed>) {
        (&self.was, &mut self.bodies)
    }

    fn moving(&mut self) -> (&Was<D>, &mut Vec<Moving>) {
        (&self.was, &mut self.moving)
    }
}

impl<const D: usize> Current<D> {
    /// Keeps the bodies of a plain frame.
    pub(in crate::coherent) fn keep(&mut self, input: &Input<'_, D>, workers: Workers<'_>) {
        self.make_room(input);
        self.course = None;
        self.each_view(input, |now, bodies| now.was.keep(bodies, workers));
    }

    /// Keeps the bodies of a plain frame where they are to be: see [`Was::keep_ahead`]. Where a course is expected of them, each gets a margin of
    /// its own.
    pub(in crate::coherent) fn keep_ahead(
        &mut self,
        input: &Input<'_, D>,
        way: &Way,
        ahead: [f64; 2],
        workers: Workers<'_>,
    ) {
        let [times, moved] = ahead;
        let mut course = Course::new((times * moved) as f32, way.tolerance as f32);
        let margin = way.margin as f32;
        let grown = (margin / course.reach, course.tolerance, margin);
        self.each_view(input, |now, bodies| {
            now.was.keep_ahead(bodies, (times as f32, moved as f32), workers);
            if course.is_expected() {
                // Whoever has jumped may have a longer step than all have been seen to make.
                course.note(now.was.grow(grown, workers));
            }
        });
        self.course = Some(course);
    }

    /// How far some bodies of a plain frame have moved since they stood where they were kept, or kept ahead from, on average.
    pub(in crate::coherent) fn mean_moved(&mut self, input: &Input<'_, D>) -> f64 {
        let (mut sum, mut len) = (0.0, 0);
        self.each_view(input, |now, bodies| {
            sum += now.was.mean_moved(bodies) * bodies.len() as f64;
            len += bodies.len();
        });
        sum / len.max(1) as f64
    }

    /// The bodies of a set where they are to be, with margins, if they are kept so.
    pub(in crate::coherent) fn ahead(&self, set: usize, margin: f64) -> Option<Bodies<'_, D>> {
        let course = self.course?;
        self.sets.get(set)?.was.bodies_ahead(margin as f32, course.is_expected())
    }

    /// The course that is expected of the bodies that are kept, if one is.
    pub(in crate::coherent) fn course(&self) -> Option<Course> {
        self.course.filter(|course| course.is_expected())
    }

    /// Takes the bodies of a plain frame as they are kept for those of this frame.
    pub(in crate::coherent) fn pack_kept(&mut self, input: &Input<'_, D>, workers: Workers<'_>) {
        self.each_view(input, |Now { was, bodies, .. }, _| was.pack(bodies, workers));
    }

    /// Puts the bodies of a plain frame aside as they are kept ahead, by rank where there are ids.
    pub(in crate::coherent) fn pack_ahead(&mut self, input: &Input<'_, D>, ids: &[u32], workers: Workers<'_>) {
        self.pack_kept(input, workers);
        self.put_by_rank(ids, workers);
        if ids.is_empty() {
            self.sets.iter_mut().for_each(|now| swap(&mut now.bodies, &mut now.ahead));
        }
        swap(&mut self.by_rank, &mut self.ahead_by_rank);
    }

    /// How far bodies have come that have used up so much of a margin, which still holds.
    pub(in crate::coherent) fn come(&self, used: f64, margin: f64) -> Come {
        let Some(course) = self.course() else { return Come::Anywhere(used) };
        course.come((self.steps, self.strayed), margin as f32)
    }

    /// Keeps no plain frame.
    pub(in crate::coherent) fn forget(&mut self) {
        self.course = None;
        self.sets.iter_mut().for_each(|now| now.was.forget());
    }

    /// Reads the bodies of a plain frame; how much a body has used up since some were kept, with what rounding may cost if a
    /// margin was added to its radius, at most, or, of bodies on their course, a little more. Infinite if one is not sound, or they are not
    /// those that were kept; of bodies on their course more than any margin then, and where one has strayed farther than it may.
    pub(in crate::coherent) fn measure(&mut self, input: &Input<'_, D>, margin: f64, on: (Isa, Workers<'_>)) -> f64 {
        let Some(course) = self.course() else {
            return self.read_plain(input, (margin, Since::Kept), Now::bodies, on);
        };
        let strayed = self.measure_strayed(input, margin, Now::bodies, on);
        self.used(course, strayed)
    }

    /// As [`Current::measure`], of bodies of a course, which have been read: as they are and as they are kept ahead. None are by rank.
    pub(in crate::coherent) fn measure_moving(
        &mut self,
        input: &Input<'_, D>,
        (margin, course): (f64, Course),
        on: (Isa, Workers<'_>),
    ) -> f64 {
        self.by_rank.clear();
        let strayed = self.measure_strayed(input, margin, Now::moving, on);
        self.used(course, strayed)
    }

    fn used(&self, course: Course, strayed: f64) -> f64 {
        let used = self.steps.abs() * f64::from(course.reach) + strayed;
        if strayed <= course.tolerance.into() { used } else { f64::MAX }
    }

    /// How far a body of a plain frame, which has been read, has moved since some were kept ahead, at most, and how far it has strayed from its
    /// course; of those that hardly have, the former a little more.
    pub(in crate::coherent) fn measure_moved(
        &mut self,
        input: &Input<'_, D>,
        margin: f64,
        on: (Isa, Workers<'_>),
    ) -> [f64; 2] {
        let strayed = match self.course() {
            Some(course) if self.strayed <= margin * HARDLY => {
                return [(1.0 + self.steps).abs() * f64::from(course.reach) + self.strayed, self.strayed];
            }
            Some(_) => self.strayed,
            None => self.measure_strayed(input, margin, Now::bodies, on),
        };
        [self.read_plain(input, (0.0, Since::Stood), Now::bodies, on), strayed]
    }

    /// Reads the bodies of a plain frame; how far one has strayed from its course since some were kept ahead, at most, with what rounding may
    /// cost.
    fn measure_strayed<P: Pack>(
        &mut self,
        input: &Input<'_, D>,
        margin: f64,
        into: Target<P, D>,
        on: (Isa, Workers<'_>),
    ) -> f64 {
        let mut sums = [0.0; 2];
        self.each_view(input, |now, bodies| {
            let [along, step2] = now.was.along(bodies);
            sums = [sums[0] + along, sums[1] + step2];
        });
        let steps = if sums[1] > 0.0 { (sums[0] / sums[1]) as f32 } else { 0.0 };
        let strayed = self.read_plain(input, (margin, Since::Steps(steps)), into, on);
        self.steps = steps.into();
        let rounding = margin * ROUNDING;
        self.strayed = if self.steps.abs() <= MOST_STEPS { strayed + rounding } else { f64::INFINITY };
        self.strayed
    }

    fn read_plain<P: Pack>(
        &mut self,
        input: &Input<'_, D>,
        (margin, since): (f64, Since),
        into: Target<P, D>,
        on: (Isa, Workers<'_>),
    ) -> f64 {
        self.make_room(input);
        let sets = self.sets.iter_mut().zip(input.sets());
        let most = sets.map(|(now, set)| match set.source {
            Source::View(bodies) => {
                now.build = 0;
                let (was, packed) = into(now);
                was.measure(bodies, (margin as f32, since), packed, on)
            }
            Source::Tree(_) | Source::Double(_) | Source::Shaped(_) => f32::INFINITY,
        });
        most.fold(0.0, f32::max).into()
    }

    fn each_view(&mut self, input: &Input<'_, D>, mut visit: impl FnMut(&mut Now<D>, Bodies<'_, D>)) {
        for (now, set) in self.sets.iter_mut().zip(input.sets()) {
            if let Source::View(bodies) = set.source {
                visit(now, bodies);
            }
        }
    }
}

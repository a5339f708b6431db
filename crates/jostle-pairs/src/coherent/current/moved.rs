//! How far bodies have moved when a list ends, and how far they have strayed: what the next list is planned by. Most of
//! it is told by samples.

use core::mem::take;

use jostle_core::{Isa, Workers};
use jostle_sets::input::Input;

use crate::coherent::bodies_of;
use crate::coherent::current::plain::{MOST_STEPS, Straying};
use crate::coherent::current::{Current, SetNow};
use crate::coherent::reference::measure::Since;
use crate::coherent::reference::sample::{Expected, MEAN_OF, every_for_quantile, most_of};

/// Bodies that have strayed by no more of the margin than this have used up as much as their steps say.
const HARDLY: f64 = 1.0 / 32.0;

/// Some bodies have jumped if the farthest has moved so many times as far as all do on average: those that have moved
/// so many times as far as all but a few.
const JUMPS: [f64; 2] = [6.0, 1.5];

impl<const D: usize> Current<D> {
    /// Returns how far a body of a plain frame, which has been read, has moved at most since bodies were kept ahead,
    /// and how far one has strayed from its course. Where bodies have hardly strayed, the former is a little too much.
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
            None if self.own => f64::INFINITY,
            None => self.measure_strayed(input, (margin, None), on),
        };
        let [moved, _] = self.read_plain(input, (0.0, Since::Stood, None), on);
        [moved, strayed]
    }

    /// Returns how far some bodies have moved on average since the last frame, if that is known.
    pub(in crate::coherent) fn mean_step(&self) -> Option<f64> {
        let (mut sum, mut count) = (0.0, 0);
        for SetNow { bodies, before, .. } in &self.sets[..self.of_input] {
            let len = bodies.len().min(before.len());
            let all = bodies[..len].iter().zip(before).step_by(len.div_ceil(MEAN_OF).max(1));
            let steps = all.map(|(now, before)| f64::from(now.measure::<D>(before).0).sqrt());
            let (of_set, some) =
                steps.filter(|step| !step.is_nan()).fold((0.0, 0), |(sum, count), step| (sum + step, count + 1));
            (sum, count) = (sum + of_set * (len as f64 / some.max(1) as f64), count + len);
        }
        (count > 0).then(|| sum / count as f64)
    }

    /// Returns how far all bodies but one in `share` have strayed from their course.
    pub(in crate::coherent) fn strayed_but_for(
        &mut self,
        input: &Input<'_, D>,
        share: usize,
        workers: Workers<'_>,
    ) -> f64 {
        let steps = self.steps;
        if steps.abs() > MOST_STEPS {
            return f64::INFINITY;
        }
        self.most_but_for(input, share, &|_| Expected::Ahead(steps), workers)
    }

    /// Returns how far all bodies but one in `share` would have strayed, had they been expected to go straight on for so
    /// many frames. Bodies that turn evenly are as far from there as from where they would have been had they always
    /// moved as in the last frame.
    pub(in crate::coherent) fn strayed_had_they_not_turned(
        &mut self,
        input: &Input<'_, D>,
        (frames, share): (u32, usize),
        workers: Workers<'_>,
    ) -> f64 {
        self.most_but_for(input, share, &|now| Expected::Straight(frames.into(), [&now.before, &now.bodies]), workers)
    }

    /// Returns how far a body has moved, at most, from where it stood. `most` is that of all bodies, and `mean` their
    /// average. Bodies that have jumped do not count, if they are no more than one in `share`; `jumped` is memory for
    /// their numbers.
    pub(in crate::coherent) fn moved_but_for(
        &mut self,
        input: &Input<'_, D>,
        ([most, mean], share, (jumped, numbers)): ([f64; 2], usize, Straying<'_>),
        on: (Isa, Workers<'_>),
    ) -> f64 {
        if most <= JUMPS[0] * mean || most == f64::INFINITY {
            return most;
        }
        let near = JUMPS[1] * self.most_but_for(input, 2 * share, &|_| Expected::Stood, on.1);
        if most <= near || near == 0.0 {
            return most;
        }
        jumped.clear();
        let limit = Some((near as f32, (&mut *jumped, numbers)));
        let [within, _] = self.read_plain(input, (0.0, Since::Stood, limit), on);
        if jumped.len() > bodies_of(input) / share { most } else { within }
    }

    /// Returns how far all bodies but one in `share` are from where they are expected, as a sample of them says.
    fn most_but_for(
        &mut self,
        input: &Input<'_, D>,
        share: usize,
        expected: &dyn Fn(&SetNow<D>) -> Expected<'_>,
        workers: Workers<'_>,
    ) -> f64 {
        let (mut all, every) = (take(&mut self.quantile_of), every_for_quantile(bodies_of(input)));
        let mut are_known = true;
        all.clear();
        self.each_view(input, &mut |now, bodies| {
            are_known &= now.reference.sample(bodies, (expected(now), every), &mut all, workers)
        });
        let most = if are_known { most_of(&mut all, share).into() } else { f64::INFINITY };
        self.quantile_of = all;
        most
    }

    /// Returns how far some bodies of a plain frame have moved on average since they were kept, or kept ahead; and
    /// which part of that they have moved apart from each other.
    pub(in crate::coherent) fn mean_moved(&mut self, input: &Input<'_, D>) -> [f64; 2] {
        let (mut sum, mut len) = ([0.0; 2], 0);
        self.each_view(input, &mut |now, bodies| {
            let of_set = now.reference.mean_moved(bodies);
            sum.iter_mut().zip(of_set).for_each(|(sum, of_set)| *sum += of_set * bodies.len() as f64);
            len += bodies.len();
        });
        sum.map(|sum| sum / len.max(1) as f64)
    }
}

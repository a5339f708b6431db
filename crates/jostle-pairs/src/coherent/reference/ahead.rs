//! Where bodies are expected to be halfway through a list: straight on from where they stood; or, where they turn, on
//! round the circle on which they have come; or, where others push them, where their speed and its change lead them.

use core::mem::swap;

use jostle_core::axes::{Both, slices_mut};
use jostle_core::isa::Work;
use jostle_core::scratch::fill_with_headroom;
use jostle_core::{Bodies, Isa, Workers};
use jostle_sets::simd::LANES;

use super::{PART, Reference, block};
use crate::coherent::packed::Packed;

/// A body's last step may be so many times as long as the longest way of any body says. The way round half a circle is
/// 1.6 times as long as straight on.
const LONGEST: f32 = 2.0;

/// The greatest angle by which a body is expected to turn while a list lasts.
const MOST: f32 = 3.0;

/// The change of speed since bodies have been kept counts if the list is to last no longer than so many times as long.
const CURVED: f32 = 2.0;

/// Of bodies that have been kept for fewer frames it is not known how their speed changes.
const CURVED_FROM: f32 = 4.0;

/// How bodies that do not go straight on are followed.
#[derive(Debug, Clone, Copy)]
pub(in crate::coherent) struct Bent<'a> {
    /// For how many frames bodies have been kept.
    pub(in crate::coherent) frames: f32,
    /// The bodies in the last frame and in this one.
    pub(in crate::coherent) steps: [&'a [Packed]; 2],
    pub(in crate::coherent) bend: Bend,
}

#[derive(Debug, Clone, Copy)]
pub(in crate::coherent) enum Bend {
    /// Bodies turn. They are kept at this part of the way that they will make while the list lasts.
    Round(f32),
    /// The speed of bodies goes on to change as it has. They are kept halfway through as many frames.
    Curve(f32),
}

impl<const D: usize> Reference<D> {
    /// Keeps these bodies where they are expected to be: as far on as they have moved since others were kept, times
    /// `times`. Bodies that have moved farther than `most` along an axis are not moved on along it: a body that has
    /// jumped is not expected to jump again. Bodies that do not go straight on are kept as `bent` says instead; where
    /// their speed changes, no farther on than `most`.
    pub(in crate::coherent) fn keep_ahead(
        &mut self,
        bodies: Bodies<'_, D>,
        (times, most): (f32, f32),
        bent: Option<Bent<'_>>,
        (isa, workers): (Isa, Workers<'_>),
    ) {
        if !self.is_ahead {
            swap(&mut self.centers, &mut self.stood);
        }
        (self.len, self.is_ahead) = (Some(bodies.len()), true);
        let Self { centers, stood, .. } = self;
        let len = bodies.len().next_multiple_of(PART);
        for column in centers.iter_mut().chain(&mut *stood) {
            fill_with_headroom(column, len, 0.0);
        }
        let block = block(len, workers);
        workers.fill_columns("ahead", [centers, stood].both(slices_mut), block, |first, [mut ahead, mut stood]| {
            let len = ahead[0].len().min(bodies.len() - first);
            for ((ahead, stood), column) in ahead.iter_mut().zip(&mut stood).zip(bodies.centers()) {
                column.copy_into(first, &mut ahead[..len]);
                ahead[len..].fill(0.0);
                stood[len..].fill(0.0);
            }
            let Some(bent) = bent else {
                for (ahead, stood) in ahead.iter_mut().zip(stood) {
                    for (x, stood) in ahead[..len].iter_mut().zip(stood) {
                        let here = *x;
                        *x += straight_on(here - *stood, times, most);
                        *stood = here;
                    }
                }
                return;
            };
            let [ahead, stood] = [ahead, stood].both(|columns| columns.map(|column| &mut column[..len]));
            isa.run(MoveOn { bent, ahead, stood, first, times, most });
        });
        self.keep_radii(bodies, workers);
    }
}

#[inline(always)]
fn straight_on(moved: f32, times: f32, most: f32) -> f32 {
    if moved.abs() <= most { moved * times } else { 0.0 }
}

/// Moves bodies that do not go straight on to where they are expected, from number `first` on, and notes where they
/// stand. Bodies that have jumped, or were not there in the last frame, go straight on.
struct MoveOn<'a, const D: usize> {
    bent: Bent<'a>,
    ahead: [&'a mut [f32]; D],
    stood: [&'a mut [f32]; D],
    first: usize,
    times: f32,
    most: f32,
}

impl<const D: usize> Work for MoveOn<'_, D> {
    type Output = ();
    const GAINS_BY_AVX512: bool = false;

    #[inline(always)]
    fn run(self) {
        let Self { bent, ahead, stood, first, times, most } = self;
        let [before, now] = bent.steps.both(|bodies| bodies.get(first..).unwrap_or_default());
        let len = ahead[0].len();
        for begin in (0..len).step_by(LANES) {
            let there = (len - begin).min(LANES);
            let [mut came, mut steps] = [[[0.0; LANES]; D], [[f32::NAN; LANES]; D]];
            for axis in 0..D {
                let bodies = ahead[axis][begin..][..there].iter().zip(&mut stood[axis][begin..]);
                for (slot, (x, stood)) in came[axis].iter_mut().zip(bodies) {
                    (*slot, *stood) = (x - *stood, *x);
                }
            }
            for (lane, (before, now)) in before.iter().zip(now).skip(begin).take(there).enumerate() {
                for axis in 0..D {
                    steps[axis][lane] = now.0[axis] - before.0[axis];
                }
            }
            let ways = match bent.bend {
                Bend::Round(part) => bent.round(steps, came, (part, times, most)),
                Bend::Curve(lasts) => bent.curve(steps, came, (lasts, most)),
            };
            for axis in 0..D {
                ahead[axis][begin..][..there].iter_mut().zip(ways[axis]).for_each(|(x, way)| *x += way);
            }
        }
    }
}

impl Bent<'_> {
    /// Returns how far on sixteen bodies are expected that have come so far.
    ///
    /// A body that turns evenly moves, halfway through its way, in the direction in which it has come on the whole. So
    /// the angle between that direction and its last step tells how fast it turns. The body is kept on the line from
    /// here to where it will be when the list ends.
    #[inline(always)]
    fn round<const D: usize>(
        &self,
        steps: [[f32; LANES]; D],
        came: [[f32; LANES]; D],
        (part, times, most): (f32, f32, f32),
    ) -> [[f32; LANES]; D] {
        let frames = self.frames;
        // From halfway to the middle of the last step.
        let between = (frames - 1.0) / 2.0;
        let (step2, came2, product) = (dot(&steps, &steps), dot(&came, &came), dot(&steps, &came));
        let mut ways = [[0.0; LANES]; D];
        for lane in 0..LANES {
            let longer = (step2[lane] / came2[lane]).sqrt();
            // 1 less the cosine of the angle, which is a right angle at most; the square of the angle, and the angle
            // over its sine: their series.
            let off = 1.0 - product[lane] / (came2[lane] * longer);
            let off = if off > 0.0 { off } else { 0.0 };
            let off = if off < 1.0 { off } else { 1.0 };
            let angle2 =
                off * (2.0 + off * (1.0 / 3.0 + off * (4.0 / 45.0 + off * (1.0 / 35.0 + off * 16.0 / 1_575.0))));
            let over_sine = 1.0 + off * (1.0 / 3.0 + off * (2.0 / 15.0 + off * (2.0 / 35.0 + off * 8.0 / 315.0)));
            let (lasts, most_lasts) = (times / part * frames, MOST * between / angle2.sqrt());
            let lasts = if lasts < most_lasts { lasts } else { most_lasts };
            // The way is shorter than straight on, and its direction is that of the middle of it.
            let half = lasts / 2.0 / between;
            let turned = half + 0.5 / between;
            let on = lasts * part * sine_over(angle2 * half * half);
            let (turned2, aside) = (angle2 * turned * turned, turned * over_sine);
            let (along, aside) = (cosine(turned2), aside * sine_over(turned2));
            let turns = longer > 0.0 && step2[lane].sqrt() * frames <= LONGEST * most;
            for axis in 0..D {
                let (step, came) = (steps[axis][lane], came[axis][lane]);
                let round = on * (along * step + aside * ((1.0 - off) * step - longer * came));
                ways[axis][lane] = if turns { round } else { straight_on(came, times, most) };
            }
        }
        ways
    }
}

impl Bent<'_> {
    /// Returns how far on sixteen bodies are expected whose speed changes, and that have come so far: halfway to where
    /// they will be when the list ends, if their speed goes on to change as it has on average.
    #[inline(always)]
    fn curve<const D: usize>(
        &self,
        steps: [[f32; LANES]; D],
        came: [[f32; LANES]; D],
        (lasts, most): (f32, f32),
    ) -> [[f32; LANES]; D] {
        let frames = self.frames;
        let is_known = frames >= CURVED_FROM && lasts <= CURVED * frames;
        let change = if is_known { 2.0 / (frames - 1.0) } else { 0.0 };
        let mut ways = [[0.0; LANES]; D];
        for axis in 0..D {
            for lane in 0..LANES {
                let (step, average) = (steps[axis][lane], came[axis][lane] / frames);
                let step = if step.is_nan() { average } else { step };
                ways[axis][lane] = lasts / 2.0 * (step + (step - average) * change * (lasts + 1.0) / 2.0);
            }
        }
        let length2 = dot(&ways, &ways);
        for lane in 0..LANES {
            let length = length2[lane].sqrt();
            let times = if length > most { most / length } else { 1.0 };
            for way in &mut ways {
                way[lane] *= times;
            }
        }
        ways
    }
}

/// Returns the sine of an angle, over that angle. Given is its square.
#[inline(always)]
fn sine_over(angle2: f32) -> f32 {
    1.0 - angle2 / 6.0 * (1.0 - angle2 / 20.0 * (1.0 - angle2 / 42.0 * (1.0 - angle2 / 72.0)))
}

/// Returns the cosine of an angle. Given is its square.
#[inline(always)]
fn cosine(angle2: f32) -> f32 {
    1.0 - angle2 / 2.0 * (1.0 - angle2 / 12.0 * (1.0 - angle2 / 30.0 * (1.0 - angle2 / 56.0)))
}

#[inline(always)]
fn dot<const D: usize>(a: &[[f32; LANES]; D], b: &[[f32; LANES]; D]) -> [f32; LANES] {
    let mut sum = [0.0; LANES];
    for axis in 0..D {
        for lane in 0..LANES {
            sum[lane] += a[axis][lane] * b[axis][lane];
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::{Bend, Bent, LANES};

    /// Bodies that have gone round by up to half a circle are expected where they will be when they go on.
    #[test]
    fn bodies_are_expected_on_their_circles() {
        let (frames, part, times) = (12.0, 0.5, 0.5);
        let bent = Bent { frames, steps: [&[], &[]], bend: Bend::Round(part) };
        for tenth in 0..=24_u8 {
            let turn = f64::from(tenth) / 10.0;
            // Where a body is that moves by 1 in each frame, and has turned by `turn` in `frames` of them.
            let at = |frame: f64| {
                let (angle, each) = (turn / f64::from(frames) * frame, turn / f64::from(frames));
                if turn == 0.0 { [frame, 0.0] } else { [angle.sin() / each, (1.0 - angle.cos()) / each] }
            };
            let [now, before, later] = [frames, frames - 1.0, 2.0 * frames].map(|frame| at(frame.into()));
            let of = |to: [f64; 2], from: [f64; 2]| [0, 1].map(|axis| [(to[axis] - from[axis]) as f32; LANES]);
            // Times 0.5, at a part of 0.5: the body is kept halfway to where it is after as many frames.
            let ways = bent.round(of(now, before), of(now, at(0.0)), (part, times, 100.0));
            for axis in 0..2 {
                let off = f64::from(ways[axis][0]) - (later[axis] - now[axis]) / 2.0;
                assert!(off.abs() < 0.01 * f64::from(frames), "turned by {turn}: {off} off on axis {axis}");
            }
        }
    }

    /// Bodies that fall are expected halfway to where they will be, but no farther away than they may.
    #[test]
    fn bodies_are_expected_where_their_speed_leads_them() {
        let (frames, lasts) = (8.0, 12.0);
        let bent = Bent { frames, steps: [&[], &[]], bend: Bend::Curve(lasts) };
        let at = |frame: f32| [2.0 * frame, 0.05 * frame * frame];
        let of = |to: [f32; 2], from: [f32; 2]| [0, 1].map(|axis| [to[axis] - from[axis]; LANES]);
        let [before, now, later] = [frames - 1.0, frames, frames + lasts].map(at);
        for (most, part) in [(100.0, 0.5), (5.0, 5.0 / (later[0] - now[0]).hypot(later[1] - now[1]))] {
            let ways = bent.curve(of(now, before), of(now, [0.0; 2]), (lasts, most));
            for axis in 0..2 {
                let off = ways[axis][0] - part * (later[axis] - now[axis]);
                assert!(off.abs() < 1e-4, "{off} off on axis {axis}");
            }
        }
        // Of bodies whose last step is not known, that of an average frame is taken.
        let ways = bent.curve([[f32::NAN; LANES]; 2], of(now, [0.0; 2]), (lasts, 100.0));
        assert!((ways[0][0] - lasts).abs() < 1e-4 && (ways[1][0] - 0.5 * lasts * now[1] / frames).abs() < 1e-4);
    }
}

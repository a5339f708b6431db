//! In which bands candidates are, and whether they touch.

use core::ops::Range;

use jostle_core::Isa;
use jostle_core::axes::Both;
use jostle_sets::simd::{LANES, LaneWork, Lanes, run};

use crate::coherent::bands::{AT_A_TIME, NEVER, Scale};
use crate::coherent::current::{Test, Verdict};
use crate::coherent::judge::sure_or_in_doubt;
use crate::coherent::packed::{Packed, Sixteens, prefetch_bodies};
use crate::coherent::slack::slack_of;

/// Finds out the classes of some candidates of two sets, a band being one part in `scale` of a length; calls `note` with those of some after some.
pub(super) fn find_classes<const D: usize>(
    (pairs, sets): (&[[u32; 2]], [u32; 2]),
    test: &Test<'_, D>,
    (scale, isa): (Scale, Isa),
    range: Range<usize>,
    mut note: impl FnMut(&[u8]),
) {
    let (bodies, far) = test.named(sets);
    let mut classes = [0; AT_A_TIME];
    for first in range.clone().step_by(AT_A_TIME) {
        let part = first..(first + AT_A_TIME).min(range.end);
        let classes = &mut classes[..part.len()];
        if far {
            prefetch_bodies(bodies, pairs[part.end..(part.end + AT_A_TIME).min(range.end)].iter().copied());
        }
        let pairs = &pairs[part];
        let ahead = test.ahead(sets).unwrap_or(bodies);
        let (mut unknown, doubt) = ([0; AT_A_TIME / LANES], test.doubt(sets));
        let within = doubt.map(|doubt| doubt.within);
        run(isa, Classify::<D> { bodies, ahead, pairs, scale, classes, within, unknown: &mut unknown });
        if let Some(doubt) = doubt {
            for (first, mut mask) in (0..).step_by(LANES).zip(unknown) {
                while mask != 0 {
                    let at = first + mask.trailing_zeros() as usize;
                    classes[at] = classes[at] & !1 | u8::from(!doubt.decide(pairs[at]));
                    mask &= mask - 1;
                }
            }
        }
        if let Some(verdict) = test.judge(sets).filter(Verdict::sorts_out) {
            let names = test.names(sets);
            for (class, &pair) in classes.iter_mut().zip(pairs) {
                *class = if verdict.may_be(names.ids(pair)) { *class } else { NEVER };
            }
        }
        note(classes);
    }
}

/// Finds out the classes of up to [`AT_A_TIME`] candidates, whose bodies alone tell: whether two touch where they stand, and, by where they
/// are kept, when that can change.
struct Classify<'a, const D: usize> {
    bodies: [&'a [Packed]; 2],
    ahead: [&'a [Packed]; 2],
    pairs: &'a [[u32; 2]],
    scale: Scale,
    classes: &'a mut [u8],
    /// Where stand-ins are as far from touching as this they do not tell whether bodies touch; a bit for each of those.
    within: Option<f32>,
    unknown: &'a mut [u16; AT_A_TIME / LANES],
}

impl<const D: usize> LaneWork for Classify<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { bodies, ahead, pairs, scale, classes, within, unknown } = self;
        // The squares of distances now and ahead, and the sums of radii.
        let mut columns = [[0.0_f32; AT_A_TIME]; 3];
        let now = Sixteens::of(bodies, pairs);
        let then = now.among(ahead);
        for sixteen in 0..now.len() {
            let ([now2, radii], [then2, _]) = (now.measure::<L, D>(sixteen), then.measure::<L, D>(sixteen));
            for (column, value) in columns.iter_mut().zip([now2, then2, radii]) {
                value.store(&mut column.as_chunks_mut().0[sixteen]);
            }
        }
        for at in pairs.len() / LANES * LANES..pairs.len() {
            let [a, b] = pairs[at].both(|body| body as usize);
            let (now2, radii) = bodies[0][a].measure::<D>(&bodies[1][b]);
            let (then2, _) = ahead[0][a].measure::<D>(&ahead[1][b]);
            columns.iter_mut().zip([now2, then2, radii]).for_each(|(column, value)| column[at] = value);
        }
        let [now2, then2, radii] = &columns;
        if let Some(within) = within {
            let columns = [now2, radii].both(|column| column.as_chunks().0);
            for (sixteen, slot) in unknown[..pairs.len().div_ceil(LANES)].iter_mut().enumerate() {
                let there = u16::MAX >> (LANES - (pairs.len() - sixteen * LANES).min(LANES));
                let [_, in_doubt] = sure_or_in_doubt(columns.both(|column| L::load(&column[sixteen])), within);
                *slot = in_doubt & there;
            }
        }
        for (at, slot) in classes.iter_mut().enumerate() {
            *slot = scale.class_of(now2[at] <= radii[at] * radii[at], slack_of(then2[at].sqrt(), radii[at]));
        }
    }
}

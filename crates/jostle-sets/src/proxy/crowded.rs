//! Whether bodies are crowded: a look at a sample tells whether gaps are worth leaving out of a frame, and whether any
//! frame tells the bodies apart.

use crate::input::{Set, UnitCell};
use crate::proxy::Span;
use crate::proxy::ends::{AllBodies, Framed, Numbered};
use crate::proxy::sorted::SortedSet;

/// The least and the greatest number of bodies in the sample, which is half of the root of the number of all.
const SAMPLES: (usize, usize) = (64, 512);

/// Whether two bodies of a sample, chosen as if by chance, are so near each other that their proxies would be
/// candidates. That is so about half of the times where a body has five such neighbours. Gaps between bodies with few
/// neighbours are not worth the look.
pub(super) fn is_crowded<const D: usize>(
    (sets, sorted): (&[Set<'_, D>], &[SortedSet<D>]),
    cell: Option<&UnitCell<D>>,
    growth: f64,
) -> bool {
    let bodies = sets.iter().map(Set::len).sum::<usize>();
    let count = ((bodies as f64).sqrt() as usize / 2).clamp(SAMPLES.0, SAMPLES.1);
    let mut chosen = [(0, [[0.0; 3]; D]); SAMPLES.1];
    for sample in 0..count {
        let chance = (mixed(sample as u64) >> 32) as usize % bodies;
        let mut id = chance;
        for (kept, set) in sorted.iter().zip(sets) {
            if id < set.len() {
                chosen[sample] = (chance, kept.proxies.spans(set, cell, id));
                break;
            }
            id -= set.len();
        }
        let (chance, spans) = chosen[sample];
        let is_near = |other: &[Span; D]| {
            let mut axes = spans.iter().zip(other);
            axes.all(|([x, half, reach], [y, step, more])| (x - y + (half - step)).abs() <= reach + more + 2.0 * growth)
        };
        if chosen[..sample].iter().any(|(other, spans)| *other != chance && is_near(spans)) {
            return true;
        }
    }
    false
}

/// Searches of fewer bodies keep their frame.
const LEAST_BODIES: usize = 256;

/// The least and the greatest number of bodies in the sample of [`is_hopeless`], which is the root of the number of all.
const FRAMED: (usize, usize) = (16, 2048);

/// How many pairs of that sample a frame must bring together that are apart. As many are expected where a body has 32
/// such neighbours on average. Deciding these takes as long as ordinals do.
const TOO_MANY: usize = 16;

/// Whether a frame makes candidates of too many bodies that are apart, and ordinals would not. In an oblique cell there are
/// none.
pub(super) fn is_hopeless<const D: usize>(
    bodies: AllBodies<'_, D>,
    frame: Framed,
    sample: &mut Vec<Numbered<D>>,
) -> bool {
    let n = bodies.len();
    if frame.is_fine() || n < LEAST_BODIES || bodies.cell.is_some_and(|cell| !cell.is_straight()) {
        return false;
    }
    let overlap = |a: &[[f64; 2]; D], b: &[[f64; 2]; D], by: f64| {
        let mut axes = a.iter().zip(b);
        axes.all(|(a, b)| a[0] - b[1] <= by && b[0] - a[1] <= by)
    };
    sample.clear();
    let mut brought = 0;
    for at in 0..((n as f64).sqrt() as usize).clamp(FRAMED.0, FRAMED.1) {
        let (set, body) = bodies.numbered((mixed(at as u64) >> 32) as usize % n);
        let is_brought = |(of, other): &&Numbered<D>| {
            overlap(&body, other, 2.0 * frame.growth) && !overlap(&body, other, 0.0) && bodies.meet(set, *of)
        };
        brought += sample.iter().filter(is_brought).count();
        if brought >= TOO_MANY {
            return true;
        }
        sample.push((set, body));
    }
    false
}

/// A number that looks random: the last step of SplitMix64.
pub(super) fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

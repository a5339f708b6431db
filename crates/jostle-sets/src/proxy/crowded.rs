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

/// A frame is wide beside bodies that typically reach less than so many times what they grow by in it.
const WIDE: f64 = 16.0;

/// A look at a sample of bodies, which tells whether a frame is hopeless.
struct Look {
    /// Searches of fewer bodies keep their frame.
    least_bodies: usize,
    /// The sample is this part of the root of the number of bodies.
    of_root: f64,
    /// How many pairs of the sample a frame must bring together that are apart.
    too_many: usize,
}

/// The looks at bodies in wide frames, and in others. In a wide frame, as many are expected where a body has 32 such
/// neighbours, and deciding these takes as long as ranks do. Other frames rarely are hopeless, so less is looked at: 128.
const LOOKS: [Look; 2] =
    [Look { least_bodies: 256, of_root: 1.0, too_many: 16 }, Look { least_bodies: 8192, of_root: 0.25, too_many: 4 }];

/// The least and the greatest number of bodies in that sample.
const FRAMED: (usize, usize) = (16, 2048);

/// Bodies that tell what bodies typically reach.
const FEW: usize = 8;

/// Whether a frame makes candidates of too many bodies that are apart, and ranks would not. In an oblique cell there are
/// none.
pub(super) fn is_hopeless<const D: usize>(
    bodies: AllBodies<'_, D>,
    frame: Framed,
    sample: &mut Vec<Numbered<D>>,
) -> bool {
    let n = bodies.len();
    if n < LOOKS[0].least_bodies || bodies.cell.is_some_and(|cell| !cell.is_straight()) {
        return false;
    }
    let chosen = |at: usize| bodies.numbered((mixed(at as u64) >> 32) as usize % n);
    let typical = frame.typical.unwrap_or_else(|| middle_reach((0..FEW).map(chosen)));
    let look = &LOOKS[usize::from(frame.growth * WIDE <= typical)];
    if n < look.least_bodies {
        return false;
    }
    let overlap = |a: &[[f64; 2]; D], b: &[[f64; 2]; D], by: f64| {
        let mut axes = a.iter().zip(b);
        axes.all(|(a, b)| a[0] - b[1] <= by && b[0] - a[1] <= by)
    };
    sample.clear();
    let mut brought = 0;
    for at in 0..(((n as f64).sqrt() * look.of_root) as usize).clamp(FRAMED.0, FRAMED.1) {
        let (set, body) = chosen(at);
        let is_brought = |(of, other): &&Numbered<D>| {
            overlap(&body, other, 2.0 * frame.growth) && !overlap(&body, other, 0.0) && bodies.meet(set, *of)
        };
        brought += sample.iter().filter(is_brought).count();
        if brought >= look.too_many {
            return true;
        }
        sample.push((set, body));
    }
    false
}

/// Half of the greatest length of a body, of so many that half of them are longer.
fn middle_reach<const D: usize>(few: impl Iterator<Item = Numbered<D>>) -> f64 {
    let mut reaches = [0.0; FEW];
    for (reach, (_, ends)) in reaches.iter_mut().zip(few) {
        *reach = ends.iter().map(|[from, to]| (to - from) / 2.0).fold(0.0, f64::max);
    }
    reaches.sort_unstable_by(f64::total_cmp);
    reaches[FEW / 2]
}

/// A number that looks random: the last step of SplitMix64.
pub(super) fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

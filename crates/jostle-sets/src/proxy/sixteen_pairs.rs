//! The predicates between bodies of several shapes, sixteen pairs at once: the same bits as of one pair (`solid`).

use jostle_core::axes::from_axes;
use jostle_core::isa::Work;
use jostle_core::{Bodies, Isa, Scalar};

use crate::input::shaped::Shaped;
use crate::input::{Set, Source};
use crate::proxy::segments::{box_to_segment, segments};
use crate::proxy::sorted::SortedSet;
use crate::proxy::squared;
use crate::simd::LANES;

/// Pairs that are decided at once.
pub(super) const PAIRS: usize = LANES;

/// Bodies of several pairs, column by column: both ends of capsules, both corners of boxes, or a centre twice.
#[derive(Debug)]
struct Side<const D: usize> {
    ends: [[[f64; PAIRS]; D]; 2],
    radii: [f64; PAIRS],
}

/// Pairs of bodies of two sets, and at which shifts the second bodies are seen.
#[derive(Debug)]
pub(super) struct SixteenPairs<const D: usize> {
    sides: [Side<D>; 2],
    shifts: [[f64; PAIRS]; D],
}

/// What the predicate of two sets compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Boxes,
    /// The first body is a circle or a sphere, the second one a box.
    RoundAndBox,
    /// The first body is a capsule, the second one a box.
    SegmentAndBox,
    /// Segments, which may be as short as a point.
    Segments,
    /// Circles or spheres.
    Rounds,
}

impl Kind {
    /// What is compared of bodies of two sets, and whether the sets change places for it.
    pub(super) fn of<const D: usize>(sets: [&Set<'_, D>; 2]) -> (Self, bool) {
        let is_boxed = |set: &Set<'_, D>| matches!(set.source, Source::Shaped(Shaped::Boxes(_) | Shaped::Boxes64(_)));
        let with_box = |other: &Set<'_, D>| if other.is_shaped() { Self::SegmentAndBox } else { Self::RoundAndBox };
        match (is_boxed(sets[0]), is_boxed(sets[1])) {
            (false, false) if sets.iter().any(|set| set.is_shaped()) => (Self::Segments, false),
            (false, false) => (Self::Rounds, false),
            (true, true) => (Self::Boxes, false),
            (false, true) => (with_box(sets[0]), false),
            (true, false) => (with_box(sets[1]), true),
        }
    }
}

impl<const D: usize> SixteenPairs<D> {
    pub(super) const NONE: Self = Self {
        sides: [const { Side { ends: [[[0.0; PAIRS]; D]; 2], radii: [0.0; PAIRS] } }; 2],
        shifts: [[0.0; PAIRS]; D],
    };

    /// Reads the bodies of one side.
    pub(super) fn read(&mut self, side: usize, (set, sorted): (&Set<'_, D>, &SortedSet<D>), ids: &[u32]) {
        let side = &mut self.sides[side];
        match &set.source {
            Source::View(bodies) => side.read_round(bodies, ids),
            Source::Double(bodies) => side.read_round(bodies, ids),
            Source::Tree(_) => side.read_round(&sorted.proxies.tree_view(), ids),
            Source::Shaped(Shaped::Boxes(boxes)) => side.read(ids, |id| (boxes.grown(id), 0.0)),
            Source::Shaped(Shaped::Boxes64(boxes)) => side.read(ids, |id| (boxes.grown(id), 0.0)),
            Source::Shaped(Shaped::Capsules(capsules)) => {
                side.read(ids, |id| (capsules.ends(id), capsules.radius(id)));
            }
            Source::Shaped(Shaped::Capsules64(capsules)) => {
                side.read(ids, |id| (capsules.ends(id), capsules.radius(id)));
            }
        }
    }

    /// Says at which shift the second body of a pair is seen.
    #[inline(always)]
    pub(super) fn shift(&mut self, pair: usize, shift: [f64; D]) {
        for axis in 0..D {
            self.shifts[axis][pair] = shift[axis];
        }
    }

    /// Which pairs touch, as bits.
    pub(super) fn touching(&self, kind: Kind, isa: Isa) -> u16 {
        match kind {
            Kind::Boxes => isa.run(Boxes(self)),
            Kind::RoundAndBox => isa.run(RoundAndBox(self)),
            Kind::SegmentAndBox => isa.run(SegmentAndBox(self)),
            Kind::Segments => isa.run(Segments(self)),
            Kind::Rounds => isa.run(Rounds(self)),
        }
    }

    /// What leads from an end of the first body of a pair to an end of the second one, where it is seen.
    #[inline(always)]
    pub(super) fn between(&self, ends: [usize; 2], pair: usize) -> [f64; D] {
        self.between_at(self.shift_of(pair), ends, pair)
    }

    /// The same, where the second body is seen at another shift.
    #[inline(always)]
    pub(super) fn between_at(&self, shift: [f64; D], [from, to]: [usize; 2], pair: usize) -> [f64; D] {
        let [one, other] = &self.sides;
        from_axes(|axis| (other.ends[to][axis][pair] - one.ends[from][axis][pair]) + shift[axis])
    }

    #[inline(always)]
    pub(super) fn shift_of(&self, pair: usize) -> [f64; D] {
        from_axes(|axis| self.shifts[axis][pair])
    }

    /// How far both bodies of a pair reach from their cores.
    #[inline(always)]
    pub(super) fn reach(&self, pair: usize) -> f64 {
        self.sides[0].radii[pair] + self.sides[1].radii[pair]
    }

    /// What leads from the first end of a body of a pair to the second one.
    #[inline(always)]
    pub(super) fn along(&self, side: usize, pair: usize) -> [f64; D] {
        self.sides[side].along(pair)
    }
}

impl<const D: usize> Side<D> {
    #[inline(always)]
    fn read<T: Scalar>(&mut self, ids: &[u32], of: impl Fn(usize) -> ([[T; D]; 2], T)) {
        for (pair, &id) in ids.iter().enumerate() {
            let (ends, radius) = of(id as usize);
            for axis in 0..D {
                self.ends[0][axis][pair] = ends[0][axis].to_f64();
                self.ends[1][axis][pair] = ends[1][axis].to_f64();
            }
            self.radii[pair] = radius.to_f64();
        }
    }

    #[inline(always)]
    fn read_round<T: Scalar>(&mut self, bodies: &Bodies<'_, D, T>, ids: &[u32]) {
        for (pair, &id) in ids.iter().enumerate() {
            let center = bodies.center(id as usize);
            (0..D).for_each(|axis| self.ends[0][axis][pair] = center[axis].to_f64());
            self.radii[pair] = bodies.radius(id as usize).to_f64();
        }
        self.ends[1] = self.ends[0];
    }

    /// What leads from the first end of a body to the second one.
    #[inline(always)]
    fn along(&self, pair: usize) -> [f64; D] {
        from_axes(|axis| self.ends[1][axis][pair] - self.ends[0][axis][pair])
    }
}

/// Which gaps are at most 0, as bits.
#[inline(always)]
fn none_above(gaps: [f64; PAIRS]) -> u16 {
    let mut which = 0;
    for pair in 0..PAIRS {
        which |= u16::from(gaps[pair] <= 0.0) << pair;
    }
    which
}

/// 0 where what is so far apart touches, 1 elsewhere.
#[inline(always)]
fn gap(distance2: f64, reach: f64) -> f64 {
    if distance2 <= reach * reach { 0.0 } else { 1.0 }
}

/// Defines the work of each predicate: whether it gains by AVX-512, and the gap of a pair, which is above 0 unless the
/// pair touches. (The loop stands here: of a function that takes the gap as a closure, no vector code is made.)
macro_rules! predicates {
    ($($name:ident, $gains:literal, |$pairs:ident, $pair:ident| $gap:expr;)*) => {$(
        struct $name<'a, const D: usize>(&'a SixteenPairs<D>);

        impl<const D: usize> Work for $name<'_, D> {
            type Output = u16;
            const GAINS_BY_AVX512: bool = $gains;

            #[inline(always)]
            fn run(self) -> u16 {
                let $pairs = self.0;
                let mut gaps = [0.0; PAIRS];
                for $pair in 0..PAIRS {
                    gaps[$pair] = $gap;
                }
                none_above(gaps)
            }
        }
    )*};
}

predicates! {
    Boxes, false, |pairs, pair| {
        let (below, above) = (pairs.between([1, 0], pair), pairs.between([0, 1], pair));
        let mut gap = f64::NEG_INFINITY;
        for axis in 0..D {
            gap = gap.max(below[axis]).max(-above[axis]);
        }
        gap
    };
    RoundAndBox, false, |pairs, pair| {
        let (lo, hi) = (pairs.between([0, 0], pair), pairs.between([0, 1], pair));
        let mut distance2 = 0.0;
        for axis in 0..D {
            let outside = lo[axis].max(-hi[axis]).max(0.0);
            distance2 += outside * outside;
        }
        gap(distance2, pairs.sides[0].radii[pair])
    };
    SegmentAndBox, true, |pairs, pair| {
        let (lo, hi) = (pairs.between([0, 0], pair), pairs.between([0, 1], pair));
        let [capsules, _] = &pairs.sides;
        gap(box_to_segment(lo, hi, capsules.along(pair)).0, capsules.radii[pair])
    };
    Segments, true, |pairs, pair| {
        let [one, other] = &pairs.sides;
        let (distance2, _) = segments(pairs.between([0; 2], pair), one.along(pair), other.along(pair));
        gap(distance2, one.radii[pair] + other.radii[pair])
    };
    Rounds, false, |pairs, pair| gap(squared(pairs.between([0; 2], pair)), pairs.reach(pair));
}

#[cfg(test)]
mod tests {
    use jostle_core::{Bodies, BoxView, Boxes, CapsuleView, Capsules, Isa, Spheres64};

    use super::{Kind, PAIRS, SixteenPairs};
    use crate::input::{Input, Set};
    use crate::proxy::impact::SixteenPaths;
    use crate::proxy::sorted::SortedSet;

    /// Numbers of which many are whole, so that bodies often just touch.
    fn numbers(seed: &mut u64, bodies: usize) -> Vec<f64> {
        let mut random = || {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*seed >> 33) as f64 / f64::from(1_u32 << 31)
        };
        (0..bodies).map(|_| if random() < 0.6 { (random() * 6.0).round() } else { random() * 6.0 }).collect()
    }

    #[test]
    fn sixteen_pairs_touch_where_and_when_each_does() {
        const BODIES: usize = 40;
        for seed in 0..60 {
            let state = &mut (seed + 1);
            let [p, q] = [(); 2].map(|()| [(); 3].map(|()| numbers(state, BODIES)));
            let radii = numbers(state, BODIES).iter().map(|x| x / 6.0).collect::<Vec<_>>();
            let [lo, hi] = [f64::min, f64::max].map(|of| {
                core::array::from_fn::<_, 3, _>(|k| p[k].iter().zip(&q[k]).map(|(a, b)| of(*a, *b)).collect::<Vec<_>>())
            });
            let single = |columns: &[Vec<f64>; 3]| columns.each_ref().map(|x| x.iter().map(|&x| x as f32).collect());
            let [p32, q32, lo32, hi32]: [[Vec<f32>; 3]; 4] = [&p, &q, &lo, &hi].map(single);
            let inputs: [Input<'_, 3>; 6] = [
                Bodies::<3, f32>::from_slices(p32.each_ref().map(Vec::as_slice), 0.75).with_margin(0.25).into(),
                Spheres64::from_slices(q.each_ref().map(Vec::as_slice), radii.as_slice()).into(),
                Capsules::new(p32.each_ref(), q32.each_ref(), 0.5).into(),
                CapsuleView::new(q.each_ref(), p.each_ref(), radii.as_slice()).into(),
                Boxes::new(lo32.each_ref(), hi32.each_ref()).into(),
                BoxView::new(lo.each_ref(), hi.each_ref()).with_margin(0.5).into(),
            ];
            let sets: Vec<Set<'_, 3>> = inputs.iter().map(|input| input.sets()[0]).collect();
            let by = [(); 3].map(|()| numbers(state, PAIRS)).map(|x| core::array::from_fn(|pair| 4.0 - 1.5 * x[pair]));
            let (sorted, mut touching, mut later) = (SortedSet::default(), 0, 0);
            for (one, other) in sets.iter().flat_map(|one| sets.iter().map(move |other| (one, other))) {
                let (kind, turned) = Kind::of([one, other]);
                let [first, second] = if turned { [other, one] } else { [one, other] };
                let mut pairs = SixteenPairs::NONE;
                let ids =
                    [0, 1].map(|side| core::array::from_fn::<u32, PAIRS, _>(|k| (k * (2 + side) + side) as u32 % 40));
                pairs.read(0, (first, &sorted), &ids[0]);
                pairs.read(1, (second, &sorted), &ids[1]);
                for pair in 0..PAIRS {
                    pairs.shift(pair, [f64::from(pair as u32 % 3), 0.0, -0.5]);
                }
                let solids = |pair: usize| {
                    [(first, ids[0]), (second, ids[1])].map(|(of, ids)| sorted.solid(of, ids[pair] as usize))
                };
                let shift = |pair: usize| [f64::from(pair as u32 % 3), 0.0, -0.5];
                for isa in Isa::available() {
                    let found = pairs.touching(kind, isa);
                    for pair in 0..PAIRS {
                        let [a, b] = solids(pair);
                        assert_eq!(found >> pair & 1 == 1, a.touches(&b, shift(pair)), "{isa}, {kind:?}: {a:?}, {b:?}");
                    }
                    touching += found.count_ones();
                }
                let paths = SixteenPaths { pairs, by };
                for isa in Isa::available() {
                    let times = paths.first_touches(kind, isa);
                    for (pair, time) in times.into_iter().enumerate() {
                        let ([a, b], v) = (solids(pair), by.map(|by: [f64; PAIRS]| by[pair]));
                        let told = (!time.is_nan()).then_some(time.to_bits());
                        let alone = a.first_touch(&b, shift(pair), v);
                        assert_eq!(told, alone.map(f64::to_bits), "{isa}, {kind:?}: {a:?}, {b:?} by {v:?}: {time}");
                        assert_eq!(time == 0.0, a.touches(&b, shift(pair)), "{kind:?}: {a:?}, {b:?} at {time}");
                        later += usize::from(time > 0.0);
                    }
                }
            }
            assert!(later > 15 * Isa::available().count(), "{later} touch later");
            assert!(touching > 30 * Isa::available().count() as u32, "{touching} touch");
        }
    }
}

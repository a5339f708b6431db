//! Bodies in a box with periodic axes: the pairs and their shifts are those of a double loop over all images.

use jostle::{Bodies, PairFinder, Set};
use jostle_testkit::Scene;

use crate::crowd::{Crowd, is_sound};
use crate::layering::{Layering, meet};
use crate::number::Number;
use crate::ways::{agreed, pairs_where};

/// Whole periods that a body may be away.
const MAX_WRAPS: f64 = (1_u32 << 29) as f64;

arbitrary! {
    #[derive(Debug)]
    struct Input {
        crowd: Crowd,
        in_space: bool,
        isa: u8,
        borders: [Option<[Number; 2]>; 3],
        /// Whether periods are made long enough.
        roomy: bool,
        margin: Option<Number>,
        layering: Option<Layering>,
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| if input.in_space { check::<3>(input) } else { check::<2>(input) });
}

type Axes<const D: usize> = [Option<[f32; 2]>; D];

fn check<const D: usize>(input: &Input) {
    let scene: Scene<D> = input.crowd.scene();
    let view = scene.view().with_margin(input.margin.map_or(0.0, Number::value));
    let largest = (0..view.len()).map(|id| view.radius(id)).fold(0.0, f32::max);
    let axes: Axes<D> = core::array::from_fn(|axis| {
        let [lo, hi] = input.borders[axis]?.map(Number::value);
        Some(if input.roomy { [lo.min(hi), lo.max(hi).max(lo.min(hi) + 4.1 * largest)] } else { [lo, hi] })
    });
    let layered = input.layering.as_ref().map(|layering| layering.of(scene.len()));
    let mut set = Set::from(view);
    if let Some(layered) = &layered {
        set = set.layers(layered.layers(scene.len()));
    }
    let periodic = jostle::Input::within(set).periodic(axes);
    let mut finder = PairFinder::new();
    let found = agreed(&mut finder, input.isa, |search| {
        search.find(periodic).map(|found| (found.pairs().to_vec(), found.image_shifts().collect::<Vec<_>>())).ok()
    });
    let fits = layered.as_ref().is_none_or(|layered| layered.fits(scene.len()));
    // Shorter periods have more images: see `algebra`.
    let is_roomy = is_accepted(view, axes);
    assert!(found.is_some() || !fits || !is_roomy, "refused against what is documented");
    let repeats = axes.iter().any(Option::is_some);
    let Some((pairs, shifts)) = found.filter(|_| is_roomy && repeats && !input.crowd.in_company()) else { return };
    let met = |a: usize, b: usize| meet([layered.as_ref(); 2], [a as u32, b as u32]);
    let expected = pairs_where(view.len(), |a, b| met(a, b) && shift_of(view, axes, a, b).is_some());
    assert_eq!(pairs.len(), shifts.len());
    let mut sorted: Vec<_> = pairs.into_iter().zip(shifts).collect();
    sorted.sort_unstable();
    assert!(sorted.iter().map(|&(pair, _)| pair).eq(expected), "other pairs than the double loop");
    for ([a, b], shift) in sorted {
        assert_eq!(shift_of(view, axes, a as usize, b as usize), Some(shift), "of {a} and {b}");
    }
}

/// What a search has to take.
fn is_accepted<const D: usize>(view: Bodies<'_, D>, axes: Axes<D>) -> bool {
    let borders = |[lo, hi]: [f32; 2]| lo.is_finite() && hi.is_finite() && hi - lo > 0.0 && (hi - lo).is_finite();
    if !axes.into_iter().flatten().all(borders) {
        return false;
    }
    let inside: Scene<D> = (0..view.len())
        .map(|id| (core::array::from_fn(|axis| wrapped(view, axes, id, axis).0), view.radii().get(id)))
        .collect();
    let margin = view.margin();
    if !margin.is_finite() || margin < 0.0 || !is_sound(inside.view().with_margin(margin)) {
        return false;
    }
    let near = |id: usize| (0..D).all(|axis| wrapped(view, axes, id, axis).1.abs() <= MAX_WRAPS);
    let largest = (0..view.len()).map(|id| f64::from(view.radius(id))).fold(0.0, f64::max);
    let long = |[lo, hi]: [f32; 2]| 4.0 * largest < f64::from(hi - lo) * (1.0 - 1.0 / 65_536.0);
    (0..view.len()).all(near) && axes.into_iter().flatten().all(long)
}

/// Where a coordinate counts, and how many periods away it was.
fn wrapped<const D: usize>(view: Bodies<'_, D>, axes: Axes<D>, id: usize, axis: usize) -> (f32, f64) {
    let x = view.center(id)[axis];
    match axes[axis] {
        Some([lo, hi]) if !(lo..=hi).contains(&x) => {
            let period = f64::from(hi) - f64::from(lo);
            let wraps = ((f64::from(x) - f64::from(lo)) / period).floor();
            ((f64::from(x) - wraps * period) as f32, wraps)
        }
        _ => (x, 0.0),
    }
}

/// The shift of b that makes two bodies touch, if one does.
fn shift_of<const D: usize>(view: Bodies<'_, D>, axes: Axes<D>, a: usize, b: usize) -> Option<[i32; D]> {
    let [p, q] = [a, b].map(|id| core::array::from_fn::<_, D, _>(|axis| wrapped(view, axes, id, axis)));
    let s = view.radius(a) + view.radius(b);
    let mut found = None;
    for number in 0..3_usize.pow(D as u32) {
        let steps: [i32; D] = core::array::from_fn(|axis| (number / 3_usize.pow(axis as u32) % 3) as i32 - 1);
        if (0..D).any(|axis| steps[axis] != 0 && axes[axis].is_none()) {
            continue;
        }
        let mut distance2 = 0.0;
        for axis in 0..D {
            let period = axes[axis].map_or(0.0, |[lo, hi]| hi - lo);
            let d = (q[axis].0 - p[axis].0) + steps[axis] as f32 * period;
            distance2 += d * d;
        }
        if distance2 <= s * s {
            assert!(found.is_none(), "two images of one pair touch");
            found = Some(core::array::from_fn(|axis| steps[axis] + p[axis].1 as i32 - q[axis].1 as i32));
        }
    }
    found
}

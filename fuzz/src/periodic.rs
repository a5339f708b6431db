//! Bodies in a box with periodic axes: the pairs and their shifts are those of plain loops over all images.

use jostle::{Bodies, InputError, PairFinder, Threads};
use jostle_testkit::Scene;
use jostle_testkit::algebra::{Case, Columns, PlainRadii, PlainSet, PlainSpace};

use crate::algebra::IMAGES;
use crate::crowd::{Crowd, is_sound};
use crate::layering::{Layering, fits};
use crate::number::Number;
use crate::ways::hits_of;

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
    // Shorter periods have more images: see `algebra`. With thousands of bodies they make pairs by the billion.
    let is_roomy = is_accepted(view, axes);
    if input.crowd.in_company() && !is_roomy {
        return;
    }
    let layers = input.layering.as_ref().map(|layering| layering.of(scene.len()));
    let fit = layers.as_ref().is_none_or(|layers| fits(layers, scene.len()));
    let radii = PlainRadii::Each(scene.radii.clone());
    let bodies = Columns::Single { centers: scene.centers.clone(), radii, margin: view.margin() };
    let space = PlainSpace::Periodic(axes.map(|axis| axis.map(|borders| borders.map(f64::from))));
    let case = Case::within(PlainSet { layers, ..PlainSet::new(bodies) }, space);
    let mut finder = PairFinder::new();
    let found = hits_of(&case, &mut finder, input.isa, input.crowd.in_company());
    if found.is_none() && fit && is_roomy {
        // A body may be so many units away that its rounding spans more periods, of an axis with a shorter period, than
        // a search looks at images.
        let error = finder.on(Threads::Serial).find(case.ready().input()).err();
        assert!(matches!(error, Some(InputError::Images { .. })), "refused against what is documented: {error:?}");
    }
    let quick = !input.crowd.in_company() && case.cost() <= IMAGES;
    if let (Some(found), true, true) = (found, is_roomy, quick) {
        case.assert_hits("in a box", found);
    }
}

/// Returns whether a search must accept an input.
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

/// Returns where a coordinate counts, and how many periods away it was.
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

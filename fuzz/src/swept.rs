//! Bodies on their way: pairs and times are those of a double loop, and what is refused is what is documented.

use jostle::{Bodies, PairFinder, Set};
use jostle_testkit::Scene;

use crate::crowd::{Crowd, is_sound};
use crate::layering::{Layering, meet};
use crate::number::Number;
use crate::ways::{agreed, pairs_where};

/// |coordinate| + displacement + radius may reach this and more.
const REACH: f64 = (1_u64 << 59) as f64;

arbitrary! {
    #[derive(Debug)]
    struct Input {
        crowd: Crowd,
        in_space: bool,
        isa: u8,
        /// Displacements, which go round among the bodies.
        moves: Vec<Number>,
        sound_moves: bool,
        margin: Option<Number>,
        layering: Option<Layering>,
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| if input.in_space { check::<3>(input) } else { check::<2>(input) });
}

fn check<const D: usize>(input: &Input) {
    let scene: Scene<D> = input.crowd.scene();
    let view = scene.view().with_margin(input.margin.map_or(0.0, Number::value));
    let displacement = |at: usize| match input.moves.len() {
        0 => 0.0,
        count if input.sound_moves => input.moves[at % count].sound(),
        count => input.moves[at % count].value(),
    };
    let moves: [Vec<f32>; D] =
        core::array::from_fn(|axis| (0..scene.len()).map(|id| displacement(id * D + axis)).collect());
    let layered = input.layering.as_ref().map(|layering| layering.of(scene.len()));
    let mut swept = Set::from(view).moving(moves.each_ref().map(Vec::as_slice));
    if let Some(layered) = &layered {
        swept = swept.layers(layered.layers(scene.len()));
    }
    let mut finder = PairFinder::new();
    let found = agreed(&mut finder, input.isa, |search| {
        search.find(swept).map(|found| (found.pairs().to_vec(), found.times_of_impact().to_vec())).ok()
    });
    let reach = |id: usize, axis: usize| {
        let [x, d] = [view.center(id)[axis], moves[axis][id]].map(|x| f64::from(x).abs());
        x + d + f64::from(view.radius(id)) <= REACH
    };
    let near = (0..scene.len()).all(|id| (0..D).all(|axis| reach(id, axis)));
    let fits = layered.as_ref().is_none_or(|layered| layered.fits(scene.len()));
    assert!(found.is_some() || !(is_sound(view) && near && fits), "refused against what is documented");
    let Some((pairs, times)) = found.filter(|_| !input.crowd.in_company()) else { return };
    let met = |a: usize, b: usize| meet([layered.as_ref(); 2], [a as u32, b as u32]);
    let expected = pairs_where(view.len(), |a, b| met(a, b) && touch(view, &moves, a, b).is_some());
    let mut sorted: Vec<_> = pairs.into_iter().zip(times).collect();
    sorted.sort_unstable_by_key(|&(pair, _)| pair);
    assert!(sorted.iter().map(|&(pair, _)| pair).eq(expected), "other pairs than the double loop");
    for ([a, b], time) in sorted {
        assert_eq!(touch(view, &moves, a as usize, b as usize), Some(time), "of {a} and {b}");
    }
}

/// The definition: when two bodies first touch.
fn touch<const D: usize>(view: Bodies<'_, D>, moves: &[Vec<f32>; D], a: usize, b: usize) -> Option<f64> {
    let (mut pp, mut pv, mut vv) = (0.0, 0.0, 0.0);
    for axis in 0..D {
        let p = f64::from(view.center(b)[axis]) - f64::from(view.center(a)[axis]);
        let v = f64::from(moves[axis][b]) - f64::from(moves[axis][a]);
        (pp, pv, vv) = (pp + p * p, pv + p * v, vv + v * v);
    }
    let s = f64::from(view.radius(a)) + f64::from(view.radius(b));
    let c = pp - s * s;
    if c <= 0.0 {
        return Some(0.0);
    }
    let discriminant = pv * pv - vv * c;
    let time = c / (discriminant.sqrt() - pv);
    (pv < 0.0 && discriminant >= 0.0 && time <= 1.0).then_some(time)
}

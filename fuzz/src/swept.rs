//! Bodies on their way: pairs and times are those of plain loops, and refusals are as documented.

use jostle::PairFinder;
use jostle_testkit::Scene;
use jostle_testkit::algebra::{Case, Columns, PlainMoves, PlainRadii, PlainSet, PlainSpace};

use crate::crowd::{Crowd, is_sound};
use crate::layering::{Layering, fits};
use crate::number::Number;
use crate::ways::hits_of;

/// |coordinate| + displacement + radius may reach this and more.
const REACH: f64 = (1_u64 << 59) as f64;

arbitrary! {
    #[derive(Debug)]
    struct Input {
        crowd: Crowd,
        in_space: bool,
        isa: u8,
        /// Displacements, repeated over the bodies.
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
    let margin = input.margin.map_or(0.0, Number::value);
    // Wide margins in a company, and paths through all of it, would be pairs of each with each.
    let view = scene.view().with_margin(if input.crowd.in_company() && margin > 1.0 { 1.0 } else { margin });
    let displacement = |at: usize| match input.moves.len() {
        0 => 0.0,
        count if input.crowd.in_company() => input.moves[at % count].sound().clamp(-4.0, 4.0),
        count if input.sound_moves => input.moves[at % count].sound(),
        count => input.moves[at % count].value(),
    };
    let moves: [Vec<f32>; D] =
        core::array::from_fn(|axis| (0..scene.len()).map(|id| displacement(id * D + axis)).collect());
    let layers = input.layering.as_ref().map(|layering| layering.of(scene.len()));
    let fit = layers.as_ref().is_none_or(|layers| fits(layers, scene.len()));
    let reach = |id: usize, axis: usize| {
        let [x, d] = [view.center(id)[axis], moves[axis][id]].map(|x| f64::from(x).abs());
        x + d + f64::from(view.radius(id)) <= REACH
    };
    let near = (0..scene.len()).all(|id| (0..D).all(|axis| reach(id, axis)));
    let radii = PlainRadii::Each(scene.radii.clone());
    let bodies = Columns::Single { centers: scene.centers.clone(), radii, margin: view.margin() };
    let moves = Some(PlainMoves::Single(moves));
    let case = Case::within(PlainSet { layers, moves, ..PlainSet::new(bodies) }, PlainSpace::Open);
    let mut finder = PairFinder::new();
    let found = hits_of(&case, &mut finder, input.isa, input.crowd.in_company());
    assert!(found.is_some() || !(is_sound(view) && near && fit), "refused against what is documented");
    if let (Some(found), false) = (found, input.crowd.in_company()) {
        case.assert_hits("on their way", found);
    }
}

//! Any bodies at all: the pairs are the oracle's, in one order on one thread and on several and by any instruction set,
//! or the input is refused exactly as it should be. Then the same finder searches fewer bodies.

use jostle::{Bodies, InputError, PairFinder, RadiusField, Search};
use jostle_testkit::{Scene, oracle, sweep};

use crate::crowd::Crowd;
use crate::number::Number;
use crate::ways::{agreed, ascending};

arbitrary! {
    #[derive(Debug)]
    struct Input {
        crowd: Crowd,
        in_space: bool,
        /// The instruction set of the search on several threads.
        isa: u8,
        /// How the second frame's bodies are given, and how many bodies are left.
        as_structs: bool,
        one_radius: Option<Number>,
        left: u8,
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| if input.in_space { check::<3>(input) } else { check::<2>(input) });
}

fn check<const D: usize>(input: &Input) {
    let scene: Scene<D> = input.crowd.scene();
    let mut finder = PairFinder::new();
    check_frame(&mut finder, input, scene.view());

    let left = scene.len() * usize::from(input.left) / 255;
    let structs: Vec<[f32; 5]> = (0..left).map(|id| record(&scene, id)).collect();
    let centers: [usize; D] = core::array::from_fn(|axis| 4 * axis);
    let columns = scene.centers.each_ref().map(|column| &column[..left]);
    // One large radius for thousands of bodies would make pairs by the million.
    let one_radius = input.one_radius.filter(|_| !input.crowd.in_company()).map(Number::value);
    let view = match (input.as_structs, one_radius) {
        (true, Some(radius)) => Bodies::from_structs(&structs, centers, RadiusField::All(radius)).expect("floats"),
        (true, None) => Bodies::from_structs(&structs, centers, RadiusField::At(16)).expect("floats"),
        (false, Some(radius)) => Bodies::from_slices(columns, radius),
        (false, None) => Bodies::from_slices(columns, &scene.radii[..left]),
    };
    check_frame(&mut finder, input, view);
}

fn record<const D: usize>(scene: &Scene<D>, id: usize) -> [f32; 5] {
    let mut record = [f32::NAN; 5];
    for (slot, column) in record.iter_mut().zip(&scene.centers) {
        *slot = column[id];
    }
    record[4] = scene.radii[id];
    record
}

fn check_frame<const D: usize>(finder: &mut PairFinder<D>, input: &Input, view: Bodies<'_, D>) {
    let pairs = if input.crowd.in_company() { sweep::pairs } else { oracle::pairs };
    let expected: Result<_, InputError> = oracle::check(view).map(|()| pairs(view)).map_err(InputError::from);
    let search = |search: Search<'_, '_, D>| {
        search.find(view).map(|found| {
            assert_eq!(found.stats().pairs, found.pairs().len() as u64);
            found.pairs().to_vec()
        })
    };
    let found = agreed(finder, input.isa, search);
    assert_eq!(finder.last().tree().validate(), Ok(()));
    assert_eq!(finder.count(view), found.as_ref().map(|pairs| pairs.len() as u64).map_err(Clone::clone));
    assert!(found.map(ascending) == expected, "other pairs than the oracle");
}

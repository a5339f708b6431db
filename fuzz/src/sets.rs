//! Three sets, each given as bodies or as a tree, with layers or without: the pairs within one set, between two and
//! among all.

use jostle::{ActivationTable, LinearTree, PairFinder, Set, Threads, between};
use jostle_testkit::algebra::PlainLayers;
use jostle_testkit::oracle::overlaps;
use jostle_testkit::{Scene, oracle, sweep};

use crate::crowd::Crowd;
use crate::layering::{Layering, fits, set};
use crate::ways::{agreed, ascending};

type Pairs = Vec<[u32; 2]>;

arbitrary! {
    #[derive(Debug)]
    struct Input {
        crowds: [Crowd; 3],
        layerings: [Option<Layering>; 3],
        in_space: bool,
        isa: u8,
        /// Which sets are trees, one bit each.
        trees: u8,
        /// Which sets meet, one bit for each two.
        meetings: u8,
    }
}

pub(crate) fn run(bytes: &[u8]) {
    crate::with(bytes, |input: &Input| if input.in_space { check::<3>(input) } else { check::<2>(input) });
}

/// Each two of the three sets, the lesser first.
const TWO: [[usize; 2]; 6] = [[0, 0], [0, 1], [0, 2], [1, 1], [1, 2], [2, 2]];

fn check<const D: usize>(input: &Input) {
    let scenes: [Scene<D>; 3] = input.crowds.each_ref().map(Crowd::scene);
    let layered: [Option<PlainLayers>; 3] =
        core::array::from_fn(|i| input.layerings[i].as_ref().map(|layering| layering.of(scenes[i].len())));
    let layered = layered.each_ref().map(Option::as_ref);
    let trees: [Option<LinearTree<D>>; 3] = core::array::from_fn(|i| {
        let mut tree = LinearTree::new();
        let built = input.trees >> i & 1 == 1 && tree.build(scenes[i].view(), Threads::Serial).is_ok();
        built.then_some(tree)
    });
    let sets: [Set<'_, D>; 3] = core::array::from_fn(|i| match &trees[i] {
        Some(tree) => set(tree, layered[i]),
        None => set(scenes[i].view(), layered[i]),
    });
    let fine: [bool; 3] = core::array::from_fn(|i| {
        oracle::check(scenes[i].view()).is_ok() && layered[i].is_none_or(|layered| fits(layered, scenes[i].len()))
    });

    let expected = |[i, j]: [usize; 2]| {
        let pairs =
            (fine[i] && fine[j]).then(|| if i == j { within(&scenes[i]) } else { across(&scenes[i], &scenes[j]) });
        pairs.map(|pairs| {
            pairs.into_iter().filter(|&pair| PlainLayers::meet([layered[i], layered[j]], pair)).collect::<Pairs>()
        })
    };
    let expected = TWO.map(expected);
    let mut finder = PairFinder::new();
    for ([i, j], expected) in TWO.into_iter().zip(&expected) {
        let among: jostle::Input<'_, D> = if i == j { sets[i].into() } else { between(sets[i], sets[j]) };
        let find = |among| {
            move |search: jostle::Search<'_, '_, D>| search.find(among).map(|found| found.pairs().to_vec()).ok()
        };
        let found = agreed(&mut finder, input.isa, find(among));
        assert!(&found.map(ascending) == expected, "other pairs of sets {i} and {j}");
    }

    let two = TWO.into_iter().enumerate().filter(|(at, _)| input.meetings >> at & 1 == 1);
    let table = two.fold(ActivationTable::none(3), |table, (_, [i, j])| table.with(i, j));
    let found = agreed(&mut finder, input.isa, |search| {
        search
            .find(jostle::Input::among(&sets, &table))
            .map(|found| TWO.map(|[i, j]| found.pairs_between(i, j).to_vec()))
            .ok()
    });
    let met = |at: usize| input.meetings >> at & 1 == 1;
    match found {
        Some(found) => {
            for (at, (found, expected)) in found.into_iter().zip(expected).enumerate() {
                let expected = if met(at) { expected } else { Some(Pairs::new()) };
                assert!(Some(ascending(found)) == expected, "other pairs of meeting {at}");
            }
        }
        None => assert!(fine != [true; 3], "three sound sets refused"),
    }
}

fn within<const D: usize>(scene: &Scene<D>) -> Pairs {
    if scene.len() < 1_000 { oracle::pairs(scene.view()) } else { sweep::pairs(scene.view()) }
}

/// Returns every pair of a body of the first scene and a body of the second, ascending.
fn across<const D: usize>(a: &Scene<D>, b: &Scene<D>) -> Pairs {
    let bodies = |scene: &Scene<D>| -> Vec<_> {
        (0..scene.len()).map(|id| (scene.view().center(id), scene.view().radius(id))).collect()
    };
    let (a, b) = (bodies(a), bodies(b));
    if a.len().max(b.len()) > 1_000 {
        let first = a.len() as u32;
        let all = sweep::pairs(a.into_iter().chain(b).collect::<Scene<D>>().view());
        return all.into_iter().filter(|&[i, j]| i < first && j >= first).map(|[i, j]| [i, j - first]).collect();
    }
    let mut pairs = Pairs::new();
    for (i, &(p, p_radius)) in a.iter().enumerate() {
        let hits = b.iter().zip(0..).filter(|&(&(q, q_radius), _)| overlaps(p, p_radius, q, q_radius));
        pairs.extend(hits.map(|(_, j)| [i as u32, j]));
    }
    pairs
}

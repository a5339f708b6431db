//! Finders of coherent frames beside searches from scratch, frame by frame.

use jostle::{CoherentFinder, Input, Isa, NeighborLists, PairFinder, Rows, Threads};
use jostle_testkit::lists::neighbors_known;
use jostle_testkit::pairs::{ascending, assert_same, known, sort_known};
use jostle_testkit::{Scene, pool};

pub(super) fn all_columns() -> NeighborLists {
    NeighborLists::new().and_distances().and_distances_f64().and_image_shifts().and_vectors()
}

/// A test of the caller's.
pub(super) type Only<'a> = &'a (dyn Fn(u32, u32) -> bool + Sync);

/// Finders on various threads and instruction sets, beside searches from scratch.
pub(super) struct Beside<const D: usize> {
    pub(super) finders: [CoherentFinder<D>; 3],
    pub(super) scratch: PairFinder<D>,
    pool: rayon::ThreadPool,
    lists: [NeighborLists; 2],
}

impl<const D: usize> Beside<D> {
    pub(super) fn new() -> Self {
        let mut finders = [(); 3].map(|()| CoherentFinder::new());
        finders[2].set_isa(Isa::PORTABLE);
        Self { finders, scratch: PairFinder::new(), pool: pool(3), lists: [(); 2].map(|()| all_columns()) }
    }

    pub(super) fn threads(&self, finder: usize) -> Threads<'_> {
        if finder == 1 { Threads::Pool(&self.pool) } else { Threads::Serial }
    }

    /// Checks one frame that has these pairs: all finders list them in one sequence.
    pub(super) fn assert_one_sequence(
        &mut self,
        scene: &Scene<D>,
        only: Option<Only<'_>>,
        expected: &[[u32; 2]],
        case: &str,
    ) {
        let mut finders = core::mem::take(&mut self.finders);
        let sequences = [0, 1, 2].map(|number| {
            let finder = finders[number].on(self.threads(number));
            let found = match only {
                Some(only) => finder.only(only).find(scene.view()),
                None => finder.find(scene.view()),
            };
            found.expect("sound bodies").pairs().to_vec()
        });
        assert_same(case, &ascending(&sequences[0]), expected);
        assert!(sequences[1] == sequences[0] && sequences[2] == sequences[0], "{case}");
        self.finders = finders;
    }
}

impl Beside<2> {
    /// Checks one frame of pairs.
    pub(super) fn pairs(&mut self, input: Input<'_, 2>, only: Option<Only<'_>>, meetings: &[[usize; 2]]) {
        let scratch = self.scratch.on(Threads::Serial);
        let found = match only {
            Some(only) => scratch.only(only).find(input),
            None => scratch.find(input),
        }
        .expect("sound bodies");
        let mut expected = known(found, meetings);
        sort_known(&mut expected);
        let mut finders = core::mem::take(&mut self.finders);
        let mut first = Vec::new();
        for (number, finder) in finders.iter_mut().enumerate() {
            let finder = finder.on(self.threads(number));
            let found = match only {
                Some(only) => finder.only(only).find(input),
                None => finder.find(input),
            }
            .expect("sound bodies");
            let sequence = known(found, meetings);
            if number == 0 {
                first = sequence;
            } else {
                assert!(sequence == first, "the order of finder {number}");
            }
        }
        sort_known(&mut first);
        assert!(first == expected, "a frame of other pairs");
        self.finders = finders;
    }

    /// Checks one frame of rows.
    pub(super) fn rows(&mut self, input: Input<'_, 2>, only: Option<Only<'_>>, kind: Rows) {
        let only = only.unwrap_or(&|_, _| true);
        let [mut expected, mut lists] = core::mem::take(&mut self.lists);
        self.scratch.on(Threads::Serial).only(only).neighbors(input, kind, &mut expected).expect("sound bodies");
        let mut finders = core::mem::take(&mut self.finders);
        for (number, finder) in finders.iter_mut().enumerate() {
            let stats = finder.on(self.threads(number)).only(only).neighbors(input, kind, &mut lists);
            assert_eq!(stats.expect("sound bodies").pairs, expected.neighbors().len() as u64);
            assert!(lists.offsets() == expected.offsets() && lists.neighbors() == expected.neighbors());
            assert!(neighbors_known(&lists) == neighbors_known(&expected), "finder {number}");
        }
        (self.finders, self.lists) = (finders, [expected, lists]);
    }
}
